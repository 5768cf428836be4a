//! Data on standard output, and texts in files.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use mapstack::value::{Path as KeyPath, Value};
use mapstack::{Error, ErrorKind};
use mapstack_report::terminal::printable;
use mapstack_report::values::{as_json, as_yaml, pick};

use crate::cli::{Format, Output};
use crate::report::Failure;

/// Print data the way the user asked for.
pub fn print(value: &Value, output: &Output) -> Result<(), Failure> {
    let picked = match &output.get {
        Some(key) => pick(value, key, &key_path(key)?)?,
        None => value.clone(),
    };
    write(&text(&picked, output.format)?)
}

/// The path that a key with colons is.
pub fn key_path(key: &str) -> Result<KeyPath, Failure> {
    KeyPath::split(key, ":").map_err(|e| Failure::Usage(e.to_string()))
}

/// Write text, whole or not at all as far as we can tell.
pub fn write(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(())
}

/// Write lines for people. What facts and files put into them must not steer the terminal.
pub fn write_listing(text: &str) -> Result<(), Failure> {
    write(&printable(text, false))
}

/// The same for text that has styles where it is `colored`.
pub fn write_styled(text: &str, colored: bool) -> Result<(), Failure> {
    write(&printable(text, colored))
}

/// Write data as JSON.
pub fn write_json(value: &Value) -> Result<(), Failure> {
    write(&as_json(value)?)
}

/// Write text to a file, or to standard output for `-`.
#[cfg(feature = "html")]
pub fn write_file(file: &Path, text: &str) -> Result<(), Failure> {
    if file == Path::new("-") {
        return write(text);
    }
    let failed = |e: io::Error| {
        Error::new(
            ErrorKind::File,
            format!("cannot write {}: {e}", file.display()),
        )
    };
    put_file(file, text).map_err(|e| Failure::Data(failed(e)))
}

/// Write a file as a whole: beside the one that is there and then moved over it, as half a file would be worse
/// than the old one. Every file that is written goes through here.
///
/// A link stays one, and what it leads to is replaced; its permissions stay as well. What is no regular file, such
/// as a pipe, is written to.
pub fn put_file(file: &Path, text: &str) -> io::Result<()> {
    let there = match fs::metadata(file) {
        // What such a thing is called by its links need not be a path: `/dev/stdout` is a pipe without one.
        Ok(there) if !there.is_file() => return fs::write(file, text),
        Ok(there) => Some(there),
        Err(e) if e.kind() == io::ErrorKind::NotFound && !file.is_symlink() => None,
        Err(e) => return Err(e),
    };
    let real = if there.is_some() {
        fs::canonicalize(file)?
    } else {
        file.to_owned()
    };
    let directory = real
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    // As any new file it has the usual permissions, other than a file for secrets.
    let create = |path: &Path| {
        fs::OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(path)
    };
    let mut written = tempfile::Builder::new()
        .prefix(".mapstack-")
        .suffix(".new")
        .make_in(directory, create)?;
    written.write_all(text.as_bytes())?;
    if let Some(there) = there {
        written.as_file().set_permissions(there.permissions())?;
    }
    written.persist(&real).map_err(|e| e.error)?;
    Ok(())
}

/// Data as text.
pub fn text(value: &Value, format: Format) -> Result<String, Failure> {
    match format {
        Format::Yaml => Ok(as_yaml(value)),
        Format::Json => Ok(as_json(value)?),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_as_a_whole() {
        let home = tempfile::tempdir().unwrap();
        let at = |name: &str| home.path().join(name);
        put_file(&at("new"), "1").unwrap();
        assert_eq!(fs::read_to_string(at("new")).unwrap(), "1");
        // Who has the old file open, or another name of it, keeps all of it.
        fs::hard_link(at("new"), at("old")).unwrap();
        put_file(&at("new"), "2").unwrap();
        assert_eq!(fs::read_to_string(at("new")).unwrap(), "2");
        assert_eq!(fs::read_to_string(at("old")).unwrap(), "1");
        // What cannot be written leaves nothing behind.
        fs::create_dir(at("folder")).unwrap();
        put_file(&at("folder"), "3").unwrap_err();
        let absent = put_file(&at("absent/file"), "3").unwrap_err();
        assert!(!absent.to_string().contains("mapstack-"), "{absent}");
        assert_eq!(home.path().read_dir().unwrap().count(), 3);
    }

    #[cfg(unix)]
    #[test]
    fn links_and_permissions_stay() {
        use std::os::unix::fs::{PermissionsExt as _, symlink};

        let home = tempfile::tempdir().unwrap();
        let at = |name: &str| home.path().join(name);
        let mode = |name: &str| fs::metadata(at(name)).unwrap().permissions().mode() & 0o777;
        fs::write(at("plain"), "").unwrap();
        put_file(&at("file"), "1").unwrap();
        assert_eq!(
            mode("file"),
            mode("plain"),
            "a new file has what any new file has"
        );
        fs::set_permissions(at("file"), fs::Permissions::from_mode(0o640)).unwrap();
        symlink("file", at("link")).unwrap();
        put_file(&at("link"), "2").unwrap();
        assert!(at("link").is_symlink());
        assert_eq!(
            (fs::read_to_string(at("file")).unwrap(), mode("file")),
            ("2".into(), 0o640)
        );
        symlink("nowhere", at("dangling")).unwrap();
        put_file(&at("dangling"), "3").unwrap_err();
        assert!(!at("nowhere").exists());
    }
}
