//! Sls that are missing for one cause: all of one folder.

use std::collections::BTreeSet;

use indexmap::IndexMap;

/// The names of missing sls that a message names.
const SHOWN: usize = 5;

/// A folder that lacks sls.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct FolderWithoutSls {
    /// The folder, with slashes.
    pub folder: String,
    /// True if it has no file at all.
    pub is_empty: bool,
}

impl FolderWithoutSls {
    /// The folder that a missing sls lies in: the first on the way to it that has no file, or else the last one. `None` for an
    /// sls of no folder. `has_files` says of a prefix of paths whether a file has it.
    pub fn of(sls: &str, has_files: impl Fn(&str) -> bool) -> Option<Self> {
        let path = sls.replace('.', "/");
        let mut ends: Vec<usize> = path.match_indices('/').map(|(at, _)| at).collect();
        // An sls of a folder's name is its `init.sls`.
        if has_files(&format!("{path}/")) {
            ends.push(path.len());
        }
        let empty = ends
            .iter()
            .find(|end| !has_files(&format!("{}/", &path[..**end])));
        let end = empty.or(ends.last())?;
        Some(FolderWithoutSls {
            folder: path[..*end].to_owned(),
            is_empty: empty.is_some(),
        })
    }
}

/// The items by what they have in common, in the order in which that comes up first.
pub(crate) fn grouped<T, K: std::hash::Hash + Eq>(
    items: impl IntoIterator<Item = T>,
    key: impl Fn(&T) -> K,
) -> Vec<(K, Vec<T>)> {
    let mut groups: IndexMap<K, Vec<T>> = IndexMap::new();
    for item in items {
        groups.entry(key(&item)).or_default().push(item);
    }
    groups.into_iter().collect()
}

/// The names of missing sls, as far as a note has room for them.
pub(crate) fn named(names: &BTreeSet<&str>) -> String {
    let shown: Vec<&str> = names.iter().copied().take(SHOWN).collect();
    let more = match names.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{}{more}", shown.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_folder_without_files_is_the_cause() {
        let files = ["apt/auth.sls", "shared/init.sls"];
        let has_files = |prefix: &str| files.iter().any(|file| file.starts_with(prefix));
        let of = |sls| FolderWithoutSls::of(sls, has_files).map(|it| (it.folder, it.is_empty));
        let lacking = |folder: &str, is_empty| Some((folder.to_owned(), is_empty));
        assert_eq!(of("shared.secrets.vault"), lacking("shared/secrets", true));
        assert_eq!(of("private.a.b"), lacking("private", true));
        assert_eq!(of("apt.update"), lacking("apt", false));
        assert_eq!(of("apt"), lacking("apt", false));
        assert_eq!(of("common"), None);
    }
}
