//! `mapstack pillar --keep-going`: a pillar for a master, whatever happens.
//!
//! Salt's external pillar `cmd_json` reads both streams of a command as one, and what it cannot read is an
//! empty pillar without `_errors`, on which states run without their data. So one document goes to
//! standard output and nothing to standard error: errors are in the list `_errors`, which keeps a
//! minion from applying states, warnings in the list `_warnings`.

use std::any::Any;
use std::ffi::OsString;
use std::panic::{self, AssertUnwindSafe};
use std::process::ExitCode;

use mapstack::minion::Minion;
use mapstack::value::Map;
use mapstack::{Error, Severity};
use mapstack_inputs::Warn as _;
use mapstack_report::pillar::{add_messages, check, lost, of_one_or_many};
use mapstack_report::values::as_json;

use super::Pillar;
use crate::cli::Format;
use crate::output;
use mapstack_console::{Failure, Reporter};
use mapstack_inputs::PillarJob;

/// The exit status of a command line that cannot be understood.
const USAGE: u8 = 2;

pub fn run(args: &Pillar, reporter: &Reporter) -> Result<(), Failure> {
    // The place of a panic is for standard error, too.
    panic::set_hook(Box::new(|_| {}));
    let reporter = reporter.keeping();
    let document = match caught(|| args.job(&reporter)) {
        Ok(work) => {
            let before = reporter.take_kept();
            let mut all = Map::new();
            for (id, minion) in &work.chosen.minions {
                let compiled = caught(|| pillar(args, &work, minion, &reporter));
                all.insert(id.as_str(), finished(compiled, &before, &reporter));
            }
            of_one_or_many(all, work.chosen.many)
        }
        Err(error) => finished(Err(error), &[], &reporter).into(),
    };
    // What has no form was found before, and this is the last that can be done for a minion.
    output::write(&output::text(&document, args.output.format).or_else(|e| alone(&e.to_string()))?)
}

/// The external pillars of one minion.
fn pillar(
    args: &Pillar,
    work: &PillarJob,
    minion: &Result<Minion, Error>,
    reporter: &Reporter,
) -> Result<Map, Failure> {
    let minion = minion.as_ref().map_err(Clone::clone)?;
    reporter.knows(minion);
    let made = work.compile(minion);
    reporter.warn(&reporter.redact_all(&made.warnings))?;
    let pillar = made.pillar?;
    if args.output.format == Format::Json {
        check(&pillar)?;
        reporter.warn(&reporter.redact_all(&lost(&pillar)))?;
    }
    Ok(pillar)
}

/// A pillar, or none, with the messages about it and those about all.
fn finished(
    pillar: Result<Map, String>,
    before: &[(Severity, String)],
    reporter: &Reporter,
) -> Map {
    let (mut pillar, failure) = match pillar {
        Ok(pillar) => (pillar, None),
        Err(failure) => (Map::new(), Some(failure)),
    };
    let (mut errors, mut warnings) = (Vec::new(), Vec::new());
    for (severity, message) in before.iter().cloned().chain(reporter.take_kept()) {
        let list = if severity == Severity::Error {
            &mut errors
        } else {
            &mut warnings
        };
        list.push(message);
    }
    errors.extend(failure.map(|failure| reporter.redact(&failure).into_inner()));
    add_messages(&mut pillar, &errors, &warnings);
    pillar
}

/// A pillar that is an error alone, as JSON, which is YAML as well.
fn alone(message: &str) -> Result<String, Failure> {
    let mut pillar = Map::new();
    add_messages(&mut pillar, &[message.to_owned()], &[]);
    Ok(as_json(&pillar.into())?)
}

/// What some work gives; a fault of the program is an error like others.
fn caught<T>(work: impl FnOnce() -> Result<T, Failure>) -> Result<T, String> {
    match panic::catch_unwind(AssertUnwindSafe(work)) {
        Ok(result) => result.map_err(|failure| failure.to_string()),
        Err(panicked) => Err(format!("this is a fault of mapstack: {}", said(&*panicked))),
    }
}

/// What a panic says.
fn said(panicked: &(dyn Any + Send)) -> String {
    let text = panicked
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned());
    text.or_else(|| panicked.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "it panicked".into())
}

/// Whether arguments ask for a pillar whatever happens, as far as that shows in such that
/// are not understood.
pub fn must_go_on(args: &mut impl Iterator<Item = OsString>) -> bool {
    let args: Vec<OsString> = args.skip(1).collect();
    ["pillar", "--keep-going"]
        .iter()
        .all(|word| args.iter().any(|arg| arg == word))
}

/// The pillar of a command line that is not understood. An id that is not quoted can be the reason.
pub fn refused(error: &clap::Error) -> ExitCode {
    let text = error.render().to_string();
    let end = ["\n\nUsage:", "\n\nFor more information"]
        .iter()
        .filter_map(|end| text.find(end))
        .min();
    let message = text[..end.unwrap_or(text.len())]
        .trim_start_matches("error: ")
        .trim();
    let written = alone(message).and_then(|text| output::write(&text));
    // A failure to write this has no other place to be reported.
    ExitCode::from(if written.is_ok() { USAGE } else { 1 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_an_error() {
        let error = caught::<()>(|| panic!("index {} of {}", 3, 2)).unwrap_err();
        assert_eq!(error, "this is a fault of mapstack: index 3 of 2");
        assert_eq!(
            caught::<()>(|| panic!("plain")).unwrap_err(),
            "this is a fault of mapstack: plain"
        );
        assert_eq!(caught(|| Ok(1)).unwrap(), 1);
    }

    #[test]
    fn only_a_pillar_that_is_asked_for_whatever_happens_is_one() {
        let asks = |line: &str| must_go_on(&mut line.split(' ').map(OsString::from));
        assert!(asks("mapstack pillar --keep-going --bad"));
        assert!(!asks("mapstack pillar --bad"));
        assert!(!asks("mapstack data f --keep-going"));
    }
}
