//! Turns the tokens of a template into its syntax tree.
//!
//! The grammar, the messages and the line numbers of errors are Jinja's. What Jinja only notices when
//! it compiles a template (a block defined twice, `break` outside a loop, …) is refused here too.

mod constants;
mod expression;
mod mentions;
mod statement;

use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::sync::Arc;

use foldhash::fast::RandomState;
use mapstack_diagnostic::line_and_column;
use mapstack_value::{Str, quote_str};

use super::ast::{Block, Span, Stmt, Template};
use super::lexer::{Op, ReadFailure, Tok, Token, normalise_newlines, tokenize};
use super::unset::{sets_self, unset_names};
use super::{Syntax, Tag};
use constants::Constants;

/// Why a template cannot be parsed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyntaxError {
    /// The message, in Jinja's words.
    pub message: String,
    /// The token at fault, in `source`.
    pub span: Span,
    /// The line as Jinja counts it, from 1. For a template that ends too early this is the line
    /// its last token starts on.
    pub line: u32,
    /// The advice, if there is any.
    pub help: Option<String>,
    /// The template's source with `\n` newlines.
    pub source: Arc<str>,
    /// The template's name, if it has one.
    pub name: Option<Str>,
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (line {}", self.message, self.line)?;
        match &self.name {
            Some(name) => write!(f, " of {})", quote_str(name)),
            None => f.write_str(")"),
        }
    }
}

impl std::error::Error for SyntaxError {}

/// Parse a template, with additional tags.
///
/// ```
/// use mapstack_jinja::syntax::{Syntax, parse};
///
/// let template = parse("Hello {{ name }}!", None, &Syntax::default(), &[]).unwrap();
/// assert_eq!(template.body.len(), 3);
///
/// let error = parse("{% if x %}\n{{ y", Some("map.jinja"), &Syntax::default(), &[]).unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "unexpected end of template, expected 'end of print statement'. (line 2 of 'map.jinja')"
/// );
/// ```
///
/// # Errors
///
/// When the text is not a Jinja template, nests too deeply, or is 4 GiB or longer.
pub fn parse(
    source: &str,
    name: Option<&str>,
    syntax: &Syntax,
    tags: &'static [Tag],
) -> std::result::Result<Template, SyntaxError> {
    let source = normalise_newlines(source);
    let parsed = check(&source, syntax)
        .and_then(|()| Parser::new(&source, syntax, tags).and_then(Parser::template));
    match parsed {
        Ok(ParsedTemplate {
            body,
            blocks,
            constants,
            sets_names,
        }) => {
            // A name that is not set anywhere is not hidden until it is.
            let unset = if sets_names {
                unset_names(&body, &blocks)
            } else {
                BTreeMap::new()
            };
            let mut template = Template {
                unset,
                body,
                blocks,
                constants: constants.made,
                ..Template::empty(name.map(Str::from), source)
            };
            template.sets_self = sets_names && sets_self(&template);
            Ok(template)
        }
        Err(failure) => {
            let ReadFailure {
                message,
                span,
                line,
                help,
            } = *failure;
            Err(SyntaxError {
                message,
                span,
                line,
                help,
                source,
                name: name.map(Str::from),
            })
        }
    }
}

/// Check that a template can be cut into tokens.
fn check(source: &str, syntax: &Syntax) -> Result<()> {
    let starts: [&str; 3] = [
        &syntax.block_start,
        &syntax.variable_start,
        &syntax.comment_start,
    ];
    let ends: [&str; 3] = [&syntax.block_end, &syntax.variable_end, &syntax.comment_end];
    let prefixes =
        [&syntax.line_statement_prefix, &syntax.line_comment_prefix].map(Option::as_deref);
    let message = if u32::try_from(source.len()).is_err() {
        "the template is 4 GiB or longer"
    } else if starts[0] == starts[1] || starts[0] == starts[2] || starts[1] == starts[2] {
        "block, variable and comment start strings must be different"
    } else if starts
        .into_iter()
        .chain(ends)
        .chain(prefixes.into_iter().flatten())
        .any(str::is_empty)
    {
        "a Jinja delimiter is empty"
    } else {
        return Ok(());
    };
    Err(ReadFailure::new(message, Span::default(), 1))
}

type Result<T> = std::result::Result<T, Box<ReadFailure>>;

/// A parsed template, and the facts about it.
struct ParsedTemplate {
    body: Vec<Stmt>,
    blocks: Vec<Arc<Block>>,
    constants: Constants,
    /// True if a statement sets a name that is not bound for a body alone.
    sets_names: bool,
}

/// A stream of tokens and what is known at the current one.
struct Parser<'s> {
    source: &'s str,
    syntax: &'s Syntax,
    tokens: Vec<Token>,
    /// The index of the current token.
    at: usize,
    /// Why the tokens end after the last one.
    failure: Option<Box<ReadFailure>>,
    /// The end of the token before the current one.
    previous_end: u32,
    /// The number of open expressions.
    depth: u32,
    /// The names and places of the open tags, innermost last.
    open_tags: Vec<(&'s str, Span)>,
    /// The tags that may end the open bodies, innermost last.
    awaited: Vec<&'static [&'static str]>,
    /// The end of the current statement's opening tag, once known.
    tag_end: Option<u32>,
    scope: Scope,
    blocks: Vec<(u32, Arc<Block>)>,
    block_names: HashSet<&'s str>,
    scoped_blocks: usize,
    /// The tags beside those of the language.
    tags: &'static [Tag],
    constants: Constants,
    /// The names that were met. Those that are equal share their text, so that they are quickly seen to be equal.
    names: HashSet<Str, RandomState>,
    /// True if a statement sets a name that is not bound for a body alone.
    sets_names: bool,
    /// Mistakes that Jinja would find after parsing; the least one is reported.
    late: Vec<(LateOrder, Box<ReadFailure>)>,
}

/// Most templates have fewer names.
const FEW_NAMES: usize = 28;

/// The code around the current statement.
#[derive(Debug, Clone, Copy)]
struct Scope {
    /// True if `extends` is allowed here.
    toplevel: bool,
    /// True if `break` and `continue` may.
    breakable: bool,
    /// The pass of Jinja's compiler: one for the template, then one for each block.
    pass: u32,
    /// The place of the outermost loop: nothing in it may assign to `loop`.
    outer_loop: Option<LateOrder>,
}

/// When Jinja would notice a mistake: in which pass, and where in the source.
type LateOrder = (u32, u32);

/// The pass that finds blocks.
const PASS_BLOCKS: u32 = 0;
/// The pass over the template outside of blocks.
const PASS_ROOT: u32 = 1;
/// Python's compiler, after all of Jinja's passes.
const PASS_PYTHON: u32 = u32::MAX;

impl<'s> Parser<'s> {
    fn new(source: &'s str, syntax: &'s Syntax, tags: &'static [Tag]) -> Result<Self> {
        let lexed = tokenize(source, syntax);
        let mut parser = Parser {
            source,
            syntax,
            tokens: lexed.tokens,
            at: 0,
            failure: lexed.failure,
            previous_end: 0,
            depth: 0,
            open_tags: Vec::new(),
            awaited: Vec::new(),
            tag_end: None,
            scope: Scope {
                toplevel: true,
                breakable: false,
                pass: PASS_ROOT,
                outer_loop: None,
            },
            blocks: Vec::new(),
            block_names: HashSet::new(),
            scoped_blocks: 0,
            tags,
            constants: Constants::default(),
            names: HashSet::with_capacity_and_hasher(FEW_NAMES, RandomState::default()),
            sets_names: false,
            late: Vec::new(),
        };
        match parser.failure.take_if(|_| parser.tokens.is_empty()) {
            Some(failure) => Err(failure),
            None => Ok(parser),
        }
    }

    fn template(mut self) -> Result<ParsedTemplate> {
        let body = match self.until(&[]) {
            Ok(body) => body,
            Err(failure) => return Err(self.with_opening(failure)),
        };
        match self.late.into_iter().min_by_key(|(order, _)| *order) {
            Some((_, failure)) => Err(failure),
            None => {
                self.blocks.sort_by_key(|(start, _)| *start);
                Ok(ParsedTemplate {
                    body,
                    blocks: self.blocks.into_iter().map(|(_, block)| block).collect(),
                    constants: self.constants,
                    sets_names: self.sets_names,
                })
            }
        }
    }

    // ---- the token stream ----

    fn token(&self) -> &Token {
        &self.tokens[self.at]
    }

    fn kind(&self) -> &Tok {
        &self.token().kind
    }

    fn line(&self) -> u32 {
        self.token().line
    }

    fn start(&self) -> u32 {
        self.token().span.start
    }

    /// The source from a place to the end of the token before the current one.
    fn since(&self, start: u32) -> Span {
        Span {
            start,
            end: self.previous_end,
        }
    }

    fn text(&self, span: Span) -> &'s str {
        &self.source[span.start as usize..span.end as usize]
    }

    /// The text of a name, which all occurrences share.
    fn shared(&mut self, name: &str) -> Str {
        match self.names.get(name) {
            Some(known) => known.clone(),
            None => {
                let name = Str::from(name);
                self.names.insert(name.clone());
                name
            }
        }
    }

    /// The current token's name, if it is one.
    fn name(&self) -> Option<&'s str> {
        (*self.kind() == Tok::Name).then(|| self.text(self.token().span))
    }

    fn is_name(&self, name: &str) -> bool {
        self.name() == Some(name)
    }

    fn is_op(&self, op: Op) -> bool {
        *self.kind() == Tok::Op(op)
    }

    /// Go on to the next token; at the end, stay.
    fn advance(&mut self) -> Result<()> {
        self.previous_end = self.token().span.end;
        self.at = self.next_index()?;
        Ok(())
    }

    fn next_index(&mut self) -> Result<usize> {
        if self.at + 1 < self.tokens.len() {
            return Ok(self.at + 1);
        }
        self.failure.take().map_or(Ok(self.at), Err)
    }

    /// True if the token after the current one satisfies a condition.
    fn next_is(&mut self, condition: impl Fn(&Self, &Token) -> bool) -> Result<bool> {
        let next = self.next_index()?;
        Ok(condition(self, &self.tokens[next]))
    }

    fn next_is_name(&mut self, name: &str) -> Result<bool> {
        self.next_is(|parser, token| token.kind == Tok::Name && parser.text(token.span) == name)
    }

    fn skip_name(&mut self, name: &str) -> Result<bool> {
        let found = self.is_name(name);
        if found {
            self.advance()?;
        }
        Ok(found)
    }

    fn skip_op(&mut self, op: Op) -> Result<bool> {
        let found = self.is_op(op);
        if found {
            self.advance()?;
        }
        Ok(found)
    }

    fn expect_name(&mut self, name: &str) -> Result<()> {
        if self.skip_name(name)? {
            Ok(())
        } else {
            Err(self.expected(name))
        }
    }

    fn expect_op(&mut self, op: Op) -> Result<()> {
        if self.skip_op(op)? {
            Ok(())
        } else {
            Err(self.expected(op.text()))
        }
    }

    fn expect_kind(&mut self, kind: &Tok, described: &str) -> Result<()> {
        if self.kind() == kind {
            self.advance()
        } else {
            Err(self.expected(described))
        }
    }

    fn expect_block_end(&mut self) -> Result<()> {
        self.expect_kind(&Tok::BlockEnd, "end of statement block")
    }

    /// Any name.
    fn identifier(&mut self) -> Result<&'s str> {
        let name = self.name().ok_or_else(|| self.expected("name"))?;
        self.advance()?;
        Ok(name)
    }

    // ---- failures ----

    fn fail(&self, message: impl Into<String>) -> Box<ReadFailure> {
        ReadFailure::new(message, self.token().span, self.line())
    }

    fn expected(&self, what: &str) -> Box<ReadFailure> {
        let what = quote_str(what);
        if *self.kind() == Tok::Eof {
            return self.fail(format!("unexpected end of template, expected {what}."));
        }
        self.fail(format!("expected token {what}, got {}", self.described()))
    }

    fn unexpected(&self) -> Box<ReadFailure> {
        self.fail(format!("unexpected {}", self.described()))
    }

    /// The current token as Jinja's messages name it, quoted.
    fn described(&self) -> String {
        quote_str(match self.kind() {
            Tok::Data => "template data / text",
            Tok::BlockBegin => "begin of statement block",
            Tok::BlockEnd => "end of statement block",
            Tok::VariableBegin => "begin of print statement",
            Tok::VariableEnd => "end of print statement",
            Tok::Name => self.text(self.token().span),
            Tok::Str(_) => "string",
            Tok::Int(_) => "integer",
            Tok::Float(_) => "float",
            Tok::Op(op) => op.text(),
            Tok::Eof => "end of template",
        })
    }

    /// A failure with the place of the bracket or tag that is not closed, if that is what is wrong.
    fn with_opening(&self, mut failure: Box<ReadFailure>) -> Box<ReadFailure> {
        let before = self.tokens.get(..self.at).unwrap_or_default();
        let current = self
            .tokens
            .get(self.at)
            .filter(|token| !closes(&token.kind));
        let begun = opened(before.iter().chain(current));
        let Some(token) = begun.filter(|token| self.is_unclosed(token, &failure)) else {
            return failure;
        };
        failure.help.get_or_insert_with(|| {
            let opening = self.text(token.span).trim_end_matches(['-', '+']);
            format!(
                "the `{opening}` at {} is not closed",
                self.position(token.span)
            )
        });
        failure
    }

    /// True if nothing can close a bracket or a tag where the template is refused.
    fn is_unclosed(&self, token: &Token, failure: &ReadFailure) -> bool {
        let at = failure.span.start as usize;
        let rest = self.source.get(at..).unwrap_or_default();
        let closing = match token.kind {
            Tok::Op(Op::LBracket) => ']',
            Tok::Op(Op::LParen) => ')',
            Tok::Op(Op::LBrace) => '}',
            _ => {
                let next = [&*self.syntax.block_start, &*self.syntax.variable_start]
                    .into_iter()
                    .filter_map(|opener| rest.find(opener))
                    .min()
                    .unwrap_or(rest.len());
                let close = match token.kind {
                    Tok::VariableBegin => &*self.syntax.variable_end,
                    _ => &*self.syntax.block_end,
                };
                // A line statement has no delimiter.
                let is_tag = !self.text(token.span).trim().is_empty();
                return is_tag && !rest[..next].contains(close);
            }
        };
        let ends_tag = |found| found == '}' && self.source[..at].ends_with('%');
        match rest.chars().next() {
            None => true,
            Some(found @ (']' | ')' | '}')) => found != closing || ends_tag(found),
            Some(_) => false,
        }
    }

    /// The line and column of a place.
    fn position(&self, span: Span) -> String {
        let (line, column) = line_and_column(self.source, span.start as usize);
        format!("line {line}, column {column}")
    }

    /// Note a mistake that Jinja would only find after parsing.
    fn late(&mut self, pass: u32, span: Span, line: u32, message: impl Into<String>) {
        self.late
            .push(((pass, span.start), ReadFailure::new(message, span, line)));
    }
}

fn closes(kind: &Tok) -> bool {
    matches!(kind, Tok::Op(Op::RBracket | Op::RParen | Op::RBrace))
}

/// The innermost bracket that is still open after some tokens, or the open tag itself.
fn opened<'t>(tokens: impl Iterator<Item = &'t Token>) -> Option<&'t Token> {
    let mut open: Vec<&Token> = Vec::new();
    for token in tokens {
        match token.kind {
            Tok::BlockBegin | Tok::VariableBegin => open = vec![token],
            Tok::BlockEnd | Tok::VariableEnd => open.clear(),
            Tok::Op(Op::LBracket | Op::LParen | Op::LBrace) => open.push(token),
            ref kind if closes(kind) && open.len() > 1 => {
                open.pop();
            }
            _ => (),
        }
    }
    open.pop()
}
