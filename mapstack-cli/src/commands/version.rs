//! `mapstack --version`.

use mapstack::sandbox::{self, Walls};

use crate::output;
use mapstack_console::Failure;

pub fn run(verbose: bool) -> Result<(), Failure> {
    let mut text = format!("mapstack {}\n", env!("CARGO_PKG_VERSION"));
    if verbose {
        text += &match sandbox::walls() {
            Ok(found) => describe(&found),
            Err(why) => format!(
                "mapstack-python: {}\n  help: {}\n",
                why.message,
                why.help
                    .as_deref()
                    .unwrap_or("run it by itself, which may say more")
            ),
        };
    }
    output::write_listing(&text)
}

/// The program that runs Python, and the walls around it.
fn describe(found: &Walls) -> String {
    let program = found.program.display();
    let mut text = format!("mapstack-python {} in {program}\n", found.release);
    for (wall, missing) in &found.walls {
        text += &match missing {
            None => format!("  stands: {wall}\n"),
            Some(why) => format!("  missing: {wall}: {why}\n"),
        };
    }
    text
}
