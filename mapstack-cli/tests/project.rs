//! In a checkout, verbs need no flags.

use crate::common;
use crate::common::{Tree, run_line};

const MAP: &str = "{% set ntp = salt['grains.filter_by']({'Debian': {'pkg': 'ntpsec'}, 'RedHat': {'pkg': 'chrony'}}, \
     default='Debian') %}\n";

/// Documents, and whether they are a `.mapstack.yaml`.
const DOCUMENTS: [(&str, bool); 14] = [
    ("{}", true),
    ("roots: states", true),
    ("roots: [states]", true),
    ("roots: {base: states, dev: [states]}", true),
    ("minions: states", true),
    ("stubs: [stubs.yaml]", true),
    ("stubs: stubs.yaml", true),
    ("levels: {dead-file: note}", false),
    (
        "levels: {redundant-override: off, missing-import: error}",
        true,
    ),
    ("levels: {redundant-override: loud}", false),
    ("levels: {redundant-override: 3}", false),
    ("secret: pin*\nno_secret: [keyid, '*_algos']", true),
    ("no_secret: [1]", false),
    ("root: states", false),
];

#[test]
fn the_schema_of_the_file_has_what_its_reader_reads() {
    let read = |path: &str| std::fs::read_to_string(common::repository().join(path)).unwrap();
    let schema: serde_json::Value =
        serde_json::from_str(&read("docs/mapstack.schema.json")).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let tree = Tree::new(&[
        ("states/ntp/map.jinja", MAP),
        ("ntp/map.jinja", MAP),
        ("stubs.yaml", ""),
    ]);
    let ran = |text: &str| {
        tree.write(".mapstack.yaml", text.as_bytes());
        run_line(tree.path(), "lint ntp --platform debian-12")
    };
    for (text, valid) in DOCUMENTS {
        let document: serde_json::Value = {
            let value = mapstack::yaml::load(text).unwrap();
            let json = mapstack::value::json::dumps(&value, &Default::default()).unwrap();
            serde_json::from_str(&json).unwrap()
        };
        let ran = ran(text);
        assert_eq!(validator.is_valid(&document), valid, "{text}");
        assert_eq!(ran.status == Some(0), valid, "{text}: {}", ran.stderr);
        assert_eq!(
            ran.stderr.contains(".mapstack.yaml:1:"),
            !valid,
            "{text}: {}",
            ran.stderr
        );
    }
    // The reader lists its keys if a key is unknown.
    let refusal = ran("nothing: 1").stderr;
    let (_, keys) = refusal.split_once("a .mapstack.yaml has ").expect("a note");
    let keys: Vec<&str> = keys.lines().next().unwrap().split(", ").collect();
    let properties = schema["properties"].as_object().unwrap();
    assert_eq!(properties.len(), keys.len());
    assert!(
        keys.iter().all(|key| properties.contains_key(*key)),
        "{keys:?}"
    );
    tree.write(".mapstack.yaml", b"{}");
    let listed = run_line(tree.path(), "lint --rules").stdout;
    let rules: Vec<&str> = listed
        .lines()
        .filter_map(|line| line.split(' ').next())
        .collect();
    assert_eq!(
        schema["properties"]["levels"]["propertyNames"]["enum"],
        serde_json::json!(rules)
    );
}
