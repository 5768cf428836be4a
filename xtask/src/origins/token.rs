//! Tests if a scalar is at a place of a text, judging only by the text.
//!
//! This reads single scalars as YAML 1.1 and Salt have them, in the simplest way that does: it must be
//! independent of the product's reader.

use serde_json::{Number, Value};

/// The token at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenAt {
    /// The scalar.
    All,
    /// A text that begins as the scalar does, up to the point where a template continues it.
    Beginning,
    /// Something else.
    Other,
}

/// The beginnings of expressions, statements and comments of Jinja and Tera.
const MARKS: [&str; 3] = ["{{", "{%", "{#"];

/// True if a text has anything for a template engine to do.
pub fn is_templated(text: &str) -> bool {
    MARKS.iter().any(|mark| text.contains(mark)) || text.starts_with("#!")
}

/// True if an expression or a statement begins at a byte of a text, or an expression within one.
pub fn is_computing(text: &str, at: usize) -> bool {
    let (Some(before), Some(rest)) = (text.get(..at), text.get(at..)) else {
        return false;
    };
    let last = |marks: [&str; 2]| marks.iter().filter_map(|mark| before.rfind(mark)).max();
    let is_inside = last(["{{", "{%"]) > last(["}}", "%}"]);
    let ends = ["}}", "%}"].iter().any(|mark| rest.starts_with(mark));
    rest.starts_with("{{") || rest.starts_with("{%") || (is_inside && !ends)
}

/// The byte at a line and column, both from 1.
pub fn offset(text: &str, line: u64, column: u64) -> Option<usize> {
    let line = usize::try_from(line.checked_sub(1)?).ok()?;
    let start = match line {
        0 => 0,
        line => text.match_indices('\n').nth(line - 1)?.0 + 1,
    };
    let column = usize::try_from(column.checked_sub(1)?).ok()?;
    let rest = text.get(start..)?;
    rest.char_indices()
        .map(|(at, _)| at)
        .chain([rest.len()])
        .nth(column)
        .map(|at| start + at)
}

/// Find the token at a byte of a text, where a scalar is expected, or a container with nothing in it.
pub fn stands(text: &str, at: usize, expected: &Value) -> TokenAt {
    let Some(rest) = text.get(at..) else {
        return TokenAt::Other;
    };
    let rest = without_properties(rest);
    if let Some(name) = rest.strip_prefix('*') {
        let name: String = name
            .chars()
            .take_while(|c| !c.is_whitespace() && !",]}".contains(*c))
            .collect();
        let anchor = format!("&{name}");
        return match text.find(&anchor) {
            Some(anchored) => stands(text, anchored, expected),
            None => TokenAt::Other,
        };
    }
    let found = match rest.chars().next() {
        Some(quote @ ('"' | '\'')) => quoted(rest, quote, expected),
        Some('|' | '>') => block(text, at + (text.len() - at - rest.len()), expected),
        Some('{' | '[') => empty(rest, expected),
        _ => plain(rest, expected),
    };
    match found {
        true => TokenAt::All,
        false if begins(rest, expected) => TokenAt::Beginning,
        false => TokenAt::Other,
    }
}

/// The text behind a tag and an anchor.
fn without_properties(mut rest: &str) -> &str {
    while rest.starts_with(['!', '&']) {
        rest = rest
            .find(char::is_whitespace)
            .map_or("", |end| rest[end..].trim_start());
    }
    rest
}

fn quoted(rest: &str, quote: char, expected: &Value) -> bool {
    let Some(expected) = expected.as_str() else {
        return false;
    };
    let (mut text, mut chars) = (String::new(), rest[1..].chars().peekable());
    while let Some(c) = chars.next() {
        match c {
            '\'' if quote == '\'' && chars.peek() == Some(&'\'') => {
                chars.next();
                text.push('\'');
            }
            _ if c == quote => return text == expected || words(&text) == words(expected),
            '\\' if quote == '"' => {
                let letter = chars.next();
                let mut hex = |count: usize| {
                    let digits: String = chars.by_ref().take(count).collect();
                    u32::from_str_radix(&digits, 16)
                        .ok()
                        .and_then(char::from_u32)
                };
                match letter {
                    Some('n') => text.push('\n'),
                    Some('t') => text.push('\t'),
                    Some('r') => text.push('\r'),
                    Some('0') => text.push('\0'),
                    Some('e') => text.push('\u{1b}'),
                    Some('x') => text.extend(hex(2)),
                    Some('u') => text.extend(hex(4)),
                    Some('U') => text.extend(hex(8)),
                    Some('\n') | None => {}
                    Some(other) => text.push(other),
                }
            }
            other => text.push(other),
        }
    }
    false
}

/// A block scalar, behind `|` or `>`.
fn block(text: &str, at: usize, expected: &Value) -> bool {
    let Some(expected) = expected.as_str() else {
        return false;
    };
    let mut lines = text[at..].lines().skip(1).peekable();
    let depth = |line: &str| line.len() - line.trim_start_matches(' ').len();
    let mut first = lines.clone().skip_while(|line| line.trim().is_empty());
    let indent = first.next().map_or(0, depth);
    let own = lines
        .by_ref()
        .take_while(|line| line.trim().is_empty() || (indent > 0 && depth(line) >= indent));
    let own: Vec<&str> = own
        .map(|line| line.get(indent..).unwrap_or_default())
        .collect();
    own.join("\n").trim_end() == expected.trim_end() || words(&own.join("\n")) == words(expected)
}

fn empty(rest: &str, expected: &Value) -> bool {
    let inside = rest[1..].trim_start();
    match expected {
        Value::Object(map) => map.is_empty() && rest.starts_with('{') && inside.starts_with('}'),
        Value::Array(items) => items.is_empty() && rest.starts_with('[') && inside.starts_with(']'),
        _ => false,
    }
}

fn plain(rest: &str, expected: &Value) -> bool {
    let line = rest.lines().next().unwrap_or_default();
    let ends = [" #", ": ", ",", "]", "}"];
    let mut candidates: Vec<&str> = ends
        .iter()
        .flat_map(|end| line.match_indices(end))
        .map(|(at, _)| &line[..at])
        .collect();
    candidates.extend([line, line.trim_end().strip_suffix(':').unwrap_or(line)]);
    if candidates
        .iter()
        .any(|token| reads_as(token.trim(), expected))
    {
        return true;
    }
    // Over several lines.
    expected
        .as_str()
        .is_some_and(|text| !text.is_empty() && words(rest).starts_with(&words(text)))
}

/// True if a plain scalar is a value, by Salt's resolver.
fn reads_as(token: &str, expected: &Value) -> bool {
    match expected {
        Value::Null => matches!(token, "" | "~" | "null" | "Null" | "NULL"),
        Value::Bool(flag) => {
            let word = token.to_lowercase();
            if *flag {
                ["yes", "on", "true"].contains(&&*word)
            } else {
                ["no", "off", "false"].contains(&&*word)
            }
        }
        Value::Number(number) => is_number(token, number),
        Value::String(text) => token == text,
        Value::Array(_) | Value::Object(_) => false,
    }
}

fn is_number(token: &str, number: &Number) -> bool {
    let token = token.replace('_', "");
    let (negative, digits) = match token.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, token.strip_prefix('+').unwrap_or(&token)),
    };
    let integer = || {
        let parsed = if let Some(hex) = digits.strip_prefix("0x") {
            i128::from_str_radix(hex, 16).ok()?
        } else if let Some(binary) = digits.strip_prefix("0b") {
            i128::from_str_radix(binary, 2).ok()?
        } else {
            digits.split(':').try_fold(0_i128, |sum, part| {
                sum.checked_mul(60)?.checked_add(part.parse().ok()?)
            })?
        };
        Some(if negative { -parsed } else { parsed })
    };
    let shown = number.to_string();
    integer().is_some_and(|own| own.to_string() == shown)
        || token
            .parse::<f64>()
            .is_ok_and(|own| number.as_f64() == Some(own))
}

/// True if a template continues the text, and it begins as a value does up to there.
fn begins(rest: &str, expected: &Value) -> bool {
    let Some(end) = MARKS.iter().filter_map(|mark| rest.find(mark)).min() else {
        return false;
    };
    let (Some(literal), Some(expected)) = (rest.get(..end), expected.as_str()) else {
        return false;
    };
    let literal = literal.trim_start_matches(['"', '\'', '|', '>', '-', '+']);
    // A line that ends in a backslash continues without space.
    let mut lines = literal.split("\\\n");
    let first = lines.next().unwrap_or_default().to_owned();
    let literal = &lines.fold(first, |whole, line| whole + line.trim_start());
    !literal.contains("\n\n\n") && words(expected).starts_with(&words(literal))
}

/// A text with its white space evened out, as folding does.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn scalars_are_read_where_they_stand() {
        for (text, at, value, found) in [
            ("a: 1", 3, json!(1), TokenAt::All),
            ("a: 1", 0, json!("a"), TokenAt::All),
            (
                "a: \"x:\\\n   y{{ z }}\"",
                3,
                json!("x:y1"),
                TokenAt::Beginning,
            ),
            ("a: 12", 3, json!(1), TokenAt::Other),
            ("a: 0644", 3, json!(644), TokenAt::All),
            ("a: 1:30", 3, json!(90), TokenAt::All),
            ("a: [x, y]", 4, json!("x"), TokenAt::All),
            ("a: [x, y]", 7, json!("y"), TokenAt::All),
            ("a: Yes # so", 3, json!(true), TokenAt::All),
            ("a: yes", 3, json!("yes"), TokenAt::All),
            ("a:\nb: 1", 2, json!(null), TokenAt::All),
            ("a: 'it''s'", 3, json!("it's"), TokenAt::All),
            ("a: \"x\\ty\\u00e9\"", 3, json!("x\tyé"), TokenAt::All),
            (
                "a: |\n  one\n  two\nb: 1",
                3,
                json!("one\ntwo\n"),
                TokenAt::All,
            ),
            (
                "a: >-\n  one\n  two\nb: 1",
                3,
                json!("one two"),
                TokenAt::All,
            ),
            ("a: one\n  two\nb: 1", 3, json!("one two"), TokenAt::All),
            ("a: &x 5\nb: *x", 11, json!(5), TokenAt::All),
            ("a: !!str 5", 3, json!("5"), TokenAt::All),
            ("a: {}", 3, json!({}), TokenAt::All),
            ("a: [ ]", 3, json!([]), TokenAt::All),
            ("a: {b: 1}", 3, json!({}), TokenAt::Other),
            ("a: x{{ b }}", 3, json!("xyz"), TokenAt::Beginning),
            ("a: 'x{{ b }}'", 3, json!("xyz"), TokenAt::Beginning),
            ("a: q{{ b }}", 3, json!("xyz"), TokenAt::Other),
            ("a: .5", 3, json!(0.5), TokenAt::All),
        ] {
            assert_eq!(stands(text, at, &value), found, "{text:?} at {at}: {value}");
        }
        assert_eq!(offset("a\nbé: x\n", 2, 5), Some(7));
        assert_eq!(offset("a", 3, 1), None);
    }
}
