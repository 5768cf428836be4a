//! Collections in brackets.

use crate::events::event::{Event, EventKind, Node};
use crate::events::token::TokenKind;

use super::{Events, NodeContext, ParseResult, ParserState};

impl<'t> Events<'t> {
    pub(super) fn flow_sequence_entry(&mut self, is_first: bool) -> ParseResult<'t> {
        if matches!(self.scanner.peek()?.kind, TokenKind::FlowSequenceEnd) {
            return self.leave(EventKind::SequenceEnd);
        }
        if !is_first {
            if !matches!(self.scanner.peek()?.kind, TokenKind::FlowEntry) {
                let what = "while parsing a flow sequence";
                return self.unexpected(what, "did not find expected ',' or ']'");
            }
            self.scanner.skip();
        }
        match self.scanner.peek()?.kind {
            TokenKind::Key => {
                let event = self.event_here(EventKind::MappingStart(Node::default()))?;
                self.scanner.skip();
                self.state = ParserState::PairKey;
                Ok(event)
            }
            TokenKind::FlowSequenceEnd => self.leave(EventKind::SequenceEnd),
            _ => self.node_then(NodeContext::Flow, ParserState::FlowSequenceEntry),
        }
    }

    pub(super) fn pair_key(&mut self) -> ParseResult<'t> {
        let token = self.scanner.peek()?;
        match token.kind {
            TokenKind::FlowSequenceEnd => {
                let mark = token.start;
                self.nothing_then(mark, ParserState::PairValue)
            }
            TokenKind::Value | TokenKind::FlowEntry => {
                // libyaml takes the token for the key.
                let mark = token.end;
                self.scanner.skip();
                self.nothing_then(mark, ParserState::PairValue)
            }
            _ => self.node_then(NodeContext::Flow, ParserState::PairValue),
        }
    }

    pub(super) fn pair_value(&mut self) -> ParseResult<'t> {
        if matches!(self.scanner.peek()?.kind, TokenKind::Value) {
            self.scanner.skip();
            if !matches!(
                self.scanner.peek()?.kind,
                TokenKind::FlowEntry | TokenKind::FlowSequenceEnd
            ) {
                return self.node_then(NodeContext::Flow, ParserState::PairEnd);
            }
        }
        let mark = self.scanner.peek()?.start;
        self.nothing_then(mark, ParserState::PairEnd)
    }

    pub(super) fn pair_end(&mut self) -> ParseResult<'t> {
        self.state = ParserState::FlowSequenceEntry;
        self.event_before(EventKind::MappingEnd)
    }

    pub(super) fn flow_mapping_key(&mut self, is_first: bool) -> ParseResult<'t> {
        if matches!(self.scanner.peek()?.kind, TokenKind::FlowMappingEnd) {
            return self.leave(EventKind::MappingEnd);
        }
        if !is_first {
            if !matches!(self.scanner.peek()?.kind, TokenKind::FlowEntry) {
                let what = "while parsing a flow mapping";
                return self.unexpected(what, "did not find expected ',' or '}'");
            }
            self.scanner.skip();
        }
        match self.scanner.peek()?.kind {
            TokenKind::Key => {
                self.scanner.skip();
                let token = self.scanner.peek()?;
                let mark = token.start;
                match token.kind {
                    TokenKind::Value | TokenKind::FlowEntry | TokenKind::FlowMappingEnd => {
                        self.nothing_then(mark, ParserState::FlowMappingValue)
                    }
                    _ => self.node_then(NodeContext::Flow, ParserState::FlowMappingValue),
                }
            }
            TokenKind::FlowMappingEnd => self.leave(EventKind::MappingEnd),
            _ => self.node_then(NodeContext::Flow, ParserState::FlowMappingEmptyValue),
        }
    }

    pub(super) fn flow_mapping_value(&mut self) -> ParseResult<'t> {
        if matches!(self.scanner.peek()?.kind, TokenKind::Value) {
            self.scanner.skip();
            if !matches!(
                self.scanner.peek()?.kind,
                TokenKind::FlowEntry | TokenKind::FlowMappingEnd
            ) {
                return self.node_then(NodeContext::Flow, ParserState::FlowMappingKey);
            }
        }
        self.flow_mapping_empty_value()
    }

    pub(super) fn flow_mapping_empty_value(&mut self) -> ParseResult<'t> {
        let Event { start, .. } = self.event_here(EventKind::MappingEnd)?;
        self.nothing_then(start, ParserState::FlowMappingKey)
    }
}
