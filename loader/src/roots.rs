//! Directories as a file server: Salt's `roots` backend.

use std::borrow::Cow;
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::inside::{
    OpenFileRead, Opening, is_inside, is_missing, open_anywhere, open_inside, read, too_large,
};

use crate::entries::entries;
use crate::walk::RootWalk;
use crate::{Fetched, FileServer, Link, LoadError, SaltPath, Unserved};

/// Directories per saltenv, earlier ones winning file by file.
///
/// ```no_run
/// use mapstack_loader::Roots;
/// let files = Roots::new().root("base", "/srv/salt").root("base", "/srv/formulas/openssh-formula");
/// ```
#[derive(Debug, Clone, Default)]
pub struct Roots {
    envs: Vec<(String, Vec<Root>)>,
    follow_outside_links: bool,
    hide_links: bool,
    as_in_git: bool,
    ignored: Option<IgnoredNames>,
}

/// The names for which a function is true are neither served nor listed.
#[derive(Clone)]
struct IgnoredNames(Arc<dyn Fn(&str) -> bool + Send + Sync>);

impl fmt::Debug for IgnoredNames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("IgnoredNames(…)")
    }
}

/// The most bytes a file may have.
const MAX_FILE_SIZE: u64 = 32 << 20;

/// A directory, and its path without links.
#[derive(Debug, Clone)]
struct Root {
    given: PathBuf,
    /// `None` if it is not a directory.
    real: Option<PathBuf>,
    /// The error that prevented looking at it.
    failure: Option<Arc<io::Error>>,
}

impl Root {
    fn of(given: PathBuf) -> Self {
        let (real, failure) = match fs::canonicalize(&given) {
            Ok(real) => (real.is_dir().then_some(real), None),
            Err(e) if is_missing(&e) => (None, None),
            Err(e) => (None, Some(Arc::new(e))),
        };
        Root {
            given,
            real,
            failure,
        }
    }

    /// The path without links; `None` if it is not a directory.
    fn real(&self) -> Result<Option<&Path>, LoadError> {
        match &self.failure {
            None => Ok(self.real.as_deref()),
            Some(e) => Err(LoadError::Io {
                path: self.given.clone(),
                source: match e.raw_os_error() {
                    Some(code) => io::Error::from_raw_os_error(code),
                    None => e.kind().into(),
                },
            }),
        }
    }
}

/// The saltenv whose roots serve every saltenv without roots.
const DYNAMIC_ENV: &str = "__env__";

impl Roots {
    /// No directory at all.
    #[must_use]
    pub fn new() -> Self {
        Roots::default()
    }

    /// Directories of the saltenv `base`, all of which have to exist.
    ///
    /// # Errors
    /// [`LoadError::Io`] for one that is not a directory or cannot be looked at.
    ///
    /// ```
    /// use mapstack_loader::Roots;
    /// let error = Roots::of(["/nonexistent"]).unwrap_err();
    /// assert_eq!(error.to_string(), "/nonexistent: there is no such directory");
    /// ```
    pub fn of(
        directories: impl IntoIterator<Item = impl Into<PathBuf>>,
    ) -> Result<Self, LoadError> {
        let mut roots = Roots::new();
        for directory in directories {
            let root = Root::of(directory.into());
            if root.real()?.is_none() {
                let why = "there is no such directory";
                return Err(LoadError::Io {
                    path: root.given,
                    source: io::Error::new(io::ErrorKind::NotADirectory, why),
                });
            }
            roots = roots.with("base", root);
        }
        Ok(roots)
    }

    /// Add a directory behind those of the saltenv.
    ///
    /// A directory that does not exist is ignored, see [`missing_roots`](Self::missing_roots).
    #[must_use]
    pub fn root(self, saltenv: &str, directory: impl Into<PathBuf>) -> Self {
        self.with(saltenv, Root::of(directory.into()))
    }

    fn with(mut self, saltenv: &str, root: Root) -> Self {
        match self.envs.iter_mut().find(|(env, _)| env == saltenv) {
            Some((_, roots)) => roots.push(root),
            None => self.envs.push((saltenv.into(), vec![root])),
        }
        self
    }

    /// Serve what lies outside a root but is linked from inside it, as Salt does unless
    /// `fileserver_followsymlinks` is off. Here it is off unless it is requested.
    #[must_use]
    pub fn follow_outside_links(mut self, follow: bool) -> Self {
        self.follow_outside_links = follow;
        self
    }

    /// List no links to files (Salt: `fileserver_ignoresymlinks`); they are served all the same.
    #[must_use]
    pub fn hide_links(mut self, hide: bool) -> Self {
        self.hide_links = hide;
        self
    }

    /// Give modes as git keeps them, which only tells files that can be executed from others: those of a revision can be
    /// compared with them.
    ///
    /// ```
    /// use mapstack_loader::{FileServer, Roots, SaltPath};
    /// let manifest = SaltPath::parse("salt://Cargo.toml").unwrap();
    /// let mode = Roots::new().root("base", ".").modes_as_in_git(true).mode(&manifest, "base").unwrap();
    /// assert!(mode.is_none_or(|mode| mode == 0o100_644));
    /// ```
    #[must_use]
    pub fn modes_as_in_git(mut self, as_in_git: bool) -> Self {
        self.as_in_git = as_in_git;
        self
    }

    /// Neither serve nor list the files for whose names a function is true (Salt: `salt.fileserver.is_file_ignored`).
    ///
    /// As in Salt, what is requested is looked up by its path on disk, what is listed by its path
    /// below the root. Salt's lists of names have shell patterns and regular expressions, and the code that parses them has
    /// to know both. A server only calls a function.
    ///
    /// ```
    /// use mapstack_loader::{FileServer, Roots};
    /// let files = Roots::new().root("base", ".").ignore(|name| name.ends_with(".toml"));
    /// assert!(!files.list("base", "").unwrap().contains(&"Cargo.toml".to_owned()));
    /// ```
    #[must_use]
    pub fn ignore(mut self, ignored: impl Fn(&str) -> bool + Send + Sync + 'static) -> Self {
        self.ignored = Some(IgnoredNames(Arc::new(ignored)));
        self
    }

    fn ignores(&self, name: &str) -> bool {
        self.ignored
            .as_ref()
            .is_some_and(|ignored| (ignored.0)(name))
    }

    /// The roots that do not exist as directories.
    #[must_use]
    pub fn missing_roots(&self) -> Vec<&Path> {
        let all = self
            .envs
            .iter()
            .filter(|(env, _)| env != DYNAMIC_ENV)
            .flat_map(|(_, roots)| roots);
        all.filter(|root| root.real.is_none() && root.failure.is_none())
            .map(|root| &*root.given)
            .collect()
    }

    /// The directories that serve a saltenv, first to last, as they were given.
    #[must_use]
    pub fn directories(&self, saltenv: &str) -> Vec<PathBuf> {
        self.serving(saltenv)
            .iter()
            .map(|root| root.given.clone())
            .collect()
    }

    /// The directories that serve a saltenv.
    fn serving(&self, saltenv: &str) -> Cow<'_, [Root]> {
        if let Some((_, roots)) = self.envs.iter().find(|(env, _)| env == saltenv) {
            return Cow::Borrowed(roots);
        }
        let Some((_, dynamic)) = self.envs.iter().find(|(env, _)| env == DYNAMIC_ENV) else {
            return Cow::default();
        };
        // The saltenv becomes part of a path; it must not become a way out.
        if saltenv.split(['/', '\\']).any(|part| part == "..") || saltenv.contains('\0') {
            return Cow::default();
        }
        dynamic
            .iter()
            .map(|root| {
                let given = root.given.to_string_lossy().replace(DYNAMIC_ENV, saltenv);
                Root::of(PathBuf::from(given))
            })
            .collect::<Vec<_>>()
            .into()
    }

    fn walk<'r>(&self, real: &'r Path) -> RootWalk<'r> {
        RootWalk {
            real,
            follow_outside_links: self.follow_outside_links,
            hide_links: self.hide_links,
            entries: 0,
            above: Vec::new(),
            unserved: None,
            links: None,
        }
    }

    /// Look for a regular file behind a path below one root, without opening it: opening a pipe or
    /// a device can wait or do something.
    fn locate(&self, root: &Root, real: &Path, path: &str) -> Result<Option<Candidate>, LoadError> {
        let on_disk = real.join(path);
        // Most look-ups are misses, which need no path for people.
        match fs::metadata(&on_disk) {
            Ok(found) if found.is_file() => {
                let shown = root.given.join(path);
                let ignored = self.ignores(&shown.to_string_lossy());
                Ok((!ignored).then_some(Candidate { shown, on_disk }))
            }
            Ok(_) => Ok(None),
            Err(source) => match is_missing(&source) {
                true => Ok(None),
                false => Err(LoadError::Io {
                    path: root.given.join(path),
                    source,
                }),
            },
        }
    }

    /// Read what [`locate`](Self::locate) found.
    fn take(&self, root: &Root, real: &Path, candidate: &Candidate) -> Result<Fetched, LoadError> {
        let opening = if self.follow_outside_links {
            open_anywhere(&candidate.on_disk).map(Opening::Inside)
        } else {
            open_inside(real, &candidate.on_disk)
        };
        let file = match opening {
            Ok(Opening::Inside(file)) => file,
            Ok(Opening::Outside) => return Ok(candidate.refused(root)),
            // It was there a moment ago.
            Err(e) if is_missing(&e) => return Ok(Fetched::Missing),
            Err(source) => return Err(candidate.failed(source)),
        };
        match read(file, MAX_FILE_SIZE).map_err(|source| candidate.failed(source))? {
            OpenFileRead::Bytes(bytes) => Ok(Fetched::Found {
                on_disk: candidate.shown.clone(),
                bytes,
            }),
            OpenFileRead::NoFile => Ok(Fetched::Missing),
            OpenFileRead::TooLarge(size) => Err(LoadError::Limit {
                path: candidate.shown.clone(),
                reason: too_large(size, MAX_FILE_SIZE),
            }),
        }
    }
}

/// A path below a root at which a regular file was seen.
struct Candidate {
    /// With the root as it was given, for people.
    shown: PathBuf,
    /// With the root's path without links.
    on_disk: PathBuf,
}

impl Candidate {
    fn failed(&self, source: io::Error) -> LoadError {
        LoadError::Io {
            path: self.shown.clone(),
            source,
        }
    }

    fn refused(&self, root: &Root) -> Fetched {
        let (shown, root) = (self.shown.display(), root.given.display());
        let reason = match fs::canonicalize(&self.on_disk) {
            Ok(target) => format!(
                "{shown} is a link out of the root {root}, to {}",
                target.display()
            ),
            Err(_) => format!("{shown} is a link out of the root {root}"),
        };
        Fetched::Refused { reason }
    }
}

impl FileServer for Roots {
    fn fetch(&self, path: &SaltPath, saltenv: &str) -> Result<Fetched, LoadError> {
        if let Some(reason) = path.refusal() {
            return Ok(Fetched::Refused { reason });
        }
        let mut refused = None;
        let relative = path.as_str();
        for root in self.serving(path.saltenv().unwrap_or(saltenv)).iter() {
            let Some(real) = root.real()? else { continue };
            let Some(candidate) = self.locate(root, real, relative)? else {
                continue;
            };
            match self.take(root, real, &candidate)? {
                Fetched::Missing => {}
                Fetched::Refused { reason } => refused = refused.or(Some(reason)),
                found => return Ok(found),
            }
        }
        Ok(refused.map_or(Fetched::Missing, |reason| Fetched::Refused { reason }))
    }

    fn find_all(&self, path: &SaltPath, saltenv: &str) -> Result<Vec<PathBuf>, LoadError> {
        if path.refusal().is_some() {
            return Ok(Vec::new());
        }
        let mut found = Vec::new();
        let relative = path.as_str();
        for root in self.serving(path.saltenv().unwrap_or(saltenv)).iter() {
            let Some(real) = root.real()? else { continue };
            let Some(candidate) = self.locate(root, real, relative)? else {
                continue;
            };
            let inside = self.follow_outside_links
                || is_inside(real, &candidate.on_disk).or_else(|e| {
                    if is_missing(&e) {
                        Ok(false)
                    } else {
                        Err(candidate.failed(e))
                    }
                })?;
            if inside {
                found.push(candidate.shown);
            }
        }
        Ok(found)
    }

    fn list(&self, saltenv: &str, prefix: &str) -> Result<Vec<String>, LoadError> {
        let prefix = SaltPath::from_relative(prefix);
        if prefix.refusal().is_some() {
            return Ok(Vec::new());
        }
        let mut all = Vec::new();
        for root in self.serving(saltenv).iter() {
            if let Some(real) = root.real()? {
                self.walk(real).below(&prefix, &mut all)?;
            }
        }
        all.retain(|path: &String| !self.ignores(path));
        all.sort_unstable();
        all.dedup();
        Ok(all)
    }

    fn envs(&self) -> Vec<String> {
        self.envs.iter().map(|(env, _)| env.clone()).collect()
    }

    fn names_in(&self, directory: &SaltPath, saltenv: &str) -> Option<Vec<String>> {
        if directory.refusal().is_some() {
            return None;
        }
        let mut all = Vec::new();
        for root in self.serving(directory.saltenv().unwrap_or(saltenv)).iter() {
            let Some(real) = root.real().ok()? else {
                continue;
            };
            all.append(&mut entries(&real.join(directory.as_str()))?);
        }
        Some(all)
    }

    fn mode(&self, path: &SaltPath, saltenv: &str) -> Result<Option<u32>, LoadError> {
        if path.refusal().is_some() {
            return Ok(None);
        }
        for root in self.serving(path.saltenv().unwrap_or(saltenv)).iter() {
            let Some(real) = root.real()? else { continue };
            if let Some(candidate) = self.locate(root, real, path.as_str())? {
                let found = fs::metadata(&candidate.on_disk).map_err(|e| candidate.failed(e))?;
                let mode = mode_of(&found);
                return Ok(match self.as_in_git {
                    true => mode.map(git_mode),
                    false => mode,
                });
            }
        }
        Ok(None)
    }

    fn links(&self, saltenv: &str, prefix: &str) -> Result<Option<Vec<Link>>, LoadError> {
        let mut all = Vec::new();
        if self.hide_links {
            return Ok(Some(all));
        }
        for root in self.serving(saltenv).iter() {
            if let Some(real) = root.real()? {
                let mut walk = self.walk(real);
                walk.links = Some(Vec::new());
                walk.below(&SaltPath::from_relative(prefix), &mut Vec::new())?;
                all.extend(walk.links.into_iter().flatten());
            }
        }
        all.retain(|link: &Link| !self.ignores(&link.path));
        // Of several roots, the last one counts.
        Ok(Some(Link::last_of_each(all)))
    }

    fn unserved(&self, saltenv: &str, prefix: &str) -> Result<Vec<Unserved>, LoadError> {
        let mut all = Vec::new();
        for root in self.serving(saltenv).iter() {
            if let Some(real) = root.real()? {
                let mut walk = self.walk(real);
                walk.unserved = Some(Vec::new());
                walk.below(&SaltPath::from_relative(prefix), &mut Vec::new())?;
                all.extend(walk.unserved.into_iter().flatten());
            }
        }
        all.retain(|one: &Unserved| !self.ignores(&one.path));
        all.sort_unstable();
        all.dedup();
        Ok(all)
    }
}

#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "elsewhere there is none")]
fn mode_of(found: &fs::Metadata) -> Option<u32> {
    Some(std::os::unix::fs::PermissionsExt::mode(
        &found.permissions(),
    ))
}

#[cfg(not(unix))]
fn mode_of(_: &fs::Metadata) -> Option<u32> {
    None
}

/// The mode of a file in git: others than its owner do not count.
fn git_mode(mode: u32) -> u32 {
    match mode & 0o100 {
        0 => 0o100_644,
        _ => 0o100_755,
    }
}
