//! Fetching repositories of other machines into mirrors.
//!
//! A mirror is a bare repository with the references of the remote, under the remote's names, all of
//! them in one file. Objects are written first. Then that file is replaced in one step, so a reader
//! finds either what was there before or all that is there now, whenever the fetch ends.

mod address;
mod program;
mod progress;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs::{self, File, TryLockError};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use gix::ObjectId;
use gix::bstr::ByteSlice as _;

use super::RemoteSource;
use super::refspec::{Refspec, TAGS};
use address::Address;
use program::Git;
pub use program::StopReason;
pub use progress::{FetchStage, Progress};

/// The changes of a fetch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FetchedChanges {
    /// References that are new.
    pub new: Vec<String>,
    /// References that lead elsewhere now.
    pub changed: Vec<String>,
    /// References that are gone.
    pub gone: Vec<String>,
}

impl FetchedChanges {
    /// True if everything is as it was.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        self.new.is_empty() && self.changed.is_empty() && self.gone.is_empty()
    }
}

impl fmt::Display for FetchedChanges {
    /// The numbers of references that changed in each way: `branches and tags: 2 new, 1 gone`, or `up to date`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_nothing() {
            return f.write_str("up to date");
        }
        let counts = [
            (self.new.len(), "new"),
            (self.changed.len(), "changed"),
            (self.gone.len(), "gone"),
        ];
        let counts = counts.into_iter().filter(|(count, _)| *count > 0);
        let counts: Vec<String> = counts
            .map(|(count, what)| format!("{count} {what}"))
            .collect();
        write!(f, "branches and tags: {}", counts.join(", "))
    }
}

/// Why nothing was fetched. The mirror is as it was.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FetchError {
    /// The repository is on this machine.
    #[error("{0} is on this machine and read in place; it needs no fetch")]
    Local(String),
    /// The URL cannot be used.
    #[error("{url} cannot be fetched: {why}")]
    Url {
        /// The URL.
        url: String,
        /// Why not.
        why: String,
    },
    /// Another process is fetching.
    #[error("another fetch of {url} is under way: {} is locked", lock.display())]
    Busy {
        /// The URL.
        url: String,
        /// The file that is locked.
        lock: PathBuf,
    },
    /// The mirror cannot be read.
    #[error("the mirror {} of {url} cannot be read: {why}; remove it and fetch again", mirror.display())]
    Mirror {
        /// The URL.
        url: String,
        /// The mirror.
        mirror: PathBuf,
        /// Why not.
        why: String,
    },
    /// The remote or the way there fails.
    #[error("{url} cannot be fetched: {why}")]
    Remote {
        /// The URL.
        url: String,
        /// Why not.
        why: String,
    },
    /// The mirror cannot be written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
}

type Result<T> = std::result::Result<T, FetchError>;

/// Fetch a repository into its mirror below a directory (Salt: `GitProvider.fetch`).
///
/// The program `git` contacts the remote, with the user's configuration. It works in a temporary repository beside the
/// mirror, and is never started in the mirror itself.
///
/// References that the remote no longer has go away, and tags that moved are moved. Until the last
/// step the mirror is as it was; a first fetch becomes visible when it is complete.
///
/// ```no_run
/// use mapstack_salt_config::gitfs::{Progress, RemoteSource, fetch};
/// let origin = RemoteSource::new("https://example.org/users-formula.git");
/// let updated = fetch(&origin, "/var/cache/mirrors".as_ref(), &Progress::default(), &|| None).unwrap();
/// println!("{} new references", updated.new.len());
/// ```
///
/// # Errors
/// [`FetchError`], also once `stop` gives a reason to stop. It is asked again and again, as the server decides how long
/// everything takes.
pub fn fetch(
    origin: &RemoteSource,
    mirrors: &Path,
    progress: &Progress,
    stop: &StopReason<'_>,
) -> Result<FetchedChanges> {
    let url = origin.shown();
    if origin.local().is_some() {
        return Err(FetchError::Local(url));
    }
    let address = Address::of(origin).map_err(|why| FetchError::Url {
        url: url.clone(),
        why,
    })?;
    let mirror = origin.repository(mirrors);
    fs::create_dir_all(mirrors).map_err(io_at(mirrors))?;
    let _held = RepositoryLock::take(&url, beside(&mirror, "lock"))?;
    sweep(mirrors, &mirror)?;
    let fetch = Fetch {
        origin,
        url,
        workshop: Workshop(beside(&mirror, &format!("{}.new", std::process::id()))),
        mirror,
        git: Git {
            origin,
            address: &address,
            progress,
            stop,
        },
    };
    fetch.run(mirrors)
}

fn io_at(path: &Path) -> impl FnOnce(io::Error) -> FetchError + use<> {
    let path = path.to_path_buf();
    move |source| FetchError::Io { path, source }
}

/// An exclusive lock. It ends with the process, however that ends.
struct RepositoryLock(File);

impl RepositoryLock {
    fn take(url: &str, path: PathBuf) -> Result<Self> {
        let opened = File::options().create(true).append(true).open(&path);
        let file = match opened {
            Ok(file) => file,
            Err(source) => return Err(FetchError::Io { path, source }),
        };
        // A program that a killed fetch was about to start holds the lock until it runs, which is soon.
        for wait in [20, 40, 80, 0].map(Duration::from_millis) {
            match file.try_lock() {
                Ok(()) => return Ok(RepositoryLock(file)),
                Err(TryLockError::WouldBlock) => thread::sleep(wait),
                Err(TryLockError::Error(source)) => return Err(FetchError::Io { path, source }),
            }
        }
        Err(FetchError::Busy {
            url: url.into(),
            lock: path,
        })
    }
}

impl Drop for RepositoryLock {
    fn drop(&mut self) {
        // Closing the file is not enough: a program that another thread is about to run has it open, too.
        let _ = self.0.unlock();
    }
}

/// A path beside the mirror.
fn beside(mirror: &Path, what: &str) -> PathBuf {
    let mut name = mirror.file_name().unwrap_or_default().to_os_string();
    name.push(format!(".{what}"));
    mirror.with_file_name(name)
}

/// The number of times that a directory into which a program still writes is removed once more.
const TRIES: u32 = 40;

fn remove(directory: &Path) -> Result<()> {
    for _ in 0..TRIES {
        let Err(source) = fs::remove_dir_all(directory) else {
            return Ok(());
        };
        match source.kind() {
            io::ErrorKind::NotFound => return Ok(()),
            // Git can outlive the fetch that started it, and soon finds nothing left to write to.
            io::ErrorKind::DirectoryNotEmpty => thread::sleep(Duration::from_millis(50)),
            _ => return Err(io_at(directory)(source)),
        }
    }
    // The next fetch tries again; this one has a directory of another name.
    Ok(())
}

/// Remove what fetches into this mirror left that did not end. A program that one of them started may still run, so each
/// fetch has a directory of another name.
fn sweep(mirrors: &Path, mirror: &Path) -> Result<()> {
    let start = beside(mirror, "");
    let start = start.file_name().unwrap_or_default().as_encoded_bytes();
    let failed = || io_at(mirrors);
    for entry in fs::read_dir(mirrors).map_err(failed())? {
        let entry = entry.map_err(failed())?;
        let name = entry.file_name();
        let name = name.as_encoded_bytes();
        if name.starts_with(start) && name.ends_with(b".new") {
            remove(&entry.path())?;
        }
    }
    Ok(())
}

/// The repository that git works in, beside the mirror. It goes when the fetch ends.
struct Workshop(PathBuf);

impl Drop for Workshop {
    fn drop(&mut self) {
        // The next fetch removes whatever is left.
        let _ = remove(&self.0);
    }
}

impl Workshop {
    /// An empty repository without hooks, in which the mirror's objects are there as well.
    fn make(&self, mirror: &Path, known: &BTreeMap<String, ObjectId>) -> io::Result<()> {
        let at = |name: &str| self.0.join(name);
        for directory in ["objects/info", "objects/pack", "refs"] {
            fs::create_dir_all(at(directory))?;
        }
        fs::write(at("HEAD"), "ref: refs/heads/master\n")?;
        fs::write(
            at("config"),
            "[core]\n\trepositoryformatversion = 0\n\tbare = true\n",
        )?;
        if mirror.exists() {
            let name = mirror.file_name().unwrap_or_default().to_string_lossy();
            fs::write(
                at("objects/info/alternates"),
                format!("../../{name}/objects\n"),
            )?;
            fs::write(at("packed-refs"), packed(known))?;
        }
        Ok(())
    }

    fn packs(&self) -> PathBuf {
        self.0.join("objects/pack")
    }

    /// Give the mirror what was received. An index comes after what it is of: a pack is there when its index is.
    fn hand_over(&self, mirror: &Path) -> io::Result<()> {
        let packs = mirror.join("objects/pack");
        fs::create_dir_all(&packs)?;
        let mut files = Vec::new();
        for entry in fs::read_dir(self.packs())? {
            let path = entry?.path();
            let kind = path.extension().unwrap_or_default().to_os_string();
            if ["pack", "rev", "idx"].iter().any(|known| kind == *known) {
                files.push((kind == "idx", path));
            }
        }
        files.sort_unstable();
        for (_, path) in files {
            fs::rename(&path, packs.join(path.file_name().unwrap_or_default()))?;
        }
        sync_directory(&packs)
    }
}

/// A fetch into a mirror that is locked for this process.
struct Fetch<'f> {
    origin: &'f RemoteSource,
    url: String,
    mirror: PathBuf,
    workshop: Workshop,
    git: Git<'f>,
}

impl Fetch<'_> {
    fn run(&self, mirrors: &Path) -> Result<FetchedChanges> {
        let workshop = &self.workshop.0;
        let is_first = !self.mirror.exists();
        let held = if is_first {
            None
        } else {
            Some(self.open(&self.mirror)?)
        };
        let before = match &held {
            Some(repository) => self.references(repository)?,
            None => BTreeMap::new(),
        };
        let has = |id: &ObjectId| held.as_ref().is_some_and(|mirror| mirror.has_object(id));
        // The references announced to the server as present: only those whose objects are here.
        let mut known = before.clone();
        known.retain(|_, id| has(id));
        self.workshop
            .make(&self.mirror, &known)
            .map_err(io_at(workshop))?;
        let after = self.advertised()?;
        let lacking: BTreeSet<ObjectId> = after.values().filter(|id| !has(id)).copied().collect();
        if !lacking.is_empty() {
            self.receive(&lacking)?;
        }
        let updated = difference(&before, &after);
        let packs = self.workshop.packs();
        settle(&packs).map_err(io_at(&packs))?;
        if is_first {
            write_references(workshop, &after).map_err(io_at(workshop))?;
            fs::rename(workshop, &self.mirror).map_err(io_at(&self.mirror))?;
            sync_directory(mirrors).map_err(io_at(mirrors))?;
        } else if !updated.is_nothing() {
            let failed = || io_at(&self.mirror);
            self.workshop.hand_over(&self.mirror).map_err(failed())?;
            write_references(&self.mirror, &after).map_err(failed())?;
        }
        Ok(updated)
    }

    fn open(&self, mirror: &Path) -> Result<gix::Repository> {
        let options = gix::open::Options::isolated()
            .open_path_as_is(true)
            .bail_if_untrusted(false);
        let opened = options.open(mirror).map_err(|e| self.mirror_error(&e))?;
        Ok(opened.to_thread_local())
    }

    /// The objects that the remote's references lead to.
    fn advertised(&self) -> Result<BTreeMap<String, ObjectId>> {
        let mut arguments = vec!["ls-remote", "--refs"];
        let specs = &self.origin.refspecs;
        let is_usual = |spec: &Refspec| {
            let source = spec.source();
            source.starts_with("refs/heads/") || source.starts_with(TAGS)
        };
        if specs.iter().all(is_usual) {
            // So the server leaves out all else, such as every pull request.
            arguments.extend(["--heads", "--tags"]);
        }
        arguments.extend(["--", &self.git.address.url]);
        let listed = self.ask(&arguments, Vec::new())?;
        let mut references = BTreeMap::new();
        for line in listed.lines() {
            let Some((id, name)) = line.split_once_str("\t") else {
                continue;
            };
            let Ok(id) = ObjectId::from_hex(id) else {
                return Err(self.remote_error(
                    "the ids of its objects are not SHA-1, the only supported kind".into(),
                ));
            };
            // An invalid name could break the file.
            if gix::validate::reference::name(name.as_bstr()).is_ok()
                && let Ok(name) = name.to_str()
                && Refspec::fetches(specs, name)
            {
                references.insert(name.to_owned(), id);
            }
        }
        Ok(references)
    }

    /// Get objects and all that they need. No reference is written.
    fn receive(&self, lacking: &BTreeSet<ObjectId>) -> Result<()> {
        let wanted: String = lacking.iter().map(|id| format!("{id}\n")).collect();
        let arguments = [
            "fetch",
            "--progress",
            "--stdin",
            "--refmap=",
            "--no-tags",
            "--no-prune",
            "--no-recurse-submodules",
            "--no-write-fetch-head",
            "--no-auto-gc",
            "--",
            &self.git.address.url,
        ];
        self.ask(&arguments, wanted.into_bytes())?;
        let received = self.open(&self.workshop.0)?;
        match lacking.iter().find(|id| !received.has_object(**id)) {
            Some(id) => Err(self.remote_error(format!(
                "the server did not send {id}, where a reference leads"
            ))),
            None => Ok(()),
        }
    }

    fn ask(&self, arguments: &[&str], input: Vec<u8>) -> Result<Vec<u8>> {
        let answer = self.git.run(&self.workshop.0, arguments, input);
        answer.map_err(|why| self.remote_error(self.advice(why)))
    }

    /// Advice, if the error alone does not make it clear.
    fn advice(&self, why: String) -> String {
        let says = |texts: &[&str]| texts.iter().any(|text| why.contains(text));
        let is_http = self.origin.url.to_ascii_lowercase().starts_with("http");
        if says(&[
            "unknown option `stdin'",
            "unknown option `no-write-fetch-head'",
        ]) {
            return format!("git 2.29 or later is needed ({why})");
        }
        if is_http
            && says(&[
                "could not read Username",
                "could not read Password",
                "Authentication failed",
                "error: 401",
            ])
        {
            return "the server wants a `user` and a `password` (`gitfs_user`, `gitfs_password`) or a login that git has, \
                    for example from a credential helper, or refuses what it got"
                .into();
        }
        if is_http && says(&["not found", "error: 404"]) {
            return format!(
                "{why}; is the URL right, and does the repository need a `user` and a `password`?"
            );
        }
        if !is_http && says(&["Permission denied", "Host key verification failed"]) {
            return format!(
                "ssh was refused; does `ssh` by itself get there with a key, and may the key read it? It says: {why}"
            );
        }
        why
    }

    fn references(&self, repository: &gix::Repository) -> Result<BTreeMap<String, ObjectId>> {
        let failed = |e: gix::Error| self.mirror_error(&e);
        let mut all = BTreeMap::new();
        for reference in repository
            .references()
            .map_err(failed)?
            .all()
            .map_err(failed)?
        {
            let reference = reference.map_err(failed)?;
            if let Some(id) = reference.try_id() {
                all.insert(
                    reference.name().as_bstr().to_str_lossy().into_owned(),
                    id.detach(),
                );
            }
        }
        Ok(all)
    }

    fn mirror_error(&self, e: &gix::Error) -> FetchError {
        FetchError::Mirror {
            url: self.url.clone(),
            mirror: self.mirror.clone(),
            why: words(e),
        }
    }

    fn remote_error(&self, why: String) -> FetchError {
        FetchError::Remote {
            url: self.url.clone(),
            why,
        }
    }
}

/// References as a file has them.
fn packed(references: &BTreeMap<String, ObjectId>) -> String {
    let mut text = String::from("# pack-refs with: sorted \n");
    for (name, id) in references {
        text.push_str(&format!("{id} {name}\n"));
    }
    text
}

/// Replace all references in one step.
fn write_references(repository: &Path, references: &BTreeMap<String, ObjectId>) -> io::Result<()> {
    let path = repository.join("packed-refs");
    let unfinished = beside(&path, "new");
    let mut file = File::create(&unfinished)?;
    file.write_all(packed(references).as_bytes())?;
    file.sync_all()?;
    fs::rename(&unfinished, &path)?;
    sync_directory(repository)
}

/// See that packs are on the disk.
fn settle(packs: &Path) -> io::Result<()> {
    for entry in fs::read_dir(packs)? {
        let path = entry?.path();
        let kind = path.extension().unwrap_or_default();
        if kind == "pack" || kind == "idx" {
            File::open(path)?.sync_all()?;
        } else if kind == "keep" {
            // References lead to it from now on.
            fs::remove_file(path)?;
        }
    }
    sync_directory(packs)
}

/// See that the names in a directory are on the disk.
fn sync_directory(directory: &Path) -> std::io::Result<()> {
    // Other systems keep names without being asked, and open no directories.
    if cfg!(unix) {
        File::open(directory)?.sync_all()
    } else {
        Ok(())
    }
}

/// An error and what caused it, innermost last.
fn words(e: &dyn std::error::Error) -> String {
    let mut words = e.to_string();
    let mut cause = e.source();
    while let Some(e) = cause {
        let text = e.to_string();
        if !text.is_empty() && !words.contains(&text) {
            words.push_str(": ");
            words.push_str(&text);
        }
        cause = e.source();
    }
    words
}

fn difference(
    before: &BTreeMap<String, ObjectId>,
    after: &BTreeMap<String, ObjectId>,
) -> FetchedChanges {
    let mut updated = FetchedChanges::default();
    for (name, id) in after {
        match before.get(name) {
            None => updated.new.push(name.clone()),
            Some(old) if old != id => updated.changed.push(name.clone()),
            Some(_) => {}
        }
    }
    updated.gone = before
        .keys()
        .filter(|name| !after.contains_key(*name))
        .cloned()
        .collect();
    updated
}
