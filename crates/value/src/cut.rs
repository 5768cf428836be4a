//! Texts that are too long for a message.

use std::borrow::Cow;

/// Limit on the characters of a text in a message.
const LONGEST: usize = 4_000;
/// How many of them are the end of the text: what an exception says last is often why.
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
