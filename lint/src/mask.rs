//! Sources for excerpts, without the secrets in them.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use mapstack::secrets::Secrets;

use crate::document::{Content, Document};

/// The texts of files that have secrets, with stars in their place; every byte stays where it was.
pub(crate) fn masked<'d>(
    documents: impl Iterator<Item = &'d Document>,
    secrets: &Secrets,
) -> BTreeMap<String, Arc<str>> {
    let mut hidden: BTreeMap<String, (Arc<str>, Vec<Range<usize>>)> = BTreeMap::new();
    for document in documents {
        let mut offsets: Vec<usize> = Vec::new();
        let mut secret: Vec<mapstack::yaml::Mark> = Vec::new();
        document.visit(&mut |scalar| {
            offsets.push(scalar.mark.offset(document.content.text()));
            if !scalar.is_key && secrets.hide(scalar.path, false, &scalar.value) {
                secret.push(scalar.mark);
            }
        });
        offsets.sort_unstable();
        for mark in secret {
            let (place, computed) = document.content.place(mark, 0);
            let end = match &document.content {
                // Up to whatever comes next: the text can go over lines.
                Content::Plain(_) => offsets.iter().find(|offset| **offset > place.start).copied(),
                Content::Rendered(_) if computed => Some(place.end),
                Content::Rendered(_) => {
                    place.source.get(place.start..).and_then(|rest| Some(place.start + rest.find('\n')?))
                }
            };
            let end = end.unwrap_or(place.source.len());
            hidden.entry(place.file).or_insert_with(|| (place.source, Vec::new())).1.push(place.start..end);
        }
    }
    hidden.into_iter().map(|(file, (source, ranges))| (file, starred(&source, &ranges).into())).collect()
}

/// A text with stars for what stands in the ranges, spaces and line ends left out.
fn starred(source: &str, ranges: &[Range<usize>]) -> String {
    let mut starred = String::with_capacity(source.len());
    for (at, c) in source.char_indices() {
        if !c.is_whitespace() && ranges.iter().any(|range| range.contains(&at)) {
            (0..c.len_utf8()).for_each(|_| starred.push('*'));
        } else {
            starred.push(c);
        }
    }
    starred
}
