//! Git repositories as a file server: Salt's `gitfs` backend.
//!
//! Nothing is checked out. Files are read out of a repository on this machine: a mirror that was
//! fetched before, or the repository itself. Branches, tags and commits are saltenvs, as the options
//! of each [`Remote`] say. With the feature `fetch`, the program `git` fetches mirrors.
//!
//! | [`FileServer`](mapstack_loader::FileServer) | Salt |
//! |---|---|
//! | [`fetch`](mapstack_loader::FileServer::fetch) | `GitFS.find_file`, with the provider `pygit2` |
//! | [`list`](mapstack_loader::FileServer::list) | `GitFS.file_list` |
//! | [`envs`](mapstack_loader::FileServer::envs) | `GitFS.envs` |

#[cfg(feature = "fetch")]
mod fetch;
mod mirror;
mod names;
mod refspec;
mod remote;
mod repository;
mod revision;
mod tree_path;
mod trusted;
mod unserved;

use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use gix::ObjectId;
use mapstack_loader::inside::{too_large, too_many};
use mapstack_loader::{Fetched, FileServer, LoadError, SaltPath, Unserved};
use mapstack_value::posixpath::{normpath, split};

#[cfg(feature = "fetch")]
pub use fetch::{FetchError, FetchStage, FetchedChanges, Progress, StopReason, fetch};
pub use mirror::RemoteSource;
pub use names::NamePatterns;
pub use refspec::{BadRefspec, Refspec};
pub use remote::{RefType, Remote, Saltenv};
use repository::{GitEntry, Node, Repository, RepositoryProblem};
pub use revision::Revision;

/// Git repositories, earlier ones winning file by file.
///
/// ```no_run
/// use mapstack_salt_config::gitfs::{GitFs, Remote};
/// let remote = Remote { base: "main".into(), ..Remote::new("https://example.org/users.git", "/srv/mirrors/users") };
/// let files = GitFs::open(vec![remote]).unwrap();
/// ```
pub struct GitFs {
    served: Vec<Served>,
    saltenvs: BTreeSet<String>,
}

/// A remote whose repository is open.
struct Served {
    remote: Remote,
    repository: Repository,
    /// The snapshots of saltenvs that were looked for.
    known: Mutex<HashMap<String, Option<Arc<Snapshot>>>>,
}

/// The snapshot that a saltenv is served from.
struct Snapshot {
    tree: ObjectId,
    /// The branch, tag or commit, for people.
    reference: String,
}

/// The end of a path.
enum PathEnd {
    File {
        id: ObjectId,
        path: String,
        is_executable: bool,
    },
    Nothing,
    /// There is something that is not served.
    Refused(String),
}

const LARGEST_FILE: u64 = 32 << 20;
/// More entries than this are an error, as of directories.
const MAX_ENTRIES: usize = 1_000_000;
/// So many links are followed, one after the other (Salt: `SYMLINK_RECURSE_DEPTH`).
const MAX_LINKS: usize = 100;
/// So many saltenvs are remembered; templates can make up names.
const KEPT_SALTENVS: usize = 1024;
/// A pointer to a large file is a text of so many bytes at most.
const LARGEST_POINTER: usize = 1024;

impl GitFs {
    /// Open the repositories of remotes.
    ///
    /// The commits that references point at now are served from here on: a later fetch changes
    /// nothing.
    ///
    /// # Errors
    /// [`LoadError::NotServed`] if a repository does not exist or cannot be read.
    pub fn open(remotes: Vec<Remote>) -> Result<Self, LoadError> {
        let served = remotes
            .into_iter()
            .map(Served::open)
            .collect::<Result<Vec<_>, _>>()?;
        let saltenvs = served.iter().flat_map(Served::saltenvs).collect();
        Ok(GitFs { served, saltenvs })
    }

    /// The settings of remotes for saltenvs that they do not serve: their reference or their folder does not exist, or
    /// all of them are hidden.
    ///
    /// # Errors
    /// As for [`fetch`](FileServer::fetch).
    pub fn idle(&self) -> Result<Vec<UnusedSetting>, LoadError> {
        let mut idle = Vec::new();
        for served in &self.served {
            for saltenv in served.configured() {
                idle.extend(served.idle(saltenv)?);
            }
            idle.extend(served.hidden());
            for saltenv in served.remote.global_saltenvs.keys() {
                idle.extend(self.idle_everywhere(served, saltenv)?);
            }
        }
        idle.dedup();
        Ok(idle)
    }

    /// The parts that a remote lacks of a saltenv that is set up for all remotes, if no remote serves it.
    fn idle_everywhere(
        &self,
        served: &Served,
        saltenv: &str,
    ) -> Result<Option<UnusedSetting>, LoadError> {
        for other in &self.served {
            if other.idle(saltenv)?.is_none() {
                return Ok(None);
            }
        }
        served.idle(saltenv)
    }

    /// True if a remote may serve a saltenv. Any number that is hexadecimal can be a commit.
    fn is_asked(&self, served: &Served, saltenv: &str) -> bool {
        is_hex(saltenv) || self.saltenvs.contains(saltenv) || !served.remote.fallback.is_empty()
    }

    /// The entry of each remote at a path, in order.
    fn look<'s>(
        &'s self,
        path: &'s SaltPath,
        saltenv: &'s str,
    ) -> impl Iterator<Item = Result<RemoteEntry<'s>, LoadError>> {
        let saltenv = path.saltenv().unwrap_or(saltenv);
        let path = path.to_string();
        let asked = self
            .served
            .iter()
            .filter(move |served| self.is_asked(served, saltenv));
        asked.filter_map(move |served| served.look(&path, saltenv).transpose())
    }
}

/// A setting of a remote for a saltenv that it does not serve.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnusedSetting {
    /// The name of the remote.
    pub remote: String,
    /// The saltenv.
    pub saltenv: String,
    /// The branch, tag or commit that is meant.
    pub reference: String,
    /// The missing part.
    pub lack: MissingRef,
}

/// A branch, tag, commit or folder that a remote does not have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MissingRef {
    /// The reference; some that exist are named.
    Reference(Vec<String>),
    /// The folder of the repository that is served.
    Root(String),
    /// A saltenv that is exposed; some that are hidden are named.
    Exposed(Vec<String>),
}

/// References that a message names.
const SHOWN_REFERENCES: usize = 5;

/// The entry of one remote at a path.
struct RemoteEntry<'s> {
    served: &'s Served,
    snapshot: Arc<Snapshot>,
    found: PathEnd,
}

impl Served {
    fn open(remote: Remote) -> Result<Self, LoadError> {
        let failed = |reason| LoadError::NotServed {
            place: remote.name.clone(),
            reason,
        };
        if let Some(why) = remote
            .if_missing
            .as_ref()
            .filter(|_| !remote.repository.exists())
        {
            return Err(failed(why.clone()));
        }
        let opened = Repository::open(&remote.repository, &remote.refspecs, LARGEST_FILE);
        match opened {
            Ok(repository) => Ok(Served {
                remote,
                repository,
                known: Mutex::default(),
            }),
            Err(why) => Err(failed(format!("{}: {why}", remote.repository.display()))),
        }
    }

    /// The saltenvs that something is set for: those of the remote, and `base` unless only others are meant.
    fn configured(&self) -> impl Iterator<Item = &str> {
        let remote = &self.remote;
        let has_others = !remote.saltenvs.is_empty() || !remote.global_saltenvs.is_empty();
        let is_default = remote.base == Remote::new("", "").base;
        let base = (!has_others || !is_default).then_some("base");
        let own = remote.saltenvs.keys().map(String::as_str);
        base.into_iter()
            .chain(own.filter(move |name| Some(*name) != base))
    }

    /// The missing part of a saltenv that is to be served and is not.
    fn idle(&self, saltenv: &str) -> Result<Option<UnusedSetting>, LoadError> {
        let reference = self.remote.reference(saltenv);
        let Some(reference) = reference.filter(|_| self.remote.exposed.has(saltenv)) else {
            return Ok(None);
        };
        let idle = |lack| UnusedSetting {
            remote: self.remote.name.clone(),
            saltenv: saltenv.into(),
            reference: reference.into(),
            lack,
        };
        let Some(snapshot) = self.snapshot(saltenv)? else {
            let references = self.repository.references();
            let there = references
                .filter_map(|name| self.name_of(name))
                .map(String::from);
            let there = there.take(SHOWN_REFERENCES).collect();
            return Ok(Some(idle(MissingRef::Reference(there))));
        };
        let root = self.remote.root(saltenv);
        let found = match root.is_empty() {
            true => return Ok(None),
            false => self.entry(snapshot.tree, root),
        };
        let found = found.map_err(|e| self.failed(e, Some((&snapshot, root))))?;
        let is_folder =
            matches!(&found, AtPath::Entry(entry) if matches!(entry.kind, Node::Directory));
        Ok((!is_folder).then(|| idle(MissingRef::Root(root.into()))))
    }

    /// That all saltenvs of the remote are hidden, if they are.
    fn hidden(&self) -> Option<UnusedSetting> {
        let all = self.all_saltenvs();
        let is_exposed = |name: &String| self.remote.exposed.has(name);
        let is_hidden = !all.is_empty() && !all.iter().any(is_exposed);
        is_hidden.then(|| UnusedSetting {
            remote: self.remote.name.clone(),
            saltenv: String::new(),
            reference: String::new(),
            lack: MissingRef::Exposed(all.into_iter().take(SHOWN_REFERENCES).collect()),
        })
    }

    /// The saltenvs of the remote that are exposed (Salt: `GitProvider._get_envs_from_ref_paths`).
    fn saltenvs(&self) -> BTreeSet<String> {
        let mut all = self.all_saltenvs();
        all.retain(|name| self.remote.exposed.has(name));
        all
    }

    /// The saltenvs of the remote, also those that are hidden.
    fn all_saltenvs(&self) -> BTreeSet<String> {
        let remote = &self.remote;
        let mapped = remote.mapped();
        let mut all: BTreeSet<String> = mapped
            .values()
            .flatten()
            .map(|name| String::from(*name))
            .collect();
        // A commit is not among the references.
        if is_hex(remote.base()) {
            all.insert("base".into());
        }
        for reference in self.repository.references() {
            let Some(name) = self.name_of(reference) else {
                continue;
            };
            if mapped.contains_key(name) {
                continue;
            }
            if name == remote.base() {
                all.insert("base".into());
            } else if !remote.disable_saltenv_mapping {
                all.insert(name.into());
            }
        }
        all
    }

    /// The name of a reference that counts.
    fn name_of<'r>(&self, reference: &'r str) -> Option<&'r str> {
        let (kind, name) = reference.strip_prefix("refs/")?.split_once('/')?;
        match kind {
            "remotes" if self.remote.ref_types.contains(&RefType::Branch) => {
                Some(name.split_once('/').map_or(name, |(_, rest)| rest))
            }
            "tags" if self.remote.ref_types.contains(&RefType::Tag) => Some(name),
            _ => None,
        }
    }

    /// The snapshot of a saltenv, if it is served (Salt: `GitProvider.get_tree`).
    fn snapshot(&self, saltenv: &str) -> Result<Option<Arc<Snapshot>>, LoadError> {
        let known = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = known().get(saltenv) {
            return Ok(known.clone());
        }
        let found = self
            .resolve(saltenv)
            .map_err(|e| self.failed(e, None))?
            .map(Arc::new);
        let mut known = known();
        if known.len() >= KEPT_SALTENVS {
            known.clear();
        }
        known.insert(saltenv.into(), found.clone());
        Ok(found)
    }

    fn resolve(&self, saltenv: &str) -> repository::Result<Option<Snapshot>> {
        if !self.remote.exposed.has(saltenv) {
            return Ok(None);
        }
        let Some(reference) = self.remote.reference(saltenv) else {
            return Ok(None);
        };
        let fallback = Some(self.remote.fallback.as_str()).filter(|name| !name.is_empty());
        for name in [Some(reference), fallback].into_iter().flatten() {
            for kind in &self.remote.ref_types {
                let tree = match kind {
                    RefType::Branch => self.repository.tree_of_branch(name)?,
                    RefType::Tag => self.repository.tree_of_tag(name)?,
                    RefType::Sha => self.repository.tree_of_revision(name)?,
                };
                if let Some(tree) = tree {
                    return Ok(Some(Snapshot {
                        tree,
                        reference: name.into(),
                    }));
                }
            }
        }
        Ok(None)
    }

    /// The entry at a path of the file server; `None` if the remote is not to be asked.
    fn look(&self, path: &str, saltenv: &str) -> Result<Option<RemoteEntry<'_>>, LoadError> {
        let mountpoint = self.remote.mountpoint(saltenv);
        let inside = match path.strip_prefix(mountpoint) {
            Some(inside) if mountpoint.is_empty() => inside,
            Some(inside) if inside.starts_with('/') => inside.trim_start_matches('/'),
            _ => return Ok(None),
        };
        let Some(snapshot) = self.snapshot(saltenv)? else {
            return Ok(None);
        };
        let root = self.remote.root(saltenv);
        let inside = if root.is_empty() {
            inside.into()
        } else {
            tree_path::join(root, inside)
        };
        let found = self
            .find(snapshot.tree, inside)
            .map_err(|e| self.failed(e, Some((&snapshot, path))))?;
        Ok(Some(RemoteEntry {
            served: self,
            snapshot,
            found,
        }))
    }

    /// Follow a path and the links it ends in (Salt: `Pygit2.find_file`).
    fn find(&self, tree: ObjectId, mut path: String) -> repository::Result<PathEnd> {
        for _ in 0..MAX_LINKS {
            let entry = match self.entry(tree, &path)? {
                AtPath::Entry(entry) => entry,
                AtPath::Nothing => return Ok(PathEnd::Nothing),
                AtPath::Submodule(at) => {
                    return Ok(PathEnd::Refused(format!(
                        "{at} is a submodule, whose files gitfs does not serve"
                    )));
                }
            };
            match entry.kind {
                Node::File => {
                    return Ok(PathEnd::File {
                        id: entry.id,
                        path,
                        is_executable: entry.is_executable,
                    });
                }
                Node::Directory => return Ok(PathEnd::Nothing),
                Node::Submodule => {
                    return Ok(PathEnd::Refused(format!(
                        "{path} is a submodule, which gitfs does not serve"
                    )));
                }
                Node::Link => {
                    let target = self.repository.file(entry.id)?;
                    let Ok(target) = std::str::from_utf8(&target) else {
                        return Ok(PathEnd::Nothing);
                    };
                    let next = tree_path::join(split(&path).0, target);
                    if next.starts_with("../") {
                        return Ok(PathEnd::Refused(format!(
                            "{path} is a link out of the repository, to {target}"
                        )));
                    }
                    path = next;
                }
            }
        }
        Ok(PathEnd::Refused(format!(
            "{path} is a link that leads to links, more than {MAX_LINKS} times"
        )))
    }

    /// The entry at a path, without following links.
    fn entry(&self, tree: ObjectId, path: &str) -> repository::Result<AtPath> {
        let mut directory = self.repository.tree(tree)?;
        let mut components = path.split('/').peekable();
        let mut at = String::new();
        while let Some(name) = components.next() {
            let Some(entry) = directory.get(name) else {
                return Ok(AtPath::Nothing);
            };
            if components.peek().is_none() {
                return Ok(AtPath::Entry(entry));
            }
            at = if at.is_empty() {
                name.into()
            } else {
                format!("{at}/{name}")
            };
            match entry.kind {
                Node::Directory => directory = self.repository.tree(entry.id)?,
                Node::Submodule => return Ok(AtPath::Submodule(at)),
                // Salt follows links at the end of a path, and no others.
                Node::File | Node::Link => return Ok(AtPath::Nothing),
            }
        }
        Ok(AtPath::Nothing)
    }

    /// Add the files of a saltenv (Salt: `Pygit2.file_list`).
    fn list(
        &self,
        saltenv: &str,
        prefix: &SaltPath,
        all: &mut Vec<String>,
    ) -> Result<(), LoadError> {
        let Some(snapshot) = self.snapshot(saltenv)? else {
            return Ok(());
        };
        let root = self.remote.root(saltenv);
        let failed = |e| self.failed(e, Some((&snapshot, root)));
        let mut listing = RemoteListing {
            served: self,
            all,
            entries: 0,
        };
        let Some(tree) = self.root_tree(&snapshot, root).map_err(failed)? else {
            return Ok(());
        };
        let at = self.mounted_at(saltenv);
        let prefix: Vec<&str> = prefix.as_str().split_terminator('/').collect();
        listing.directory(tree, &at, &prefix, 0).map_err(failed)
    }

    /// The directory that is served, if it is there.
    fn root_tree(&self, snapshot: &Snapshot, root: &str) -> repository::Result<Option<ObjectId>> {
        if root.is_empty() {
            return Ok(Some(snapshot.tree));
        }
        Ok(match self.entry(snapshot.tree, root)? {
            AtPath::Entry(GitEntry {
                kind: Node::Directory,
                id,
                ..
            }) => Some(id),
            _ => None,
        })
    }

    /// The folder in which it is served; empty at the top.
    fn mounted_at(&self, saltenv: &str) -> String {
        match normpath(self.remote.mountpoint(saltenv)) {
            here if here == "." => String::new(),
            at => at,
        }
    }

    /// A place in the repository, for people.
    fn shown(&self, snapshot: &Snapshot, path: &str) -> PathBuf {
        let reference = &snapshot.reference;
        let is_id = reference.len() == 40 && reference.bytes().all(|b| b.is_ascii_hexdigit());
        let reference = if is_id {
            reference.get(..12).unwrap_or(reference)
        } else {
            reference
        };
        PathBuf::from(format!("{}@{reference}:{path}", self.remote.name))
    }

    fn failed(&self, e: RepositoryProblem, at: Option<(&Snapshot, &str)>) -> LoadError {
        let place = || at.map(|(snapshot, path)| self.shown(snapshot, path));
        match e {
            e @ (RepositoryProblem::Broken(_) | RepositoryProblem::Absent(_)) => {
                let message = e.to_string();
                let place = place().map_or_else(
                    || self.remote.name.clone(),
                    |place| place.display().to_string(),
                );
                let repository = self.remote.repository.display();
                LoadError::NotServed {
                    place,
                    reason: format!("{message} ({repository})"),
                }
            }
            RepositoryProblem::TooLarge(size) => {
                let path = place().unwrap_or_else(|| self.remote.repository.clone());
                LoadError::Limit {
                    path,
                    reason: too_large(size, LARGEST_FILE),
                }
            }
            RepositoryProblem::TooMany => {
                let path = place().unwrap_or_else(|| self.remote.repository.clone());
                LoadError::Limit {
                    path,
                    reason: too_many(MAX_ENTRIES),
                }
            }
        }
    }
}

/// The entry at a path.
enum AtPath {
    Entry(GitEntry),
    Nothing,
    /// The path leads through one.
    Submodule(String),
}

/// Listing the files of one remote.
struct RemoteListing<'s> {
    served: &'s Served,
    all: &'s mut Vec<String>,
    entries: usize,
}

impl RemoteListing<'_> {
    /// Add the files of a directory that is served at `at`, as far as they are below a prefix.
    fn directory(
        &mut self,
        tree: ObjectId,
        at: &str,
        prefix: &[&str],
        depth: usize,
    ) -> repository::Result<()> {
        // Files further down have paths that are refused.
        if depth >= SaltPath::MAX_COMPONENTS {
            return Ok(());
        }
        let tree = self.served.repository.tree(tree)?;
        for (name, entry) in tree.iter() {
            self.entries += 1;
            if self.entries > MAX_ENTRIES {
                return Err(RepositoryProblem::TooMany);
            }
            let path = if at.is_empty() {
                name.to_string()
            } else {
                format!("{at}/{name}")
            };
            match entry.kind {
                Node::File | Node::Link if is_below(&path, prefix) => self.all.push(path),
                Node::Directory if is_on_the_way(&path, prefix) => {
                    self.directory(entry.id, &path, prefix, depth + 1)?;
                }
                _ => {}
            }
        }
        Ok(())
    }
}

/// True if a file is below a directory.
fn is_below(path: &str, prefix: &[&str]) -> bool {
    let mut components = path.split('/');
    prefix
        .iter()
        .all(|wanted| components.next() == Some(*wanted))
        && components.next().is_some()
}

/// True if a path is a prefix or lies below it; everything is below none.
fn is_below_or_at(path: &str, prefix: &str) -> bool {
    let prefix = prefix.trim_end_matches('/');
    let rest = path.strip_prefix(prefix);
    prefix.is_empty() || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// True if a directory is above, at or below another one.
fn is_on_the_way(path: &str, prefix: &[&str]) -> bool {
    path.split('/')
        .zip(prefix)
        .all(|(component, wanted)| component == *wanted)
}

impl FileServer for GitFs {
    fn fetch(&self, path: &SaltPath, saltenv: &str) -> Result<Fetched, LoadError> {
        if let Some(reason) = path.refusal() {
            return Ok(Fetched::Refused { reason });
        }
        let mut refused = None;
        for look in self.look(path, saltenv) {
            let RemoteEntry {
                served,
                snapshot,
                found,
            } = look?;
            let reason = match found {
                PathEnd::Nothing => continue,
                PathEnd::Refused(reason) => reason,
                PathEnd::File { id, path, .. } => {
                    let bytes = match served.repository.file(id) {
                        Ok(bytes) => bytes,
                        // In two revisions with the same object, the reason is the same.
                        Err(RepositoryProblem::Absent(id)) => {
                            let reason = format!(
                                "its content, the object {id}, is not in the repository: it may be a partial clone, and an \
                                 unfiltered fetch brings it"
                            );
                            return Ok(Fetched::Unusable { reason });
                        }
                        Err(e) => return Err(served.failed(e, Some((&snapshot, &path)))),
                    };
                    let on_disk = served.shown(&snapshot, &path);
                    if !is_pointer(&bytes) {
                        return Ok(Fetched::Found { on_disk, bytes });
                    }
                    let reason = format!(
                        "the object {id} is a pointer to a file in Git LFS, not the file itself"
                    );
                    // Salt serves the pointer, so what others have does not count.
                    return Ok(Fetched::Unusable { reason });
                }
            };
            refused = refused.or_else(|| {
                Some(format!(
                    "{} in {reason}",
                    served.shown(&snapshot, "").display()
                ))
            });
        }
        Ok(refused.map_or(Fetched::Missing, |reason| Fetched::Refused { reason }))
    }

    fn find_all(&self, path: &SaltPath, saltenv: &str) -> Result<Vec<PathBuf>, LoadError> {
        if path.refusal().is_some() {
            return Ok(Vec::new());
        }
        let mut all = Vec::new();
        for look in self.look(path, saltenv) {
            if let RemoteEntry {
                served,
                snapshot,
                found: PathEnd::File { path, .. },
            } = look?
            {
                all.push(served.shown(&snapshot, &path));
            }
        }
        Ok(all)
    }

    fn mode(&self, path: &SaltPath, saltenv: &str) -> Result<Option<u32>, LoadError> {
        for look in self.look(path, saltenv) {
            if let PathEnd::File { is_executable, .. } = look?.found {
                return Ok(Some(if is_executable { 0o100_755 } else { 0o100_644 }));
            }
        }
        Ok(None)
    }

    fn list(&self, saltenv: &str, prefix: &str) -> Result<Vec<String>, LoadError> {
        let prefix = SaltPath::from_relative(prefix);
        if prefix.refusal().is_some() {
            return Ok(Vec::new());
        }
        let mut all = Vec::new();
        for served in self
            .served
            .iter()
            .filter(|served| self.is_asked(served, saltenv))
        {
            served.list(saltenv, &prefix, &mut all)?;
        }
        all.sort_unstable();
        all.dedup();
        Ok(all)
    }

    fn envs(&self) -> Vec<String> {
        self.saltenvs.iter().cloned().collect()
    }

    fn unserved(&self, saltenv: &str, prefix: &str) -> Result<Vec<Unserved>, LoadError> {
        let mut all = Vec::new();
        let asked = self.served.iter();
        for served in asked.filter(|served| self.is_asked(served, saltenv)) {
            served.unserved(saltenv, &mut all)?;
        }
        all.retain(|one| is_below_or_at(&one.path, prefix));
        all.sort_unstable();
        all.dedup();
        Ok(all)
    }
}

/// True if Python's `int(text, 16)` takes a text (Salt: `salt.utils.stringutils.is_hex`).
fn is_hex(text: &str) -> bool {
    let text = text.trim();
    let text = text.strip_prefix(['+', '-']).unwrap_or(text);
    let digits = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(after) => after.strip_prefix('_').unwrap_or(after),
        None => text,
    };
    !digits.is_empty()
        && digits
            .split('_')
            .all(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_hexdigit()))
}

/// True if a file is what Git LFS puts in place of a large one.
fn is_pointer(bytes: &[u8]) -> bool {
    bytes.len() <= LARGEST_POINTER
        && bytes.starts_with(b"version https://git-lfs.github.com/spec/")
        && bytes
            .split(|b| *b == b'\n')
            .any(|line| line.starts_with(b"oid sha256:"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each row was checked with Salt's `is_hex`.
    #[test]
    fn numbers_are_hexadecimal_as_in_python() {
        for (text, expected) in [
            ("beef", true),
            ("2024", true),
            ("DEAD", true),
            (" ff ", true),
            ("-1", true),
            ("0x1f", true),
            ("0x_1f", true),
            ("1_0", true),
            ("1__0", false),
            ("_1", false),
            ("1_", false),
            ("0x", false),
            ("", false),
            ("main", false),
            ("v1.0", false),
            ("e5.1", false),
        ] {
            assert_eq!(is_hex(text), expected, "{text:?}");
        }
    }

    #[test]
    fn servers_can_be_shared_between_threads() {
        fn shared<T: Send + Sync>() {}
        shared::<GitFs>();
    }
}
