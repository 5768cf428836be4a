//! The events of a text, and its errors in a reader's terms.

use crate::events::{self as events, Events, Phase};

use crate::decode::{is_break, mark_after};
use crate::explain::explain;
use crate::{Error, ErrorKind, Mark, SyntaxStage};

/// A text to be parsed.
pub(crate) struct YamlSource<'t> {
    text: &'t str,
    separators: Vec<Separator>,
}

/// A line break of YAML that ends no line of a file: files and editors count `\n`.
struct Separator {
    /// Bytes up to its end.
    end: usize,
    /// The line of YAML that begins behind it, from 0.
    line: usize,
    /// Characters before that on the line of the file.
    column: usize,
}

/// The separators of a text, in order. Hardly any text has one.
fn separators(text: &str) -> Vec<Separator> {
    let is_rare = |byte: u8| matches!(byte, b'\r' | 0xc2 | 0xe2);
    if !text.bytes().any(is_rare) {
        return Vec::new();
    }
    let (mut found, mut line, mut column) = (Vec::new(), 0, 0);
    let mut chars = text.char_indices().peekable();
    // A byte order mark is not a column.
    chars.next_if(|(_, c)| *c == '\u{feff}');
    while let Some((at, c)) = chars.next() {
        column += 1;
        if !is_break(c) {
            continue;
        }
        line += 1;
        match c {
            '\n' => column = 0,
            '\r' if matches!(chars.peek(), Some((_, '\n'))) => line -= 1,
            _ => found.push(Separator {
                end: at + c.len_utf8(),
                line,
                column,
            }),
        }
    }
    found
}

impl<'t> YamlSource<'t> {
    pub fn new(text: &'t str) -> Self {
        YamlSource {
            text,
            separators: separators(text),
        }
    }

    pub fn events(&self) -> Result<Events<'t>, Error> {
        Events::of(self.text).map_err(|error| self.error(&error))
    }

    /// True if the brace at a position is the second of two.
    pub fn is_second_brace(&self, mark: events::Mark) -> bool {
        let before = mark.offset.checked_sub(1);
        before
            .and_then(|before| self.text.get(before..))
            .is_some_and(|rest| rest.starts_with("{{"))
    }

    pub fn error(&self, error: &events::Error) -> Error {
        if error.phase == Phase::Reader {
            let rest = self.text.get(error.mark.offset..).unwrap_or_default();
            let character = rest.chars().next().unwrap_or_default();
            return Error::new(
                ErrorKind::ForbiddenCharacter { character },
                self.mark(error.mark),
            );
        }
        let stage = match error.phase {
            Phase::Parser => SyntaxStage::Parser,
            Phase::Reader | Phase::Scanner => SyntaxStage::Scanner,
        };
        let explained = explain(self.text, error);
        Error::new(
            ErrorKind::Syntax {
                stage,
                problem: explained.problem,
                line_of: explained.line_of.map(|at| self.mark_at(at)),
                advice: explained.advice,
            },
            self.mark_at(explained.at),
        )
    }

    /// The position of a byte.
    fn mark_at(&self, at: usize) -> Mark {
        mark_after(self.text.get(..at).unwrap_or(self.text))
    }

    /// A position as people count, whose lines end where those of files do.
    pub fn mark(&self, mark: events::Mark) -> Mark {
        let before = self
            .separators
            .partition_point(|separator| separator.end <= mark.offset);
        let last = before.checked_sub(1).and_then(|at| self.separators.get(at));
        let same_line = last.filter(|separator| separator.line == mark.line);
        let narrow = |n: usize| u32::try_from(n + 1).unwrap_or(u32::MAX);
        Mark {
            line: narrow(mark.line.saturating_sub(before)),
            column: narrow(mark.column + same_line.map_or(0, |separator| separator.column)),
        }
    }
}
