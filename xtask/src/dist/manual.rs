//! Manual pages and completions, which packages have and the command has not.

use xshell::cmd;

use super::workshop::{PROGRAMS, Workshop};
use crate::Result;

/// The shells that have completions, and what their files are called.
const SHELLS: [(&str, &str); 3] = [
    ("bash", "mapstack.bash"),
    ("zsh", "_mapstack"),
    ("fish", "mapstack.fish"),
];

/// The page of the program that people do not run.
const WORKER: &str = "crates/python/mapstack-python.1";

/// Write a page for each verb to `man`, with that of the program beside the command, and a script for each shell to `completions`.
///
/// # Errors
/// The program that makes the pages cannot be built, or a verb has no page.
pub fn write(workshop: &Workshop) -> Result {
    let (sh, man) = (workshop.sh, workshop.fresh("man")?);
    cmd!(
        sh,
        "cargo run --quiet --locked --package mapstack-cli --features manual --example manual -- {man}"
    )
    .run()?;
    sh.copy_file(WORKER, &man)?;
    let completions = workshop.fresh("completions")?;
    let command = workshop.programs()?.join(PROGRAMS[0].name);
    for (shell, file) in SHELLS {
        let script = cmd!(sh, "{command} completions {shell}").quiet().read()?;
        sh.write_file(completions.join(file), script + "\n")?;
    }
    Ok(())
}
