//! Lines of files around places, without secrets.
//!
//! A line may be shown to people who may not see its values, so rather too much is hidden: those
//! behind every name that looks like a secret's, and below it; each place that a masked value has;
//! and the text of every masked value wherever else it is.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use mapstack_value::{Value, cut};

use crate::redact::Secrets;

/// The number of lines that are shown before and behind.
const AROUND: usize = 3;

/// The lines that are wanted of files, and what no line may show.
pub struct Excerpts {
    secrets: Secrets,
    files: BTreeMap<String, ExcerptLines>,
}

struct ExcerptLines {
    text: Arc<str>,
    wanted: BTreeSet<usize>,
    hidden: Vec<Range<usize>>,
}

impl Excerpts {
    /// No lines so far.
    pub fn new(secrets: &Secrets) -> Self {
        Excerpts {
            secrets: secrets.clone(),
            files: BTreeMap::new(),
        }
    }

    /// A value is a secret: its text is shown nowhere.
    pub fn hide_text(&mut self, value: &Value) {
        if !matches!(
            value,
            Value::Map(_) | Value::List(_) | Value::Tuple(_) | Value::Set(_)
        ) {
            self.secrets.learn(&value.to_string().into());
        }
        self.secrets.learn(value);
    }

    /// Hide the secret at a byte of a file, to its end.
    pub fn hide_at(&mut self, file: &str, text: &Arc<str>, start: usize) {
        let lines = self.lines_of(file, text);
        let end = token_end(&lines.text, start);
        lines.hidden.push(start..end);
    }

    /// Show a line and those around it.
    pub fn want(&mut self, file: &str, text: &Arc<str>, line: usize) {
        let wanted = line.saturating_sub(AROUND).max(1)..=line.saturating_add(AROUND);
        self.lines_of(file, text).wanted.extend(wanted);
    }

    /// The same for a file of facts, which are shown only where everything is; whether they are.
    pub fn want_facts(&mut self, file: &str, line: usize) -> bool {
        if !self.secrets.shows_everything() {
            return false;
        }
        let known = self.files.get(file).map(|lines| lines.text.clone());
        // A file that cannot be read again is known by its name.
        let is_file = || std::fs::metadata(file).is_ok_and(|metadata| metadata.is_file());
        let read = || {
            is_file()
                .then(|| std::fs::read_to_string(file).ok().map(Arc::from))
                .flatten()
        };
        match known.or_else(read) {
            Some(text) => {
                self.want(file, &text, line);
                true
            }
            None => false,
        }
    }

    fn lines_of(&mut self, file: &str, text: &Arc<str>) -> &mut ExcerptLines {
        self.files
            .entry(file.into())
            .or_insert_with(|| ExcerptLines {
                text: text.clone(),
                wanted: BTreeSet::new(),
                hidden: Vec::new(),
            })
    }

    /// The lines that are wanted, by file and number; long ones are [cut].
    pub fn into_files(self) -> BTreeMap<String, BTreeMap<usize, String>> {
        let mut files = BTreeMap::new();
        for (file, of_file) in self.files {
            let starred = self.secrets.starred_at(&of_file.text, of_file.hidden);
            let all: Vec<&str> = starred.lines().collect();
            let line =
                |number: usize| Some((number, cut(all.get(number.checked_sub(1)?)?).into_owned()));
            let lines: BTreeMap<usize, String> =
                of_file.wanted.into_iter().filter_map(line).collect();
            if !lines.is_empty() {
                files.insert(file, lines);
            }
        }
        files
    }
}

/// The end of the text that begins at a byte: an expression or a tag, a quotation, or else the line with
/// all that is indented deeper behind it.
fn token_end(text: &str, start: usize) -> usize {
    let Some(rest) = text.get(start..) else {
        return text.len();
    };
    let behind = |end: &str, from: usize| {
        rest.get(from..)
            .and_then(|inside| inside.find(end))
            .map_or(text.len(), |at| start + from + at + end.len())
    };
    let first = text[..start].rfind('\n').map_or(0, |at| at + 1);
    let depth = |line: &str| line.len() - line.trim_start().len();
    let indent = depth(&text[first..]).min(start - first);
    let lines = || {
        let mut end = start;
        for (number, line) in rest.split_inclusive('\n').enumerate() {
            if number > 0 && !line.trim().is_empty() && depth(line) <= indent {
                break;
            }
            end += line.len();
        }
        end
    };
    match rest.get(..2) {
        Some("{{") => behind("}}", 2),
        Some("{%") => behind("%}", 2),
        _ if rest.starts_with('"') => behind("\"", 1).max(lines()),
        _ if rest.starts_with('\'') => behind("'", 1).max(lines()),
        _ => lines(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_of_masked_values_are_not_shown_wherever_they_end() {
        for (text, at, expected) in [
            ("a: x\nb: 2", 3, "a: *\nb: 2"),
            ("a: >-\n  x\n  y\nb: 2", 3, "a: **\n  *\n  *\nb: 2"),
            ("l:\n- x\n- b", 5, "l:\n- *\n- b"),
            ("a: \"x\ny\"\nb: 2", 3, "a: **\n**\nb: 2"),
            ("a: p{{ b }}q\nb: 2", 4, "a: p** * **q\nb: 2"),
            (
                "{% do f({\n'a': 'x'}) %}\nb",
                0,
                "** ** ***\n**** ***** **\nb",
            ),
            ("a: x", 99, "a: x"),
        ] {
            let end = token_end(text, at);
            assert_eq!(
                Secrets::new(b"x").starred_at(text, std::iter::once(at..end).collect()),
                expected,
                "{text}"
            );
        }
    }
}
