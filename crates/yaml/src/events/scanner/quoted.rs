//! Scalars in quotes.

use std::convert::Infallible;

use crate::events::bytes::IS_ORDINARY_QUOTED;
use crate::events::error::Error;
use crate::events::event::{Mark, Style};
use crate::events::token::TokenKind;

use super::Scanner;
use super::text::{Gap, ScalarText};

const WHAT: &str = "while scanning a quoted scalar";
const WHAT_ESCAPE: &str = "while parsing a quoted scalar";

impl<'t> Scanner<'t> {
    pub(super) fn quoted_scalar(&mut self) -> Result<(), Error> {
        self.save_key()?;
        self.key_allowed = false;
        let start = self.cursor.mark();
        let quote = self.cursor.byte(0);
        self.cursor.skip();
        let mut text = ScalarText::new(&self.cursor);
        loop {
            if self.cursor.is_document_indicator() {
                return Err(self.error(WHAT, start, "found unexpected document indicator"));
            }
            if self.cursor.is_at_end() {
                return Err(self.error(WHAT, start, "found unexpected end of stream"));
            }
            let mut gap = self.quoted_words(quote, start, &mut text)?;
            if self.cursor.byte(0) == quote {
                gap.fold_into(&mut text);
                break;
            }
            let Ok(()) = gap.take(&mut self.cursor, |_| Ok::<(), Infallible>(()));
            gap.fold_into(&mut text);
        }
        self.cursor.skip();
        let style = if quote == b'\'' {
            Style::SingleQuoted
        } else {
            Style::DoubleQuoted
        };
        let value = text.finish();
        self.push(TokenKind::Scalar { value, style }, start);
        Ok(())
    }

    /// Pass everything up to a blank, a break, the closing quote or the end. An escaped line break begins a gap.
    fn quoted_words(
        &mut self,
        quote: u8,
        start: Mark,
        text: &mut ScalarText<'t>,
    ) -> Result<Gap, Error> {
        loop {
            let from = self.cursor.mark().offset;
            self.cursor
                .skip_while(|byte| IS_ORDINARY_QUOTED[usize::from(byte)]);
            text.push_part(from..self.cursor.mark().offset);
            match self.cursor.byte(0) {
                b'\'' if quote == b'\'' => {
                    if self.cursor.byte(1) != b'\'' {
                        return Ok(Gap::none());
                    }
                    self.cursor.skip_ascii(2);
                    let second = self.cursor.mark().offset;
                    text.push_part(second - 1..second);
                }
                b'"' if quote == b'"' => return Ok(Gap::none()),
                b'\\' if quote == b'"' => {
                    if self.cursor.is_break(1) {
                        self.cursor.skip();
                        self.cursor.take_break();
                        return Ok(Gap::escaped());
                    }
                    text.push(self.escape(start)?);
                }
                _ if self.cursor.is_space_or_end(0) => return Ok(Gap::none()),
                _ => {
                    let from = self.cursor.mark().offset;
                    self.cursor.skip();
                    text.push_part(from..self.cursor.mark().offset);
                }
            }
        }
    }

    /// Pass an escape, and return its character.
    fn escape(&mut self, start: Mark) -> Result<char, Error> {
        let character = match self.cursor.byte(1) {
            b'0' => '\0',
            b'a' => '\x07',
            b'b' => '\x08',
            b't' | b'\t' => '\t',
            b'n' => '\n',
            b'v' => '\x0b',
            b'f' => '\x0c',
            b'r' => '\r',
            b'e' => '\x1b',
            b' ' => ' ',
            b'"' => '"',
            b'/' => '/',
            b'\\' => '\\',
            b'N' => '\u{85}',
            b'_' => '\u{a0}',
            b'L' => '\u{2028}',
            b'P' => '\u{2029}',
            b'x' => return self.escaped_code(start, 2),
            b'u' => return self.escaped_code(start, 4),
            b'U' => return self.escaped_code(start, 8),
            // libyaml finds an unknown escape here; the useful message is that the quote is missing.
            0 => {
                self.cursor.skip();
                return Err(self.error(WHAT, start, "found unexpected end of stream"));
            }
            _ => return Err(self.error(WHAT_ESCAPE, start, "found unknown escape character")),
        };
        self.cursor.skip_ascii(2);
        Ok(character)
    }

    fn escaped_code(&mut self, start: Mark, digits: usize) -> Result<char, Error> {
        self.cursor.skip_ascii(2);
        let mut code = 0;
        for ahead in 0..digits {
            let Some(digit) = char::from(self.cursor.byte(ahead)).to_digit(16) else {
                let problem = "did not find expected hexdecimal number";
                return Err(self.error(WHAT_ESCAPE, start, problem));
            };
            code = (code << 4) | digit;
        }
        let Some(character) = char::from_u32(code) else {
            let problem = "found invalid Unicode character escape code";
            return Err(self.error(WHAT_ESCAPE, start, problem));
        };
        self.cursor.skip_ascii(digits);
        Ok(character)
    }
}
