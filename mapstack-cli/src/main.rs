//! The `mapstack` command: arguments in, a verb of the `mapstack` library run, text out.

mod cli;
mod commands;
mod memory;
mod output;

use std::process::ExitCode;

fn main() -> ExitCode {
    let invocation = match cli::Cli::read() {
        Ok(invocation) => invocation,
        Err(refused) => return commands::refused(&refused, std::env::args_os()),
    };
    if invocation.strict_sandbox {
        mapstack::sandbox::require_walls();
    }
    let reporter = mapstack_console::Reporter::new(&invocation.messages);
    reporter.finish(commands::run(
        invocation.asked,
        &invocation.messages.secrets,
        &reporter,
    ))
}
