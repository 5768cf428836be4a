//! Fetching repositories of other machines into mirrors.
//!
//! A mirror is a bare repository with the references of the remote, under the remote's names, all of
//! them in one file. Objects are written first. Then that file is replaced in one step, so a reader
//! finds either what was there before or all that is there now, whenever the fetch ends.

mod http;
mod progress;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs::{self, File, TryLockError};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use gix::ObjectId;
use gix::bstr::ByteSlice as _;
use gix::protocol::transport::Protocol;
use gix::remote::Direction;
use gix::remote::fetch::{Outcome, Status, Tags};
use gix_transport::client::blocking_io::http::Transport as HttpTransport;
use gix_transport::client::blocking_io::{Transport, ssh};

use super::Origin;
use super::refspec::TAGS;
use http::Client;
pub use progress::{FetchStage, Progress};

/// What a fetch changed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Updated {
    /// References that are new.
    pub new: Vec<String>,
    /// References that lead elsewhere now.
    pub changed: Vec<String>,
    /// References that are gone.
    pub gone: Vec<String>,
}

impl Updated {
    /// Whether everything is as it was.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        self.new.is_empty() && self.changed.is_empty() && self.gone.is_empty()
    }
}

impl fmt::Display for Updated {
    /// How many references changed in which way: `branches and tags: 2 new, 1 gone`, or `up to date`.
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
    #[error("{0} is on this machine and read in place; there is nothing to fetch")]
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
/// References that the remote no longer has go away, and tags that moved are moved. Until the last
/// step the mirror is as it was; a first fetch becomes visible when it is complete.
///
/// ```no_run
/// use mapstack_loader::git::{Origin, Progress, fetch};
/// use std::sync::atomic::AtomicBool;
/// let origin = Origin::new("https://example.org/users-formula.git");
/// let updated = fetch(&origin, "/var/cache/mirrors".as_ref(), &Progress::default(), &AtomicBool::new(false)).unwrap();
/// println!("{} new references", updated.new.len());
/// ```
///
/// # Errors
/// [`FetchError`], also after `interrupt` became true.
pub fn fetch(
    origin: &Origin,
    mirrors: &Path,
    progress: &Progress,
    interrupt: &AtomicBool,
) -> Result<Updated> {
    let url = origin.shown();
    if origin.local().is_some() {
        return Err(FetchError::Local(url));
    }
    let mirror = origin.repository(mirrors);
    let io_at = |path: &Path| {
        let path = path.to_path_buf();
        move |source| FetchError::Io { path, source }
    };
    fs::create_dir_all(mirrors).map_err(io_at(mirrors))?;
    let lock = beside(&mirror, "lock");
    let _held = Held::take(&url, lock)?;
    if mirror.exists() {
        return Fetch {
            origin,
            url,
            mirror: mirror.clone(),
        }
        .run(&mirror, progress, interrupt);
    }
    // What an earlier fetch left that did not end.
    let unfinished = beside(&mirror, "new");
    remove(&unfinished)?;
    let fetch = Fetch {
        origin,
        url: url.clone(),
        mirror: unfinished.clone(),
    };
    gix::init_bare(&unfinished).map_err(|e| fetch.mirror_error(&e))?;
    let updated = fetch
        .run(&unfinished, progress, interrupt)
        .inspect_err(|_| drop(remove(&unfinished)))?;
    fs::rename(&unfinished, &mirror).map_err(io_at(&mirror))?;
    sync_directory(mirrors).map_err(io_at(mirrors))?;
    Ok(updated)
}

/// An exclusive lock. It ends with the process, however that ends.
struct Held(File);

impl Held {
    fn take(url: &str, path: PathBuf) -> Result<Self> {
        let opened = File::options().create(true).append(true).open(&path);
        let file = match opened {
            Ok(file) => file,
            Err(source) => return Err(FetchError::Io { path, source }),
        };
        match file.try_lock() {
            Ok(()) => Ok(Held(file)),
            Err(TryLockError::WouldBlock) => Err(FetchError::Busy {
                url: url.into(),
                lock: path,
            }),
            Err(TryLockError::Error(source)) => Err(FetchError::Io { path, source }),
        }
    }
}

impl Drop for Held {
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

fn remove(directory: &Path) -> Result<()> {
    match fs::remove_dir_all(directory) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => Err(FetchError::Io {
            path: directory.into(),
            source,
        }),
        _ => Ok(()),
    }
}

/// A fetch into a mirror that is locked for this process.
struct Fetch<'o> {
    origin: &'o Origin,
    url: String,
    mirror: PathBuf,
}

impl Fetch<'_> {
    fn run(&self, mirror: &Path, progress: &Progress, interrupt: &AtomicBool) -> Result<Updated> {
        let options = gix::open::Options::isolated()
            .open_path_as_is(true)
            .bail_if_untrusted(false);
        let repository = options
            .open(mirror)
            .map_err(|e| self.mirror_error(&e))?
            .to_thread_local();
        self.sweep(mirror)?;
        let before = self.references(&repository)?;
        let after = match self.transport()? {
            Way::Http(transport) => self.advertised(&repository, *transport, progress)?,
            Way::Ssh(transport) => self.advertised(&repository, *transport, progress)?,
        };
        let lacking: BTreeSet<ObjectId> = after
            .values()
            .filter(|id| !repository.has_object(id))
            .copied()
            .collect();
        if !lacking.is_empty() {
            match self.transport()? {
                Way::Http(transport) => {
                    self.receive(&repository, *transport, &lacking, progress, interrupt)?;
                }
                Way::Ssh(transport) => {
                    self.receive(&repository, *transport, &lacking, progress, interrupt)?;
                }
            }
        }
        if let Some(id) = lacking.iter().find(|id| !repository.has_object(id)) {
            return Err(self.remote_error(format!(
                "the server did not send {id}, where a reference leads"
            )));
        }
        let updated = difference(&before, &after);
        if !updated.is_nothing() {
            self.write_references(mirror, &after)?;
        }
        Ok(updated)
    }

    fn transport(&self) -> Result<Way> {
        let bad = |why: String| FetchError::Url {
            url: self.url.clone(),
            why,
        };
        let url = gix::Url::try_from(self.origin.url.as_str());
        let mut url = url.map_err(|e| bad(words(&e).replace(&self.origin.url, &self.url)))?;
        match url.scheme {
            gix::url::Scheme::Http | gix::url::Scheme::Https => {
                let mut origin = self.origin.clone();
                if let Some(user) = url.user() {
                    origin.user = user.into();
                }
                if let Some(password) = url.password() {
                    origin.password = password.into();
                }
                url.set_user(None);
                url.set_password(None);
                let client = Client::new(&origin).map_err(bad)?;
                Ok(Way::Http(Box::new(HttpTransport::new_http(
                    client,
                    url,
                    Protocol::V2,
                    false,
                ))))
            }
            gix::url::Scheme::Ssh => {
                let transport =
                    ssh::connect(url, Protocol::V2, ssh::connect::Options::default(), false);
                Ok(Way::Ssh(Box::new(transport.map_err(|e| bad(words(&e)))?)))
            }
            other => Err(bad(format!(
                "{other}:// is not supported; use https:// or ssh://"
            ))),
        }
    }

    /// What the remote's references lead to.
    fn advertised<T: Transport>(
        &self,
        repository: &gix::Repository,
        transport: T,
        progress: &Progress,
    ) -> Result<BTreeMap<String, ObjectId>> {
        let specs = self
            .origin
            .refspecs
            .iter()
            .map(|spec| match spec.excludes() {
                true => spec.to_string(),
                false => format!("+{0}:{0}", spec.source()),
            });
        // Whatever they say, Salt gets all tags.
        let specs: Vec<String> = specs.chain([format!("+{TAGS}*:{TAGS}*")]).collect();
        let remote = self.remote(repository, &specs)?;
        let connection = remote
            .to_connection_with_transport(transport)
            .with_credentials(|_| Ok(None));
        let listed = connection.ref_map(progress.node(), gix::remote::ref_map::Options::default());
        let (listed, _) = listed.map_err(|e| self.failed(&e))?;
        let mut references = BTreeMap::new();
        for mapping in &listed.mappings {
            let (Some(name), Some(id)) = (mapping.remote.as_name(), mapping.remote.as_id()) else {
                continue;
            };
            // An invalid name could break the file.
            if gix::validate::reference::name(name.as_bstr()).is_ok() && name.starts_with(b"refs/")
            {
                references.insert(name.to_str_lossy().into_owned(), id.to_owned());
            }
        }
        Ok(references)
    }

    /// Get objects and all that they need. No reference is written.
    fn receive<T: Transport>(
        &self,
        repository: &gix::Repository,
        transport: T,
        lacking: &BTreeSet<ObjectId>,
        progress: &Progress,
        interrupt: &AtomicBool,
    ) -> Result<()> {
        let wanted: Vec<String> = lacking.iter().map(ToString::to_string).collect();
        let remote = self.remote(repository, &wanted)?;
        let connection = remote
            .to_connection_with_transport(transport)
            .with_credentials(|_| Ok(None));
        let prepared =
            connection.prepare_fetch(progress.node(), gix::remote::ref_map::Options::default());
        let received = prepared
            .map_err(|e| self.failed(&e))?
            .receive(progress.node(), interrupt);
        Self::release(&received.map_err(|e| self.failed(&e))?);
        Ok(())
    }

    fn remote<'r>(
        &self,
        repository: &'r gix::Repository,
        specs: &[String],
    ) -> Result<gix::Remote<'r>> {
        let remote = repository
            .remote_at(self.url.as_str())
            .map_err(|e| self.failed(&e))?;
        let remote = remote.with_refspecs(specs.iter().map(String::as_str), Direction::Fetch);
        Ok(remote
            .map_err(|e| self.failed(&e))?
            .with_fetch_tags(Tags::None))
    }

    /// Advice, if the error alone does not make it clear.
    fn advice(&self, why: String) -> String {
        let is_refused = why.contains("HTTP status 401") || why.contains("redentials");
        let is_http = self.origin.url.starts_with("http");
        match (is_refused, is_http) {
            (true, true) => "the server wants a `user` and a `password` (`gitfs_user`, `gitfs_password`), \
                             or refuses those it got"
                .into(),
            (true, false) => {
                "ssh was refused; does `ssh` by itself get there with a key, and may the key read it?".into()
            }
            (false, true) => why,
            (false, false) => format!("{why}; what ssh says stands above"),
        }
    }

    fn failed(&self, e: &gix::Error) -> FetchError {
        self.remote_error(self.advice(words(e)))
    }

    /// Let go of the pack that was received: references lead to it from now on.
    fn release(received: &Outcome) {
        if let Status::Change {
            write_pack_bundle: bundle,
            ..
        } = &received.status
            && let Some(keep) = &bundle.keep_path
        {
            let _ = fs::remove_file(keep);
        }
    }

    /// Remove what fetches left that did not end.
    fn sweep(&self, mirror: &Path) -> Result<()> {
        let packs = mirror.join("objects/pack");
        let Ok(entries) = fs::read_dir(&packs) else {
            return Ok(());
        };
        for entry in entries.flatten() {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            // What starts with `.tmp-` is git's, which may be repacking.
            let is_ours = name.starts_with(".tmp") && !name.starts_with(".tmp-");
            if is_ours || name.ends_with(".keep") {
                let path = entry.path();
                fs::remove_file(&path).map_err(|source| FetchError::Io { path, source })?;
            }
        }
        Ok(())
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

    /// See that all packs are on the disk, those of fetches that were killed among them.
    fn settle_packs(mirror: &Path) -> std::io::Result<()> {
        let packs = mirror.join("objects/pack");
        for entry in fs::read_dir(&packs)? {
            let path = entry?.path();
            if path
                .extension()
                .is_some_and(|kind| kind == "pack" || kind == "idx")
            {
                File::open(path)?.sync_all()?;
            }
        }
        sync_directory(&packs)
    }

    /// Replace all references in one step.
    fn write_references(
        &self,
        mirror: &Path,
        references: &BTreeMap<String, ObjectId>,
    ) -> Result<()> {
        let path = mirror.join("packed-refs");
        Self::settle_packs(mirror).map_err(|source| FetchError::Io {
            path: mirror.join("objects/pack"),
            source,
        })?;
        let unfinished = beside(&path, "new");
        let written = (|| {
            let mut text = String::from("# pack-refs with: sorted \n");
            for (name, id) in references {
                text.push_str(&format!("{id} {name}\n"));
            }
            let mut file = File::create(&unfinished)?;
            file.write_all(text.as_bytes())?;
            file.sync_all()?;
            fs::rename(&unfinished, &path)?;
            sync_directory(mirror)
        })();
        written.map_err(|source| FetchError::Io { path, source })
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

/// See that the names in a directory are on the disk.
fn sync_directory(directory: &Path) -> std::io::Result<()> {
    // Other systems keep names without being asked, and open no directories.
    if cfg!(unix) {
        File::open(directory)?.sync_all()
    } else {
        Ok(())
    }
}

enum Way {
    Http(Box<HttpTransport<Client>>),
    Ssh(Box<gix_transport::client::blocking_io::file::SpawnProcessOnDemand>),
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

fn difference(before: &BTreeMap<String, ObjectId>, after: &BTreeMap<String, ObjectId>) -> Updated {
    let mut updated = Updated::default();
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
