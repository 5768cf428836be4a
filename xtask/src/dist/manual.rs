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

/// Write a page for each verb to `man`, and a script for each shell to `completions`.
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
    let completions = workshop.fresh("completions")?;
    let command = workshop.programs()?.join(PROGRAMS[0].name);
    for (shell, file) in SHELLS {
        let script = cmd!(sh, "{command} completions {shell}").quiet().read()?;
        sh.write_file(completions.join(file), script + "\n")?;
    }
    Ok(())
}
