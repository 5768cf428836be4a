//! `cargo xtask reference`: install real Salt, record again what it does, compare with it.

mod compare;
mod explain;

use std::path::PathBuf;

use clap::Parser;
use serde_json::Value;
use xshell::{Shell, cmd};

use crate::{Result, project_root};

/// Go over questions and both sides' answers, one JSON document a line each.
///
/// # Errors
/// One side has not answered every question, or a line is not JSON.
pub fn each_answer(
    what: &str,
    lines: [&str; 3],
    mut each: impl FnMut(&Value, &Value, &Value),
) -> Result {
    let [questions, ours, theirs] = lines;
    let counts = lines.map(|text| text.lines().count());
    if counts[1] != counts[0] || counts[2] != counts[0] {
        return Err(format!(
            "{} {what}, {} answers of ours, {} of theirs",
            counts[0], counts[1], counts[2]
        )
        .into());
    }
    for ((question, ours), theirs) in questions.lines().zip(ours.lines()).zip(theirs.lines()) {
        each(
            &serde_json::from_str(question)?,
            &serde_json::from_str(ours)?,
            &serde_json::from_str(theirs)?,
        );
    }
    Ok(())
}

/// Print the outcome of a comparison.
///
/// # Errors
/// Something differs, and nothing explains it.
pub fn verdict(tally: &dyn std::fmt::Display, unexplained: usize) -> Result {
    print!("{tally}");
    if unexplained == 0 {
        return Ok(());
    }
    Err(format!("{unexplained} differences from the reference that nothing explains").into())
}

/// The variable that names another place for the reference.
const PLACE: &str = "MAPSTACK_REFERENCE";

#[derive(Parser)]
#[group(required = true, multiple = true)]
pub struct Args {
    /// Install the pinned reference into a virtual environment
    #[arg(long, group = "what")]
    setup: bool,
    /// Record again the goldens that the tests read; `git diff` shows what is new
    #[arg(long, group = "what")]
    record: bool,
    /// Compare answers to made-up questions, and print every difference
    #[arg(long, group = "what")]
    check: bool,
    /// Number of YAML texts, merges and damaged templates to compare; a fifth as many definitions, a twentieth as many
    /// formulas, half as many trees of stacked pillars, a tenth as many whole pillars
    #[arg(long, default_value_t = 10_000, requires = "check")]
    count: u32,
    /// Seed of the made-up questions; the same seed gives the same ones
    #[arg(long, default_value_t = 1, requires = "check")]
    seed: u64,
    /// Kinds of questions to make up, such as `stack`; all by default
    #[arg(long, requires = "check", value_name = "KIND")]
    kind: Vec<String>,
    /// The Python that has an older version of Salt to compare with, by one kind of pillars; with --record, record what it makes of
    /// the recorded pillars
    #[arg(long, value_name = "FILE")]
    python: Option<PathBuf>,
    /// Record only files whose path holds one of these
    #[arg(long, requires = "record", value_name = "PART")]
    only: Vec<String>,
}

pub fn run(sh: &Shell, args: &Args) -> Result {
    if args.setup {
        setup(sh)?;
    }
    if args.record {
        let (reference, only) = (python(sh)?, &args.only);
        let project = project_root();
        match &args.python {
            Some(older) => cmd!(sh, "{older} xtask/reference/versions.py {project}"),
            None => cmd!(
                sh,
                "{reference} xtask/reference/record.py {project} {only...}"
            ),
        }
        .quiet()
        .run()?;
        println!("`git diff` shows what the reference does otherwise than recorded");
    }
    if args.check {
        compare::run(sh, args)?;
    }
    Ok(())
}

/// The directory of the virtual environment.
pub fn directory() -> PathBuf {
    let home = || PathBuf::from(std::env::var_os("HOME").unwrap_or_default());
    std::env::var_os(PLACE).map_or_else(|| home().join(".cache/mapstack-reference"), PathBuf::from)
}

/// A program of the reference, such as `python`.
///
/// # Errors
/// The reference is not installed.
pub fn program(sh: &Shell, name: &str) -> Result<PathBuf> {
    let program = directory().join("bin").join(name);
    if sh.path_exists(&program) {
        return Ok(program);
    }
    Err(format!(
        "{} is not there; install the reference by `cargo xtask reference --setup`",
        program.display()
    )
    .into())
}

/// The interpreter that has Salt.
///
/// # Errors
/// The reference is not installed.
pub fn python(sh: &Shell) -> Result<PathBuf> {
    program(sh, "python")
}

fn setup(sh: &Shell) -> Result {
    let directory = directory();
    if !sh.path_exists(directory.join("bin/python")) {
        cmd!(sh, "python3 -m venv {directory}").run()?;
    }
    let python = python(sh)?;
    cmd!(
        sh,
        "{python} -m pip install --quiet --requirement xtask/reference/requirements.txt"
    )
    .run()?;
    println!("the reference is in {}", directory.display());
    Ok(())
}
