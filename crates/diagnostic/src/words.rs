//! Finds keys and items in a text that is YAML, or a template of such.

use std::ops::Range;

/// The bytes of the last of some keys, each of which stands behind the one before, at the start of a line. The last one
/// can be an item as well. Keys that are not found are left out: templates print such, too.
pub(crate) fn range_of(text: &str, keys: &[&str]) -> Range<usize> {
    found_by(keys, |start, key, ends| after(text, start, key, ends))
}

/// The text behind a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// It ends the key, as a colon does.
    Key,
    /// A point, as between a state module and its function.
    Point,
    /// Other text that is not of the same word.
    Word,
}

impl End {
    /// `None` within a word.
    fn before(rest: &str) -> Option<End> {
        match rest.chars().next() {
            None | Some(':' | '"' | '\'' | ',' | ']' | '}') => Some(End::Key),
            Some('.') => Some(End::Point),
            Some(c) if c.is_whitespace() => Some(End::Key),
            Some(c) if c.is_alphanumeric() || c == '_' => None,
            Some(_) => Some(End::Word),
        }
    }
}

/// The ends of a key that are looked for, and those that are looked for if there are none: `nginx` is not `nginx.conf`
/// or `nginx-conf`, unless a template makes it of that.
const OF_FIRST: [&[End]; 2] = [&[End::Key], &[End::Point, End::Word]];

/// The same for further keys, which can be state modules.
const OF_FURTHER: [&[End]; 2] = [&[End::Key, End::Point], &[End::Word]];

fn found_by(
    keys: &[&str],
    after: impl Fn(usize, &str, &[End]) -> Option<Range<usize>>,
) -> Range<usize> {
    let mut found = 0..0;
    for (number, key) in keys.iter().enumerate() {
        let ends = match number {
            0 => OF_FIRST,
            _ => OF_FURTHER,
        };
        let mut ways = ends.iter();
        let next = ways.find_map(|ends| after(found.end, key, ends));
        found = next.unwrap_or(found);
    }
    found
}

/// The first place of a key from some byte on. Only lines that contain it are looked at.
fn after(text: &str, start: usize, key: &str, ends: &[End]) -> Option<Range<usize>> {
    let mut looked_at = start;
    for (found, _) in text[start..].match_indices(key) {
        let found = start + found;
        if found < looked_at || found == text.len() {
            continue;
        }
        let from = text[start..found]
            .rfind('\n')
            .map_or(start, |at| start + at + 1);
        let to = end_of_line(text, found);
        if let Some(range) = in_line(&text[from..to], key, ends) {
            return Some(from + range.start..from + range.end);
        }
        looked_at = to;
    }
    None
}

/// One past the break that ends the line of a byte.
fn end_of_line(text: &str, byte: usize) -> usize {
    text[byte..]
        .find('\n')
        .map_or(text.len(), |at| byte + at + 1)
}

/// A line from its first key on.
fn from_key(line: &str) -> &str {
    line.trim_start_matches([' ', '-', '"', '\'', '[', '{'])
}

/// The place of a key at the start of a line, or as an item in brackets.
fn in_line(line: &str, key: &str, ends: &[End]) -> Option<Range<usize>> {
    let inner = from_key(line);
    let end = inner.strip_prefix(key).and_then(End::before);
    let at = match end.is_some_and(|end| ends.contains(&end)) {
        true => line.len() - inner.len(),
        false => item(line, key).filter(|_| ends.contains(&End::Key))?,
    };
    Some(at..at + key.len())
}

/// The place of a word in a line, as an item in brackets.
fn item(line: &str, word: &str) -> Option<usize> {
    let mut items = items(line);
    let found = items.find(|(_, item)| *item == word);
    found.map(|(at, _)| at)
}

/// The items of a line in brackets, with their places.
fn items(line: &str) -> impl Iterator<Item = (usize, &str)> {
    let ends = line.find('[').zip(line.rfind(']'));
    let inside = ends.and_then(|(open, close)| Some((open + 1, line.get(open + 1..close)?)));
    let (mut at, inside) = inside.unwrap_or_default();
    let parts = inside.split(',').map(move |part| {
        let from = at;
        at += part.len() + 1;
        let item = part.trim().trim_matches(['"', '\'']);
        (from + part.find(item).unwrap_or(0), item)
    });
    parts.filter(move |_| ends.is_some())
}

/// The keys and items of a text by their hashes: a report of every state of a large file asks for thousands.
pub(crate) struct Index(Vec<HashedPlace>);

/// The hash of a key or an item, and its place.
type HashedPlace = (u32, u32);

/// The longest key that is in an index.
const LONGEST: usize = 1 << 10;

impl Index {
    pub fn new(text: &str) -> Self {
        let mut entries = Vec::new();
        let mut note = |hash: Hash, end, at: usize| {
            if let Ok(at) = u32::try_from(at) {
                entries.push((hash.of(end), at));
            }
        };
        let mut from = 0;
        for line in text.split_inclusive('\n') {
            let inner = from_key(line);
            let (at, mut hash) = (from + line.len() - inner.len(), Hash::default());
            for (byte, c) in inner.char_indices().take_while(|(at, _)| *at <= LONGEST) {
                if let Some(end) = End::before(&inner[byte..]) {
                    note(hash, end, at);
                }
                hash.add(c.encode_utf8(&mut [0; 4]));
            }
            if inner.len() <= LONGEST {
                note(hash, End::Key, at);
            }
            for (at, item) in items(line).filter(|(_, item)| item.len() <= LONGEST) {
                let mut hash = Hash::default();
                hash.add(item);
                note(hash, End::Key, from + at);
            }
            from += line.len();
        }
        entries.sort_unstable();
        Index(entries)
    }

    /// The same as [`range_of`] of the text.
    pub fn range_of(&self, text: &str, keys: &[&str]) -> Range<usize> {
        found_by(keys, |start, key, ends| {
            if key.is_empty() || key.len() > LONGEST || key.contains('\n') {
                return after(text, start, key, ends);
            }
            let line = match start {
                0 => 0,
                _ => end_of_line(text, start),
            };
            let rest = in_line(&text[start..line], key, ends);
            let rest = rest.map(|range| start + range.start..start + range.end);
            rest.or_else(|| self.after(text, line, key, ends))
        })
    }

    /// The first place of a key from the start of some line on.
    fn after(&self, text: &str, line: usize, key: &str, ends: &[End]) -> Option<Range<usize>> {
        let mut hash = Hash::default();
        hash.add(key);
        let line = u32::try_from(line).ok()?;
        let first = |end: &End| {
            let of_key = (hash.of(*end), line);
            let from = self.0.partition_point(|entry| *entry < of_key);
            let alike = self.0[from..].iter().take_while(|one| one.0 == of_key.0);
            let mut places = alike.map(|(_, at)| *at as usize);
            places.find(|at| text[*at..].starts_with(key))
        };
        let at = ends.iter().filter_map(first).min()?;
        Some(at..at + key.len())
    }
}

/// A hash that grows with a text (FNV-1a).
#[derive(Clone, Copy)]
struct Hash(u32);

impl Default for Hash {
    fn default() -> Self {
        Hash(0x811c_9dc5)
    }
}

impl Hash {
    fn add(&mut self, text: &str) {
        for byte in text.bytes() {
            self.0 = (self.0 ^ u32::from(byte)).wrapping_mul(0x0100_0193);
        }
    }

    /// The hash of the text with that end.
    fn of(mut self, end: End) -> u32 {
        self.add(match end {
            End::Key => ":",
            End::Point => ".",
            End::Word => "-",
        });
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_items_are_found() {
        let text = "pillars:\n  a: 1\nclasses:\n- b\n- \"a\"\nmore: [x, 'c.d']\n";
        let found = |keys: &[&str]| {
            let range = range_of(text, keys);
            (text[..range.start].lines().count(), text[range].to_owned())
        };
        assert_eq!(found(&[]), (0, String::new()));
        assert_eq!(found(&["pillars", "a"]), (2, "a".into()));
        assert_eq!(found(&["classes"]), (2, "classes".into()));
        assert_eq!(found(&["classes", "a"]), (5, "a".into()));
        assert_eq!(found(&["more", "c.d"]), (6, "c.d".into()));
        assert_eq!(found(&["classes", "none"]), (2, "classes".into()));
        // A line that has it twice, and a key that is part of others.
        let text = "ab: a b\nabc: [ab, x]\n\"a\": 1\n";
        assert_eq!(
            range_of(text, &["a"]).start,
            text.find("\"a\"").unwrap() + 1
        );
        assert_eq!(range_of(text, &["x"]).start, text.find('x').unwrap());
        assert_eq!(range_of(text, &["c"]), 0..0);
    }

    #[test]
    fn a_key_is_not_the_beginning_of_another() {
        let text = "web-conf: 1\nweb.d: 2\nweb: 3\n  pkg-x: 4\n  pkg.installed: 5\ndb-{{ n }}: 6\n";
        let line = |keys: &[&str]| text[..range_of(text, keys).start].lines().count();
        assert_eq!(line(&["web"]), 2);
        assert_eq!(line(&["web", "pkg"]), 5);
        // A template may make the key of it.
        assert_eq!(line(&["db"]), 5);
    }

    #[test]
    fn an_index_finds_what_a_search_finds() {
        let parts = [
            "a", "b", "ab", "_", "-", ".", ":", " ", "\n", "\n", "[", "]", ",", "\"", "'", "é", "{",
        ];
        let mut state = 1_u64;
        let mut next = |below: usize| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 33) as usize % below
        };
        for _ in 0..3_000 {
            let text: String = (0..next(60)).map(|_| parts[next(parts.len())]).collect();
            let index = Index::new(&text);
            let mut key = || -> String { (0..next(4)).map(|_| parts[next(parts.len())]).collect() };
            let keys = [key(), key(), key()];
            let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
            for count in 0..=keys.len() {
                let keys = &keys[..count];
                assert_eq!(
                    index.range_of(&text, keys),
                    range_of(&text, keys),
                    "{text:?} {keys:?}"
                );
            }
        }
    }
}
