//! Directories as a file server: Salt's `roots` backend.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::{Fetched, FileServer, LoadError, SaltPath};

/// Directories per saltenv, earlier ones winning file by file.
///
/// ```no_run
/// use mapstack_loader::Roots;
/// let files = Roots::new().root("base", "/srv/salt").root("base", "/srv/formulas/openssh-formula");
/// ```
#[derive(Debug, Clone)]
pub struct Roots {
    envs: Vec<(String, Vec<Root>)>,
    max_file_size: u64,
    follow_outside_links: bool,
}

/// A directory, and its path without links.
#[derive(Debug, Clone)]
struct Root {
    given: PathBuf,
    /// `None` if it is no directory.
    real: Option<PathBuf>,
}

/// The saltenv whose roots serve every saltenv that has none of its own.
const DYNAMIC_ENV: &str = "__env__";

impl Default for Roots {
    fn default() -> Self {
        Self::new()
    }
}

impl Roots {
    /// No directory at all.
    #[must_use]
    pub fn new() -> Self {
        Roots { envs: Vec::new(), max_file_size: 32 << 20, follow_outside_links: false }
    }

    /// Add a directory behind those of the saltenv.
    ///
    /// A directory that does not exist is ignored, see [`missing_roots`](Self::missing_roots).
    #[must_use]
    pub fn root(mut self, saltenv: &str, directory: impl Into<PathBuf>) -> Self {
        let given = directory.into();
        let real = fs::canonicalize(&given).ok().filter(|path| path.is_dir());
        let root = Root { given, real };
        match self.envs.iter_mut().find(|(env, _)| env == saltenv) {
            Some((_, roots)) => roots.push(root),
            None => self.envs.push((saltenv.into(), vec![root])),
        }
        self
    }

    /// The most bytes a file may have.
    #[must_use]
    pub fn max_file_size(mut self, bytes: u64) -> Self {
        self.max_file_size = bytes;
        self
    }

    /// Serve what lies outside a root but is linked from inside it, as Salt does unless
    /// `fileserver_followsymlinks` is off.
    #[must_use]
    pub fn follow_outside_links(mut self, follow: bool) -> Self {
        self.follow_outside_links = follow;
        self
    }

    /// The directories that are none.
    #[must_use]
    pub fn missing_roots(&self) -> Vec<&Path> {
        let all = self.envs.iter().filter(|(env, _)| env != DYNAMIC_ENV).flat_map(|(_, roots)| roots);
        all.filter(|root| root.real.is_none()).map(|root| &*root.given).collect()
    }

    /// The directories that serve a saltenv.
    fn serving(&self, saltenv: &str) -> Vec<Root> {
        if let Some((_, roots)) = self.envs.iter().find(|(env, _)| env == saltenv) {
            return roots.clone();
        }
        let Some((_, dynamic)) = self.envs.iter().find(|(env, _)| env == DYNAMIC_ENV) else { return Vec::new() };
        // The saltenv becomes part of a path; it must not become a way out.
        if saltenv.split(['/', '\\']).any(|part| part == "..") || saltenv.contains('\0') {
            return Vec::new();
        }
        dynamic
            .iter()
            .map(|root| {
                let given = PathBuf::from(root.given.to_string_lossy().replace(DYNAMIC_ENV, saltenv));
                let real = fs::canonicalize(&given).ok().filter(|path| path.is_dir());
                Root { given, real }
            })
            .collect()
    }

    /// Open what a path leads to below one root.
    fn open(&self, root: &Root, real: &Path, path: &SaltPath) -> Result<Opened, LoadError> {
        let shown: PathBuf = path.components().iter().fold(root.given.clone(), |p, c| p.join(c));
        let candidate: PathBuf = path.components().iter().fold(real.to_path_buf(), |p, c| p.join(c));
        let failed = |source: io::Error| LoadError::Io { path: shown.clone(), source };
        // Looking before opening keeps us from waiting at the end of a pipe.
        let found = match fs::metadata(&candidate) {
            Ok(found) => found,
            Err(e) if is_denied(&e) => return Err(failed(e)),
            // Nothing is there, or links that lead nowhere or in circles.
            Err(_) => return Ok(Opened::Missing),
        };
        if !found.is_file() {
            return Ok(Opened::Missing);
        }
        if !self.follow_outside_links {
            match fs::canonicalize(&candidate) {
                Ok(target) if target.starts_with(real) => {}
                Ok(_) => {
                    let reason = format!("{} is a link out of the root {}", shown.display(), root.given.display());
                    return Ok(Opened::Refused(reason));
                }
                Err(e) if is_missing(&e) => return Ok(Opened::Missing),
                Err(e) => return Err(failed(e)),
            }
        }
        Ok(Opened::File { shown, candidate, size: found.len() })
    }
}

enum Opened {
    File { shown: PathBuf, candidate: PathBuf, size: u64 },
    Missing,
    Refused(String),
}

/// Errors that mean "there is no such file".
fn is_missing(e: &io::Error) -> bool {
    matches!(
        e.kind(),
        io::ErrorKind::NotFound
            | io::ErrorKind::NotADirectory
            | io::ErrorKind::InvalidFilename
            | io::ErrorKind::InvalidInput
    )
}

/// Errors that mean "there may be a file, but not for us".
fn is_denied(e: &io::Error) -> bool {
    e.kind() == io::ErrorKind::PermissionDenied
}

impl FileServer for Roots {
    fn fetch(&self, path: &SaltPath, saltenv: &str) -> Result<Fetched, LoadError> {
        if let Some(reason) = path.refusal() {
            return Ok(Fetched::Refused { reason });
        }
        let mut refused = None;
        for root in self.serving(path.saltenv().unwrap_or(saltenv)) {
            let Some(real) = &root.real else { continue };
            match self.open(&root, real, path)? {
                Opened::Missing => {}
                Opened::Refused(reason) => refused = refused.or(Some(reason)),
                Opened::File { shown, candidate, size } => match read(&candidate, size, self.max_file_size) {
                    Ok(Some(bytes)) => return Ok(Fetched::Found { on_disk: shown, bytes }),
                    Ok(None) => {
                        return Err(LoadError::TooLarge { path: shown, size, limit: self.max_file_size });
                    }
                    // It was there a moment ago.
                    Err(e) if is_missing(&e) => {}
                    Err(source) => return Err(LoadError::Io { path: shown, source }),
                },
            }
        }
        Ok(refused.map_or(Fetched::Missing, |reason| Fetched::Refused { reason }))
    }

    fn find_all(&self, path: &SaltPath, saltenv: &str) -> Result<Vec<PathBuf>, LoadError> {
        if path.refusal().is_some() {
            return Ok(Vec::new());
        }
        let mut found = Vec::new();
        for root in self.serving(path.saltenv().unwrap_or(saltenv)) {
            let Some(real) = &root.real else { continue };
            if let Opened::File { shown, .. } = self.open(&root, real, path)? {
                found.push(shown);
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
        for root in self.serving(saltenv) {
            if let Some(real) = &root.real {
                let start: PathBuf = prefix.components().iter().fold(real.clone(), |p, c| p.join(c));
                self.walk(real, &start, &prefix.to_string(), &mut all, 0)?;
            }
        }
        all.sort_unstable();
        all.dedup();
        Ok(all)
    }

    fn envs(&self) -> Vec<String> {
        self.envs.iter().map(|(env, _)| env.clone()).collect()
    }
}

/// Deeper trees are cut: links can make a tree endless.
const MAX_DEPTH: usize = 64;
/// More files than this are not listed.
const MAX_LISTED: usize = 1_000_000;

impl Roots {
    fn walk(
        &self,
        real: &Path,
        at: &Path,
        relative: &str,
        all: &mut Vec<String>,
        depth: usize,
    ) -> Result<(), LoadError> {
        if depth > MAX_DEPTH || all.len() > MAX_LISTED || !self.is_inside(real, at) {
            return Ok(());
        }
        let entries = match fs::read_dir(at) {
            Ok(entries) => entries,
            Err(e) if is_missing(&e) => return Ok(()),
            Err(source) => return Err(LoadError::Io { path: at.into(), source }),
        };
        for entry in entries.flatten() {
            let path = entry.path();
            // Names that are not Unicode cannot be asked for.
            let Some(name) = entry.file_name().to_str().map(String::from) else { continue };
            let inner = if relative.is_empty() { name } else { format!("{relative}/{name}") };
            match fs::metadata(&path) {
                Ok(found) if found.is_dir() => self.walk(real, &path, &inner, all, depth + 1)?,
                Ok(found) if found.is_file() && self.is_inside(real, &path) => all.push(inner),
                _ => {}
            }
        }
        Ok(())
    }

    fn is_inside(&self, real: &Path, path: &Path) -> bool {
        self.follow_outside_links || fs::canonicalize(path).is_ok_and(|target| target.starts_with(real))
    }
}

/// The content of a file, or `None` if it is larger than `limit`.
fn read(path: &Path, size: u64, limit: u64) -> io::Result<Option<Arc<[u8]>>> {
    if size > limit {
        return Ok(None);
    }
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or_default());
    // The file may have grown since it was looked at.
    File::open(path)?.take(limit + 1).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= limit).then(|| bytes.into()))
}
