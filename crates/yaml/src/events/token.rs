//! The tokens that the scanner makes of characters.

use std::borrow::Cow;

use crate::events::{Mark, Style};

pub(crate) struct Token<'t> {
    pub kind: TokenKind<'t>,
    pub start: Mark,
    pub end: Mark,
}

pub(crate) enum TokenKind<'t> {
    StreamEnd,
    VersionDirective {
        major: u32,
        minor: u32,
    },
    TagDirective {
        handle: &'t str,
        prefix: Cow<'t, str>,
    },
    DocumentStart,
    DocumentEnd,
    BlockSequenceStart,
    BlockMappingStart,
    BlockEnd,
    FlowSequenceStart,
    FlowSequenceEnd,
    FlowMappingStart,
    FlowMappingEnd,
    BlockEntry,
    FlowEntry,
    Key,
    Value,
    Alias(&'t str),
    Anchor(&'t str),
    Tag {
        handle: &'t str,
        suffix: Cow<'t, str>,
    },
    Scalar {
        value: Cow<'t, str>,
        style: Style,
    },
}
