//! The grammar, one function per production.

use nom::bytes::complete::{is_not, tag, take_till};
use nom::character::complete::char;
use nom::combinator::{opt, rest, verify};
use nom::multi::separated_list1;
use nom::sequence::terminated;
use nom::{IResult, Parser};

use crate::error::{ParseError, Problem};
use crate::path::has_file_suffix;
use crate::{Definition, Matcher, MatcherKind, Mode, Spelling};

type Parsed<'t, T> = IResult<&'t str, T>;

/// `["Y!"] single *("|" single)`
pub(crate) fn definition(text: &str, mode: Mode) -> Result<Definition, ParseError> {
    let fail = |at: &str, problem| ParseError::new(text, at, mode, problem);
    // None of the productions can fail: every text has some reading as pieces.
    let (chain, prefix) = prefix(text).unwrap_or((text, None));
    if prefix.is_some() && mode == Mode::Path {
        return Err(fail(&text[..2], Problem::YamlInPathMode));
    }
    let (_, singles) = singles(chain).unwrap_or(("", vec![chain]));
    let mut matchers: Vec<Matcher> = Vec::with_capacity(singles.len());
    let mut spelling = if prefix.is_some() { Spelling::Prefix } else { Spelling::Plain };
    let mut yaml = prefix.is_some();
    for single in singles {
        let read = read_single(single, mode).map_err(|(at, problem)| fail(at, problem))?;
        if matchers.is_empty() {
            yaml |= read.yaml;
            if read.legacy && spelling == Spelling::Plain {
                spelling = Spelling::Legacy;
            }
        } else if read.yaml {
            return Err(fail(single, Problem::YamlInsideChain));
        }
        if matchers.last().is_some_and(|last| last.kind == MatcherKind::Static && has_file_suffix(&last.query)) {
            return Err(fail(single, Problem::AfterFile));
        }
        matchers.push(read.matcher);
    }
    Ok(Definition { matchers, yaml, spelling })
}

/// `["Y!"]`
fn prefix(text: &str) -> Parsed<'_, Option<&str>> {
    opt(tag("Y!")).parse(text)
}

/// `single *("|" single)`
fn singles(text: &str) -> Parsed<'_, Vec<&str>> {
    separated_list1(char('|'), take_till(|c| c == '|')).parse(text)
}

/// `[head "@"]`
fn head(single: &str) -> Parsed<'_, Option<&str>> {
    opt(terminated(take_till(|c| c == '@'), char('@'))).parse(single)
}

/// `query *("@" ignored)`
fn query(text: &str) -> Parsed<'_, &str> {
    terminated(take_till(|c| c == '@'), rest).parse(text)
}

/// `type [":" options [":" delimiter *(":" ignored)]]`
fn pieces(head: &str) -> Parsed<'_, Vec<&str>> {
    separated_list1(char(':'), take_till(|c| c == ':')).parse(head)
}

/// `option *("," option)`
fn options(piece: &str) -> Parsed<'_, Vec<&str>> {
    separated_list1(char(','), take_till(|c| c == ',')).parse(piece)
}

/// One letter that stands for a kind.
fn kind(piece: &str) -> Option<MatcherKind> {
    let letter: Parsed<'_, &str> = verify(is_not(" "), |s: &str| s.len() == piece.len()).parse(piece);
    let letter = letter.ok()?.1;
    MatcherKind::ALL.into_iter().find(|k| letter.len() == 1 && letter.starts_with(k.letter()))
}

struct Single {
    matcher: Matcher,
    /// Whether it leads to files on its own.
    yaml: bool,
    legacy: bool,
}

type At<'t, T> = Result<T, (&'t str, Problem)>;

fn read_single(single: &str, mode: Mode) -> At<'_, Single> {
    match head(single) {
        Ok((text, Some(head))) => {
            let query = query(text).map_or(text, |(_, query)| query);
            read_typed(single, head, query, mode)
        }
        _ => read_bare(single, mode),
    }
}

/// Without a type: a path if it looks like a file's name, else a configuration query.
fn read_bare(single: &str, mode: Mode) -> At<'_, Single> {
    let is_file = single.ends_with(".yaml") || single.ends_with(".jinja");
    if is_file && mode == Mode::Path {
        return Err((single, Problem::YamlInPathMode));
    }
    let kind = if is_file { MatcherKind::Static } else { MatcherKind::Config };
    let matcher = Matcher { kind, query: single.into(), options: Vec::new(), delimiter: ":".into(), bare: true };
    Ok(Single { matcher, yaml: is_file || mode == Mode::Layer, legacy: false })
}

fn read_typed<'t>(single: &'t str, head: &'t str, query: &'t str, mode: Mode) -> At<'t, Single> {
    let pieces = pieces(head).map_or_else(|_| vec![head], |(_, pieces)| pieces);
    let piece = |i: usize| pieces.get(i).copied().unwrap_or_default();
    // A fourth, empty piece is how a delimiter of `:` is written.
    let delimiter = match (pieces.get(3), piece(2)) {
        (Some(&""), _) | (_, "") => ":",
        (_, delimiter) => delimiter,
    };
    let legacy = piece(0) == "Y";
    if legacy && mode == Mode::Path {
        return Err((single, Problem::YamlInPathMode));
    }
    let (wanted, options) = match (legacy, piece(1)) {
        (true, "") => ("C", Vec::new()),
        (true, subtype) => (subtype, Vec::new()),
        (false, "") => (piece(0), Vec::new()),
        (false, list) => (piece(0), options(list).map_or_else(|_| vec![list], |(_, options)| options)),
    };
    let kind = kind(wanted).ok_or_else(|| {
        let at = if wanted.is_empty() { &single[..1] } else { wanted };
        (at, Problem::UnknownType { found: wanted.into() })
    })?;
    let matcher = Matcher {
        kind,
        query: query.into(),
        options: options.into_iter().map(Into::into).collect(),
        delimiter: delimiter.into(),
        bare: false,
    };
    Ok(Single { matcher, yaml: legacy, legacy })
}

/// Whether a text is a definition, without working out what to suggest if it is not.
pub(crate) fn accepts(text: &str, mode: Mode) -> bool {
    let (chain, prefix) = prefix(text).unwrap_or((text, None));
    if prefix.is_some() && mode == Mode::Path {
        return false;
    }
    let (_, singles) = singles(chain).unwrap_or(("", vec![chain]));
    let mut after_file = false;
    singles.into_iter().enumerate().all(|(i, single)| match read_single(single, mode) {
        Ok(read) => {
            let fits = !after_file && (i == 0 || !read.yaml);
            after_file = read.matcher.kind == MatcherKind::Static && has_file_suffix(&read.matcher.query);
            fits
        }
        Err(_) => false,
    })
}
