//! Timing of benchmarks.

use std::time::{Duration, Instant};

/// The median of many runs. The first runs do not count.
#[allow(dead_code, reason = "not every benchmark measures one thing alone")]
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

/// The time of one of several alternatives.
#[allow(dead_code, reason = "not every benchmark compares")]
#[derive(Debug, Default, Clone, Copy)]
pub struct Compared {
    /// The time of one run in the fastest batch.
    pub fastest: Duration,
    /// The time relative to the first alternative, as the median of all turns.
    pub times: f64,
}

/// Run several alternatives in turns, in short batches. Other load on the machine affects all alternatives, and most
/// batches are short enough to be unaffected.
#[allow(dead_code, reason = "not every benchmark compares")]
pub fn compare<const N: usize>(mut things: [&mut dyn FnMut(); N]) -> [Compared; N] {
    let batch: [u32; N] = std::array::from_fn(|index| {
        let start = Instant::now();
        (0..10).for_each(|_| things[index]());
        let batches = Duration::from_millis(1).as_nanos() * 10 / start.elapsed().as_nanos().max(1);
        u32::try_from(batches).unwrap_or(u32::MAX).max(1)
    });
    let mut turns: Vec<[Duration; N]> = Vec::new();
    let start = Instant::now();
    while turns.len() < 200 || start.elapsed() < Duration::from_secs(3) {
        turns.push(std::array::from_fn(|index| {
            let one = Instant::now();
            (0..batch[index]).for_each(|_| things[index]());
            one.elapsed() / batch[index]
        }));
    }
    std::array::from_fn(|index| {
        let ratio = |turn: &[Duration; N]| turn[index].as_secs_f64() / turn[0].as_secs_f64();
        let mut ratios: Vec<f64> = turns.iter().map(ratio).collect();
        ratios.sort_unstable_by(f64::total_cmp);
        let fastest = turns
            .iter()
            .map(|turn| turn[index])
            .min()
            .unwrap_or_default();
        Compared {
            fastest,
            times: ratios[ratios.len() / 2],
        }
    })
}

/// The maximum memory of the process in bytes.
#[allow(dead_code, reason = "not every benchmark measures memory")]
pub fn peak() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().trim_end_matches(" kB").parse::<u64>().ok()? * 1024)
}
