//! Texts of files with stars in place of secrets. Every byte stays where it was, so that a line and a column
//! still say where.

use std::ops::Range;

/// A text with stars in the ranges, except for white space.
pub(crate) fn starred(source: &str, mut ranges: Vec<Range<usize>>) -> String {
    ranges.sort_by_key(|range| range.start);
    let mut ranges = ranges.into_iter().peekable();
    let (mut starred, mut end) = (String::with_capacity(source.len()), 0);
    for (at, c) in source.char_indices() {
        while let Some(range) = ranges.next_if(|range| range.start <= at) {
            end = end.max(range.end);
        }
        if at < end && !c.is_whitespace() {
            (0..c.len_utf8()).for_each(|_| starred.push('*'));
        } else {
            starred.push(c);
        }
    }
    starred
}

/// The texts behind the names of secrets, up to the end of the line, and what is indented below it: in
/// files that are not YAML, or none yet. Of the code of templates only the literals count.
pub(crate) fn behind_names(text: &str, is_secret: impl Fn(&str) -> bool) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let (mut start, mut below) = (0, None);
    for line in text.split_inclusive('\n') {
        let inside = line.trim_start();
        let indent = line.len() - inside.len();
        let is_below =
            |outer: usize| indent > outer || (indent == outer && inside.starts_with("- "));
        if inside.is_empty() || below.is_some_and(is_below) {
            if below.is_some() {
                ranges.extend(
                    outside_code(line, 0).map(|range| start + range.start..start + range.end),
                );
            }
        } else {
            below = None;
            if let Some(at) = secret_name(line, &is_secret) {
                ranges.extend(
                    outside_code(line, at).map(|range| start + range.start..start + range.end),
                );
                below = Some(indent);
            }
        }
        start += line.len();
    }
    ranges
}

/// The values of a document of facts that may be of a pillar: all but the names in front of colons, except
/// below another part's name.
pub(crate) fn pillar_values(text: &str) -> Vec<Range<usize>> {
    let (mut ranges, mut start, mut open) = (Vec::new(), 0, false);
    for line in text.split_inclusive('\n') {
        let is_top =
            line.starts_with(|c: char| !c.is_whitespace() && !matches!(c, '#' | '-' | '}' | ']'));
        if is_top {
            open = OPEN_PARTS.iter().any(|part| {
                line.strip_prefix(part)
                    .is_some_and(|rest| rest.starts_with(':'))
            });
            open &= !line.contains("pillar");
        }
        let is_named = line
            .trim_start()
            .starts_with(|c: char| c.is_alphanumeric() || matches!(c, '"' | '\'' | '_'));
        let name = line.find(':').filter(|_| is_named);
        if !open {
            ranges.push(start + name.map_or(0, |at| at + 1)..start + line.len());
        }
        start += line.len();
    }
    ranges
}

/// Parts of a minion other than the pillar.
const OPEN_PARTS: [&str; 3] = ["id", "grains", "opts"];

/// The byte behind the first name of a secret and its separator.
fn secret_name(line: &str, is_secret: impl Fn(&str) -> bool) -> Option<usize> {
    let is_of_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    line.match_indices([':', '=']).find_map(|(at, _)| {
        let before = line
            .get(..at)?
            .trim_end()
            .trim_end_matches(['"', '\'', ']']);
        let name = before
            .rsplit(|c: char| !is_of_name(c))
            .next()
            .filter(|name| !name.is_empty())?;
        let value = line.get(at + 1..)?.trim();
        (is_secret(name) && !matches!(value, "{" | "[")).then_some(at + 1)
    })
}

/// The parts of a line after a byte that are not template code, and the literals in template code.
fn outside_code(line: &str, from: usize) -> impl Iterator<Item = Range<usize>> {
    let mut ranges = Vec::new();
    let begins = |at: usize| matches!(line.get(at..at + 2), Some("{{" | "{%" | "${" | "<%"));
    let ends = |at: usize| matches!(line.get(at..at + 2), Some("}}" | "%}" | "%>"));
    let (mut code, mut dollar, mut skip, mut plain, mut quote) = (false, false, 0, from, None);
    for (at, c) in line.char_indices() {
        if skip > at {
            continue;
        }
        match (code, quote) {
            (false, _) if begins(at) => {
                ranges.push(plain.min(at)..at);
                (code, dollar, skip) = (true, c == '$', at + 2);
            }
            (true, None) if ends(at) || (c == '}' && dollar) => {
                code = false;
                skip = at + if dollar { 1 } else { 2 };
                plain = skip.max(from);
            }
            (true, None) if matches!(c, '"' | '\'') => quote = Some((c, at + 1)),
            (true, Some((mark, start))) if c == mark => {
                ranges.push(start.max(from).min(at)..at);
                quote = None;
            }
            _ => {}
        }
    }
    match quote {
        Some((_, start)) => ranges.push(start.max(from).min(line.len())..line.len()),
        None if !code => ranges.push(plain.min(line.len())..line.len()),
        None => {}
    }
    ranges
        .into_iter()
        .filter(move |range| range.start >= from && range.start < range.end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redact::is_secret_name;

    #[test]
    fn what_stands_behind_and_below_names_of_secrets_is_starred() {
        for (text, shown) in [
            (
                "password: hunter2\nport: 22\n",
                "password: *******\nport: 22\n",
            ),
            (
                "{% set x = {'api_token': 'a', 'b': 1} %}\n",
                "{% set x = {'api_token': '*', '*': 1} %}\n",
            ),
            (
                "{% set token = 'a b' ~ pillar.x %}",
                "{% set token = '* *' ~ pillar.x %}",
            ),
            (
                "password: {{ pillar['x']|f }}\n",
                "password: {{ pillar['*']|f }}\n",
            ),
            ("password: ab{{ x }}cd\n", "password: **{{ x }}**\n"),
            ("password: ab${x}cd\n", "password: **${x}**\n"),
            ("password: {{ 'open\n", "password: {{ '****\n"),
            (
                "secret: |\n  one\n  two\nport: 1\n",
                "secret: *\n  ***\n  ***\nport: 1\n",
            ),
            ("DB_PASSWD=ü\n", "DB_PASSWD=**\n"),
            (
                "passwords:\n  tom: x\nport: 1",
                "passwords:\n  **** *\nport: 1",
            ),
            ("tokens:\n- x\n- y\nb: 2", "tokens:\n* *\n* *\nb: 2"),
            (
                "a: {port: 1, api_key: 'x', b: 2}",
                "a: {port: 1, api_key: **** ** **",
            ),
            ("port: 22\n", "port: 22\n"),
        ] {
            let ranges = behind_names(text, is_secret_name);
            assert_eq!(starred(text, ranges), shown);
        }
    }

    #[test]
    fn of_documents_of_facts_the_pillar_is_starred() {
        for (text, shown) in [
            (
                "id: a\ngrains:\n\tos: b\npillar:\n  c: 'd\n  e\n",
                "id: a\ngrains:\n\tos: b\npillar:\n  c: **\n  *\n",
            ),
            ("c: 'd\ne: f", "c: **\ne: *"),
            ("{id: a, pillar: {c: d}}", "**** ** ******* *** ***"),
            (
                "grains: {a: b}, pillar: {c: d}",
                "grains: *** *** ******* *** **",
            ),
            ("- a", "* *"),
        ] {
            assert_eq!(starred(text, pillar_values(text)), shown);
        }
    }
}
