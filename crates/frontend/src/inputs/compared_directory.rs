//! The surroundings of the pillar's roots, where files of stacked external pillars may lie.

use std::path::{Path, PathBuf};
use std::sync::Arc;

#[cfg(feature = "git")]
use mapstack::loader::LoadError;
use mapstack::loader::{FileServer, Roots, Snapshot};
use mapstack::value::posixpath::normpath;

use crate::inputs::InputError;
use crate::inputs::compared_files::NamedSide;
use crate::inputs::origin::CommonRoot;

/// A directory, such as a work tree, in two states.
pub struct ComparedDirectory {
    at: PathBuf,
    /// The roots below it.
    roots: Vec<String>,
    files: [Arc<dyn FileServer>; 2],
}

/// The saltenv under which its files are served.
pub(crate) const ENV: &str = "base";

impl ComparedDirectory {
    /// `None` if both states are the same there, or one has no place for what is around.
    ///
    /// # Errors
    /// A revision that cannot be read.
    pub(crate) fn new(
        origin: &CommonRoot,
        roots: &[(String, PathBuf)],
        [before, after]: [NamedSide<'_>; 2],
    ) -> Result<Option<Self>, InputError> {
        let directory = |state: NamedSide<'_>| match state {
            NamedSide::Directory(directory) => Some(directory.to_owned()),
            NamedSide::Now => Some(origin.path().to_owned()),
            NamedSide::Revision(_) => None,
        };
        match (directory(before), directory(after)) {
            _ if before == after => Ok(None),
            (Some(before), Some(after)) => Ok(Some(ComparedDirectory {
                at: origin.path().to_owned(),
                roots: origin
                    .below(roots)
                    .iter()
                    .map(|(_, root)| normpath(&root.to_string_lossy()))
                    .collect(),
                files: [before, after].map(|directory| on_disk(&directory)),
            })),
            _ => repository(roots, before, after),
        }
    }

    /// The directory, and its files in the state before (0) or after (1).
    pub(crate) fn of_state(&self, index: usize) -> Option<(PathBuf, Arc<dyn FileServer>)> {
        Some((self.at.clone(), self.files.get(index)?.clone()))
    }

    /// The paths that a path below one of the roots can have here.
    pub(crate) fn paths_of<'p>(&'p self, path: &'p str) -> impl Iterator<Item = String> + 'p {
        self.roots.iter().map(move |root| match root.as_str() {
            "" | "." => path.to_owned(),
            root => format!("{root}/{path}"),
        })
    }
}

pub(crate) fn on_disk(directory: &Path) -> Arc<dyn FileServer> {
    let files = Roots::new().root(ENV, directory);
    Arc::new(Snapshot::new(files))
}

/// All files of a work tree at a revision.
#[cfg(feature = "git")]
pub(crate) fn whole(top: &Path, name: &str) -> Result<mapstack::loader::git::GitFs, LoadError> {
    use mapstack::loader::git::Revision;

    Revision::of(top, name)?.whole().serve(ENV)
}

/// The repository of the first root.
#[cfg(feature = "git")]
fn repository(
    roots: &[(String, PathBuf)],
    before: NamedSide<'_>,
    after: NamedSide<'_>,
) -> Result<Option<ComparedDirectory>, InputError> {
    use mapstack::loader::git::Revision;
    use mapstack::{Error, ErrorKind};

    let names = [before, after].map(|state| match state {
        NamedSide::Revision(name) => Some(name),
        NamedSide::Now | NamedSide::Directory(_) => None,
    });
    let (Some((_, first)), Some(any)) = (roots.first(), names.into_iter().flatten().next()) else {
        return Ok(None);
    };
    // Files around the roots of a directory have no place in a repository.
    if matches!(
        (before, after),
        (NamedSide::Directory(_), _) | (_, NamedSide::Directory(_))
    ) {
        return Ok(None);
    }
    let failed = |e| Error::new(ErrorKind::File, format!("{e}"));
    let of = |root: &Path| Revision::of(root, any);
    let top = of(first).map_err(failed)?.top;
    let serve = |name: Option<&str>| -> Result<Arc<dyn FileServer>, InputError> {
        Ok(match name {
            Some(name) => Arc::new(Snapshot::new(whole(&top, name).map_err(failed)?)),
            None => on_disk(&top),
        })
    };
    let [old, new] = names;
    let inside = roots.iter().filter_map(|(_, root)| of(root).ok());
    Ok(Some(ComparedDirectory {
        roots: inside
            .filter(|revision| revision.top == top)
            .map(|revision| revision.root)
            .collect(),
        files: [serve(old)?, serve(new)?],
        at: top,
    }))
}

#[cfg(not(feature = "git"))]
fn repository(
    _: &[(String, PathBuf)],
    _: NamedSide<'_>,
    _: NamedSide<'_>,
) -> Result<Option<ComparedDirectory>, InputError> {
    Ok(None)
}
