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

/// The most bytes of memory that the process had.
#[allow(dead_code, reason = "not every benchmark measures memory")]
pub fn peak() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().trim_end_matches(" kB").parse::<u64>().ok()? * 1024)
}
