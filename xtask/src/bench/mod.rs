//! `cargo xtask bench`: one run on one machine, as ratios to the reference and to the floor.

mod explain;
mod fleet;
mod formula;
mod growth;
mod measure;
mod pillar;
mod templates;
mod yaml;

use clap::{Parser, ValueEnum};
use xshell::{Shell, cmd};

use crate::Result;

#[derive(Parser)]
pub struct Args {
    /// Subjects to measure; all but growth by default
    subjects: Vec<Subject>,
    /// Number of starts of each program for the cold measurement
    #[arg(long, default_value_t = 5)]
    starts: u32,
    /// Measure the programs that are there, without building them first
    #[arg(long)]
    no_build: bool,
    /// Count the instructions that templates and YAML take, with valgrind, instead of measuring time
    #[arg(long)]
    instructions: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Subject {
    /// `data` and `map` of one formula for one minion
    Formula,
    /// Following where values come from, against the plain run
    Explain,
    /// The stacked external pillars
    Pillar,
    /// Thousands of minions at once
    Fleet,
    /// Templates in the engine itself, in minijinja and in Jinja2
    Templates,
    /// Reading YAML, beside libyaml and readers in Rust
    Yaml,
    /// Instructions for each unit of work in trees of five sizes, with valgrind, if it is named
    Growth,
}

pub fn run(sh: &Shell, args: &Args) -> Result {
    let wanted = |subject| args.subjects.is_empty() || args.subjects.contains(&subject);
    if wanted(Subject::Templates) {
        templates::run(sh, !args.no_build, args.instructions)?;
    }
    if wanted(Subject::Yaml) {
        yaml::run(sh, !args.no_build, args.instructions)?;
    }
    let is_own = |subject: &Subject| matches!(subject, Subject::Templates | Subject::Yaml);
    if !args.subjects.is_empty() && args.subjects.iter().all(is_own) {
        return Ok(());
    }
    if !args.no_build {
        eprintln!("building the release programs");
        // As the packages have it.
        cmd!(
            sh,
            "cargo build --quiet --release --package mapstack-cli --features full"
        )
        .run()?;
    }
    if wanted(Subject::Formula) {
        formula::run(sh, args.starts)?;
    }
    if wanted(Subject::Explain) {
        explain::run(sh, args.starts)?;
    }
    if wanted(Subject::Pillar) {
        pillar::run(sh)?;
    }
    if wanted(Subject::Fleet) {
        fleet::run(sh)?;
    }
    // It takes many minutes.
    if args.subjects.contains(&Subject::Growth) {
        growth::run(sh)?;
    }
    Ok(())
}
