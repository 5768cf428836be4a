//! The `mapstack` command: arguments in, a verb of the `mapstack` library run, text out.

mod cli;
mod commands;
mod memory;
mod output;
mod report;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    let cli = match cli::Cli::try_parse() {
        Ok(cli) => cli,
        Err(refused) => return commands::refused(&refused, std::env::args_os()),
    };
    let reporter = report::Reporter::new(&cli.messages);
    reporter.finish(commands::run(&cli.command, &reporter))
}
