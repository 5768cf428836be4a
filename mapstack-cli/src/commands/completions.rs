//! `mapstack completions`.

use clap::CommandFactory;
use clap_complete::Shell;

use crate::cli::Cli;
use crate::output;
use mapstack_console::Failure;

pub fn run(shell: Shell) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "mapstack", &mut script);
    output::write(&String::from_utf8_lossy(&script))
}
