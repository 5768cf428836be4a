//! All states of an estate: what each minion gets by its top files, and what none gets.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, OnceLock};

use indexmap::IndexMap;
use mapstack::loader::{Fetched, SaltPath};
use mapstack::minion::Minion;
use mapstack::secrets::Secrets;
use mapstack::{DataOptions, Diagnostic, Engine, Error, ErrorKind, Place, sls_name};
use mapstack_states::{GatheredStates, Gatherer, ProblemKind, SlsData, TopOptions};

use crate::document::SourceFile;
use crate::finding::{MessageKey, key};
use crate::pillar::PillarKeys;
use crate::states::{SlsOfMinions, SlsRender, made_of, unknown_renderer, why_not_rendered};
use crate::subject::{Dialect, ExaminedMinion, FormulaSubject, TopFault, TopProblem, read_files};
use crate::templates::Templates;
use crate::work::{folded, side_by_side};

/// The states of an estate.
#[derive(Debug, Clone, Default)]
pub struct Estate {
    /// The options for its top files.
    pub options: TopOptions,
    /// Folders below a root that have no states, such as those of a pillar, with the reason.
    pub others: Vec<(String, String)>,
    /// The minions whose pillars have errors: what their states lack follows from these.
    pub broken: BTreeSet<String>,
    /// The assumed minions, of which less is known than of real ones.
    pub examples: BTreeSet<String>,
    /// External pillars that were left out: what states look up may be theirs.
    pub left_out: Vec<String>,
    /// The keys that the pillar's files can set, if all of the pillar is here.
    pub pillar: Option<Arc<PillarKeys>>,
    /// The minions whose grains are assumed, by their names or as a platform has them.
    pub assumed: BTreeSet<String>,
}

impl Estate {
    /// True if the grains of all these minions are assumed.
    pub(crate) fn assumes(&self, minions: &[String]) -> bool {
        minions.iter().all(|id| self.assumed.contains(id))
    }
}

/// The numbers of sls of an estate that were looked at, and that there are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SlsCounts {
    /// Those that some minion gets.
    pub gotten: usize,
    /// Those that none gets, which were rendered for one minion.
    pub unnamed: usize,
    /// True if there is a top file.
    pub has_top: bool,
}

/// The rendered sls, by the address of the shared result.
type MadeOf = HashMap<*const SlsData, Arc<Result<SlsRender, Error>>>;

impl<'s> FormulaSubject<'s> {
    /// The states of a saltenv, as the minions get them.
    pub fn of_estate(
        engine: &'s Engine,
        saltenv: &'s str,
        estate: &Estate,
        minions: &'s [Minion],
        secrets: &'s Secrets,
    ) -> Result<(Self, SlsCounts), Error> {
        let mut files = read_files(engine, "", saltenv)?;
        let mut ignored = BTreeMap::new();
        for (folder, why) in &estate.others {
            files.retain(|path, _| {
                let is_in = path
                    .strip_prefix(&**folder)
                    .is_some_and(|rest| rest.starts_with('/'));
                if is_in {
                    ignored.insert(path.clone(), why.clone());
                }
                !is_in
            });
        }
        let survey = engine.survey_files(files.keys().cloned().collect(), saltenv)?;
        let templates = Templates::read(engine, saltenv, &survey);
        let run = |minion| ExaminedMinion {
            minion,
            supported: true,
            layered: None,
            too_large: None,
            map_error: None,
            map_text: String::new(),
            events: Vec::new(),
            secret_texts: Vec::new(),
        };
        let mut subject = FormulaSubject {
            engine,
            options: DataOptions::default(),
            formula: String::new(),
            saltenv: saltenv.into(),
            dialect: Dialect::MapJinja,
            survey,
            templates,
            files,
            runs: minions.iter().map(run).collect(),
            states: Vec::new(),
            ignored,
            sought: OnceLock::new(),
            directories: BTreeSet::new(),
            documents: Vec::new(),
            broken: Vec::new(),
            secrets,
            problems: Vec::new(),
            faults: Vec::new(),
            compiled_with_others: 0,
            of_other_saltenvs: BTreeMap::new(),
            misuses: Vec::new(),
            estate: Some(estate.clone()),
        };
        let reached = subject.gather(estate, minions)?;
        subject.read_documents();
        subject.find_ignored();
        Ok((subject, reached))
    }

    /// Render what each minion gets, then what none gets.
    fn gather(&mut self, estate: &Estate, minions: &[Minion]) -> Result<SlsCounts, Error> {
        let gatherer = Gatherer::new(self.engine, estate.options.clone());
        let gatherer = gatherer.secrets(self.secrets.clone()).giving_up();
        let (gathered, doubts) = gathered(self.engine, &gatherer, minions)?;
        let mut states: BTreeMap<String, SlsOfMinions> = BTreeMap::new();
        let mut made = MadeOf::new();
        for (run, gathered) in gathered.iter().enumerate() {
            self.add(&mut states, &mut made, run, gathered, minions.len());
        }
        self.note_other_saltenvs(&gathered);
        let loaded = self.templates.loaded();
        let mut unnamed = Vec::new();
        for file in self
            .files
            .values()
            .filter(|file| file.path.ends_with(".sls"))
        {
            if states.contains_key(&file.path) || is_top(&file.path, &estate.options) {
                continue;
            }
            match why_not_rendered(file, &loaded) {
                Some(why) => drop(self.ignored.insert(file.path.clone(), why.to_owned())),
                None => unnamed.extend(sls_name(&file.path)),
            }
        }
        let gotten = states.len();
        if let Some(first) = minions.first() {
            let alone = side_by_side(&unnamed, |name| gatherer.alone(first, &self.saltenv, name))?;
            for gathered in &alone {
                // Its includes are gotten, or are unnamed themselves.
                let own = GatheredStates {
                    sls: gathered.sls.iter().take(1).cloned().collect(),
                    ..GatheredStates::default()
                };
                self.add(&mut states, &mut made, 0, &own, minions.len());
            }
            let alone: Vec<_> = unnamed.iter().cloned().zip(alone).collect();
            self.compile_estate(&gatherer, minions, &gathered, &alone)?;
        }
        for name in &unnamed {
            let unnamed = states.values_mut().find(|state| state.name == *name);
            if let Some(state) = unnamed {
                state.is_unnamed = true;
            }
        }
        self.problems = problems(self, &gathered, minions, doubts);
        for state in states.values() {
            if let Some(error) = state.unsupported() {
                self.ignored
                    .insert(state.file.path.clone(), error.diagnostic().message.clone());
            }
        }
        self.states = states.into_values().collect();
        Ok(SlsCounts {
            gotten,
            unnamed: unnamed.len(),
            has_top: has_top(&gathered),
        })
    }

    fn note_other_saltenvs(&mut self, gathered: &[GatheredStates]) {
        for sls in gathered.iter().flat_map(|one| &one.sls) {
            if sls.saltenv != self.saltenv {
                let of = self.of_other_saltenvs.entry(sls.saltenv.clone());
                of.or_default().insert(sls.name.clone());
            }
        }
    }

    fn add(
        &self,
        states: &mut BTreeMap<String, SlsOfMinions>,
        made: &mut MadeOf,
        run: usize,
        gathered: &GatheredStates,
        count: usize,
    ) {
        for sls in gathered
            .sls
            .iter()
            .filter(|sls| sls.saltenv == self.saltenv)
        {
            let Some(file) = self.files.get(&sls.path) else {
                continue;
            };
            let outcome = made
                .entry(Arc::as_ptr(&sls.rendered))
                .or_insert_with(|| Arc::new(outcome(&sls.rendered)));
            let state = states
                .entry(sls.path.clone())
                .or_insert_with(|| SlsOfMinions {
                    file: file.clone(),
                    name: sls.name.clone(),
                    outcomes: vec![None; count],
                    used: BTreeSet::new(),
                    is_part: false,
                    is_unnamed: false,
                });
            if let Some(slot) = state.outcomes.get_mut(run) {
                *slot = Some(outcome.clone());
                state.used.insert(run);
            }
        }
    }
}

/// True if a file is a top file.
fn is_top(path: &str, options: &TopOptions) -> bool {
    path == options.state_top
}

/// The parts of a render that rules look at.
fn outcome(rendered: &SlsData) -> Result<SlsRender, Error> {
    let made = match &rendered.data {
        Ok(value) => made_of(value),
        Err(error) => return Err(error.clone()),
    };
    // An sls of an unknown renderer gives nothing, with a warning.
    let unsupported = rendered
        .warnings
        .iter()
        .find(|warning| warning.kind == ErrorKind::Unsupported);
    match unsupported {
        Some(warning) => Err(unknown_renderer(warning.clone())),
        None => Ok(made),
    }
}

fn has_top(gathered: &[GatheredStates]) -> bool {
    gathered.iter().any(|one| match &one.top {
        Some(Ok(top)) => top.is_there,
        Some(Err(_)) => true,
        None => false,
    })
}

/// The warnings of top files, each once with its minions: a minion's own copies of thousands of them are large.
#[derive(Default)]
struct TopWarnings(IndexMap<MessageKey, (Diagnostic, Vec<String>)>);

/// The states that each minion gets, and the warnings of their top files.
fn gathered(
    engine: &Engine,
    gatherer: &Gatherer<'_>,
    minions: &[Minion],
) -> Result<(Vec<GatheredStates>, TopWarnings), Error> {
    let mut warnings = TopWarnings::default();
    let gather = |minion: &Minion| gatherer.gather(minion);
    let gathered = folded(minions, gather, |earlier, mut gathered| {
        if let Some(minion) = minions.get(earlier.len()) {
            warnings.take(engine, &mut gathered, minion);
        }
        gathered
    })?;
    Ok((gathered, warnings))
}

impl TopWarnings {
    /// Take those of a minion. Those of its grains are in no top file, and reported with the minions.
    fn take(&mut self, engine: &Engine, gathered: &mut GatheredStates, minion: &Minion) {
        let warnings = match &mut gathered.top {
            Some(Ok(top)) if !top.warnings.is_empty() => std::mem::take(&mut top.warnings),
            _ => return,
        };
        let of_grains = engine.warnings_of_grains(minion);
        let of_top = warnings
            .into_iter()
            .filter(|warning| of_grains.iter().all(|one| one.message != warning.message));
        for warning in of_top {
            let known = self.0.entry(key(&warning));
            let (_, ids) = known.or_insert_with(|| (warning, Vec::new()));
            ids.push(minion.id().to_string());
        }
    }
}

/// The names in top files that do not exist, each once with its minions.
fn problems(
    subject: &FormulaSubject<'_>,
    gathered: &[GatheredStates],
    minions: &[Minion],
    doubts: TopWarnings,
) -> Vec<TopProblem> {
    let mut missing: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    let mut failed: BTreeMap<String, (Error, Vec<String>)> = BTreeMap::new();
    for (one, minion) in gathered.iter().zip(minions) {
        let id = minion.id().to_string();
        let of_top = one.problems.iter();
        for problem in of_top
            .filter(|one| one.kind == ProblemKind::MissingOfTop && one.saltenv == subject.saltenv)
        {
            missing.entry(&problem.sls).or_default().push(id.clone());
        }
        if let Some(Err(error)) = &one.top {
            let known = failed.entry(error.to_string());
            let (_, ids) = known.or_insert_with(|| (error.clone(), Vec::new()));
            ids.push(id);
        }
    }
    let tops = subject
        .files
        .values()
        .filter(|file| file.path.ends_with("top.sls"));
    let tops: Vec<Arc<SourceFile>> = tops.cloned().chain(other_tops(subject)).collect();
    let place = |sls: &str| tops.iter().find_map(|file| place_of(file, sls));
    let missing = missing.into_iter().map(|(sls, minions)| TopProblem {
        what: TopFault::Missing {
            sls: sls.to_owned(),
            place: place(sls),
        },
        minions,
    });
    let failed = failed.into_values().map(|(error, minions)| TopProblem {
        what: TopFault::Failed(error),
        minions,
    });
    let doubtful = doubts.0.into_values();
    let doubtful = doubtful.map(|(warning, minions)| TopProblem {
        what: TopFault::Doubtful(warning),
        minions,
    });
    missing.chain(failed).chain(doubtful).collect()
}

/// The top files of other saltenvs, which can name sls of this one.
fn other_tops(subject: &FormulaSubject<'_>) -> Vec<Arc<SourceFile>> {
    let (engine, estate) = (subject.engine, subject.estate.as_ref());
    let path = estate.map_or("top.sls", |estate| &estate.options.state_top);
    let of = |saltenv: String| {
        let fetched = engine.fetch(&SaltPath::from_relative(path), &saltenv);
        let Ok(Fetched::Found { on_disk, bytes }) = fetched else {
            return None;
        };
        let text = std::str::from_utf8(&bytes).ok()?;
        let shown = on_disk.display().to_string();
        Some(Arc::new(SourceFile::new(path, shown, text)))
    };
    let others = engine.files().envs().into_iter();
    let others = others.filter(|saltenv| *saltenv != subject.saltenv);
    others.filter_map(of).collect()
}

/// The place of an sls's name as an item of a list.
fn place_of(file: &SourceFile, sls: &str) -> Option<Place> {
    let mut at = 0;
    for line in file.text.split_inclusive('\n') {
        let item = line
            .trim()
            .strip_prefix("- ")
            .map(|item| item.trim().trim_matches(['"', '\'']));
        if item == Some(sls) {
            let start = at + line.find(sls)?;
            return Some(file.place(start, start + sls.len()));
        }
        at += line.len();
    }
    None
}
