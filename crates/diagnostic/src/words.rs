//! Finds keys and items in a text that is YAML, or a template of such.

use std::ops::Range;

/// The bytes of the last of some keys, each of which stands behind the one before, at the start of a line. The last one
/// can be an item as well. Keys that are not found are left out: templates print such, too.
pub(crate) fn range_of(text: &str, keys: &[&str]) -> Range<usize> {
    let mut found = 0..0;
    for key in keys {
        found = after(text, found.end, key).unwrap_or(found);
    }
    found
}

/// The first place of a key from some byte on. Only lines that contain it are looked at: a report of every state of a
/// large file asks for thousands of keys.
fn after(text: &str, start: usize, key: &str) -> Option<Range<usize>> {
    let mut looked_at = start;
    for (found, _) in text[start..].match_indices(key) {
        let found = start + found;
        if found < looked_at || found == text.len() {
            continue;
        }
        let from = text[start..found]
            .rfind('\n')
            .map_or(start, |at| start + at + 1);
        let to = text[found..]
            .find('\n')
            .map_or(text.len(), |at| found + at + 1);
        if let Some(range) = in_line(&text[from..to], key) {
            return Some(from + range.start..from + range.end);
        }
        looked_at = to;
    }
    None
}

/// The place of a key at the start of a line, or as an item in brackets.
fn in_line(line: &str, key: &str) -> Option<Range<usize>> {
    let inner = line.trim_start_matches([' ', '-', '"', '\'', '[', '{']);
    let is_whole = inner
        .strip_prefix(key)
        .is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'));
    let at = match is_whole {
        true => line.len() - inner.len(),
        false => item(line, key)?,
    };
    Some(at..at + key.len())
}

/// The place of a word in a line, as an item in brackets.
fn item(line: &str, word: &str) -> Option<usize> {
    let (open, close) = (line.find('[')?, line.rfind(']')?);
    let inside = line.get(open + 1..close)?;
    let mut at = open + 1;
    for part in inside.split(',') {
        if part.trim().trim_matches(['"', '\'']) == word {
            return Some(at + part.find(word)?);
        }
        at += part.len() + 1;
    }
    None
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
}
