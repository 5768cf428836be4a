//! Files by their paths on disk, as far as they lie below directories that the user named.

use std::borrow::Cow;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use mapstack_loader::inside::{
    OpenFileRead, Opening, is_link_loop, is_missing, open_anywhere, open_inside, read, too_large,
    too_many,
};
use mapstack_loader::{Fetched, FileServer, LoadError};
use mapstack_value::posixpath::{join, split};
use mapstack_value::pytext::{Fnmatch, has_magic};

use crate::disk::deployed::Deployed;
use crate::disk::kept::{KeptFiles, Stamp};
use crate::disk::mount::Mount;
use crate::disk::reads::TreeReads;

/// Files by their paths on disk, below directories that the user named.
///
/// A path may come from a template and so from a minion. Wherever it leads in the end, links and
/// `..` followed, has to lie below one of the directories; nothing else is read or listed.
///
/// ```
/// use mapstack_salt_config::disk::FileTree;
/// use mapstack_loader::{Fetched, LoadError};
/// let dir = tempfile::tempdir().unwrap();
/// std::fs::write(dir.path().join("core.yml"), "a: 1").unwrap();
/// let base = dir.path().to_str().unwrap();
/// let tree = FileTree::new().directory(base);
/// assert_eq!(tree.glob(base, "*.yml").unwrap(), [format!("{base}/core.yml")]);
/// assert!(matches!(tree.read(&format!("{base}/core.yml")).unwrap(), Fetched::Found { .. }));
/// assert!(matches!(tree.read("/"), Err(LoadError::Outside { .. })));
/// ```
#[derive(Debug, Clone, Default)]
pub struct FileTree {
    /// Without links.
    directories: Vec<PathBuf>,
    /// The same as they were named.
    named: Vec<String>,
    mounts: Vec<Mount>,
    /// The paths that are deployed.
    deployed: Deployed,
    /// True if patterns may list any directory.
    anywhere: bool,
    /// The files that were read before.
    kept: Option<KeptFiles>,
    /// The notes of files that are found.
    noted: Option<TreeReads>,
}

/// Something in a directory of a [`FileTree`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    name: String,
    is_directory: bool,
    is_link: bool,
}

impl Entry {
    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// True if it is a directory, or a link to one.
    #[must_use]
    pub fn is_directory(&self) -> bool {
        self.is_directory
    }

    /// True if it is a link. A mounted file server has none.
    #[must_use]
    pub fn is_link(&self) -> bool {
        self.is_link
    }
}

/// The most bytes a file may have.
const MAX_FILE_SIZE: u64 = 32 << 20;

/// The most entries that one pattern looks at.
const MAX_ENTRIES: usize = 100_000;

impl FileTree {
    /// No directory at all.
    #[must_use]
    pub fn new() -> Self {
        FileTree::default()
    }

    /// Add a directory. One that does not exist has no files.
    #[must_use]
    pub fn directory(mut self, directory: impl AsRef<Path>) -> Self {
        let directory = directory.as_ref();
        let local = directory
            .to_str()
            .and_then(|path| self.deployed.local(path));
        let directory = local.as_deref().map_or(directory, Path::new);
        let here = if directory.as_os_str().is_empty() {
            Path::new(".")
        } else {
            directory
        };
        if self.deployed.refuses(here) {
            return self;
        }
        self.named.extend(here.to_str().map(Into::into));
        let find = || fs::canonicalize(here).ok();
        let real = match &self.kept {
            Some(kept) => kept.real(here, find),
            None => find(),
        };
        if let Some(real) = real
            && !self.directories.contains(&real)
        {
            self.directories.push(real);
        }
        self
    }

    /// Read files again only where they changed.
    ///
    /// ```
    /// use mapstack_salt_config::disk::{FileTree, KeptFiles};
    /// use mapstack_loader::Fetched;
    /// let dir = tempfile::tempdir().unwrap();
    /// let file = dir.path().join("core.yml").display().to_string();
    /// std::fs::write(&file, "a: 1").unwrap();
    /// let tree = FileTree::new().directory(dir.path()).keeping(&KeptFiles::default());
    /// let read = || tree.read(&file).unwrap();
    /// assert_eq!(read(), read());
    /// std::fs::write(&file, "a: changed").unwrap();
    /// assert!(matches!(read(), Fetched::Found { bytes, .. } if *bytes == *b"a: changed"));
    /// ```
    #[must_use]
    pub fn keeping(mut self, kept: &KeptFiles) -> Self {
        self.kept = Some(kept.clone());
        self
    }

    /// Note the files that are read, whether they are read again or known.
    ///
    /// ```
    /// use mapstack_salt_config::disk::{FileTree, TreeReads};
    /// let dir = tempfile::tempdir().unwrap();
    /// let file = dir.path().join("core.yml");
    /// std::fs::write(&file, "a: 1").unwrap();
    /// let reads = TreeReads::default();
    /// let tree = FileTree::new().directory(dir.path()).noting(&reads);
    /// tree.read(file.to_str().unwrap()).unwrap();
    /// tree.read("/nowhere").unwrap();
    /// assert!(reads.take().into_iter().eq([file]));
    /// ```
    #[must_use]
    pub fn noting(mut self, reads: &TreeReads) -> Self {
        self.noted = Some(reads.clone());
        self
    }

    fn note(&self, read: Result<Fetched, LoadError>) -> Result<Fetched, LoadError> {
        if let (Some(noted), Ok(Fetched::Found { on_disk, .. })) = (&self.noted, &read) {
            noted.note(on_disk);
        }
        read
    }

    /// Take what lies below a directory from the saltenv `base` of a file server, and not from the disk: how a work
    /// tree was at a revision. The same paths may be read as without it; paths are compared by their names.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use mapstack_salt_config::disk::FileTree;
    /// use mapstack_loader::{Fetched, MemoryFiles};
    /// let dir = tempfile::tempdir().unwrap();
    /// let base = dir.path().to_str().unwrap();
    /// let before = MemoryFiles::new().file("base", "stack/core.yml", "a: 1");
    /// let tree = FileTree::new().directory(dir.path()).mount(dir.path(), Arc::new(before));
    /// assert_eq!(tree.glob(base, "stack/*.yml").unwrap(), [format!("{base}/stack/core.yml")]);
    /// assert!(tree.is_file(&format!("{base}/stack/core.yml")).unwrap());
    /// ```
    #[must_use]
    pub fn mount(mut self, directory: impl AsRef<Path>, files: Arc<dyn FileServer>) -> Self {
        self.mounts.extend(Mount::new(directory.as_ref(), files));
        self
    }

    /// Serve the folders of a checkout at their deployed paths. All of them may be read. Directories that are added
    /// later can be named by them. Patterns and listings give the paths as they were requested; the places of files that
    /// were read are local.
    ///
    /// ```
    /// use mapstack_salt_config::disk::{Deployed, FileTree};
    /// use mapstack_loader::Fetched;
    /// let dir = tempfile::tempdir().unwrap();
    /// std::fs::write(dir.path().join("core.yml"), "a: 1").unwrap();
    /// let deployed = Deployed::new().folder("/srv/stack", dir.path()).unwrap();
    /// let tree = FileTree::new().deploying(&deployed);
    /// assert_eq!(tree.glob("/srv/stack", "*.yml").unwrap(), ["/srv/stack/core.yml"]);
    /// let Fetched::Found { on_disk, .. } = tree.read("/srv/stack/core.yml").unwrap() else { panic!() };
    /// assert_eq!(on_disk, dir.path().join("core.yml"));
    /// ```
    #[must_use]
    pub fn deploying(mut self, deployed: &Deployed) -> Self {
        if deployed.is_empty() {
            return self;
        }
        for (_, directory) in deployed.folders() {
            self = self.directory(directory);
        }
        self.mounts.extend(deployed.mounts().iter().cloned());
        self.deployed = deployed.clone();
        self
    }

    /// The local path of a path.
    fn local<'p>(&self, path: &'p str) -> Cow<'p, str> {
        self.deployed
            .local(path)
            .map_or(Cow::Borrowed(path), Cow::Owned)
    }

    /// True if a regular file is at a path, wherever it lies.
    ///
    /// # Errors
    /// A mounted file server that cannot be read.
    pub fn is_file(&self, path: &str) -> Result<bool, LoadError> {
        let path = &*self.local(path);
        match self.mounted(path) {
            Some((mount, way)) => mount.is_file(&way),
            None if self.deployed.refuses(Path::new(path)) => Ok(false),
            None if self.kept_named(path).is_some() => Ok(true),
            None => is_regular(Path::new(path)),
        }
    }

    fn kept_named(&self, path: &str) -> Option<Arc<[u8]>> {
        self.kept.as_ref()?.get_named(path)
    }

    /// Read a file that the user named, wherever it lies.
    ///
    /// # Errors
    /// As [`read_named`].
    pub fn read_named(&self, path: &str) -> Result<Fetched, LoadError> {
        self.note(self.named_file(&self.local(path)))
    }

    fn named_file(&self, path: &str) -> Result<Fetched, LoadError> {
        if let Some((mount, way)) = self.mounted(path) {
            return fetched(path, mount, &way);
        }
        if self.deployed.refuses(Path::new(path)) {
            return match fs::symlink_metadata(path) {
                Ok(_) => Err(LoadError::Outside {
                    path: path.into(),
                    leads_to: None,
                }),
                Err(_) => Ok(Fetched::Missing),
            };
        }
        if let Some(bytes) = self.kept_named(path) {
            let on_disk = path.into();
            return Ok(Fetched::Found { on_disk, bytes });
        }
        let read = read_named(path)?;
        if let (Fetched::Found { bytes, .. }, Some(kept)) = (&read, &self.kept) {
            kept.put_named(path, bytes);
        }
        Ok(read)
    }

    /// The mount that has a path, and the way from it.
    fn mounted(&self, path: &str) -> Option<(&Mount, String)> {
        let way = |mount: &'_ Mount| mount.way_to(path);
        self.mounts
            .iter()
            .find_map(|mount| Some((mount, way(mount)?)))
    }

    /// The same, for a path that a template may have made.
    fn mounted_inside(&self, path: &str) -> Result<Option<(&Mount, String)>, LoadError> {
        let Some((mount, way)) = self.mounted(path) else {
            return Ok(None);
        };
        let below = |directory: &String| {
            let Some(directory) = mount.way_to(directory) else {
                return false;
            };
            let rest = way.strip_prefix(&directory);
            directory.is_empty()
                || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let is_inside =
            self.anywhere || self.around(mount.at()).is_some() || self.named.iter().any(below);
        if !is_inside {
            return Err(LoadError::Outside {
                path: path.into(),
                leads_to: None,
            });
        }
        Ok(Some((mount, way)))
    }

    /// The regular file at a path; directories and the like are missing.
    ///
    /// # Errors
    /// [`LoadError::Outside`] for a file that lies elsewhere, and when there is one that cannot be
    /// read.
    pub fn read(&self, path: &str) -> Result<Fetched, LoadError> {
        self.note(self.file(&self.local(path)))
    }

    fn file(&self, path: &str) -> Result<Fetched, LoadError> {
        if let Some((mount, way)) = self.mounted_inside(path)? {
            return fetched(path, mount, &way);
        }
        let kept = self.kept.as_ref();
        if let Some(known) = kept.and_then(|kept| kept.get(path, &self.directories)) {
            let on_disk = path.into();
            return Ok(known.map_or(Fetched::Missing, |bytes| Fetched::Found { on_disk, bytes }));
        }
        let read = self.read_now(path)?;
        if let (Fetched::Missing, Some(kept)) = (&read, kept) {
            kept.put_missing(path);
        }
        Ok(read)
    }

    fn read_now(&self, path: &str) -> Result<Fetched, LoadError> {
        let failed = |source| LoadError::Io {
            path: path.into(),
            source,
        };
        let real = match fs::canonicalize(path) {
            Ok(real) => real,
            Err(e) if is_missing(&e) => return Ok(Fetched::Missing),
            Err(e) => return Err(failed(e)),
        };
        let directory = self.around(&real).ok_or_else(|| outside(path, &real))?;
        // Opening a pipe or a device can wait or do something.
        if !is_regular(&real)? {
            return Ok(Fetched::Missing);
        }
        let file = match open_inside(directory, &real) {
            Ok(Opening::Inside(file)) => file,
            Ok(Opening::Outside) => return Err(outside(path, &real)),
            Err(e) if is_missing(&e) => return Ok(Fetched::Missing),
            Err(e) => return Err(failed(e)),
        };
        // Taken before reading: what changes meanwhile is read again next time.
        let stamp = file.metadata().ok().as_ref().and_then(Stamp::of);
        let read = read(file, MAX_FILE_SIZE).map_err(failed)?;
        if let (OpenFileRead::Bytes(bytes), Some(kept)) = (&read, &self.kept) {
            kept.put(path, &real, stamp, bytes);
        }
        into_fetched(path, read)
    }

    /// The paths of a pattern, sorted (Python: `glob.glob(os.path.join(base, pattern))`, but that
    /// `base` is not a pattern).
    ///
    /// Each name of the pattern may have `*`, `?` and `[…]`, which do not match the dot that starts
    /// a hidden name; `**` is `*`. A path without them matches itself if it exists. The paths are not
    /// checked further: each may be a directory, or a link out of all directories.
    ///
    /// # Errors
    /// [`LoadError::Outside`] where a directory elsewhere would have to be listed, and for
    /// directories that hold too much or cannot be listed.
    pub fn glob(&self, base: &str, pattern: &str) -> Result<Vec<String>, LoadError> {
        let base = if pattern.starts_with('/') { "" } else { base };
        let find = || {
            let mut found = self.expand(base, pattern, &mut 0)?;
            found.sort_unstable();
            Ok(found)
        };
        match self.kept.as_ref().filter(|_| self.mounts.is_empty()) {
            Some(kept) => kept.matching(&self.named, base, pattern, find),
            None => find(),
        }
    }

    fn expand(
        &self,
        base: &str,
        pattern: &str,
        seen: &mut usize,
    ) -> Result<Vec<String>, LoadError> {
        let (parent, name) = split(pattern);
        let whole = join(base, pattern);
        if !has_magic(pattern) {
            let there = self.is_there(&whole, name)?;
            return Ok(there.then_some(whole).into_iter().collect());
        }
        let directories = match parent {
            "" => vec![base.to_string()],
            parent if has_magic(parent) => self.expand(base, parent, seen)?,
            parent => vec![join(base, parent)],
        };
        let mut found = Vec::new();
        for directory in directories {
            if has_magic(name) {
                let names = self.names(&directory, name, seen)?;
                found.extend(names.into_iter().map(|name| join(&directory, &name)));
            } else {
                let path = join(&directory, name);
                found.extend(self.is_there(&path, name)?.then_some(path));
            }
        }
        Ok(found)
    }

    /// True if anything is at a path, or a directory if no name ends it.
    fn is_there(&self, path: &str, name: &str) -> Result<bool, LoadError> {
        let path = &*self.local(path);
        let Some((mount, way)) = self.mounted(path) else {
            let path = Path::new(path);
            if self.deployed.refuses(path) {
                return Ok(false);
            }
            let found = match name.is_empty() {
                true => fs::metadata(path).map(|found| found.is_dir()),
                false => fs::symlink_metadata(path).map(|_| true),
            };
            return unless_missing(path, found);
        };
        Ok((!name.is_empty() && mount.is_file(&way)?) || !mount.names(&way)?.is_empty())
    }

    /// The names in a directory that a pattern matches; none if it is not a directory.
    fn names(
        &self,
        directory: &str,
        pattern: &str,
        seen: &mut usize,
    ) -> Result<Vec<String>, LoadError> {
        let (matcher, hidden) = (Fnmatch::new(pattern), pattern.starts_with('.'));
        let is_match = |name: &str| name.starts_with('.') == hidden && matcher.matches(name);
        let names = self.listed(directory, seen)?.unwrap_or_default();
        Ok(names.into_iter().filter(|name| is_match(name)).collect())
    }

    /// All names in a directory, in no order; `None` if it is not a directory.
    fn listed(&self, directory: &str, seen: &mut usize) -> Result<Option<Vec<String>>, LoadError> {
        let here = if directory.is_empty() { "." } else { directory };
        let here = &*self.local(here);
        if let Some((mount, way)) = self.mounted_inside(here)? {
            let names = mount.names(&way)?;
            return Ok((!names.is_empty()).then(|| names.into_iter().collect()));
        }
        let failed = |source| LoadError::Io {
            path: here.into(),
            source,
        };
        let real = match fs::canonicalize(here) {
            Ok(real) if real.is_dir() => real,
            Ok(_) => return Ok(None),
            Err(e) if is_missing(&e) => return Ok(None),
            Err(e) => return Err(failed(e)),
        };
        if !self.anywhere || self.deployed.refuses(&real) {
            self.around(&real).ok_or_else(|| outside(here, &real))?;
        }
        let mut names = Vec::new();
        for entry in fs::read_dir(&real).map_err(failed)? {
            *seen += 1;
            if *seen > MAX_ENTRIES {
                return Err(LoadError::Limit {
                    path: here.into(),
                    reason: too_many(MAX_ENTRIES),
                });
            }
            // Names that are not Unicode cannot be asked for.
            names.extend(entry.map_err(failed)?.file_name().into_string());
        }
        Ok(Some(names))
    }

    /// The entries of a directory, sorted by name; `None` if no directory is there. Where links lead has yet to be
    /// asked: [`read`](Self::read) and this refuse what lies elsewhere.
    ///
    /// ```
    /// use mapstack_salt_config::disk::{Entry, FileTree};
    /// let dir = tempfile::tempdir().unwrap();
    /// std::fs::create_dir(dir.path().join("sub")).unwrap();
    /// std::fs::write(dir.path().join("a"), "1").unwrap();
    /// let base = dir.path().to_str().unwrap();
    /// let found = FileTree::new().directory(base).entries(base).unwrap().unwrap();
    /// let names: Vec<_> = found.iter().map(|entry| (entry.name(), entry.is_directory())).collect();
    /// assert_eq!(names, [("a", false), ("sub", true)]);
    /// ```
    ///
    /// # Errors
    /// [`LoadError::Outside`] for a directory elsewhere, and directories that hold too much or cannot be listed.
    pub fn entries(&self, directory: &str) -> Result<Option<Vec<Entry>>, LoadError> {
        let Some(mut names) = self.listed(directory, &mut 0)? else {
            return Ok(None);
        };
        names.sort_unstable();
        let entry = |name: String| {
            let path = join(directory, &name);
            let path = &*self.local(&path);
            let (is_directory, is_link) = match self.mounted(path) {
                Some((mount, way)) => (!mount.is_file(&way)?, false),
                None => {
                    let is_link = fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink());
                    (Path::new(path).is_dir(), is_link)
                }
            };
            Ok(Entry {
                name,
                is_directory,
                is_link,
            })
        };
        names
            .into_iter()
            .map(entry)
            .collect::<Result<_, _>>()
            .map(Some)
    }

    /// The directory that a path without links lies below.
    fn around(&self, real: &Path) -> Option<&Path> {
        self.directories
            .iter()
            .map(|directory| &**directory)
            .find(|directory| real.starts_with(directory))
    }
}

fn outside(path: &str, real: &Path) -> LoadError {
    let leads_to = (real != Path::new(path)).then(|| real.into());
    LoadError::Outside {
        path: path.into(),
        leads_to,
    }
}

/// The answer of a mounted file server for a path on the disk. A file that lies elsewhere, as in a revision, says
/// where.
fn fetched(path: &str, mount: &Mount, way: &str) -> Result<Fetched, LoadError> {
    match mount.fetch(way)? {
        Fetched::Found { on_disk, bytes } => {
            let is_here = on_disk == mount.at().join(way);
            let on_disk = if is_here { path.into() } else { on_disk };
            Ok(Fetched::Found { on_disk, bytes })
        }
        Fetched::Missing => Ok(Fetched::Missing),
        // A link out of the mounted directory.
        Fetched::Refused { .. } | Fetched::Unusable { .. } => Err(LoadError::Outside {
            path: path.into(),
            leads_to: None,
        }),
    }
}

/// True if a regular file is at a path.
fn is_regular(path: &Path) -> Result<bool, LoadError> {
    unless_missing(path, fs::metadata(path).map(|found| found.is_file()))
}

/// The finding about a path; false if nothing is there.
fn unless_missing(path: &Path, found: io::Result<bool>) -> Result<bool, LoadError> {
    match found {
        Ok(found) => Ok(found),
        Err(e) if is_missing(&e) => Ok(false),
        Err(source) => Err(LoadError::Io {
            path: path.into(),
            source,
        }),
    }
}

/// True if a regular file is at a path that the user gave.
///
/// ```
/// assert!(!mapstack_salt_config::disk::is_file("/nowhere/stack.cfg").unwrap());
/// ```
///
/// # Errors
/// [`LoadError::Io`] where it cannot be known, as of a directory that may not be entered.
pub fn is_file(path: &str) -> Result<bool, LoadError> {
    looked_at(path, fs::metadata(path).map(|found| found.is_file()))
}

/// True if a directory is at a path that the user gave.
///
/// ```
/// assert!(mapstack_salt_config::disk::is_directory("/").unwrap());
/// ```
///
/// # Errors
/// [`LoadError::Io`] where it cannot be known, as of links that lead in a circle.
pub fn is_directory(path: &str) -> Result<bool, LoadError> {
    looked_at(path, fs::metadata(path).map(|found| found.is_dir()))
}

/// The finding about a path that the user gave; a link in a circle is a mistake there.
fn looked_at(path: &str, found: io::Result<bool>) -> Result<bool, LoadError> {
    match found {
        Err(source) if is_link_loop(&source) => Err(LoadError::Io {
            path: path.into(),
            source,
        }),
        found => unless_missing(Path::new(path), found),
    }
}

/// The paths of a pattern of the user's, wherever they lie (Python: `sorted(glob.glob(pattern))`), as
/// [`FileTree::glob`] finds them.
///
/// ```
/// assert!(mapstack_salt_config::disk::glob_named("/nowhere/*.conf").unwrap().is_empty());
/// ```
///
/// # Errors
/// [`LoadError`] for directories that hold too much or cannot be listed.
pub fn glob_named(pattern: &str) -> Result<Vec<String>, LoadError> {
    FileTree {
        anywhere: true,
        ..FileTree::default()
    }
    .glob("", pattern)
}

/// Read a file that the user named, wherever it lies.
///
/// # Errors
/// It does not exist, cannot be read, or it is larger than 32 MiB.
pub fn read_named(path: &str) -> Result<Fetched, LoadError> {
    let failed = |source| LoadError::Io {
        path: path.into(),
        source,
    };
    if !is_regular(Path::new(path))? {
        let why = fs::metadata(path).err();
        return Err(failed(why.unwrap_or(io::ErrorKind::NotFound.into())));
    }
    let file = open_anywhere(Path::new(path)).map_err(failed)?;
    into_fetched(path, read(file, MAX_FILE_SIZE).map_err(failed)?)
}

fn into_fetched(path: &str, read: OpenFileRead) -> Result<Fetched, LoadError> {
    match read {
        OpenFileRead::Bytes(bytes) => Ok(Fetched::Found {
            on_disk: path.into(),
            bytes,
        }),
        OpenFileRead::NoFile => Ok(Fetched::Missing),
        OpenFileRead::TooLarge(size) => Err(LoadError::Limit {
            path: path.into(),
            reason: too_large(size, MAX_FILE_SIZE),
        }),
    }
}
