//! `mapstack test`.

mod junit;
mod rows;
mod runs;
mod text;
mod writing;

use std::collections::HashSet;
use std::path::PathBuf;

use mapstack::loader::Snapshot;
use mapstack::minion::Minion;
use mapstack::secrets::{Redacted, Secrets};
use mapstack::value::{Str, Value};
use mapstack::{Diagnostic, Engine, Error, ErrorKind};
use mapstack_expect::{Difference, Expectation, Places};
use mapstack_fleet::{Pace, ordered};

use super::diff::text::place;
use super::formulas;
use crate::cli::{Test, TestFormat};
use crate::configuration;
use crate::functions;
use crate::inputs::{self, Many};
use crate::masking::Masking;
use crate::output;
use crate::report::{Failure, Reporter};
use runs::Runs;

/// The exit status where nothing was compared.
const NOTHING: u8 = 2;

pub fn run(args: &Test, reporter: &Reporter) -> Result<(), Failure> {
    let input = &args.input;
    let config = configuration::read(&input.files, input.facts.id.as_deref(), None, reporter)?;
    let saltenv = input.files.saltenv.as_deref().unwrap_or("base");
    let served = inputs::served(&input.files, config.as_ref(), None, reporter)?;
    let roots: Vec<PathBuf> = served
        .directories(saltenv)
        .into_iter()
        .map(PathBuf::from)
        .collect();
    let engine = functions::add(Engine::new(Snapshot::new(served.files)), &input.functions)?;
    let names = match args.formulas.is_empty() {
        true => formulas::all(engine.files(), saltenv)?
            .into_iter()
            .collect(),
        false => formulas::named(&args.formulas),
    };
    let with_state = with_state(&engine, saltenv, &names)?;
    if let Some(directory) = args
        .expectations
        .iter()
        .find(|directory| !args.update && !directory.is_dir())
    {
        return Err(Failure::Usage(format!(
            "--expectations {}: there is no such directory",
            directory.display()
        )));
    }
    let places = Places {
        roots: &roots,
        named: &args.expectations,
        formulas: &names,
        every: args.formulas.is_empty(),
        with_state: &with_state,
    };
    let others: Vec<_> = input
        .functions
        .stub
        .iter()
        .chain(&input.custom_data)
        .cloned()
        .collect();
    let minions = Many::list_or_platforms(
        (&input.facts, &args.target),
        config.as_ref(),
        &others,
        reporter,
    )?;
    let mut wanted: Vec<(Expectation, bool)> =
        places.find()?.into_iter().map(|one| (one, false)).collect();
    if args.update {
        wanted.extend(
            writing::missing(args, &places, &wanted, &minions.ids())?
                .into_iter()
                .map(|one| (one, true)),
        );
    }
    if wanted.is_empty() {
        return Err(nothing(args, &places));
    }
    let runs = Runs::new(
        args,
        &engine,
        saltenv,
        &minions,
        wanted.iter().map(|(one, _)| one),
    )?;
    let masking = Masking::new(&args.secrets, reporter)?;
    let mut tested = Tested {
        cases: all(args, &runs, &wanted),
        masking,
    };
    if reporter.is_strict() {
        tested.cases.iter_mut().for_each(Case::be_strict);
    }
    tell(args, &tested, reporter)
}

/// Those of some formulas that have a state which makes files of platforms.
fn with_state(engine: &Engine, saltenv: &str, formulas: &[String]) -> Result<Vec<String>, Failure> {
    let mut found = Vec::new();
    for formula in formulas {
        let state = format!("{formula}/_mapdata/init.sls");
        let listed = engine
            .files()
            .list(saltenv, &format!("{formula}/_mapdata/"));
        let listed = listed.map_err(|e| {
            Error::new(
                ErrorKind::File,
                format!("cannot list {formula}/_mapdata/: {e}"),
            )
        })?;
        if listed.contains(&state) {
            found.push(formula.clone());
        }
    }
    Ok(found)
}

fn nothing(args: &Test, places: &Places<'_>) -> Failure {
    let of = if args.formulas.is_empty() {
        "any formula".into()
    } else {
        places.formulas.join(", ")
    };
    let among = if args.expectations.is_empty() {
        places.roots
    } else {
        places.named
    };
    let among: Vec<String> = among
        .iter()
        .map(|directory| directory.display().to_string())
        .collect();
    let advice = match args.update {
        true => {
            "say for which: name formulas, and --platform NAME (or all), --minion FILE or --minions DIR"
        }
        false => {
            "record some: mapstack test FORMULA --update --platform debian-12; `mapstack test --help` tells where they lie"
        }
    };
    Failure::Usage(format!(
        "nothing to test: there are no expectations of {of} in {}\n{advice}",
        among.join(", ")
    ))
}

/// What becomes of all expectations.
fn all(args: &Test, runs: &Runs<'_>, wanted: &[(Expectation, bool)]) -> Vec<Case> {
    let pace = args
        .jobs
        .map_or_else(Pace::default, |jobs| Pace::threads(jobs.into()));
    std::thread::scope(|scope| {
        let done = ordered(scope, wanted.iter(), pace, |(expectation, is_new)| {
            runs.case(expectation, *is_new)
        });
        let cases = wanted
            .iter()
            .zip(done)
            .filter_map(|((expectation, _), result)| {
                result.unwrap_or_else(|panicked| {
                    let fault = format!("this is a fault of mapstack: {}", panicked.0);
                    let outcome = Outcome::Fails(Error::new(ErrorKind::Unsupported, fault));
                    Some(Case {
                        expectation: expectation.clone(),
                        outcome,
                        minion: None,
                        warnings: Vec::new(),
                        secret_texts: Vec::new(),
                    })
                })
            });
        cases.collect()
    })
}

fn tell(args: &Test, tested: &Tested, reporter: &Reporter) -> Result<(), Failure> {
    match args.format {
        TestFormat::Text => {
            output::write_styled(
                &text::text(tested, reporter.colors_output()),
                reporter.colors_output(),
            )?;
        }
        TestFormat::Json => output::write(&output::as_json(&rows::rows(tested))?)?,
        TestFormat::Junit => output::write(&junit::report(tested)?)?,
    }
    if args.format == TestFormat::Text {
        let failing = tested.cases.iter().filter_map(|case| match &case.outcome {
            Outcome::Fails(error) => Some(tested.failure(case, error)),
            _ => None,
        });
        reporter.tell(failing);
    }
    reporter.warn(&tested.warnings())?;
    let counts = tested.counts();
    if counts.differ + counts.fail > 0 {
        return Err(Failure::Found);
    }
    if counts.same + counts.written == 0 {
        let message = "nothing was compared: no expectation is of a minion that there is".into();
        return Err(Failure::Incomplete {
            message,
            status: NOTHING,
        });
    }
    Ok(())
}

/// What came of one expectation.
struct Case {
    expectation: Expectation,
    outcome: Outcome,
    minion: Option<Minion>,
    warnings: Vec<Diagnostic>,
    /// What templates made of secrets.
    secret_texts: Vec<Str>,
}

enum Outcome {
    Same,
    Differs(Vec<Difference>),
    Fails(Error),
    /// Nothing was run, for this reason.
    Skipped(String),
    /// The file says now what came out; before it said something else, or was not there.
    Written {
        was_there: bool,
        clear: bool,
    },
}

impl Case {
    /// Let nothing be skipped.
    fn be_strict(&mut self) {
        if let Outcome::Skipped(reason) = &self.outcome {
            self.outcome = Outcome::Fails(Error::new(
                ErrorKind::Facts,
                format!("{}: {reason}", self.file()),
            ));
        }
    }

    /// What it is called within its formula.
    fn name(&self) -> String {
        match &self.expectation.suite {
            Some((suite, _)) => format!("{suite}/{}", self.expectation.name),
            None => self.expectation.name.clone(),
        }
    }

    fn file(&self) -> String {
        self.expectation.file.display().to_string()
    }
}

/// Everything that was looked at.
struct Tested {
    cases: Vec<Case>,
    masking: Masking,
}

#[derive(Default)]
struct Counts {
    same: usize,
    differ: usize,
    fail: usize,
    skipped: usize,
    written: usize,
}

/// A difference as it is shown.
struct Shown {
    expected: Option<Value>,
    actual: Option<Value>,
    expected_at: Option<String>,
    actual_at: Option<String>,
}

impl Tested {
    fn secrets(&self, case: &Case) -> Secrets {
        self.masking.of(&case.minion).derived(&case.secret_texts)
    }

    /// A difference without secrets.
    fn shown(&self, secrets: &Secrets, difference: &Difference) -> Shown {
        let shown = |value: &Option<Value>| {
            let path = &mut difference.change.path.clone();
            value.as_ref().map(|value| {
                secrets.masked_where(path, value, &|path| difference.secret.contains(path))
            })
        };
        Shown {
            expected: shown(&difference.change.old),
            actual: shown(&difference.change.new),
            expected_at: difference.expected_at.as_ref().map(ToString::to_string),
            actual_at: difference.actual_at.as_ref().map(place),
        }
    }

    /// A failure as it is told, without secrets, in the excerpt of a file neither.
    fn failure(&self, case: &Case, error: &Error) -> Redacted<Error> {
        self.secrets(case).redact(error)
    }

    /// A failure in one line, without secrets.
    fn message(&self, case: &Case, error: &Error) -> String {
        self.secrets(case).scrubbed(&error.to_string())
    }

    /// The warnings of all runs, each once, without secrets.
    fn warnings(&self) -> Vec<Redacted<Diagnostic>> {
        let mut seen = HashSet::new();
        let mut all = Vec::new();
        for case in self.cases.iter().filter(|case| !case.warnings.is_empty()) {
            let secrets = self.secrets(case);
            let scrubbed = case.warnings.iter().map(|warning| secrets.redact(warning));
            all.extend(scrubbed.filter(|warning| seen.insert(warning.to_string())));
        }
        all
    }

    fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        for case in &self.cases {
            *match &case.outcome {
                Outcome::Same => &mut counts.same,
                Outcome::Differs(_) => &mut counts.differ,
                Outcome::Fails(_) => &mut counts.fail,
                Outcome::Skipped(_) => &mut counts.skipped,
                Outcome::Written { .. } => &mut counts.written,
            } += 1;
        }
        counts
    }
}

impl Counts {
    /// In a sentence.
    fn summary(&self) -> String {
        let said = |n: usize, one: &str, many: &str| {
            (n > 0).then(|| format!("{n} {}", if n == 1 { one } else { many }))
        };
        let parts = [
            Some(format!("{} as expected", self.same)),
            said(self.differ, "differs", "differ"),
            said(self.fail, "fails", "fail"),
            said(self.written, "recorded", "recorded"),
            said(self.skipped, "skipped", "skipped"),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }
}

/// The directory that a file lies in.
fn directory(file: &std::path::Path) -> PathBuf {
    match file.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.into(),
        _ => ".".into(),
    }
}
