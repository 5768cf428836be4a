//! What it costs to follow where values come from: `explain` against the plain run.

use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;
use xshell::{Shell, cmd};

use super::formula::{Subject, generated, shipped};
use super::{mapstack, measured, median, verdict};
use crate::Result;

/// How many times the plain run's time and memory it may take.
const TIME_GOAL: f64 = 1.25;
const MEMORY_GOAL: f64 = 2.0;

pub fn run(sh: &Shell, starts: u32) -> Result {
    let made_up = TempDir::new()?;
    cmd!(sh, "cargo bench --quiet --package mapstack --bench explain --no-run").run()?;
    for subject in [shipped(), generated(sh, made_up.path())?] {
        println!("{}", subject.name);
        in_process(sh, &subject)?;
        processes(sh, &subject, starts)?;
    }
    Ok(())
}

fn ask(sh: &Shell, mode: &str, subject: &Subject) -> Result<Value> {
    let Subject { formula, minion, roots, .. } = subject;
    measured(cmd!(sh, "cargo bench --quiet --package mapstack --bench explain -- {mode} {formula} {minion} {roots...}"))
}

/// The library.
fn in_process(sh: &Shell, subject: &Subject) -> Result {
    let times = ask(sh, "time", subject)?;
    let [data, explain, told] =
        ["data", "explain", "told"].map(|name| Duration::from_nanos(times[name].as_u64().unwrap_or_default()));
    let ratio = |time: Duration| time.as_secs_f64() / data.as_secs_f64();
    print!("  warm, in process: data {data:.1?}, explain {explain:.1?}: {:.2} times", ratio(explain));
    println!("{}", verdict(ratio(explain) <= TIME_GOAL, &format!("<= {TIME_GOAL}")));
    println!("  with a visit of every value {told:.1?}: {:.2} times", ratio(told));
    let mut peaks = [0_u64; 3];
    for (peak, mode) in peaks.iter_mut().zip(["none", "data", "explain"]) {
        *peak = ask(sh, mode, subject)?["peak"].as_u64().unwrap_or_default();
    }
    let [none, data, explain] = peaks.map(|bytes| bytes >> 10);
    let ratio = explain as f64 / data as f64;
    print!("  memory at most, a process: data {data} KiB, explain {explain} KiB: {ratio:.2} times");
    println!("{}", verdict(ratio <= MEMORY_GOAL, &format!("<= {MEMORY_GOAL}")));
    let own = explain.saturating_sub(none) as f64 / data.saturating_sub(none).max(1) as f64;
    println!("  of that, without the {none} KiB of one that does nothing: {own:.2} times");
    Ok(())
}

/// The command, from its start to its end.
fn processes(sh: &Shell, subject: &Subject, starts: u32) -> Result {
    let mapstack = mapstack(sh)?;
    let roots = subject.roots.iter().flat_map(|root| ["--root".into(), root.clone()]);
    let Subject { formula, minion, .. } = subject;
    let roots: Vec<std::path::PathBuf> = roots.collect();
    let roots = &roots;
    let start = |verb: &str| {
        median(starts * 10, || {
            let command = cmd!(sh, "{mapstack} {verb} {formula} --minion {minion} {roots...}");
            command.quiet().ignore_stdout().ignore_stderr().run()
        })
    };
    let (data, explain) = (start("data")?, start("explain")?);
    let ratio = explain.as_secs_f64() / data.as_secs_f64();
    print!("  one process: data {data:.1?}, explain with all origins {explain:.1?}: {ratio:.2} times");
    println!("{}", verdict(ratio <= TIME_GOAL, &format!("<= {TIME_GOAL}")));
    Ok(())
}
