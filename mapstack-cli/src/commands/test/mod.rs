//! `mapstack test`.

mod runs;
mod writing;

use std::io;
use std::path::PathBuf;

use mapstack::loader::Snapshot;
use mapstack::{Engine, Error, ErrorKind};
use mapstack_expect::{Case, Expectation, Outcome, Places};
use mapstack_fleet::{Pace, ordered};
use mapstack_inputs::{Many, Served, formulas};
use mapstack_report::test::{self, Report};

use crate::cli::{Test, TestFormat};
use crate::commands::engine;
use crate::output;
use crate::report::{Failure, Reporter};
use runs::Runs;

/// The exit status where nothing was compared.
const NOTHING: u8 = 2;

pub fn run(args: &Test, reporter: &Reporter) -> Result<(), Failure> {
    let input = &args.input;
    let config = input.config(reporter)?;
    let saltenv = input.files.saltenv.as_deref().unwrap_or("base");
    let served = Served::new(&input.files, config.as_ref(), None, reporter)?;
    let roots: Vec<PathBuf> = served
        .directories(saltenv)
        .into_iter()
        .map(PathBuf::from)
        .collect();
    let engine = engine(Snapshot::new(served.files), &input.functions)?;
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
    let others = input.other_files();
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
    let masking = reporter.masking(&args.secrets)?;
    let mut report = Report {
        cases: all(args, &runs, &wanted),
        masking,
    };
    if reporter.is_strict() {
        report.cases.iter_mut().for_each(Case::be_strict);
    }
    print(args, &report, reporter)
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
                    Some(Case {
                        expectation: expectation.clone(),
                        outcome: Outcome::Fails(panicked.into()),
                        minion: None,
                        warnings: Vec::new(),
                        secret_texts: Vec::new(),
                    })
                })
            });
        cases.collect()
    })
}

fn print(args: &Test, report: &Report, reporter: &Reporter) -> Result<(), Failure> {
    match args.format {
        TestFormat::Text => {
            let colored = reporter.colors_output();
            output::write_styled(&test::text(report, colored), colored)?;
            reporter.report(report.failures());
        }
        TestFormat::Json => output::write_json(&test::rows(report))?,
        TestFormat::Junit => {
            let xml = test::junit(report).map_err(io::Error::other)?;
            output::write(&xml)?;
        }
    }
    reporter.warn(&report.warnings())?;
    let counts = report.counts();
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

/// The directory that a file lies in.
fn directory(file: &std::path::Path) -> PathBuf {
    match file.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.into(),
        _ => ".".into(),
    }
}
