//! Top files and includes, as real Salt has them: `cargo xtask reference` records them again.

use std::collections::BTreeSet;

use mapstack::loader::MemoryFiles;
use mapstack::minion::{Minion, Part};
use mapstack::value::{Map, Value, json};
use mapstack::{Engine, yaml};
use mapstack_states::{Gatherer, TopOptions};

/// The tops that differ on purpose: by their description, with the reason.
const DIFFERENT: [(&str, &str); 0] = [];

fn records() -> Vec<Map> {
    let recorded = json::loads(include_str!("data/tops.json")).unwrap();
    let records = recorded.as_list().unwrap().iter();
    records.map(|one| one.as_map().unwrap().clone()).collect()
}

fn map(record: &Map, name: &str) -> Map {
    let value = record.get(name).and_then(Value::as_map);
    value.cloned().unwrap_or_default()
}

fn text(record: &Map, name: &str) -> String {
    record
        .get(name)
        .map(ToString::to_string)
        .unwrap_or_default()
}

fn minion(record: &Map) -> Minion {
    let minion = Minion::new("m")
        .with(Part::Grains, map(record, "grains"))
        .with(Part::Opts, map(record, "opts"));
    let pillar = yaml::load(&text(record, "pillar")).unwrap_or_default();
    let pillar = pillar.as_map().cloned().unwrap_or_default();
    minion.with(Part::Pillar, pillar).complete()
}

/// The data of the top files, and the sls of the high state if it has no errors, as the records have them.
fn ours(record: &Map) -> (String, Option<BTreeSet<String>>) {
    let mut files = MemoryFiles::new();
    for (env, own) in &map(record, "envs") {
        for (path, content) in own.as_map().unwrap() {
            files = files.file(&env.to_string(), &path.to_string(), content.to_string());
        }
    }
    let engine = Engine::new(files);
    let options = TopOptions::of(&map(record, "opts"));
    let gathered = Gatherer::new(&engine, options).gather(&minion(record));
    let top = match &gathered.top {
        Some(Ok(top)) => {
            let envs = top.entries.iter().map(|(env, entries)| {
                let names: Value = entries.iter().map(|entry| entry.sls.as_str()).collect();
                (env.as_str(), names)
            });
            Value::from(envs.collect::<Map>()).repr()
        }
        _ => "{}".into(),
    };
    let is_whole = gathered.problems.is_empty()
        && gathered.sls.iter().all(|sls| sls.rendered.data.is_ok())
        && !gathered.sls.is_empty();
    let names = gathered.sls.iter();
    let names = names
        .map(|sls| format!("{}:{}", sls.saltenv, sls.name))
        .collect();
    (top, is_whole.then_some(names))
}

#[test]
fn every_recorded_top_file_gives_what_salt_gives() {
    let mut different = Vec::new();
    for record in records() {
        let description = text(&record, "description");
        let (top, found) = ours(&record);
        let expected = record.get("result").map(Value::repr).unwrap_or_default();
        let expected_found = record.get("found").and_then(Value::as_list).map(|names| {
            names
                .iter()
                .map(ToString::to_string)
                .collect::<BTreeSet<_>>()
        });
        // Salt gives nothing if it ends, or lists the mistakes of top files.
        let gives = record.get("result").and_then(Value::as_map);
        let expected = gives.map_or_else(|| "{}".into(), |_| expected);
        let expected_found = expected_found.filter(|found| !found.is_empty());
        let is_same = top == expected && found == expected_found;
        let is_known = DIFFERENT.iter().any(|(name, _)| *name == description);
        if is_same == is_known {
            different.push(format!(
                "{description}\n  salt: {expected} {expected_found:?} {:?}\n  ours: {top} {found:?}",
                record.get("errors").or_else(|| record.get("message")).map(Value::repr)
            ));
        }
    }
    assert!(different.is_empty(), "{}", different.join("\n"));
}

#[test]
fn master_tops_and_own_matchers_are_named_as_not_evaluated() {
    let files = MemoryFiles::new()
        .file(
            "base",
            "top.sls",
            "base: {'*': [web], x: [{match: foo}, db]}",
        )
        .file("base", "web.sls", "{}")
        .file(
            "base",
            "_matchers/foo_match.py",
            "def match(tgt): return True",
        );
    let options = yaml::load("master_tops: {ext_nodes: /bin/true}").unwrap();
    let options = TopOptions::of(options.as_map().unwrap());
    let engine = Engine::new(files);
    let minion = Minion::new("m").complete();
    let failed = Gatherer::new(&engine, options.clone()).gather(&minion).top;
    let error = failed.unwrap().unwrap_err().to_string();
    assert!(
        error.contains("the matcher 'foo' of salt://_matchers/foo_match.py is not run"),
        "{error}"
    );
    let files = MemoryFiles::new().file("base", "top.sls", "base: {'*': [web]}");
    let engine = Engine::new(files);
    let top = Gatherer::new(&engine, options).gather(&minion).top;
    let [warning] = &top.unwrap().unwrap().warnings[..] else {
        panic!("one warning");
    };
    assert_eq!(
        warning.message,
        "the sls that master_tops gives by 'ext_nodes' are missing here"
    );
}
