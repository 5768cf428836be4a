//! Errors in a text, in the reader's terms.

use std::fmt;

use mapstack_value::Kind;
use mapstack_yaml_events::Phase;

use crate::Mark;

/// Why a text could not be loaded, and where.
///
/// ```
/// let error = mapstack_yaml::load("a: 1\nb: 2\na: 3\n").unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "line 3, column 1: the key 'a' was already set at line 1, column 1; keep one of the two"
/// );
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    kind: ErrorKind,
    mark: Option<Mark>,
}

/// The kinds of [`Error`]. Its text is the message without the position.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The bytes are not UTF-8.
    #[error("byte {offset} does not start a UTF-8 character; save the text as UTF-8")]
    NotUtf8 {
        /// Offset of the first bad byte.
        offset: usize,
    },
    /// A character YAML has no place for.
    #[error(
        "the character U+{:04X} is not allowed in YAML; remove it, or write it as an escape in double quotes",
        u32::from(*character)
    )]
    ForbiddenCharacter {
        /// The character.
        character: char,
    },
    /// The text does not follow YAML's grammar.
    #[error("{problem}; {advice}")]
    Syntax {
        /// Which half of the grammar refused it.
        stage: SyntaxStage,
        /// The problem.
        problem: String,
        /// The advice.
        advice: &'static str,
    },
    /// A second document in one text.
    #[error("a second document starts here, and only one is read; remove the `---`")]
    MultipleDocuments,
    /// `*name` without `&name` before it.
    #[error(
        "no anchor `&{name}` stands before this alias; define it first, or quote a value that starts with `*`"
    )]
    UndefinedAlias {
        /// The alias.
        name: String,
    },
    /// `&name` twice.
    #[error("the anchor `&{name}` was already defined at {first}; give one of them another name")]
    DuplicateAnchor {
        /// The anchor.
        name: String,
        /// Where it was first.
        first: Mark,
    },
    /// `*name` inside what `&name` marks.
    #[error(
        "the alias `*{name}` stands inside its own anchor, which would make the value contain itself; remove it"
    )]
    RecursiveAlias {
        /// The alias.
        name: String,
    },
    /// One mapping has two equal keys.
    #[error("the key {key} was already set at {first}; keep one of the two")]
    DuplicateKey {
        /// The key as Python prints it.
        key: String,
        /// Where it was first.
        first: Mark,
    },
    /// A collection as a key.
    #[error("{} cannot be a key; quote it if text was meant", kind.described())]
    UnhashableKey {
        /// What the key was.
        kind: Kind,
    },
    /// `{{ … }}` read as YAML.
    #[error(
        "`{{{{` opens a mapping inside a mapping; put a template expression in quotes, or render the template first"
    )]
    TemplateExpression,
    /// `<<` with something that cannot be merged.
    #[error(
        "`<<` takes a mapping or a list of mappings, not {found}; quote '<<' for an ordinary key"
    )]
    NotMergeable {
        /// The value in its place, in words.
        found: &'static str,
    },
    /// `<<` or `=` where a value is expected.
    #[error("a bare `{text}` has a meaning of its own and cannot be a value; put it in quotes")]
    BareIndicator {
        /// The scalar.
        text: &'static str,
    },
    /// A date or a time, where PyYAML makes one.
    #[error("{text:?} is a date or a time, which data does not have; put it in quotes")]
    Date {
        /// The scalar.
        text: String,
    },
    /// A tag Salt's loader does not know.
    #[error("the tag `{tag}` is not known here; remove it, or quote a value that starts with `!`")]
    UnknownTag {
        /// The tag.
        tag: String,
    },
    /// A tag on the wrong kind of node.
    #[error("`{tag}` needs {expected}, but this is {found}; remove the tag or change the value")]
    WrongNode {
        /// The tag.
        tag: &'static str,
        /// What the tag needs.
        expected: &'static str,
        /// The value in its place, in words.
        found: &'static str,
    },
    /// A `!!bool` with a text that does not stand for a boolean.
    #[error("`!!bool` knows yes, no, true, false, on and off, not {text:?}; use one of them")]
    BadBool {
        /// The scalar.
        text: String,
    },
    /// A text that should be an integer and cannot be read as one.
    #[error("{text:?} cannot be read as an integer; put it in quotes if text was meant")]
    BadInt {
        /// The scalar, or its start.
        text: String,
    },
    /// A number with nothing left once signs, zeros and underscores are gone.
    #[error("{text:?} has no digits to make a number of; put it in quotes if text was meant")]
    NoDigits {
        /// The scalar.
        text: String,
    },
    /// A date that the calendar does not have, or a time that no day has.
    #[error("{text:?} is not a date and time that exists; put it in quotes if text was meant")]
    BadTimestamp {
        /// The scalar.
        text: String,
    },
    /// A text that should be a float and cannot be read as one.
    #[error("{text:?} cannot be read as a float; put it in quotes if text was meant")]
    BadFloat {
        /// The scalar, or its start.
        text: String,
    },
    /// A base-60 float beyond all floats.
    #[error("the number has too many groups for a float; put it in quotes if text was meant")]
    FloatOverflow,
    /// `!!binary` that is not base64.
    #[error("`!!binary` needs base64, but {reason}; encode the bytes again")]
    BadBase64 {
        /// The reason.
        reason: &'static str,
    },
    /// More levels than allowed.
    #[error("collections are nested more than {limit} levels deep; flatten them")]
    TooDeep {
        /// The limit.
        limit: usize,
    },
    /// Repeated keys that join too many values.
    #[error(
        "joining the values of repeated keys takes more than {limit} steps; name each key once"
    )]
    TooMuchJoined {
        /// The limit.
        limit: usize,
    },
    /// More nodes than allowed, aliases counted as their anchors.
    #[error(
        "the text stands for more than {limit} values once its aliases are expanded; split it, or use fewer aliases"
    )]
    TooLarge {
        /// The limit.
        limit: usize,
    },
}

/// The half of YAML's grammar that refused a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SyntaxStage {
    /// Characters to tokens.
    Scanner,
    /// Tokens to structure.
    Parser,
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, mark: Mark) -> Self {
        Error {
            kind,
            mark: Some(mark),
        }
    }

    /// The problem; its text is the message without the position.
    #[must_use]
    pub fn kind(&self) -> &ErrorKind {
        &self.kind
    }

    /// Where it is wrong.
    #[must_use]
    pub fn mark(&self) -> Option<Mark> {
        self.mark
    }

    /// The Python exception Salt raises for the same text.
    ///
    /// Limits and recursive aliases have no counterpart; they answer with the nearest one.
    #[must_use]
    pub fn reference_class(&self) -> &'static str {
        match &self.kind {
            ErrorKind::NotUtf8 { .. } => "UnicodeDecodeError",
            ErrorKind::ForbiddenCharacter { .. } => "ReaderError",
            ErrorKind::Syntax {
                stage: SyntaxStage::Scanner,
                ..
            } => "ScannerError",
            ErrorKind::Syntax {
                stage: SyntaxStage::Parser,
                ..
            } => "ParserError",
            ErrorKind::MultipleDocuments
            | ErrorKind::UndefinedAlias { .. }
            | ErrorKind::DuplicateAnchor { .. }
            | ErrorKind::RecursiveAlias { .. } => "ComposerError",
            ErrorKind::WrongNode { tag: "!!int", .. } => "AttributeError",
            ErrorKind::DuplicateKey { .. }
            | ErrorKind::UnhashableKey { .. }
            | ErrorKind::TemplateExpression
            | ErrorKind::NotMergeable { .. }
            | ErrorKind::BareIndicator { .. }
            | ErrorKind::UnknownTag { .. }
            | ErrorKind::Date { .. }
            | ErrorKind::WrongNode { .. }
            | ErrorKind::BadBase64 { .. } => "ConstructorError",
            ErrorKind::BadBool { .. } => "KeyError",
            ErrorKind::BadInt { .. }
            | ErrorKind::BadFloat { .. }
            | ErrorKind::BadTimestamp { .. } => "ValueError",
            ErrorKind::NoDigits { .. } => "IndexError",
            ErrorKind::FloatOverflow => "OverflowError",
            ErrorKind::TooDeep { .. } => "RecursionError",
            ErrorKind::TooLarge { .. } | ErrorKind::TooMuchJoined { .. } => "MemoryError",
        }
    }
}

impl std::error::Error for Error {}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.mark {
            Some(mark) => write!(f, "{mark}: {}", self.kind),
            None => self.kind.fmt(f),
        }
    }
}

/// The start of a text that may be too long for a message.
pub(crate) fn excerpt(text: &str) -> String {
    match text.char_indices().nth(40) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Say what libyaml's grammar found, knowing the character and the line it stopped at.
pub(crate) fn syntax(error: &mapstack_yaml_events::Error, at: &SyntaxSpot<'_>) -> Error {
    let stage = match error.phase {
        Phase::Parser => SyntaxStage::Parser,
        Phase::Reader | Phase::Scanner => SyntaxStage::Scanner,
    };
    let found = error.problem;
    let (problem, advice) = explain(found, at.character);
    let never_closed = found == "found unexpected end of stream";
    let (problem, place) = match at.opened {
        Some(opened) if never_closed => (problem.to_owned(), opened),
        Some(opened) if opened != at.mark => {
            (format!("{problem} (in what starts at {opened})"), at.mark)
        }
        _ => (problem.to_owned(), at.mark),
    };
    let templated = at.line.contains("{{") || at.line.contains("{%");
    let advice = if templated {
        "put a template expression in quotes, or render the template first"
    } else {
        advice
    };
    Error::new(
        ErrorKind::Syntax {
            stage,
            problem,
            advice,
        },
        place,
    )
}

/// The spot a grammar error points at.
pub(crate) struct SyntaxSpot<'t> {
    pub mark: Mark,
    /// Where what it is in starts.
    pub opened: Option<Mark>,
    pub character: Option<char>,
    pub line: &'t str,
}

#[expect(
    clippy::too_many_lines,
    reason = "one row for each message of the grammar; a table reads best whole"
)]
fn explain(found: &'static str, character: Option<char>) -> (&'static str, &'static str) {
    match (found, character) {
        ("found character that cannot start any token", Some('\t'))
        | ("found a tab character where an indentation space is expected", _)
        | ("found a tab character that violates indentation", _) => {
            ("a tab is used as indentation", "indent with spaces")
        }
        ("found character that cannot start any token", Some('@')) => (
            "a plain value cannot start with `@`",
            "put the value in quotes",
        ),
        ("found character that cannot start any token", Some('`')) => (
            "a plain value cannot start with a backquote",
            "put the value in quotes",
        ),
        ("found character that cannot start any token", Some('%')) => (
            "a plain value cannot start with `%`",
            "put the value in quotes",
        ),
        ("found character that cannot start any token", _) => (
            "this character cannot start a value",
            "put the value in quotes",
        ),
        ("mapping values are not allowed in this context", _) => (
            "a `:` makes a key of something that cannot be one here",
            "put a value that contains `: ` in quotes, or check the indentation",
        ),
        ("block sequence entries are not allowed in this context", _) => (
            "a list item cannot start here",
            "put `- ` on a line of its own, or the value in quotes",
        ),
        ("could not find expected ':'", _) => (
            "this line is neither a key nor part of the value above",
            "add the missing `:`, or check the indentation",
        ),
        ("did not find expected key", _) => (
            "expected a key of the mapping",
            "indent the line like the other keys, or quote the value before it",
        ),
        ("did not find expected '-' indicator", _) => (
            "expected an item of the list",
            "start the line with `- `, or indent it less",
        ),
        ("did not find expected ',' or ']'", _) => {
            ("the list is not closed", "add the missing `,` or `]`")
        }
        ("did not find expected ',' or '}'", _) => (
            "the mapping is not closed",
            "add the missing `,` or `}`, or quote the value",
        ),
        ("found unexpected end of stream", _) => {
            ("the quote opened here is never closed", "close it")
        }
        ("found unexpected document indicator", _) => (
            "the document ends inside a quoted value",
            "close the quote, or indent the line",
        ),
        ("found unknown escape character", _) => (
            "double quotes give the backslash a meaning, and this escape has none",
            "use single quotes, or write the backslash twice",
        ),
        ("found invalid Unicode character escape code", _) => (
            "the escape stands for no character",
            "write the character itself, or one `\\U` escape",
        ),
        ("did not find expected hexdecimal number", _) => (
            "the escape has too few hexadecimal digits",
            "write `\\x` with 2, `\\u` with 4, `\\U` with 8 digits",
        ),
        ("did not find expected node content", _) => (
            "expected a value",
            "add the missing value, or quote the one that starts here",
        ),
        ("did not find expected <document start>", _) => (
            "text follows where the document has ended",
            "remove it, or check brackets and indentation above",
        ),
        ("found unexpected ':'", _) => (
            "a `:` touches a bracket or comma",
            "put a space after the `:`, or the value in quotes",
        ),
        ("found unknown directive name", _) => (
            "a line starting with `%` is a directive, and this one is not known",
            "quote the value, or remove the line",
        ),
        ("found undefined tag handle", _) => (
            "the tag's prefix is not declared",
            "quote a value that starts with `!`",
        ),
        ("did not find expected alphabetic or numeric character", _) => (
            "an anchor or alias needs a name of letters, digits, `-` and `_`",
            "quote a value that starts with `&` or `*`",
        ),
        ("found more than 100 %TAG directives", _) => (
            "more than 100 %TAG directives stand before one document",
            "remove those that no tag uses",
        ),
        ("did not find expected whitespace or line break", Some(',')) => (
            "a comma touches a tag",
            "quote a value that starts with `!`, or put a space behind the tag",
        ),
        (other, _) => (other, "check the text here"),
    }
}
