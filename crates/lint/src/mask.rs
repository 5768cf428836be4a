//! Sources for excerpts, without the secrets in them.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use mapstack::secrets::Secrets;

use crate::document::{Content, Document};
use crate::report::Sources;

/// The texts of files that have secrets, with stars in their place; every byte stays where it was.
pub(crate) fn masked(sources: &Sources<'_>, secrets: &Secrets) -> BTreeMap<String, Arc<str>> {
    let mut hidden: BTreeMap<String, (Arc<str>, Vec<Range<usize>>)> = BTreeMap::new();
    for file in &sources.files {
        hidden.insert(file.shown.clone(), (file.text.clone(), Vec::new()));
    }
    for document in &sources.documents {
        of_document(document, secrets, &mut hidden);
    }
    let starred = hidden.into_iter().filter_map(|(file, (source, ranges))| {
        let starred = secrets.starred_at(&source, ranges);
        (*starred != *source).then(|| (file, starred.into()))
    });
    starred.collect()
}

/// The values of YAML under the names of secrets, and those that are secret by themselves.
fn of_document(
    document: &Document,
    secrets: &Secrets,
    hidden: &mut BTreeMap<String, (Arc<str>, Vec<Range<usize>>)>,
) {
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
            Content::Plain(_) => offsets
                .get(offsets.partition_point(|offset| *offset <= place.start))
                .copied(),
            // An expression is not a secret; its literals are found by name.
            Content::Rendered(_) if computed => Some(place.start),
            Content::Rendered(_) => place
                .source
                .get(place.start..)
                .and_then(|rest| Some(place.start + rest.find('\n')?)),
        };
        let end = end.unwrap_or(place.source.len());
        hidden
            .entry(place.file)
            .or_insert_with(|| (place.source, Vec::new()))
            .1
            .push(place.start..end);
    }
}
