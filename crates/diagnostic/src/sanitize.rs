//! Characters of data that do something where a message is shown.

pub use mapstack_value::is_acting;
use mapstack_value::{commands, is_printable};

/// The text with the names of characters that cannot be seen or that [act](is_acting), such as `<U+200B>`; line breaks
/// stay, and control characters are replaced. No line is a [command](commands) to a CI service.
///
/// ```
/// use mapstack_diagnostic::sanitize;
/// assert_eq!(sanitize("a\n\u{1b}[2J\u{202e}b"), "a\n\u{fffd}[2J<U+202E>b");
/// assert_eq!(sanitize("a\n::error::b"), "a\n<U+003A>:error::b");
/// assert_eq!(sanitize("id\u{200b} or\u{a0}id"), "id<U+200B> or<U+00A0>id");
/// ```
#[must_use]
pub fn sanitize(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let commands = commands(text);
    for (at, c) in text.char_indices() {
        match c {
            c if commands.binary_search(&at).is_ok() => shown.push_str(&named(c)),
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
