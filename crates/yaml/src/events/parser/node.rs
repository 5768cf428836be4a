//! Nodes: aliases, scalars, and the starts of collections, with their properties.

use std::borrow::Cow;

use crate::events::error::Error;
use crate::events::event::{Event, EventKind, Mark, Node, Scalar, Style};
use crate::events::token::TokenKind;

use super::{Events, NodeContext, ParseResult, ParserState};

/// A tag as it is written, and where.
type WrittenTag<'t> = (&'t str, Cow<'t, str>, Mark);

impl<'t> Events<'t> {
    pub(super) fn node(&mut self, place: NodeContext) -> ParseResult<'t> {
        if let TokenKind::Alias(name) = self.scanner.peek()?.kind {
            self.pop_state();
            let event = self.event_here(EventKind::Alias(name))?;
            self.scanner.skip();
            return Ok(event);
        }
        let (node, start, properties_end) = self.properties()?;
        let has_properties = node.anchor.is_some() || node.tag.is_some();
        let token = self.scanner.peek()?;
        let end = token.end;
        let is_block = place != NodeContext::Flow;
        let (kind, state) = match &mut token.kind {
            TokenKind::Scalar { value, style } => {
                let (value, style) = (std::mem::take(value), *style);
                self.scanner.skip();
                self.pop_state();
                let kind = EventKind::Scalar(scalar(node, value, style));
                return Ok(Event { kind, start, end });
            }
            TokenKind::BlockEntry if place == NodeContext::BlockOrIndentless => {
                (EventKind::SequenceStart(node), ParserState::IndentlessEntry)
            }
            TokenKind::BlockSequenceStart if is_block => (
                EventKind::SequenceStart(node),
                ParserState::BlockSequenceFirst,
            ),
            TokenKind::BlockMappingStart if is_block => (
                EventKind::MappingStart(node),
                ParserState::BlockMappingFirst,
            ),
            TokenKind::FlowSequenceStart => (
                EventKind::SequenceStart(node),
                ParserState::FlowSequenceFirst,
            ),
            TokenKind::FlowMappingStart => {
                (EventKind::MappingStart(node), ParserState::FlowMappingFirst)
            }
            _ if has_properties => {
                self.pop_state();
                let kind = EventKind::Scalar(Scalar {
                    implicit: node.tag.is_none(),
                    node,
                    value: Cow::Borrowed(""),
                    style: Style::Plain,
                });
                let end = properties_end;
                return Ok(Event { kind, start, end });
            }
            _ => {
                let what = if is_block {
                    "while parsing a block node"
                } else {
                    "while parsing a flow node"
                };
                let problem = "did not find expected node content";
                return Err(Error::parser(what, start, problem, token.start));
            }
        };
        self.state = state;
        Ok(Event { kind, start, end })
    }

    /// An anchor and a tag, in any order, with where they start and end.
    fn properties(&mut self) -> Result<(Node<'t>, Mark, Mark), Error> {
        let token = self.scanner.peek()?;
        let (start, mut end) = (token.start, token.start);
        let (mut anchor, mut tag): (Option<&str>, Option<WrittenTag<'t>>) = (None, None);
        // Behind both, the tag is looked at before the text that follows.
        while anchor.is_none() || tag.is_none() {
            let token = self.scanner.peek()?;
            match &mut token.kind {
                TokenKind::Anchor(name) if anchor.is_none() => anchor = Some(*name),
                TokenKind::Tag { handle, suffix } if tag.is_none() => {
                    tag = Some((*handle, std::mem::take(suffix), token.start));
                }
                _ => break,
            }
            end = token.end;
            self.scanner.skip();
        }
        let tag = match tag {
            Some(written) => Some(self.resolved(written, start)?),
            None => None,
        };
        Ok((Node { anchor, tag }, start, end))
    }

    /// A tag with its handle replaced by the prefix.
    fn resolved(&self, written: WrittenTag<'t>, start: Mark) -> Result<Cow<'t, str>, Error> {
        let (handle, suffix, mark) = written;
        if handle.is_empty() {
            return Ok(suffix);
        }
        match self.handles.iter().find(|(known, _)| *known == handle) {
            Some((_, prefix)) => Ok(Cow::Owned(format!("{prefix}{suffix}"))),
            None => {
                let what = "while parsing a node";
                Err(Error::parser(
                    what,
                    start,
                    "found undefined tag handle",
                    mark,
                ))
            }
        }
    }
}

fn scalar<'t>(node: Node<'t>, value: Cow<'t, str>, style: Style) -> Scalar<'t> {
    let implicit = match node.tag.as_deref() {
        None => style == Style::Plain,
        Some(tag) => tag == "!",
    };
    Scalar {
        node,
        value,
        style,
        implicit,
    }
}
