//! Markup as markupsafe escapes and strips it.

use crate::pytext::classes::is_space;
use crate::pytext::split::by_space;

/// `markupsafe.escape` of plain text.
///
/// ```
/// assert_eq!(mapstack_value::pytext::markup::escape("a<b"), "a&lt;b");
/// ```
#[must_use]
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\'' => out.push_str("&#39;"),
            '"' => out.push_str("&#34;"),
            c => out.push(c),
        }
    }
    out
}

/// The text without comments, tags and runs of white space, and with its entities resolved
/// (`markupsafe.Markup.striptags`).
///
/// ```
/// assert_eq!(mapstack_value::pytext::markup::strip_tags("<b>a</b>  &amp; b"), "a & b");
/// ```
#[must_use]
pub fn strip_tags(s: &str) -> String {
    let without_comments = cut(s, "<!--", "-->");
    let without_tags = cut(&without_comments, "<", ">");
    unescape(&by_space(&without_tags, usize::MAX, false, is_space).join(" "))
}

/// The text without the parts between two marks.
fn cut(s: &str, open: &str, close: &str) -> String {
    let mut out = String::with_capacity(s.len());
    let mut rest = s;
    while let Some((before, after)) = rest.split_once(open) {
        let Some((_, after)) = after.split_once(close) else {
            break;
        };
        out.push_str(before);
        rest = after;
    }
    out + rest
}

/// `html.unescape` for numbers and the common names.
///
/// ```
/// assert_eq!(mapstack_value::pytext::markup::unescape("&#39;&lt;"), "'<");
/// ```
#[must_use]
pub fn unescape(s: &str) -> String {
    let mut out = String::with_capacity(s.len());
    let mut rest = s;
    while let Some((before, after)) = rest.split_once('&') {
        out.push_str(before);
        let end = after
            .find(|c: char| !c.is_ascii_alphanumeric() && c != '#')
            .unwrap_or(after.len());
        let (name, tail) = after.split_at(end);
        match entity(name) {
            Some(c) => {
                out.push(c);
                rest = tail.strip_prefix(';').unwrap_or(tail);
            }
            None => {
                out.push('&');
                rest = after;
            }
        }
    }
    out + rest
}

fn entity(name: &str) -> Option<char> {
    if let Some(number) = name.strip_prefix('#') {
        let number = match number.strip_prefix(['x', 'X']) {
            Some(hex) => u32::from_str_radix(hex, 16),
            None => number.parse(),
        };
        return number.ok().map(|n| {
            char::from_u32(n)
                .filter(|c| *c != '\0')
                .unwrap_or('\u{fffd}')
        });
    }
    ENTITIES
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, c)| *c)
}

const ENTITIES: &[(&str, char)] = &[
    ("amp", '&'),
    ("lt", '<'),
    ("gt", '>'),
    ("quot", '"'),
    ("apos", '\''),
    ("nbsp", '\u{a0}'),
    ("copy", '©'),
    ("reg", '®'),
    ("trade", '™'),
    ("deg", '°'),
    ("hellip", '…'),
    ("mdash", '—'),
    ("ndash", '–'),
    ("laquo", '«'),
    ("raquo", '»'),
    ("lsquo", '‘'),
    ("rsquo", '’'),
    ("ldquo", '“'),
    ("rdquo", '”'),
    ("bull", '•'),
    ("middot", '·'),
    ("para", '¶'),
    ("sect", '§'),
    ("euro", '€'),
    ("pound", '£'),
    ("yen", '¥'),
    ("cent", '¢'),
    ("times", '×'),
    ("divide", '÷'),
    ("auml", 'ä'),
    ("ouml", 'ö'),
    ("uuml", 'ü'),
    ("Auml", 'Ä'),
    ("Ouml", 'Ö'),
    ("Uuml", 'Ü'),
    ("szlig", 'ß'),
    ("eacute", 'é'),
    ("egrave", 'è'),
    ("agrave", 'à'),
    ("ccedil", 'ç'),
];
