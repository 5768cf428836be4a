//! Block scalars, behind `|` and `>`.

use crate::events::bytes::is_blank;
use crate::events::error::Error;
use crate::events::event::{Mark, Style};
use crate::events::token::{Token, TokenKind};

use super::Scanner;
use super::text::ScalarText;

const WHAT: &str = "while scanning a block scalar";

/// The treatment of line breaks at the end.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Chomping {
    /// `-`: all go.
    Strip,
    /// One stays.
    Clip,
    /// `+`: all stay.
    Keep,
}

impl Scanner<'_> {
    pub(super) fn block_scalar(&mut self) -> Result<(), Error> {
        self.drop_key()?;
        self.key_allowed = true;
        let start = self.cursor.mark();
        let style = if self.cursor.byte(0) == b'|' {
            Style::Literal
        } else {
            Style::Folded
        };
        self.cursor.skip();
        let (chomping, increment) = self.block_header(start)?;
        let given = increment.map(|increment| self.indent.unwrap_or(0) + increment);
        let mut breaks = String::new();
        let (mut end, indent) = self.block_breaks(given, &mut breaks, start)?;
        let mut text = ScalarText::new(&self.cursor);
        // The break behind the line before, and whether that line began with a blank.
        let (mut before, mut was_blank) = (None, false);
        while self.cursor.mark().column == indent && !self.cursor.is_at_end() {
            let is_blank = is_blank(self.cursor.byte(0));
            let folds = style == Style::Folded && before == Some('\n') && !was_blank && !is_blank;
            match before {
                Some(_) if folds && breaks.is_empty() => text.push(' '),
                Some(character) if !folds => text.push(character),
                _ => {}
            }
            text.push_str(&breaks);
            breaks.clear();
            was_blank = is_blank;
            let line = self.cursor.mark().offset;
            self.cursor.skip_line();
            text.push_part(line..self.cursor.mark().offset);
            before = self.cursor.take_break();
            (end, _) = self.block_breaks(Some(indent), &mut breaks, start)?;
        }
        if let Some(character) = before
            && chomping != Chomping::Strip
        {
            text.push(character);
        }
        if chomping == Chomping::Keep {
            text.push_str(&breaks);
        }
        let kind = TokenKind::Scalar {
            value: text.finish(),
            style,
        };
        self.tokens.push_back(Token { kind, start, end });
        Ok(())
    }

    /// The rest of the first line: how breaks are chomped, and how much deeper than the node around the text is.
    fn block_header(&mut self, start: Mark) -> Result<(Chomping, Option<usize>), Error> {
        let mut chomping = self.chomping();
        let increment = match self.cursor.byte(0) {
            b'0' => {
                let problem = "found an indentation indicator equal to 0";
                return Err(self.error(WHAT, start, problem));
            }
            digit @ b'1'..=b'9' => {
                self.cursor.skip();
                Some(usize::from(digit - b'0'))
            }
            _ => None,
        };
        if increment.is_some() && chomping.is_none() {
            chomping = self.chomping();
        }
        self.cursor.skip_blanks_and_comment();
        if !self.cursor.is_break_or_end(0) {
            let problem = "did not find expected comment or line break";
            return Err(self.error(WHAT, start, problem));
        }
        self.cursor.take_break();
        Ok((chomping.unwrap_or(Chomping::Clip), increment))
    }

    fn chomping(&mut self) -> Option<Chomping> {
        let chomping = match self.cursor.byte(0) {
            b'+' => Chomping::Keep,
            b'-' => Chomping::Strip,
            _ => return None,
        };
        self.cursor.skip();
        Some(chomping)
    }

    /// Pass lines without text, and the indentation of the next line with text: where the last of them ended, and the
    /// indentation, which the first line decides if it was not given.
    fn block_breaks(
        &mut self,
        indent: Option<usize>,
        breaks: &mut String,
        start: Mark,
    ) -> Result<(Mark, usize), Error> {
        let mut end = self.cursor.mark();
        let mut deepest = 0;
        loop {
            let is_indentation = |column| indent.is_none_or(|indent| column < indent);
            while self.cursor.byte(0) == b' ' && is_indentation(self.cursor.mark().column) {
                self.cursor.skip();
            }
            let column = self.cursor.mark().column;
            deepest = deepest.max(column);
            if self.cursor.byte(0) == b'\t' && is_indentation(column) {
                let problem = "found a tab character where an indentation space is expected";
                return Err(self.error(WHAT, start, problem));
            }
            let Some(character) = self.cursor.take_break() else {
                break;
            };
            breaks.push(character);
            end = self.cursor.mark();
        }
        let least = self.inner_column().max(1);
        Ok((end, indent.unwrap_or_else(|| deepest.max(least))))
    }
}
