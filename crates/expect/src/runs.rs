//! Running a formula for one expectation after another.

use std::collections::{HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};

use mapstack::minion::{Minion, Part, platforms};
use mapstack::value::Value;
use mapstack::{ConfigurationMethod, DataOptions, Engine, Error, ErrorKind};
use mapstack_fleet::{Minions, Pace, Scope, UnknownKey, ordered};

use crate::writing::{self, directory};
use crate::{
    Case, CaseOutcome, Expectation, ExpectationForm, ExpectationSubject, Header, Kitchen,
    RecordedExpectation, Suite, files,
};

/// The work on expectations, and whose they are.
pub struct ExpectationPlan<'r> {
    /// The arguments of `map.data`.
    pub options: DataOptions,
    /// The way in which configurations are made; if nothing says, the file does, or the formula.
    pub way: Option<ConfigurationMethod>,
    /// The variable of a `map.jinja`.
    pub variable: Option<String>,
    /// The keys that count.
    pub scope: Scope,
    /// True if what differs is recorded.
    pub update: bool,
    /// The selected minions, by their ids.
    pub ids: HashSet<String>,
    /// True if they were chosen: expectations of others are left out.
    pub chosen: bool,
    /// True if a pillar is given, which counts instead of a test suite's.
    pub has_pillar: bool,
    /// The description of the run in a new file: paths as they are given, and facts that are set.
    pub given: RunDescription,
    /// Makes an engine that serves a test suite's pillar.
    pub engine_of: &'r EngineOf<'r>,
    /// Writes a file as a whole.
    pub write: &'r (dyn Fn(&Path, &str) -> io::Result<()> + Sync),
}

/// Makes an engine for the files of a test suite.
pub type EngineOf<'r> = dyn Fn(&Suite) -> Result<Engine, Error> + Sync + 'r;

/// The description of a run for a new file.
#[derive(Debug, Clone, Default)]
pub struct RunDescription {
    /// The minion's file.
    pub minion: Option<PathBuf>,
    /// The pillar's file.
    pub pillar: Option<PathBuf>,
    /// Facts that are set, by their paths.
    pub set: Vec<(String, Value)>,
}

/// The state that many runs share.
pub struct Runs<'r> {
    plan: ExpectationPlan<'r>,
    engine: &'r Engine,
    saltenv: &'r str,
    minions: &'r dyn Minions,
    subjects: HashMap<String, Result<ExpectationSubject<'r>, Error>>,
    kitchens: HashMap<PathBuf, Result<Option<ReadySuites>, Error>>,
}

/// The test suites of a repository, each with an engine that serves its pillar.
struct ReadySuites {
    kitchen: Kitchen,
    suites: HashMap<usize, Result<(Suite, Engine), Error>>,
}

/// The minion of an expectation, if there is one.
enum ExpectationMinion {
    Minion(Box<Minion>),
    /// It is not among those that are wanted.
    LeftOut,
    /// It does not exist, for this reason.
    None(String),
}

impl<'r> Runs<'r> {
    /// The runs of the expectations `wanted`.
    pub fn new<'w>(
        plan: ExpectationPlan<'r>,
        engine: &'r Engine,
        saltenv: &'r str,
        minions: &'r dyn Minions,
        wanted: impl Iterator<Item = &'w Expectation>,
    ) -> Self {
        let mut runs = Runs {
            plan,
            engine,
            saltenv,
            minions,
            subjects: HashMap::new(),
            kitchens: HashMap::new(),
        };
        for expectation in wanted {
            if !runs.subjects.contains_key(&expectation.formula) {
                let subject = runs.subject(&expectation.formula, &Header::default());
                runs.subjects.insert(expectation.formula.clone(), subject);
            }
            if let Some((suite, base)) = &expectation.suite {
                runs.prepare(suite, base, &expectation.name);
            }
        }
        runs
    }

    /// Fail if no expectation and no result has one of the keys that count.
    ///
    /// # Errors
    /// The first such key.
    pub fn check_keys(&self) -> Result<(), UnknownKey> {
        self.plan.scope.check()
    }

    fn subject(&self, formula: &str, header: &Header) -> Result<ExpectationSubject<'r>, Error> {
        let subject = ExpectationSubject::new(
            self.engine,
            formula,
            self.saltenv,
            self.plan.options.clone(),
        )?;
        let wanted = match (self.plan.way, header.of.as_deref()) {
            (Some(way), _) => Some(way),
            (None, Some("data")) => Some(ConfigurationMethod::Data),
            (None, Some("map")) => Some(ConfigurationMethod::Map),
            _ => None,
        };
        let subject = match wanted {
            Some(way) => subject.made(way)?,
            None => subject,
        };
        Ok(subject
            .variable(header.variable.as_deref())
            .variable(self.plan.variable.as_deref()))
    }

    /// Have the suite at hand that checks a platform's file.
    fn prepare(&mut self, folder: &str, base: &Path, platform: &str) {
        if !self.kitchens.contains_key(base) {
            let kitchen = Kitchen::of(base).map(|kitchen| {
                Some(ReadySuites {
                    kitchen: kitchen?,
                    suites: HashMap::new(),
                })
            });
            self.kitchens.insert(base.into(), kitchen);
        }
        let Some(Ok(Some(ready))) = self.kitchens.get_mut(base) else {
            return;
        };
        let Some(index) = ready.kitchen.suite_of(folder, platform) else {
            return;
        };
        if !ready.suites.contains_key(&index) {
            let made = match ready.kitchen.suite(index) {
                Err(error) => Err(error),
                Ok(suite) => (self.plan.engine_of)(&suite).map(|engine| (suite, engine)),
            };
            ready.suites.insert(index, made);
        }
    }

    /// The results of some expectations, without those that are left out; each says whether it is new.
    pub fn cases(&self, wanted: &[(Expectation, bool)], pace: Pace) -> Vec<Case> {
        std::thread::scope(|scope| {
            let done = ordered(scope, wanted.iter(), pace, |(expectation, is_new)| {
                self.case(expectation, *is_new)
            });
            let cases = wanted
                .iter()
                .zip(done)
                .filter_map(|((expectation, _), result)| {
                    result.unwrap_or_else(|panicked| {
                        Some(Case {
                            expectation: expectation.clone(),
                            outcome: CaseOutcome::Fails(panicked.into()),
                            minion: None,
                            warnings: Vec::new(),
                            secret_texts: Vec::new(),
                        })
                    })
                });
            cases.collect()
        })
    }

    /// The result of an expectation; nothing if it is left out.
    fn case(&self, expectation: &Expectation, is_new: bool) -> Option<Case> {
        let mut case = Case {
            expectation: expectation.clone(),
            outcome: CaseOutcome::Same,
            minion: None,
            warnings: Vec::new(),
            secret_texts: Vec::new(),
        };
        match self.outcome(&mut case, is_new) {
            Ok(Some(outcome)) => case.outcome = outcome,
            Ok(None) => return None,
            Err(error) => case.outcome = CaseOutcome::Fails(error),
        }
        Some(case)
    }

    /// True if a file is left out, whatever is in it.
    fn is_left_out(&self, expectation: &Expectation) -> bool {
        let whose = self.whose(expectation, &Header::default());
        matches!(whose, Ok(ExpectationMinion::LeftOut))
    }

    fn outcome(&self, case: &mut Case, is_new: bool) -> Result<Option<CaseOutcome>, Error> {
        let expectation = &case.expectation;
        let recorded = match is_new {
            true => None,
            false => match read(expectation) {
                // Of a file that is left out it does not matter what is wrong with it.
                Err(_) if self.is_left_out(expectation) => return Ok(None),
                read => Some(read?),
            },
        };
        let header = match &recorded {
            Some(recorded) => recorded.header.clone(),
            None => writing::header(&self.plan.given, expectation)?,
        };
        // A new file says what flags say.
        let given = if is_new {
            Header::default()
        } else {
            header.clone()
        };
        let minion = match self.whose(expectation, &given)? {
            ExpectationMinion::Minion(minion) => *minion,
            ExpectationMinion::LeftOut => return Ok(None),
            ExpectationMinion::None(reason) => return Ok(Some(CaseOutcome::Skipped(reason))),
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
        let actual = match expectation.form {
            ExpectationForm::States => subject.states(&header.sls, &minion)?,
            form => subject.actual(form, &minion),
        };
        case.warnings = actual.warnings;
        case.secret_texts = actual.secret_texts;
        let actual = actual.result?;
        let written = |was_there| CaseOutcome::Written {
            was_there,
            clear: writing::is_clear(&minion, &case.secret_texts, &actual),
        };
        let Some(recorded) = recorded else {
            writing::new(expectation, &header, &actual, self.plan.write)?;
            return Ok(Some(written(false)));
        };
        let texts = &case.secret_texts;
        let differences = subject.compare(&recorded, &actual, &self.plan.scope, texts, &minion);
        if differences.is_empty() {
            return Ok(Some(CaseOutcome::Same));
        }
        if self.plan.update {
            let text = recorded.with_data(&recorded.settled(&actual));
            writing::write(expectation, &text, self.plan.write)?;
            return Ok(Some(written(true)));
        }
        Ok(Some(CaseOutcome::Differs(differences)))
    }

    /// The minion of an expectation.
    fn whose(
        &self,
        expectation: &Expectation,
        header: &Header,
    ) -> Result<ExpectationMinion, Error> {
        let near = |path: &str| {
            let file = directory(&expectation.file).join(path);
            expectation.repository()?.check(&file).map(|()| file)
        };
        let chosen = self.plan.chosen;
        let mut minion = match &header.minion {
            Some(path) => {
                let minion = Minion::from_path(near(path)?).map_err(Error::from)?;
                if chosen && !self.plan.ids.contains(&minion.id().to_string()) {
                    return Ok(ExpectationMinion::LeftOut);
                }
                minion
            }
            None => {
                let name = header.platform.as_deref().unwrap_or(&expectation.name);
                let platform = platforms::find(name);
                let id = match (&platform, self.plan.ids.contains(name)) {
                    (Ok(platform), false) => platform.name,
                    _ => name,
                };
                match (self.plan.ids.contains(id), platform) {
                    (true, _) => self.minions.unchanged(id)?,
                    (false, _) if chosen => return Ok(ExpectationMinion::LeftOut),
                    (false, Ok(platform)) => platform.minion(),
                    (false, Err(error)) => return Ok(ExpectationMinion::None(error.to_string())),
                }
            }
        };
        if let (ExpectationForm::Mapdata, Some((suite, base))) =
            (expectation.form, &expectation.suite)
        {
            minion = match self.in_suite(suite, base, &expectation.name, minion)? {
                Ok(minion) => minion,
                Err(reason) => return Ok(ExpectationMinion::None(reason)),
            };
        }
        if let Some(path) = &header.pillar {
            let file = near(path)?;
            let bytes = files::bytes(&file)?;
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
        Ok(ExpectationMinion::Minion(Box::new(
            self.minions.as_given(minion)?,
        )))
    }

    /// A minion with what its test suite gives it, or why such a suite does not exist.
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
            Some(Err(error)) if !self.plan.has_pillar => return Err(error.clone()),
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

/// The content of an expectation's file.
fn read(expectation: &Expectation) -> Result<RecordedExpectation, Error> {
    expectation.repository()?.check(&expectation.file)?;
    RecordedExpectation::read(expectation.form, &expectation.file)
}
