//! Times work in mapstack and in others, on one thread of one process, in turns.

use std::error::Error;
use std::time::{Duration, Instant};

/// The allocator of the command in packages.
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

/// The result of a program that measures.
pub type Result<T = ()> = std::result::Result<T, Box<dyn Error>>;

/// The nanoseconds of the fastest turn of one run.
pub fn fastest<const N: usize>(turns: &[[Duration; N]], at: usize) -> u128 {
    let times = turns.iter().map(|turn| turn[at].as_nanos());
    times.min().unwrap_or_default()
}

/// The middle one.
pub fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_unstable_by(f64::total_cmp);
    numbers[numbers.len() / 2]
}

/// The time of one run of each, in many turns, after some that do not count.
pub fn times<const N: usize>(runs: [&dyn Fn(); N]) -> Vec<[Duration; N]> {
    let batch = runs.map(|run| {
        let start = Instant::now();
        (0..3).for_each(|_| run());
        let batch = 3 * Duration::from_millis(2).as_nanos() / start.elapsed().as_nanos().max(1);
        u32::try_from(batch).unwrap_or(u32::MAX).max(1)
    });
    let turn = || {
        std::array::from_fn(|at| {
            let start = Instant::now();
            (0..batch[at]).for_each(|_| runs[at]());
            start.elapsed() / batch[at]
        })
    };
    (0..46).map(|_| turn()).skip(5).collect()
}
