//! The grammar, one function a production. A production that fails for good says what is wrong with which piece.

use nom::bytes::complete::{tag, take_till};
use nom::character::complete::char;
use nom::combinator::{consumed, cut, map_opt, opt, rest};
use nom::error::ErrorKind;
use nom::multi::separated_list1;
use nom::sequence::terminated;
use nom::{Finish, IResult, Parser};

use crate::problem::DefinitionProblem;
use crate::{Definition, Matcher, MatcherKind, Mode, Spelling, chain};

/// The problem, and the piece of the text that has it.
#[derive(Debug, PartialEq)]
pub(crate) struct Fault<'t> {
    pub(crate) at: &'t str,
    pub(crate) problem: DefinitionProblem,
}

impl<'t> nom::error::ParseError<&'t str> for Fault<'t> {
    /// A type is all that a piece can fail to be: every other production has some reading of any text.
    fn from_error_kind(at: &'t str, _: ErrorKind) -> Self {
        Fault {
            at,
            problem: DefinitionProblem::UnknownType { found: at.into() },
        }
    }

    fn append(_: &'t str, _: ErrorKind, inner: Self) -> Self {
        inner
    }
}

type ParserResult<'t, T> = IResult<&'t str, T, Fault<'t>>;

/// Read a text as one definition.
pub(crate) fn read(text: &str, mode: Mode) -> Result<Definition, Fault<'_>> {
    definition(text, mode)
        .finish()
        .map(|(_, definition)| definition)
}

/// `["Y!"] single *("|" single)`
fn definition(text: &str, mode: Mode) -> ParserResult<'_, Definition> {
    let (mut text, prefix) = opt(tag("Y!")).parse(text)?;
    if let (Some(at), Mode::Path) = (prefix, mode) {
        return failure(at, DefinitionProblem::YamlInPathMode);
    }
    let mut matchers: Vec<Matcher> = Vec::new();
    let mut spelling = if prefix.is_some() {
        Spelling::Prefix
    } else {
        Spelling::Plain
    };
    loop {
        let (after, (at, (legacy, matcher))) = consumed(|text| single(text, mode)).parse(text)?;
        let fits = match matchers.last() {
            None => {
                if legacy && spelling == Spelling::Plain {
                    spelling = Spelling::Legacy;
                }
                chain::begins(&matcher, spelling, mode)
            }
            Some(_) if legacy => Err(DefinitionProblem::YamlInsideChain),
            Some(previous) => chain::follows(previous, &matcher, mode),
        };
        matchers.push(matcher);
        let (after, separator) = opt(char('|')).parse(after)?;
        match (fits, separator) {
            (Err(problem), _) => return failure(at, problem),
            (Ok(()), Some(_)) => text = after,
            (Ok(()), None) => {
                return Ok((
                    after,
                    Definition {
                        matchers,
                        spelling,
                        mode,
                    },
                ));
            }
        }
    }
}

/// `[head "@"] query *("@" ignored)`, and whether the head is the old one
fn single(text: &str, mode: Mode) -> ParserResult<'_, (bool, Matcher)> {
    let (after, (at, (head_text, query))) =
        consumed((opt(terminated(piece, char('@'))), query)).parse(text)?;
    let Some(head_text) = head_text else {
        let matcher = Matcher::untyped_unchecked(query.into());
        return match chain::stands_alone(&matcher, mode) {
            Ok(()) => Ok((after, (false, matcher))),
            Err(problem) => failure(at, problem),
        };
    };
    let (_, pieces) = head(head_text)?;
    if pieces.legacy && mode == Mode::Path {
        return failure(at, DefinitionProblem::YamlInPathMode);
    }
    let (_, kind) = kind(pieces.kind)?;
    let matcher = Matcher {
        options: pieces.options.into_iter().map(Into::into).collect(),
        delimiter: pieces.delimiter.into(),
        ..Matcher::unchecked(kind, query.into(), true)
    };
    Ok((after, (pieces.legacy, matcher)))
}

/// Everything up to what ends a head or a query.
fn piece(text: &str) -> ParserResult<'_, &str> {
    take_till(|c| c == '@' || c == '|').parse(text)
}

/// `query *("@" ignored)`
fn query(text: &str) -> ParserResult<'_, &str> {
    terminated(piece, take_till(|c| c == '|')).parse(text)
}

/// The pieces of a head; the type is not yet looked at.
struct Head<'t> {
    legacy: bool,
    kind: &'t str,
    options: Vec<&'t str>,
    delimiter: &'t str,
}

/// `type [":" options [":" delimiter *(":" ignored)]] | "Y" [":" type [":" delimiter *(":" ignored)]]`
fn head(text: &str) -> ParserResult<'_, Head<'_>> {
    let (after, pieces) = separated_list1(char(':'), take_till(|c| c == ':')).parse(text)?;
    let piece = |i: usize| pieces.get(i).copied().unwrap_or_default();
    // A fourth, empty piece is how a delimiter of `:` is written.
    let delimiter = match (pieces.get(3), piece(2)) {
        (Some(&""), _) | (_, "") => ":",
        (_, delimiter) => delimiter,
    };
    let legacy = piece(0) == "Y";
    let kind = match (legacy, piece(1)) {
        (true, "") => "C",
        (true, kind) => kind,
        (false, _) => piece(0),
    };
    let (_, options) = match (legacy, piece(1)) {
        (true, _) | (_, "") => ("", Vec::new()),
        (false, list) => options(list)?,
    };
    Ok((
        after,
        Head {
            legacy,
            kind,
            options,
            delimiter,
        },
    ))
}

/// `option *("," option)`
fn options(text: &str) -> ParserResult<'_, Vec<&str>> {
    separated_list1(char(','), take_till(|c| c == ',')).parse(text)
}

/// `"C" | "G" | "I" | "M" | "U" | "P"`
fn kind(text: &str) -> ParserResult<'_, MatcherKind> {
    cut(map_opt(rest, MatcherKind::of_letter)).parse(text)
}

fn failure<T>(at: &str, problem: DefinitionProblem) -> ParserResult<'_, T> {
    Err(nom::Err::Failure(Fault { at, problem }))
}
