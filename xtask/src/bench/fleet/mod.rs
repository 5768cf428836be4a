//! Thousands of minions at once.

mod generate;

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;
use xshell::{Shell, cmd};

use super::measure::{layer_text, mapstack, measured, verdict};
use crate::{Result, reference};

/// Times faster than the reference, times the floor, times as fast with two threads.
const WARM_GOAL: f64 = 2000.0;
const FLOOR_GOAL: f64 = 3.0;
const THREADS_GOAL: f64 = 1.8;
/// From one changed file to what that does.
const CHANGE_GOAL: Duration = Duration::from_millis(100);
/// Nodes of an inventory each second, and its memory: a hundred times what reclass-rs 0.8 does on two cores.
const INVENTORY_GOAL: f64 = 6500.0;
const INVENTORY_MEMORY: u64 = 200 << 20;

/// Measure made-up fleets.
pub fn run(sh: &Shell) -> Result {
    let directory = TempDir::new()?;
    against_the_reference(sh, &directory.path().join("small"))?;
    growth(sh, &directory.path().join("large"))?;
    change(sh, &directory.path().join("watched"))?;
    inventory(sh, &directory.path().join("inventory"))
}

/// A fleet on disk.
struct Fleet {
    directory: PathBuf,
    formulas: Vec<String>,
}

/// The measurements of a run.
struct RunMeasurements {
    time: Duration,
    peak: u64,
}

impl Fleet {
    /// Write `root` with formulas, and `minions` with a file for each.
    fn new(sh: &Shell, directory: &Path, minions: u64, formulas: u64) -> Result<Self> {
        for number in 0..formulas {
            generate::formula(sh, &directory.join("root"), number)?;
        }
        let into = directory.join("minions");
        sh.create_dir(&into)?;
        for number in 0..minions {
            fs::write(
                into.join(format!("{}.json", generate::id(number))),
                generate::minion(number).to_string(),
            )?;
        }
        let formulas = (0..formulas)
            .map(|number| format!("formula{number}"))
            .collect();
        Ok(Fleet {
            directory: directory.to_owned(),
            formulas,
        })
    }

    fn output(&self) -> PathBuf {
        self.directory.join("output.jsonl")
    }

    /// Run the command with more arguments.
    fn run(&self, sh: &Shell, more: &[&str]) -> Result<RunMeasurements> {
        self.run_as(Command::new(mapstack(sh)?), more)
    }

    /// The same on one core, with all its threads.
    fn run_on_one_core(&self, sh: &Shell, more: &[&str]) -> Result<RunMeasurements> {
        let mut command = Command::new("taskset");
        command.args(["--cpu-list", "0"]).arg(mapstack(sh)?);
        self.run_as(command, more)
    }

    fn run_as(&self, mut command: Command, more: &[&str]) -> Result<RunMeasurements> {
        command.arg("fleet").args(&self.formulas).args(more);
        command
            .arg("--root")
            .arg(self.directory.join("root"))
            .arg("--minions")
            .arg(self.directory.join("minions"));
        let started = Instant::now();
        let mut child = command
            .stdout(File::create(self.output())?)
            .stderr(Stdio::null())
            .spawn()?;
        let mut peak = 0;
        let status = loop {
            if let Some(status) = child.try_wait()? {
                break status;
            }
            peak = peak.max(peak_memory(child.id()));
            std::thread::sleep(Duration::from_millis(2));
        };
        let time = started.elapsed();
        if status.success() {
            Ok(RunMeasurements { time, peak })
        } else {
            Err("mapstack fleet failed".into())
        }
    }

    /// The time to write the output of the last run from memory.
    fn floor(&self) -> Result<Duration> {
        let text = fs::read(self.output())?;
        let started = Instant::now();
        fs::write(self.directory.join("again.jsonl"), text)?;
        Ok(started.elapsed())
    }
}

/// The most memory a process has had; 0 if unknown.
fn peak_memory(process: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    peak.and_then(|peak| peak.trim().split(' ').next()?.parse::<u64>().ok())
        .unwrap_or_default()
        * 1024
}

fn megabytes(bytes: u64) -> u64 {
    bytes >> 20
}

fn against_the_reference(sh: &Shell, directory: &Path) -> Result {
    let (minions, formulas) = (1_000_u32, 20_u32);
    println!("{minions} minions, {formulas} formulas");
    let fleet = Fleet::new(sh, directory, minions.into(), formulas.into())?;
    let best = |run: &dyn Fn() -> Result<RunMeasurements>| -> Result<RunMeasurements> {
        let mut runs = (0..5).map(|_| run()).collect::<Result<Vec<_>>>()?;
        runs.sort_by_key(|taken| taken.time);
        Ok(runs.swap_remove(0))
    };
    let [one, two, plain] = [
        &["--jobs", "1"][..],
        &["--jobs", "2"],
        &["--jobs", "2", "--memory", "0"],
    ]
    .map(|more| best(&|| fleet.run(sh, more)));
    let (one, two, plain) = (one?, two?, plain?);
    // With one thread at work there is another that writes: on one core, both take turns.
    match best(&|| fleet.run_on_one_core(sh, &["--jobs", "1"])) {
        Ok(core) => {
            let ratio = core.time.as_secs_f64() / two.time.as_secs_f64();
            let verdict = verdict(ratio >= THREADS_GOAL, &format!(">= {THREADS_GOAL}"));
            println!(
                "  on one core {:.0?}, two threads on two {:.0?}: {ratio:.2} times as fast{verdict}",
                core.time, two.time
            );
        }
        Err(e) => println!("  not measured on one core: {e}"),
    }
    let ratio = one.time.as_secs_f64() / two.time.as_secs_f64();
    println!(
        "  one thread beside the one that writes {:.0?}: {ratio:.2} times; {} MB",
        one.time,
        megabytes(two.peak)
    );
    println!("  with nothing shared, two threads {:.0?}", plain.time);
    match reference::python(sh) {
        Ok(python) => {
            let theirs = of_reference(sh, &python, directory, &fleet.formulas)? / formulas;
            let ours = two.time / (minions * formulas);
            let ratio = theirs.as_secs_f64() / ours.as_secs_f64();
            let verdict = verdict(ratio > WARM_GOAL, &format!("> {WARM_GOAL}"));
            println!(
                "  each: map.data {theirs:.1?} warm, mapstack {ours:.1?}: {ratio:.0} times faster{verdict}"
            );
        }
        Err(missing) => println!("  no reference to compare with: {missing}"),
    }
    Ok(())
}

/// The time of the reference for the formulas of one minion.
fn of_reference(
    sh: &Shell,
    python: &Path,
    directory: &Path,
    formulas: &[String],
) -> Result<Duration> {
    let minion = directory.join("minion.json");
    fs::write(&minion, generate::minion(1).to_string())?;
    let root = directory.join("root");
    let mut time = Duration::ZERO;
    for formula in formulas {
        let printed = measured(cmd!(
            sh,
            "{python} xtask/reference/bench.py data {formula} {minion} {root}"
        ))?;
        time += Duration::from_nanos(printed["warm"].as_u64().ok_or("bench.py prints no time")?);
    }
    Ok(time)
}

/// The growth of time and memory with the number of minions.
fn growth(sh: &Shell, directory: &Path) -> Result {
    for minions in [1_000_u32, 10_000, 100_000] {
        let fleet = Fleet::new(sh, directory, minions.into(), 5)?;
        // Files that were just written are in memory, those of a run before, too.
        let taken = fleet.run(sh, &[])?;
        let bytes = fs::metadata(fleet.output())?.len();
        let floor = fleet.floor()?;
        let ratio = taken.time.as_secs_f64() / floor.as_secs_f64();
        println!(
            "{minions} minions, 5 formulas: {:.2?}, {:.1?} each, {} MB; floor (write the same {} MB from memory) {floor:.0?}: {ratio:.1} times{}",
            taken.time,
            taken.time / (minions * 5),
            megabytes(taken.peak),
            megabytes(bytes),
            verdict(ratio < FLOOR_GOAL, &format!("< {FLOOR_GOAL}"))
        );
    }
    Ok(())
}

/// The time from a change of one file until it is reported, once all minions are computed.
fn change(sh: &Shell, directory: &Path) -> Result {
    let minions = 10_000_u32;
    let fleet = Fleet::new(sh, directory, minions.into(), 5)?;
    let root = directory.join("root");
    let mut command = Command::new(mapstack(sh)?);
    command
        .arg("watch")
        .args(&fleet.formulas)
        .arg("--root")
        .arg(&root)
        .arg("--minions")
        .arg(directory.join("minions"));
    let started = Instant::now();
    let mut watch = command
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()?;
    let mut said = BufReader::new(watch.stderr.take().ok_or("no standard error")?).lines();
    let mut wait = |wanted: &str| {
        let mut lines = said.by_ref().map_while(std::result::Result::ok);
        lines
            .find_map(|line| line.strip_prefix(wanted).map(str::to_owned))
            .ok_or("mapstack watch ended")
    };
    wait("watching ")?;
    println!(
        "{minions} minions, 5 formulas, watched {:.0?} after the start; a change of one file:",
        started.elapsed()
    );
    for (number, path) in [
        "os_family/Suse.yaml",
        "os_family/Debian.yaml",
        "defaults.yaml",
    ]
    .iter()
    .enumerate()
    {
        let file = root.join("formula1/parameters").join(path);
        fs::write(&file, sh.read_file(&file)? + &format!("  new{number}: 1\n"))?;
        // Of what it says itself: from when it hears of the change, which is when nothing more is written.
        let time = wait("after ")?;
        let time = Duration::from_millis(time.trim_end_matches(" ms").parse()?);
        println!(
            "  {path}: {time:.0?}{}",
            verdict(time < CHANGE_GOAL, &format!("< {CHANGE_GOAL:.0?}"))
        );
    }
    watch.kill()?;
    watch.wait()?;
    Ok(())
}

/// Every node has twenty layers of forty keys: eight that all have, and twelve of fifty-two; hardly any two are alike.
fn inventory(sh: &Shell, directory: &Path) -> Result {
    let nodes = 1_000_u32;
    let parameters = directory.join("root/inventory/parameters");
    let classes = 60_u64;
    for class in 0..classes {
        sh.write_file(
            parameters.join(format!("classes/class{class}.yaml")),
            format!("values:\n{}", layer_text(class as usize, "  ")),
        )?;
    }
    sh.write_file(
        parameters.join("map_jinja.yaml"),
        "values: {sources: ['Y!G@classes']}\n",
    )?;
    sh.write_file(parameters.join("defaults.yaml"), "values: {}\n")?;
    let into = directory.join("minions");
    sh.create_dir(&into)?;
    for node in 0..nodes {
        let own =
            (0..12).map(|layer| 8 + generate::mixed(u64::from(node) * 12 + layer) % (classes - 8));
        let classes: Vec<String> = (0..8)
            .chain(own)
            .map(|class| format!("class{class}"))
            .collect();
        let facts = serde_json::json!({"grains": {"classes": classes, "os": "Debian"}});
        fs::write(into.join(format!("node{node:04}.json")), facts.to_string())?;
    }
    let fleet = Fleet {
        directory: directory.to_owned(),
        formulas: vec!["inventory".into()],
    };
    let taken = fleet.run(sh, &[])?;
    let speed = f64::from(nodes) / taken.time.as_secs_f64();
    println!(
        "an inventory of {nodes} nodes, 20 layers of 40 keys each: {:.2?}, {speed:.0} nodes/s{}, {} MB{}",
        taken.time,
        verdict(speed > INVENTORY_GOAL, &format!("> {INVENTORY_GOAL}")),
        megabytes(taken.peak),
        verdict(
            taken.peak < INVENTORY_MEMORY,
            &format!("< {} MB", megabytes(INVENTORY_MEMORY))
        )
    );
    Ok(())
}
