//! A directory with a file for each minion, which is named after it.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use super::shape::Found;
use super::text;
use crate::Minion;
use crate::error::{ReadError, ReadErrorKind};
use crate::read::{at_file, with_file};

/// The endings of minions' files.
const ENDINGS: [&str; 3] = ["yaml", "yml", "json"];

/// The files of minions, by the ids they are named after.
#[derive(Debug)]
pub(super) struct Directory(Vec<(String, PathBuf)>);

impl Directory {
    pub fn list(path: &Path) -> Result<Self, ReadError> {
        let failed = |error: std::io::Error| {
            at_file(
                &path.display().to_string(),
                ReadErrorKind::Unreadable(error.into()),
            )
        };
        let mut found: Vec<(String, PathBuf)> = Vec::new();
        for entry in fs::read_dir(path).map_err(failed)? {
            let file = entry.map_err(failed)?.path();
            let (stem, end) = (
                file.file_stem().and_then(OsStr::to_str),
                file.extension().and_then(OsStr::to_str),
            );
            if let (Some(stem), Some(end)) = (stem, end)
                && ENDINGS.contains(&end)
                && !stem.starts_with('.')
            {
                found.push((stem.to_owned(), file));
            }
        }
        found.sort();
        if let Some([(_, first), (_, second)]) =
            found.windows(2).find(|pair| pair[0].0 == pair[1].0)
        {
            let other = first.display().to_string();
            return Err(at_file(
                &second.display().to_string(),
                ReadErrorKind::SameMinion { other },
            ));
        }
        Ok(Directory(found))
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn ids(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(id, _)| id.as_str())
    }

    pub fn minion(&self, id: &str) -> Result<Option<Minion>, ReadError> {
        let Ok(at) = self.0.binary_search_by(|(known, _)| known.as_str().cmp(id)) else {
            return Ok(None);
        };
        self.0.get(at).map(|(id, file)| named(id, file)).transpose()
    }
}

/// The minion of a file that is named after it.
fn named(id: &str, file: &Path) -> Result<Minion, ReadError> {
    let name = file.to_string_lossy();
    let mut entries = with_file(file, |bytes| text::entries(bytes, &name))?;
    let count = entries.len();
    let Some(entry) = entries.pop().filter(|_| count == 1) else {
        return Err(at_file(&name, ReadErrorKind::SeveralMinions { count }));
    };
    match entry.id {
        Some(own) if own != id => Err(at_file(
            &name,
            ReadErrorKind::OtherId {
                id: id.to_owned(),
                own,
            },
        )),
        _ => match entry.found? {
            Found::Minion(mut minion) => {
                if minion.id.as_str() != Some(id) {
                    minion.set_id(id);
                }
                Ok(minion)
            }
            Found::Silent(said) => Err(at_file(&name, ReadErrorKind::NoAnswer { said })),
        },
    }
}
