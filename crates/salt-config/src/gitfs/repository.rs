//! Reading a repository: its references as Salt's clone would have them, its trees and its files.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use gix::ObjectId;
use gix::objs::Kind;
use gix::objs::tree::EntryKind;

use super::Refspec;
use super::refspec::{BRANCHES, TAGS};
use super::trusted;

/// The result of work on a repository, with the problem in words.
pub(super) type Result<T> = std::result::Result<T, RepositoryProblem>;

/// The problem with a repository.
#[derive(Debug, thiserror::Error)]
pub(super) enum RepositoryProblem {
    /// The words for it.
    #[error("{0}")]
    Broken(String),
    /// An object that a partial clone lacks, or a damaged repository.
    #[error("the object {0} is missing; the repository is damaged, or not all of it was fetched")]
    Absent(ObjectId),
    /// A file is larger than allowed.
    #[error("it has a file of {0} bytes")]
    TooLarge(u64),
    /// A tree has more entries than are listed.
    #[error("it has too many files")]
    TooMany,
}

fn broken(what: impl std::fmt::Display, e: impl std::fmt::Display) -> RepositoryProblem {
    RepositoryProblem::Broken(format!("{what}: {e}"))
}

/// An open repository.
pub(super) struct Repository {
    shared: gix::ThreadSafeRepository,
    /// Handles that no thread uses now; each has caches worth keeping.
    idle: Mutex<Vec<gix::Repository>>,
    /// The objects that references point at, by the names that Salt's clone gives them.
    references: BTreeMap<String, ObjectId>,
    trees: Mutex<Trees>,
    largest: u64,
}

/// Directories that were read.
#[derive(Default)]
struct Trees {
    known: HashMap<ObjectId, Arc<GitDirectory>>,
    entries: usize,
}

/// So many entries of directories are kept.
const KEPT_ENTRIES: usize = 400_000;
/// Trees and commits have no more bytes than this.
const LARGEST_STRUCTURE: u64 = 64 << 20;
/// Git itself refuses shorter commit ids.
const SHORTEST_ID: usize = 4;
/// A tag of a tag of a tag ends here.
const MAX_TAGS: usize = 32;

/// A directory.
#[derive(Debug, Default)]
pub(super) struct GitDirectory {
    entries: HashMap<String, GitEntry>,
    /// Those whose names are not UTF-8.
    pub(super) unnamed: Vec<(Vec<u8>, GitEntry)>,
}

/// An entry of a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct GitEntry {
    pub kind: Node,
    pub id: ObjectId,
    /// True for a file that may be executed.
    pub is_executable: bool,
}

/// The kind of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Node {
    Directory,
    File,
    Link,
    Submodule,
}

impl GitDirectory {
    pub(super) fn get(&self, name: &str) -> Option<GitEntry> {
        self.entries.get(name).copied()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, GitEntry)> {
        let entries = self.entries.iter();
        entries.map(|(name, entry)| (name.as_str(), *entry))
    }
}

impl Repository {
    /// Open a repository, bare or with a checkout, and read its references. Neither the environment
    /// nor git's global configuration counts, and no reference replaces an object.
    pub(super) fn open(path: &Path, refspecs: &[Refspec], largest: u64) -> Result<Self> {
        trusted::check_files(path).map_err(RepositoryProblem::Broken)?;
        let options = gix::open::Options::isolated()
            .config_overrides(["core.useReplaceRefs=false"])
            .bail_if_untrusted(false)
            .lossy_config(true);
        let shared = options
            .open(path)
            .map_err(|e| broken("it is not a readable git repository", e))?;
        let references = references(&shared.to_thread_local(), refspecs)?;
        Ok(Repository {
            shared,
            idle: Mutex::default(),
            references,
            trees: Mutex::default(),
            largest,
        })
    }

    /// The names of branches and tags as Salt's clone has them.
    pub(super) fn references(&self) -> impl Iterator<Item = &str> {
        self.references.keys().map(String::as_str)
    }

    pub(super) fn tree_of_branch(&self, name: &str) -> Result<Option<ObjectId>> {
        self.tree_of_reference(&format!("{BRANCHES}{name}"))
    }

    pub(super) fn tree_of_tag(&self, name: &str) -> Result<Option<ObjectId>> {
        self.tree_of_reference(&format!("{TAGS}{name}"))
    }

    fn tree_of_reference(&self, reference: &str) -> Result<Option<ObjectId>> {
        let Some(mut id) = self.references.get(reference).copied() else {
            return Ok(None);
        };
        for _ in 0..MAX_TAGS {
            let object = self.structure(id).map_err(|e| e.within(reference))?;
            match object.kind {
                Kind::Tag => {
                    let tag = gix::objs::TagRef::from_bytes(&object.data, id.kind());
                    id = tag
                        .map_err(|e| broken(format!("{reference} is not a readable tag"), e))?
                        .target();
                }
                Kind::Commit => {
                    return tree_of_commit(&object)
                        .map(Some)
                        .map_err(|e| e.within(reference));
                }
                other => {
                    return Err(RepositoryProblem::Broken(format!(
                        "{reference} leads to a {other} and not to a commit"
                    )));
                }
            }
        }
        Err(RepositoryProblem::Broken(format!(
            "{reference} is a tag of a tag, more than {MAX_TAGS} times"
        )))
    }

    /// The tree of a commit by its id, by the first digits of its id, or by a name that git would take
    /// for a commit.
    pub(super) fn tree_of_revision(&self, name: &str) -> Result<Option<ObjectId>> {
        let full = ObjectId::from_hex(name.to_ascii_lowercase().as_bytes()).ok();
        let by_name = || {
            let names =
                ["", "refs/", TAGS, "refs/remotes/"].map(|prefix| format!("{prefix}{name}"));
            names
                .iter()
                .find_map(|name| self.references.get(name).copied())
        };
        let found = match full.filter(|id| self.has(*id)).or_else(by_name) {
            Some(found) => Some(found),
            None => self.abbreviated(name)?,
        };
        let Some(id) = found else { return Ok(None) };
        let object = self.structure(id)?;
        // Salt takes neither tags nor trees by their ids.
        if object.kind == Kind::Commit {
            tree_of_commit(&object).map(Some)
        } else {
            Ok(None)
        }
    }

    /// The only object whose id begins like this.
    fn abbreviated(&self, name: &str) -> Result<Option<ObjectId>> {
        if name.len() < SHORTEST_ID || !name.bytes().all(|b| b.is_ascii_hexdigit()) {
            return Ok(None);
        }
        let Ok(prefix) = gix::hash::Prefix::from_hex(&name.to_ascii_lowercase()) else {
            return Ok(None);
        };
        self.with(|repository| {
            let found = repository.objects.lookup_prefix(prefix, None);
            let found = found
                .map_err(|e| broken(format!("commits cannot be looked for by '{name}'"), e))?;
            Ok(found.and_then(std::result::Result::ok))
        })
    }

    /// A directory.
    pub(super) fn tree(&self, id: ObjectId) -> Result<Arc<GitDirectory>> {
        if let Some(known) = lock(&self.trees).known.get(&id) {
            return Ok(known.clone());
        }
        let object = self.structure(id)?;
        let tree = Arc::new(parsed(&object)?);
        let mut trees = lock(&self.trees);
        if trees.entries + tree.entries.len() > KEPT_ENTRIES {
            *trees = Trees::default();
        }
        trees.entries += tree.entries.len();
        trees.known.insert(id, tree.clone());
        Ok(tree)
    }

    /// The bytes of a file.
    pub(super) fn file(&self, id: ObjectId) -> Result<Arc<[u8]>> {
        let object = self.object(id, self.largest)?;
        match object.kind {
            Kind::Blob => Ok(object.data.into()),
            other => Err(RepositoryProblem::Broken(format!(
                "{id} is a {other} where a file has to be"
            ))),
        }
    }

    fn has(&self, id: ObjectId) -> bool {
        self.with(|repository| Ok(repository.has_object(id)))
            .unwrap_or(false)
    }

    /// A commit, a tag or a tree.
    fn structure(&self, id: ObjectId) -> Result<gix::ObjectDetached> {
        self.object(id, LARGEST_STRUCTURE).map_err(|e| match e {
            RepositoryProblem::TooLarge(size) => {
                RepositoryProblem::Broken(format!("{id} has {size} bytes"))
            }
            other => other,
        })
    }

    fn object(&self, id: ObjectId, largest: u64) -> Result<gix::ObjectDetached> {
        self.with(|repository| {
            let unreadable =
                |e| broken(format!("{id} cannot be read; the repository is damaged"), e);
            let header = repository.try_find_header(id).map_err(unreadable)?;
            let size = header.map(|header| header.size());
            match size {
                None => return Err(RepositoryProblem::Absent(id)),
                Some(size) if size > largest => return Err(RepositoryProblem::TooLarge(size)),
                Some(_) => {}
            }
            let object = repository.try_find_object(id).map_err(unreadable)?;
            object
                .map(gix::Object::detach)
                .ok_or(RepositoryProblem::Absent(id))
        })
    }

    /// Work with a handle of this thread's own.
    fn with<T>(&self, work: impl FnOnce(&gix::Repository) -> Result<T>) -> Result<T> {
        let idle = lock(&self.idle).pop();
        let repository = idle.unwrap_or_else(|| self.shared.to_thread_local());
        let result = work(&repository);
        lock(&self.idle).push(repository);
        result
    }
}

impl RepositoryProblem {
    fn within(self, reference: &str) -> Self {
        match self {
            why @ (RepositoryProblem::Broken(_) | RepositoryProblem::Absent(_)) => {
                RepositoryProblem::Broken(format!("{reference} cannot be used: {why}"))
            }
            other => other,
        }
    }
}

/// A poisoned lock guards a cache, which is whole after every step.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn references(
    repository: &gix::Repository,
    refspecs: &[Refspec],
) -> Result<BTreeMap<String, ObjectId>> {
    let unreadable = |e: &dyn std::fmt::Display| broken("its references cannot be read", e);
    let mut all = BTreeMap::new();
    let platform = repository.references().map_err(|e| unreadable(&e))?;
    let packed = repository
        .refs
        .cached_packed_buffer()
        .map_err(|e| unreadable(&e))?;
    for reference in platform.all().map_err(|e| unreadable(&e))? {
        let mut reference = reference.map_err(|e| unreadable(&e))?;
        let Ok(name) = std::str::from_utf8(reference.name().as_bstr()).map(str::to_owned) else {
            continue;
        };
        let names = Refspec::map_all(refspecs, &name);
        if names.is_empty() {
            continue;
        }
        // A symbolic reference that leads nowhere is left out.
        let Ok(id) = reference.follow_to_object_packed(packed.as_ref().map(|p| &***p)) else {
            continue;
        };
        all.extend(names.into_iter().map(|name| (name, id.detach())));
    }
    Ok(all)
}

fn tree_of_commit(commit: &gix::ObjectDetached) -> Result<ObjectId> {
    let parsed = gix::objs::CommitRefIter::from_bytes(&commit.data, commit.id.kind()).tree_id();
    parsed.map_err(|e| broken(format!("the commit {} cannot be read", commit.id), e))
}

fn parsed(object: &gix::ObjectDetached) -> Result<GitDirectory> {
    if object.kind != Kind::Tree {
        return Err(RepositoryProblem::Broken(format!(
            "{} is a {} where a directory has to be",
            object.id, object.kind
        )));
    }
    let (mut entries, mut unnamed) = (HashMap::new(), Vec::new());
    for entry in gix::objs::TreeRefIter::from_bytes(&object.data, object.id.kind()) {
        let entry =
            entry.map_err(|e| broken(format!("the directory {} cannot be read", object.id), e))?;
        // Names that are not Unicode cannot be asked for.
        let name = std::str::from_utf8(entry.filename);
        let kind = match entry.mode.kind() {
            EntryKind::Tree => Node::Directory,
            EntryKind::Blob | EntryKind::BlobExecutable => Node::File,
            EntryKind::Link => Node::Link,
            EntryKind::Commit => Node::Submodule,
        };
        let is_executable = entry.mode.kind() == EntryKind::BlobExecutable;
        let id = entry.oid.into();
        match name {
            Ok(name) => {
                entries.entry(name.into()).or_insert(GitEntry {
                    kind,
                    id,
                    is_executable,
                });
            }
            Err(_) => unnamed.push((
                entry.filename.to_vec(),
                GitEntry {
                    kind,
                    id,
                    is_executable,
                },
            )),
        }
    }
    Ok(GitDirectory { entries, unnamed })
}
