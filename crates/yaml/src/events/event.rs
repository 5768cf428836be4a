//! The events that a text consists of.

use std::borrow::Cow;

/// A position in a text, counted from 0.
///
/// ```
/// use mapstack_yaml::events::Mark;
/// assert_eq!(Mark::default(), Mark { offset: 0, line: 0, column: 0 });
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Mark {
    /// Bytes before it.
    pub offset: usize,
    /// Lines before its own.
    pub line: usize,
    /// Characters before it on its line.
    pub column: usize,
}

/// One event, and the part of the text that it is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event<'t> {
    /// The kind.
    pub kind: EventKind<'t>,
    /// The start.
    pub start: Mark,
    /// The end.
    pub end: Mark,
}

/// The kinds of [`Event`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EventKind<'t> {
    /// A document begins.
    DocumentStart {
        /// True if it begins without `---`.
        implicit: bool,
    },
    /// A document ends.
    DocumentEnd {
        /// True if it ends without `...`.
        implicit: bool,
    },
    /// `*name`.
    Alias(&'t str),
    /// A scalar.
    Scalar(Scalar<'t>),
    /// A list begins; its items follow.
    SequenceStart(Node<'t>),
    /// A list ends.
    SequenceEnd,
    /// A mapping begins; its keys and values follow in turns.
    MappingStart(Node<'t>),
    /// A mapping ends.
    MappingEnd,
}

/// The properties before the content of a node.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Node<'t> {
    /// The name in `&name`.
    pub anchor: Option<&'t str>,
    /// The tag with its handle replaced, such as `tag:yaml.org,2002:str` for `!!str`.
    pub tag: Option<Cow<'t, str>>,
}

/// A scalar.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scalar<'t> {
    /// Its anchor and tag.
    pub node: Node<'t>,
    /// Its text, without quotes and with lines folded.
    pub value: Cow<'t, str>,
    /// The style.
    pub style: Style,
    /// True if its type follows from its text (libyaml's `plain_implicit`).
    pub implicit: bool,
}

/// The ways to write a scalar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// Without quotes.
    Plain,
    /// `'…'`.
    SingleQuoted,
    /// `"…"`.
    DoubleQuoted,
    /// A block behind `|`.
    Literal,
    /// A block behind `>`.
    Folded,
}
