//! Collections by indentation.

use crate::events::event::EventKind;
use crate::events::token::TokenKind;

use super::{Events, NodeContext, ParseResult, ParserState};

impl<'t> Events<'t> {
    pub(super) fn block_sequence_entry(&mut self) -> ParseResult<'t> {
        let token = self.scanner.peek()?;
        let mark = token.end;
        match token.kind {
            TokenKind::BlockEntry => self.scanner.skip(),
            TokenKind::BlockEnd => return self.leave(EventKind::SequenceEnd),
            _ => {
                let what = "while parsing a block collection";
                return self.unexpected(what, "did not find expected '-' indicator");
            }
        }
        match self.scanner.peek()?.kind {
            TokenKind::BlockEntry | TokenKind::BlockEnd => {
                self.nothing_then(mark, ParserState::BlockSequenceEntry)
            }
            _ => self.node_then(NodeContext::Block, ParserState::BlockSequenceEntry),
        }
    }

    pub(super) fn indentless_entry(&mut self) -> ParseResult<'t> {
        let token = self.scanner.peek()?;
        let mark = token.end;
        if !matches!(token.kind, TokenKind::BlockEntry) {
            self.pop_state();
            return self.event_before(EventKind::SequenceEnd);
        }
        self.scanner.skip();
        match self.scanner.peek()?.kind {
            TokenKind::BlockEntry | TokenKind::Key | TokenKind::Value | TokenKind::BlockEnd => {
                self.nothing_then(mark, ParserState::IndentlessEntry)
            }
            _ => self.node_then(NodeContext::Block, ParserState::IndentlessEntry),
        }
    }

    pub(super) fn block_mapping_key(&mut self) -> ParseResult<'t> {
        let token = self.scanner.peek()?;
        let mark = token.end;
        match token.kind {
            TokenKind::Key => self.scanner.skip(),
            TokenKind::BlockEnd => return self.leave(EventKind::MappingEnd),
            _ => {
                let what = "while parsing a block mapping";
                return self.unexpected(what, "did not find expected key");
            }
        }
        match self.scanner.peek()?.kind {
            TokenKind::Key | TokenKind::Value | TokenKind::BlockEnd => {
                self.nothing_then(mark, ParserState::BlockMappingValue)
            }
            _ => self.node_then(
                NodeContext::BlockOrIndentless,
                ParserState::BlockMappingValue,
            ),
        }
    }

    pub(super) fn block_mapping_value(&mut self) -> ParseResult<'t> {
        let token = self.scanner.peek()?;
        let (start, end) = (token.start, token.end);
        if !matches!(token.kind, TokenKind::Value) {
            return self.nothing_then(start, ParserState::BlockMappingKey);
        }
        self.scanner.skip();
        match self.scanner.peek()?.kind {
            TokenKind::Key | TokenKind::Value | TokenKind::BlockEnd => {
                self.nothing_then(end, ParserState::BlockMappingKey)
            }
            _ => self.node_then(NodeContext::BlockOrIndentless, ParserState::BlockMappingKey),
        }
    }
}
