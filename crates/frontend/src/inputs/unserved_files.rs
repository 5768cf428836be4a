//! The files around the roots: no comparison of formulas reads them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use mapstack::loader::{FileServer, LoadError, Roots};
use mapstack::value::posixpath::normpath;
use mapstack_fleet::ChangedFiles;

use crate::inputs::compared_directory::ENV;
#[cfg(feature = "git")]
use crate::inputs::compared_directory::whole;
use crate::inputs::compared_files::NamedSide;
#[cfg(feature = "git")]
use crate::inputs::compared_files::or_here;
use crate::inputs::origin::CommonRoot;

/// Files are compared up to this number.
const MAX_FILES: usize = 50_000;

/// The files that no root serves, in two states of what is around the roots: of git repositories the files that they
/// track, of directories all.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct UnservedFiles {
    /// Those that are different.
    pub changed: Vec<String>,
    /// Why not all were looked at.
    pub unknown: Option<String>,
}

impl UnservedFiles {
    pub(crate) fn between(
        origin: &CommonRoot,
        roots: &[(String, PathBuf)],
        [before, after]: [NamedSide<'_>; 2],
    ) -> Self {
        let directories =
            |before: &Path, after: &Path| directories(&origin.below(roots), before, after);
        let found = match (before, after) {
            (NamedSide::Directory(before), NamedSide::Directory(after)) => {
                directories(before, after)
            }
            (NamedSide::Directory(before), NamedSide::Now) => directories(before, origin.path()),
            (NamedSide::Now, NamedSide::Directory(after)) => directories(origin.path(), after),
            (NamedSide::Now, NamedSide::Now) => Ok(Vec::new()),
            (NamedSide::Directory(_), _) | (_, NamedSide::Directory(_)) => {
                Err("a directory is compared with a revision".into())
            }
            _ => repositories(roots, before, after),
        };
        match found {
            Ok(changed) => UnservedFiles {
                changed,
                unknown: None,
            },
            Err(reason) => UnservedFiles {
                changed: Vec::new(),
                unknown: Some(reason),
            },
        }
    }
}

/// The files of two directories, each of which has the roots.
fn directories(
    roots: &[(String, PathBuf)],
    before: &Path,
    after: &Path,
) -> Result<Vec<String>, String> {
    let inside: Vec<String> = roots
        .iter()
        .map(|(_, root)| normpath(&root.to_string_lossy()))
        .collect();
    // Without roots, the directories themselves are served.
    if inside.is_empty() || inside.iter().any(|root| root == ".") {
        return Ok(Vec::new());
    }
    let serve = |directory: &Path| Roots::new().root(ENV, directory);
    let (before, after) = (serve(before), serve(after));
    let listed = [before.list(ENV, ""), after.list(ENV, "")];
    different(&before, &after, &inside, listed)
}

/// The tracked files of the repositories that have the roots.
#[cfg(feature = "git")]
fn repositories(
    roots: &[(String, PathBuf)],
    before: NamedSide<'_>,
    after: NamedSide<'_>,
) -> Result<Vec<String>, String> {
    use std::collections::BTreeMap;

    use mapstack::loader::git::Revision;

    let name_of = |state: NamedSide<'_>| match state {
        NamedSide::Revision(name) => Some(name.to_owned()),
        _ => None,
    };
    let (old, new) = (name_of(before), name_of(after));
    let Some(any) = old.as_ref().or(new.as_ref()) else {
        return Ok(Vec::new());
    };
    let mut inside: BTreeMap<PathBuf, Vec<String>> = BTreeMap::new();
    for (_, root) in or_here(roots) {
        let found = Revision::of(root, any).map_err(|e| e.to_string())?;
        inside.entry(found.top).or_default().push(found.root);
    }
    let mut changed = Vec::new();
    for (top, inside) in inside {
        if inside.iter().any(String::is_empty) {
            continue;
        }
        let serve = |name: &Option<String>| -> Result<Box<dyn FileServer>, LoadError> {
            Ok(match name {
                Some(name) => Box::new(whole(&top, name)?),
                None => Box::new(Roots::new().root(ENV, &top)),
            })
        };
        let serve = |name| serve(name).map_err(|e| e.to_string());
        let (before, after) = (serve(&old)?, serve(&new)?);
        // A work tree has files that git does not track: those of the last commit count.
        let list = |files: &dyn FileServer, name: &Option<String>| match name {
            Some(_) => files.list(ENV, ""),
            None => whole(&top, "HEAD")?.list(ENV, ""),
        };
        let listed = [list(&*before, &old), list(&*after, &new)];
        changed.extend(different(&*before, &*after, &inside, listed)?);
    }
    Ok(changed)
}

#[cfg(not(feature = "git"))]
fn repositories(
    _: &[(String, PathBuf)],
    _: NamedSide<'_>,
    _: NamedSide<'_>,
) -> Result<Vec<String>, String> {
    Ok(Vec::new())
}

/// The listed files that are different and do not lie below any of the roots `inside`.
fn different(
    before: &dyn FileServer,
    after: &dyn FileServer,
    inside: &[String],
    listed: [Result<Vec<String>, LoadError>; 2],
) -> Result<Vec<String>, String> {
    let mut paths = BTreeSet::new();
    for listed in listed {
        paths.extend(listed.map_err(|e| e.to_string())?);
    }
    let is_inside = |path: &String| {
        let is_below = |root: &String| {
            let below = path.strip_prefix(root.as_str());
            below.is_some_and(|rest| rest.starts_with('/'))
        };
        inside.iter().any(is_below)
    };
    paths.retain(|path| !is_inside(path));
    if paths.len() > MAX_FILES {
        return Err(format!("there are more than {MAX_FILES} of them"));
    }
    let changed =
        ChangedFiles::among_paths(before, after, ENV, paths).map_err(|e| e.to_string())?;
    Ok(changed.project_paths().map(str::to_owned).collect())
}
