//! Scalars without quotes.

use crate::events::bytes::{IS_ORDINARY, is_blank, is_flow_indicator};
use crate::events::cursor::Cursor;
use crate::events::error::Error;
use crate::events::event::{Mark, Style};
use crate::events::token::{Token, TokenKind};

use super::Scanner;
use super::text::{Gap, ScalarText};

const WHAT: &str = "while scanning a plain scalar";

impl Scanner<'_> {
    pub(super) fn plain_scalar(&mut self) -> Result<(), Error> {
        self.save_key()?;
        self.key_allowed = false;
        let is_in_flow = self.is_in_flow();
        let column = self.inner_column();
        let start = self.cursor.mark();
        let mut end = start;
        let mut text = ScalarText::new(&self.cursor);
        let mut gap = Gap::none();
        while !self.cursor.is_document_indicator() && self.cursor.byte(0) != b'#' {
            let word = self.cursor.mark().offset;
            self.plain_word(start)?;
            if self.cursor.mark().offset > word {
                gap.fold_into(&mut text);
                end = self.cursor.mark();
                text.push_part(word..end.offset);
            }
            if !is_blank(self.cursor.byte(0)) && !self.cursor.is_break(0) {
                break;
            }
            gap.take(&mut self.cursor, |cursor| check_tabs(cursor, start, column))?;
            if !is_in_flow && self.cursor.mark().column < column {
                break;
            }
        }
        if gap.is_break {
            self.key_allowed = true;
        }
        let kind = TokenKind::Scalar {
            value: text.finish(),
            style: Style::Plain,
        };
        self.tokens.push_back(Token { kind, start, end });
        Ok(())
    }

    /// Pass a word: everything up to a blank, a break, or an indicator.
    fn plain_word(&mut self, start: Mark) -> Result<(), Error> {
        let is_in_flow = self.is_in_flow();
        loop {
            self.cursor
                .skip_while(|byte| IS_ORDINARY[usize::from(byte)]);
            match self.cursor.byte(0) {
                b':' => {
                    let next = self.cursor.byte(1);
                    if is_in_flow && matches!(next, b',' | b'?' | b'[' | b']' | b'{' | b'}') {
                        return Err(self.error(WHAT, start, "found unexpected ':'"));
                    }
                    if self.cursor.is_space_or_end(1) {
                        return Ok(());
                    }
                }
                byte if is_flow_indicator(byte) && is_in_flow => return Ok(()),
                _ if self.cursor.is_space_or_end(0) => return Ok(()),
                _ => {}
            }
            self.cursor.skip();
        }
    }
}

/// Refuse tabs among the blanks that make up the indentation.
fn check_tabs(cursor: &Cursor<'_>, start: Mark, column: usize) -> Result<(), Error> {
    let mut ahead = *cursor;
    ahead.skip_while(|byte| byte == b' ');
    if ahead.byte(0) == b'\t' && ahead.mark().column < column {
        let problem = "found a tab character that violates indentation";
        return Err(Error::scanner(WHAT, start, problem, ahead.mark()));
    }
    Ok(())
}
