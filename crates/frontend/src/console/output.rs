//! Texts on standard output and in files.

use std::io::{self, IsTerminal as _, Write};
use std::path::Path;

use mapstack::{Error, ErrorKind};
use mapstack_report::document::Document;
use mapstack_report::terminal::{Styled, printable};

use crate::budget::RUN;
use crate::console::Failure;

/// Write text, completely or not at all.
///
/// # Errors
/// It cannot be written.
pub fn write(text: &str) -> Result<(), Failure> {
    write_bytes(text.as_bytes())
}

/// Write bytes, completely or not at all.
///
/// # Errors
/// They cannot be written.
pub fn write_bytes(bytes: &[u8]) -> Result<(), Failure> {
    RUN.wait(|| {
        let mut out = io::stdout().lock();
        out.write_all(bytes)?;
        out.flush()?;
        Ok(())
    })
}

/// Write a text that is data: as it is to files and programs. What it contains must not steer a terminal.
///
/// # Errors
/// It cannot be written.
pub fn write_data(text: &str) -> Result<(), Failure> {
    match io::stdout().is_terminal() {
        true => write_listing(text),
        false => write(text),
    }
}

/// Write lines for people. What facts and files put into them must not steer the terminal.
///
/// # Errors
/// It cannot be written.
pub fn write_listing(text: &str) -> Result<(), Failure> {
    write(&printable(text))
}

/// The same for text with styles, which are left out unless it is `colored`.
///
/// # Errors
/// It cannot be written.
pub fn write_styled(text: &Styled, colored: bool) -> Result<(), Failure> {
    write(&text.shown(colored))
}

/// Write a document as JSON.
///
/// # Errors
/// It cannot be written.
pub fn write_json(document: &impl Document) -> Result<(), Failure> {
    write(&document.json()?)
}

/// Write text to a file, or to standard output for `-`.
///
/// # Errors
/// It cannot be written.
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
    crate::outputs::replace(file, text).map_err(|e| Failure::Data(failed(e)))
}
