//! How the measuring programs measure.

use std::time::{Duration, Instant};

/// The median of many single runs, after some that do not count.
pub fn median(mut run: impl FnMut()) -> Duration {
    let mut times: Vec<Duration> = Vec::new();
    let start = Instant::now();
    while times.len() < 50 || start.elapsed() < Duration::from_secs(1) {
        let one = Instant::now();
        run();
        times.push(one.elapsed());
    }
    let measured = &mut times[10..];
    measured.sort_unstable();
    measured[measured.len() / 2]
}
