//! Sls of the pillar that look up in the pillar what other sls set.

use std::collections::BTreeMap;

use crate::{Finding, Rule, pillar_keys};
use mapstack::Place;
use mapstack::value::Value;

use super::PillarSubject;
use crate::pillar::files::PillarFile;

pub(super) fn check(subject: &PillarSubject<'_>) -> Vec<Finding> {
    // External pillars that come first can set every key.
    let is_on = |option: &str| subject.options.get(option).is_some_and(Value::truthy);
    if is_on("ext_pillar_first") && is_on("ext_pillar") {
        return Vec::new();
    }
    let set = set_by_sls(subject);
    let read = subject
        .files
        .sls()
        .filter(|file| subject.seen.is_read(&file.source.shown));
    read.flat_map(|file| of_file(file, &set)).collect()
}

/// The sls that set each key at the top, with where they do.
fn set_by_sls(subject: &PillarSubject<'_>) -> BTreeMap<String, Vec<(String, Place)>> {
    let mut set: BTreeMap<String, Vec<(String, Place)>> = BTreeMap::new();
    for document in subject.documents {
        let Some(map) = document.value.as_map() else {
            continue;
        };
        for (index, (key, _)) in map.iter().enumerate() {
            let Some(mark) = document.marks.key(index) else {
                continue;
            };
            let key = key.to_string();
            let (place, _) = document.content.place(mark, key.len());
            let file = subject.files.all.get(&place.file);
            let Some(sls) = file.and_then(PillarFile::name).filter(|_| key != "include") else {
                continue;
            };
            set.entry(key).or_default().push((sls, place));
        }
    }
    set
}

fn of_file(file: &PillarFile, set: &BTreeMap<String, Vec<(String, Place)>>) -> Vec<Finding> {
    let found = pillar_keys(&file.source).into_iter().filter_map(|(key, place)| {
        let top = key.split(':').next().unwrap_or_default();
        let setters = set.get(top)?;
        let is_other = |(_, place): &&(String, Place)| place.file != file.source.shown;
        let (sls, at) = setters.iter().find(is_other).or_else(|| setters.first())?;
        let message = format!("'{key}' is not set yet: the sls '{sls}' sets it, and sls do not see the pillar that they make");
        let finding = Finding::new(Rule::PillarInPillar, place, message);
        Some(finding.related("it is set here", at.clone()).help(
            "load the value from a file (`import_yaml`), or pass it by `defaults` of an include",
        ))
    });
    found.collect()
}
