//! Reading files within a limit.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use mapstack::{Error, ErrorKind, yaml};

/// Larger files are a mistake.
const MAX_BYTES: u64 = 64 << 20;

/// The bytes of a file.
pub(crate) fn bytes(file: &Path) -> Result<Vec<u8>, Error> {
    let failed = |e: std::io::Error| {
        Error::new(
            ErrorKind::File,
            format!("cannot read {}: {e}", file.display()),
        )
    };
    let mut bytes = Vec::new();
    File::open(file)
        .map_err(failed)?
        .take(MAX_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(failed)?;
    if bytes.len() as u64 > MAX_BYTES {
        let message = format!("{} is larger than {} MiB", file.display(), MAX_BYTES >> 20);
        return Err(Error::new(ErrorKind::Limit, message));
    }
    Ok(bytes)
}

/// The text of a file.
pub(crate) fn text(file: &Path) -> Result<String, Error> {
    let bytes = bytes(file)?;
    let text = yaml::decode(&bytes).map_err(|e| {
        Error::new(
            ErrorKind::Yaml,
            format!("{} is not text: {e}", file.display()),
        )
    })?;
    Ok(text.to_owned())
}

/// The entries of a directory, sorted by name; nothing if it is not a directory.
pub(crate) fn entries(directory: &Path) -> Result<Vec<PathBuf>, Error> {
    let failed = |e: std::io::Error| {
        Error::new(
            ErrorKind::File,
            format!("cannot read {}: {e}", directory.display()),
        )
    };
    if !directory.is_dir() {
        return Ok(Vec::new());
    }
    let listed = directory.read_dir().map_err(failed)?;
    let mut found = listed
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<Vec<_>, _>>()
        .map_err(failed)?;
    found.sort();
    Ok(found)
}

pub(crate) fn name(path: &Path) -> String {
    path.file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default()
}
