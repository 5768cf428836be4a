//! `mapstack --version`.

use mapstack::sandbox::{self, Walls};

use crate::output;
use mapstack_console::Failure;

pub fn run(verbose: bool) -> Result<(), Failure> {
    let mut text = format!("mapstack {}\n", env!("CARGO_PKG_VERSION"));
    if verbose {
        text += &built();
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

/// The commit of a program that was built in a checkout.
const COMMIT: Option<&str> = option_env!("MAPSTACK_COMMIT");

/// The version with the commit, as parts of different builds are not to be mixed.
pub fn of_build() -> String {
    let version = env!("CARGO_PKG_VERSION");
    COMMIT.map_or(version.to_owned(), |commit| format!("{version} {commit}"))
}

/// What the program was made of.
fn built() -> String {
    let commit = COMMIT.unwrap_or("not built in a checkout");
    let features = [
        ("fetch", cfg!(feature = "fetch")),
        ("git", cfg!(feature = "git")),
        ("html", cfg!(feature = "html")),
        ("tera", cfg!(feature = "tera")),
    ];
    let features = features.iter().filter(|(_, is_there)| *is_there);
    let features: Vec<&str> = features.map(|(name, _)| *name).collect();
    format!(
        "commit: {commit}\nfeatures: {}\nequals: Salt {}\n",
        features.join(", "),
        mapstack::minion::builtin::salt_version()
    )
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
