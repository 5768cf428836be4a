//! `mapstack completions`.

use clap::Args;
use clap_complete::Shell;

use crate::cli;
use crate::output;
use mapstack_frontend::console::Failure;

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  mapstack completions bash > ~/.local/share/bash-completion/completions/mapstack")]
pub struct Completions {
    /// The shell
    pub shell: Shell,
}

pub fn run(args: &Completions) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut cli::definition(), "mapstack", &mut script);
    output::write(&String::from_utf8_lossy(&script))
}
