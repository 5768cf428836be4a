//! Changed files that only have another name.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use mapstack::loader::{Fetched, FileServer, SaltPath};

/// Take renamed files out of a list, with their names on both sides. A content
/// that several of them have tells nothing.
pub(crate) fn take(paths: &mut Vec<String>, states: [&dyn FileServer; 2]) -> Vec<(String, String)> {
    let mut by_content: HashMap<Arc<[u8]>, [Vec<String>; 2]> = HashMap::new();
    for path in paths.iter() {
        match states.map(|files| content(files, path)) {
            [Some(old), None] => by_content.entry(old).or_default()[0].push(path.clone()),
            [None, Some(new)] => by_content.entry(new).or_default()[1].push(path.clone()),
            _ => {}
        }
    }
    let mut renamed: Vec<(String, String)> = Vec::new();
    for (content, sides) in by_content {
        if let ([old], [new], false) = (&sides[0][..], &sides[1][..], content.is_empty()) {
            renamed.push((old.clone(), new.clone()));
        }
    }
    renamed.sort_unstable();
    let known: HashSet<&String> = renamed.iter().flat_map(|(old, new)| [old, new]).collect();
    paths.retain(|path| !known.contains(path));
    renamed
}

/// The content of a file in the first saltenv that has it.
fn content(files: &dyn FileServer, path: &str) -> Option<Arc<[u8]>> {
    let asked = SaltPath::from_relative(path);
    files
        .envs()
        .into_iter()
        .find_map(|env| match files.fetch(&asked, &env) {
            Ok(Fetched::Found { bytes, .. }) => Some(bytes),
            _ => None,
        })
}

#[cfg(test)]
mod tests {
    use mapstack::loader::MemoryFiles;

    use super::*;

    #[test]
    fn only_what_is_the_same_under_one_other_name_is_renamed() {
        let of = |files: &[(&str, &str)]| {
            files.iter().fold(MemoryFiles::new(), |all, (path, text)| {
                all.file("base", path, text)
            })
        };
        let before = of(&[("a", "1"), ("b", "2"), ("c", "2"), ("d", "4"), ("e", "")]);
        let after = of(&[
            ("a2", "1"),
            ("b2", "2"),
            ("d", "5"),
            ("d2", "4"),
            ("e2", ""),
        ]);
        let mut paths = ["a", "a2", "b", "b2", "c", "d", "d2", "e", "e2"]
            .map(String::from)
            .to_vec();
        let renamed = take(&mut paths, [&before, &after]);
        assert_eq!(renamed, [("a".to_owned(), "a2".to_owned())]);
        assert_eq!(paths, ["b", "b2", "c", "d", "d2", "e", "e2"]);
    }
}
