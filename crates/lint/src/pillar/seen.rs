//! The record of the pillars of all minions.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use indexmap::IndexMap;
use mapstack::{Diagnostic, Error, Place};
use mapstack_lineage::LayerText;
use mapstack_pillar::{Fault, PillarError, PillarEvent, SlsOutcome, StackEvent, WholeEvent};

use crate::finding::{MessageKey, key};
use crate::pillar::examined::{Clash, ExaminedPillar, ExaminedTarget};

/// The record of the pillars of minions so far.
#[derive(Default)]
pub(crate) struct PillarRecord {
    /// The number of minions that were looked at.
    pub minions: usize,
    pub targets: IndexMap<ExaminedTarget, TopEntry>,
    /// The sls that some minion gets, by environment and name.
    pub sls: BTreeMap<(String, String), SlsResults>,
    /// The files of top files and sls that were read, as a person opens them.
    pub read: HashSet<String>,
    /// Those that stacked external pillars read.
    pub stacked: HashSet<String>,
    /// The directories of stacked external pillars that failed, so that what else they would have read is not known.
    broken: BTreeSet<String>,
    /// Those of top files.
    pub tops: BTreeSet<String>,
    /// The environments whose top files were looked for.
    pub envs: BTreeSet<String>,
    pub failures: BTreeMap<MessageKey, SlsFailure>,
    /// The warnings of compiles, by their files, places and messages, with the minions.
    pub warnings: BTreeMap<MessageKey, (Diagnostic, Vec<String>)>,
    /// With the minions that have them, by the places of both values and their path.
    pub clashes: BTreeMap<ClashKey, (Clash, Vec<String>)>,
    /// The rendered texts of sls and of files of external pillars, each once.
    pub texts: BTreeMap<(String, Arc<str>), Arc<LayerText>>,
    /// The texts of sls for the minion that showed them last.
    pub last: HashMap<(String, String), Arc<LayerText>>,
    /// The grains that some minion has.
    pub grains: HashSet<String>,
    /// External pillars that give nothing, as they fail or are not made here.
    pub externals: BTreeSet<String>,
}

/// The file and the place of a value, those of what it replaces, and their path.
type ClashKey = (String, usize, String, usize, String);

/// An entry of a top file.
#[derive(Debug, Default)]
pub(crate) struct TopEntry {
    pub place: Option<Place>,
    pub matcher: String,
    pub sls: Vec<String>,
    /// The minions that it means, by their numbers.
    pub meant: BTreeSet<usize>,
}

/// The results of an sls.
#[derive(Debug, Default)]
pub(crate) struct SlsResults {
    /// The file, as a person opens it.
    pub path: Option<String>,
    /// The minions for which it renders.
    pub good: BTreeSet<usize>,
    /// The minions for which it does not.
    pub failed: BTreeSet<usize>,
}

/// The failure.
pub(crate) struct SlsFailure {
    /// The error as the pillar keeps it; otherwise it ended the compile.
    pub kept: Option<PillarError>,
    pub error: Error,
    pub ids: Vec<String>,
}

impl PillarRecord {
    /// Note what the pillar of a minion shows.
    pub fn add(&mut self, examined: ExaminedPillar) {
        let number = self.minions;
        self.minions += 1;
        let mut stacks = Vec::new();
        for event in &examined.events {
            match event {
                PillarEvent::Whole(event) => {
                    if let WholeEvent::External { problem, .. } = event {
                        let broken = stacks.drain(..).filter(|_| problem.is_some());
                        self.broken.extend(broken);
                    }
                    self.event(number, event);
                }
                PillarEvent::Stack(event) => {
                    self.stacked.extend(event.file().map(str::to_owned));
                    if let StackEvent::Config { path, .. } = event {
                        stacks.extend(path.rsplit_once('/').map(|(above, _)| format!("{above}/")));
                    }
                }
            }
        }
        for clash in examined.clashes {
            let (winner, loser) = (&clash.winner.place, &clash.loser.place);
            let path: Vec<String> = clash.path.iter().map(ToString::to_string).collect();
            let key = (
                winner.file.clone(),
                winner.start,
                loser.file.clone(),
                loser.start,
                path.join(":"),
            );
            let known = self.clashes.entry(key);
            known
                .or_insert_with(|| (clash, Vec::new()))
                .1
                .push(examined.id.clone());
        }
        for text in examined.texts {
            let shown: Arc<str> = text.text.as_str().into();
            if let Some(sls) = text.sls {
                self.last.insert(sls, text.text.clone());
            }
            self.texts.entry((text.shown, shown)).or_insert(text.text);
        }
        for warning in examined.warnings {
            self.warn(warning, &examined.id);
        }
        for error in examined.errors {
            self.fail(error.error.clone(), Some(error), &examined.id);
        }
        if let Err(error) = examined.data {
            self.fail(error, None, &examined.id);
        }
    }

    fn warn(&mut self, warning: Diagnostic, id: &str) {
        let known = self.warnings.entry(key(&warning));
        let (_, ids) = known.or_insert_with(|| (warning, Vec::new()));
        ids.push(id.into());
    }

    fn fail(&mut self, error: Error, kept: Option<PillarError>, id: &str) {
        let failed = self
            .failures
            .entry(key(error.diagnostic()))
            .or_insert_with(|| SlsFailure {
                kept,
                error,
                ids: Vec::new(),
            });
        if failed.ids.last().is_none_or(|last| last != id) {
            failed.ids.push(id.into());
        }
    }

    fn event(&mut self, number: usize, event: &WholeEvent) {
        match event {
            WholeEvent::Top { saltenv, path, .. } => {
                self.envs.insert(saltenv.clone());
                self.read.extend(path.clone());
                self.tops.extend(path.clone());
            }
            WholeEvent::Target {
                saltenv,
                target,
                matcher,
                place,
                sls,
                is_match,
            } => {
                let key = ExaminedTarget {
                    saltenv: saltenv.clone(),
                    target: target.clone(),
                };
                let asked = self.targets.entry(key).or_insert_with(|| TopEntry {
                    place: place.clone(),
                    matcher: matcher.clone(),
                    ..TopEntry::default()
                });
                for name in sls {
                    if !asked.sls.contains(name) {
                        asked.sls.push(name.clone());
                    }
                }
                if *is_match {
                    asked.meant.insert(number);
                }
            }
            WholeEvent::Sls {
                sls,
                saltenv,
                path,
                outcome,
                ..
            } => {
                self.read.extend(path.clone());
                let rendered = self.sls.entry((saltenv.clone(), sls.clone())).or_default();
                rendered.path = path.clone().or(rendered.path.take());
                match outcome {
                    SlsOutcome::Read(_) => drop(rendered.good.insert(number)),
                    SlsOutcome::Failed | SlsOutcome::NoMapping(_) => {
                        rendered.failed.insert(number);
                    }
                    _ => {}
                }
            }
            WholeEvent::External {
                name,
                problem: Some(_),
                ..
            } => drop(self.externals.insert(name.clone())),
            WholeEvent::External { .. } => {}
        }
    }

    /// True if a file was read for some minion, as a person opens it.
    pub fn is_read(&self, file: &str) -> bool {
        self.read.contains(file) || self.stacked.contains(file)
    }

    /// True if a file could be one that a stacked external pillar would have read, had it not failed.
    pub fn could_be_stacked(&self, file: &str) -> bool {
        self.broken.iter().any(|above| file.starts_with(above))
    }

    /// The minions that an sls is rendered for, and whether it works for some of them.
    pub fn rendered(&self, sls: &str) -> (usize, bool) {
        let of_name = self.sls.iter().filter(|((_, name), _)| name == sls);
        let mut all: BTreeSet<usize> = BTreeSet::new();
        let mut works = false;
        for (_, rendered) in of_name {
            all.extend(rendered.good.union(&rendered.failed));
            works |= !rendered.good.is_empty();
        }
        (all.len(), works)
    }

    /// True if the top files of some minion, or its pillar, could not be followed to their end.
    pub fn is_partial(&self) -> bool {
        let is_open = |failed: &SlsFailure| {
            let kept = failed.kept.as_ref();
            kept.is_none_or(|kept| kept.fault == Fault::Top)
        };
        self.failures.values().any(is_open)
    }
}
