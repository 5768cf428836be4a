//! Data on standard output, and texts in files.

use mapstack::value::{Path as KeyPath, Value};
use mapstack_report::values::{as_json, as_yaml, pick};

use crate::forms::{Format, Output};
use mapstack_frontend::console::Failure;
#[cfg(feature = "html")]
pub use mapstack_frontend::console::output::write_file;
pub use mapstack_frontend::console::output::{
    write, write_bytes, write_data, write_json, write_listing, write_styled,
};

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

/// Data as text.
pub fn text(value: &Value, format: Format) -> Result<String, Failure> {
    match format {
        Format::Yaml => Ok(as_yaml(value)),
        Format::Json => Ok(as_json(value)?),
    }
}
