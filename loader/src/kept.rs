//! Contents of files that were read before, for as long as the files stay what they are.

use std::collections::HashMap;
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Contents of files, shared by those that read the same ones again and again.
///
/// Each time one look at the file decides: what has the same identity, size and times of change is
/// the same. A change that leaves all of them as they were, within the same tick of the file
/// system's clock as the reading before it, is not seen.
#[derive(Debug, Clone, Default)]
pub struct KeptFiles(Arc<Mutex<Files>>);

#[derive(Debug, Default)]
struct Files {
    by_path: HashMap<String, Kept>,
    bytes: usize,
}

#[derive(Debug)]
struct Kept {
    stamp: Stamp,
    /// Where the path led in the end.
    real: PathBuf,
    bytes: Arc<[u8]>,
}

/// The most bytes that are kept.
const MAX_BYTES: usize = 64 << 20;

/// What distinguishes a file's content from another without reading it.
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
    /// The content of a file that is the one it was, and that lies below one of the directories.
    pub(crate) fn get(&self, path: &str, directories: &[PathBuf]) -> Option<Arc<[u8]>> {
        let stamp = Stamp::of(&std::fs::metadata(path).ok()?)?;
        let files = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = files.by_path.get(path).filter(|kept| kept.stamp == stamp)?;
        directories
            .iter()
            .any(|directory| kept.real.starts_with(directory))
            .then(|| kept.bytes.clone())
    }

    /// Keep what was read.
    pub(crate) fn put(&self, path: &str, real: &Path, stamp: Stamp, bytes: &Arc<[u8]>) {
        let mut files = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        files.bytes += bytes.len();
        if files.bytes > MAX_BYTES {
            *files = Files {
                bytes: bytes.len(),
                ..Files::default()
            };
        }
        let before = files.by_path.insert(
            path.into(),
            Kept {
                stamp,
                real: real.into(),
                bytes: bytes.clone(),
            },
        );
        files.bytes -= before.map_or(0, |before| before.bytes.len());
    }
}
