//! The tags of a template in order, which Tera's own tree does not place.

use std::ops::Range;

/// A piece of a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Token {
    pub kind: TokenKind,
    pub range: Range<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TokenKind {
    Text,
    /// `{{ … }}`
    Output,
    /// `{% … %}`
    Tag,
    /// `{# … #}`
    Comment,
}

/// Longer tags are refused: the engine nests as deep as they have operators.
const LONGEST_TAG: usize = 16_000;
/// Deeper brackets are refused: the engine reads each level of calls several times.
const DEEPEST_BRACKETS: usize = 8;
/// Deeper blocks are refused.
const DEEPEST_BLOCKS: usize = 100;

/// Split a source into text and tags.
///
/// # Errors
/// The limit that is exceeded, and the place. The parser reports a tag without an end.
pub(super) fn scan(source: &str) -> Result<Vec<Token>, (String, Range<usize>)> {
    let mut tokens = Vec::new();
    let mut at = 0;
    let mut blocks = 0_usize;
    while at < source.len() {
        let start = next_tag(source, at);
        if start > at {
            tokens.push(Token {
                kind: TokenKind::Text,
                range: at..start,
            });
        }
        if start == source.len() {
            break;
        }
        let (kind, end) = tag(source, start)?;
        tokens.push(Token {
            kind,
            range: start..end,
        });
        at = end;
        if kind != TokenKind::Tag {
            continue;
        }
        match keyword(&source[start..end]) {
            "raw" => {
                let text_end = endraw(source, at);
                if text_end > at {
                    tokens.push(Token {
                        kind: TokenKind::Text,
                        range: at..text_end,
                    });
                }
                at = text_end;
            }
            "if" | "for" | "macro" | "block" | "filter" => blocks += 1,
            word if word.starts_with("end") && word != "endraw" => {
                blocks = blocks.saturating_sub(1);
            }
            _ => {}
        }
        if blocks > DEEPEST_BLOCKS {
            return Err((
                format!("blocks are nested more than {DEEPEST_BLOCKS} levels deep"),
                start..end,
            ));
        }
    }
    Ok(tokens)
}

fn next_tag(source: &str, from: usize) -> usize {
    let rest = &source.as_bytes()[from..];
    let opens = |pair: &[u8]| matches!(pair, [b'{', b'{' | b'%' | b'#']);
    rest.windows(2)
        .position(opens)
        .map_or(source.len(), |found| from + found)
}

/// The kind of the tag at an offset, and its end.
fn tag(source: &str, start: usize) -> Result<(TokenKind, usize), (String, Range<usize>)> {
    let bytes = source.as_bytes();
    let (kind, close): (_, &[u8]) = match bytes.get(start + 1) {
        Some(b'{') => (TokenKind::Output, b"}}"),
        Some(b'%') => (TokenKind::Tag, b"%}"),
        _ => {
            let end = source[start + 2..]
                .find("#}")
                .map_or(source.len(), |found| start + 2 + found + 2);
            return Ok((TokenKind::Comment, end));
        }
    };
    let mut at = start + 2;
    let mut depth = 0_usize;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' | b'\'' | b'`' => {
                let rest = &bytes[at + 1..];
                at += 1 + rest.iter().position(|b| b == byte).unwrap_or(rest.len());
            }
            b'(' | b'[' => depth += 1,
            b')' | b']' => depth = depth.saturating_sub(1),
            _ if bytes[at..].starts_with(close) => {
                at += 1;
                break;
            }
            _ => {}
        }
        at += 1;
        if depth > DEEPEST_BRACKETS {
            let message = format!("brackets are nested more than {DEEPEST_BRACKETS} levels deep");
            return Err((message, start..at));
        }
        if at - start > LONGEST_TAG {
            // The name of the file's end may lie inside a character.
            return Err((
                format!("a tag is longer than {LONGEST_TAG} bytes"),
                start..start + 2,
            ));
        }
    }
    let end = (at + 1).min(source.len());
    Ok((
        kind,
        (end..=source.len())
            .find(|end| source.is_char_boundary(*end))
            .unwrap_or(source.len()),
    ))
}

/// The end of the raw text: at the tag `endraw`.
fn endraw(source: &str, from: usize) -> usize {
    let mut at = from;
    while let Some(found) = source[at..].find("{%") {
        let start = at + found;
        let inner = source[start + 2..].trim_start_matches('-').trim_start();
        if inner.starts_with("endraw") {
            return start;
        }
        at = start + 2;
    }
    source.len()
}

/// The first word of a tag.
pub(super) fn keyword(tag: &str) -> &str {
    let inner = tag
        .trim_start_matches(['{', '%'])
        .trim_start_matches('-')
        .trim_start();
    inner
        .split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .next()
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_and_raw_text_hide_ends() {
        let source = "a{{ '}}' }}{# }} #}{% raw %}{{ x }}{% endraw %}{%- if b -%}é{% endif %}";
        let shown: Vec<&str> = scan(source)
            .unwrap()
            .iter()
            .map(|t| &source[t.range.clone()])
            .collect();
        let expected = [
            "a",
            "{{ '}}' }}",
            "{# }} #}",
            "{% raw %}",
            "{{ x }}",
            "{% endraw %}",
            "{%- if b -%}",
            "é",
            "{% endif %}",
        ];
        assert_eq!(shown, expected);
    }

    #[test]
    fn what_never_ends_reaches_the_end() {
        for source in ["{{ é", "{% 'é", "{# é", "{% raw %}é", "{{", "{"] {
            let tokens = scan(source).unwrap();
            assert_eq!(tokens.last().unwrap().range.end, source.len(), "{source}");
        }
    }

    #[test]
    fn extremes_are_refused() {
        let deep = format!("{{{{ {}1{} }}}}", "(".repeat(9), ")".repeat(9));
        let long = format!("{{{{ 1{} }}}}", " + 1".repeat(5000));
        let nested = "{% if a %}".repeat(101);
        for (source, says) in [(deep, "brackets"), (long, "longer"), (nested, "blocks")] {
            assert!(scan(&source).unwrap_err().0.contains(says), "{says}");
        }
    }
}
