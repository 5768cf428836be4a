//! Tokens to events.
//!
//! A state says what may come next. At the start of a node, the state after it goes on a stack.

mod block;
mod document;
mod flow;
mod node;

use std::borrow::Cow;

use crate::events::error::Error;
use crate::events::event::{Event, EventKind, Mark, Node, Scalar, Style};
use crate::events::scanner::Scanner;

/// The events of a text.
///
/// Nothing follows the first error.
///
/// ```
/// use mapstack_yaml::events::{EventKind, Events};
/// let kinds: Vec<_> = Events::of("- &a x\n- *a\n").unwrap().map(|event| event.unwrap().kind).collect();
/// assert_eq!(kinds[4], EventKind::SequenceEnd);
/// assert_eq!(kinds[3], EventKind::Alias("a"));
/// ```
pub struct Events<'t> {
    scanner: Scanner<'t>,
    state: ParserState,
    /// The states after the open nodes.
    states: Vec<ParserState>,
    /// The starts of the open collections.
    starts: Vec<Mark>,
    /// The handles and prefixes of tags in this document.
    handles: Vec<(&'t str, Cow<'t, str>)>,
}

/// The tokens that may come next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ParserState {
    /// The first document, or a later one behind `...`.
    FirstDocument,
    Document,
    DocumentContent,
    DocumentEnd,
    BlockSequenceFirst,
    BlockSequenceEntry,
    /// An item of a list that is not deeper than the key before it.
    IndentlessEntry,
    BlockMappingFirst,
    BlockMappingKey,
    BlockMappingValue,
    FlowSequenceFirst,
    FlowSequenceEntry,
    /// The key of a mapping that is an item: `[key: value]`.
    PairKey,
    PairValue,
    PairEnd,
    FlowMappingFirst,
    FlowMappingKey,
    FlowMappingValue,
    /// The value of a key without one.
    FlowMappingEmptyValue,
    BlockNode,
    End,
}

/// The kinds of nodes that are allowed at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NodeContext {
    /// Below an item of a block, or at the top.
    Block,
    /// A key or value of a block mapping, where a list needs no indentation.
    BlockOrIndentless,
    /// Inside brackets.
    Flow,
}

type ParseResult<'t> = Result<Event<'t>, Error>;

impl<'t> Events<'t> {
    /// The events of a text.
    ///
    /// # Errors
    /// A character in the text that YAML has no place for.
    pub fn of(text: &'t str) -> Result<Self, Error> {
        Ok(Events {
            scanner: Scanner::new(text)?,
            state: ParserState::FirstDocument,
            states: Vec::new(),
            starts: Vec::new(),
            handles: Vec::new(),
        })
    }

    fn step(&mut self) -> Result<Option<Event<'t>>, Error> {
        match self.state {
            ParserState::FirstDocument => return self.document_start(true),
            ParserState::Document => return self.document_start(false),
            ParserState::DocumentContent => self.document_content(),
            ParserState::DocumentEnd => self.document_end(),
            ParserState::BlockNode => self.node(NodeContext::Block),
            ParserState::BlockSequenceFirst => {
                self.enter()?;
                self.block_sequence_entry()
            }
            ParserState::BlockSequenceEntry => self.block_sequence_entry(),
            ParserState::IndentlessEntry => self.indentless_entry(),
            ParserState::BlockMappingFirst => {
                self.enter()?;
                self.block_mapping_key()
            }
            ParserState::BlockMappingKey => self.block_mapping_key(),
            ParserState::BlockMappingValue => self.block_mapping_value(),
            ParserState::FlowSequenceFirst => {
                self.enter()?;
                self.flow_sequence_entry(true)
            }
            ParserState::FlowSequenceEntry => self.flow_sequence_entry(false),
            ParserState::PairKey => self.pair_key(),
            ParserState::PairValue => self.pair_value(),
            ParserState::PairEnd => self.pair_end(),
            ParserState::FlowMappingFirst => {
                self.enter()?;
                self.flow_mapping_key(true)
            }
            ParserState::FlowMappingKey => self.flow_mapping_key(false),
            ParserState::FlowMappingValue => self.flow_mapping_value(),
            ParserState::FlowMappingEmptyValue => self.flow_mapping_empty_value(),
            ParserState::End => return Ok(None),
        }
        .map(Some)
    }

    /// Take the token that begins a collection, whose start errors refer to.
    fn enter(&mut self) -> Result<(), Error> {
        let start = self.scanner.peek()?.start;
        self.starts.push(start);
        self.scanner.skip();
        Ok(())
    }

    /// Take the token that ends a collection.
    fn leave(&mut self, kind: EventKind<'t>) -> ParseResult<'t> {
        self.starts.pop();
        self.pop_state();
        let event = self.event_here(kind)?;
        self.scanner.skip();
        Ok(event)
    }

    /// Go on behind a node.
    fn pop_state(&mut self) {
        self.state = self.states.pop().unwrap_or(ParserState::End);
    }

    /// A node, and then another state.
    fn node_then(&mut self, place: NodeContext, next: ParserState) -> ParseResult<'t> {
        self.states.push(next);
        self.node(place)
    }

    /// The absence of a node, and then another state.
    fn nothing_then(&mut self, mark: Mark, next: ParserState) -> ParseResult<'t> {
        self.state = next;
        Ok(nothing(mark))
    }

    /// An event at the next token.
    fn event_here(&mut self, kind: EventKind<'t>) -> ParseResult<'t> {
        let token = self.scanner.peek()?;
        Ok(Event {
            kind,
            start: token.start,
            end: token.end,
        })
    }

    /// An event without a token, before the next one.
    fn event_before(&mut self, kind: EventKind<'t>) -> ParseResult<'t> {
        let start = self.scanner.peek()?.start;
        let end = start;
        Ok(Event { kind, start, end })
    }

    /// The collection around does not go on like this.
    fn unexpected(&mut self, what: &'static str, problem: &'static str) -> ParseResult<'t> {
        let mark = self.scanner.peek()?.start;
        let start = self.starts.pop().unwrap_or_default();
        Err(Error::parser(what, start, problem, mark))
    }
}

impl<'t> Iterator for Events<'t> {
    type Item = Result<Event<'t>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let step = self.step();
        if step.is_err() {
            self.state = ParserState::End;
        }
        step.transpose()
    }
}

impl std::iter::FusedIterator for Events<'_> {}

/// A scalar that does not exist.
fn nothing<'t>(mark: Mark) -> Event<'t> {
    Event {
        kind: EventKind::Scalar(Scalar {
            node: Node::default(),
            value: Cow::Borrowed(""),
            style: Style::Plain,
            implicit: true,
        }),
        start: mark,
        end: mark,
    }
}
