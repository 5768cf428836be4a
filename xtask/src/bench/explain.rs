//! The cost of following where values come from: `explain` against the plain run.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;
use xshell::{Shell, cmd};

use super::formula::{Subject, generated, shipped};
use super::measure::{Compared, compare, mapstack, measured, verdict};
use crate::Result;

/// The most times the plain run's time and memory that it may take.
const TIME_GOAL: f64 = 1.25;
const MEMORY_GOAL: f64 = 2.0;

pub fn run(sh: &Shell, starts: u32) -> Result {
    let made_up = TempDir::new()?;
    cmd!(
        sh,
        "cargo bench --quiet --package mapstack-lineage --bench explain --no-run"
    )
    .run()?;
    for (subject, key) in [
        (shipped(), "accounts:deploy:shell"),
        (generated(sh, made_up.path())?, "shared0"),
    ] {
        println!("{}", subject.name);
        in_process(sh, &subject)?;
        memory(sh, &subject)?;
        processes(sh, &subject, key, starts)?;
    }
    Ok(())
}

fn ask(sh: &Shell, mode: &str, subject: &Subject) -> Result<Value> {
    let Subject {
        formula,
        minion,
        roots,
        ..
    } = subject;
    measured(cmd!(
        sh,
        "cargo bench --quiet --package mapstack-lineage --bench explain -- {mode} {formula} {minion} {roots...}"
    ))
}

/// The library, warm.
fn in_process(sh: &Shell, subject: &Subject) -> Result {
    let printed = ask(sh, "time", subject)?;
    let [data, explain, visited] = ["data", "explain", "visited"].map(|name| Compared {
        fastest: Duration::from_nanos(printed[name]["fastest"].as_u64().unwrap_or_default()),
        times: printed[name]["times"].as_f64().unwrap_or(f64::INFINITY),
    });
    println!("  warm, in process: data {:.1?}", data.fastest);
    println!(
        "    explain {explain}{}",
        verdict(explain.times <= TIME_GOAL, &format!("<= {TIME_GOAL}"))
    );
    println!("    explain and a visit of every value {visited}");
    Ok(())
}

/// The most that fresh processes of the library need. The least of a few is what they cannot do without.
fn memory(sh: &Shell, subject: &Subject) -> Result {
    let mut peaks = [u64::MAX; 3];
    for _ in 0..5 {
        for (peak, mode) in peaks.iter_mut().zip(["none", "data", "explain"]) {
            *peak = ask(sh, mode, subject)?["peak"]
                .as_u64()
                .unwrap_or_default()
                .min(*peak);
        }
    }
    let [none, data, explain] = peaks.map(|bytes| bytes >> 10);
    let ratio = explain as f64 / data as f64;
    print!("  memory at most, a process: data {data} KiB, explain {explain} KiB: {ratio:.2} times");
    println!(
        "{}",
        verdict(ratio <= MEMORY_GOAL, &format!("<= {MEMORY_GOAL}"))
    );
    let own = explain.saturating_sub(none) as f64 / data.saturating_sub(none).max(1) as f64;
    println!("  of that, without the {none} KiB of one that does nothing: {own:.2} times");
    Ok(())
}

/// The command, from its start to its end.
fn processes(sh: &Shell, subject: &Subject, key: &'static str, starts: u32) -> Result {
    let mapstack = mapstack(sh)?;
    let roots = subject
        .roots
        .iter()
        .flat_map(|root| ["--root".into(), root.clone()]);
    let Subject {
        formula, minion, ..
    } = subject;
    let roots: Vec<PathBuf> = roots.collect();
    let roots = &roots;
    let start = |verb: &'static str, key: Option<&'static str>| {
        let mapstack = &mapstack;
        move || {
            let command = cmd!(
                sh,
                "{mapstack} {verb} {formula} {key...} --minion {minion} {roots...}"
            );
            command.quiet().ignore_stdout().ignore_stderr().run()
        }
    };
    let [data, one, all] = compare(
        starts * 20,
        [
            &start("data", None),
            &start("explain", Some(key)),
            &start("explain", None),
        ],
    )?;
    println!("  one process: data {:.1?}", data.fastest);
    println!(
        "    explain {key} {one}{}",
        verdict(one.times <= TIME_GOAL, &format!("<= {TIME_GOAL}"))
    );
    println!("    explain with all origins {all}");
    Ok(())
}
