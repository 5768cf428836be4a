//! Writes the manual pages of the command, one for each verb, to a directory.
//!
//! `cargo run -p mapstack-cli --features manual --example manual -- DIRECTORY`

use std::error::Error;
use std::path::PathBuf;

fn main() -> Result<(), Box<dyn Error>> {
    let directory = std::env::args_os().nth(1).map(PathBuf::from);
    let directory = directory.ok_or("the directory for the pages is missing")?;
    std::fs::create_dir_all(&directory)?;
    // Packages have the pages, so they do not have a day on them that differs from build to build.
    let command = mapstack_cli::definition().version(env!("CARGO_PKG_VERSION"));
    clap_mangen::generate_to(command, directory)?;
    Ok(())
}
