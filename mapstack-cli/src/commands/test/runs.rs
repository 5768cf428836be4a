//! Running a formula for one expectation after another.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use mapstack::minion::{Minion, Part, platforms};
use mapstack::{DataOptions, Engine, Error, ErrorKind};
use mapstack_expect::{
    Case, Expectation, Form, Header, Kind, Kitchen, Outcome, Recorded, Subject, Suite,
};
use mapstack_fleet::Ignored;
use mapstack_inputs::{Kwargs, Many};

use super::{directory, writing};
use crate::cli::{Expected, Test};
use crate::commands::engine;
use crate::report::Failure;

/// What many runs share.
pub struct Runs<'r> {
    args: &'r Test,
    engine: &'r Engine,
    saltenv: &'r str,
    options: DataOptions,
    minions: &'r Many<'r>,
    ids: HashSet<String>,
    subjects: HashMap<String, Result<Subject<'r>, Error>>,
    kitchens: HashMap<PathBuf, Result<Option<Ready>, Error>>,
    ignored: Vec<Ignored>,
}

/// The test suites of a repository, each with an engine that serves its pillar.
struct Ready {
    kitchen: Kitchen,
    suites: HashMap<usize, Result<(Suite, Engine), Error>>,
}

/// Whether there is a minion for an expectation.
enum Whose {
    Minion(Box<Minion>),
    /// It is not among those that are wanted.
    LeftOut,
    Nobody(String),
}

impl<'r> Runs<'r> {
    pub fn new<'w>(
        args: &'r Test,
        engine: &'r Engine,
        saltenv: &'r str,
        minions: &'r Many<'r>,
        wanted: impl Iterator<Item = &'w Expectation>,
    ) -> Result<Self, Failure> {
        let kwargs = Kwargs::new(&args.input)?
            .layering(&args.layering)?
            .into_map();
        let mut runs = Runs {
            args,
            engine,
            saltenv,
            options: DataOptions::from_kwargs(&kwargs)?,
            minions,
            ids: minions.ids().into_iter().collect(),
            subjects: HashMap::new(),
            kitchens: HashMap::new(),
            ignored: args.ignore.iter().map(|path| Ignored::new(path)).collect(),
        };
        for expectation in wanted {
            if !runs.subjects.contains_key(&expectation.formula) {
                let subject = runs.subject(&expectation.formula, &Header::default());
                runs.subjects.insert(expectation.formula.clone(), subject);
            }
            if let Some((suite, base)) = &expectation.suite {
                runs.prepare(suite, base, &expectation.name)?;
            }
        }
        Ok(runs)
    }

    fn subject(&self, formula: &str, header: &Header) -> Result<Subject<'r>, Error> {
        let subject = Subject::new(self.engine, formula, self.saltenv, self.options.clone())?;
        let wanted = match (self.args.of, header.of.as_deref()) {
            (Some(Expected::Data), _) | (None, Some("data")) => Some(Kind::Data),
            (Some(Expected::Map), _) | (None, Some("map")) => Some(Kind::Map),
            _ => None,
        };
        let subject = match wanted {
            Some(kind) => subject.of(kind)?,
            None => subject,
        };
        Ok(subject
            .variable(header.variable.as_deref())
            .variable(self.args.var.as_deref()))
    }

    /// Have the suite at hand that checks a platform's file.
    fn prepare(&mut self, folder: &str, base: &Path, platform: &str) -> Result<(), Failure> {
        if !self.kitchens.contains_key(base) {
            let kitchen = Kitchen::of(base).map(|kitchen| {
                Some(Ready {
                    kitchen: kitchen?,
                    suites: HashMap::new(),
                })
            });
            self.kitchens.insert(base.into(), kitchen);
        }
        let Some(Ok(Some(ready))) = self.kitchens.get_mut(base) else {
            return Ok(());
        };
        let Some(index) = ready.kitchen.suite_of(folder, platform) else {
            return Ok(());
        };
        if !ready.suites.contains_key(&index) {
            let made = match ready.kitchen.suite(index) {
                Err(error) => Err(error),
                Ok(suite) => {
                    let engine = engine(suite.files(), &self.args.input.functions)?;
                    Ok((suite, engine))
                }
            };
            ready.suites.insert(index, made);
        }
        Ok(())
    }

    /// What comes of an expectation; nothing if it is left out.
    pub fn case(&self, expectation: &Expectation, is_new: bool) -> Option<Case> {
        let mut case = Case {
            expectation: expectation.clone(),
            outcome: Outcome::Same,
            minion: None,
            warnings: Vec::new(),
            secret_texts: Vec::new(),
        };
        match self.outcome(&mut case, is_new) {
            Ok(Some(outcome)) => case.outcome = outcome,
            Ok(None) => return None,
            Err(error) => case.outcome = Outcome::Fails(error),
        }
        Some(case)
    }

    fn outcome(&self, case: &mut Case, is_new: bool) -> Result<Option<Outcome>, Error> {
        let expectation = &case.expectation;
        let recorded = match is_new {
            true => None,
            false => match read(expectation) {
                // Of a file that nobody wants it does not matter what is wrong with it.
                Err(_)
                    if matches!(
                        self.whose(expectation, &Header::default()),
                        Ok(Whose::LeftOut)
                    ) =>
                {
                    return Ok(None);
                }
                read => Some(read?),
            },
        };
        let header = match &recorded {
            Some(recorded) => recorded.header.clone(),
            None => writing::header(self.args, expectation)?,
        };
        // A new file says what flags say.
        let given = if is_new {
            Header::default()
        } else {
            header.clone()
        };
        let minion = match self.whose(expectation, &given)? {
            Whose::Minion(minion) => *minion,
            Whose::LeftOut => return Ok(None),
            Whose::Nobody(reason) => return Ok(Some(Outcome::Skipped(reason))),
        };
        case.minion = Some(minion.clone());
        let own;
        let subject = match self.subjects.get(&expectation.formula) {
            Some(subject) if header.of.is_none() && header.variable.is_none() => {
                subject.as_ref().map_err(Clone::clone)?
            }
            _ => {
                own = self.subject(&expectation.formula, &header)?;
                &own
            }
        };
        let actual = subject.actual(expectation.form, &minion);
        case.warnings = actual.warnings;
        case.secret_texts = actual.secret_texts;
        let actual = actual.result?;
        let Some(recorded) = recorded else {
            writing::new(expectation, &header, &actual)?;
            return Ok(Some(Outcome::Written {
                was_there: false,
                clear: writing::is_clear(&minion, &case.secret_texts, &actual),
            }));
        };
        let mut differences = subject.compare(&recorded, &actual, &case.secret_texts, &minion);
        differences.retain(|difference| {
            !self
                .ignored
                .iter()
                .any(|ignored| ignored.has(&difference.change.path))
        });
        if differences.is_empty() {
            return Ok(Some(Outcome::Same));
        }
        if self.args.update {
            writing::write(expectation, &recorded.with_data(&recorded.settled(&actual)))?;
            return Ok(Some(Outcome::Written {
                was_there: true,
                clear: writing::is_clear(&minion, &case.secret_texts, &actual),
            }));
        }
        Ok(Some(Outcome::Differs(differences)))
    }

    /// The minion of an expectation.
    fn whose(&self, expectation: &Expectation, header: &Header) -> Result<Whose, Error> {
        let near = |path: &str| {
            let file = directory(&expectation.file).join(path);
            expectation.repository()?.check(&file).map(|()| file)
        };
        let chosen = self.args.input.facts.name_minions() || self.args.target.minion_glob.is_some();
        let mut minion = match &header.minion {
            Some(path) => {
                let minion = Minion::from_path(near(path)?).map_err(Error::from)?;
                if chosen && !self.ids.contains(&minion.id().to_string()) {
                    return Ok(Whose::LeftOut);
                }
                minion
            }
            None => {
                let name = header.platform.as_deref().unwrap_or(&expectation.name);
                let platform = platforms::find(name);
                let id = match (&platform, self.ids.contains(name)) {
                    (Ok(platform), false) => platform.name,
                    _ => name,
                };
                match (self.ids.contains(id), platform) {
                    (true, _) => self.minions.unchanged(id)?,
                    (false, _) if chosen => return Ok(Whose::LeftOut),
                    (false, Ok(platform)) => platform.minion(),
                    (false, Err(error)) => return Ok(Whose::Nobody(error.to_string())),
                }
            }
        };
        if let (Form::Mapdata, Some((suite, base))) = (expectation.form, &expectation.suite) {
            minion = match self.in_suite(suite, base, &expectation.name, minion)? {
                Ok(minion) => minion,
                Err(reason) => return Ok(Whose::Nobody(reason)),
            };
        }
        if let Some(path) = &header.pillar {
            let file = near(path)?;
            let bytes = mapstack_inputs::read(&file).map_err(|e| e.or_kind(ErrorKind::File))?;
            minion
                .load_part(Part::Pillar, &bytes, &file.display().to_string())
                .map_err(Error::from)?;
        }
        for (path, value) in &header.set {
            let refused = |e: &dyn std::fmt::Display| {
                Error::new(
                    ErrorKind::Facts,
                    format!("{}: set: {path}: {e}", expectation.file.display()),
                )
            };
            minion.set(path, value.clone()).map_err(|e| refused(&e))?;
        }
        Ok(Whose::Minion(Box::new(self.minions.as_given(minion)?)))
    }

    /// A minion with what its test suite gives it, or why there is no such suite.
    fn in_suite(
        &self,
        folder: &str,
        base: &Path,
        platform: &str,
        minion: Minion,
    ) -> Result<Result<Minion, String>, Error> {
        let ready = match self.kitchens.get(base) {
            Some(Ok(Some(ready))) => ready,
            // The pillar that is given is all there is to know.
            Some(Err(error)) if self.args.input.facts.pillar.is_none() => return Err(error.clone()),
            _ => return Ok(Ok(minion)),
        };
        let Some(suite) = ready
            .kitchen
            .suite_of(folder, platform)
            .and_then(|index| ready.suites.get(&index))
        else {
            return Ok(Err(format!(
                "{} has no suite that checks {platform}",
                ready.kitchen.shown()
            )));
        };
        let (suite, engine) = suite.as_ref().map_err(Clone::clone)?;
        suite.apply(engine, minion).map(Ok)
    }
}

/// What the file of an expectation says.
fn read(expectation: &Expectation) -> Result<Recorded, Error> {
    expectation.repository()?.check(&expectation.file)?;
    Recorded::read(expectation.form, &expectation.file)
}
