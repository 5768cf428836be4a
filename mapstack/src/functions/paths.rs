//! The functions of `file.*` that only look at paths as text.

use mapstack_render::{Error, Obj, Result, required};
use mapstack_value::Str;

use super::Table;

pub(super) const TABLE: Table = &[
    ("file.basename", |_, _, args| {
        let [path] = args.bind("file.basename", ["path"])?;
        let path = path_text(&required(path, "file.basename", "path")?)?;
        Ok(Obj::from(path.rsplit('/').next().unwrap_or_default()))
    }),
    ("file.dirname", |_, _, args| {
        let [path] = args.bind("file.dirname", ["path"])?;
        let path = path_text(&required(path, "file.dirname", "path")?)?;
        Ok(Obj::from(dirname(&path)))
    }),
    ("file.join", |_, _, args| {
        if let Some((name, _)) = args.named.first() {
            return Err(Error::type_error(format!("file.join() got an unexpected keyword argument '{name}'")));
        }
        if args.positional.is_empty() {
            return Err(Error::type_error("file.join() missing 1 required positional argument: 'a'"));
        }
        let parts: Vec<_> = args.positional.iter().map(path_text).collect::<Result<_>>()?;
        Ok(Obj::from(join(parts.iter().map(|part| &**part))))
    }),
    ("file.normpath", |_, _, args| {
        let [path] = args.bind("file.normpath", ["path"])?;
        let path = path_text(&required(path, "file.normpath", "path")?)?;
        Ok(Obj::from(normpath(&path)))
    }),
];

fn path_text(path: &Obj) -> Result<Str> {
    path.as_str().cloned().ok_or_else(|| {
        Error::type_error(format!("expected str, bytes or os.PathLike object, not {}", path.type_name()))
    })
}

/// `os.path.dirname`.
pub(super) fn dirname(path: &str) -> &str {
    let Some(slash) = path.rfind('/') else { return "" };
    let head = &path[..=slash];
    let trimmed = head.trim_end_matches('/');
    if trimmed.is_empty() { head } else { trimmed }
}

/// `os.path.join`.
fn join<'p>(parts: impl Iterator<Item = &'p str>) -> String {
    let mut joined = String::new();
    for part in parts {
        if part.starts_with('/') {
            joined.clear();
        } else if !joined.is_empty() && !joined.ends_with('/') {
            joined.push('/');
        }
        joined.push_str(part);
    }
    joined
}

/// `os.path.normpath`.
pub(crate) fn normpath(path: &str) -> String {
    if path.is_empty() {
        return ".".into();
    }
    // Two slashes at the start have a meaning of their own, three have not.
    let root = match path.len() - path.trim_start_matches('/').len() {
        0 => "",
        2 => "//",
        _ => "/",
    };
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/').filter(|part| !part.is_empty() && *part != ".") {
        match (part, parts.last()) {
            ("..", None) if !root.is_empty() => {}
            ("..", Some(last)) if *last != ".." => {
                parts.pop();
            }
            _ => parts.push(part),
        }
    }
    let normal = format!("{root}{}", parts.join("/"));
    if normal.is_empty() { ".".into() } else { normal }
}
