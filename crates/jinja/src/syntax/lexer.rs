//! Cuts a template into tokens: text, delimiters, names, literals and operators.
//!
//! The lexer follows Jinja's whitespace rules (`-`, `+`, `trim_blocks`, `lstrip_blocks`, line
//! statements), so the text tokens are exactly what the template prints.

mod literal;

use mapstack_value::pytext::classes::{is_identifier, is_space, is_word};
use mapstack_value::{Int, Str, quote_str};
use memchr::{memchr, memchr2, memchr3};

use super::Syntax;
use super::ast::Span;

/// A token and its span.
#[derive(Debug)]
pub(crate) struct Token {
    pub kind: Tok,
    pub span: Span,
    /// The line of its first character, from 1.
    pub line: u32,
}

/// The kind of a token. The text of names and data is the source under their span.
#[derive(Debug, PartialEq)]
pub(crate) enum Tok {
    Data,
    BlockBegin,
    BlockEnd,
    VariableBegin,
    VariableEnd,
    Name,
    Str(Str),
    Int(Int),
    Float(f64),
    Op(Op),
    Eof,
}

/// Operators and brackets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Op {
    Add,
    Sub,
    Div,
    FloorDiv,
    Mul,
    Mod,
    Pow,
    Tilde,
    LBracket,
    RBracket,
    LParen,
    RParen,
    LBrace,
    RBrace,
    Eq,
    Ne,
    Gt,
    Ge,
    Lt,
    Le,
    Assign,
    Dot,
    Colon,
    Pipe,
    Comma,
    Semicolon,
}

/// Every operator with its text; the [`PAIRS`] of two characters come first.
const OPERATORS: [(&str, Op); 26] = [
    ("//", Op::FloorDiv),
    ("**", Op::Pow),
    ("==", Op::Eq),
    ("!=", Op::Ne),
    (">=", Op::Ge),
    ("<=", Op::Le),
    ("+", Op::Add),
    ("-", Op::Sub),
    ("/", Op::Div),
    ("*", Op::Mul),
    ("%", Op::Mod),
    ("~", Op::Tilde),
    ("[", Op::LBracket),
    ("]", Op::RBracket),
    ("(", Op::LParen),
    (")", Op::RParen),
    ("{", Op::LBrace),
    ("}", Op::RBrace),
    (">", Op::Gt),
    ("<", Op::Lt),
    ("=", Op::Assign),
    (".", Op::Dot),
    (":", Op::Colon),
    ("|", Op::Pipe),
    (",", Op::Comma),
    (";", Op::Semicolon),
];

/// The number of operators of two characters.
const PAIRS: usize = 6;

/// The operators of one character, by that character.
const SINGLE: [Option<Op>; 128] = {
    let mut table = [None; 128];
    let mut at = PAIRS;
    while at < OPERATORS.len() {
        let (text, op) = OPERATORS[at];
        table[text.as_bytes()[0] as usize] = Some(op);
        at += 1;
    }
    table
};

/// The tokens that a byte of code can start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    Blank,
    Word,
    Digit,
    Quote,
    Operator,
    /// A character outside ASCII, or one that starts no token of Jinja.
    Other,
}

/// The class of each byte. ASCII's blanks are those of [`is_space`].
const CLASSES: [Class; 256] = {
    let mut classes = [Class::Other; 256];
    let mut byte = 0;
    while byte < SINGLE.len() {
        classes[byte] = match byte as u8 {
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => Class::Word,
            b'0'..=b'9' => Class::Digit,
            b'\'' | b'"' => Class::Quote,
            b'\t'..=b'\r' | 0x1c..=0x1f | b' ' => Class::Blank,
            // The first of `!=`.
            b'!' => Class::Operator,
            _ if SINGLE[byte].is_some() => Class::Operator,
            _ => Class::Other,
        };
        byte += 1;
    }
    classes
};

impl Op {
    /// The operator that a text starts with, and its length.
    fn at(text: &[u8]) -> Option<(Op, usize)> {
        let pairs = match text.get(1) {
            Some(b'/' | b'*' | b'=') => &OPERATORS[..PAIRS],
            _ => &[],
        };
        let pair = pairs
            .iter()
            .find(|(pair, _)| text.starts_with(pair.as_bytes()));
        match pair {
            Some((pair, op)) => Some((*op, pair.len())),
            None => Some(((*SINGLE.get(usize::from(*text.first()?))?)?, 1)),
        }
    }

    /// The text of it.
    pub fn text(self) -> &'static str {
        OPERATORS
            .iter()
            .find(|(_, op)| *op == self)
            .map_or("", |(text, _)| text)
    }
}

/// Why a template cannot be read.
#[derive(Debug)]
pub(crate) struct ReadFailure {
    pub message: String,
    pub span: Span,
    pub line: u32,
    pub help: Option<String>,
}

impl ReadFailure {
    /// Failures are boxed: the functions that hand them on call each other deeply.
    pub fn new(message: impl Into<String>, span: Span, line: u32) -> Box<Self> {
        Box::new(ReadFailure {
            message: message.into(),
            span,
            line,
            help: None,
        })
    }
}

/// The tokens up to the end or to the first failure. The parser reports the failure only when it
/// gets that far, so an error earlier in the template wins.
#[derive(Debug)]
pub(crate) struct Tokens {
    /// The tokens, with [`Tok::Eof`] last unless there was a failure.
    pub tokens: Vec<Token>,
    pub failure: Option<Box<ReadFailure>>,
}

/// Turn `\r\n` and `\r` into `\n`.
pub(crate) fn normalise_newlines(source: &str) -> Str {
    if source.contains('\r') {
        source.replace("\r\n", "\n").replace('\r', "\n").into()
    } else {
        source.into()
    }
}

/// Cut a source with normalised newlines, shorter than 4 GiB, into tokens.
pub(crate) fn tokenize(source: &str, syntax: &Syntax) -> Tokens {
    let source = if syntax.keep_trailing_newline {
        source
    } else {
        source.strip_suffix('\n').unwrap_or(source)
    };
    let openers = openers(syntax);
    // The first line can be a header, which is not part of the template but counts as a line of the file.
    let after_first = || source.find('\n').map_or(source.len(), |end| end + 1);
    let start = if syntax.has_header { after_first() } else { 0 };
    let mut lexer = Lexer {
        source,
        syntax,
        first_bytes: first_bytes(&openers),
        has_line_tags: openers.iter().any(|(opener, _)| is_line_tag(*opener)),
        openers,
        pos: start,
        start,
        line: if start == 0 { 1 } else { 2 },
        line_starting: true,
        brackets: Vec::new(),
        // Most templates have fewer tokens than this, and most that have more have not many more.
        tokens: Vec::with_capacity(source.len() / 12),
    };
    let failure = lexer.run().err();
    if failure.is_none() {
        let end = lexer.end_of_template();
        lexer.tokens.push(end);
    }
    Tokens {
        tokens: lexer.tokens,
        failure,
    }
}

/// The openers that can end literal text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Opener {
    Block,
    Comment,
    LineComment,
    LineStatement,
    Variable,
}

/// The openers in the order they are tried at one place: longer ones first.
fn openers(syntax: &Syntax) -> Vec<(Opener, &str)> {
    let mut openers = vec![
        (Opener::Comment, &*syntax.comment_start),
        (Opener::Block, &syntax.block_start),
        (Opener::Variable, &syntax.variable_start),
    ];
    openers.extend(
        syntax
            .line_statement_prefix
            .iter()
            .map(|prefix| (Opener::LineStatement, prefix.as_str())),
    );
    openers.extend(
        syntax
            .line_comment_prefix
            .iter()
            .map(|prefix| (Opener::LineComment, prefix.as_str())),
    );
    openers.sort_by_key(|(opener, text)| std::cmp::Reverse((text.chars().count(), *opener)));
    openers
}

/// The different bytes that openers start with.
fn first_bytes(openers: &[(Opener, &str)]) -> Vec<u8> {
    let mut bytes: Vec<u8> = openers
        .iter()
        .flat_map(|(_, text)| text.bytes().next())
        .collect();
    bytes.sort_unstable();
    bytes.dedup();
    bytes
}

/// The `-` or `+` inside a delimiter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sign {
    None,
    Strip,
    Keep,
}

/// An opening tag found in the text.
struct Opening {
    kind: OpeningKind,
    /// The start; for line tags before their indentation.
    start: usize,
    /// The start of the delimiter itself.
    delimiter: usize,
    end: usize,
    sign: Sign,
}

enum OpeningKind {
    Raw,
    Tag(Opener),
}

/// The end of a stretch of code.
#[derive(Debug, Clone, Copy)]
enum Closer {
    Block,
    Variable,
    Line,
}

struct Lexer<'s> {
    source: &'s str,
    syntax: &'s Syntax,
    openers: Vec<(Opener, &'s str)>,
    /// The bytes an opener can start with.
    first_bytes: Vec<u8>,
    has_line_tags: bool,
    /// The start of the template in the source.
    start: usize,
    pos: usize,
    line: u32,
    /// True if what was last consumed ended with a newline.
    line_starting: bool,
    /// The closing brackets that are due, innermost last.
    brackets: Vec<Op>,
    tokens: Vec<Token>,
}

impl Lexer<'_> {
    fn run(&mut self) -> Result<(), Box<ReadFailure>> {
        while self.pos < self.source.len() {
            let Some(opening) = self.next_opening() else {
                self.push(Tok::Data, self.pos, self.source.len());
                break;
            };
            self.text_before(
                opening.start,
                opening.sign,
                !matches!(opening.kind, OpeningKind::Tag(Opener::Variable)),
            );
            let (start, end) = (opening.delimiter, opening.end);
            let line = self.line;
            self.consume(end);
            match opening.kind {
                OpeningKind::Raw => self.raw(start, end)?,
                OpeningKind::Tag(Opener::Comment) => self.comment(start, end)?,
                OpeningKind::Tag(Opener::LineComment) => {
                    let rest = &self.source[end..];
                    self.consume(end + rest.find('\n').unwrap_or(rest.len()));
                }
                OpeningKind::Tag(opener) => {
                    let (kind, closer) = match opener {
                        Opener::Variable => (Tok::VariableBegin, Closer::Variable),
                        Opener::LineStatement => (Tok::BlockBegin, Closer::Line),
                        _ => (Tok::BlockBegin, Closer::Block),
                    };
                    self.tokens.push(Token {
                        kind,
                        span: span(start, end),
                        line,
                    });
                    self.code(closer)?;
                }
            }
        }
        Ok(())
    }

    /// The end of the template. Jinja numbers it by the line on which its last token starts, so that is its place.
    fn end_of_template(&self) -> Token {
        let Some(last) = self.tokens.last() else {
            return Token {
                kind: Tok::Eof,
                span: span(self.start, self.start),
                line: 1,
            };
        };
        let (start, end) = (last.span.start as usize, last.span.end as usize);
        let at = self.source[start..end]
            .find('\n')
            .map_or(end, |line_end| start + line_end);
        Token {
            kind: Tok::Eof,
            span: span(at, at),
            line: last.line,
        }
    }

    fn push(&mut self, kind: Tok, start: usize, end: usize) {
        self.tokens.push(Token {
            kind,
            span: span(start, end),
            line: self.line,
        });
    }

    fn fail(&self, message: impl Into<String>, start: usize, end: usize) -> Box<ReadFailure> {
        ReadFailure::new(message, span(start, end), self.line)
    }

    /// Emit a token of code without newlines, and go on to its end.
    fn push_code(&mut self, kind: Tok, start: usize, end: usize) {
        self.push(kind, start, end);
        self.line_starting = false;
        self.pos = end;
    }

    /// Go on to `end`.
    fn consume(&mut self, end: usize) {
        let eaten = &self.source.as_bytes()[self.pos..end];
        self.line += newlines(eaten);
        self.line_starting = eaten.last() == Some(&b'\n');
        self.pos = end;
    }

    // ---- text ----

    fn next_opening(&self) -> Option<Opening> {
        let mut at = self.pos;
        while let Some(candidate) = self.next_candidate(at) {
            if let Some(opening) = self.opening_at(candidate) {
                return Some(opening);
            }
            at = candidate + 1;
        }
        None
    }

    /// The next place where an opener may start.
    fn next_candidate(&self, from: usize) -> Option<usize> {
        let bytes = self.source.as_bytes();
        if self.has_line_tags {
            // Those can start with a blank.
            return (from..bytes.len()).find(|at| self.source.is_char_boundary(*at));
        }
        let rest = &bytes[from..];
        let found = match *self.first_bytes {
            [a] => memchr(a, rest),
            [a, b] => memchr2(a, b, rest),
            [a, b, c] => memchr3(a, b, c, rest),
            _ => rest.iter().position(|byte| self.first_bytes.contains(byte)),
        };
        found.map(|at| from + at)
    }

    fn opening_at(&self, at: usize) -> Option<Opening> {
        let rest = &self.source[at..];
        if rest.starts_with(&*self.syntax.block_start)
            && let Some((sign, end)) = self.raw_begin(at)
        {
            return Some(Opening {
                kind: OpeningKind::Raw,
                start: at,
                delimiter: at,
                end,
                sign,
            });
        }
        self.openers.iter().find_map(|(opener, text)| {
            let delimiter = at + self.indentation(*opener, at)?;
            let end = delimiter
                + self.source[delimiter..]
                    .starts_with(text)
                    .then_some(text.len())?;
            let sign = self.sign_at(end);
            let end = if sign == Sign::None { end } else { end + 1 };
            Some(Opening {
                kind: OpeningKind::Tag(*opener),
                start: at,
                delimiter,
                end,
                sign,
            })
        })
    }

    /// The number of blanks that an opener may skip at this place; `None` if it cannot start here.
    fn indentation(&self, opener: Opener, at: usize) -> Option<usize> {
        if !is_line_tag(opener) {
            return Some(0);
        }
        let before = self.source[..at].chars().next_back();
        let at_line_start = before.is_none_or(|c| c == '\n');
        let rest = &self.source[at..];
        match opener {
            Opener::LineStatement if at_line_start => {
                Some(rest.len() - rest.trim_start_matches([' ', '\t', '\x0b']).len())
            }
            Opener::LineComment if at_line_start || before.is_some_and(|c| !is_space(c)) => {
                Some(rest.len() - rest.trim_start_matches(|c| is_space(c) && c != '\n').len())
            }
            _ => None,
        }
    }

    fn sign_at(&self, at: usize) -> Sign {
        match self.source.as_bytes().get(at) {
            Some(b'-') => Sign::Strip,
            Some(b'+') => Sign::Keep,
            _ => Sign::None,
        }
    }

    /// `{% raw %}` at this place: its sign and its end.
    fn raw_begin(&self, at: usize) -> Option<(Sign, usize)> {
        let after = at + self.syntax.block_start.len();
        let sign = self.sign_at(after);
        let after = if sign == Sign::None { after } else { after + 1 };
        let after = self.skip_word(after, "raw")?;
        let rest = &self.source[after..];
        if let Some(tail) = rest
            .strip_prefix('-')
            .and_then(|tail| tail.strip_prefix(&*self.syntax.block_end))
        {
            return Some((sign, self.skip_space(self.source.len() - tail.len())));
        }
        rest.starts_with(&*self.syntax.block_end)
            .then_some((sign, after + self.syntax.block_end.len()))
    }

    /// Whitespace, a word, whitespace: where that ends.
    fn skip_word(&self, at: usize, word: &str) -> Option<usize> {
        let start = self.skip_space(at);
        self.source[start..]
            .starts_with(word)
            .then(|| self.skip_space(start + word.len()))
    }

    fn skip_space(&self, at: usize) -> usize {
        let rest = &self.source.as_bytes()[at..];
        let is_blank = |byte: &&u8| CLASSES[usize::from(**byte)] == Class::Blank;
        let ascii = at + rest.iter().take_while(is_blank).count();
        match self.source.as_bytes().get(ascii) {
            Some(byte) if !byte.is_ascii() => {
                let rest = &self.source[ascii..];
                ascii + rest.len() - rest.trim_start_matches(is_space).len()
            }
            _ => ascii,
        }
    }

    /// The end of the word that starts at this place, and true if it is ASCII.
    fn word_end(&self, at: usize) -> (usize, bool) {
        let rest = &self.source.as_bytes()[at..];
        let is_part =
            |byte: &&u8| matches!(CLASSES[usize::from(**byte)], Class::Word | Class::Digit);
        let ascii = at + rest.iter().take_while(is_part).count();
        match self.source.as_bytes().get(ascii) {
            Some(byte) if !byte.is_ascii() => {
                let rest = &self.source[ascii..];
                let end = ascii + rest.len() - rest.trim_start_matches(is_word).len();
                (end, end == ascii)
            }
            _ => (ascii, true),
        }
    }

    /// Emit the text up to `end`, without the whitespace that the tag after it takes away.
    fn text_before(&mut self, end: usize, sign: Sign, strippable: bool) {
        let start = self.pos;
        let text = &self.source[start..end];
        let kept = match sign {
            Sign::Strip => text.trim_end_matches(is_space).len(),
            Sign::None if strippable && self.syntax.lstrip_blocks => {
                let line_start = text.rfind('\n').map_or(0, |at| at + 1);
                let whole_line = line_start > 0 || self.line_starting;
                if whole_line && text[line_start..].chars().all(is_space) {
                    line_start
                } else {
                    text.len()
                }
            }
            _ => text.len(),
        };
        if kept > 0 {
            self.push(Tok::Data, start, start + kept);
        }
        self.consume(end);
    }

    fn raw(&mut self, start: usize, end: usize) -> Result<(), Box<ReadFailure>> {
        if end == self.source.len() {
            return Ok(());
        }
        let mut from = end;
        while let Some(found) = self.source[from..].find(&*self.syntax.block_start) {
            let tag = from + found;
            let after = tag + self.syntax.block_start.len();
            let sign = self.sign_at(after);
            let word = if sign == Sign::None { after } else { after + 1 };
            if let Some((_, close)) = self
                .skip_word(word, "endraw")
                .and_then(|at| self.block_end_at(at))
            {
                self.text_before(tag, sign, true);
                self.consume(close);
                return Ok(());
            }
            from = tag + first_char_len(&self.source[tag..]);
        }
        Err(self.fail("Missing end of raw directive", start, end))
    }

    fn comment(&mut self, start: usize, end: usize) -> Result<(), Box<ReadFailure>> {
        if end == self.source.len() {
            return Ok(());
        }
        let Some(found) = self.source[end..].find(&*self.syntax.comment_end) else {
            return Err(self.fail("Missing end of comment tag", start, end));
        };
        let at = end + found;
        let sign = if found > 0 {
            self.sign_at(at - 1)
        } else {
            Sign::None
        };
        let close = self.after_closer(at + self.syntax.comment_end.len(), sign);
        self.consume(close);
        Ok(())
    }

    /// The end of a closing delimiter together with the whitespace it takes away.
    fn after_closer(&self, end: usize, sign: Sign) -> usize {
        match sign {
            Sign::Strip => self.skip_space(end),
            Sign::None if self.syntax.trim_blocks && self.source[end..].starts_with('\n') => {
                end + 1
            }
            _ => end,
        }
    }

    /// A statement's end at this place: the end of the delimiter, and that of the whitespace it
    /// takes away.
    fn block_end_at(&self, at: usize) -> Option<(usize, usize)> {
        let sign = self.sign_at(at);
        let end = &*self.syntax.block_end;
        if sign != Sign::None && self.source[at + 1..].starts_with(end) {
            let after = at + 1 + end.len();
            return Some((after, self.after_closer(after, sign)));
        }
        let after = at + self.source[at..].starts_with(end).then_some(end.len())?;
        Some((after, self.after_closer(after, Sign::None)))
    }

    // ---- code ----

    fn code(&mut self, closer: Closer) -> Result<(), Box<ReadFailure>> {
        loop {
            if self.brackets.is_empty()
                && let Some((kind, delimiter_end, end)) = self.closing(closer)
            {
                self.push(kind, self.pos, delimiter_end);
                self.consume(end);
                return Ok(());
            }
            let Some(first) = self.source.as_bytes().get(self.pos) else {
                return Ok(());
            };
            self.code_token(CLASSES[usize::from(*first)])?;
        }
    }

    /// The closing delimiter at this place, if there is one: its token, its end, and the end of what it takes
    /// away.
    fn closing(&self, closer: Closer) -> Option<(Tok, usize, usize)> {
        let at = self.pos;
        let begins = |delimiter: &str| match self.source.as_bytes().get(at) {
            Some(b'-' | b'+') => true,
            first => first == delimiter.as_bytes().first(),
        };
        match closer {
            Closer::Block if !begins(&self.syntax.block_end) => None,
            Closer::Variable if !begins(&self.syntax.variable_end) => None,
            Closer::Block => self
                .block_end_at(at)
                .map(|(end, trimmed)| (Tok::BlockEnd, end, trimmed)),
            Closer::Variable => {
                let delimiter = &*self.syntax.variable_end;
                let rest = &self.source[at..];
                if rest
                    .strip_prefix('-')
                    .is_some_and(|rest| rest.starts_with(delimiter))
                {
                    let end = at + 1 + delimiter.len();
                    return Some((Tok::VariableEnd, end, self.skip_space(end)));
                }
                rest.starts_with(delimiter)
                    .then(|| (Tok::VariableEnd, at + delimiter.len(), at + delimiter.len()))
            }
            Closer::Line => {
                let after = self.skip_space(at);
                let end = if after == self.source.len() {
                    after
                } else {
                    at + self.source[at..after].rfind('\n')? + 1
                };
                Some((Tok::BlockEnd, at, end))
            }
        }
    }

    /// The token that a byte of a class starts, or blanks.
    fn code_token(&mut self, class: Class) -> Result<(), Box<ReadFailure>> {
        let start = self.pos;
        match class {
            Class::Blank => self.consume(self.skip_space(start)),
            Class::Word => self.word(start)?,
            Class::Operator => {
                let Some((op, len)) = Op::at(&self.source.as_bytes()[start..]) else {
                    return Err(self.unexpected(start));
                };
                self.balance(op)?;
                self.push_code(Tok::Op(op), start, start + len);
            }
            Class::Digit => {
                let after_dot = self.source[..start].ends_with('.');
                let (kind, len) = literal::number(&self.source[start..], !after_dot)
                    .map_err(|(message, len)| self.fail(message, start, start + len))?;
                self.push_code(kind, start, start + len);
            }
            Class::Quote => {
                let rest = &self.source[start..];
                let Some(len) = literal::string_len(rest) else {
                    return Err(self.unexpected(start));
                };
                let text = self
                    .string(&rest[1..len - 1])
                    .map_err(|message| self.fail(message, start, start + len))?;
                self.push(Tok::Str(text), start, start + len);
                self.consume(start + len);
            }
            Class::Other => match self.source[start..].chars().next() {
                Some(first) if is_space(first) => self.consume(self.skip_space(start)),
                Some(first) if is_word(first) => self.word(start)?,
                _ => return Err(self.unexpected(start)),
            },
        }
        Ok(())
    }

    fn word(&mut self, start: usize) -> Result<(), Box<ReadFailure>> {
        let (end, is_ascii) = self.word_end(start);
        if !is_ascii && !is_identifier(&self.source[start..end]) {
            return Err(self.fail("Invalid character in identifier", start, end));
        }
        self.push_code(Tok::Name, start, end);
        Ok(())
    }

    /// The character at this place does not start a token.
    #[cold]
    fn unexpected(&self, start: usize) -> Box<ReadFailure> {
        let first = self.source[start..].chars().next().unwrap_or_default();
        let shown = quote_str(first.encode_utf8(&mut [0; 4]));
        let column = self.source[self.start..start].chars().count();
        let message = format!("unexpected char {shown} at {column}");
        self.fail(message, start, start + first.len_utf8())
    }

    /// The text between quotes.
    fn string(&self, quoted: &str) -> Result<Str, String> {
        let newline = self.syntax.newline_sequence;
        if !quoted.contains('\\') && (newline == "\n" || !quoted.contains('\n')) {
            return Ok(quoted.into());
        }
        literal::unescape(&quoted.replace('\n', newline)).map(Str::from)
    }

    fn balance(&mut self, op: Op) -> Result<(), Box<ReadFailure>> {
        match op {
            Op::LBrace => self.brackets.push(Op::RBrace),
            Op::LParen => self.brackets.push(Op::RParen),
            Op::LBracket => self.brackets.push(Op::RBracket),
            Op::RBrace | Op::RParen | Op::RBracket => {
                let text = op.text();
                let message = match self.brackets.pop() {
                    Some(due) if due == op => return Ok(()),
                    Some(due) => format!("unexpected '{text}', expected '{}'", due.text()),
                    None => format!("unexpected '{text}'"),
                };
                return Err(self.fail(message, self.pos, self.pos + 1));
            }
            _ => {}
        }
        Ok(())
    }
}

fn span(start: usize, end: usize) -> Span {
    let offset = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
    Span {
        start: offset(start),
        end: offset(end),
    }
}

fn newlines(bytes: &[u8]) -> u32 {
    bytes.iter().map(|byte| u32::from(*byte == b'\n')).sum()
}

fn is_line_tag(opener: Opener) -> bool {
    matches!(opener, Opener::LineStatement | Opener::LineComment)
}

fn first_char_len(text: &str) -> usize {
    text.chars().next().map_or(1, char::len_utf8)
}
