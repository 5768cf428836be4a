//! Finds the program that runs Python.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use mapstack_pyobject::{Error, ErrorKind, Result};

/// The variable that names the program.
const VARIABLE: &str = "MAPSTACK_PYTHON";

const HELP: &str = "build it with `cargo build -p mapstack-python` (with --release beside a release build) or install \
                    it beside mapstack or on the path, or name it in MAPSTACK_PYTHON";

/// The program `mapstack-python`: what `MAPSTACK_PYTHON` names, else beside this program, else on the path.
///
/// # Errors
/// It is in none of these places; the help says how to get it.
pub(super) fn find() -> Result<PathBuf> {
    if let Some(named) = std::env::var_os(VARIABLE).filter(|named| !named.is_empty()) {
        let named = PathBuf::from(named);
        let message = || format!("{VARIABLE} is {}, which does not exist", named.display());
        return if named.is_file() {
            Ok(named)
        } else {
            Err(absent(message()))
        };
    }
    let this = std::env::current_exe().ok();
    let beside = this.as_deref().map(neighbours).unwrap_or_default();
    let path = std::env::var_os("PATH").unwrap_or_default();
    beside
        .into_iter()
        .chain(on_path(&path))
        .find(|path| path.is_file())
        .ok_or_else(|| {
            absent(
                "Mako and Python templates need the program mapstack-python, which was not found"
                    .to_owned(),
            )
        })
}

fn absent(message: String) -> Box<Error> {
    Error::new(ErrorKind::Absent, message).with_help(HELP)
}

fn name() -> String {
    format!("mapstack-python{}", std::env::consts::EXE_SUFFIX)
}

/// The paths at which a program finds the other one: beside itself, or above, as Cargo lays out tests and examples.
fn neighbours(this: &Path) -> Vec<PathBuf> {
    let Some(own) = this.parent() else {
        return Vec::new();
    };
    let built = |dir: &&Path| {
        matches!(
            dir.file_name().and_then(OsStr::to_str),
            Some("deps" | "examples")
        )
    };
    let above = Some(own).filter(built).and_then(Path::parent);
    [Some(own), above]
        .into_iter()
        .flatten()
        .map(|dir| dir.join(name()))
        .collect()
}

/// The places on a path. Those that depend on the current directory do not count.
fn on_path(path: &OsStr) -> Vec<PathBuf> {
    std::env::split_paths(path)
        .filter(|dir| dir.is_absolute())
        .map(|dir| dir.join(name()))
        .collect()
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn it_is_looked_for_beside_and_on_the_path() {
        let beside = neighbours(Path::new("/t/debug/deps/some-test"));
        assert_eq!(
            beside,
            [
                Path::new("/t/debug/deps/mapstack-python"),
                Path::new("/t/debug/mapstack-python")
            ]
        );
        assert_eq!(
            neighbours(Path::new("/usr/bin/mapstack")),
            [Path::new("/usr/bin/mapstack-python")]
        );
        assert_eq!(
            on_path(OsStr::new("/a:.::b:/c")),
            [
                Path::new("/a/mapstack-python"),
                Path::new("/c/mapstack-python")
            ]
        );
    }
}
