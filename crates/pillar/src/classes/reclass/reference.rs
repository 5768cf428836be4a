//! Texts with references such as `${a:b}` (reclass: `values.parser`).
//!
//! The grammar is that of reclass with its habits: blanks at the start of a reference that is not the only one of its
//! text do not count, and tabs become blanks.

use std::sync::Arc;

use super::query::Query;
use super::settings::ReclassSettings;

/// A part of a text.
#[derive(Debug, Clone, PartialEq)]
pub enum Token {
    /// Text as it is.
    Text(String),
    /// A reference, which can have others inside.
    Reference(Vec<Token>),
    /// An inventory query.
    Query(Arc<Query>),
}

impl Token {
    /// The query that it is.
    pub fn query(&self) -> Option<&Query> {
        match self {
            Token::Query(query) => Some(query),
            Token::Text(_) | Token::Reference(_) => None,
        }
    }
}

/// The most references inside each other.
const MAX_DEPTH: usize = 64;

/// The parts of a text; `None` for a text without anything to expand.
///
/// # Errors
/// A reference that is not closed, or has nothing inside.
pub fn parse(text: &str, settings: &ReclassSettings) -> Result<Option<Vec<Token>>, String> {
    let count =
        text.matches(&*settings.reference.0).count() + text.matches(&*settings.export.0).count();
    if count == 0 {
        return Ok(None);
    }
    let text = expand_tabs(text);
    if count == 1
        && let Some(tokens) = simple(&text, settings)
    {
        return Ok(Some(tokens));
    }
    let mut parser = Parser {
        settings,
        rest: &text,
    };
    let mut tokens = Vec::new();
    while !parser.rest.is_empty() {
        tokens.push(parser.item()?);
    }
    Ok(Some(tokens))
}

/// A text with one plain reference.
fn simple(text: &str, settings: &ReclassSettings) -> Option<Vec<Token>> {
    let (open, close) = &settings.reference;
    let excluded = excluded(settings);
    let plain = |text: &str| !text.contains(|c| excluded.contains(c));
    let (before, rest) = text.split_once(&**open)?;
    let (inside, after) = rest.split_once(&**close)?;
    if inside.is_empty() || ![before, inside, after].into_iter().all(plain) {
        return None;
    }
    let text = |text: &str| (!text.is_empty()).then(|| Token::Text(text.into()));
    let inside = Token::Reference(vec![Token::Text(inside.into())]);
    Some(
        text(before)
            .into_iter()
            .chain([inside])
            .chain(text(after))
            .collect(),
    )
}

fn excluded(settings: &ReclassSettings) -> String {
    let ReclassSettings {
        escape,
        reference,
        export,
        ..
    } = settings;
    [escape, &reference.0, &reference.1, &export.0, &export.1]
        .map(|part| &**part)
        .concat()
}

/// Python's `str.expandtabs`.
fn expand_tabs(text: &str) -> String {
    let mut expanded = String::with_capacity(text.len());
    let mut column = 0;
    for c in text.chars() {
        match c {
            '\t' => {
                let blanks = 8 - column % 8;
                expanded.extend(std::iter::repeat_n(' ', blanks));
                column += blanks;
            }
            '\n' | '\r' => {
                expanded.push(c);
                column = 0;
            }
            _ => {
                expanded.push(c);
                column += 1;
            }
        }
    }
    expanded
}

struct Parser<'t> {
    settings: &'t ReclassSettings,
    rest: &'t str,
}

impl<'t> Parser<'t> {
    /// `item = reference | export | string`
    fn item(&mut self) -> Result<Token, String> {
        if self.rest.starts_with(&*self.settings.reference.0) {
            return self.reference(0);
        }
        if self.rest.starts_with(&*self.settings.export.0) {
            return self.export();
        }
        Ok(Token::Text(self.string()))
    }

    fn take(&mut self, text: &str) -> bool {
        let rest = self.rest.strip_prefix(text);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    /// True if something begins here, perhaps escaped.
    fn is_at(&self, sign: &str) -> bool {
        let escape = &*self.settings.escape;
        let once = self.rest.strip_prefix(escape);
        let twice = once.and_then(|rest| rest.strip_prefix(escape));
        [Some(self.rest), once, twice]
            .into_iter()
            .flatten()
            .any(|rest| rest.starts_with(sign))
    }

    /// `\\` before a sentinel, which is `\`.
    fn double_escape(&mut self) -> Option<String> {
        let ReclassSettings {
            escape,
            reference,
            export,
            ..
        } = self.settings;
        let rest = self.rest.strip_prefix(&**escape)?.strip_prefix(&**escape)?;
        let signs = [&reference.0, &reference.1, &export.0, &export.1];
        signs
            .iter()
            .any(|sign| rest.starts_with(&***sign))
            .then(|| {
                self.rest = rest;
                escape.clone()
            })
    }

    /// An escaped sentinel, which is plain text.
    fn escaped(&mut self, sign: &str) -> Option<String> {
        let rest = self
            .rest
            .strip_prefix(&*self.settings.escape)?
            .strip_prefix(sign)?;
        self.rest = rest;
        Some(sign.into())
    }

    /// The characters up to the first of some, or the next one alone.
    fn chars_not_in(&mut self, excluded: &str) -> &'t str {
        let end = self
            .rest
            .find(|c| excluded.contains(c))
            .unwrap_or(self.rest.len());
        let one = self.rest.chars().next().map_or(0, char::len_utf8);
        let (taken, rest) = self.rest.split_at(if end == 0 { one } else { end });
        self.rest = rest;
        taken
    }

    /// Text outside of references; there is at least one character.
    fn string(&mut self) -> String {
        let ReclassSettings {
            reference, export, ..
        } = self.settings;
        let found = self
            .double_escape()
            .or_else(|| self.escaped(&reference.0))
            .or_else(|| self.escaped(&export.0));
        if let Some(found) = found {
            return found;
        }
        let excluded = excluded(self.settings);
        let mut text = String::new();
        while !self.rest.is_empty()
            && (text.is_empty() || !self.is_at(&reference.0) && !self.is_at(&export.0))
        {
            text.push_str(self.chars_not_in(&excluded));
        }
        text
    }

    fn skip_blanks(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\n', '\t', '\r']);
    }

    /// `reference = "${" (reference | text)+ "}"`
    fn reference(&mut self, depth: usize) -> Result<Token, String> {
        let (open, close) = &self.settings.reference;
        if depth > MAX_DEPTH {
            return Err(format!("references are nested deeper than {MAX_DEPTH}"));
        }
        self.take(open);
        let mut inside = Vec::new();
        loop {
            let before = self.rest;
            self.skip_blanks();
            if self.rest.starts_with(&**open) {
                inside.push(self.reference(depth + 1)?);
                continue;
            }
            let Some(text) = self.inner_text() else {
                // Blanks before the end are only fine inside another reference.
                if depth == 0 {
                    self.rest = before;
                }
                break;
            };
            inside.push(Token::Text(text));
        }
        if inside.is_empty() {
            return Err(format!("a reference {open}{close} names nothing"));
        }
        match self.take(close) {
            true => Ok(Token::Reference(inside)),
            false => Err(format!("a reference that {open} begins has no {close}")),
        }
    }

    fn inner_text(&mut self) -> Option<String> {
        let ReclassSettings {
            escape,
            reference: (open, close),
            ..
        } = self.settings;
        let found = self
            .double_escape()
            .or_else(|| self.escaped(open))
            .or_else(|| self.escaped(close));
        if found.is_some() {
            return found;
        }
        let excluded = [&**escape, open, close].concat();
        let first = close.chars().next();
        let mut text = String::new();
        while !self.rest.is_empty() && !self.is_at(open) && !self.is_at(close) {
            if self.rest.chars().next() == first {
                break;
            }
            text.push_str(self.chars_not_in(&excluded));
        }
        (!text.is_empty()).then_some(text)
    }

    /// `export = "$[" text "]"`
    fn export(&mut self) -> Result<Token, String> {
        let (open, close) = &self.settings.export;
        self.take(open);
        let has_escape = self.double_escape().is_some()
            || self.escaped(open).is_some()
            || self.escaped(close).is_some();
        if has_escape {
            return Err(format!(
                "an inventory query must not begin with an escaped {open} or {close}"
            ));
        }
        let end = self.rest.find(|c| close.starts_with(c));
        let (query, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        self.rest = rest;
        if !self.take(close) {
            return Err(format!(
                "an inventory query that {open} begins has no {close}"
            ));
        }
        Query::read(query, self.settings).map(|query| Token::Query(Arc::new(query)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(tokens: &[Token]) -> String {
        let one = |token: &Token| match token {
            Token::Text(text) => mapstack_value::quote_str(text),
            Token::Reference(inside) => format!("<{}>", shown(inside)),
            Token::Query(query) => format!("[{}]", query.text),
        };
        tokens.iter().map(one).collect::<Vec<_>>().join(" ")
    }

    fn read(text: &str) -> String {
        let settings = ReclassSettings::new(&mapstack_value::Map::new()).unwrap();
        match parse(text, &settings) {
            Ok(Some(tokens)) => shown(&tokens),
            Ok(None) => "plain".into(),
            Err(error) => error,
        }
    }

    /// Texts with the tokens of reclass 2.0.
    const PARSED: &[(&str, &str)] = &[
        ("x}\\", "plain"),
        ("${ a }", "<' a '>"),
        ("x ${a} ${ b }", "'x ' <'a'> ' ' <'b '>"),
        ("${a${ b }c}", "<'a' <'b '> 'c'>"),
        ("${a ${b} c}", "<'a ' <'b'> 'c'>"),
        ("${a}\\${b}", "<'a'> '${' 'b}'"),
        ("\\${b}", "'${' 'b}'"),
        ("\\\\${b}", "'\\\\' <'b'>"),
        ("\\\\\\${b}", "'\\\\' '\\\\' <'b'>"),
        ("a\\b ${c}", "'a\\\\b ' <'c'>"),
        ("${a\\}b}", "<'a' '}' 'b'>"),
        ("${a\\\\}", "<'a' '\\\\'>"),
        ("a}b${c}", "'a}b' <'c'>"),
        ("${a}}", "<'a'> '}'"),
        ("${a[0]}", "<'a[0]'>"),
        ("x$ ${a}", "'x$ ' <'a'>"),
        ("${a{b}} ${c}", "<'a{b'> '} ' <'c'>"),
        ("${a:\\${b}}", "<'a:' '${' 'b'> '}'"),
        ("\t${a}\n${b}\n", "'        ' <'a'> '\\n' <'b'> '\\n'"),
        ("${ a ${ b } c } x", "<'a ' <'b '> 'c '> ' x'"),
        ("${ ${a}}", "<<'a'>>"),
        ("\\$[x] ${a}", "'$[' 'x] ' <'a'>"),
        ("${x${a${b} }} ${c}", "<'x' <'a' <'b'>>> ' ' <'c'>"),
        ("${ \\${a} ${c}", "<'${' 'a'> ' ' <'c'>"),
        ("$[ a ]", "[ a ]"),
        ("${a\\ {b} ${c}", "<'a\\\\ {b'> ' ' <'c'>"),
    ];

    #[test]
    fn texts_are_read_as_reclass_reads_them() {
        for (text, wanted) in PARSED {
            assert_eq!(read(text), *wanted, "{text}");
        }
        for text in [
            "${a${b} }",
            "${}",
            "${a} ${}",
            "${a",
            "${  }${a}",
            "${x ${y}\n}${z}",
        ] {
            assert!(
                read(text).starts_with("a reference"),
                "{text}: {}",
                read(text)
            );
        }
    }

    #[test]
    fn references_inside_each_other_are_bounded() {
        let text = format!("{}a{}", "${".repeat(10_000), "}".repeat(10_000));
        assert!(read(&text).contains("nested deeper"));
    }
}
