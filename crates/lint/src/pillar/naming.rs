//! The files of a pillar by the sls that they name.

use std::collections::{BTreeSet, HashMap};

use crate::pillar::files::{PillarFile, ReadablePillarFiles, is_part, names};
use crate::pillar::seen::PillarRecord;

/// The files of a pillar by what they name: an sls as an include does, a path, or the beginning of a name that a template
/// completes. They have numbers.
pub(crate) struct PillarFileNames<'f> {
    files: Vec<&'f PillarFile>,
    words: HashMap<&'f str, Vec<usize>>,
    /// By the beginnings that lists of sls leave to a template or a pattern, as in `- users.{{ name }}`.
    completed: HashMap<&'f str, Vec<usize>>,
}

impl<'f> PillarFileNames<'f> {
    pub fn of(files: &'f ReadablePillarFiles, seen: &PillarRecord) -> Self {
        let mut naming = PillarFileNames {
            files: files.all.values().collect(),
            words: HashMap::new(),
            completed: HashMap::new(),
        };
        for (number, file) in files.all.values().enumerate() {
            let text = &*file.source.text;
            let is_top = seen.tops.contains(&file.source.shown);
            for word in words(text) {
                add(&mut naming.words, word, number);
            }
            for beginning in completed(text, is_top) {
                add(&mut naming.completed, beginning, number);
            }
        }
        naming
    }

    /// The files with their numbers.
    pub fn files(&self) -> impl Iterator<Item = (usize, &'f PillarFile)> {
        self.files.iter().copied().enumerate()
    }

    /// The file of a number.
    pub fn file(&self, number: usize) -> &'f PillarFile {
        self.files[number]
    }

    /// The other files that name an sls, or could, in order.
    pub fn of_sls(&self, number: usize, name: &str) -> Vec<usize> {
        let path = &self.files[number].source.path;
        let mut found = BTreeSet::new();
        for word in [name, path, &name.replace('.', "/")] {
            found.extend(self.that_say(word));
        }
        let dots = name.match_indices('.').map(|(at, dot)| at + dot.len());
        for at in std::iter::once(0).chain(dots) {
            let (directory, rest) = name.split_at(at);
            let beside = self.that_say(&format!(".{rest}"));
            found.extend(
                beside
                    .into_iter()
                    .filter(|by| self.files[*by].directory() == directory),
            );
            found.extend(self.completed.get(directory).into_iter().flatten());
        }
        found.remove(&number);
        found.into_iter().collect()
    }

    fn that_say(&self, word: &str) -> Vec<usize> {
        if word.chars().all(is_part) {
            return self.words.get(word).cloned().unwrap_or_default();
        }
        let says =
            |(number, file): (usize, &PillarFile)| names(&file.source.text, word).then_some(number);
        self.files().filter_map(says).collect()
    }
}

fn add<'f>(all: &mut HashMap<&'f str, Vec<usize>>, word: &'f str, number: usize) {
    let known = all.entry(word).or_default();
    if known.last() != Some(&number) {
        known.push(number);
    }
}

/// The words of a text that can name something: not those of comments, and no keys, which name data.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let lines = text
        .lines()
        .map(str::trim_start)
        .filter(|line| !line.starts_with('#'));
    lines.flat_map(|line| {
        let behind = behind_key(line).unwrap_or(line);
        behind
            .split(|c| !is_part(c))
            .filter(|word| !word.is_empty())
    })
}

/// The text behind a plain key at the start of a line.
fn behind_key(line: &str) -> Option<&str> {
    let behind = line.trim_start_matches(is_part).strip_prefix(':')?;
    (behind.is_empty() || behind.starts_with([' ', '\t'])).then_some(behind)
}

/// The beginnings of names in lists of sls that a template or a pattern completes.
fn completed(text: &str, is_top: bool) -> Vec<&str> {
    let mut in_list = is_top;
    let mut found = Vec::new();
    for line in text.lines() {
        let line = line.trim_end();
        let item = line.trim_start().strip_prefix('-').map(str::trim_start);
        let Some(item) = item else {
            let is_between = line.is_empty() || line.trim_start().starts_with(['{', '#']);
            in_list = is_top || line.starts_with("include:") || (in_list && is_between);
            continue;
        };
        let item = item.trim_start_matches(['\'', '"', '.']);
        if in_list {
            let ends = item.match_indices("{{").chain(item.match_indices('*'));
            found.extend(ends.map(|(at, _)| &item[..at]));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_key_names_no_sls_and_all_other_words_do() {
        let of = |text| words(text).collect::<Vec<_>>();
        assert_eq!(of("zoom:\n  cask: zoom-us\n"), ["zoom-us"]);
        assert_eq!(of("include: [a.b, ./c]"), ["a.b", "./c"]);
        assert_eq!(of("- a:\n    key: x"), ["-", "a", "x"]);
        assert_eq!(of("# a.b\na:b c"), ["a", "b", "c"]);
    }

    #[test]
    fn only_lists_of_sls_have_names_that_are_completed() {
        let include =
            "include:\n{% if x %}\n  - users.{{ name }}\n  - '*'\nhosts:\n  - db.{{ id }}\n";
        assert_eq!(completed(include, false), ["users.", ""]);
        assert_eq!(
            completed("'*':\n  - db.{{ id }}.*\n", true),
            ["db.", "db.{{ id }}."]
        );
    }
}
