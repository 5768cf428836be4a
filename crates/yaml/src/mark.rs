//! Positions in a text, and a tree of them beside a value.

use std::fmt;
use std::sync::Arc;

use mapstack_value::{Key, Path, Value, integer_step};

/// A position in a text, counted from 1; columns count characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Mark {
    /// The line.
    pub line: u32,
    /// The column.
    pub column: u32,
}

impl Mark {
    /// The byte of a text at the mark; its end for a mark beyond it.
    ///
    /// ```
    /// use mapstack_yaml::Mark;
    /// assert_eq!(Mark { line: 2, column: 3 }.offset("ä:\n  b: 1\n"), 6);
    /// ```
    #[must_use]
    pub fn offset(self, text: &str) -> usize {
        let start = match self.line.saturating_sub(1) as usize {
            // A byte order mark is not a column.
            0 => text.len() - text.trim_start_matches('\u{feff}').len(),
            n => text
                .match_indices('\n')
                .nth(n - 1)
                .map_or(text.len(), |(at, _)| at + 1),
        };
        let column = self.column.saturating_sub(1) as usize;
        text.get(start..)
            .and_then(|rest| rest.char_indices().nth(column))
            .map_or(text.len(), |(at, _)| start + at)
    }
}

/// The starts of a text's lines, for many marks in one text.
///
/// ```
/// use mapstack_yaml::{Lines, Mark};
/// let text = "a: 1\nb: ä\n";
/// let lines = Lines::of(text);
/// assert_eq!(lines.offset(text, Mark { line: 2, column: 4 }), 8);
/// assert_eq!((lines.line(0), lines.line(8)), (1, 2));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lines {
    starts: Vec<usize>,
    /// For each stride of bytes, the characters that begin before it: a line can be as long as the text.
    characters: Vec<usize>,
}

/// Bytes between two counts of characters.
const STRIDE: usize = 1 << 10;

impl Lines {
    /// The lines of a text.
    #[must_use]
    pub fn of(text: &str) -> Self {
        let breaks = text.match_indices('\n').map(|(at, _)| at + 1);
        let mut before = 0;
        let counts = text.as_bytes().chunks(STRIDE).map(|stride| {
            let here = before;
            before += characters_in(stride);
            here
        });
        Lines {
            characters: counts.collect(),
            starts: std::iter::once(0).chain(breaks).collect(),
        }
    }

    /// The [`Mark::offset`] of the same text.
    #[must_use]
    pub fn offset(&self, text: &str, mark: Mark) -> usize {
        let Some(&start) = self.starts.get(mark.line.saturating_sub(1) as usize) else {
            return text.len();
        };
        let Some(rest) = text.get(start..) else {
            return text.len();
        };
        // A byte order mark is not a column.
        let rest = rest.trim_start_matches('\u{feff}');
        let (begin, column) = (
            text.len() - rest.len(),
            mark.column.saturating_sub(1) as usize,
        );
        if column < STRIDE / 4 {
            let found = rest.char_indices().nth(column);
            return found.map_or(text.len(), |(at, _)| begin + at);
        }
        let wanted = self.characters_before(text, begin) + column;
        let stride = self.characters.partition_point(|before| *before <= wanted);
        let stride = stride.saturating_sub(1);
        let before = self.characters.get(stride).copied().unwrap_or_default();
        let bytes = text.bytes().enumerate().skip(stride * STRIDE);
        let mut begins = bytes.filter(|(_, byte)| begins_character(*byte));
        let found = begins.nth(wanted.saturating_sub(before));
        found.map_or(text.len(), |(at, _)| at)
    }

    /// The number of characters before a byte.
    fn characters_before(&self, text: &str, at: usize) -> usize {
        let stride = at / STRIDE;
        let rest = text.as_bytes().get(stride * STRIDE..at);
        let before = self.characters.get(stride).copied();
        before.unwrap_or_default() + rest.map_or(0, characters_in)
    }

    /// The line of a byte, from 1.
    #[must_use]
    pub fn line(&self, at: usize) -> usize {
        self.starts.partition_point(|start| *start <= at)
    }
}

/// True for a byte of UTF-8 that begins a character.
fn begins_character(byte: u8) -> bool {
    byte & 0xc0 != 0x80
}

fn characters_in(bytes: &[u8]) -> usize {
    let begins = |byte: &&u8| begins_character(**byte);
    bytes.iter().filter(begins).count()
}

impl Default for Mark {
    /// The start of the text.
    fn default() -> Self {
        Mark { line: 1, column: 1 }
    }
}

impl fmt::Display for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

/// The places of a value and everything in it in its text.
///
/// The tree has the value's shape: child `i` belongs to the `i`-th item of a list or the `i`-th
/// entry of a mapping. What an alias or `<<` brings in keeps the position it was written at.
///
/// ```
/// use mapstack_value::Path;
/// use mapstack_yaml::{Limits, Mark, load_marked};
///
/// let (value, marks) = load_marked("a:\n  b: [x, y]\n", &Limits::default()).unwrap();
/// let path = Path::split("a:b:1", ":").unwrap();
/// assert_eq!(marks.at(&value, &path).unwrap().mark(), Mark { line: 2, column: 10 });
/// assert_eq!(marks.key_at(&value, &Path::split("a:b", ":").unwrap()), Some(Mark { line: 2, column: 3 }));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Marks {
    mark: Mark,
    inside: Option<Arc<Inside>>,
}

#[derive(Debug, PartialEq, Eq)]
struct Inside {
    /// Positions of the keys; empty for lists.
    keys: Box<[Mark]>,
    children: Box<[Marks]>,
}

impl Marks {
    /// The start of the value itself.
    #[must_use]
    pub fn mark(&self) -> Mark {
        self.mark
    }

    /// The place of the `i`-th key of a mapping or set.
    #[must_use]
    pub fn key(&self, i: usize) -> Option<Mark> {
        self.inside.as_ref()?.keys.get(i).copied()
    }

    /// The positions in the `i`-th item of a list or the value of the `i`-th entry of a mapping.
    #[must_use]
    pub fn child(&self, i: usize) -> Option<&Marks> {
        self.inside.as_ref()?.children.get(i)
    }

    /// The positions of what a path leads to: keys of mappings and indices of lists, read exactly.
    #[must_use]
    pub fn at(&self, value: &Value, path: &Path) -> Option<&Marks> {
        Some(self.follow(value, path)?.1)
    }

    /// The place of the last key of a path, if that step goes into a mapping.
    #[must_use]
    pub fn key_at(&self, value: &Value, path: &Path) -> Option<Mark> {
        self.follow(value, path)?.0
    }

    fn follow(&self, value: &Value, path: &Path) -> Option<(Option<Mark>, &Marks)> {
        let (mut here, mut key, mut value) = (self, None, value);
        for step in path.steps() {
            let index;
            (index, value) = entry(value, &step.0)?;
            key = here.key(index);
            here = here.child(index)?;
        }
        Some((key, here))
    }
}

fn entry<'v>(value: &'v Value, step: &Key) -> Option<(usize, &'v Value)> {
    match value {
        Value::Map(map) => {
            let index = map.index_of(step)?;
            Some((index, map.entry_at(index)?.1))
        }
        Value::List(items) => indexed(items, step),
        Value::Tuple(items) => indexed(items, step),
        _ => None,
    }
}

fn indexed<'v>(items: &'v [Value], step: &Key) -> Option<(usize, &'v Value)> {
    let index = integer_step(step)?.to_i64()?;
    let from_start = if index < 0 {
        index.checked_add(i64::try_from(items.len()).ok()?)?
    } else {
        index
    };
    let index = usize::try_from(from_start).ok()?;
    Some((index, items.get(index)?))
}

/// The trail that building a value leaves beside it: [`Marks`], or nothing at no cost.
pub(crate) trait Trail: Clone {
    fn leaf(mark: Mark) -> Self;
    fn branch(mark: Mark, keys: impl Iterator<Item = Mark>, children: Vec<Self>) -> Self;
}

impl Trail for () {
    fn leaf(_: Mark) {}
    fn branch(_: Mark, _: impl Iterator<Item = Mark>, _: Vec<()>) {}
}

impl Trail for Marks {
    fn leaf(mark: Mark) -> Self {
        Marks { mark, inside: None }
    }

    fn branch(mark: Mark, keys: impl Iterator<Item = Mark>, children: Vec<Self>) -> Self {
        Marks {
            mark,
            inside: Some(Arc::new(Inside {
                keys: keys.collect(),
                children: children.into(),
            })),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_a_text_have_the_offsets_of_marks() {
        let long = format!("{}\n{}ä\n", "é: [1, ü]  ".repeat(400), "x".repeat(3_000));
        for text in [
            "",
            "a",
            "ä\n  b: 1\n",
            "\u{feff}a: 1\nb",
            &long,
            &format!("\u{feff}{long}"),
        ] {
            let lines = Lines::of(text);
            for line in 0..4 {
                for column in [
                    0, 1, 2, 3, 9, 500, 1_023, 1_024, 1_025, 2_999, 3_001, 4_400, 4_401, 9_000,
                ] {
                    let mark = Mark { line, column };
                    assert_eq!(
                        lines.offset(text, mark),
                        mark.offset(text),
                        "{mark} of {} bytes",
                        text.len()
                    );
                }
            }
        }
    }
}
