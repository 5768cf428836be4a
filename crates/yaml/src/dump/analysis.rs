//! The styles that a text's characters allow.

use super::DumpOptions;
use mapstack_value::is_acting;

use crate::decode::is_break;

/// The ways of writing a text that would read back as the same text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Analysis {
    /// It has line breaks.
    pub multiline: bool,
    /// Without quotes, inside brackets.
    pub flow_plain: bool,
    /// Without quotes, elsewhere.
    pub block_plain: bool,
    /// In single quotes.
    pub single_quoted: bool,
    /// As a literal block.
    pub block: bool,
}

/// True if the emitter writes a character as itself.
pub(super) fn is_printable(c: char, options: &DumpOptions) -> bool {
    match c {
        '\n' | ' '..='~' => true,
        _ if options.escape_non_ascii => false,
        _ if options.escape_acting && is_acting(c) => false,
        '\u{a0}'..='\u{fefe}' | '\u{ff00}'..='\u{fffd}' => true,
        '\u{10000}'.. => !options.escape_astral,
        _ => false,
    }
}

/// True if a character is special to YAML at its place: inside brackets, and elsewhere.
#[inline]
fn indicates(c: char, previous: Option<char>, followed_by_blank: bool) -> (bool, bool) {
    match (c, previous) {
        (
            '#' | ',' | '[' | ']' | '{' | '}' | '&' | '*' | '!' | '|' | '>' | '\'' | '"' | '%'
            | '@' | '`',
            None,
        ) => (true, true),
        (':', _) | ('?', None) => (true, followed_by_blank),
        ('-', None) => (followed_by_blank, followed_by_blank),
        (',' | '?' | '[' | ']' | '{' | '}', Some(_)) => (true, false),
        ('#', Some(before)) => (is_blank(before), is_blank(before)),
        _ => (false, false),
    }
}

/// Look at every character once.
pub(super) fn analyze(text: &str, options: &DumpOptions) -> Analysis {
    if text.is_empty() {
        return Analysis {
            multiline: false,
            flow_plain: false,
            block_plain: true,
            single_quoted: true,
            block: false,
        };
    }
    let marker = text.starts_with("---") || text.starts_with("...");
    let (mut flow_indicator, mut block_indicator) = (marker, marker);
    let (mut multiline, mut special) = (false, false);
    let (mut break_space, mut space_break) = (false, false);
    let mut previous = None;
    special |= options.escape_acting && is_command(text);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let followed_by_blank = chars.peek().is_none_or(|&next| is_blank(next));
        let (in_flow, in_block) = indicates(c, previous, followed_by_blank);
        flow_indicator |= in_flow;
        block_indicator |= in_block;
        special |= !is_printable(c, options);
        multiline |= is_break(c);
        break_space |= c == ' ' && previous.is_some_and(is_break);
        space_break |= is_break(c) && previous == Some(' ');
        previous = Some(c);
    }
    let edge = |c: char| c == ' ' || is_break(c);
    let plain = !(text.starts_with(edge)
        || text.ends_with(edge)
        || break_space
        || space_break
        || special
        || multiline);
    Analysis {
        multiline,
        flow_plain: plain && !flow_indicator,
        block_plain: plain && !block_indicator,
        single_quoted: !(break_space || space_break || special),
        block: !(text.ends_with(' ') || space_break || special),
    }
}

/// True if a text could become a command to a CI service, wherever its lines are broken and whatever is behind it.
fn is_command(text: &str) -> bool {
    text.contains("##[")
        || text.match_indices("::").any(|(at, _)| {
            let before = text[..at].chars().next_back();
            let name = text[at + 2..].chars().next();
            before.is_none_or(char::is_whitespace) && name.is_some_and(|c| c.is_ascii_alphabetic())
        })
}

fn is_blank(c: char) -> bool {
    c == ' ' || c == '\t' || is_break(c)
}
