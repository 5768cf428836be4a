//! Sources for excerpts, without the secrets in them.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use mapstack::secrets::Secrets;
use mapstack::value::{Key, Value};

use crate::document::{Content, Document};
use crate::subject::Subject;

/// The texts of files that have secrets, with stars in their place; every byte stays where it was.
pub(crate) fn masked(subject: &Subject<'_>, secrets: &Secrets) -> BTreeMap<String, Arc<str>> {
    let mut hidden: BTreeMap<String, (Arc<str>, Vec<Range<usize>>)> = BTreeMap::new();
    for document in &subject.documents {
        of_document(document, secrets, &mut hidden);
    }
    for file in subject.files.values() {
        let ranges = behind_names(&file.text, secrets);
        if !ranges.is_empty() {
            hidden.entry(file.shown.clone()).or_insert_with(|| (file.text.clone(), Vec::new())).1.extend(ranges);
        }
    }
    hidden.into_iter().map(|(file, (source, ranges))| (file, starred(&source, ranges).into())).collect()
}

/// What YAML has under the names of secrets, or is a secret by itself.
fn of_document(document: &Document, secrets: &Secrets, hidden: &mut BTreeMap<String, (Arc<str>, Vec<Range<usize>>)>) {
    let mut offsets: Vec<usize> = Vec::new();
    let mut secret: Vec<mapstack::yaml::Mark> = Vec::new();
    document.visit(&mut |scalar| {
        offsets.push(document.content.offset(scalar.mark));
        if !scalar.is_key && secrets.hide(scalar.path, false, &scalar.value) {
            secret.push(scalar.mark);
        }
    });
    offsets.sort_unstable();
    for mark in secret {
        let (place, computed) = document.content.place(mark, 0);
        let end = match &document.content {
            // Up to whatever comes next: the text can go over lines.
            Content::Plain(_) => offsets.get(offsets.partition_point(|offset| *offset <= place.start)).copied(),
            Content::Rendered(_) if computed => Some(place.end),
            Content::Rendered(_) => {
                place.source.get(place.start..).and_then(|rest| Some(place.start + rest.find('\n')?))
            }
        };
        let end = end.unwrap_or(place.source.len());
        hidden.entry(place.file).or_insert_with(|| (place.source, Vec::new())).1.push(place.start..end);
    }
}

/// A text with stars for what stands behind and below the names of secrets; every byte stays where it was.
///
/// ```
/// use mapstack::secrets::Secrets;
/// let shown = mapstack_lint::starred_names("password: hunter2\nport: 22\n", &Secrets::new(b"salt"));
/// assert_eq!(shown, "password: *******\nport: 22\n");
/// ```
#[must_use]
pub fn starred_names(text: &str, secrets: &Secrets) -> String {
    starred(text, behind_names(text, secrets))
}

/// What stands behind a name and a colon or a sign of equality, up to the end of the line, and what is
/// indented below it: in files that are no YAML, or none yet.
fn behind_names(text: &str, secrets: &Secrets) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let (mut start, mut below) = (0, None);
    for line in text.split_inclusive('\n') {
        let indent = line.len() - line.trim_start().len();
        if below.is_some_and(|outer| indent > outer) || line.trim().is_empty() {
            if below.is_some() {
                ranges.push(start..start + line.len());
            }
        } else {
            below = None;
            if let Some(at) = secret_name(line, secrets) {
                ranges.push(start + at..start + line.len());
                below = Some(indent);
            }
        }
        start += line.len();
    }
    ranges
}

/// The byte behind the first name of a secret and its separator.
fn secret_name(line: &str, secrets: &Secrets) -> Option<usize> {
    let is_of_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    line.match_indices([':', '=']).find_map(|(at, _)| {
        let before = line.get(..at)?.trim_end().trim_end_matches(['"', '\'', ']']);
        let name = before.rsplit(|c: char| !is_of_name(c)).next().filter(|name| !name.is_empty())?;
        let value = line.get(at + 1..)?.trim();
        let has_value = !value.is_empty() && !matches!(value, "{" | "[");
        let hides = secrets.hide(&[Key::from(name)], false, &Value::from("text"));
        (hides && (has_value || value.is_empty())).then_some(at + 1)
    })
}

/// A text with stars for what stands in the ranges, spaces and line ends left out.
fn starred(source: &str, mut ranges: Vec<Range<usize>>) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_behind_and_below_names_of_secrets_is_starred() {
        let secrets = Secrets::new(b"");
        for (text, shown) in [
            ("password: hunter2\nport: 22\n", "password: *******\nport: 22\n"),
            ("{% set x = {'api_token': 'a', 'b': 1} %}\n", "{% set x = {'api_token': **** **** ** **\n"),
            ("secret: |\n  one\n  two\nport: 1\n", "secret: *\n  ***\n  ***\nport: 1\n"),
            ("DB_PASSWD=ü\n", "DB_PASSWD=**\n"),
            ("passwords:\n  tom: x\nport: 1", "passwords:\n  **** *\nport: 1"),
            ("port: 22\n", "port: 22\n"),
        ] {
            assert_eq!(starred_names(text, &secrets), shown);
        }
    }
}
