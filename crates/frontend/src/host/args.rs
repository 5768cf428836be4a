//! Arguments of calls as what functions want of them, and errors as Python raises them.

use std::io;
use std::path::{Path, PathBuf};

use mapstack::value::{Key, Map, Value};
use mapstack::{Call, CallError, Means};

pub(crate) type Result<T, E = CallError> = std::result::Result<T, E>;

/// An argument without which the call makes no sense.
pub(crate) fn required(argument: Option<Value>, call: &Call, name: &str) -> Result<Value> {
    argument.ok_or_else(|| {
        let message = format!(
            "{}() missing 1 required positional argument: '{name}'",
            call.name
        );
        CallError::python("TypeError", message)
    })
}

/// An argument that has to be text.
pub(crate) fn text(argument: Option<Value>, call: &Call, name: &str) -> Result<String> {
    match required(argument, call, name)? {
        Value::Str(text) => Ok(text.to_string()),
        other => {
            let message = format!(
                "{}(): argument '{name}' must be text, not {}",
                call.name,
                other.kind().described()
            );
            Err(CallError::python("TypeError", message))
        }
    }
}

/// An optional argument that has to be text.
pub(crate) fn text_or(
    argument: Option<Value>,
    call: &Call,
    name: &str,
    default: &str,
) -> Result<String> {
    if argument.is_none() {
        Ok(default.into())
    } else {
        text(argument, call, name)
    }
}

/// An optional argument's truth.
pub(crate) fn truth_or(argument: Option<Value>, default: bool) -> bool {
    argument.map_or(default, |value| value.truthy())
}

/// An argument that is a path; `~` is the home directory.
pub(crate) fn path(argument: Option<Value>, call: &Call, name: &str) -> Result<PathBuf> {
    Ok(expand_home(&text(argument, call, name)?))
}

/// The one path a function is called with.
pub(crate) fn only_path(call: &Call) -> Result<PathBuf> {
    let [given] = call.bind(["path"])?;
    path(given, call, "path")
}

/// `os.path.expanduser`, for one's own home.
pub(crate) fn expand_home(path: &str) -> PathBuf {
    match path.strip_prefix('~') {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => home().map_or_else(
            || path.into(),
            |home| format!("{}{rest}", home.trim_end_matches('/')).into(),
        ),
        _ => path.into(),
    }
}

/// The home directory of the user.
pub(crate) fn home() -> Option<String> {
    std::env::var("HOME").ok().filter(|home| !home.is_empty())
}

/// `os.path.realpath`: with links followed, as far as there are files.
pub(crate) fn real_path(path: &Path) -> PathBuf {
    let mut path = path.to_path_buf();
    for _ in 0..40 {
        if let Ok(found) = path.canonicalize() {
            return found;
        }
        let Some(parent) = path.parent() else { break };
        let Ok(target) = path.read_link() else { break };
        path = parent.join(target);
    }
    match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) => parent
            .canonicalize()
            .unwrap_or_else(|_| parent.into())
            .join(name),
        _ => path,
    }
}

/// A path as a value.
pub(crate) fn path_value(path: &Path) -> Value {
    path.to_string_lossy().into_owned().into()
}

/// Entries as a mapping in this order.
pub(crate) fn map<const N: usize>(entries: [(&str, Value); N]) -> Value {
    entries.into_iter().collect::<Map>().into()
}

/// The result of Salt's `split_input` for an argument that is a list or a comma-separated text.
pub(crate) fn listed(value: &Value) -> Vec<String> {
    match value {
        Value::List(items) => items.iter().map(ToString::to_string).collect(),
        Value::Tuple(items) => items.iter().map(ToString::to_string).collect(),
        Value::None => Vec::new(),
        other => other
            .to_string()
            .split(',')
            .map(|part| part.trim().to_string())
            .filter(|p| !p.is_empty())
            .collect(),
    }
}

/// A mapping given as one, or as a list of mappings with one key.
pub(crate) fn pairs(value: &Value) -> Vec<(String, Value)> {
    let text = |(key, value): (&Key, &Value)| (key.to_string(), value.clone());
    match value {
        Value::Map(map) => map.iter().map(text).collect(),
        Value::List(items) => items
            .iter()
            .filter_map(Value::as_map)
            .flat_map(Map::iter)
            .map(text)
            .collect(),
        _ => Vec::new(),
    }
}

/// An argument that is understood but cannot be honoured.
pub(crate) fn unsupported(call: &Call, argument: &str) -> CallError {
    CallError::new(format!(
        "{}: the argument '{argument}' is not supported here",
        call.name
    ))
    .with_help(format!(
        "leave it out, or write the answer down with {}",
        Means::Stub
    ))
}

/// Python's exception for a failed system call.
pub(crate) fn os_error(e: &io::Error, path: &Path) -> CallError {
    let class = match e.kind() {
        io::ErrorKind::NotFound => "FileNotFoundError",
        io::ErrorKind::PermissionDenied => "PermissionError",
        io::ErrorKind::IsADirectory => "IsADirectoryError",
        io::ErrorKind::NotADirectory => "NotADirectoryError",
        _ => "OSError",
    };
    let shown = mapstack::value::quote_str(&path.to_string_lossy());
    CallError::python(class, format!("{}: {shown}", errno(e)))
}

/// `[Errno 2] No such file or directory`
pub(crate) fn errno(e: &io::Error) -> String {
    match e.raw_os_error() {
        Some(number) => format!(
            "[Errno {number}] {}",
            nix::errno::Errno::from_raw(number).desc()
        ),
        None => e.to_string(),
    }
}
