//! The names in directories, so that look-ups of other names need not ask the file server.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use mapstack_loader::{FileServer, SaltPath};

use super::listing::{Listing, is_simple};

/// The listings of directories, by saltenv and path.
#[derive(Debug, Default)]
pub(super) struct Directories {
    known: HashMap<String, HashMap<String, Directory, RandomState>, RandomState>,
    /// The number of directories and names.
    size: usize,
}

#[derive(Debug)]
enum Directory {
    /// So many files in it were missing.
    Lacking(usize),
    /// It has these names and no others.
    Has(Listing),
    /// Unknown.
    Unknown,
}

/// After requests for this many missing files of a directory, listing the directory is worth it.
const ENOUGH: usize = 8;
/// Limit on the directories and names that are kept.
const MAX_NAMES: usize = 500_000;

/// A file by its directory and its name, which is one that listings are about.
pub(super) struct ListedFile<'p> {
    pub saltenv: &'p str,
    directory: &'p str,
    name: &'p str,
}

impl<'p> ListedFile<'p> {
    /// The place of a path, if a listing can show that nothing is there.
    pub fn of(path: &'p SaltPath, saltenv: &'p str) -> Option<Self> {
        let (directory, name) = path
            .as_str()
            .rsplit_once('/')
            .unwrap_or(("", path.as_str()));
        let is_simple = is_simple(name) && path.saltenv().is_none() && path.refusal().is_none();
        is_simple.then_some(ListedFile {
            saltenv,
            directory,
            name,
        })
    }

    /// The server's listing of the directory.
    pub fn listing(&self, files: &impl FileServer) -> Option<Listing> {
        Listing::of(files, self.directory, self.saltenv)
    }
}

impl Directories {
    /// True if there is surely no such file.
    pub fn lacks(&self, place: &ListedFile<'_>) -> bool {
        let known = self
            .known
            .get(place.saltenv)
            .and_then(|directories| directories.get(place.directory));
        matches!(known, Some(Directory::Has(listing)) if listing.lacks(place.name))
    }

    /// Note that a file is missing, and say whether to ask for all names of its directory.
    pub fn is_worth_asking(&mut self, place: &ListedFile<'_>) -> bool {
        let directories = self.known.get_mut(place.saltenv);
        match directories.and_then(|directories| directories.get_mut(place.directory)) {
            Some(Directory::Lacking(files)) => {
                *files += 1;
                *files == ENOUGH
            }
            Some(Directory::Has(_) | Directory::Unknown) => false,
            None => {
                self.put(place, Directory::Lacking(1));
                false
            }
        }
    }

    /// Take over the names in a directory, if they are known.
    pub fn learn(&mut self, place: &ListedFile<'_>, listing: Option<Listing>) {
        self.put(place, listing.map_or(Directory::Unknown, Directory::Has));
    }

    fn put(&mut self, place: &ListedFile<'_>, directory: Directory) {
        self.size += match &directory {
            Directory::Has(names) => 1 + names.len(),
            Directory::Lacking(_) | Directory::Unknown => 1,
        };
        if self.size > MAX_NAMES {
            *self = Directories::default();
        }
        self.known
            .entry(place.saltenv.to_owned())
            .or_default()
            .insert(place.directory.to_owned(), directory);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mapstack_loader::MemoryFiles;

    #[test]
    fn listings_are_about_simple_names() {
        let place = |path: &str| ListedFile::of(&SaltPath::from_relative(path), "base").is_some();
        assert!(place("a/web1.example.org.yaml") && place("x") && place("ä/x"));
        assert!(
            !place("") && !place("a/ä.yaml") && !place("a/x.") && !place("a/a:b") && !place("a/..")
        );
        assert!(!place("a/LONGNA~1.YAM") && !place(&"x".repeat(300)));
        let of = |url: &str| ListedFile::of(&SaltPath::parse(url).unwrap(), "base").is_some();
        assert!(of("salt://a/b") && !of("salt://a/b?saltenv=dev") && !of("salt://|/a/b"));
        assert!(!place("c../d") && !place("../d"), "such paths are refused");
    }

    #[test]
    fn a_directory_is_asked_once() {
        let path = SaltPath::from_relative("d/x");
        let place = ListedFile::of(&path, "base").unwrap();
        let mut known = Directories::default();
        assert_eq!((0..20).filter(|_| known.is_worth_asking(&place)).count(), 1);
        assert!(!known.lacks(&place));
        known.learn(
            &place,
            Listing::of(&MemoryFiles::new().file("base", "d/y", ""), "d", "base"),
        );
        assert!(known.lacks(&place) && !known.is_worth_asking(&place));
        known.learn(&place, None);
        assert!(!known.lacks(&place) && !known.is_worth_asking(&place));
    }
}
