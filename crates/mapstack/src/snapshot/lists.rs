//! Lists of files.

use std::collections::HashMap;

use foldhash::fast::RandomState;

/// The files below prefixes that were listed, by saltenv.
///
/// A list tells nothing about another prefix: links are followed from where a list starts.
#[derive(Debug, Default)]
pub(super) struct Lists {
    known: HashMap<String, HashMap<String, Vec<String>, RandomState>, RandomState>,
    /// The number of paths.
    paths: usize,
}

/// Limit on the paths that are kept.
const MAX_PATHS: usize = 500_000;

impl Lists {
    /// The files below a prefix, if they were listed.
    pub fn get(&self, saltenv: &str, prefix: &str) -> Option<Vec<String>> {
        self.known.get(saltenv)?.get(prefix).cloned()
    }

    /// Keep the files below a prefix, as long as there is room.
    pub fn keep(&mut self, saltenv: &str, prefix: &str, listed: &[String]) {
        // An empty list takes room, too.
        let paths = self.paths.saturating_add(listed.len()).saturating_add(1);
        if paths > MAX_PATHS {
            return;
        }
        self.paths = paths;
        let known = self.known.entry(saltenv.to_owned()).or_default();
        known.insert(prefix.to_owned(), listed.to_vec());
    }
}
