//! A place in a text.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use crate::words;

/// The line and the column, in characters, of a byte of a text; both count from 1.
///
/// A byte behind the text, or inside a character, counts as the text's end.
///
/// ```
/// assert_eq!(mapstack_diagnostic::line_and_column("a\nbé c", 6), (2, 4));
/// ```
#[must_use]
pub fn line_and_column(text: &str, byte: usize) -> (usize, usize) {
    let before = text.get(..byte).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |i| i + 1);
    (
        before.matches('\n').count() + 1,
        before[line_start..].chars().count() + 1,
    )
}

/// A place in a text.
#[derive(Clone, PartialEq, Eq)]
pub struct Place {
    /// The file, as a person would open it.
    pub file: String,
    /// Its text.
    pub source: Arc<str>,
    /// First byte concerned.
    pub start: usize,
    /// One past the last byte concerned.
    pub end: usize,
}

/// The text takes no part, since it can be large and its file names it.
impl Hash for Place {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (&self.file, self.start, self.end).hash(state);
    }
}

impl Place {
    /// A place in a file that is not all text: `at` finds it in what can be read of the bytes.
    ///
    /// ```
    /// let place = mapstack_diagnostic::Place::in_bytes("x", b"a\n\xff", |text| text.find('\u{fffd}').unwrap());
    /// assert_eq!(place.to_string(), "x:2:1");
    /// ```
    pub fn in_bytes(file: &str, bytes: &[u8], at: impl FnOnce(&str) -> usize) -> Self {
        let source: Arc<str> = String::from_utf8_lossy(bytes).into();
        let start = at(&source);
        Place {
            file: file.into(),
            source,
            start,
            end: start,
        }
    }

    /// The place of the last of some keys in a text that is YAML or a template of such: each follows the one
    /// before, at the start of a line, or is an item of a list. Those that do not exist are left out.
    ///
    /// ```
    /// let text = "base:\n  '*':\n    - match: grain\n    - web\n";
    /// let place = |keys: &[&str]| mapstack_diagnostic::Place::of_keys("top.sls", text, keys).to_string();
    /// assert_eq!(place(&["base", "*", "web"]), "top.sls:4:7");
    /// assert_eq!(place(&["base", "printed"]), "top.sls:1:1");
    /// ```
    pub fn of_keys(file: impl Into<String>, source: impl Into<Arc<str>>, keys: &[&str]) -> Self {
        let source = source.into();
        let Range { start, end } = words::range_of(&source, keys);
        Place {
            file: file.into(),
            source,
            start,
            end,
        }
    }

    /// The line, from 1.
    #[must_use]
    pub fn line(&self) -> usize {
        self.line_and_column().0
    }

    /// The column in characters, from 1.
    #[must_use]
    pub fn column(&self) -> usize {
        self.line_and_column().1
    }

    /// The text of the line, without the break that ends it.
    ///
    /// ```
    /// let place = mapstack_diagnostic::Place::in_bytes("x", b"a: 1\r\nb: 2\n", |text| text.find("2").unwrap());
    /// assert_eq!(place.line_text(), "b: 2");
    /// ```
    #[must_use]
    pub fn line_text(&self) -> &str {
        let at = self.source.split_at_checked(self.start);
        let (before, behind) = at.unwrap_or((&self.source, ""));
        let start = before.rfind('\n').map_or(0, |at| at + 1);
        let end = before.len() + behind.find('\n').unwrap_or(behind.len());
        let line = self.source.get(start..end).unwrap_or_default();
        line.strip_suffix('\r').unwrap_or(line)
    }

    /// The same as [`line_and_column`] of the source.
    fn line_and_column(&self) -> (usize, usize) {
        if self.source.len() < LARGE {
            return line_and_column(&self.source, self.start);
        }
        LAST_LINES.with_borrow_mut(|last| {
            let known = last
                .iter()
                .position(|lines| Arc::ptr_eq(&lines.source, &self.source));
            let lines = known.and_then(|at| last.remove(at));
            let lines = lines.unwrap_or_else(|| LineStarts::of(&self.source));
            let found = lines.line_and_column(self.start);
            last.truncate(MOST_LINES - 1);
            last.push_front(lines);
            found
        })
    }
}

/// A file in which the places of many keys are looked for: the first one takes time by the size of the text, and each
/// further one hardly any.
///
/// ```
/// let text = mapstack_diagnostic::KeyedText::new("web.sls", "nginx-conf: 1\nnginx: 2\n");
/// assert_eq!(text.place(&["nginx"]).to_string(), "web.sls:2:1");
/// ```
pub struct KeyedText {
    file: String,
    source: Arc<str>,
    index: OnceLock<words::Index>,
}

impl KeyedText {
    /// The text of a file.
    pub fn new(file: impl Into<String>, source: impl Into<Arc<str>>) -> Self {
        KeyedText {
            file: file.into(),
            source: source.into(),
            index: OnceLock::new(),
        }
    }

    /// The same as [`Place::of_keys`].
    #[must_use]
    pub fn place(&self, keys: &[&str]) -> Place {
        let index = self.index.get_or_init(|| words::Index::new(&self.source));
        let Range { start, end } = index.range_of(&self.source, keys);
        Place {
            file: self.file.clone(),
            source: self.source.clone(),
            start,
            end,
        }
    }
}

impl PartialEq for KeyedText {
    fn eq(&self, other: &Self) -> bool {
        self.file == other.file && self.source == other.source
    }
}

impl fmt::Debug for KeyedText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyedText")
            .field("file", &self.file)
            .finish_non_exhaustive()
    }
}

/// The size from which texts are not searched from the beginning for each place: a report of every value of such a file
/// would take time by the square of its size.
const LARGE: usize = 4 << 10;

/// The number of texts whose lines are kept.
const MOST_LINES: usize = 8;

thread_local! {
    /// The lines of the texts that places were last found in, the last one first: a report of values goes back and forth
    /// between the layers that they come from.
    static LAST_LINES: RefCell<VecDeque<LineStarts>> = const { RefCell::new(VecDeque::new()) };
}

/// The starts of a text's lines, and the number of characters that begin before some of its bytes.
struct LineStarts {
    source: Arc<str>,
    /// The byte at which each line begins.
    starts: Vec<usize>,
    /// For each stride of bytes, the characters that begin before it.
    characters: Vec<usize>,
}

/// Bytes between two counts of characters.
const STRIDE: usize = 1 << 10;

impl LineStarts {
    fn of(source: &Arc<str>) -> Self {
        let breaks = source.match_indices('\n').map(|(at, _)| at + 1);
        let starts = std::iter::once(0).chain(breaks).collect();
        let mut before = 0;
        let counts = source.as_bytes().chunks(STRIDE).map(|chunk| {
            let here = before;
            before += characters_in(chunk);
            here
        });
        LineStarts {
            source: source.clone(),
            characters: counts.collect(),
            starts,
        }
    }

    fn line_and_column(&self, byte: usize) -> (usize, usize) {
        let byte = match self.source.is_char_boundary(byte) {
            true => byte,
            false => self.source.len(),
        };
        let line = self.starts.partition_point(|start| *start <= byte);
        let start = line.checked_sub(1).and_then(|at| self.starts.get(at));
        let start = start.copied().unwrap_or(0);
        let column = self.characters_before(byte) - self.characters_before(start) + 1;
        (line, column)
    }

    /// The number of characters that begin before a byte, which is the boundary of one.
    fn characters_before(&self, byte: usize) -> usize {
        let stride = (byte / STRIDE).min(self.characters.len().saturating_sub(1));
        let counted = self.characters.get(stride).copied().unwrap_or(0);
        let rest = self.source.as_bytes().get(stride * STRIDE..byte);
        counted + rest.map_or(0, characters_in)
    }
}

/// The number of characters that begin in some bytes of UTF-8.
fn characters_in(bytes: &[u8]) -> usize {
    let begins = |byte: &&u8| **byte & 0b1100_0000 != 0b1000_0000;
    bytes.iter().filter(begins).count()
}

impl fmt::Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line(), self.column())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_alike(text: &str, bytes: impl Iterator<Item = usize>) {
        assert!(text.len() > LARGE);
        let source: Arc<str> = text.into();
        for byte in bytes {
            let place = Place {
                file: "x".into(),
                source: source.clone(),
                start: byte,
                end: byte,
            };
            let expected = line_and_column(text, byte);
            assert_eq!(place.line_and_column(), expected, "{byte}");
        }
    }

    #[test]
    fn texts_in_turns_have_their_own_places() {
        let texts: Vec<Arc<str>> = (0..MOST_LINES + 2)
            .map(|lines| ("\n".repeat(lines) + &"x".repeat(LARGE)).into())
            .collect();
        for round in 1..4 {
            for (lines, source) in texts.iter().enumerate().cycle().take(texts.len() + round) {
                let place = Place {
                    file: "x".into(),
                    source: source.clone(),
                    start: lines + round,
                    end: lines + round,
                };
                assert_eq!(place.line_and_column(), (lines + 1, round + 1));
            }
        }
    }

    #[test]
    fn a_large_text_has_the_places_of_a_small_one() {
        let text = "a: é\n\nlonger: {x: [1, 2], y: 'üß'}\r\n".repeat(400) + "end";
        let behind = [text.len() - 1, text.len(), text.len() + 1, usize::MAX];
        assert_alike(&text, (0..text.len()).step_by(7).chain(behind));
        let flow = format!("[{}]", "é, ".repeat(5000));
        assert_alike(&flow, [0, 1, 3, 4, 4095, 4098, 12_000, 20_001].into_iter());
    }
}
