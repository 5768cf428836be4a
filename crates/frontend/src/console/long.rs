//! The progress line of long work, and how a signal ends it.

use std::io::{self, IsTerminal, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// The exit status of a program that was interrupted.
pub const INTERRUPTED: u8 = 130;

/// Set by the first request to end; the second one ends the process.
#[must_use]
pub fn interrupted() -> Arc<AtomicBool> {
    let stop = Arc::new(AtomicBool::new(false));
    let asked = stop.clone();
    // Without a handler the process just ends.
    let _ = ctrlc::set_handler(move || {
        if asked.swap(true, Ordering::Relaxed) {
            std::process::exit(INTERRUPTED.into());
        }
    });
    stop
}

/// The progress line of work on minions: how many are done.
#[derive(Debug)]
pub struct ProgressLine {
    done: AtomicUsize,
    all: usize,
    start: Instant,
}

impl ProgressLine {
    /// None of so many yet.
    #[must_use]
    pub fn new(all: usize) -> Self {
        ProgressLine {
            done: AtomicUsize::new(0),
            all,
            start: Instant::now(),
        }
    }

    /// One more is done.
    pub fn add_one(&self) {
        self.done.fetch_add(1, Ordering::Relaxed);
    }

    /// Do some work, and show meanwhile how many are done, how quickly, and how long the rest will take.
    pub fn shown_while<T>(&self, shown: bool, work: impl FnOnce() -> T) -> T {
        if shown {
            line_while(|| Some(self.line(self.start.elapsed())), work)
        } else {
            work()
        }
    }

    fn line(&self, passed: Duration) -> String {
        let (done, all) = (self.done.load(Ordering::Relaxed), self.all);
        let start = format!("{done}/{all} minions");
        let passed = passed.as_secs_f64();
        let (is_done, rest) = (done as f64, all.saturating_sub(done) as f64);
        if done == 0 || passed <= 0.0 {
            return start;
        }
        let each_second = is_done / passed;
        format!(
            "{start}, {each_second:.0}/s, {:.0} s left",
            rest / each_second
        )
    }
}

/// The interval at which the line of [`shown_while`] changes.
const FRAME: Duration = Duration::from_millis(100);

/// A stage of some work, and its progress.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stage {
    /// The name.
    pub name: String,
    /// The number of things done.
    pub done: usize,
    /// The number of all things, if it is known.
    pub total: Option<usize>,
}

/// Do some work, and show its progress on one line of a terminal, which is erased at the end.
/// `now` gives the stage of the work.
pub fn shown_while<T>(now: impl Fn() -> Option<Stage> + Sync, work: impl FnOnce() -> T) -> T {
    line_while(|| now().map(|stage| stage.line()), work)
}

fn line_while<T>(line: impl Fn() -> Option<String> + Sync, work: impl FnOnce() -> T) -> T {
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        if io::stderr().is_terminal() {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    if let Some(line) = line() {
                        let _ = write!(io::stderr(), "\r\x1b[K{line}");
                    }
                    thread::sleep(FRAME);
                }
                let _ = write!(io::stderr(), "\r\x1b[K");
            });
        }
        // Whatever happens, the line ends with the work.
        let _done = EndNotice(&done);
        work()
    })
}

/// Says that the work is over when it goes.
struct EndNotice<'d>(&'d AtomicBool);

impl Drop for EndNotice<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Stage {
    fn line(&self) -> String {
        // A server's message must not control the terminal.
        let name = self.name.chars().filter(|c| !c.is_control()).take(60);
        let name: String = name.collect();
        let total = self.total.map(|total| format!(" of {total}"));
        format!("{name} {}{}", self.done, total.unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_no_control_characters() {
        let stage = |name: &str, done, total| Stage {
            name: name.to_owned(),
            done,
            total,
        };
        assert_eq!(stage("a\x1b[31m\nb", 2, Some(3)).line(), "a[31mb 2 of 3");
        assert_eq!(
            stage(&"x".repeat(99), 1, None).line(),
            format!("{} 1", "x".repeat(60))
        );
    }

    #[test]
    fn what_is_left_follows_from_what_is_done() {
        let counted = ProgressLine::new(40);
        assert_eq!(counted.line(Duration::from_secs(1)), "0/40 minions");
        (0..10).for_each(|_| counted.add_one());
        assert_eq!(
            counted.line(Duration::from_secs(2)),
            "10/40 minions, 5/s, 6 s left"
        );
        assert_eq!(counted.shown_while(false, || 1), 1);
    }

    #[test]
    fn work_gives_its_result() {
        assert_eq!(shown_while(|| None, || 1), 1);
    }
}
