//! All minions of a fleet, worked out and written.

use std::convert::Infallible;
use std::io;

use mapstack_fleet::{MaskedFleet, Minions, Pace, Report, Summary, ordered};
use mapstack_report::fleet::{FleetForm, ShownMinion};

use crate::outputs::Sink;

/// The results of all minions, as written.
pub struct WrittenResults {
    /// The summary of them.
    pub summary: Summary,
    /// True if the work was ended before the last one.
    pub interrupted: bool,
    /// Why the output ended.
    pub output: Option<OutputError>,
}

/// An output that ended early.
#[derive(Debug)]
pub struct OutputError {
    /// The reason.
    pub error: io::Error,
    /// The minions that are kept all the same, if that is known ([`Output::kept`]).
    pub kept: Option<usize>,
}

/// A sink for the minions of a fleet, in order.
pub trait Output {
    /// Take the result of a minion, with its report if it has messages.
    ///
    /// # Errors
    /// It cannot be written.
    fn put(&mut self, id: &str, shown: ShownMinion, report: Option<&Report>) -> io::Result<()>;

    /// Pass over one that is not meant.
    ///
    /// # Errors
    /// That cannot be written.
    fn leave_out(&mut self, id: &str) -> io::Result<()>;

    /// The number of minions that can be read where the output ends after it took so many; `None` where a buffer may
    /// hold some of them back.
    fn kept(&self, taken: usize) -> Option<usize>;

    /// End the output: these were all minions, or the work ended before the last one.
    ///
    /// # Errors
    /// The end cannot be written.
    fn finish(self: Box<Self>, are_all: bool) -> io::Result<()>;
}

impl Output for Sink<'_> {
    fn put(&mut self, id: &str, shown: ShownMinion, _: Option<&Report>) -> io::Result<()> {
        Sink::put(self, id, shown)
    }

    fn leave_out(&mut self, _: &str) -> io::Result<()> {
        Ok(())
    }

    fn kept(&self, taken: usize) -> Option<usize> {
        self.is_directory().then_some(taken)
    }

    fn finish(self: Box<Self>, _: bool) -> io::Result<()> {
        Sink::finish(*self)
    }
}

/// A minion as an [`Output`] takes it.
pub struct MinionResult {
    /// The shown part.
    pub shown: ShownMinion,
    /// The report, if it has messages.
    pub report: Option<Report>,
}

/// Work out these minions and write them, in this order. One that fails does not keep the others from being written.
/// `goes_on` is asked after each of them, and ends the work where it says no.
pub fn write_fleet(
    fleet: &MaskedFleet<'_>,
    minions: &dyn Minions,
    ids: &[String],
    pace: Pace,
    form: &FleetForm,
    output: Box<dyn Output + '_>,
    goes_on: impl FnMut() -> bool,
) -> WrittenResults {
    std::thread::scope(|scope| {
        let done = ordered(scope, ids.iter(), pace, |id| {
            Some(MinionResult::of(fleet.report(id, minions)?, form))
        });
        let minions = ids.iter().zip(done).map(|(id, result)| {
            let panicked = |panicked| Some(MinionResult::of(Report::panicked(id, panicked), form));
            Ok::<_, Infallible>((id, result.unwrap_or_else(panicked)))
        });
        let summary = Summary::new(ids.len(), form.formulas());
        let Ok(written) = write_minions(minions, summary, output, goes_on);
        written
    })
}

/// Write minions that are done, by their ids, in the order in which they come; those without anything done are left out.
/// `goes_on` is asked after each of them, and ends the work where it says no.
///
/// # Errors
/// A minion does not come. Why the output ends early is in what is returned.
pub fn write_minions<E>(
    minions: impl Iterator<Item = Result<(impl AsRef<str>, Option<MinionResult>), E>>,
    summary: Summary,
    mut output: Box<dyn Output + '_>,
    mut goes_on: impl FnMut() -> bool,
) -> Result<WrittenResults, E> {
    let mut written = WrittenResults {
        summary,
        interrupted: false,
        output: None,
    };
    for minion in minions {
        let (id, done) = minion?;
        let taken = match done {
            Some(MinionResult { shown, report }) => {
                let taken = output.put(id.as_ref(), shown, report.as_ref());
                taken.map(|()| written.summary.add(report.as_ref()))
            }
            None => {
                let taken = output.leave_out(id.as_ref());
                taken.map(|()| written.summary.left_out += 1)
            }
        };
        if let Err(error) = taken {
            let kept = output.kept(written.summary.done);
            written.output = Some(OutputError { error, kept });
            return Ok(written);
        }
        if !goes_on() {
            written.interrupted = true;
            break;
        }
    }
    let kept = output.kept(written.summary.done);
    let ended = output.finish(!written.interrupted);
    written.output = ended.err().map(|error| OutputError { error, kept });
    Ok(written)
}

impl MinionResult {
    fn of(report: Report, form: &FleetForm) -> Self {
        let shown = form.show(&report);
        let has_warnings = || {
            let mut outcomes = report.outcomes.iter().flatten();
            outcomes.any(|outcome| !outcome.warnings.is_empty())
        };
        // Threads share outcomes, and each that lets go of one slows the others down.
        let report = (!report.is_whole() || has_warnings()).then_some(report);
        MinionResult { shown, report }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use mapstack_report::fleet::{FleetParts, Format};

    use super::*;

    /// A full disk.
    struct Full;

    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::StorageFull.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn written(form: &FleetForm, output: Box<dyn Output + '_>, ids: &[&str]) -> WrittenResults {
        let done = |id| {
            let shown = ShownMinion::Text(format!("\"{id}\": {{}}"));
            let report = None;
            Ok::<_, Infallible>((id, Some(MinionResult { shown, report })))
        };
        let summary = Summary::new(ids.len(), form.formulas());
        let Ok(written) = write_minions(ids.iter().map(done), summary, output, || true);
        written
    }

    #[test]
    fn only_what_can_be_read_counts_as_written() {
        let form = FleetForm::new(Format::Json, FleetParts::Data, false, vec!["users".into()]);
        // Both are in the buffer, of which nobody knows how much was written.
        let stream = Sink::stream(&form, Full).unwrap();
        let ended = written(&form, Box::new(stream), &["web1", "web2"]).output;
        let ended = ended.unwrap();
        assert_eq!(ended.error.kind(), io::ErrorKind::StorageFull);
        assert_eq!(ended.kept, None);
        let home = tempfile::tempdir().unwrap();
        let files = Sink::directory(&form, Format::Json, home.path()).unwrap();
        let ended = written(&form, Box::new(files), &["web1", "not/a/name"]).output;
        assert_eq!(ended.unwrap().kept, Some(1));
        assert!(home.path().join("web1.json").exists());
    }
}
