//! Measuring and printing of times.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::Value;
use xshell::{Cmd, Shell, cmd};

use crate::{Result, target_directory};

/// The built command.
pub fn mapstack(sh: &Shell) -> Result<PathBuf> {
    Ok(target_directory(sh)?.join("release/mapstack"))
}

/// A program of the workspace `benchmarks`, which is separate so that nothing else compiles the crates that it compares
/// with.
pub fn benchmark(sh: &Shell, name: &str, build: bool) -> Result<PathBuf> {
    let target = target_directory(sh)?;
    if build {
        cmd!(
            sh,
            "cargo build --quiet --release --manifest-path benchmarks/Cargo.toml --target-dir {target} --bin {name}"
        )
        .run()?;
    }
    Ok(target.join("release").join(name))
}

/// The names of what a program can measure of a directory.
pub fn names(sh: &Shell, program: &Path, directory: &str) -> Result<Vec<String>> {
    let names = measured(cmd!(sh, "{program} {directory} names"))?;
    let names = names.as_array().into_iter().flatten();
    Ok(names
        .filter_map(|name| name.as_str().map(str::to_owned))
        .collect())
}

/// The thousands of instructions that callgrind counts in one turn of a measuring program: whose engine, of what, and
/// which work; nothing if the engine cannot do it.
pub fn counted(sh: &Shell, program: &Path, directory: &str, turn: [&str; 3]) -> Option<f64> {
    let [engine, name, work] = turn;
    // The start counts in both runs.
    let [one, more] = ["1", "11"].map(|turns| {
        let counted = cmd!(
            sh,
            "valgrind --tool=callgrind --callgrind-out-file=/dev/null {program} {directory} {engine} {name} {turns} {work}"
        );
        collected(counted)
    });
    Some((more? - one?) / 10.0 / 1_000.0)
}

/// The instructions that callgrind counts.
pub fn collected(counted: Cmd<'_>) -> Option<f64> {
    let printed = counted.quiet().ignore_stdout().read_stderr().ok()?;
    let line = printed.lines().find(|line| line.contains("Collected"))?;
    line.rsplit(' ').next()?.parse().ok()
}

/// Run a measuring program, and read the JSON object that it prints.
pub fn measured(program: Cmd<'_>) -> Result<Value> {
    Ok(serde_json::from_str(
        &program.quiet().ignore_stderr().read()?,
    )?)
}

/// Forty keys: new ones, ones that other layers have too, and small mappings and lists.
pub fn layer_text(layer: usize, indent: &str) -> String {
    let mut text = String::new();
    for key in 0..10 {
        text += &format!("{indent}shared{key}: value {key} of layer {layer}\n");
        text += &format!("{indent}own{layer}_{key}: {}\n", layer * 1000 + key);
        text += &format!(
            "{indent}options{key}:\n{indent}  layer{layer}: yes\n{indent}  port: {}\n",
            8000 + layer
        );
        text += &format!("{indent}packages{key}: [package-{layer}, package-{key}, common]\n");
    }
    text
}

/// Print both sides' times and their ratio.
pub fn report(
    what: &str,
    (reference, theirs): (&str, Duration),
    (verb, ours): (&str, Duration),
    goal: impl Into<Option<f64>>,
) {
    let ratio = theirs.as_secs_f64() / ours.as_secs_f64();
    let verdict = goal
        .into()
        .map(|goal| verdict(ratio > goal, &format!("> {goal}")))
        .unwrap_or_default();
    println!(
        "  {what}: {reference} {theirs:.1?}, mapstack {verb} {ours:.1?}: {ratio:.0} times faster{verdict}"
    );
}

pub fn verdict(reached: bool, goal: &str) -> String {
    format!(
        " (goal {goal}: {})",
        if reached { "reached" } else { "missed" }
    )
}

/// The median of some runs, after one that does not count.
pub fn median(
    runs: u32,
    run: impl Fn() -> std::result::Result<(), xshell::Error>,
) -> Result<Duration> {
    run()?;
    let mut times = Vec::new();
    for _ in 0..runs.max(1) {
        let start = Instant::now();
        run()?;
        times.push(start.elapsed());
    }
    times.sort_unstable();
    Ok(times[times.len() / 2])
}

/// The time of something beside others.
pub struct Compared {
    /// In its fastest turn.
    pub fastest: Duration,
    /// The factor to the time of the first thing, the median of all turns.
    pub times: f64,
}

impl fmt::Display for Compared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.1?}, {:.2} times", self.fastest, self.times)
    }
}

/// Run several things in turns, so that whatever else the machine does hits all of them, after a turn that does not
/// count.
pub fn compare<const N: usize>(
    turns: u32,
    things: [&dyn Fn() -> std::result::Result<(), xshell::Error>; N],
) -> Result<[Compared; N]> {
    let mut times: Vec<[Duration; N]> = Vec::new();
    for _ in 0..=turns.max(1) {
        let mut turn = [Duration::ZERO; N];
        for (time, run) in turn.iter_mut().zip(things) {
            let start = Instant::now();
            run()?;
            *time = start.elapsed();
        }
        times.push(turn);
    }
    let counted = &times[1..];
    Ok(std::array::from_fn(|index| {
        let ratio = |turn: &[Duration; N]| turn[index].as_secs_f64() / turn[0].as_secs_f64();
        let mut ratios: Vec<f64> = counted.iter().map(ratio).collect();
        ratios.sort_unstable_by(f64::total_cmp);
        let fastest = counted
            .iter()
            .map(|turn| turn[index])
            .min()
            .unwrap_or_default();
        Compared {
            fastest,
            times: ratios[ratios.len() / 2],
        }
    }))
}
