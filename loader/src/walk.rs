//! Listing the files below a root.

use std::fs::{self, FileType};
use std::io;
use std::path::{Path, PathBuf};

use crate::inside::{is_link_loop, is_missing, resolve, too_many};
use mapstack_value::posixpath::normpath;
use mapstack_value::pytext::codec;

use crate::{Link, LoadError, NotServed, SaltPath, Unserved};

/// More entries than this are an error: links can repeat a small tree without end.
const MAX_ENTRIES: usize = 1_000_000;

/// Files whose names are not UTF-8 are compared by their content up to this size.
const MAX_MARKED: u64 = 1 << 20;

/// A walk through one root.
pub(crate) struct RootWalk<'r> {
    /// The root's path without links.
    pub(crate) real: &'r Path,
    pub(crate) follow_outside_links: bool,
    /// Links to files are not listed.
    pub(crate) hide_links: bool,
    /// The number of entries that were seen.
    pub(crate) entries: usize,
    /// The directories that lead here, by their paths without links; none is entered again.
    pub(crate) above: Vec<PathBuf>,
    /// The names that are not served, if they are requested.
    pub(crate) unserved: Option<Vec<Unserved>>,
    /// The links and their targets, if they are requested.
    pub(crate) links: Option<Vec<Link>>,
}

impl RootWalk<'_> {
    /// Adds the paths of all files below `prefix`, relative to the root.
    pub(crate) fn below(
        &mut self,
        prefix: &SaltPath,
        all: &mut Vec<String>,
    ) -> Result<(), LoadError> {
        let prefix = prefix.to_string();
        let start = self.real.join(&prefix);
        match self.place(&start) {
            Ok(Some(place)) => self.directory(&start, place, &prefix, all),
            Ok(None) => {
                self.note_link(prefix, &start);
                Ok(())
            }
            Err(e) if is_missing(&e) => {
                if start.is_symlink() {
                    self.note_link(prefix, &start);
                }
                Ok(())
            }
            Err(source) => Err(LoadError::Io {
                path: start,
                source,
            }),
        }
    }

    /// Adds the files of a directory that is served and lies at `place`.
    fn directory(
        &mut self,
        at: &Path,
        place: PathBuf,
        relative: &str,
        all: &mut Vec<String>,
    ) -> Result<(), LoadError> {
        // Files further down have paths that are refused.
        if self.above.len() >= SaltPath::MAX_COMPONENTS || self.above.contains(&place) {
            return Ok(());
        }
        let failed = |source| LoadError::Io {
            path: at.into(),
            source,
        };
        let entries = match fs::read_dir(at) {
            Ok(entries) => entries,
            Err(e) if is_missing(&e) => return Ok(()),
            Err(source) => return Err(failed(source)),
        };
        self.above.push(place);
        for entry in entries {
            let entry = entry.map_err(failed)?;
            self.count()?;
            // Names that are not Unicode cannot be asked for.
            let path = entry.path();
            let Ok(name) = entry.file_name().into_string() else {
                self.note_name(relative, &path);
                continue;
            };
            let inner = match relative {
                "" => name,
                _ => format!("{relative}/{name}"),
            };
            self.note_inner_link(&inner, &path, &entry);
            let found = match self.look(&path, &entry) {
                Ok(Some(found)) => found,
                // A link to where this user may not look leads out of what is served.
                Err(e) if !is_missing(&e) && e.kind() != io::ErrorKind::PermissionDenied => {
                    return Err(failed(e));
                }
                Ok(None) | Err(_) => {
                    self.note_link(inner, &path);
                    continue;
                }
            };
            if found.kind.is_dir() {
                self.directory(&path, found.place, &inner, all)?;
            } else if found.kind.is_file() && !self.is_hidden(&entry) {
                all.push(inner);
            }
        }
        self.above.pop();
        Ok(())
    }

    /// The entry of the directory that is walked, if it is there and is served.
    fn look(&self, path: &Path, entry: &fs::DirEntry) -> io::Result<Option<EntryTarget>> {
        let kind = entry.file_type()?;
        // An entry that is not a link is in its directory, which saves a system call.
        if !kind.is_symlink() {
            let place = self.above.last().map(|above| above.join(entry.file_name()));
            return Ok(place.map(|place| EntryTarget { kind, place }));
        }
        let kind = fs::metadata(path)?.file_type();
        let place = self.place(path)?;
        Ok(place.map(|place| EntryTarget { kind, place }))
    }

    /// Note a name that is not UTF-8, with what it has.
    fn note_name(&mut self, relative: &str, path: &Path) {
        let Some(unserved) = &mut self.unserved else {
            return;
        };
        let name = path.file_name().unwrap_or_default();
        let name = codec::decode(name.as_encoded_bytes(), "utf-8", "backslashreplace");
        let name = name.unwrap_or_default();
        let at = match relative {
            "" => name,
            _ => format!("{relative}/{name}"),
        };
        let is_small = |found: fs::Metadata| found.is_file() && found.len() <= MAX_MARKED;
        let content = match fs::symlink_metadata(path).is_ok_and(is_small) {
            true => fs::read(path).ok(),
            false => None,
        };
        unserved.push(Unserved {
            path: at,
            why: NotServed::NotUtf8,
            mark: content.map(Into::into),
        });
    }

    /// Note a link whose target is not outside of the root.
    ///
    /// As in Salt, a target that begins with two dots is taken for one below the link.
    fn note_inner_link(&mut self, at: &str, path: &Path, entry: &fs::DirEntry) {
        let Some(links) = &mut self.links else {
            return;
        };
        let target = entry.file_type().ok().filter(FileType::is_symlink);
        let target = target.and_then(|_| fs::read_link(path).ok());
        let Some(target) = target.and_then(|target| target.into_os_string().into_string().ok())
        else {
            return;
        };
        let from = match target.starts_with("..") {
            true => Some(path),
            false => path.parent(),
        };
        let joined = from.unwrap_or(path).join(&target);
        let joined = PathBuf::from(normpath(&joined.to_string_lossy()));
        if fs::canonicalize(&joined)
            .unwrap_or(joined)
            .starts_with(self.real)
        {
            links.push(Link {
                path: at.to_owned(),
                target,
            });
        }
    }

    /// Note a link that leads to nothing that is served.
    fn note_link(&mut self, at: String, path: &Path) {
        let Some(unserved) = &mut self.unserved else {
            return;
        };
        let why = match fs::metadata(path) {
            Ok(_) => NotServed::OutsideLink,
            Err(e) if is_link_loop(&e) => NotServed::LoopingLink,
            Err(_) => NotServed::DanglingLink,
        };
        let target = fs::read_link(path).ok();
        let target = target.as_ref().map(|to| to.as_os_str().as_encoded_bytes());
        unserved.push(Unserved {
            path: at,
            why,
            mark: target.map(Into::into),
        });
    }

    fn is_hidden(&self, entry: &fs::DirEntry) -> bool {
        self.hide_links && entry.file_type().is_ok_and(|found| found.is_symlink())
    }

    /// The path without links of a served file; `None` for others.
    fn place(&self, path: &Path) -> io::Result<Option<PathBuf>> {
        if self.follow_outside_links {
            fs::canonicalize(path).map(Some)
        } else {
            resolve(self.real, path)
        }
    }

    fn count(&mut self) -> Result<(), LoadError> {
        self.entries += 1;
        if self.entries > MAX_ENTRIES {
            return Err(LoadError::Limit {
                path: self.real.into(),
                reason: too_many(MAX_ENTRIES),
            });
        }
        Ok(())
    }
}

/// The file or directory that an entry leads to.
struct EntryTarget {
    kind: FileType,
    /// The path without links: a directory's identity under any name.
    place: PathBuf,
}
