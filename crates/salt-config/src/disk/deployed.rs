//! The paths that folders of a checkout are deployed to.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use mapstack_loader::FileServer;
use mapstack_value::posixpath::normpath;

use crate::disk::mount::Mount;
use crate::disk::{FileTree, KeptFiles};

/// The paths that folders of a checkout are deployed to.
///
/// Templates, options and Python name files by these paths. Files below a deployed path are read from the folder
/// deployed there, and from no other place: not by `..`, and through links only from one of these folders to another.
/// If one deployed path is below another, the longer one counts.
///
/// ```
/// use mapstack_salt_config::disk::Deployed;
/// let deployed = Deployed::new()
///     .folder("/srv/salt", "states")
///     .and_then(|deployed| deployed.folder("/srv/salt/files", "assets"))
///     .unwrap();
/// assert_eq!(deployed.local("/srv/salt/web/../init.sls").as_deref(), Some("states/init.sls"));
/// assert_eq!(deployed.local("/srv/salt/files/x").as_deref(), Some("assets/x"));
/// assert_eq!(deployed.local("/srv/salty/x"), None);
/// assert_eq!(deployed.local("/srv/salt/../../etc/shadow"), None);
/// ```
#[derive(Debug, Clone, Default)]
pub struct Deployed {
    /// The longest deployed paths first.
    folders: Vec<Folder>,
    mounts: Vec<Mount>,
    /// The roots of a checkout for whose place nothing speaks, from it, and the path of the checkout.
    guessed: Option<(String, Vec<String>)>,
    /// True if nothing else of the machine is read by its path.
    confined: bool,
}

/// A folder and its deployed path.
#[derive(Debug, Clone)]
struct Folder {
    /// Absolute, without `.` and `..`.
    at: String,
    directory: PathBuf,
}

/// A deployed path that is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadDeployed {
    /// It does not begin with a slash.
    #[error("the deployed path '{0}' is not absolute")]
    Relative(String),
    /// It is the root of everything.
    #[error("the deployed path '/' would have every file of the machine in it")]
    Root,
    /// Two folders cannot be at one place.
    #[error("the deployed path '{0}' has two folders")]
    Twice(String),
}

impl Deployed {
    /// Nothing is deployed.
    #[must_use]
    pub fn new() -> Self {
        Deployed::default()
    }

    /// Deploy a folder to a path. The folder need not exist: then it has no files.
    ///
    /// # Errors
    /// The path is relative, the root of the machine, or has another folder already.
    pub fn folder(mut self, at: &str, directory: impl Into<PathBuf>) -> Result<Self, BadDeployed> {
        if !at.starts_with('/') {
            return Err(BadDeployed::Relative(at.into()));
        }
        let at = normalized(at);
        if at == "/" {
            return Err(BadDeployed::Root);
        }
        let directory = directory.into();
        match self.folders.iter().find(|folder| folder.at == at) {
            Some(known) if known.directory == directory => return Ok(self),
            Some(_) => return Err(BadDeployed::Twice(at)),
            None => {}
        }
        let length = |path: &str| path.split('/').count();
        let place = self
            .folders
            .partition_point(|folder| length(&folder.at) >= length(&at));
        self.folders.insert(place, Folder { at, directory });
        Ok(self)
    }

    /// Deploy a folder to its own path too, as for a root of a file server without a deployed path. A folder that is
    /// deployed to that path by [`folder`](Self::folder) comes first.
    #[must_use]
    pub fn in_place(self, directory: impl AsRef<Path>) -> Self {
        let directory = directory.as_ref();
        let Ok(whole) = std::path::absolute(directory) else {
            return self;
        };
        match whole.to_str() {
            Some(at) if self.local(at).is_none() => {
                let at = at.to_owned();
                self.clone().folder(&at, directory).unwrap_or(self)
            }
            _ => self,
        }
    }

    /// Let nothing else of the machine be read by its path: those who wrote the options that name paths are strangers.
    ///
    /// ```
    /// use mapstack_salt_config::disk::{Deployed, FileTree};
    /// use mapstack_loader::LoadError;
    /// let [own, other] = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    /// let file = other.path().join("x");
    /// std::fs::write(&file, "").unwrap();
    /// let deployed = Deployed::new().folder("/srv/stack", own.path()).unwrap();
    /// let read = |deployed: &Deployed| {
    ///     let tree = FileTree::new().deploying(deployed).directory(other.path());
    ///     tree.read(file.to_str().unwrap()).is_ok()
    /// };
    /// assert_eq!([read(&deployed), read(&deployed.confined())], [true, false]);
    /// ```
    #[must_use]
    pub fn confined(&self) -> Self {
        Deployed {
            confined: true,
            ..self.clone()
        }
    }

    /// True if a path may not be read, links followed.
    pub(crate) fn refuses(&self, path: &Path) -> bool {
        let path = match path.as_os_str().is_empty() {
            true => Path::new("."),
            false => path,
        };
        let is_inside = || {
            let Ok(real) = path.canonicalize() else {
                return false;
            };
            let mut folders = self.folders.iter();
            folders.any(|folder| {
                let home = folder.directory.canonicalize();
                home.is_ok_and(|home| real.starts_with(home))
            })
        };
        self.confined && !is_inside()
    }

    /// Take what lies below a local directory from a file server, as [`FileTree::mount`] does: how a work tree was at a
    /// revision.
    #[must_use]
    pub fn mount(mut self, directory: impl AsRef<Path>, files: Arc<dyn FileServer>) -> Self {
        self.mounts.extend(Mount::new(directory.as_ref(), files));
        self
    }

    /// True if nothing is deployed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.folders.is_empty()
    }

    /// The deployed paths with their folders, the longest first.
    pub fn folders(&self) -> impl Iterator<Item = (&str, &Path)> {
        self.folders
            .iter()
            .map(|folder| (&*folder.at, &*folder.directory))
    }

    /// The local path of an absolute path; `None` below no deployed path.
    #[must_use]
    pub fn local(&self, path: &str) -> Option<String> {
        if self.folders.is_empty() || !path.starts_with('/') {
            return None;
        }
        let path = match is_normal(path) {
            true => Cow::Borrowed(path),
            false => Cow::Owned(normalized(path)),
        };
        self.folders.iter().find_map(|folder| {
            let below = path.strip_prefix(&*folder.at)?;
            let local = match below {
                "" => folder.directory.clone(),
                below => folder.directory.join(below.strip_prefix('/')?),
            };
            Some(local.to_str()?.to_owned())
        })
    }

    /// The deployed path of a path that reaches a deployed folder by another name, through a link or a second mount;
    /// `None` if it reaches none. Only where folders are is looked at, never what is in others.
    ///
    /// ```
    /// # #[cfg(unix)] {
    /// use mapstack_salt_config::disk::Deployed;
    /// let dir = tempfile::tempdir().unwrap();
    /// let [own, alias] = ["salt", "salt-git"].map(|name| dir.path().join(name));
    /// std::fs::create_dir(&own).unwrap();
    /// std::os::unix::fs::symlink(&own, &alias).unwrap();
    /// let deployed = Deployed::new().folder("/srv/salt", &own).unwrap();
    /// let known_as = |below: &str| deployed.known_as(&format!("{}{below}", alias.display()));
    /// assert_eq!(known_as("/web/init.sls").as_deref(), Some("/srv/salt/web/init.sls"));
    /// assert_eq!(known_as("/../other"), None);
    /// # }
    /// ```
    #[must_use]
    pub fn known_as(&self, path: &str) -> Option<String> {
        if self.folders.is_empty() || !path.starts_with('/') {
            return None;
        }
        let path = normalized(path);
        Path::new(&path).ancestors().find_map(|above| {
            let place = identity(above)?;
            let is_here = |folder: &&Folder| identity(&folder.directory).as_ref() == Some(&place);
            let folder = self.folders.iter().find(is_here)?;
            let below = path.strip_prefix(above.to_str()?)?;
            Some(format!("{}{below}", folder.at))
        })
    }

    /// Let [`Deployed::guess`] look for what lies below these roots of a checkout, given from its directory.
    #[must_use]
    pub fn guessing(self, checkout: &Path, roots: impl IntoIterator<Item = String>) -> Self {
        let whole = std::path::absolute(checkout).ok();
        let guessed = whole.and_then(|whole| {
            let roots = roots.into_iter().filter(|root| !root.is_empty());
            Some((whole.to_str()?.to_owned(), roots.collect()))
        });
        Deployed { guessed, ..self }
    }

    /// The place of the checkout and the local path that a path could mean: one where people deploy checkouts, and that
    /// ends in a root of it. The caller looks for a file there.
    ///
    /// ```
    /// use mapstack_salt_config::disk::Deployed;
    /// let deployed = Deployed::new().guessing("/checkout/estate".as_ref(), ["pillar".into()]);
    /// let guess = deployed.guess("/srv/salt-git/pillar/infra/hosts.yaml").unwrap();
    /// assert_eq!(guess, ("/srv/salt-git".into(), "/checkout/estate/pillar/infra/hosts.yaml".into()));
    /// assert_eq!(deployed.guess("/etc/salt/pillar/x"), None);
    /// assert_eq!(deployed.guess("/srv/pillars/x"), None);
    /// ```
    #[must_use]
    pub fn guess(&self, path: &str) -> Option<(String, String)> {
        const DEPLOYED: [&str; 4] = ["/srv/", "/opt/", "/home/", "/root/"];
        let (checkout, roots) = self.guessed.as_ref()?;
        let path = normalized(path);
        if !DEPLOYED.iter().any(|at| path.starts_with(at)) {
            return None;
        }
        // The shortest place leaves the most of the path to agree with the checkout.
        let mut places = Path::new(&path).ancestors().collect::<Vec<_>>();
        places.reverse();
        places.into_iter().skip(1).find_map(|place| {
            let below = Path::new(&path).strip_prefix(place).ok()?;
            let is_below = |root: &String| below.starts_with(root) && below != Path::new(root);
            roots.iter().any(is_below).then_some(())?;
            let local = Path::new(checkout).join(below);
            Some((place.to_str()?.to_owned(), local.to_str()?.to_owned()))
        })
    }

    /// True if a path is a directory only because something is deployed below it, such as `/srv`.
    #[must_use]
    pub fn is_above(&self, path: &str) -> bool {
        let path = normalized(path);
        let above = match &*path {
            "/" => "/".to_owned(),
            path => format!("{path}/"),
        };
        self.folders
            .iter()
            .any(|folder| folder.at.starts_with(&above))
    }

    /// The files, by their deployed paths. They are read again where they changed.
    #[must_use]
    pub fn tree(&self) -> FileTree {
        FileTree::new()
            .keeping(&KeptFiles::default())
            .deploying(self)
    }

    pub(crate) fn mounts(&self) -> &[Mount] {
        &self.mounts
    }
}

/// The same for two paths of one directory: its device and number, which a second mount of it shares.
#[cfg(unix)]
fn identity(directory: &Path) -> Option<impl PartialEq + use<>> {
    use std::os::unix::fs::MetadataExt;
    let found = directory
        .metadata()
        .ok()
        .filter(std::fs::Metadata::is_dir)?;
    Some((found.dev(), found.ino()))
}

/// The same for two paths of one directory, as far as links tell.
#[cfg(not(unix))]
fn identity(directory: &Path) -> Option<impl PartialEq + use<>> {
    directory.canonicalize().ok().filter(|found| found.is_dir())
}

/// Python's `normpath`, with one slash in front.
fn normalized(path: &str) -> String {
    let path = normpath(path);
    match path.strip_prefix("//") {
        Some(rest) => format!("/{rest}"),
        None => path,
    }
}

/// True if [`normalized`] changes nothing.
fn is_normal(path: &str) -> bool {
    path.split('/')
        .skip(1)
        .all(|step| !matches!(step, "" | "." | ".."))
}
