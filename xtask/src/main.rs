//! The project's own chores: `cargo xtask ci`, `tidy`, `crates`, `reference`, `corpus`, `jinja-suite`, `mako-suite`, `origins`,
//! `bench` and `dist`.
//!
//! It depends on no crate of the product, and does not know about values, layers or templates: it
//! runs `cargo`, Python and the built programs, and reads what they print.

mod bench;
mod ci;
mod corpus;
mod crates;
mod dist;
mod jinja_suite;
mod mako_suite;
mod origins;
mod project;
mod reference;
mod suite;
mod tidy;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use xshell::Shell;

use project::{Result, project_root, target_directory};

/// The project's own chores.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Cli {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Subcommand)]
enum Chore {
    /// Everything a change has to pass
    Ci(ci::Args),
    /// Check the rules of the house that no compiler checks
    Tidy(tidy::Args),
    /// Write the table of docs/crates.md
    Crates(crates::Args),
    /// Install real Salt, record again what it does, compare with it
    Reference(reference::Args),
    /// Compare with the reference over checkouts of public formulas
    Corpus(corpus::Args),
    /// Compare with Salt what Jinja's own tests render
    JinjaSuite(suite::Args),
    /// Compare with Mako what its own tests render
    MakoSuite(suite::Args),
    /// Check every place that `explain` names: the value must be there
    Origins(origins::Args),
    /// Measure against the reference and against the floor
    Bench(bench::Args),
    /// Make every package, and install and run each
    Dist(dist::Args),
}

fn main() -> ExitCode {
    match run(&Cli::parse().chore) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(chore: &Chore) -> Result {
    let sh = Shell::new()?;
    sh.change_dir(project_root());
    match chore {
        Chore::Ci(args) => ci::run(&sh, args),
        Chore::Tidy(args) => tidy::run(&sh, args),
        Chore::Crates(args) => crates::run(&sh, args),
        Chore::Reference(args) => reference::run(&sh, args),
        Chore::Corpus(args) => corpus::run(&sh, args),
        Chore::JinjaSuite(args) => jinja_suite::SUITE.run(&sh, args),
        Chore::MakoSuite(args) => mako_suite::SUITE.run(&sh, args),
        Chore::Origins(args) => origins::run(&sh, args),
        Chore::Bench(args) => bench::run(&sh, args),
        Chore::Dist(args) => dist::run(&sh, args),
    }
}
