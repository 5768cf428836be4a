//! The project, from which every chore starts.

use std::error::Error;
use std::path::{Path, PathBuf};

use serde_json::Value;
use xshell::{Shell, cmd};

/// The result of a chore: nothing, or a message for the user.
pub type Result<T = ()> = std::result::Result<T, Box<dyn Error>>;

/// The directory of the workspace: the parent of this crate's.
pub fn project_root() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here)
}

/// The directory of cargo's builds.
pub fn target_directory(sh: &Shell) -> Result<PathBuf> {
    let metadata: Value = serde_json::from_str(
        &cmd!(sh, "cargo metadata --format-version 1 --no-deps")
            .quiet()
            .read()?,
    )?;
    Ok(metadata["target_directory"]
        .as_str()
        .ok_or("cargo metadata names no target directory")?
        .into())
}
