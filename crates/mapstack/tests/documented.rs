//! The tables of the page about definitions hold for its example.

use std::path::Path;

use crate::tables::{Row, rows};
use mapstack::loader::{MemoryFiles, Roots};
use mapstack::minion::Minion;
use mapstack::trace::TracedRequest;
use mapstack::value::{Map, Value};
use mapstack::{DataOptions, Engine, StackOptions, yaml};

const PAGE: &str = include_str!("../../../docs/definitions.md");

fn example() -> &'static Path {
    Path::new(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../examples/definitions"
    ))
}

fn minion() -> Minion {
    let minion = Minion::from_path(example().join("minions/nas1.example.net.yaml"));
    minion.unwrap().complete()
}

fn custom_data() -> Option<Value> {
    let text = std::fs::read_to_string(example().join("custom.yaml")).unwrap();
    Some(yaml::load(&text).unwrap())
}

#[test]
fn every_form_of_a_definition_gives_what_its_row_says() {
    let engine = Engine::new(Roots::new().root("base", example().join("salt")));
    let all = rows(PAGE, "| definition | gives |");
    assert!(all.len() >= 20, "only {} forms found", all.len());
    for row in all {
        for definition in &row.cells[0] {
            match row.cells[2].first().filter(|cell| cell.starts_with('{')) {
                Some(cell) => {
                    let expected = yaml::load(cell).unwrap().repr();
                    assert_eq!(added(&engine, definition), expected, "{definition}");
                }
                None => assert_eq!(tried(&engine, definition), row.cells[2], "{definition}"),
            }
        }
    }
}

/// The values that a definition adds to the defaults.
fn added(engine: &Engine, definition: &str) -> String {
    let options = StackOptions {
        custom_data: custom_data(),
        ..StackOptions::default()
    };
    let stacked = |definition: Option<&str>| {
        let sources: Value = ["defaults.yaml"].into_iter().chain(definition).collect();
        let stack = engine.run(&minion()).stack("backup", &sources, &options);
        stack.unwrap().as_map().cloned().unwrap()
    };
    let (without, with) = (stacked(None), stacked(Some(definition)));
    let is_new = |(key, value): &(_, &Value)| without.get(*key) != Some(*value);
    let added = with.iter().filter(is_new);
    let added: Map = added
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    Value::from(added).repr()
}

/// The paths that a definition leads to, apart from the templates beside them.
fn tried(engine: &Engine, definition: &str) -> Vec<String> {
    let options = DataOptions {
        sources: Some([definition].into_iter().collect()),
        custom_data: custom_data(),
        post_map: Some(false.into()),
        ..DataOptions::default()
    };
    let minion = minion();
    let run = engine.run(&minion);
    run.data("backup", &options).unwrap();
    let events = run.events().into_iter();
    let events = events.filter(|event| event.definition.as_deref() == Some(definition));
    let paths = events.filter_map(|event| match event.asked {
        TracedRequest::File { path, .. } => Some(path),
        _ => None,
    });
    let paths: Vec<String> = paths.collect();
    let pairs = paths.chunks(2).map(|pair| {
        assert_eq!(format!("{}.jinja", pair[0]), pair[1]);
        let path = pair[0].strip_prefix("backup/parameters/");
        path.unwrap_or_else(|| panic!("{}", pair[0])).to_owned()
    });
    pairs.collect()
}

#[test]
fn every_strategy_of_layers_gives_what_its_row_says() {
    let all = rows(PAGE, "| `strategy` | `merge_lists` | result |");
    assert_eq!(all.len(), 5);
    for Row { above, cells } in all {
        let [layer, base] = &above[..] else {
            panic!("{above:?}")
        };
        let expected = yaml::load(&cells[2][0]).unwrap().repr();
        for strategy in &cells[0] {
            for lists in &cells[1] {
                let over = format!("strategy: {strategy}\nmerge_lists: {lists}\nvalues: {layer}");
                let merged = merged(&format!("values: {base}"), &over);
                assert_eq!(merged, expected, "{strategy} {lists}");
            }
        }
    }
}

/// The merged data of two parameter files.
fn merged(one: &str, two: &str) -> String {
    let files = MemoryFiles::new()
        .file("base", "f/parameters/one.yaml", one)
        .file("base", "f/parameters/two.yaml", two);
    let (engine, minion) = (Engine::new(files), minion());
    let sources: Value = ["one.yaml", "two.yaml"].into_iter().collect();
    let run = engine.run(&minion);
    let stack = run.stack("f", &sources, &StackOptions::default());
    stack.unwrap().repr()
}
