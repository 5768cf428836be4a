//! The events of a text, and its errors in a reader's terms.

use mapstack_yaml_events::{self as events, Events, Phase};

use crate::decode::is_break;
use crate::error::{SyntaxSpot, syntax};
use crate::{Error, ErrorKind, Mark};

/// A text to be parsed.
pub(crate) struct Source<'t> {
    text: &'t str,
}

impl<'t> Source<'t> {
    pub fn new(text: &'t str) -> Self {
        Source { text }
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
        let at = error.mark.offset;
        let before = self.text.get(..at).unwrap_or_default();
        let after = self.text.get(at..).unwrap_or_default();
        let character = after.chars().next();
        if error.phase == Phase::Reader {
            let character = character.unwrap_or_default();
            return Error::new(
                ErrorKind::ForbiddenCharacter { character },
                mark(error.mark),
            );
        }
        let start = before.rfind(is_break).map_or(0, |i| {
            i + before[i..].chars().next().map_or(1, char::len_utf8)
        });
        let end = at + after.find(is_break).unwrap_or(after.len());
        let place = SyntaxSpot {
            mark: mark(error.mark),
            character,
            line: self.text.get(start..end).unwrap_or_default(),
        };
        syntax(error, &place)
    }
}

/// A position as people count.
pub(crate) fn mark(mark: events::Mark) -> Mark {
    let narrow = |n: usize| u32::try_from(n + 1).unwrap_or(u32::MAX);
    Mark {
        line: narrow(mark.line),
        column: narrow(mark.column),
    }
}
