//! Looking through directories: `file.find` as far as it only looks, and the filter `list_files`.

use std::io;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use mapstack::value::{Key, Value};
use mapstack::{Call, CallError, regex_matches, regex_of_name, types_of_files};

use crate::host::args::{Result, expand_home, path_value, required, text, unsupported};
use crate::host::table::FunctionTable;

pub(crate) const TABLE: FunctionTable = &[("file.find", find), ("list_files", list_files)];

/// Entries that one call looks at.
const MAX_ENTRIES: usize = 500_000;

/// The names in a directory, sorted.
pub(crate) fn names_in(directory: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in directory.read_dir()? {
        names.push(entry?.file_name().to_string_lossy().into_owned());
    }
    names.sort_unstable();
    Ok(names)
}

/// The paths that a shell-like pattern matches (`glob.glob`).
pub(crate) fn glob(pattern: &Path) -> Result<Vec<PathBuf>> {
    let text = pattern.to_string_lossy();
    if !text.contains(['*', '?', '[']) {
        return Ok(if pattern.symlink_metadata().is_ok() {
            vec![pattern.to_path_buf()]
        } else {
            Vec::new()
        });
    }
    let options = glob::MatchOptions {
        require_literal_separator: true,
        require_literal_leading_dot: true,
        ..Default::default()
    };
    // A text that the reference cannot read as a pattern matches nothing.
    let Ok(paths) = glob::glob_with(&text, options) else {
        return Ok(Vec::new());
    };
    let mut found = Vec::new();
    for path in paths.flatten() {
        enough(found.len())?;
        found.push(path);
    }
    Ok(found)
}

fn enough(entries: usize) -> Result<()> {
    if entries < MAX_ENTRIES {
        return Ok(());
    }
    Err(
        CallError::new(format!("more than {MAX_ENTRIES} files were found"))
            .with_help("start in a smaller directory"),
    )
}

/// A property of the files to find.
enum Criterion {
    Name { regex: String, ignore_case: bool },
    Kind(String),
    Size { least: u64, most: u64 },
}

impl Criterion {
    /// An option of `file.find`, or why the call is wrong, in the reference's words.
    fn new(call: &Call, option: &str, value: &Value) -> Result<Result<Self, String>> {
        if !value.truthy() {
            return Ok(Err(format!("missing value for \"{option}\" option")));
        }
        let value = value.to_string();
        let ignore_case = option.starts_with('i');
        Ok(Ok(match option {
            "name" | "iname" => Criterion::Name {
                regex: regex_of_name(&value),
                ignore_case,
            },
            "regex" | "iregex" => {
                if regex_matches(&value, "", ignore_case, true).is_err() {
                    return Ok(Err(format!("invalid regular expression: \"{value}\"")));
                }
                Criterion::Name {
                    regex: value,
                    ignore_case,
                }
            }
            "type" => match types_of_files(&value) {
                Ok(kinds) => Criterion::Kind(kinds),
                Err(why) => return Ok(Err(why)),
            },
            "size" => match size(&value) {
                Some((least, most)) => Criterion::Size { least, most },
                None => return Ok(Err(format!("invalid size: \"{value}\""))),
            },
            "owner" | "group" | "mtime" | "grep" | "print" | "delete" | "exec" | "test" => {
                return Err(unsupported(call, option));
            }
            _ => return Ok(Err(format!("invalid option \"{option}\""))),
        }))
    }

    fn fits(&self, path: &Path, name: &str) -> Result<bool> {
        Ok(match self {
            Criterion::Name { regex, ignore_case } => {
                regex_matches(regex, name, *ignore_case, true)?
            }
            Criterion::Kind(kinds) => kind(path).is_some_and(|kind| kinds.contains(kind)),
            Criterion::Size { least, most } => {
                let metadata = path.metadata().or_else(|_| path.symlink_metadata());
                metadata.is_ok_and(|m| (*least..=*most).contains(&m.len()))
            }
        })
    }
}

/// The letter of a file's type; a link counts as what it leads to.
fn kind(path: &Path) -> Option<char> {
    let kind = path
        .metadata()
        .or_else(|_| path.symlink_metadata())
        .ok()?
        .file_type();
    let kinds = [
        (kind.is_file(), 'f'),
        (kind.is_dir(), 'd'),
        (kind.is_symlink(), 'l'),
        (kind.is_fifo(), 'p'),
        (kind.is_socket(), 's'),
        (kind.is_block_device(), 'b'),
        (kind.is_char_device(), 'c'),
    ];
    kinds
        .into_iter()
        .find(|(is, _)| *is)
        .map(|(_, letter)| letter)
}

/// `10k`, `+1m`, `-5`: the least and the most bytes.
fn size(text: &str) -> Option<(u64, u64)> {
    let text = text.trim();
    let (style, scalar) = match text.chars().next() {
        Some(sign @ ('+' | '-')) => (sign, &text[1..]),
        _ => ('=', text),
    };
    let unit = |c: char| Some(1u64 << (10 * "bkmgt".find(c.to_ascii_lowercase())?));
    let (number, unit) = match scalar.chars().last().and_then(unit) {
        Some(unit) => (scalar[..scalar.len() - 1].trim(), unit),
        None => (scalar, 1),
    };
    let bytes = match number.parse::<u64>() {
        Ok(n) => n.checked_mul(unit)?,
        // A size with a fraction is cut down to bytes.
        Err(_) => number
            .parse::<f64>()
            .ok()
            .filter(|n| *n >= 0.0)
            .map(|n| (n * unit as f64) as u64)?,
    };
    Some(match style {
        '+' => (bytes, u64::MAX),
        '-' => (0, bytes),
        _ => (bytes, bytes.saturating_add(unit - 1)),
    })
}

fn find(call: &Call) -> Result<Value> {
    let Some((start, actions)) = call.args.split_first() else {
        return required(None, call, "path");
    };
    let start = expand_home(&text(Some(start.clone()), call, "path")?);
    if let Some(action) = actions
        .iter()
        .find(|action| matches!(action.as_str(), Some("delete" | "print")))
    {
        return Err(unsupported(call, &action.to_string()));
    }
    let (mut criteria, mut least, mut most) = (Vec::new(), 0, i64::MAX);
    for (option, value) in &call.kwargs {
        match (option, value) {
            (Key::Str(name), Value::Int(depth)) if **name == *"mindepth" => {
                least = depth.to_i64().unwrap_or(i64::MAX);
            }
            (Key::Str(name), Value::Int(depth)) if **name == *"maxdepth" => {
                most = depth.to_i64().unwrap_or(i64::MAX);
            }
            (Key::Str(name), Value::None) if **name == *"maxdepth" => {}
            (Key::Str(name), _) if name.starts_with('_') => {}
            (name, value) => match Criterion::new(call, &name.to_string(), value)? {
                Ok(criterion) => criteria.push(criterion),
                Err(problem) => return Ok(format!("error: {problem}").into()),
            },
        }
    }
    let mut found: Vec<Value> = Vec::new();
    let mut looked_at = 0;
    for top in glob(&start)? {
        let mut check = |path: &Path, depth: i64| -> Result<()> {
            looked_at += 1;
            enough(looked_at)?;
            if depth < least {
                return Ok(());
            }
            let shown = path.to_string_lossy();
            let name = shown.rsplit('/').next().unwrap_or_default();
            for criterion in &criteria {
                if !criterion.fits(path, name)? {
                    return Ok(());
                }
            }
            found.push(path_value(path));
            Ok(())
        };
        check(&top, 0)?;
        walk(&top, 1, most, &mut check)?;
    }
    found.sort_by(|a, b| a.as_str().cmp(&b.as_str()));
    Ok(found.into_iter().collect())
}

/// Everything below a directory, links not followed; what cannot be listed is passed over.
fn walk(
    top: &Path,
    depth: i64,
    most: i64,
    visit: &mut impl FnMut(&Path, i64) -> Result<()>,
) -> Result<()> {
    let mut open: Vec<(PathBuf, i64)> = vec![(top.to_path_buf(), depth)];
    while let Some((directory, depth)) = open.pop() {
        if depth > most {
            continue;
        }
        for name in names_in(&directory).unwrap_or_default() {
            let path = directory.join(name);
            visit(&path, depth)?;
            if path.is_dir() && !path.is_symlink() {
                open.push((path, depth.saturating_add(1)));
            }
        }
    }
    Ok(())
}

fn list_files(call: &Call) -> Result<Value> {
    let [directory] = call.bind(["directory"])?;
    let directory = text(directory, call, "directory")?;
    // A set in the reference, so in no order; here sorted.
    let mut found = vec![directory.clone()];
    walk(Path::new(&directory), 0, i64::MAX, &mut |path, _| {
        enough(found.len())?;
        found.push(path.to_string_lossy().into_owned());
        Ok(())
    })?;
    found.sort_unstable();
    found.dedup();
    Ok(found.into_iter().collect())
}
