//! The `mapstack` command: arguments in, a verb of the `mapstack` library run, text out.

mod cli;
mod commands;
mod configuration;
mod functions;
mod inputs;
mod masking;
mod minions;
mod output;
mod report;
mod secrets;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    let cli = cli::Cli::parse();
    let reporter = report::Reporter::new(&cli.messages);
    reporter.finish(commands::run(&cli.command, &reporter))
}
