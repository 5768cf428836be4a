//! Data on standard output, and texts in files.

use std::io::{self, Write};
use std::path::Path;

use mapstack::value::{Path as KeyPath, Value};
use mapstack::{Error, ErrorKind};
use mapstack_report::document::Document;
use mapstack_report::terminal::printable;
use mapstack_report::values::{as_json, as_yaml, pick};

use crate::cli::{Format, Output};
use mapstack_console::Failure;

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

/// Write text, completely or not at all.
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

/// Write a document as JSON.
pub fn write_json(document: &impl Document) -> Result<(), Failure> {
    write(&document.json()?)
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
    mapstack_outputs::replace(file, text).map_err(|e| Failure::Data(failed(e)))
}

/// Data as text.
pub fn text(value: &Value, format: Format) -> Result<String, Failure> {
    match format {
        Format::Yaml => Ok(as_yaml(value)),
        Format::Json => Ok(as_json(value)?),
    }
}
