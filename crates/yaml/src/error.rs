//! Errors in a text, in the reader's terms.

use std::borrow::Cow;
use std::fmt;

use mapstack_value::ValueKind;

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
    #[error("{}", syntax(problem, line_of.map(|mark| format!("on line {}", mark.line)).as_deref(), advice))]
    Syntax {
        /// The half of the grammar that refused it.
        stage: SyntaxStage,
        /// The problem.
        problem: String,
        /// The line that the problem is about as well.
        line_of: Option<Mark>,
        /// The advice.
        advice: Cow<'static, str>,
    },
    /// A second document in one text.
    #[error("a second document starts here, and only one is read; remove the `---`")]
    MultipleDocuments,
    /// `*name` without `&name` before it.
    #[error(
        "undefined anchor `&{name}`; define it before this alias, or quote a value that starts with `*`"
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
        /// The first place.
        first: Mark,
    },
    /// `*name` inside what `&name` marks.
    #[error(
        "the alias `*{name}` is inside its own anchor, so the value would contain itself; remove it"
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
        /// The first place.
        first: Mark,
    },
    /// A collection as a key.
    #[error("{} cannot be a key; quote it if text was meant", kind.described())]
    UnhashableKey {
        /// The kind of the key.
        kind: ValueKind,
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
    #[error("a bare `{text}` is special and cannot be a value; put it in quotes")]
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
        /// The content that the tag needs.
        expected: &'static str,
        /// The value in its place, in words.
        found: &'static str,
    },
    /// A `!!bool` with a text that is not a boolean.
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
        "the text expands to more than {limit} values once its aliases are expanded; split it, or use fewer aliases"
    )]
    TooLarge {
        /// The limit.
        limit: usize,
    },
}

impl ErrorKind {
    /// The message of a text that a template printed: its lines are named as the reader knows them.
    ///
    /// ```
    /// let error = mapstack_yaml::load("a:\n b: 1\n  c: 2\n").unwrap_err();
    /// assert!(error.kind().to_string().starts_with("`c:` continues the text begun on line 2; "));
    /// let message = error.kind().with_lines(|mark| format!("in t.sls:{}", mark.line + 7));
    /// assert!(message.starts_with("`c:` continues the text begun in t.sls:9; "), "{message}");
    /// ```
    #[must_use]
    pub fn with_lines(&self, name: impl Fn(Mark) -> String) -> String {
        match self {
            ErrorKind::Syntax {
                problem,
                line_of,
                advice,
                ..
            } => syntax(problem, line_of.map(name).as_deref(), advice),
            other => other.to_string(),
        }
    }
}

fn syntax(problem: &str, line: Option<&str>, advice: &str) -> String {
    match line {
        Some(line) => format!("{problem} {line}; {advice}"),
        None => format!("{problem}; {advice}"),
    }
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

    /// The place of the error.
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
