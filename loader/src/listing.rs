//! The names in a directory, to know which files it surely lacks.

use std::collections::HashSet;

use foldhash::fast::RandomState;

use crate::{FileServer, SaltPath};

/// The names in a directory of a file server, as they were when it was asked.
///
/// ```
/// use mapstack_loader::{Listing, Roots};
/// let root = tempfile::tempdir().unwrap();
/// std::fs::create_dir(root.path().join("os")).unwrap();
/// std::fs::write(root.path().join("os/Arch.yaml"), "").unwrap();
/// let files = Roots::new().root("base", root.path());
/// // File systems whose listings are not complete have none.
/// if let Some(listing) = Listing::of(&files, "os", "base") {
///     assert!(listing.lacks("Debian.yaml") && !listing.lacks("Arch.yaml"));
///     assert!(!listing.lacks("../x"), "a path is not a plain name");
/// }
/// ```
#[derive(Debug)]
pub struct Listing(HashSet<String, RandomState>);

impl Listing {
    /// The names that a server knows in a directory; `None` if the list may be incomplete, or its files are refused.
    #[must_use]
    pub fn of(files: &(impl FileServer + ?Sized), directory: &str, saltenv: &str) -> Option<Self> {
        let of_any_file = SaltPath::from_relative(&format!("{directory}/x"));
        let directory = of_any_file
            .refusal()
            .is_none()
            .then(|| SaltPath::from_relative(directory))?;
        Some(Listing(
            files.names_in(&directory, saltenv)?.into_iter().collect(),
        ))
    }

    /// True if there is surely no file of some name.
    #[must_use]
    pub fn lacks(&self, name: &str) -> bool {
        is_simple(name) && !self.0.contains(name)
    }

    /// The number of names.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}

/// True if a name is one that [`FileServer::names_in`] is about.
pub(crate) fn is_simple(name: &str) -> bool {
    let is_simple = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.');
    !name.is_empty()
        && name.len() <= crate::path::MAX_COMPONENT
        && name.bytes().all(is_simple)
        && !name.ends_with('.')
}
