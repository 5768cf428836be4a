//! Characters of data that do something where a message is shown.

use mapstack_value::pytext::is_printable;

/// True if a character does something where it is shown: a control character, or one that turns the direction of what
/// follows.
#[must_use]
pub fn is_acting(c: char) -> bool {
    let turns =
        matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    c.is_control() || turns
}

/// The text with the names of characters that cannot be seen or that [act](is_acting), such as `<U+200B>`; line breaks
/// stay, and control characters are replaced.
///
/// ```
/// use mapstack_diagnostic::sanitize;
/// assert_eq!(sanitize("a\n\u{1b}[2J\u{202e}b"), "a\n\u{fffd}[2J<U+202E>b");
/// assert_eq!(sanitize("id\u{200b} or\u{a0}id"), "id<U+200B> or<U+00A0>id");
/// ```
#[must_use]
pub fn sanitize(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' => shown.push(c),
            c if c.is_control() => shown.push('\u{fffd}'),
            c if is_printable(c) => shown.push(c),
            c => shown.push_str(&named(c)),
        }
    }
    shown
}

/// The name of a character that cannot be seen.
///
/// ```
/// assert_eq!(mapstack_diagnostic::named('\u{a0}'), "<U+00A0>");
/// ```
#[must_use]
pub fn named(c: char) -> String {
    format!("<U+{:04X}>", u32::from(c))
}
