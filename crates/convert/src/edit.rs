//! Lines of YAML without some of their values.

use mapstack::value::{Key, Map, Value};
use mapstack::yaml::{Limits, Marks, load, load_marked};

/// A text of YAML whose entries have lines of their own.
pub(crate) struct EntryLines<'t> {
    lines: Vec<&'t str>,
    value: Map,
    entries: Vec<YamlEntry>,
}

/// An entry of a mapping, and its lines.
struct YamlEntry {
    path: Vec<Key>,
    start: usize,
    end: usize,
    /// The blanks before its key.
    indent: usize,
    is_map: bool,
}

impl<'t> EntryLines<'t> {
    /// A text; nothing if it is not a mapping, or if a line begins with several keys or none.
    pub fn of(text: &'t str) -> Option<Self> {
        let (value, marks) = load_marked(text, &Limits::default()).ok()?;
        let mut lined = EntryLines {
            lines: text.lines().collect(),
            value: value.as_map()?.clone(),
            entries: Vec::new(),
        };
        lined.collect(&value, &marks, &mut Vec::new())?;
        let is_ordered = lined.entries.is_sorted_by(|a, b| a.start < b.start);
        is_ordered.then(|| lined.with_ends())
    }

    fn collect(&mut self, value: &Value, marks: &Marks, path: &mut Vec<Key>) -> Option<()> {
        for (at, (key, value)) in value.as_map()?.iter().enumerate() {
            let mark = marks.key(at)?;
            let (line, indent) = (mark.line as usize - 1, mark.column as usize - 1);
            let blanks = self.lines.get(line)?.get(..indent)?;
            if !blanks.bytes().all(|byte| byte == b' ') {
                return None;
            }
            path.push(key.clone());
            let is_map = matches!(value, Value::Map(map) if !map.is_empty());
            self.entries.push(YamlEntry {
                path: path.clone(),
                start: line,
                end: self.lines.len(),
                indent,
                is_map,
            });
            if is_map {
                self.collect(value, marks.child(at)?, path)?;
            }
            path.pop();
        }
        Some(())
    }

    fn with_ends(mut self) -> Self {
        for at in 0..self.entries.len() {
            let (start, indent) = (self.entries[at].start, self.entries[at].indent);
            let next = self.entries[at + 1..].iter();
            let mut next = next.skip_while(|next| next.indent > indent);
            let mut end = next.next().map_or(self.lines.len(), |next| next.start);
            // Comments that do not belong to the value belong to the next one.
            let is_apart = |line: &str| {
                let text = line.trim_start();
                text.is_empty() || (text.starts_with('#') && line.len() - text.len() <= indent)
            };
            while end > start + 1 && is_apart(self.lines[end - 1]) {
                end -= 1;
            }
            self.entries[at].end = end;
        }
        self
    }

    /// True if a comment is about the entry of a path: above its key, or in its own lines.
    pub fn is_commented(&self, path: &[Key]) -> bool {
        let Some(entry) = self.entries.iter().find(|entry| entry.path == path) else {
            return false;
        };
        let end = match entry.is_map {
            true => entry.start + 1,
            false => entry.end,
        };
        let has_comment = |line: &&str| line.trim_start().starts_with('#') || line.contains(" #");
        let above = entry.start.checked_sub(1).map(|above| self.lines[above]);
        above.is_some_and(|line| line.trim_start().starts_with('#'))
            || self.lines[entry.start..end].iter().any(has_comment)
    }

    /// The text without the entries of some paths, and its values.
    pub fn without(&self, paths: &[Vec<Key>]) -> Option<(String, Map)> {
        let mut lines: Vec<Option<&str>> = self.lines.iter().copied().map(Some).collect();
        let mut value = self.value.clone();
        for path in paths {
            let entry = self.entries.iter().find(|entry| entry.path == *path)?;
            lines[entry.start..entry.end].fill(None);
            value = crate::leaves::with(&value, path, None);
        }
        let mut text = String::new();
        for line in lines.into_iter().flatten() {
            let is_double = line.trim().is_empty() && (text.is_empty() || text.ends_with("\n\n"));
            if !is_double {
                text.push_str(line);
                text.push('\n');
            }
        }
        let text = crate::values::trimmed(&text);
        let is_right = match value.is_empty() {
            true => true,
            false => load(&text).is_ok_and(|read| read.is_same(&Value::from(value.clone()))),
        };
        is_right.then_some((text, value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn without(text: &str, paths: &[&str]) -> Option<String> {
        let keys = |path: &&str| path.split(':').map(Key::from).collect();
        let paths: Vec<Vec<Key>> = paths.iter().map(keys).collect();
        Some(EntryLines::of(text)?.without(&paths)?.0)
    }

    #[test]
    fn lines_of_a_value_go_with_it() {
        let text = "a: 1\n\n# of b\nb:\n  - 1\n  # in b\n  - 2\n\nc:\n  d: |\n    # text\n  e: 2\n";
        assert_eq!(
            without(text, &["a", "c:d"]).as_deref(),
            Some("# of b\nb:\n  - 1\n  # in b\n  - 2\n\nc:\n  e: 2\n")
        );
        assert_eq!(
            without(text, &["b", "c"]).as_deref(),
            Some("a: 1\n\n# of b\n")
        );
        assert_eq!(without("a: {b: 1, c: 2}\n", &["a:b"]), None);
        assert_eq!(without("a: &x 1\nb: *x\n", &["a"]), None);
    }

    #[test]
    fn comments_belong_to_the_value_below_or_on_the_line() {
        let lined =
            EntryLines::of("a: 1\n# of b\nb: 2\nc: 3  # of c\nd:\n  # of e\n  e: 1\n").unwrap();
        let commented = |path: &str| {
            let path: Vec<Key> = path.split(':').map(Key::from).collect();
            lined.is_commented(&path)
        };
        assert_eq!(
            ["a", "b", "c", "d", "d:e"].map(commented),
            [false, true, true, false, true]
        );
    }
}
