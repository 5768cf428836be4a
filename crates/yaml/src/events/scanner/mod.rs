//! Characters to tokens.
//!
//! As in libyaml, `key: value` is recognised at its colon. So whatever could be a key is remembered with the number of its
//! token, and tokens are held back as long as the first of them could be one.

mod block;
mod directive;
mod plain;
mod quoted;
mod tag;
mod text;

use std::collections::VecDeque;

use crate::events::bytes::is_word;
use crate::events::cursor::Cursor;
use crate::events::error::{Error, Phase};
use crate::events::event::Mark;
use crate::events::token::{Token, TokenKind};

/// A key without `?` has at most this many characters, and is on one line.
const MAX_KEY_LENGTH: usize = 1024;

pub(crate) struct Scanner<'t> {
    cursor: Cursor<'t>,
    /// Tokens that were not taken yet.
    tokens: VecDeque<Token<'t>>,
    /// The number of tokens taken.
    taken: usize,
    /// The column of the block collection around, if there is one.
    indent: Option<usize>,
    /// The same of the collections around that one.
    outer_indents: Vec<Option<usize>>,
    /// True if a key without `?` may start here.
    key_allowed: bool,
    /// The number of open brackets.
    depth: usize,
    /// The possible keys: at most one on each level of brackets, so these are in the order of the text.
    keys: VecDeque<PossibleKey>,
    /// True if the first token is known to be none before which another one has to go.
    is_ready: bool,
    /// True if the end was reached.
    has_ended: bool,
}

/// Something that is a key if a colon follows.
#[derive(Clone, Copy)]
struct PossibleKey {
    /// The number of open brackets around it.
    depth: usize,
    /// True if nothing but a key can be here.
    required: bool,
    /// The number of its first token.
    token: usize,
    mark: Mark,
}

impl PossibleKey {
    /// True if a colon at some place would be too late.
    fn is_stale(&self, now: Mark) -> bool {
        self.mark.line < now.line || self.mark.column + MAX_KEY_LENGTH < now.column
    }
}

impl<'t> Scanner<'t> {
    pub fn new(text: &'t str) -> Result<Self, Error> {
        Ok(Scanner {
            cursor: Cursor::new(text)?,
            tokens: VecDeque::new(),
            taken: 0,
            indent: None,
            outer_indents: Vec::new(),
            key_allowed: true,
            depth: 0,
            keys: VecDeque::new(),
            is_ready: false,
            has_ended: false,
        })
    }

    /// The next token.
    #[inline]
    pub fn peek(&mut self) -> Result<&mut Token<'t>, Error> {
        if !self.is_ready {
            self.fetch_next()?;
        }
        Ok(&mut self.tokens[0])
    }

    fn fetch_next(&mut self) -> Result<(), Error> {
        while self.needs_more()? {
            if self.has_ended {
                // The end comes again and again.
                self.push(TokenKind::StreamEnd, self.cursor.mark());
                break;
            }
            self.fetch()?;
        }
        self.is_ready = true;
        Ok(())
    }

    /// Drop the next token.
    pub fn skip(&mut self) {
        if self.tokens.pop_front().is_some() {
            self.taken += 1;
        }
        self.is_ready = false;
    }

    /// True if the next token is not known yet.
    fn needs_more(&mut self) -> Result<bool, Error> {
        if self.tokens.is_empty() {
            return Ok(true);
        }
        self.drop_stale_keys()?;
        let first = self.keys.front();
        Ok(first.is_some_and(|key| key.token == self.taken))
    }

    fn fetch(&mut self) -> Result<(), Error> {
        self.skip_to_token();
        self.drop_stale_keys()?;
        self.leave_blocks(Some(self.cursor.mark().column));
        let first = self.cursor.byte(0);
        let is_in_flow = self.is_in_flow();
        match first {
            0 => self.end(),
            b'%' if self.cursor.mark().column == 0 => self.directive(),
            b'-' if self.cursor.is_marker(b'-') => self.document_marker(TokenKind::DocumentStart),
            b'.' if self.cursor.is_marker(b'.') => self.document_marker(TokenKind::DocumentEnd),
            b'[' => self.open(TokenKind::FlowSequenceStart),
            b'{' => self.open(TokenKind::FlowMappingStart),
            b']' => self.close(TokenKind::FlowSequenceEnd),
            b'}' => self.close(TokenKind::FlowMappingEnd),
            b',' => self.flow_entry(),
            b'-' if self.cursor.is_space_or_end(1) => self.block_entry(),
            b'?' if is_in_flow || self.cursor.is_space_or_end(1) => self.explicit_key(),
            b':' if is_in_flow || self.cursor.is_space_or_end(1) => self.value(),
            b'*' => self.name(Name::Alias),
            b'&' => self.name(Name::Anchor),
            b'!' => self.tag(),
            b'|' | b'>' if !is_in_flow => self.block_scalar(),
            b'\'' | b'"' => self.quoted_scalar(),
            // The other indicators: `|` and `>` in brackets, and `%` within a line.
            b'\t' | b'|' | b'>' | b'%' | b'@' | b'`' => Err(self.error(
                "while scanning for the next token",
                self.cursor.mark(),
                "found character that cannot start any token",
            )),
            _ => self.plain_scalar(),
        }
    }

    fn is_in_flow(&self) -> bool {
        self.depth > 0
    }

    fn push(&mut self, kind: TokenKind<'t>, start: Mark) {
        let end = self.cursor.mark();
        self.tokens.push_back(Token { kind, start, end });
    }

    /// Pass this many characters as one token.
    fn indicator(&mut self, kind: TokenKind<'t>, length: usize) {
        let start = self.cursor.mark();
        self.cursor.skip_ascii(length);
        self.push(kind, start);
    }

    fn error(&self, what: &'static str, start: Mark, problem: &'static str) -> Error {
        Error::scanner(what, start, problem, self.cursor.mark())
    }

    fn misplaced(&self, problem: &'static str) -> Error {
        Error::alone(Phase::Scanner, problem, self.cursor.mark())
    }

    /// Pass blanks, comments and line breaks.
    fn skip_to_token(&mut self) {
        loop {
            if self.cursor.mark().column == 0 && self.cursor.is_byte_order_mark() {
                self.cursor.skip();
            }
            // A tab would be indentation where a key may start.
            let tabs = self.is_in_flow() || !self.key_allowed;
            self.cursor
                .skip_while(|byte| byte == b' ' || tabs && byte == b'\t');
            if self.cursor.byte(0) == b'#' {
                self.cursor.skip_line();
            }
            if self.cursor.take_break().is_none() {
                return;
            }
            if !self.is_in_flow() {
                self.key_allowed = true;
            }
        }
    }
}

/// Possible keys.
impl Scanner<'_> {
    /// Forget the tokens that a colon can no longer make a key.
    fn drop_stale_keys(&mut self) -> Result<(), Error> {
        let now = self.cursor.mark();
        while let Some(key) = self.keys.pop_front_if(|key| key.is_stale(now)) {
            self.give_up(key)?;
        }
        Ok(())
    }

    fn give_up(&self, key: PossibleKey) -> Result<(), Error> {
        if key.required {
            let what = "while scanning a simple key";
            return Err(self.error(what, key.mark, "could not find expected ':'"));
        }
        Ok(())
    }

    /// Remember that what starts here could be a key.
    fn save_key(&mut self) -> Result<(), Error> {
        if !self.key_allowed {
            return Ok(());
        }
        self.drop_key()?;
        let mark = self.cursor.mark();
        self.keys.push_back(PossibleKey {
            depth: self.depth,
            required: !self.is_in_flow() && self.indent == Some(mark.column),
            token: self.taken + self.tokens.len(),
            mark,
        });
        Ok(())
    }

    /// The possible key between these brackets is not one.
    fn drop_key(&mut self) -> Result<(), Error> {
        match self.take_key() {
            Some(key) => self.give_up(key),
            None => Ok(()),
        }
    }

    /// The possible key between these brackets.
    fn take_key(&mut self) -> Option<PossibleKey> {
        let depth = self.depth;
        self.keys.pop_back_if(|key| key.depth == depth)
    }
}

/// Block collections.
impl<'t> Scanner<'t> {
    /// Begin a block collection, if its column is deeper than that of the one around. `at` is its place among the tokens
    /// that were not taken.
    fn enter_block(&mut self, kind: TokenKind<'t>, mark: Mark, at: usize) {
        if self.is_in_flow() || self.indent.is_some_and(|indent| indent >= mark.column) {
            return;
        }
        self.outer_indents.push(self.indent);
        self.indent = Some(mark.column);
        let token = Token {
            kind,
            start: mark,
            end: mark,
        };
        self.tokens.insert(at, token);
    }

    /// End the block collections that are deeper than a column; all of them for `None`.
    fn leave_blocks(&mut self, column: Option<usize>) {
        if self.is_in_flow() {
            return;
        }
        while self.indent > column {
            self.push(TokenKind::BlockEnd, self.cursor.mark());
            self.indent = self.outer_indents.pop().flatten();
        }
    }

    /// The least column that is deeper than the block collection around.
    fn inner_column(&self) -> usize {
        self.indent.map_or(0, |indent| indent + 1)
    }
}

/// Tokens of a few characters.
impl<'t> Scanner<'t> {
    fn end(&mut self) -> Result<(), Error> {
        self.cursor.end_last_line();
        self.leave_blocks(None);
        self.drop_key()?;
        self.key_allowed = false;
        self.has_ended = true;
        self.push(TokenKind::StreamEnd, self.cursor.mark());
        Ok(())
    }

    fn document_marker(&mut self, kind: TokenKind<'t>) -> Result<(), Error> {
        self.leave_blocks(None);
        self.drop_key()?;
        self.key_allowed = false;
        self.indicator(kind, 3);
        Ok(())
    }

    fn open(&mut self, kind: TokenKind<'t>) -> Result<(), Error> {
        self.save_key()?;
        self.depth += 1;
        self.key_allowed = true;
        self.indicator(kind, 1);
        Ok(())
    }

    fn close(&mut self, kind: TokenKind<'t>) -> Result<(), Error> {
        self.drop_key()?;
        self.depth = self.depth.saturating_sub(1);
        self.key_allowed = false;
        self.indicator(kind, 1);
        Ok(())
    }

    fn flow_entry(&mut self) -> Result<(), Error> {
        self.drop_key()?;
        self.key_allowed = true;
        self.indicator(TokenKind::FlowEntry, 1);
        Ok(())
    }

    fn block_entry(&mut self) -> Result<(), Error> {
        if !self.is_in_flow() {
            if !self.key_allowed {
                return Err(
                    self.misplaced("block sequence entries are not allowed in this context")
                );
            }
            self.enter_block(
                TokenKind::BlockSequenceStart,
                self.cursor.mark(),
                self.tokens.len(),
            );
        }
        self.drop_key()?;
        self.key_allowed = true;
        self.indicator(TokenKind::BlockEntry, 1);
        Ok(())
    }

    fn explicit_key(&mut self) -> Result<(), Error> {
        if !self.is_in_flow() {
            if !self.key_allowed {
                return Err(self.misplaced("mapping keys are not allowed in this context"));
            }
            self.enter_block(
                TokenKind::BlockMappingStart,
                self.cursor.mark(),
                self.tokens.len(),
            );
        }
        self.drop_key()?;
        self.key_allowed = !self.is_in_flow();
        self.indicator(TokenKind::Key, 1);
        Ok(())
    }

    fn value(&mut self) -> Result<(), Error> {
        let now = self.cursor.mark();
        if let Some(key) = self.take_key() {
            let at = key.token.saturating_sub(self.taken).min(self.tokens.len());
            let token = Token {
                kind: TokenKind::Key,
                start: key.mark,
                end: key.mark,
            };
            self.tokens.insert(at, token);
            self.enter_block(TokenKind::BlockMappingStart, key.mark, at);
            self.key_allowed = false;
        } else {
            if !self.is_in_flow() {
                if !self.key_allowed {
                    return Err(self.misplaced("mapping values are not allowed in this context"));
                }
                self.enter_block(TokenKind::BlockMappingStart, now, self.tokens.len());
            }
            self.key_allowed = !self.is_in_flow();
        }
        self.indicator(TokenKind::Value, 1);
        Ok(())
    }

    /// `&name` or `*name`.
    fn name(&mut self, name: Name) -> Result<(), Error> {
        self.save_key()?;
        self.key_allowed = false;
        let start = self.cursor.mark();
        self.cursor.skip_ascii(1);
        self.cursor.skip_while(is_word);
        let text = self.cursor.since(start.offset + 1);
        let ends_well = self.cursor.is_space_or_end(0)
            || matches!(
                self.cursor.byte(0),
                b'?' | b':' | b',' | b']' | b'}' | b'%' | b'@' | b'`'
            );
        if text.is_empty() || !ends_well {
            let what = match name {
                Name::Alias => "while scanning an alias",
                Name::Anchor => "while scanning an anchor",
            };
            let problem = "did not find expected alphabetic or numeric character";
            return Err(self.error(what, start, problem));
        }
        let kind = match name {
            Name::Alias => TokenKind::Alias(text),
            Name::Anchor => TokenKind::Anchor(text),
        };
        self.push(kind, start);
        Ok(())
    }
}

#[derive(Clone, Copy)]
enum Name {
    Alias,
    Anchor,
}
