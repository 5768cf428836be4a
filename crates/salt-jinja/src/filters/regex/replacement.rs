//! Replacement templates: `\1`, `\g<name>` and escapes.

use mapstack_pyobject::{Error, Result};

use super::translate::{error, read_octal};

/// A piece of a replacement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ReplacementPart {
    Text(String),
    Group(usize),
}

/// Take a template apart.
pub(super) fn parse(
    template: &str,
    groups: usize,
    names: &[(String, usize)],
) -> Result<Vec<ReplacementPart>> {
    let chars: Vec<char> = template.chars().collect();
    let mut parts = Vec::new();
    let mut text = String::new();
    let mut at = 0;
    while let Some(&c) = chars.get(at) {
        at += 1;
        if c != '\\' {
            text.push(c);
            continue;
        }
        let start = at - 1;
        let Some(&escape) = chars.get(at) else {
            return Err(error("bad escape (end of pattern)", start));
        };
        at += 1;
        let group = match escape {
            'g' => Some(named_group(&chars, &mut at, names)?),
            '0' => {
                text.push(read_octal(&chars, &mut at, 2, 0));
                continue;
            }
            '1'..='9' => match digits(&chars, &mut at, escape) {
                Ok(group) => Some((group, start + 1)),
                Err(c) => {
                    text.push(c);
                    continue;
                }
            },
            _ => None,
        };
        match group {
            Some((group, place)) => {
                if group > groups {
                    return Err(error(&format!("invalid group reference {group}"), place));
                }
                if !text.is_empty() {
                    parts.push(ReplacementPart::Text(std::mem::take(&mut text)));
                }
                parts.push(ReplacementPart::Group(group));
            }
            None if escape.is_ascii_alphabetic() || escape == '\\' => {
                text.push(character(escape, start)?);
            }
            None => text.extend(['\\', escape]),
        }
    }
    if !text.is_empty() {
        parts.push(ReplacementPart::Text(text));
    }
    Ok(parts)
}

/// The character of a letter or a backslash after a backslash.
fn character(escape: char, start: usize) -> Result<char> {
    Ok(match escape {
        'a' => '\x07',
        'b' => '\x08',
        'f' => '\x0c',
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'v' => '\x0b',
        '\\' => '\\',
        c => return Err(error(&format!("bad escape \\{c}"), start)),
    })
}

/// A reference of one or two digits, or a character of three octal digits.
fn digits(chars: &[char], at: &mut usize, first: char) -> Result<usize, char> {
    let digit = |i: usize| chars.get(i).and_then(|c| c.to_digit(10));
    let mut group = first.to_digit(10).unwrap_or(0);
    if let Some(second) = digit(*at) {
        let third = digit(*at + 1).filter(|d| *d < 8);
        if let (true, Some(third)) = (group < 4 && second < 8, third) {
            *at += 2;
            return Err(char::from_u32(group * 64 + second * 8 + third).unwrap_or('\u{fffd}'));
        }
        group = group * 10 + second;
        *at += 1;
    }
    Ok(group as usize)
}

/// `\g<1>` or `\g<name>`, with the place of the name.
fn named_group(
    chars: &[char],
    at: &mut usize,
    names: &[(String, usize)],
) -> Result<(usize, usize)> {
    if chars.get(*at) != Some(&'<') {
        return Err(error("missing <", *at));
    }
    let start = *at + 1;
    let Some(length) = chars[start..].iter().position(|c| *c == '>') else {
        return Err(error("missing >, unterminated name", start));
    };
    let name: String = chars[start..start + length].iter().collect();
    *at = start + length + 1;
    if name.is_empty() {
        return Err(error("missing group name", start));
    }
    if name.bytes().all(|b| b.is_ascii_digit()) {
        return Ok((name.parse().unwrap_or(usize::MAX), start));
    }
    let is_identifier = name.chars().all(|c| c.is_alphanumeric() || c == '_')
        && !name.starts_with(char::is_numeric);
    if !is_identifier {
        let quoted = mapstack_value::quote_str(&name);
        return Err(error(
            &format!("bad character in group name {quoted}"),
            start,
        ));
    }
    match names.iter().find(|(known, _)| *known == name) {
        Some((_, group)) => Ok((*group, start)),
        None => Err(Error::python(
            "IndexError",
            format!("unknown group name {}", mapstack_value::quote_str(&name)),
        )),
    }
}
