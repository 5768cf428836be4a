//! A directory with a file for each minion, which is named after it.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use super::shape::MinionPart;
use super::text;
use crate::Minion;
use crate::error::{ReadError, ReadErrorKind};
use crate::read::{at_file, with_file};

/// The endings of minions' files.
const ENDINGS: [&str; 3] = ["yaml", "yml", "json"];

/// The files of minions, by the ids they are named after.
#[derive(Debug)]
pub(super) struct Directory(Vec<MinionFile>);

/// The file of a minion.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct MinionFile {
    id: String,
    file: PathBuf,
    /// True if reading it could block, or have no end.
    is_special: bool,
}

impl Directory {
    pub fn list(path: &Path) -> Result<Self, ReadError> {
        let failed = |error: std::io::Error| {
            at_file(
                &path.display().to_string(),
                ReadErrorKind::Unreadable(error.into()),
            )
        };
        let mut found: Vec<MinionFile> = Vec::new();
        for entry in fs::read_dir(path).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let file = entry.path();
            let (stem, end) = (
                file.file_stem().and_then(OsStr::to_str),
                file.extension().and_then(OsStr::to_str),
            );
            if let (Some(stem), Some(end)) = (stem, end)
                && ENDINGS.contains(&end)
                && !stem.starts_with('.')
            {
                found.push(MinionFile {
                    id: stem.to_owned(),
                    is_special: is_special(&entry),
                    file,
                });
            }
        }
        found.sort();
        if let Some([first, second]) = found.windows(2).find(|pair| pair[0].id == pair[1].id) {
            let other = first.file.display().to_string();
            return Err(at_file(
                &second.file.display().to_string(),
                ReadErrorKind::SameMinion { other },
            ));
        }
        Ok(Directory(found))
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn ids(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|listed| listed.id.as_str())
    }

    pub fn minion(&self, id: &str) -> Result<Option<Minion>, ReadError> {
        let Ok(at) = self.0.binary_search_by(|known| known.id.as_str().cmp(id)) else {
            return Ok(None);
        };
        self.0.get(at).map(named).transpose()
    }
}

/// True if an entry is, or leads to, something else than a file or a directory.
fn is_special(entry: &fs::DirEntry) -> bool {
    let is_usual = |kind: fs::FileType| kind.is_file() || kind.is_dir();
    match entry.file_type() {
        Ok(kind) if kind.is_symlink() => {
            fs::metadata(entry.path()).is_ok_and(|target| !is_usual(target.file_type()))
        }
        Ok(kind) => !is_usual(kind),
        Err(_) => false,
    }
}

/// The minion of a file that is named after it.
fn named(listed: &MinionFile) -> Result<Minion, ReadError> {
    let MinionFile { id, file, .. } = listed;
    let name = file.to_string_lossy();
    if listed.is_special {
        return Err(at_file(&name, ReadErrorKind::NotRegular));
    }
    let mut entries = with_file(file, |bytes| text::entries(bytes, &name))?;
    let count = entries.len();
    let Some(entry) = entries.pop().filter(|_| count == 1) else {
        return Err(at_file(&name, ReadErrorKind::SeveralMinions { count }));
    };
    match entry.id {
        Some(own) if own != *id => Err(at_file(
            &name,
            ReadErrorKind::OtherId {
                id: id.clone(),
                own,
            },
        )),
        _ => match entry.found? {
            MinionPart::Minion(mut minion) => {
                if minion.id.as_str() != Some(id.as_str()) {
                    minion.set_id(id.as_str());
                }
                Ok(minion)
            }
            MinionPart::Silent(said) => Err(at_file(&name, ReadErrorKind::NoAnswer { said })),
        },
    }
}
