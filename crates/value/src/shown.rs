//! Texts that people read: how long they are, and which characters of them do something where they are shown.

use std::borrow::Cow;

/// Limit on the characters of a text in a message.
const LONGEST: usize = 4_000;
/// The number of characters kept from the end of the text: the last line of an exception often has the reason.
const END: usize = 800;

/// A text for a message: one that is too long is cut in its middle, and says how much is left out.
///
/// ```
/// use mapstack_value::cut;
/// assert_eq!(cut("short"), "short");
/// let long = cut(&"é".repeat(1_000_000)).into_owned();
/// assert!(long.contains("é… (996000 characters left out) …é"));
/// assert_eq!(long.matches('é').count(), 4_000);
/// ```
#[must_use]
pub fn cut(text: &str) -> Cow<'_, str> {
    // No text has more characters than bytes.
    if text.len() <= LONGEST || text.chars().nth(LONGEST).is_none() {
        return Cow::Borrowed(text);
    }
    let begin = text.char_indices().nth(LONGEST - END);
    let end = text.char_indices().rev().nth(END - 1);
    let (begin, end) = (begin.map_or(0, |(at, _)| at), end.map_or(0, |(at, _)| at));
    let left_out = text[begin..end].chars().count();
    Cow::Owned(format!(
        "{}… ({left_out} characters left out) …{}",
        &text[..begin],
        &text[end..]
    ))
}

/// True if a character does something where it is shown: a control character, or one that turns the direction of what
/// follows.
#[must_use]
pub fn is_acting(c: char) -> bool {
    let turns = matches!(
        c,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    );
    c.is_control() || turns
}

/// True if a text is printable ASCII and line breaks, which is quicker to say than that no character of it
/// [acts](is_acting).
///
/// ```
/// use mapstack_value::is_plain;
/// assert!(is_plain("a b\n") && !is_plain("\u{1b}[8m") && !is_plain("ü"));
/// ```
#[must_use]
pub fn is_plain(text: &str) -> bool {
    // A fold looks at many bytes at once.
    let has_others = |piece: &[u8]| {
        piece.iter().fold(false, |has, byte| {
            has | !matches!(byte, b'\n' | b' '..=b'~')
        })
    };
    !text.as_bytes().chunks(256).any(has_others)
}

/// The characters that make a text a command to the CI service whose log it is printed to, by their bytes: `::` where a
/// line begins, and `##[` anywhere.
///
/// ```
/// use mapstack_value::commands;
/// assert_eq!(commands("a::b\n ::error::x"), [6]);
/// assert_eq!(commands("a ##[error]x"), [4]);
/// assert!(commands("::1\n::ffff:1").is_empty());
/// ```
#[must_use]
pub fn commands(text: &str) -> Vec<usize> {
    if !text.contains("::") && !text.contains("##[") {
        return Vec::new();
    }
    let (mut found, mut begins) = (Vec::new(), true);
    for (at, c) in text.char_indices() {
        let is_command = match c {
            ':' => begins && begins_command(text[at..].lines().next().unwrap_or_default()),
            '[' => text[..at].ends_with("##"),
            _ => false,
        };
        if is_command {
            found.push(at);
        }
        begins = matches!(c, '\n' | '\r') || (begins && c.is_whitespace());
    }
    found
}

/// True if a line begins as such a command does: `::`, its name, and a second `::` behind it. An address of IPv6 does not.
fn begins_command(line: &str) -> bool {
    line.strip_prefix("::").is_some_and(|rest| {
        rest.starts_with(|c: char| c.is_ascii_alphabetic()) && rest.contains("::")
    })
}
