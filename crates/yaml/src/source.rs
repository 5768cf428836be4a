//! The events of a text: `libyaml-safer`'s, made safe for every input.
//!
//! The library is a port of libyaml and has its grammar. Three of its scanner's functions end in
//! a panic where libyaml reads on, so texts are arranged never to get there:
//!
//! * The scanner cannot end a block scalar or an escape at the end of the text. A text that ends
//!   without a line break gets one; a kind of break the text's own end does not use, so that it
//!   can be distinguished from the text's own and taken out of the scalar again.
//! * A tag directly before a comma (`[!!str, x]`) panics. Where the library's own scanner finds
//!   one, a space is put between, and positions are moved back.
//! * Guessing the encoding fails on texts that start with a character such as `Ａ`, so the
//!   encoding is given.

use std::borrow::Cow;
use std::io::{Chain, Read};

use libyaml_safer::{Encoding, EventData, Parser, ScalarStyle, Scanner, TokenData};

use crate::decode::{is_break, mark_after, without_bom};
use crate::error::{SyntaxSpot, syntax};
use crate::{Error, ErrorKind, Mark, SyntaxStage};

/// A text ready to be parsed.
pub(crate) struct Source<'t> {
    text: Cow<'t, str>,
    /// The line break added at the end.
    added_break: Option<char>,
    /// Offsets in `text` of the spaces put behind tags, ascending.
    added_spaces: Vec<usize>,
}

impl<'t> Source<'t> {
    pub fn new(text: &'t str) -> Result<Self, Error> {
        let text = without_bom(text);
        check_directives(text)?;
        let added_break = missing_break(text);
        let tags = tags_before_commas(text)?;
        let spaced = if tags.is_empty() {
            Cow::Borrowed(text)
        } else {
            Cow::Owned(with_spaces(text, &tags))
        };
        let added_spaces = tags.iter().enumerate().map(|(i, at)| at + i).collect();
        Ok(Source {
            text: spaced,
            added_break,
            added_spaces,
        })
    }

    pub fn events(&self) -> Events<'_> {
        let mut buffer = [0; 4];
        let tail = self.added_break.map_or("", |c| c.encode_utf8(&mut buffer));
        let mut parser = Parser::new();
        parser.set_encoding(Encoding::Utf8);
        parser.set_input(self.text.as_bytes().chain(static_break(tail)));
        Events {
            parser,
            source: self,
            end: (self.text.len() + tail.len()) as u64,
        }
    }

    /// Whether the brace at a position is the second of two.
    pub fn is_second_brace(&self, mark: &libyaml_safer::Mark) -> bool {
        offset(mark)
            .checked_sub(1)
            .and_then(|before| self.text.get(before..))
            .is_some_and(|rest| rest.starts_with("{{"))
    }

    /// A position in the text as it was given.
    pub fn mark(&self, mark: &libyaml_safer::Mark) -> Mark {
        let here = offset(mark);
        let on_this_line = |&&at: &&usize| {
            self.text
                .get(at..here)
                .is_some_and(|between| !between.contains(is_break))
        };
        let shift = self
            .added_spaces
            .iter()
            .rev()
            .skip_while(|&&at| at >= here)
            .take_while(on_this_line)
            .count();
        let column = (mark.column + 1).saturating_sub(shift as u64);
        Mark {
            line: narrow(mark.line + 1),
            column: narrow(column),
        }
    }

    fn error(&self, error: &libyaml_safer::Error) -> Error {
        let Some(at) = error.problem_mark() else {
            return self.forbidden_character();
        };
        let here = offset(&at).min(self.text.len());
        if here
            .checked_sub(1)
            .is_some_and(|space| self.added_spaces.binary_search(&space).is_ok())
        {
            // Outside of brackets, where a comma cannot follow a tag at all.
            let problem = "a comma touches a tag".to_owned();
            let advice = "quote a value that starts with `!`, or put a space behind the tag";
            return Error::new(
                ErrorKind::Syntax {
                    stage: SyntaxStage::Scanner,
                    problem,
                    advice,
                },
                self.mark(&at),
            );
        }
        let before = self.text.get(..here).unwrap_or_default();
        let after = self.text.get(here..).unwrap_or_default();
        let start = before.rfind(is_break).map_or(0, |i| {
            i + before[i..].chars().next().map_or(1, char::len_utf8)
        });
        let end = here + after.find(is_break).unwrap_or(after.len());
        let place = SyntaxSpot {
            mark: self.mark(&at),
            character: after.chars().next(),
            line: self.text.get(start..end).unwrap_or_default(),
        };
        syntax(
            error,
            &place,
            error.context_mark().map(|mark| self.mark(&mark)),
        )
    }

    /// The reader refuses nothing but characters, and says no position.
    fn forbidden_character(&self) -> Error {
        let (at, character) = self
            .text
            .char_indices()
            .find(|&(_, c)| !is_readable(c))
            .unwrap_or((0, '\0'));
        Error::new(
            ErrorKind::ForbiddenCharacter { character },
            mark_after(&self.text[..at]),
        )
    }
}

/// The event stream of a [`Source`].
pub(crate) struct Events<'s> {
    parser: Parser<Chain<&'s [u8], &'static [u8]>>,
    source: &'s Source<'s>,
    /// Length of the text with its added line break.
    end: u64,
}

/// One event and where it starts.
pub(crate) struct Event {
    pub data: EventData,
    pub at: libyaml_safer::Mark,
}

impl Events<'_> {
    pub fn next(&mut self) -> Result<Event, Error> {
        let mut event = self.parser.parse().map_err(|e| self.source.error(&e))?;
        if let EventData::Scalar {
            value,
            style: ScalarStyle::Literal | ScalarStyle::Folded,
            ..
        } = &mut event.data
            && let Some(added) = self.source.added_break
            && event.end_mark.index == self.end
            && value.ends_with(added)
        {
            value.pop();
        }
        Ok(Event {
            data: event.data,
            at: event.start_mark,
        })
    }
}

/// Characters of the YAML 1.1 reader.
fn is_readable(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | ' '..='~' | '\u{85}' | '\u{a0}'..='\u{fffd}' | '\u{10000}'..)
}

fn offset(mark: &libyaml_safer::Mark) -> usize {
    usize::try_from(mark.index).unwrap_or(usize::MAX)
}

fn narrow(n: u64) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

const LINE_SEPARATOR: char = '\u{2028}';
const PARAGRAPH_SEPARATOR: char = '\u{2029}';

/// The line break to add, if the text ends without one.
fn missing_break(text: &str) -> Option<char> {
    if text.is_empty() || text.ends_with(is_break) {
        return None;
    }
    let blank = |c| is_break(c) || c == ' ' || c == '\t';
    let tail = &text[text.trim_end_matches(blank).len()..];
    Some(if tail.contains(LINE_SEPARATOR) {
        PARAGRAPH_SEPARATOR
    } else {
        LINE_SEPARATOR
    })
}

fn static_break(tail: &str) -> &'static [u8] {
    match tail {
        "\u{2028}" => "\u{2028}".as_bytes(),
        "\u{2029}" => "\u{2029}".as_bytes(),
        _ => b"",
    }
}

fn with_spaces(text: &str, offsets: &[usize]) -> String {
    let mut out = String::with_capacity(text.len() + offsets.len());
    let mut done = 0;
    for &at in offsets {
        out.push_str(&text[done..at]);
        out.push(' ');
        done = at;
    }
    out.push_str(&text[done..]);
    out
}

/// How many bytes may be scanned in search of tags that end in a colon.
const MAX_PROBED: usize = 64 << 20;

/// More `%TAG` directives than this before one document are refused: the parser compares each with all before it.
const MAX_DIRECTIVES: usize = 100;

/// Refuse a text with too many `%TAG` directives before one of its documents.
fn check_directives(text: &str) -> Result<(), Error> {
    let lines = text
        .split(is_break)
        .filter(|line| line.starts_with("%TAG"))
        .count();
    if lines <= MAX_DIRECTIVES {
        return Ok(());
    }
    // Only the scanner knows which of the lines are directives.
    let mut found = 0;
    for token in scanner(text).map_while(Result::ok) {
        match token.data {
            TokenData::TagDirective { .. } => found += 1,
            TokenData::DocumentStart | TokenData::DocumentEnd => found = 0,
            _ => {}
        }
        if found > MAX_DIRECTIVES {
            let kind = ErrorKind::Syntax {
                stage: SyntaxStage::Parser,
                problem: format!(
                    "more than {MAX_DIRECTIVES} %TAG directives stand before one document"
                ),
                advice: "remove those that no tag uses",
            };
            let at = usize::try_from(token.start_mark.index).unwrap_or(usize::MAX);
            return Err(Error::new(kind, mark_after(text.get(..at).unwrap_or(text))));
        }
    }
    Ok(())
}

/// Offsets of the commas that directly follow a tag inside brackets.
///
/// Only the scanner knows whether a `!` starts a tag, so it runs over the text with a space
/// before every comma in question. The space ends a tag, and changes no other token's bounds.
fn tags_before_commas(text: &str) -> Result<Vec<usize>, Error> {
    let (colons, mut commas): (Vec<_>, Vec<_>) = commas_in_question(text)
        .into_iter()
        .partition(|&at| text[..at].ends_with(':'));
    settle_colons(text, &colons, &mut commas)?;
    if commas.is_empty() {
        return Ok(commas);
    }
    let mut spaced = with_spaces(text, &commas);
    spaced.extend(missing_break(text));
    // A text the scanner refuses keeps all its spaces: it is refused again, whatever its scalars.
    if let Some(tags) = tag_ends(&spaced) {
        let mut spaces_before = 0;
        commas.retain(|at| {
            let end = (at + spaces_before) as u64;
            spaces_before += 1;
            tags.binary_search(&end).is_ok()
        });
    }
    Ok(commas)
}

/// Add the commas behind a colon that is the end of a tag.
///
/// Where it is not, a space would make it the end of a key. So each is tried with the text before
/// it and a quote in the comma's place: that is an error right there behind a tag, and only there.
fn settle_colons(text: &str, colons: &[usize], commas: &mut Vec<usize>) -> Result<(), Error> {
    let mut probed = 0_usize;
    for &comma in colons {
        probed = probed.saturating_add(comma);
        if probed > MAX_PROBED {
            let kind = ErrorKind::Syntax {
                stage: SyntaxStage::Scanner,
                problem: "too many commas follow what may be a tag ending in a colon".to_owned(),
                advice: "put a space before each of them",
            };
            return Err(Error::new(kind, mark_after(&text[..comma])));
        }
        let before = commas.partition_point(|&at| at < comma);
        let mut probe = with_spaces(&text[..comma], &commas[..before]);
        let end = probe.len() as u64;
        probe.push_str("\"\n");
        let stopped_behind_a_tag = scanner(&probe).find_map(Result::err).is_some_and(|error| {
            error.context() == Some("while scanning a tag")
                && error.problem_mark().is_some_and(|at| at.index == end)
        });
        if stopped_behind_a_tag {
            commas.insert(before, comma);
        }
    }
    Ok(())
}

/// Where tags inside brackets end, if the scanner likes the text.
fn tag_ends(text: &str) -> Option<Vec<u64>> {
    let (mut ends, mut depth) = (Vec::new(), 0_usize);
    for token in scanner(text) {
        let token = token.ok()?;
        match token.data {
            TokenData::FlowSequenceStart | TokenData::FlowMappingStart => depth += 1,
            TokenData::FlowSequenceEnd | TokenData::FlowMappingEnd => {
                depth = depth.saturating_sub(1);
            }
            TokenData::Tag { .. } if depth > 0 => ends.push(token.end_mark.index),
            _ => {}
        }
    }
    Some(ends)
}

fn scanner(text: &str) -> Scanner<&[u8]> {
    let mut scanner = Scanner::new();
    scanner.set_encoding(Encoding::Utf8);
    scanner.set_input(text.as_bytes());
    scanner
}

/// Offsets of commas behind something with the characters of a tag.
fn commas_in_question(text: &str) -> Vec<usize> {
    if !text.contains('!') {
        return Vec::new();
    }
    text.match_indices(',')
        .map(|(at, _)| at)
        .filter(|&at| may_end_in_tag(&text.as_bytes()[..at]))
        .collect()
}

fn may_end_in_tag(text: &[u8]) -> bool {
    let shorthand_byte = |b: u8| b.is_ascii_alphanumeric() || b"-_;/?:@&=+$.%!~*'()".contains(&b);
    if let Some(inside) = text.strip_suffix(b">") {
        let uri = inside
            .iter()
            .rev()
            .take_while(|&&b| shorthand_byte(b) || b",[]".contains(&b))
            .count();
        return inside[..inside.len() - uri].ends_with(b"!<");
    }
    let run = text
        .iter()
        .rev()
        .take_while(|&&b| shorthand_byte(b))
        .count();
    let (before, run) = text.split_at(text.len() - run);
    // A tag starts behind a blank, a bracket, a comma, a quote, or an indicator inside brackets.
    let starts_token = |i: usize| match i.checked_sub(1) {
        None => before
            .last()
            .is_none_or(|&b| !b.is_ascii_graphic() || b"[]{},\"".contains(&b)),
        Some(previous) => matches!(run[previous], b':' | b'?' | b'\''),
    };
    run.iter()
        .enumerate()
        .any(|(i, &b)| b == b'!' && starts_token(i))
}
