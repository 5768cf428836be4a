//! Cutting text.

/// The ends to strip.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StripEnds {
    /// `lstrip`
    Left,
    /// `rstrip`
    Right,
    /// `strip`
    Both,
}

/// Take the characters of a class off the ends.
///
/// ```
/// use mapstack_value::pytext::split::{StripEnds, strip};
/// assert_eq!(strip("xxa", StripEnds::Left, |c| c == 'x'), "a");
/// ```
#[must_use]
pub fn strip(s: &str, side: StripEnds, class: impl Fn(char) -> bool) -> &str {
    let s = if side == StripEnds::Right {
        s
    } else {
        s.trim_start_matches(&class)
    };
    if side == StripEnds::Left {
        s
    } else {
        s.trim_end_matches(&class)
    }
}

/// The words between runs of white space; after `most` cuts the rest stays whole.
///
/// ```
/// use mapstack_value::pytext::{classes::is_space, split::by_space};
/// assert_eq!(by_space(" a b  c", 1, false, is_space), ["a", "b  c"]);
/// ```
#[must_use]
pub fn by_space(s: &str, most: usize, from_right: bool, space: fn(char) -> bool) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = s;
    loop {
        rest = strip(
            rest,
            if from_right {
                StripEnds::Right
            } else {
                StripEnds::Left
            },
            space,
        );
        if rest.is_empty() {
            break;
        }
        if parts.len() == most {
            parts.push(rest);
            break;
        }
        let (word, others) = if from_right {
            let start = rest
                .char_indices()
                .rev()
                .find(|(_, c)| space(*c))
                .map_or(0, |(i, c)| i + c.len_utf8());
            (&rest[start..], &rest[..start])
        } else {
            let end = rest.find(space).unwrap_or(rest.len());
            (&rest[..end], &rest[end..])
        };
        parts.push(word);
        rest = others;
    }
    if from_right {
        parts.reverse();
    }
    parts
}

/// The parts between separators; after `most` cuts the rest stays whole.
///
/// ```
/// assert_eq!(mapstack_value::pytext::split::by_text("a,b,c", ",", 1, true), ["a,b", "c"]);
/// ```
#[must_use]
pub fn by_text<'a>(s: &'a str, separator: &str, most: usize, from_right: bool) -> Vec<&'a str> {
    let parts = most.saturating_add(1);
    if !from_right {
        return s.splitn(parts, separator).collect();
    }
    let mut found: Vec<&str> = s.rsplitn(parts, separator).collect();
    found.reverse();
    found
}

/// The text before the separator, the separator, and the text after it.
///
/// ```
/// assert_eq!(mapstack_value::pytext::split::partition("a=b", "=", false), ["a", "=", "b"]);
/// ```
#[must_use]
pub fn partition<'a>(s: &'a str, separator: &'a str, from_right: bool) -> [&'a str; 3] {
    if from_right {
        s.rsplit_once(separator)
            .map_or(["", "", s], |(head, tail)| [head, separator, tail])
    } else {
        s.split_once(separator)
            .map_or([s, "", ""], |(head, tail)| [head, separator, tail])
    }
}

/// True for characters at which `str.splitlines` ends a line.
///
/// ```
/// assert!(mapstack_value::pytext::split::is_line_break('\u{2028}'));
/// ```
#[must_use]
pub fn is_line_break(c: char) -> bool {
    matches!(
        c,
        '\n' | '\r' | '\x0b' | '\x0c' | '\x1c'..='\x1e' | '\u{85}' | '\u{2028}' | '\u{2029}'
    )
}

/// The lines, with their ends if `keep`. `\r\n` is one end.
///
/// ```
/// use mapstack_value::pytext::split::{is_line_break, lines};
/// assert_eq!(lines("a\r\nb", false, is_line_break), ["a", "b"]);
/// ```
#[must_use]
pub fn lines(s: &str, keep: bool, is_break: fn(char) -> bool) -> Vec<&str> {
    let mut lines = Vec::new();
    let mut rest = s;
    while !rest.is_empty() {
        let Some((end, c)) = rest.char_indices().find(|(_, c)| is_break(*c)) else {
            lines.push(rest);
            break;
        };
        let next = if rest[end..].starts_with("\r\n") {
            end + 2
        } else {
            end + c.len_utf8()
        };
        lines.push(&rest[..if keep { next } else { end }]);
        rest = &rest[next..];
    }
    lines
}
