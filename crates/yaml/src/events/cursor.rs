//! A place in a text, and steps from it.

use crate::events::bytes::{IS_IN_LINE, is_blank};
use crate::events::error::{Error, Phase};
use crate::events::event::Mark;

const BYTE_ORDER_MARK: [u8; 3] = [0xef, 0xbb, 0xbf];

/// A place in a text.
#[derive(Clone, Copy)]
pub(crate) struct Cursor<'t> {
    text: &'t str,
    mark: Mark,
}

impl<'t> Cursor<'t> {
    /// The start of a text behind its byte order mark, if YAML has a place for all of its characters.
    pub fn new(text: &'t str) -> Result<Self, Error> {
        let mut cursor = Cursor {
            text,
            mark: Mark::default(),
        };
        if cursor.is_byte_order_mark() {
            cursor.mark.offset = BYTE_ORDER_MARK.len();
        }
        if let Some(offset) = forbidden(text) {
            while cursor.mark.offset < offset {
                if cursor.take_break().is_none() {
                    cursor.skip();
                }
            }
            let problem = "control characters are not allowed";
            return Err(Error::alone(Phase::Reader, problem, cursor.mark));
        }
        Ok(cursor)
    }

    pub fn mark(&self) -> Mark {
        self.mark
    }

    pub fn is_at_end(&self) -> bool {
        self.mark.offset >= self.text.len()
    }

    /// The byte this many places ahead; behind the end, NUL, which no text contains.
    pub fn byte(&self, ahead: usize) -> u8 {
        let bytes = self.text.as_bytes();
        bytes.get(self.mark.offset + ahead).copied().unwrap_or(0)
    }

    /// The whole text.
    pub fn text(&self) -> &'t str {
        self.text
    }

    /// The text since an offset.
    pub fn since(&self, start: usize) -> &'t str {
        self.text.get(start..self.mark.offset).unwrap_or_default()
    }

    /// The number of bytes of the line break this many bytes ahead; 0 if there is none.
    #[inline]
    fn break_length(&self, ahead: usize) -> usize {
        let byte = self.byte(ahead);
        // Nearly all are of this kind.
        if matches!(byte, b' '..=b'~') {
            return 0;
        }
        match byte {
            b'\r' if self.byte(ahead + 1) == b'\n' => 2,
            b'\n' | b'\r' => 1,
            0xc2 if self.byte(ahead + 1) == 0x85 => 2,
            0xe2 if self.byte(ahead + 1) == 0x80 && matches!(self.byte(ahead + 2), 0xa8 | 0xa9) => {
                3
            }
            _ => 0,
        }
    }

    pub fn is_break(&self, ahead: usize) -> bool {
        self.break_length(ahead) != 0
    }

    /// True if a line break or the end is this many bytes ahead.
    pub fn is_break_or_end(&self, ahead: usize) -> bool {
        self.byte(ahead) == 0 || self.is_break(ahead)
    }

    /// True if a blank, a line break or the end is this many bytes ahead.
    pub fn is_space_or_end(&self, ahead: usize) -> bool {
        is_blank(self.byte(ahead)) || self.is_break_or_end(ahead)
    }

    pub fn is_byte_order_mark(&self) -> bool {
        (0..)
            .zip(BYTE_ORDER_MARK)
            .all(|(ahead, byte)| self.byte(ahead) == byte)
    }

    /// True if `---` or `...` is here, alone and at the start of a line.
    pub fn is_document_indicator(&self) -> bool {
        self.is_marker(b'-') || self.is_marker(b'.')
    }

    /// True if three of a byte are here, alone and at the start of a line.
    pub fn is_marker(&self, byte: u8) -> bool {
        self.mark.column == 0
            && (0..3).all(|ahead| self.byte(ahead) == byte)
            && self.is_space_or_end(3)
    }

    /// Pass a character that is not a line break.
    pub fn skip(&mut self) {
        let length = match self.byte(0) {
            0 => return,
            0x01..=0xbf => 1,
            0xc0..=0xdf => 2,
            0xe0..=0xef => 3,
            0xf0..=0xff => 4,
        };
        self.mark.offset += length;
        self.mark.column += 1;
    }

    /// Pass bytes of ASCII that are on one line.
    pub fn skip_ascii(&mut self, count: usize) {
        self.mark.offset += count;
        self.mark.column += count;
    }

    /// Pass bytes of ASCII that are of a kind.
    pub fn skip_while(&mut self, is_kind: impl Fn(u8) -> bool) {
        let rest = self.text.as_bytes().get(self.mark.offset..);
        let run = rest.unwrap_or_default().iter();
        self.skip_ascii(run.take_while(|byte| is_kind(**byte)).count());
    }

    /// Pass what is left of the line.
    pub fn skip_line(&mut self) {
        loop {
            self.skip_while(|byte| IS_IN_LINE[usize::from(byte)]);
            if self.is_break_or_end(0) {
                return;
            }
            self.skip();
        }
    }

    /// Pass blanks, and then a comment.
    pub fn skip_blanks_and_comment(&mut self) {
        self.skip_while(is_blank);
        if self.byte(0) == b'#' {
            self.skip_line();
        }
    }

    /// Pass a line break. It is returned as scalars have it: the separators of Unicode stay, all others
    /// are `\n`.
    #[inline]
    pub fn take_break(&mut self) -> Option<char> {
        let length = self.break_length(0);
        let character = match (length, self.byte(2)) {
            (0, _) => return None,
            (3, 0xa8) => '\u{2028}',
            (3, _) => '\u{2029}',
            _ => '\n',
        };
        self.mark.offset += length;
        self.mark.line += 1;
        self.mark.column = 0;
        Some(character)
    }

    /// The end of a text whose last line has no break counts as the start of a line.
    pub fn end_last_line(&mut self) {
        if self.mark.column != 0 {
            self.mark.column = 0;
            self.mark.line += 1;
        }
    }
}

/// The position of the first character that YAML forbids.
fn forbidden(text: &str) -> Option<usize> {
    // Blocks without anything in question are passed by an arithmetic that takes many bytes at once.
    const BLOCK: usize = 64;
    let is_in_question = |byte: u8| byte.wrapping_sub(0x20) >= 0x5f && byte != b'\n';
    let clean = text
        .as_bytes()
        .chunks_exact(BLOCK)
        .take_while(|block| {
            !block
                .iter()
                .fold(false, |any, byte| any | is_in_question(*byte))
        })
        .count();
    let start = clean * BLOCK;
    let is_allowed = |c: char| matches!(c, '\t' | '\n' | '\r' | ' '..='~' | '\u{85}' | '\u{a0}'..='\u{fffd}' | '\u{10000}'..);
    let (at, _) = text
        .get(start..)?
        .char_indices()
        .find(|(_, c)| !is_allowed(*c))?;
    Some(start + at)
}
