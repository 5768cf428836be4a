//! Data on standard output, and texts in files.

use std::borrow::Cow;
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

/// Write lines for people. What facts and files put into them must not steer the terminal.
pub fn write_listing(text: &str) -> Result<(), Failure> {
    write(&printable(text, false))
}

/// The same for text that has styles where it is `colored`.
pub fn write_styled(text: &str, colored: bool) -> Result<(), Failure> {
    write(&printable(text, colored))
}

/// The text with control characters as escapes, and so those that turn the direction of what follows; styles stay
/// where there are some.
fn printable(text: &str, styled: bool) -> Cow<'_, str> {
    let is_bad = |c: char| !matches!(c, '\n' | '\t') && (c.is_control() || turns(c));
    if !text.contains(is_bad) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for (at, c) in text.char_indices() {
        match c {
            c if !is_bad(c) || (styled && starts_style(&text[at..])) => out.push(c),
            c if c.is_ascii() => out.push_str(&format!("\\x{:02x}", u32::from(c))),
            c => out.push_str(&format!("\\u{:04x}", u32::from(c))),
        }
    }
    Cow::Owned(out)
}

/// Whether a text starts with the sequence that sets colours, which does nothing else.
fn starts_style(text: &str) -> bool {
    let parameters = text.strip_prefix("\u{1b}[");
    parameters.is_some_and(|rest| {
        rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == ';')
            .starts_with('m')
    })
}

/// Whether a character turns the direction of text.
pub fn turns(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
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
    // As any new file it can be read by whom the process lets, other than a file for secrets.
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
    let options = json::DumpOptions {
        indent: Some(2),
        ensure_ascii: false,
        ..json::DumpOptions::default()
    };
    let text = json::dumps(value, &options).map_err(|e| {
        Error::new(
            ErrorKind::DataSource,
            format!("the result has no JSON form: {e}"),
        )
    })?;
    Ok(text + "\n")
}

fn pick(value: &Value, key: &str) -> Result<Value, Failure> {
    let path = KeyPath::split(key, ":").map_err(|e| Failure::Usage(e.to_string()))?;
    yaml::traverse(value, &path).ok_or_else(|| nothing_under(value, key, ""))
}

/// The failure to find a key in a value, which is what a path leads to.
pub fn nothing_under(value: &Value, key: &str, path: &str) -> Failure {
    let whole = if path.is_empty() {
        "the result".into()
    } else {
        format!("'{path}'")
    };
    let mut message = format!("{whole} has nothing under '{key}'");
    let names: Vec<String> = value
        .as_map()
        .map(|m| m.keys().map(ToString::to_string).collect())
        .unwrap_or_default();
    if let Some(near) = mapstack::nearest(key, &names) {
        message.push_str(&format!("; did you mean '{near}'?"));
    } else if !names.is_empty() {
        message.push_str(&format!("; it has {}", names.join(", ")));
    } else if let Some(items) = value.as_list() {
        message.push_str(&format!("; it is a list of {}", items.len()));
    }
    Failure::Data(Error::new(ErrorKind::Lookup, message))
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

    #[test]
    fn nothing_but_styles_steers_the_terminal() {
        let text = "\u{1b}[1mbold\u{1b}[0m \u{1b}[2J\u{1b}]0;title\u{7} a\tb \u{9b}1m \u{202e}x\n";
        let safe = "bold{0m} \\x1b[2J\\x1b]0;title\\x07 a\tb \\u009b1m \\u202ex\n";
        assert_eq!(
            printable(text, true),
            format!("\u{1b}[1m{}", safe.replace("{0m}", "\u{1b}[0m"))
        );
        assert_eq!(
            printable(text, false),
            format!("\\x1b[1m{}", safe.replace("{0m}", "\\x1b[0m"))
        );
        assert!(matches!(printable("plain\n", false), Cow::Borrowed(_)));
    }
}
