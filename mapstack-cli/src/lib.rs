//! The `mapstack` command: arguments in, a verb of the `mapstack` library run, text out.
//!
//! It is a library only so that its manual can be made without being part of it: see `examples/manual.rs`.

mod build;
mod cli;
mod commands;
mod forms;
mod memory;
mod output;
mod verbs;
mod wiring;

use std::process::ExitCode;

/// Run the command with the arguments of the process.
#[must_use]
pub fn main() -> ExitCode {
    let mut invocation = match cli::read() {
        Ok(invocation) => invocation,
        Err(refused) => return commands::refused(&refused, std::env::args_os()),
    };
    if invocation.strict_sandbox {
        mapstack::sandbox::require_walls();
    }
    let names = match &invocation.asked {
        cli::RequestedWork::Verb(command) if command.prints_data() => {
            invocation.messages.secrets.complete()
        }
        _ => Ok(()),
    };
    let reporter = mapstack_frontend::console::Reporter::new(&invocation.messages);
    if let Err(error) = names {
        return reporter.finish(Err(error.into()));
    }
    reporter.finish(commands::run(
        invocation.asked,
        &invocation.messages.secrets,
        &reporter,
    ))
}

/// The definition of the command line.
#[must_use]
pub fn definition() -> clap::Command {
    cli::definition()
}
