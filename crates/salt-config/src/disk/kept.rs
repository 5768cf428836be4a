//! Contents of files that were read before, for as long as the files stay what they are.

use std::collections::HashMap;
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use foldhash::fast::RandomState;
use mapstack_loader::LoadError;

/// Contents of files, shared by those that read the same ones again and again.
///
/// By default, one look at the file decides each time: what has the same identity, size and times of change is
/// the same. A change that leaves all of them as they were, within the same tick of the file
/// system's clock as the reading before it, is not seen. [`KeptFiles::unchanging`] does not look at all.
#[derive(Debug, Clone)]
pub struct KeptFiles {
    known: Arc<Mutex<KnownFileMap>>,
    max_bytes: usize,
    /// True if a file can change.
    is_checked: bool,
}

#[derive(Debug, Default)]
struct KnownFileMap {
    by_path: HashMap<String, KeptFileMap, RandomState>,
    /// The resolved paths of directories, by the paths that named them.
    real: HashMap<PathBuf, Option<PathBuf>, RandomState>,
    by_pattern: HashMap<Vec<String>, ByPattern, RandomState>,
    bytes: usize,
}

/// The paths of patterns, by the base and the pattern.
type ByPattern = HashMap<String, HashMap<String, Vec<String>, RandomState>, RandomState>;

#[derive(Debug)]
struct KeptFileMap {
    /// `None` for what is not looked at again.
    stamp: Option<Stamp>,
    /// The resolved path.
    real: PathBuf,
    /// `None` if no regular file is there.
    bytes: Option<Arc<[u8]>>,
}

/// The most bytes that are kept of files that can change.
const MAX_BYTES: usize = 64 << 20;
/// The bytes that an entry takes besides its texts.
const OVERHEAD: usize = 256;

impl Default for KeptFiles {
    fn default() -> Self {
        KeptFiles {
            known: Arc::default(),
            max_bytes: MAX_BYTES,
            is_checked: true,
        }
    }
}

/// The stamp that distinguishes a file's content from another without reading it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stamp([i128; 7]);

impl Stamp {
    #[cfg(unix)]
    pub fn of(metadata: &Metadata) -> Option<Self> {
        use std::os::unix::fs::MetadataExt;

        let m = metadata;
        let stamp = [
            i128::from(m.dev()),
            i128::from(m.ino()),
            i128::from(m.size()),
            i128::from(m.mtime()),
            i128::from(m.mtime_nsec()),
            i128::from(m.ctime()),
            i128::from(m.ctime_nsec()),
        ];
        m.is_file().then_some(Stamp(stamp))
    }

    #[cfg(not(unix))]
    pub fn of(_: &Metadata) -> Option<Self> {
        None
    }
}

impl KeptFiles {
    /// For files that do not change: each is looked for and read once, missing ones included, and so is each pattern.
    /// The approximate limit on the bytes of kept results.
    ///
    /// ```
    /// use mapstack_salt_config::disk::{FileTree, KeptFiles};
    /// use mapstack_loader::Fetched;
    /// let dir = tempfile::tempdir().unwrap();
    /// let file = dir.path().join("core.yml").display().to_string();
    /// let tree = FileTree::new().directory(dir.path()).keeping(&KeptFiles::unchanging(1 << 20));
    /// assert!(matches!(tree.read(&file), Ok(Fetched::Missing)));
    /// std::fs::write(&file, "a: 1").unwrap();
    /// assert!(matches!(tree.read(&file), Ok(Fetched::Missing)));
    /// ```
    #[must_use]
    pub fn unchanging(max_bytes: usize) -> Self {
        KeptFiles {
            known: Arc::default(),
            max_bytes,
            is_checked: false,
        }
    }

    fn known(&self) -> MutexGuard<'_, KnownFileMap> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Room for this many bytes.
    fn with_room(&self, bytes: usize) -> MutexGuard<'_, KnownFileMap> {
        let mut known = self.known();
        known.bytes += bytes;
        if known.bytes > self.max_bytes {
            *known = KnownFileMap {
                bytes,
                ..KnownFileMap::default()
            };
        }
        known
    }

    /// The content of a file that has not changed and is below one of the directories. The inner `None`
    /// marks a file that is known to be missing.
    pub(crate) fn get(&self, path: &str, directories: &[PathBuf]) -> Option<Option<Arc<[u8]>>> {
        let stamp = match self.is_checked {
            true => Some(Stamp::of(&std::fs::metadata(path).ok()?)?),
            false => None,
        };
        let known = self.known();
        let kept = known.by_path.get(path).filter(|kept| kept.stamp == stamp)?;
        let is_inside = |directory: &PathBuf| kept.real.starts_with(directory);
        (kept.bytes.is_none() || directories.iter().any(is_inside)).then(|| kept.bytes.clone())
    }

    /// The content of a file that does not change, wherever it lies.
    pub(crate) fn get_named(&self, path: &str) -> Option<Arc<[u8]>> {
        match self.is_checked {
            true => None,
            false => self.known().by_path.get(path)?.bytes.clone(),
        }
    }

    /// Keep what was read of a file that lies anywhere, if files do not change.
    pub(crate) fn put_named(&self, path: &str, bytes: &Arc<[u8]>) {
        if !self.is_checked
            && let Ok(real) = std::fs::canonicalize(path)
        {
            self.insert(path, &real, None, Some(bytes));
        }
    }

    /// Keep what was read. Without a stamp, a file can be kept only if it does not change.
    pub(crate) fn put(&self, path: &str, real: &Path, stamp: Option<Stamp>, bytes: &Arc<[u8]>) {
        if stamp.is_some() || !self.is_checked {
            self.insert(path, real, stamp.filter(|_| self.is_checked), Some(bytes));
        }
    }

    /// Keep that no regular file is at a path.
    pub(crate) fn put_missing(&self, path: &str) {
        if !self.is_checked {
            self.insert(path, Path::new(""), None, None);
        }
    }

    fn insert(&self, path: &str, real: &Path, stamp: Option<Stamp>, bytes: Option<&Arc<[u8]>>) {
        let size = |bytes: &Arc<[u8]>| bytes.len();
        let kept = KeptFileMap {
            stamp,
            real: real.into(),
            bytes: bytes.cloned(),
        };
        let mut known = self.with_room(OVERHEAD + 2 * path.len() + bytes.map_or(0, size));
        if let Some(before) = known.by_path.insert(path.into(), kept) {
            let before = OVERHEAD + 2 * path.len() + before.bytes.as_ref().map_or(0, size);
            known.bytes = known.bytes.saturating_sub(before);
        }
    }

    /// The resolved path of a directory.
    pub(crate) fn real(
        &self,
        directory: &Path,
        find: impl FnOnce() -> Option<PathBuf>,
    ) -> Option<PathBuf> {
        if self.is_checked {
            return find();
        }
        if let Some(known) = self.known().real.get(directory) {
            return known.clone();
        }
        let found = find();
        let mut known = self.with_room(OVERHEAD + 2 * directory.as_os_str().len());
        known.real.insert(directory.into(), found.clone());
        found
    }

    /// The paths of a pattern, for servers that may list these directories.
    pub(crate) fn matching(
        &self,
        directories: &[String],
        base: &str,
        pattern: &str,
        find: impl FnOnce() -> Result<Vec<String>, LoadError>,
    ) -> Result<Vec<String>, LoadError> {
        if self.is_checked {
            return find();
        }
        let found = |known: &KnownFileMap| {
            let of_base = known.by_pattern.get(directories)?.get(base)?;
            of_base.get(pattern).cloned()
        };
        if let Some(found) = found(&self.known()) {
            return Ok(found);
        }
        let found = find()?;
        let size = |texts: &[String]| texts.iter().map(|text| 64 + text.len()).sum::<usize>();
        let texts = base.len() + pattern.len() + size(directories) + size(&found);
        let mut known = self.with_room(OVERHEAD + texts);
        let of_directories = known.by_pattern.entry(directories.into()).or_default();
        let of_base = of_directories.entry(base.into()).or_default();
        of_base.insert(pattern.into(), found.clone());
        Ok(found)
    }
}
