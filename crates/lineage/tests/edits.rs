//! Places of values in inventories of classes are proved by edits: a change at the place that a value is said to come
//! from changes the value, and a change at a place of its history that another value replaced does not.

use crate::disk;
use std::collections::BTreeMap;
use std::sync::Arc;

use mapstack::Engine;
use mapstack::loader::MemoryFiles;
use mapstack::minion::Minion;
use mapstack::value::{Key, Map, Value};
use mapstack_lineage::{HistoryStep, Lineage, ValuePosition, explain_pillar};
use mapstack_pillar::{Master, PillarRequest};
use mapstack_salt_config::{Config, Kind};
use proptest::prelude::*;
use proptest::test_runner::{Config as Cases, TestRunner};
use tempfile::TempDir;

/// A kind of inventory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Inventory {
    Saltclass,
    Reclass,
}

/// The texts of files, by their paths.
type Files = BTreeMap<String, String>;

/// The names of the values at the top; those in mappings and references are of them.
const KEYS: [&str; 4] = ["a", "b", "c", "d"];

/// The beginning of a key or a list, as drawn.
fn marked(kind: Inventory, key: &str, value: &str, mark: u8) -> String {
    match (kind, mark) {
        (Inventory::Reclass, 0) => format!("~{key}: {value}"),
        (Inventory::Saltclass, 0) if value.starts_with('[') => {
            format!("{key}: {}", value.replacen('[', "['^', ", 1))
        }
        _ => format!("{key}: {value}"),
    }
}

/// The entries of a mapping, as one line each; each key has values of one type, so that they can be merged.
fn entries(kind: Inventory) -> impl Strategy<Value = Vec<(usize, String)>> {
    let text = || {
        prop_oneof![
            9 => Just("@".to_owned()),
            1 => (0..4usize).prop_map(|to| format!("'x-${{{}}}'", KEYS[to])),
            1 => Just("'${m:p}'".to_owned()),
            1 => Just("'${d}'".to_owned()),
        ]
    };
    let items =
        prop::collection::vec(text(), 1..4).prop_map(|items| format!("[{}]", items.join(", ")));
    let inner =
        prop::collection::vec((0..3usize, text(), any::<u8>()), 1..3).prop_map(move |all| {
            let mut seen = Vec::new();
            for (at, value, mark) in all {
                let key = ["p", "q", "r"][at];
                if seen.iter().all(|(known, _): &(&str, String)| *known != key) {
                    seen.push((key, marked(kind, key, &value, mark % 6)));
                }
            }
            let all: Vec<String> = seen.into_iter().map(|(_, entry)| entry).collect();
            format!("{{{}}}", all.join(", "))
        });
    let whole = match kind {
        Inventory::Reclass => {
            prop_oneof![Just("'${m}'".to_owned()), Just("'${l}'".to_owned())].boxed()
        }
        Inventory::Saltclass => text().boxed(),
    };
    let entry = prop_oneof![
        4 => (0..4usize, text(), any::<u8>()).prop_map(move |(at, value, mark)| (at, marked(kind, KEYS[at], &value, mark % 5))),
        3 => (items.clone(), any::<u8>()).prop_map(move |(value, mark)| (4, marked(kind, "l", &value, mark % 5))),
        3 => inner.clone().prop_map(|value| (5, format!("m: {value}"))),
        1 => inner.prop_map(|value| (6, format!("n: {{o: {value}}}"))),
        1 => items.prop_map(|value| (7, format!("k: [{{v: {value}}}]"))),
        1 => whole.prop_map(|value| (8, format!("w: {value}"))),
    ];
    prop::collection::vec(entry, 0..6)
}

/// An inventory with classes that name each other, and a node. Each `@` becomes a different text.
fn inventory(kind: Inventory) -> impl Strategy<Value = Files> {
    let class = (entries(kind), prop::collection::vec(0..6usize, 0..3));
    prop::collection::vec(class, 3..7).prop_map(move |classes| {
        let below = match kind {
            Inventory::Saltclass => "pillars",
            Inventory::Reclass => "parameters",
        };
        let (mut files, mut texts) = (Files::new(), 0);
        let last = classes.len() - 1;
        for (number, (entries, named)) in classes.into_iter().enumerate() {
            let named: Vec<String> = match number == last {
                true => (0..last).map(|class| format!("c{class}")).collect(),
                // Only those behind it, so that none leads back.
                false => named
                    .into_iter()
                    .filter(|class| *class > number && *class < last)
                    .map(|class| format!("c{class}"))
                    .collect(),
            };
            let mut text = format!("classes: [{}]\n{below}:\n", named.join(", "));
            let mut seen = Vec::new();
            for (key, entry) in entries {
                if !seen.contains(&key) {
                    seen.push(key);
                    for (index, part) in entry.split('@').enumerate() {
                        if index > 0 {
                            text.push_str(&format!("t{texts:03}"));
                            texts += 1;
                        } else {
                            text.push_str("  ");
                        }
                        text.push_str(part);
                    }
                    text.push('\n');
                }
            }
            if seen.is_empty() {
                text.push_str("  z: 1\n");
            }
            let path = match number == last {
                true => "nodes/web1.yml".to_owned(),
                false => format!("classes/c{number}.yml"),
            };
            files.insert(path, text);
        }
        files
    })
}

fn written(files: &Files) -> TempDir {
    let files: Vec<(&str, &str)> = files
        .iter()
        .map(|(path, text)| (&**path, &**text))
        .collect();
    disk::written(&files)
}

/// The pillar, and where its values come from.
fn explained(kind: Inventory, files: &Files) -> Option<(Map, Lineage, TempDir)> {
    let directory = written(files);
    let root = directory.path().display();
    let one = match kind {
        Inventory::Saltclass => format!("saltclass: [{{path: {root}}}]"),
        Inventory::Reclass => format!("reclass: {{inventory_base_uri: {root}}}"),
    };
    let text = format!("pillar_roots: {{base: [/srv/pillar]}}\next_pillar: [{{{one}}}]");
    let config = Config::parse(text.as_bytes(), "master", Kind::Master).unwrap();
    let minion = Minion::new("web1").complete();
    let engine = Engine::new(MemoryFiles::new());
    let server = MemoryFiles::new().file("base", "top.sls", "base: {}");
    let master = Master::new(config, Arc::new(server));
    let pillar = master
        .explain(&engine, &minion, &PillarRequest::default())
        .ok()?;
    if pillar.data.get("_errors").is_some() {
        return None;
    }
    let lineage = explain_pillar(&pillar, &minion, engine.policy()).unwrap();
    Some((pillar.data, lineage, directory))
}

fn at<'v>(data: &'v Map, path: &[Key]) -> Option<&'v Value> {
    let (first, rest) = path.split_first()?;
    rest.iter()
        .try_fold(data.get(first)?, |here, step| match here {
            Value::Map(map) => map.get(step),
            Value::List(items) => {
                items.get(usize::try_from(step.to_string().parse::<i64>().ok()?).ok()?)
            }
            _ => None,
        })
}

/// The files with another text in place of the scalar at an offset of one.
fn edited(files: &Files, path: &str, start: usize) -> Option<Files> {
    let text = files.get(path)?;
    let rest = text.get(start..)?;
    let end = match rest.strip_prefix('\'') {
        Some(quoted) => quoted.find('\'')? + 2,
        None => rest.find(|c: char| !c.is_ascii_alphanumeric())?,
    };
    let mut files = files.clone();
    let new = format!("{}edited{}", &text[..start], &rest[end..]);
    files.insert(path.to_owned(), new);
    Some(files)
}

/// The counts of places that were tried.
#[derive(Debug, Default)]
struct Tried {
    values: usize,
    replaced: usize,
}

fn check(kind: Inventory, files: &Files, tried: &mut Tried) -> Result<(), TestCaseError> {
    let Some((data, lineage, directory)) = explained(kind, files) else {
        return Err(TestCaseError::reject("it does not compile"));
    };
    let root = format!("{}/", directory.path().display());
    let mut places = Vec::new();
    lineage.visit(&mut |path, known| {
        let is_own = |step: &Key| step.as_str().is_some_and(|step| step.starts_with('_'));
        if path.first().is_none_or(is_own) || matches!(known.value, Value::Map(_) | Value::List(_))
        {
            return;
        }
        // The mark of a list is an item of the pillar that templates see, where it is the first list.
        let is_mark = |value: &Value| value.as_str() == Some("^");
        let past = known.past.iter();
        let replaced = past.filter(|p| p.how == HistoryStep::Replaced && !is_mark(&p.value));
        let replaced: Vec<ValuePosition> = replaced.map(|past| past.spot.clone()).collect();
        places.push((path.to_vec(), known.spot.clone(), replaced));
    });
    for (path, spot, replaced) in places {
        let of = |spot: &ValuePosition| match spot {
            ValuePosition::File { place, .. } => {
                let file = place.file.strip_prefix(&*root)?.to_owned();
                Some((file, place.start))
            }
            _ => None,
        };
        let now = at(&data, &path);
        let Some((file, start)) = of(&spot) else {
            return Err(TestCaseError::fail(format!(
                "{path:?} has no place: {spot:?}\n{files:#?}"
            )));
        };
        let new = edited(files, &file, start).unwrap();
        if let Some((new, ..)) = explained(kind, &new) {
            let new = at(&new, &path);
            prop_assert!(
                new.is_none_or(|new| !now.unwrap().is_same(new)),
                "{path:?} is the same after an edit of {file} at {start}\n{files:#?}"
            );
            tried.values += 1;
        }
        for spot in &replaced {
            let Some((old, before)) = of(spot) else {
                continue;
            };
            if (&*old, before) == (&*file, start) {
                continue;
            }
            let Some(new) = edited(files, &old, before) else {
                continue;
            };
            if let Some((new, ..)) = explained(kind, &new) {
                prop_assert!(
                    at(&new, &path).is_some_and(|new| now.unwrap().is_same(new)),
                    "{path:?} changes by an edit of its past, {old} at {before}\n{files:#?}"
                );
                tried.replaced += 1;
            }
        }
    }
    Ok(())
}

fn prove(kind: Inventory) {
    let mut tried = Tried::default();
    let cases = Cases {
        cases: 24,
        max_global_rejects: 20_000,
        max_shrink_iters: 200,
        failure_persistence: None,
        ..Cases::default()
    };
    let mut runner = TestRunner::new_with_rng(
        cases,
        proptest::test_runner::TestRng::deterministic_rng(
            proptest::test_runner::RngAlgorithm::ChaCha,
        ),
    );
    let tried_all = std::cell::RefCell::new(&mut tried);
    runner
        .run(&inventory(kind), |files| {
            check(kind, &files, &mut tried_all.borrow_mut())
        })
        .unwrap_or_else(|e| panic!("{e}"));
    assert!(tried.values > 150 && tried.replaced > 30, "{tried:?}");
}

#[test]
fn edits_prove_the_places_of_saltclass() {
    prove(Inventory::Saltclass);
}

#[test]
fn edits_prove_the_places_of_reclass() {
    prove(Inventory::Reclass);
}
