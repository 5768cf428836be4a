//! Runs every target over mutated seeds, on any compiler: `cargo run --manifest-path fuzz/Cargo.toml -- --seconds 20`.

use std::error::Error;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::Parser;
use mapstack_fuzz::mutate;
use mapstack_fuzz::targets::{ALL, Target};

/// One input that takes longer is a finding.
const MAX_TIME: Duration = Duration::from_secs(10);

/// Run the targets over inputs near their seeds.
#[derive(Parser)]
struct Args {
    /// Seconds for all targets together
    #[arg(long, default_value_t = 20)]
    seconds: u64,
    /// Run these targets alone (all of them without)
    #[arg(long)]
    target: Vec<String>,
    /// The number that decides which inputs there are
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Run files as inputs of the one target instead
    #[arg(long, requires = "target")]
    input: Vec<PathBuf>,
}

fn main() -> ExitCode {
    match run(&Args::parse()) {
        Ok(0) => ExitCode::SUCCESS,
        Ok(findings) => {
            eprintln!("{findings} findings; run one again with --target NAME --input FILE");
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: &Args) -> Result<usize, Box<dyn Error>> {
    if let Some(unknown) = args
        .target
        .iter()
        .find(|name| ALL.iter().all(|target| target.name != **name))
    {
        let names: Vec<&str> = ALL.iter().map(|target| target.name).collect();
        return Err(format!(
            "unknown target '{unknown}'; the targets are {}",
            names.join(", ")
        )
        .into());
    }
    let chosen: Vec<&Target> = ALL
        .iter()
        .filter(|target| {
            args.target.is_empty() || args.target.iter().any(|name| name == target.name)
        })
        .collect();
    let share = Duration::from_secs(args.seconds) / u32::try_from(chosen.len())?;
    let mut findings = 0;
    for target in chosen {
        let fuzzed = match args.input.is_empty() {
            true => fuzz(target, share, args.seed)?,
            false => replay(target, &args.input)?,
        };
        findings += fuzzed;
    }
    Ok(findings)
}

/// Run files as they are.
fn replay(target: &Target, files: &[PathBuf]) -> Result<usize, Box<dyn Error>> {
    let mut findings = 0;
    for file in files {
        findings += usize::from(problem(target, &fs::read(file)?).is_some());
    }
    Ok(findings)
}

/// Run the seeds and then inputs near them, until the time is over.
fn fuzz(target: &Target, time: Duration, seed: u64) -> Result<usize, Box<dyn Error>> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let seeds = seeds(&here.join("corpus").join(target.name))?;
    let artifacts = here.join("artifacts").join(target.name);
    fs::create_dir_all(&artifacts)?;
    // After an abort, this file is the input that caused it.
    let current = artifacts.join("current");
    let mut random = fastrand::Rng::with_seed(seed);
    let (started, mut runs, mut findings) = (Instant::now(), 0_usize, 0);
    while runs < seeds.len() || started.elapsed() < time {
        let input = seeds
            .get(runs)
            .cloned()
            .unwrap_or_else(|| mutate::input(&seeds, &mut random));
        fs::write(&current, &input)?;
        runs += 1;
        if let Some(problem) = problem(target, &input) {
            findings += 1;
            let kept = artifacts.join(format!("seed-{seed}-run-{runs}"));
            fs::write(&kept, &input)?;
            eprintln!("{}: {problem}: {}", target.name, kept.display());
        }
    }
    fs::remove_file(&current)?;
    println!("{:8} {runs:>8} inputs, {findings} findings", target.name);
    Ok(findings)
}

/// The problem of a target with an input, if there is one.
fn problem(target: &Target, input: &[u8]) -> Option<String> {
    let started = Instant::now();
    if catch_unwind(AssertUnwindSafe(|| (target.run)(input))).is_err() {
        return Some("panicked".into());
    }
    let took = started.elapsed();
    (took > MAX_TIME).then(|| format!("took {} s", took.as_secs()))
}

/// The seeds of a target, in the order of their names.
fn seeds(folder: &Path) -> Result<Vec<Vec<u8>>, Box<dyn Error>> {
    let listed = fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let mut paths = listed
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<Vec<_>, _>>()?;
    paths.sort();
    match paths.is_empty() {
        true => Err(format!("{} has no seeds", folder.display()).into()),
        false => paths
            .iter()
            .map(|path| fs::read(path).map_err(Into::into))
            .collect(),
    }
}
