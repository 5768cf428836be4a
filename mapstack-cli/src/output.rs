//! Data on standard output, and texts in files.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use mapstack::value::{Map, Path as KeyPath, Value, json};
use mapstack::{Error, ErrorKind, yaml};

use crate::cli::{Format, Output};
use crate::report::Failure;

/// Print data the way the user asked for.
pub fn print(value: &Value, output: &Output) -> Result<(), Failure> {
    let picked = match &output.get {
        Some(key) => pick(value, key)?,
        None => value.clone(),
    };
    write(&text(&picked, output.format)?)
}

/// Write text, whole or not at all as far as we can tell.
pub fn write(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(())
}

/// Write text to a file, or to standard output for `-`.
#[cfg(feature = "html")]
pub fn write_file(file: &Path, text: &str) -> Result<(), Failure> {
    if file == Path::new("-") {
        return write(text);
    }
    let failed = |e: io::Error| Error::new(ErrorKind::File, format!("cannot write {}: {e}", file.display()));
    fs::write(file, text).map_err(|e| Failure::Data(failed(e)))
}

/// Change a file that is there: written beside it and moved over it, as half a file would be worse
/// than none.
pub fn replace_file(file: &Path, text: &str) -> io::Result<()> {
    let real = fs::canonicalize(file)?;
    let mut written = tempfile::NamedTempFile::new_in(real.parent().unwrap_or(Path::new(".")))?;
    written.write_all(text.as_bytes())?;
    written.as_file().set_permissions(fs::metadata(&real)?.permissions())?;
    written.persist(&real).map_err(|e| e.error)?;
    Ok(())
}

/// Data as text.
pub fn text(value: &Value, format: Format) -> Result<String, Failure> {
    match format {
        Format::Yaml => Ok(as_yaml(value)),
        Format::Json => as_json(value),
    }
}

/// An object for programs.
pub fn object<const N: usize>(entries: [(&str, Value); N]) -> Value {
    Value::from(entries.into_iter().collect::<Map>())
}

/// A number for programs.
pub fn number(n: usize) -> Value {
    i64::try_from(n).unwrap_or(i64::MAX).into()
}

/// So many of something.
pub fn count(n: usize, one: &str) -> String {
    format!("{n} {one}{}", if n == 1 { "" } else { "s" })
}

/// YAML that Salt's loader reads back.
pub fn as_yaml(value: &Value) -> String {
    yaml::dump(value, &yaml::DumpOptions::output())
}

/// JSON for people and programs: indented, and text as it is, as Salt's own outputter prints it.
pub fn as_json(value: &Value) -> Result<String, Failure> {
    let options = json::DumpOptions { indent: Some(2), ensure_ascii: false, ..json::DumpOptions::default() };
    let text = json::dumps(value, &options)
        .map_err(|e| Error::new(ErrorKind::DataSource, format!("the result has no JSON form: {e}")))?;
    Ok(text + "\n")
}

fn pick(value: &Value, key: &str) -> Result<Value, Failure> {
    let path = KeyPath::split(key, ":").map_err(|e| Failure::Usage(e.to_string()))?;
    yaml::traverse(value, &path).ok_or_else(|| nothing_under(value, key, ""))
}

/// The failure to find a key in a value, which is what a path leads to.
pub fn nothing_under(value: &Value, key: &str, path: &str) -> Failure {
    let whole = if path.is_empty() { "the result".into() } else { format!("'{path}'") };
    let mut message = format!("{whole} has nothing under '{key}'");
    let names: Vec<String> = value.as_map().map(|m| m.keys().map(ToString::to_string).collect()).unwrap_or_default();
    if let Some(near) = mapstack::nearest(key, &names) {
        message.push_str(&format!("; did you mean '{near}'?"));
    } else if !names.is_empty() {
        message.push_str(&format!("; it has {}", names.join(", ")));
    } else if let Some(items) = value.as_list() {
        message.push_str(&format!("; it is a list of {}", items.len()));
    }
    Failure::Data(Error::new(ErrorKind::Lookup, message))
}
