//! The names in a directory, to know which files it surely lacks.

use std::collections::HashSet;

use foldhash::fast::RandomState;
use mapstack_loader::{FileServer, SaltPath};

/// The names in a directory of a file server, as they were when it was asked.
#[derive(Debug)]
pub(crate) struct Listing(HashSet<String, RandomState>);

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

/// Servers refuse longer names.
const LONGEST: usize = 255;

/// True if a name is one that [`FileServer::names_in`] is about.
pub(crate) fn is_simple(name: &str) -> bool {
    let is_simple = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.');
    !name.is_empty() && name.len() <= LONGEST && name.bytes().all(is_simple) && !name.ends_with('.')
}

#[cfg(test)]
mod tests {
    use mapstack_loader::MemoryFiles;

    use super::*;

    #[test]
    fn a_listing_is_about_plain_names() {
        let files = MemoryFiles::new().file("base", "os/Arch.yaml", "");
        let listing = Listing::of(&files, "os", "base").unwrap();
        assert!(listing.lacks("Debian.yaml") && !listing.lacks("Arch.yaml"));
        for name in ["../x", "x.", "", "é", "a:b", &"x".repeat(256)] {
            assert!(!listing.lacks(name), "{name}");
        }
        assert!(
            ["../os", "c.."]
                .iter()
                .all(|refused| Listing::of(&files, refused, "base").is_none())
        );
    }
}
