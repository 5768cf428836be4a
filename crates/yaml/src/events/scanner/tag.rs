//! Tags.

use std::borrow::Cow;

use crate::events::bytes::{is_tag_byte, is_word};
use crate::events::error::Error;
use crate::events::event::Mark;
use crate::events::token::TokenKind;

use super::Scanner;
use super::text::ScalarText;

const WHAT: &str = "while scanning a tag";

/// The context of a URI.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Uri {
    /// In `!<…>`.
    Verbatim,
    /// Behind a handle.
    Suffix,
    /// In `%TAG`.
    Directive,
}

impl Uri {
    fn what(self) -> &'static str {
        match self {
            Uri::Directive => "while parsing a %TAG directive",
            Uri::Verbatim | Uri::Suffix => "while parsing a tag",
        }
    }
}

impl<'t> Scanner<'t> {
    pub(super) fn tag(&mut self) -> Result<(), Error> {
        self.save_key()?;
        self.key_allowed = false;
        let start = self.cursor.mark();
        let (handle, suffix) = if self.cursor.byte(1) == b'<' {
            self.cursor.skip_ascii(2);
            let uri = self.tag_uri(Uri::Verbatim, self.cursor.mark().offset, start)?;
            if self.cursor.byte(0) != b'>' {
                return Err(self.error(WHAT, start, "did not find the expected '>'"));
            }
            self.cursor.skip();
            ("", uri)
        } else {
            self.shorthand(start)?
        };
        let before_comma = self.is_in_flow() && self.cursor.byte(0) == b',';
        if !self.cursor.is_space_or_end(0) && !before_comma {
            let problem = "did not find expected whitespace or line break";
            return Err(self.error(WHAT, start, problem));
        }
        self.push(TokenKind::Tag { handle, suffix }, start);
        Ok(())
    }

    /// `!handle!suffix`, `!!suffix`, `!suffix` or `!`.
    fn shorthand(&mut self, start: Mark) -> Result<(&'t str, Cow<'t, str>), Error> {
        let handle = self.tag_handle("while scanning a tag", start)?;
        if handle.len() > 1 && handle.ends_with('!') {
            let suffix = self.tag_uri(Uri::Suffix, self.cursor.mark().offset, start)?;
            return Ok((handle, suffix));
        }
        let first = handle.get(..1).unwrap_or_default();
        if !is_tag_byte(self.cursor.byte(0)) && handle.len() == 1 {
            return Ok(("", Cow::Borrowed(first)));
        }
        let suffix = self.tag_uri(Uri::Suffix, start.offset + 1, start)?;
        Ok((first, suffix))
    }

    /// `!`, `!!`, `!name!`, or the start of a tag such as `!name`.
    pub(super) fn tag_handle(&mut self, what: &'static str, start: Mark) -> Result<&'t str, Error> {
        if self.cursor.byte(0) != b'!' {
            return Err(self.error(what, start, "did not find expected '!'"));
        }
        let from = self.cursor.mark().offset;
        self.cursor.skip();
        self.cursor.skip_while(is_word);
        if self.cursor.byte(0) == b'!' {
            self.cursor.skip();
        }
        Ok(self.cursor.since(from))
    }

    /// A URI, or the rest of one that began at an offset.
    pub(super) fn tag_uri(
        &mut self,
        uri: Uri,
        from: usize,
        start: Mark,
    ) -> Result<Cow<'t, str>, Error> {
        let mut text = ScalarText::new(&self.cursor);
        text.push_part(from..self.cursor.mark().offset);
        let is_part =
            |byte| is_tag_byte(byte) || uri != Uri::Suffix && matches!(byte, b',' | b'[' | b']');
        loop {
            let run = self.cursor.mark().offset;
            self.cursor.skip_while(|byte| is_part(byte) && byte != b'%');
            text.push_part(run..self.cursor.mark().offset);
            if self.cursor.byte(0) != b'%' {
                break;
            }
            text.push(self.uri_escape(uri, start)?);
        }
        if self.cursor.mark().offset == from {
            return Err(self.error(uri.what(), start, "did not find expected tag URI"));
        }
        Ok(text.finish())
    }

    /// A character whose bytes are written as `%XX`.
    fn uri_escape(&mut self, uri: Uri, start: Mark) -> Result<char, Error> {
        let mut octets = Vec::with_capacity(4);
        let mut width = 1;
        while octets.len() < width {
            let digit = |ahead| char::from(self.cursor.byte(ahead)).to_digit(16);
            let octet = match (self.cursor.byte(0), digit(1), digit(2)) {
                (b'%', Some(high), Some(low)) => u8::try_from(high << 4 | low).unwrap_or(0),
                _ => {
                    let problem = "did not find URI escaped octet";
                    return Err(self.error(uri.what(), start, problem));
                }
            };
            if octets.is_empty() {
                width = match octet {
                    0x00..=0x7f => 1,
                    0xc0..=0xdf => 2,
                    0xe0..=0xef => 3,
                    0xf0..=0xf7 => 4,
                    _ => {
                        let problem = "found an incorrect leading UTF-8 octet";
                        return Err(self.error(uri.what(), start, problem));
                    }
                };
            } else if octet & 0xc0 != 0x80 {
                let problem = "found an incorrect trailing UTF-8 octet";
                return Err(self.error(uri.what(), start, problem));
            }
            octets.push(octet);
            self.cursor.skip_ascii(3);
        }
        let character = std::str::from_utf8(&octets)
            .ok()
            .and_then(|text| text.chars().next());
        // libyaml lets longer forms and surrogates pass, and its callers fail at the resulting text.
        character
            .ok_or_else(|| self.error(uri.what(), start, "found an incorrect trailing UTF-8 octet"))
    }
}
