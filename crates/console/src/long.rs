//! What a long piece of work shows, and how it is ended.

use std::io::{self, IsTerminal, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

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

/// A bar on a terminal that counts minions, or one that is not shown.
#[must_use]
pub fn progress(length: usize, shown: bool) -> ProgressBar {
    let target = if shown {
        ProgressDrawTarget::stderr_with_hz(5)
    } else {
        ProgressDrawTarget::hidden()
    };
    let bar = ProgressBar::with_draw_target(u64::try_from(length).ok(), target);
    match ProgressStyle::with_template(
        "{wide_bar} {human_pos}/{human_len} minions, {per_sec}, {eta} left",
    ) {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

/// How often the line of [`shown_while`] changes.
const FRAME: Duration = Duration::from_millis(100);

/// Do some work, and say meanwhile how far it is, on one line of a terminal that goes away with the end of the work.
/// `now` gives what is being done, how much of it is, and of how much if that is known.
pub fn shown_while<T>(
    now: impl Fn() -> Option<(String, usize, Option<usize>)> + Sync,
    work: impl FnOnce() -> T,
) -> T {
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        if io::stderr().is_terminal() {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    if let Some(stage) = now() {
                        let _ = write!(io::stderr(), "\r\x1b[K{}", in_a_line(&stage));
                    }
                    thread::sleep(FRAME);
                }
                let _ = write!(io::stderr(), "\r\x1b[K");
            });
        }
        // Whatever happens, the line ends with the work.
        let _done = Done(&done);
        work()
    })
}

/// Says that the work is over when it goes.
struct Done<'d>(&'d AtomicBool);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn in_a_line((name, done, total): &(String, usize, Option<usize>)) -> String {
    // What a server says is not for the terminal to obey.
    let name: String = name.chars().filter(|c| !c.is_control()).take(60).collect();
    let total = total
        .map(|total| format!(" of {total}"))
        .unwrap_or_default();
    format!("{name} {done}{total}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_no_control_characters() {
        let stage = ("a\x1b[31m\nb".to_owned(), 2, Some(3));
        assert_eq!(in_a_line(&stage), "a[31mb 2 of 3");
        assert_eq!(
            in_a_line(&("x".repeat(99), 1, None)),
            format!("{} 1", "x".repeat(60))
        );
    }

    #[test]
    fn work_gives_its_result() {
        assert_eq!(shown_while(|| None, || 1), 1);
    }
}
