//! What a long piece of work shows, and how it is ended.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

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
