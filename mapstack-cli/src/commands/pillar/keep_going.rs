//! `mapstack pillar --keep-going`: a pillar for a master, whatever happens.
//!
//! Salt's external pillar `cmd_json` reads both streams of a command as one, and what it cannot read is an
//! empty pillar without `_errors`, on which states run without their data. So one document goes to
//! standard output and nothing to standard error: errors are in the list `_errors`, which keeps a
//! minion from applying states, warnings in the list `_warnings`.

use std::ffi::OsString;
use std::panic;
use std::process::ExitCode;

use mapstack::Error;
use mapstack::minion::Minion;
use mapstack::value::Map;
use mapstack_frontend::inputs::WarningSink as _;
use mapstack_report::pillar::{check, lost, of_one_or_many};

use super::Pillar;
use crate::forms::Format;
use crate::output;
use mapstack_frontend::console::keeping::{alone, caught, finished};
use mapstack_frontend::console::{Failure, Reporter};
use mapstack_frontend::inputs::PillarJob;

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
    // A value that has no form was found before: a last attempt to write something for the minion.
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

/// True if arguments ask for a pillar whatever happens, as far as that shows in such that
/// are not understood.
pub fn must_go_on(args: &mut impl Iterator<Item = OsString>) -> bool {
    let args: Vec<OsString> = args.skip(1).collect();
    let command = crate::definition();
    let is_verb = |arg: &&OsString| command.find_subcommand(arg.as_os_str()).is_some();
    let verb = args.iter().find(is_verb);
    verb.is_some_and(|verb| verb == "pillar") && args.iter().any(|arg| arg == "--keep-going")
}

/// The pillar of a command line that is not understood. An id that is not quoted can be the reason.
pub fn refused(error: &clap::Error) -> ExitCode {
    let text = error.render().to_string();
    let end = ["\n\n  tip:", "\n\nUsage:", "\n\nFor more information"]
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
    fn only_a_pillar_that_is_asked_for_whatever_happens_is_one() {
        let asks = |line: &str| must_go_on(&mut line.split(' ').map(OsString::from));
        assert!(asks("mapstack pillar --keep-going --bad"));
        assert!(asks("mapstack --color never pillar --keep-going --bad"));
        assert!(!asks("mapstack pillar --bad"));
        assert!(!asks("mapstack explain pillar a:b --keep-going"));
        assert!(!asks("mapstack data f --keep-going"));
    }
}
