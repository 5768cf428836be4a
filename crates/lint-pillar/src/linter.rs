//! The entry point.

use std::sync::Arc;

use mapstack::minion::Minion;
use mapstack::secrets::{Policy, Secrets};
use mapstack::{Engine, Error};
use mapstack_fleet::{Pace, ordered};
use mapstack_lint::{Content, Document, Levels, Report, Sources};
use mapstack_pillar::Master;

use crate::examined::Examined;
use crate::files::Files;
use crate::rules::{self, Subject};
use crate::seen::Seen;

/// Checks the pillar of a master.
pub struct PillarLinter<'m> {
    master: &'m Master,
    engine: &'m Engine,
    levels: Levels,
    secrets: Arc<Secrets>,
}

/// The minions for which a pillar is checked.
#[derive(Debug, Clone)]
pub enum Minions {
    /// Those that there are: what none of them gets, no minion gets.
    Known(Vec<Minion>),
    /// Examples, such as one of each platform: what none of them gets may well be for others.
    Examples(Vec<Minion>),
}

impl Minions {
    /// Minions that are those that there are, or examples.
    #[must_use]
    pub fn given(minions: Vec<Minion>, are_known: bool) -> Self {
        match are_known {
            true => Minions::Known(minions),
            false => Minions::Examples(minions),
        }
    }

    fn all(&self) -> &[Minion] {
        match self {
            Minions::Known(minions) | Minions::Examples(minions) => minions,
        }
    }
}

impl<'m> PillarLinter<'m> {
    /// A linter for the pillar that a master compiles; functions of its templates are the engine's.
    #[must_use]
    pub fn new(master: &'m Master, engine: &'m Engine) -> Self {
        PillarLinter {
            master,
            engine,
            levels: Levels::default(),
            secrets: Arc::new(Secrets::numbered()),
        }
    }

    /// How much the rules matter.
    #[must_use]
    pub fn levels(self, levels: Levels) -> Self {
        PillarLinter { levels, ..self }
    }

    /// What to keep back in messages and excerpts; by default what stands under the usual keys.
    #[must_use]
    pub fn secrets(self, secrets: Secrets) -> Self {
        let secrets = Arc::new(secrets);
        PillarLinter { secrets, ..self }
    }

    /// Check the pillar, and give minions without one the pillar that was compiled: as far as there is one, without
    /// `_errors`.
    ///
    /// # Errors
    /// The pillar's files cannot be listed.
    pub fn lint(&self, minions: &Minions) -> Result<(Report, Vec<Minion>), Error> {
        let files = Files::read(self.master)?;
        let (seen, with_pillars) = self.look(minions.all())?;
        let documents = documents(&seen, &files);
        let subject = Subject {
            seen: &seen,
            files: &files,
            documents: &documents,
            secrets: &self.secrets,
            is_fleet: matches!(minions, Minions::Known(_)),
        };
        let sources = Sources {
            files: files.all.values().map(|file| &file.source).collect(),
            documents: documents.iter().collect(),
        };
        let findings = rules::all(&subject);
        let mut report = Report::of(findings, &sources, &self.levels, self.secrets.clone());
        report.is_pillar = true;
        report.files = files.sls().count();
        report.looked.states = seen.read.len();
        report.minions = seen.minions;
        report.supported = seen.minions;
        report.unanswered = rules::unanswered(&seen);
        report.ignored = rules::unread(&seen, &files);
        report.remarks = remarks(&subject);
        Ok((report, with_pillars))
    }

    /// Compile the pillars of minions side by side.
    fn look(&self, minions: &[Minion]) -> Result<(Seen, Vec<Minion>), Error> {
        let mut seen = Seen::default();
        let mut with_pillars = Vec::with_capacity(minions.len());
        // What it shows of a pillar is masked when it is reported.
        let policy: &Policy = self.engine.policy();
        let work = |minion: &Minion| Examined::of(self.master, self.engine, minion, policy);
        std::thread::scope(|scope| {
            let all = ordered(scope, minions.iter(), Pace::default(), work);
            for (minion, examined) in minions.iter().zip(all) {
                let examined = examined?;
                let mut minion = minion.clone();
                if let (true, Ok(data)) = (minion.pillar.is_empty(), &examined.data) {
                    minion.pillar = data.clone();
                }
                let grains = minion.grains.keys().filter_map(|key| key.as_str());
                seen.grains.extend(grains.map(str::to_owned));
                with_pillars.push(minion);
                seen.add(examined);
            }
            Ok((seen, with_pillars))
        })
    }
}

/// What the sls amount to, as minions read them; those that no minion gets as they are, if they are not templates.
fn documents(seen: &Seen, files: &Files) -> Vec<Document> {
    let read = seen.texts.iter().map(|((shown, _), text)| {
        let path = files.all.get(shown).map(|file| file.source.path.as_str());
        Document::parse(path.unwrap_or(shown), Content::Rendered(text.clone()))
    });
    let unread = files
        .sls()
        .filter(|file| !seen.read.contains(&file.source.shown) && !file.source.is_template());
    let plain = unread.map(|file| {
        let source = Arc::new(file.source.clone());
        Document::parse(&file.source.path, Content::Plain(source))
    });
    // What is not YAML is an error of the compile.
    read.chain(plain).filter_map(Result::ok).collect()
}

/// What was not looked at, beside files.
fn remarks(subject: &Subject<'_>) -> Vec<String> {
    let seen = subject.seen;
    let mut remarks = Vec::new();
    if !subject.is_fleet {
        remarks.push(
            "which targets mean no minion was not looked at: the minions of this run are examples; \
             --minions gives those that there are"
                .into(),
        );
    } else if seen.is_partial() {
        remarks.push(
            "which sls no minion gets was not looked at: the pillar of some minion ends with an error"
                .into(),
        );
    }
    for name in &seen.externals {
        remarks.push(format!(
            "what the external pillar '{name}' gives was not looked at: it failed, or is not built in"
        ));
    }
    let envs = subject.files.envs.iter();
    for env in envs.filter(|env| !seen.envs.contains(*env)) {
        remarks.push(format!(
            "the saltenv '{env}' was not looked at: no minion reads its top file"
        ));
    }
    remarks
}
