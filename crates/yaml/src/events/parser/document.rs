//! Documents and their directives.

use crate::events::error::{Error, Phase};
use crate::events::event::{Event, EventKind, Mark};
use crate::events::token::TokenKind;

use super::{Events, NodeContext, ParseResult, ParserState, nothing};

/// More `%TAG` directives than this before one document are refused: each is compared with all before it.
const MAX_TAG_DIRECTIVES: usize = 100;

/// The prefixes of `!` and `!!` where no directive says otherwise.
const DEFAULT_HANDLES: [(&str, &str); 2] = [("!", "!"), ("!!", "tag:yaml.org,2002:")];

impl<'t> Events<'t> {
    /// The start of a document, or the end of the text.
    pub(super) fn document_start(&mut self, is_first: bool) -> Result<Option<Event<'t>>, Error> {
        let mut token = self.scanner.peek()?;
        while !is_first && matches!(token.kind, TokenKind::DocumentEnd) {
            self.scanner.skip();
            token = self.scanner.peek()?;
        }
        let start = token.start;
        match token.kind {
            TokenKind::StreamEnd => {
                self.state = ParserState::End;
                return Ok(None);
            }
            TokenKind::VersionDirective { .. }
            | TokenKind::TagDirective { .. }
            | TokenKind::DocumentStart => {}
            _ if is_first => {
                self.set_default_handles();
                self.states.push(ParserState::DocumentEnd);
                self.state = ParserState::BlockNode;
                let kind = EventKind::DocumentStart { implicit: true };
                let end = start;
                return Ok(Some(Event { kind, start, end }));
            }
            _ => {}
        }
        self.directives()?;
        let token = self.scanner.peek()?;
        if !matches!(token.kind, TokenKind::DocumentStart) {
            let problem = "did not find expected <document start>";
            return Err(Error::alone(Phase::Parser, problem, token.start));
        }
        let end = token.end;
        self.scanner.skip();
        self.states.push(ParserState::DocumentEnd);
        self.state = ParserState::DocumentContent;
        let kind = EventKind::DocumentStart { implicit: false };
        Ok(Some(Event { kind, start, end }))
    }

    fn directives(&mut self) -> Result<(), Error> {
        let mut has_version = false;
        loop {
            let token = self.scanner.peek()?;
            let mark = token.start;
            match &mut token.kind {
                TokenKind::VersionDirective { major, minor } => {
                    if has_version {
                        return Err(refused("found duplicate %YAML directive", mark));
                    }
                    if *major != 1 || !matches!(minor, 1 | 2) {
                        return Err(refused("found incompatible YAML document", mark));
                    }
                    has_version = true;
                }
                TokenKind::TagDirective { handle, prefix } => {
                    let (handle, prefix) = (*handle, std::mem::take(prefix));
                    if self.handles.iter().any(|(known, _)| *known == handle) {
                        return Err(refused("found duplicate %TAG directive", mark));
                    }
                    if self.handles.len() >= MAX_TAG_DIRECTIVES {
                        return Err(refused("found more than 100 %TAG directives", mark));
                    }
                    self.handles.push((handle, prefix));
                }
                _ => {
                    self.set_default_handles();
                    return Ok(());
                }
            }
            self.scanner.skip();
        }
    }

    fn set_default_handles(&mut self) {
        for (handle, prefix) in DEFAULT_HANDLES {
            if self.handles.iter().all(|(known, _)| *known != handle) {
                self.handles.push((handle, prefix.into()));
            }
        }
    }

    pub(super) fn document_content(&mut self) -> ParseResult<'t> {
        let token = self.scanner.peek()?;
        match token.kind {
            TokenKind::VersionDirective { .. }
            | TokenKind::TagDirective { .. }
            | TokenKind::DocumentStart
            | TokenKind::DocumentEnd
            | TokenKind::StreamEnd => {
                let mark = token.start;
                self.pop_state();
                Ok(nothing(mark))
            }
            _ => self.node(NodeContext::Block),
        }
    }

    pub(super) fn document_end(&mut self) -> ParseResult<'t> {
        let token = self.scanner.peek()?;
        let (start, mut end) = (token.start, token.start);
        let implicit = !matches!(token.kind, TokenKind::DocumentEnd);
        if !implicit {
            end = token.end;
            self.scanner.skip();
        }
        self.handles.clear();
        self.state = ParserState::Document;
        let kind = EventKind::DocumentEnd { implicit };
        Ok(Event { kind, start, end })
    }
}

fn refused(problem: &'static str, mark: Mark) -> Error {
    Error::alone(Phase::Parser, problem, mark)
}
