//! The lines of a text as a person sees its structure.

use super::{excerpt, joined_key};
use crate::decode::is_break;

/// A line without its break.
#[derive(Clone, Copy)]
pub(super) struct Line<'t> {
    /// The byte at which it begins.
    pub start: usize,
    pub text: &'t str,
}

/// All lines of a text, split where YAML splits them.
pub(super) struct TextLines<'t>(Vec<Line<'t>>);

impl<'t> Line<'t> {
    /// Blanks before the content.
    pub fn indent(&self) -> usize {
        self.text.len() - self.text.trim_start_matches(' ').len()
    }

    pub fn content(&self) -> &'t str {
        self.text.trim()
    }

    /// True for a line with neither content nor anything but a comment.
    fn is_empty(&self) -> bool {
        let content = self.content();
        content.is_empty() || content.starts_with('#')
    }

    pub fn is_item(&self) -> bool {
        let content = self.content();
        content == "-" || content.starts_with("- ")
    }

    /// The part of the line before a byte of the text.
    pub fn until(&self, at: usize) -> Self {
        let length = at.saturating_sub(self.start);
        Line {
            start: self.start,
            text: self.text.get(..length).unwrap_or(self.text),
        }
    }

    /// The part of the line from a byte of the text on.
    pub fn from(&self, at: usize) -> &'t str {
        let from = at.saturating_sub(self.start);
        self.text.get(from..).unwrap_or_default()
    }

    /// The content behind the `- ` of list items.
    fn inner(&self) -> &'t str {
        let mut content = self.text.trim_start_matches(' ').trim_end();
        while let Some(rest) = content.strip_prefix("- ") {
            content = rest.trim_start();
        }
        content
    }

    /// The key that the line sets, behind the `- ` of list items.
    pub fn key(&self) -> Option<&'t str> {
        let inner = self.inner();
        let quote = inner.chars().next().filter(|c| matches!(c, '"' | '\''));
        let closed = quote.and_then(|quote| inner.get(1..)?.find(quote));
        let from = closed.map_or(0, |closed| closed + 2);
        let rest = inner.get(from..)?;
        let end = rest
            .match_indices(':')
            .find(|(at, _)| rest[at + 1..].starts_with([' ', '\t']) || rest[at + 1..].is_empty())?;
        let key = &inner[..from + end.0];
        (!key.is_empty() && !key.contains(" #") && !key.starts_with(['#', '[', '{'])).then_some(key)
    }

    /// True if a value follows the key.
    fn has_value(&self) -> bool {
        let behind = |key: &str| self.inner().get(key.len() + 1..).unwrap_or_default().trim();
        self.key().is_some_and(|key| {
            let value = behind(key);
            !value.is_empty() && !value.starts_with(['#', '|', '>'])
        })
    }

    /// The column of the key, or of what else the line has behind the `- ` of list items.
    pub fn key_column(&self) -> usize {
        self.text.trim_end().len() - self.inner().len()
    }

    /// The start of the line as it is named in messages.
    pub fn shown(&self) -> String {
        let dash = if self.is_item() { "- " } else { "" };
        match self.key() {
            Some(key) => format!("`{dash}{}:`", excerpt(key)),
            None if self.is_item() => "a list item".to_owned(),
            None => match joined_key(self.inner()) {
                Some(key) => format!("`{key}:`"),
                None => "this line".to_owned(),
            },
        }
    }
}

impl<'t> TextLines<'t> {
    pub fn of(text: &'t str) -> Self {
        let (mut lines, mut start) = (Vec::new(), 0);
        let mut chars = text.char_indices().peekable();
        // A byte order mark belongs to no line.
        if chars.next_if(|(_, c)| *c == '\u{feff}').is_some() {
            start = '\u{feff}'.len_utf8();
        }
        while let Some((at, c)) = chars.next() {
            if !is_break(c) {
                continue;
            }
            let is_pair = c == '\r' && chars.next_if(|(_, next)| *next == '\n').is_some();
            lines.push(Line {
                start,
                text: &text[start..at],
            });
            start = at + c.len_utf8() + usize::from(is_pair);
        }
        lines.push(Line {
            start,
            text: &text[start..],
        });
        TextLines(lines)
    }

    pub fn get(&self, line: usize) -> Option<&Line<'t>> {
        self.0.get(line)
    }

    /// The line of a byte of the text.
    pub fn around(&self, at: usize) -> Option<&Line<'t>> {
        let behind = self.0.partition_point(|line| line.start <= at);
        self.0.get(behind.checked_sub(1)?)
    }

    /// Lines with content above one, nearest first.
    pub fn above(&self, line: usize) -> impl Iterator<Item = &Line<'t>> {
        let above = self.0.get(..line).unwrap_or_default();
        above.iter().rev().filter(|line| !line.is_empty())
    }

    /// The byte of the first marker of a merge conflict.
    pub fn conflict(&self) -> Option<usize> {
        let is_marker = |line: &&Line<'_>| {
            let begins = |marker: &str| {
                let rest = line.text.strip_prefix(marker);
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
            };
            begins("<<<<<<<") || begins(">>>>>>>")
        };
        Some(self.0.iter().find(is_marker)?.start)
    }

    /// The line on which the plain text begins that a line would continue.
    pub fn text_begun_before(&self, line: usize) -> Option<&Line<'t>> {
        let mut above = self.above(line);
        let mut begun = above.next()?;
        for next in above {
            let is_start = begun.key().is_some() || begun.is_item();
            let is_continued = match next.key() {
                Some(_) => next.has_value() && begun.indent() > next.key_column(),
                None => begun.indent() > next.indent() || !next.is_item(),
            };
            if is_start || !is_continued {
                break;
            }
            begun = next;
        }
        Some(begun)
    }

    /// True if another line has its key in the same column, in the same block.
    pub fn has_sibling(&self, line: &Line<'t>) -> bool {
        let column = line.key_column();
        let at = self.0.partition_point(|other| other.start < line.start);
        let sibling = |found: Option<&Line<'_>>| found.is_some_and(|l| l.key_column() == column);
        let ends = |other: &&Line<'_>| other.key_column() <= column;
        let below = self.0.get(at + 1..).unwrap_or_default();
        // A list item begins its block.
        let before = || sibling(self.above(at).find(ends));
        (!line.is_item() && before())
            || sibling(below.iter().filter(|line| !line.is_empty()).find(ends))
    }

    /// True if keys of this text are in one column rather than in another.
    pub fn is_likelier(&self, column: usize, other: usize) -> bool {
        let keys = |column| {
            let keys = self.0.iter().filter(|line| line.key().is_some());
            keys.filter(|line| line.key_column() == column).count()
        };
        // An odd number of blanks is rarely meant.
        (keys(column), other % 2) > (keys(other), column % 2)
    }
}
