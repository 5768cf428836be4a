//! `cp.*` over the file server, and the functions of `file.*` that only look at paths as text.

use mapstack_render::{Obj, Result, required};

use super::{Table, text};
use crate::engine::Run;

pub(super) const TABLE: Table = &[
    ("cp.list_master", |run, _, args| {
        let [_saltenv, prefix] = args.bind("cp.list_master", ["saltenv", "prefix"])?;
        let prefix = prefix.map_or_else(|| Ok("".into()), |p| text(&p, "cp.list_master", "prefix"))?;
        let listed = run.list_files(&prefix).map_err(|e| super::failed(&e))?;
        Ok(Obj::list(listed.into_iter().map(Obj::from).collect::<Vec<_>>()))
    }),
    ("cp.get_file_str", |run, _, args| {
        let [path, _saltenv] = args.bind("cp.get_file_str", ["path", "saltenv"])?;
        let path = text(&required(path, "cp.get_file_str", "path")?, "cp.get_file_str", "path")?;
        file_text(run, path.strip_prefix("salt://").unwrap_or(&path))
    }),
    ("file.basename", |_, _, args| {
        let [path] = args.bind("file.basename", ["path"])?;
        let path = text(&required(path, "file.basename", "path")?, "file.basename", "path")?;
        Ok(Obj::from(path.rsplit('/').next().unwrap_or_default()))
    }),
    ("file.dirname", |_, _, args| {
        let [path] = args.bind("file.dirname", ["path"])?;
        let path = text(&required(path, "file.dirname", "path")?, "file.dirname", "path")?;
        Ok(Obj::from(dirname(&path)))
    }),
    ("file.join", |_, _, args| {
        let parts: Vec<_> = args.positional.iter().map(|p| text(p, "file.join", "args")).collect::<Result<_>>()?;
        Ok(Obj::from(join_paths(&parts)))
    }),
];

/// `os.path.dirname`.
fn dirname(path: &str) -> &str {
    let Some(slash) = path.rfind('/') else { return "" };
    let head = &path[..=slash];
    let trimmed = head.trim_end_matches('/');
    if trimmed.is_empty() { head } else { trimmed }
}

/// `os.path.join`.
fn join_paths(parts: &[mapstack_value::Str]) -> String {
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

fn file_text(run: &Run<'_>, path: &str) -> Result<Obj> {
    match run.fetch_template(path).map_err(|e| super::failed(&e))? {
        Some(file) => Ok(Obj::from(file.text().map_err(|e| super::failed(&e))?.to_string())),
        None => Ok(Obj::Bool(false)),
    }
}
