//! Characters of data that do something where a message is shown.

/// True if a character does something where it is shown: a control character, or one that turns the direction of what
/// follows.
#[must_use]
pub fn is_acting(c: char) -> bool {
    let turns =
        matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    c.is_control() || turns
}

/// The text with a replacement character for each [that acts](is_acting), except for line breaks.
///
/// ```
/// assert_eq!(mapstack_diagnostic::sanitize("a\n\u{1b}[2J\u{202e}b"), "a\n\u{fffd}[2J\u{fffd}b");
/// ```
#[must_use]
pub fn sanitize(text: &str) -> String {
    let shown = |c| match c {
        '\n' => c,
        c if is_acting(c) => '\u{fffd}',
        c => c,
    };
    text.chars().map(shown).collect()
}
