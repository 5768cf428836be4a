//! All minions of a fleet, worked out and written.

use std::convert::Infallible;
use std::io;

use mapstack_fleet::{MaskedFleet, Minions, Pace, Report, Summary, ordered};
use mapstack_report::fleet::{Form, Shown};

use crate::outputs::Sink;

/// The results of all minions, as written.
pub struct Written {
    /// The summary of them.
    pub summary: Summary,
    /// True if the work was ended before the last one.
    pub interrupted: bool,
    /// Why the output ended.
    pub output: Option<io::Error>,
}

/// A sink for the minions of a fleet, in order.
pub trait Output {
    /// Take one, with its report if there is more to say than what is shown.
    ///
    /// # Errors
    /// It cannot be written.
    fn put(&mut self, id: &str, shown: Shown, report: Option<&Report>) -> io::Result<()>;

    /// Pass over one that is not meant.
    ///
    /// # Errors
    /// That cannot be written.
    fn leave_out(&mut self, id: &str) -> io::Result<()>;

    /// End the output: these were all minions, or the work ended before the last one.
    ///
    /// # Errors
    /// The end cannot be written.
    fn finish(self: Box<Self>, are_all: bool) -> io::Result<()>;
}

impl Output for Sink<'_> {
    fn put(&mut self, id: &str, shown: Shown, _: Option<&Report>) -> io::Result<()> {
        Sink::put(self, id, shown)
    }

    fn leave_out(&mut self, _: &str) -> io::Result<()> {
        Ok(())
    }

    fn finish(self: Box<Self>, _: bool) -> io::Result<()> {
        Sink::finish(*self)
    }
}

/// A minion as an [`Output`] takes it.
pub struct Done {
    /// The shown part.
    pub shown: Shown,
    /// The report, if there is more to say than what is shown.
    pub report: Option<Report>,
}

/// Work out these minions and write them, in this order. One that fails does not keep the others from being written.
/// `goes_on` is asked after each of them, and ends the work where it says no.
pub fn write_fleet(
    fleet: &MaskedFleet<'_>,
    minions: &dyn Minions,
    (ids, pace): (&[String], Pace),
    (form, output): (&Form, Box<dyn Output + '_>),
    goes_on: impl FnMut() -> bool,
) -> Written {
    std::thread::scope(|scope| {
        let done = ordered(scope, ids.iter(), pace, |id| {
            Some(Done::of(fleet.report(id, minions)?, form))
        });
        let minions = ids.iter().zip(done).map(|(id, result)| {
            let panicked = |panicked| Some(Done::of(Report::panicked(id, panicked), form));
            Ok::<_, Infallible>((id, result.unwrap_or_else(panicked)))
        });
        let summary = Summary::new(ids.len(), form.formulas());
        let Ok(written) = write_minions(minions, (summary, output), goes_on);
        written
    })
}

/// Write minions that are done, by their ids, in the order in which they come; those without anything done are left out.
/// `goes_on` is asked after each of them, and ends the work where it says no.
///
/// # Errors
/// A minion does not come. Why the output ends early is in what is returned.
pub fn write_minions<E>(
    minions: impl Iterator<Item = Result<(impl AsRef<str>, Option<Done>), E>>,
    (summary, mut output): (Summary, Box<dyn Output + '_>),
    mut goes_on: impl FnMut() -> bool,
) -> Result<Written, E> {
    let mut written = Written {
        summary,
        interrupted: false,
        output: None,
    };
    for minion in minions {
        let (id, done) = minion?;
        let taken = match done {
            Some(Done { shown, report }) => {
                let taken = output.put(id.as_ref(), shown, report.as_ref());
                taken.map(|()| written.summary.add(report.as_ref()))
            }
            None => {
                let taken = output.leave_out(id.as_ref());
                taken.map(|()| written.summary.left_out += 1)
            }
        };
        if let Err(e) = taken {
            written.output = Some(e);
            return Ok(written);
        }
        if !goes_on() {
            written.interrupted = true;
            break;
        }
    }
    written.output = output.finish(!written.interrupted).err();
    Ok(written)
}

impl Done {
    fn of(report: Report, form: &Form) -> Self {
        let shown = form.show(&report);
        let has_warnings = || {
            let mut outcomes = report.outcomes.iter().flatten();
            outcomes.any(|outcome| !outcome.warnings.is_empty())
        };
        // Threads share outcomes, and each that lets go of one slows the others down.
        let report = (!report.is_whole() || has_warnings()).then_some(report);
        Done { shown, report }
    }
}
