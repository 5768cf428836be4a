//! Lines that begin with `%`.

use crate::events::bytes::{is_blank, is_word};
use crate::events::error::Error;
use crate::events::event::Mark;
use crate::events::token::{Token, TokenKind};

use super::Scanner;
use super::tag::Uri;

const WHAT: &str = "while scanning a directive";
const WHAT_VERSION: &str = "while scanning a %YAML directive";
const WHAT_TAG: &str = "while scanning a %TAG directive";

/// A number of a version has at most this many digits.
const MAX_DIGITS: usize = 9;

impl<'t> Scanner<'t> {
    pub(super) fn directive(&mut self) -> Result<(), Error> {
        self.leave_blocks(None);
        self.drop_key()?;
        self.key_allowed = false;
        let start = self.cursor.mark();
        self.cursor.skip();
        let kind = match self.directive_name(start)? {
            "YAML" => self.version(start)?,
            "TAG" => self.tag_directive(start)?,
            _ => return Err(self.error(WHAT, start, "found unknown directive name")),
        };
        let end = self.cursor.mark();
        self.cursor.skip_blanks_and_comment();
        if !self.cursor.is_break_or_end(0) {
            let problem = "did not find expected comment or line break";
            return Err(self.error(WHAT, start, problem));
        }
        self.cursor.take_break();
        self.tokens.push_back(Token { kind, start, end });
        Ok(())
    }

    fn directive_name(&mut self, start: Mark) -> Result<&'t str, Error> {
        let from = self.cursor.mark().offset;
        self.cursor.skip_while(is_word);
        let name = self.cursor.since(from);
        if name.is_empty() {
            return Err(self.error(WHAT, start, "could not find expected directive name"));
        }
        if !self.cursor.is_space_or_end(0) {
            let problem = "found unexpected non-alphabetical character";
            return Err(self.error(WHAT, start, problem));
        }
        Ok(name)
    }

    fn version(&mut self, start: Mark) -> Result<TokenKind<'t>, Error> {
        self.cursor.skip_while(is_blank);
        let major = self.version_number(start)?;
        if self.cursor.byte(0) != b'.' {
            let problem = "did not find expected digit or '.' character";
            return Err(self.error(WHAT_VERSION, start, problem));
        }
        self.cursor.skip();
        let minor = self.version_number(start)?;
        Ok(TokenKind::VersionDirective { major, minor })
    }

    fn version_number(&mut self, start: Mark) -> Result<u32, Error> {
        let (mut number, mut digits) = (0, 0);
        while let digit @ b'0'..=b'9' = self.cursor.byte(0) {
            digits += 1;
            if digits > MAX_DIGITS {
                let problem = "found extremely long version number";
                return Err(self.error(WHAT_VERSION, start, problem));
            }
            number = number * 10 + u32::from(digit - b'0');
            self.cursor.skip();
        }
        if digits == 0 {
            let problem = "did not find expected version number";
            return Err(self.error(WHAT_VERSION, start, problem));
        }
        Ok(number)
    }

    fn tag_directive(&mut self, start: Mark) -> Result<TokenKind<'t>, Error> {
        self.cursor.skip_while(is_blank);
        let handle = self.tag_handle("while scanning a tag directive", start)?;
        if handle != "!" && !handle.ends_with('!') {
            let what = "while parsing a tag directive";
            return Err(self.error(what, start, "did not find expected '!'"));
        }
        if !is_blank(self.cursor.byte(0)) {
            let problem = "did not find expected whitespace";
            return Err(self.error(WHAT_TAG, start, problem));
        }
        self.cursor.skip_while(is_blank);
        let prefix = self.tag_uri(Uri::Directive, self.cursor.mark().offset, start)?;
        if !self.cursor.is_space_or_end(0) {
            let problem = "did not find expected whitespace or line break";
            return Err(self.error(WHAT_TAG, start, problem));
        }
        Ok(TokenKind::TagDirective { handle, prefix })
    }
}
