//! The minions whose pillar reads a file.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use mapstack::Error;
use mapstack::minion::Minion;
use mapstack::trace::{FileRead, FileReadKind};
use mapstack_pillar::PillarReads;

use crate::what::QuestionSubject;

/// The pillar of a minion, as far as it could be compiled.
pub struct WithPillar {
    /// The minion with its pillar.
    pub minion: Minion,
    /// The files that were read for it.
    pub reads: PillarReads,
    /// The errors of the pillar.
    pub errors: Vec<Error>,
}

/// Compiles the pillar of a minion.
pub type CompilePillar<'n> = dyn Fn(&Minion) -> WithPillar + Sync + 'n;

/// The pillars that may read a file.
pub struct ByPillars<'n> {
    noting: &'n CompilePillar<'n>,
    /// The path of the file, without links.
    on_disk: Option<PathBuf>,
    /// The paths that pillars read: true for those that are the file.
    known: Mutex<HashMap<PathBuf, bool>>,
}

impl<'n> ByPillars<'n> {
    /// The pillars that `noting` compiles, and where the file lies on disk, if it does.
    #[must_use]
    pub fn new(noting: &'n CompilePillar<'n>, on_disk: Option<&Path>) -> Self {
        ByPillars {
            noting,
            on_disk: on_disk.and_then(|path| path.canonicalize().ok()),
            known: Mutex::default(),
        }
    }

    /// The pillar of a minion, and true if a file is read for it.
    pub(crate) fn inspect(&self, minion: &Minion, what: &QuestionSubject) -> (WithPillar, bool) {
        let noted = (self.noting)(minion);
        let reads = &noted.reads;
        let is_read = match what {
            QuestionSubject::Pillar(env, path) => has(&reads.pillar, |read| {
                *read.saltenv == **env && *read.path == **path
            }),
            QuestionSubject::File(path) => has(&reads.served, |read| *read.path == **path),
            _ => false,
        };
        let is_read = is_read || self.is_read_by_path(reads);
        (noted, is_read)
    }

    /// True if external pillars or functions read the file by its path on disk.
    fn is_read_by_path(&self, reads: &PillarReads) -> bool {
        let Some(file) = &self.on_disk else {
            return false;
        };
        let named = reads.pillar.iter().chain(&reads.served);
        let named = named.filter(|read| read.is_of_no_saltenv() && is_found(read));
        let mut paths = named
            .map(|read| Path::new(&*read.path))
            .chain(reads.on_disk.iter().map(PathBuf::as_path));
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        paths.any(|path| {
            if let Some(is_it) = known.get(path) {
                return *is_it;
            }
            let is_it = path.canonicalize().is_ok_and(|path| path == *file);
            known.insert(path.into(), is_it);
            is_it
        })
    }
}

fn is_found(read: &FileRead) -> bool {
    read.kind == FileReadKind::Found
}

fn has(reads: &[FileRead], is_it: impl Fn(&FileRead) -> bool) -> bool {
    reads.iter().any(|read| is_found(read) && is_it(read))
}
