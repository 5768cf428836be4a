//! Functions of `file.*` and filters that read files. None of them writes.

use std::fs::{File, OpenOptions};
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use mapstack::value::Value;
use mapstack::{Call, CallError, regex_matches};
use mapstack_value::pytext::is_binary;
use nix::unistd::{AccessFlags, access};

use crate::host::args::{
    Result, only_path, os_error, path, path_value, real_path, required, text, text_or, truth_or,
};
use crate::host::find;
use crate::host::table::FunctionTable;

pub(crate) const TABLE: FunctionTable = &[
    ("file.access", may_access),
    ("file.contains", contains),
    ("file.contains_regex", contains_regex),
    ("file.directory_exists", |call| {
        Ok(only_path(call)?.is_dir().into())
    }),
    ("file.file_exists", |call| {
        Ok(only_path(call)?.is_file().into())
    }),
    ("file.is_link", is_link),
    ("file.path_exists_glob", path_exists_glob),
    ("file.read", read),
    ("file.readdir", readdir),
    ("file.readlink", readlink),
    ("is_bin_file", is_bin_file),
    ("is_empty", is_empty),
    ("is_text_file", is_text_file),
];

/// The largest file that is read, in bytes.
const LARGEST: u64 = 32 << 20;

/// Open a regular file. A device has no end, and a pipe would wait for a writer.
pub(crate) fn open(path: &Path) -> Result<File> {
    let failed = |e: std::io::Error| os_error(&e, path);
    let mut options = OpenOptions::new();
    let file = options
        .read(true)
        .custom_flags(nix::libc::O_NONBLOCK)
        .open(path)
        .map_err(failed)?;
    let kind = file.metadata().map_err(failed)?.file_type();
    if kind.is_dir() {
        return Err(failed(nix::errno::Errno::EISDIR.into()));
    }
    if !kind.is_file() {
        return Err(CallError::new(format!(
            "{} is a device or a pipe, which may have no end",
            path.display()
        )));
    }
    Ok(file)
}

fn bytes(path: &Path) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?
        .take(LARGEST + 1)
        .read_to_end(&mut bytes)
        .map_err(|e| os_error(&e, path))?;
    if bytes.len() as u64 > LARGEST {
        return Err(CallError::new(format!(
            "{} is larger than {} MiB",
            path.display(),
            LARGEST >> 20
        )));
    }
    Ok(bytes)
}

/// The text of a file; its line breaks stay as they are.
fn content(path: &Path) -> Result<String> {
    String::from_utf8(bytes(path)?).map_err(|e| {
        CallError::python(
            "UnicodeDecodeError",
            format!("{} is not UTF-8: {}", path.display(), e.utf8_error()),
        )
    })
}

fn read(call: &Call) -> Result<Value> {
    let [given, binary] = call.bind(["path", "binary"])?;
    // The reference does not expand `~` here.
    let path = text(given, call, "path")?;
    if binary == Some(Value::Bool(true)) {
        return Ok(Value::Bytes(bytes(Path::new(&path))?.into()));
    }
    Ok(content(Path::new(&path))?.into())
}

/// The text to search; `None` for files in which the reference finds nothing.
fn searched(path: &Path) -> Result<Option<String>> {
    if !path.exists() || path.is_dir() {
        return Ok(None);
    }
    match content(path) {
        Err(e) if e.class() == Some("PermissionError") => Ok(None),
        other => other.map(Some),
    }
}

fn contains(call: &Call) -> Result<Value> {
    let [given, wanted] = call.bind(["path", "text"])?;
    let wanted = required(wanted, call, "text")?.to_string();
    let text = searched(&path(given, call, "path")?)?;
    // The reference finds nothing in an empty file, not even an empty text.
    Ok(text
        .is_some_and(|text| !text.is_empty() && text.contains(wanted.trim()))
        .into())
}

fn contains_regex(call: &Call) -> Result<Value> {
    let [given, regex, lchar] = call.bind(["path", "regex", "lchar"])?;
    let regex = text(regex, call, "regex")?;
    let lchar = text_or(lchar, call, "lchar", "")?;
    let Some(text) = searched(&path(given, call, "path")?)? else {
        return Ok(false.into());
    };
    for line in lines(&text) {
        if regex_matches(
            &regex,
            line.trim_start_matches(|c| lchar.contains(c)),
            false,
            false,
        )? {
            return Ok(true.into());
        }
    }
    Ok(false.into())
}

/// Lines with their ends, as Python splits them: `\n`, `\r` or both.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let end = rest.find(['\n', '\r']).map_or(rest.len(), |i| {
            if rest[i..].starts_with("\r\n") {
                i + 2
            } else {
                i + 1
            }
        });
        let (line, after) = rest.split_at(end);
        rest = after;
        (!line.is_empty()).then_some(line)
    })
}

fn may_access(call: &Call) -> Result<Value> {
    let [given, mode] = call.bind(["path", "mode"])?;
    let path = path(given, call, "path")?;
    if !path.is_absolute() {
        return Err(CallError::new("Path to link must be absolute."));
    }
    let flags = match required(mode, call, "mode")? {
        Value::Str(mode) => match &*mode {
            "f" => Some(AccessFlags::F_OK),
            "r" => Some(AccessFlags::R_OK),
            "w" => Some(AccessFlags::W_OK),
            "x" => Some(AccessFlags::X_OK),
            _ => None,
        },
        mode => [
            AccessFlags::F_OK,
            AccessFlags::X_OK,
            AccessFlags::W_OK,
            AccessFlags::R_OK,
        ]
        .into_iter()
        .find(|flag| Value::from(flag.bits()) == mode),
    };
    let flags = flags.ok_or_else(|| CallError::new("Invalid mode specified."))?;
    Ok(access(&path, flags).is_ok().into())
}

fn is_link(call: &Call) -> Result<Value> {
    let [given, _nostat] = call.bind(["path", "nostat"])?;
    Ok(path(given, call, "path")?.is_symlink().into())
}

fn readlink(call: &Call) -> Result<Value> {
    let [given, canonicalize] = call.bind(["path", "canonicalize"])?;
    let path = path(given, call, "path")?;
    if !path.is_absolute() {
        return Err(CallError::new(format!(
            "Path to link must be absolute: {}",
            path.display()
        )));
    }
    if !path.is_symlink() {
        return Err(CallError::new(format!(
            "A valid link was not specified: {}",
            path.display()
        )));
    }
    if truth_or(canonicalize, false) {
        return Ok(path_value(&real_path(&path)));
    }
    Ok(path_value(
        &path.read_link().map_err(|e| os_error(&e, &path))?,
    ))
}

fn readdir(call: &Call) -> Result<Value> {
    let path = only_path(call)?;
    if !path.is_absolute() {
        return Err(CallError::new("Dir path must be absolute."));
    }
    if !path.is_dir() {
        return Err(CallError::new(format!(
            "A valid directory was not specified: {}",
            path.display()
        )));
    }
    // The reference does not sort them.
    let names = find::names_in(&path).map_err(|e| os_error(&e, &path))?;
    Ok([".".to_string(), "..".to_string()]
        .into_iter()
        .chain(names)
        .collect())
}

fn path_exists_glob(call: &Call) -> Result<Value> {
    Ok((!find::glob(&only_path(call)?)?.is_empty()).into())
}

fn is_empty(call: &Call) -> Result<Value> {
    let [filename] = call.bind(["filename"])?;
    let filename = text(filename, call, "filename")?;
    Ok(Path::new(&filename)
        .metadata()
        .is_ok_and(|m| m.len() == 0)
        .into())
}

fn is_text_file(call: &Call) -> Result<Value> {
    let [path, blocksize] = call.bind(["fp_", "blocksize"])?;
    let most = match blocksize {
        Some(Value::Int(n)) => n
            .to_i64()
            .and_then(|n| u64::try_from(n).ok())
            .unwrap_or(LARGEST)
            .min(LARGEST),
        _ => 512,
    };
    let start = start_of(Path::new(&text(path, call, "fp_")?), most);
    Ok(start.is_some_and(|start| !is_binary(&start)).into())
}

fn is_bin_file(call: &Call) -> Result<Value> {
    let [path] = call.bind(["path"])?;
    let start = start_of(Path::new(&text(path, call, "path")?), 2048);
    Ok(start.is_some_and(|start| is_binary(&start)).into())
}

fn start_of(path: &Path, most: u64) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path).ok()?.take(most).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}
