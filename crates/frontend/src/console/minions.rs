//! Messages about many minions.

use std::io;

use crate::outputs::{OutputError, WrittenResults};
use mapstack::Error;
use mapstack::secrets::Redacted;
use mapstack_fleet::{Differences, by_reason};
use mapstack_report::words::{count, some};

use crate::console::{Failure, INTERRUPTED, Reporter};

/// The whole that written minions make.
pub enum WrittenFormat<'n> {
    /// A fleet; with the failure where none of them is meant.
    Fleet(&'n dyn Fn() -> Failure),
    /// A part of one: what fails is for the whole to say.
    Part,
}

/// Report what went wrong with minions. Where it `is_strict`, warnings have become failures before.
///
/// # Errors
/// The output ended early, the work was interrupted, a minion failed or none is meant.
pub fn report_minions(
    written: WrittenResults,
    whole: &WrittenFormat<'_>,
    is_strict: bool,
    reporter: &Reporter,
) -> Result<(), Failure> {
    let summary = &written.summary;
    if let Some(kind) = written
        .output
        .as_ref()
        .map(|ended| ended.error.kind())
        .filter(|kind| *kind == io::ErrorKind::BrokenPipe)
    {
        return Err(Failure::Output(kind.into()));
    }
    if !is_strict {
        reporter.warn(&reporter.redact_all(&summary.warnings()))?;
    }
    reporter.report(reporter.redact_all(&summary.failures()));
    if summary.more_failures() > 0 {
        reporter.note(&format!(
            "{} more failures are not shown; -o jsonl has them all",
            summary.more_failures()
        ));
    }
    let looked_at = summary.done + summary.left_out;
    if let Some(OutputError { error, kept }) = written.output {
        let reached = match kept {
            Some(0) => "no minion was written".to_owned(),
            Some(kept) => format!("{kept} of {} minions were written", summary.minions),
            None => "what was printed is not whole".to_owned(),
        };
        let message = format!("cannot write the output: {error}; {reached}");
        return Err(Failure::Incomplete { message, status: 1 });
    }
    if written.interrupted && looked_at < summary.minions {
        let failed = match summary.failed {
            0 => String::new(),
            failed => format!(", {failed} of them failed"),
        };
        let minions = summary.minions;
        let message = format!("interrupted: {looked_at} of {minions} minions are done{failed}");
        return Err(Failure::Incomplete {
            message,
            status: INTERRUPTED,
        });
    }
    match summary.failed {
        0 => match whole {
            WrittenFormat::Fleet(none) if summary.done == 0 && summary.left_out > 0 => Err(none()),
            _ => Ok(()),
        },
        _ if matches!(whole, WrittenFormat::Part) => Ok(()),
        failed => {
            let message = format!(
                "{failed} of {} minions failed; the others are done",
                summary.done
            );
            Err(Failure::Incomplete { message, status: 1 })
        }
    }
}

/// Minions that are named with an error that they have in common.
const NAMED: usize = 8;
/// Errors that are printed of minions that could not be compared; the JSON has all.
const MAX_ERRORS: usize = 50;

/// Print why minions could not be compared, each reason once.
pub fn report_not_compared(differences: &Differences, reporter: &Reporter) {
    let reasons = differences.broken_by_reason().into_iter();
    let reasons = reasons.map(|(error, ids)| (reporter.redact(error), ids));
    let reasons: Vec<_> = reasons.collect();
    report_reasons(
        reasons.iter().map(|(error, ids)| (error, ids.clone())),
        reporter,
    );
}

/// The failure of minions that could not be read; so many others were looked at.
#[must_use]
pub fn not_read(unread: usize, others: usize) -> Failure {
    let others = match others {
        0 => "",
        _ => "; the others were looked at",
    };
    Failure::Incomplete {
        message: format!("{} could not be read{others}", count(unread, "minion")),
        status: 1,
    }
}

/// Print why minions could not be read, each reason once.
///
/// # Errors
/// There are such minions.
pub fn report_unread(unread: &[(String, Error)], reporter: &Reporter) -> Result<(), Failure> {
    if unread.is_empty() {
        return Ok(());
    }
    let unread: Vec<_> = unread
        .iter()
        .map(|(id, error)| (id, reporter.redact(error)))
        .collect();
    let reasons = by_reason(unread.iter().map(|(id, error)| (id.as_str(), error)));
    report_reasons(reasons, reporter);
    Err(not_read(unread.len(), 1))
}

/// Print errors, each with the minions that have it.
pub fn report_reasons<'r>(
    reasons: impl IntoIterator<Item = (&'r Redacted<Error>, Vec<&'r str>)>,
    reporter: &Reporter,
) {
    let mut reasons = reasons.into_iter();
    for (error, ids) in reasons.by_ref().take(MAX_ERRORS) {
        let on = format!("on {}", some(&ids, NAMED));
        reporter.report([error.clone().map(|error| error.note(on))]);
    }
    let more = reasons.count();
    if more > 0 {
        reporter.note(&format!(
            "{more} more errors are not shown; -o json has them all"
        ));
    }
}

/// The errors of minions, each once. The minions are named if there are many.
#[must_use]
pub fn named_errors(errors: &[(&str, Error)], many: bool) -> Vec<Error> {
    let reasons = by_reason(errors.iter().map(|(id, error)| (*id, error)));
    let named = reasons.into_iter().map(|(error, ids)| match many {
        true => error
            .clone()
            .note(format!("for the minions: {}", ids.join(", "))),
        false => error.clone(),
    });
    named.collect()
}
