//! The stacked external pillars, against the modules that Salt has or had, and whole pillars against Salt's own compile.

mod whole;

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;
use xshell::{Shell, cmd};

use super::measure::{layer_text, measured, report};
use crate::{Result, reference};

const STACK_GOAL: f64 = 200.0;
const MAKOSTACK_GOAL: f64 = 5.0;
const WHOLE_GOAL: f64 = 400.0;

/// As many minions as the fleet of a large site.
const MINIONS: usize = 10_000;

/// The environment variable that names the module of MakoStack, which Salt no longer has.
const MODULE: &str = "MAPSTACK_MAKOSTACK";

pub fn run(sh: &Shell) -> Result {
    let made_up = TempDir::new()?;
    // The benchmark finds it beside itself.
    cmd!(
        sh,
        "cargo build --quiet --release --package mapstack-python"
    )
    .run()?;
    cmd!(
        sh,
        "cargo bench --quiet --package mapstack-pillar --bench pillar --no-run"
    )
    .run()?;
    println!("a generated stack: 20 plain layers of 40 keys");
    for (kind, goal) in [("stack", STACK_GOAL), ("makostack", MAKOSTACK_GOAL)] {
        let config = generate(sh, &made_up.path().join("plain"), None)?;
        measure(sh, kind, &config, Some(goal))?;
    }
    println!(
        "the same, with one key of each layer from an expression that differs for each minion"
    );
    for (kind, marks) in [("stack", ["{{ ", " }}"]), ("makostack", ["${ ", " }"])] {
        let config = generate(sh, &made_up.path().join(kind), Some(marks))?;
        measure(sh, kind, &config, None)?;
    }
    measure_whole(sh, &made_up.path().join("whole"))
}

/// The pillars of a generated master's minions, each minion once, in a process that begins with nothing.
fn measure_whole(sh: &Shell, home: &Path) -> Result {
    println!("a generated master: 41 targets, 60 sls, 3 stacks, {MINIONS} minions");
    let (config, minions) = whole::generate(sh, home, MINIONS)?;
    let ours = |memory: &str| {
        measured(cmd!(
            sh,
            "cargo bench --quiet --package mapstack-pillar --bench pillar -- whole {config} {minions} {memory}"
        ))
    };
    let (alone, shared) = (ours("0")?, ours("64")?);
    println!(
        "  a minion {:.1?}, with nothing shared {:.1?}; memory at most {}, {}",
        nanoseconds(&shared),
        nanoseconds(&alone),
        mebibytes(&shared),
        mebibytes(&alone)
    );
    match reference::python(sh) {
        Ok(python) => {
            let bench = "xtask/reference/bench.py";
            let theirs = measured(cmd!(sh, "{python} {bench} whole {config} {minions}"))?;
            let (theirs, ours) = (nanoseconds(&theirs), nanoseconds(&shared));
            report(
                "a whole pillar",
                ("Salt", theirs),
                ("pillar", ours),
                WHOLE_GOAL,
            );
        }
        Err(missing) => println!("  no reference: {missing}"),
    }
    Ok(())
}

/// A stack of layers; its config file.
fn generate(sh: &Shell, directory: &Path, marks: Option<[&str; 2]>) -> Result<PathBuf> {
    let mut list = String::new();
    for layer in 0..20 {
        let name = format!("layer{layer}.yml");
        let mut text = layer_text(layer, "");
        if let Some([open, close]) = marks {
            // One key more would be the forty-first.
            let others = text
                .split_inclusive('\n')
                .filter(|line| !line.starts_with("shared9:"));
            text = format!(
                "minion: {open}minion_id{close}\n{}",
                others.collect::<String>()
            );
        }
        sh.write_file(directory.join(&name), text)?;
        list += &format!("{name}\n");
    }
    let config = directory.join("stack.cfg");
    sh.write_file(&config, list)?;
    Ok(config)
}

fn measure(sh: &Shell, kind: &str, config: &Path, goal: Option<f64>) -> Result {
    let ours = measured(cmd!(
        sh,
        "cargo bench --quiet --package mapstack-pillar --bench pillar -- {kind} {config}"
    ))?;
    let warm = nanoseconds(&ours);
    let theirs = match reference::python(sh) {
        Ok(_) if kind == "makostack" && std::env::var_os(MODULE).is_none() => {
            Err(format!("{MODULE} names no module"))
        }
        Ok(python) => Ok(measured(cmd!(
            sh,
            "{python} xtask/reference/bench.py pillar {kind} {config}"
        ))?),
        Err(missing) => Err(missing.to_string()),
    };
    match theirs {
        Ok(theirs) => {
            report(
                "a minion",
                (kind, nanoseconds(&theirs)),
                ("pillar", warm),
                goal,
            );
            println!(
                "  memory at most: {kind} {}, mapstack pillar {}",
                mebibytes(&theirs),
                mebibytes(&ours)
            );
        }
        Err(missing) => {
            println!(
                "  {kind}: a minion {warm:.1?}, memory at most {}; no reference: {missing}",
                mebibytes(&ours)
            );
        }
    }
    Ok(())
}

fn nanoseconds(printed: &Value) -> Duration {
    Duration::from_nanos(printed["warm"].as_u64().unwrap_or_default())
}

fn mebibytes(printed: &Value) -> String {
    format!("{} MiB", printed["peak"].as_u64().unwrap_or_default() >> 20)
}
