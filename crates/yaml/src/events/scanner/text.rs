//! The text of a scalar, put together.

use std::borrow::Cow;
use std::ops::Range;

use crate::events::bytes::is_blank;
use crate::events::cursor::Cursor;

/// The text of a scalar: a part of the source as long as that says it, and a copy from then on.
pub(super) struct ScalarText<'t> {
    source: &'t str,
    range: Range<usize>,
    copy: Option<String>,
}

impl<'t> ScalarText<'t> {
    pub fn new(source: &Cursor<'t>) -> Self {
        ScalarText {
            source: source.text(),
            range: 0..0,
            copy: None,
        }
    }

    /// Add a part of the source.
    pub fn push_part(&mut self, part: Range<usize>) {
        if part.is_empty() {
            return;
        }
        if self.copy.is_none() && self.range.is_empty() {
            self.range = part;
        } else if self.copy.is_none() && self.range.end == part.start {
            self.range.end = part.end;
        } else {
            let part = self.source.get(part).unwrap_or_default();
            self.copied().push_str(part);
        }
    }

    /// Add something that is not in the source, or elsewhere in it.
    pub fn push(&mut self, character: char) {
        self.copied().push(character);
    }

    pub fn push_str(&mut self, text: &str) {
        if !text.is_empty() {
            self.copied().push_str(text);
        }
    }

    fn copied(&mut self) -> &mut String {
        let so_far = self.source.get(self.range.clone()).unwrap_or_default();
        self.copy.get_or_insert_with(|| so_far.to_owned())
    }

    pub fn finish(self) -> Cow<'t, str> {
        match self.copy {
            Some(copy) => Cow::Owned(copy),
            None => Cow::Borrowed(self.source.get(self.range).unwrap_or_default()),
        }
    }
}

/// The gap between two words of a scalar: blanks, or line breaks with blanks around.
pub(super) struct Gap {
    /// The blanks, unless there is a break.
    blanks: Range<usize>,
    /// True if lines are folded here.
    pub is_break: bool,
    /// The text of the first break; none for one that is escaped.
    first: Option<char>,
    /// The text of all further breaks.
    more: String,
}

impl Gap {
    /// No gap.
    pub fn none() -> Self {
        Gap {
            blanks: 0..0,
            is_break: false,
            first: None,
            more: String::new(),
        }
    }

    /// A line break that is escaped.
    pub fn escaped() -> Self {
        Gap {
            is_break: true,
            ..Gap::none()
        }
    }

    /// Pass blanks and breaks. `check` is called before each run of blanks at the start of a line.
    pub fn take<'t, E>(
        &mut self,
        cursor: &mut Cursor<'t>,
        check: impl Fn(&Cursor<'t>) -> Result<(), E>,
    ) -> Result<(), E> {
        loop {
            let start = cursor.mark().offset;
            if self.is_break {
                check(cursor)?;
            }
            cursor.skip_while(is_blank);
            if !self.is_break {
                self.blanks = start..cursor.mark().offset;
            }
            let Some(character) = cursor.take_break() else {
                return Ok(());
            };
            if self.is_break {
                self.more.push(character);
            } else {
                (self.is_break, self.first) = (true, Some(character));
            }
        }
    }

    /// Add the gap to a scalar, now that a word or the closing quote follows.
    pub fn fold_into(&mut self, text: &mut ScalarText<'_>) {
        if !self.is_break {
            text.push_part(std::mem::take(&mut self.blanks));
            return;
        }
        match self.first {
            Some('\n') if self.more.is_empty() => text.push(' '),
            Some('\n') | None => text.push_str(&self.more),
            Some(separator) => {
                text.push(separator);
                text.push_str(&self.more);
            }
        }
        *self = Gap::none();
    }
}
