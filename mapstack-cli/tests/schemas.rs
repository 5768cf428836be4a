//! Output for programs is as `docs/*.schema.json` say, and the schemas say nothing that is never printed.

use std::collections::BTreeSet;
use std::fs;

use crate::common::{Tree, repository, run_line};
use serde_json::{Value, json};

fn schema(verb: &str) -> Value {
    let path = format!("docs/{verb}.schema.json");
    serde_json::from_str(&fs::read_to_string(repository().join(path)).unwrap()).unwrap()
}

fn validator(verb: &str) -> jsonschema::Validator {
    jsonschema::validator_for(&schema(verb)).unwrap()
}

/// Output of a verb that other tests have recorded.
fn recorded(path: &str) -> Value {
    let path = repository().join("mapstack-cli/tests/snapshots").join(path);
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

fn printed(tree: &Tree, line: &str) -> Value {
    let ran = run_line(tree.path(), line);
    serde_json::from_str(&ran.stdout).unwrap_or_else(|e| panic!("{line}: {e}\n{}", ran.stderr))
}

/// The schema without origins: those that `explain` prints are looked at there.
fn without_origins(verb: &str) -> Value {
    let mut schema = schema(verb);
    if let (Some(Value::Object(parts)), true) = (schema.get_mut("$defs"), verb != "explain") {
        for part in ["OriginRow", "FactPart", "Flag"] {
            parts.remove(part);
        }
    }
    schema
}

/// The names of properties that a schema knows.
fn properties(schema: &Value, found: &mut BTreeSet<String>) {
    match schema {
        Value::Object(object) => {
            if let Some(Value::Object(known)) = object.get("properties") {
                found.extend(known.keys().cloned());
            }
            object.values().for_each(|part| properties(part, found));
        }
        Value::Array(items) => items.iter().for_each(|item| properties(item, found)),
        _ => {}
    }
}

fn keys(sample: &Value, found: &mut BTreeSet<String>) {
    match sample {
        Value::Object(object) => {
            found.extend(object.keys().cloned());
            object.values().for_each(|part| keys(part, found));
        }
        Value::Array(items) => items.iter().for_each(|item| keys(item, found)),
        _ => {}
    }
}

/// The samples are valid, and have every property of the schema but those that other tests see.
fn assert_valid(verb: &str, samples: &[Value], seen_elsewhere: &[&str]) {
    let validator = validator(verb);
    for sample in samples {
        let problems: Vec<String> = validator
            .iter_errors(sample)
            .map(|e| format!("{}: {e}", e.instance_path()))
            .collect();
        assert!(problems.is_empty(), "{verb}: {problems:#?}");
    }
    let (mut known, mut seen) = (BTreeSet::new(), BTreeSet::new());
    properties(&without_origins(verb), &mut known);
    samples.iter().for_each(|sample| keys(sample, &mut seen));
    seen.extend(seen_elsewhere.iter().map(ToString::to_string));
    let never: Vec<&String> = known.difference(&seen).collect();
    assert!(never.is_empty(), "{verb}: nothing prints {never:?}");
}

/// A result that lacks a property, or has one too many, is not valid.
fn assert_strict(verb: &str, sample: &Value) {
    let validator = validator(verb);
    let mut broken = sample.clone();
    let first = match &mut broken {
        Value::Array(items) => &mut items[0],
        object => object,
    };
    let object = first.as_object_mut().unwrap();
    object.insert("other".to_owned(), json!(1));
    assert!(!validator.is_valid(&broken), "{verb}");
    assert!(!validator.is_valid(&json!({})), "{verb}");
}

#[test]
fn differences() {
    let changes = [
        recorded("diff/changes.json"),
        recorded("diff_pillars/changes.json"),
        recorded("diff_states/changes.json"),
    ];
    assert_strict("diff", &changes[0]);
    let tree = Tree::new(&[
        ("old/f/parameters/defaults.yaml", "values: {a: 1}\n"),
        ("new/f/parameters/defaults.yaml", "values: {a: 2}\n"),
        ("minions.yaml", "good: {id: good}\nbad: {grains: 1}\n"),
        ("up/top.sls", "base: {'*': [db]}\n"),
        ("up/db.sls", "grants: {mysql_grants.present: []}\n"),
    ]);
    let upgrade = printed(
        &tree,
        "diff --root up --platform debian-12 --salt-version 3007..3008 -o json",
    );
    let broken = printed(
        &tree,
        "diff f --from old --to new --root . --minions minions.yaml -o json",
    );
    // Only `watch` prints `files`.
    assert_valid(
        "diff",
        &[&changes[..], &[broken, upgrade]].concat(),
        &["files"],
    );
}

#[test]
fn findings() {
    let findings = [recorded("lint/findings.json"), recorded("lint/pillar.json")];
    assert_strict("lint", &findings[0]);
    let tree = Tree::new(&[
        ("r/f/parameters/defaults.yaml", "values: {a: 1}\n"),
        ("r/f/parameters/unused.yaml", "values: {a: 2}\n"),
        ("r/f/init.sls", "{{ pillar['no'] }}\n"),
        ("minions.yaml", "good: {id: good}\nbad: {grains: 1}\n"),
    ]);
    let broken = printed(&tree, "lint f --root r --minions minions.yaml -o json");
    let whole_file = printed(&tree, "lint f --root r --platform all -o json");
    assert_valid(
        "lint",
        &[&findings[..], &[whole_file, broken]].concat(),
        &[],
    );
}

#[test]
fn expectations() {
    let results = recorded("test/all.json");
    assert_strict("test", &results);
    assert_valid("test", &[results], &[]);
}

#[test]
fn impacts() {
    let impact = recorded("impact/port.json");
    assert_strict("impact", &impact);
    let tree = Tree::new(&[
        ("salt/top.sls", "base: {'*': [web, m]}\n"),
        ("salt/web.sls", "web: {test.nop: []}\n"),
        (
            "salt/m/map.jinja",
            "{% set m = {'a': 'x', 'b': grains.id ~ 'y'} %}\n",
        ),
        (
            "salt/m/init.sls",
            "{% from 'm/map.jinja' import m with context %}\nm: {test.nop: [{name: {{ m.a }}}]}\n",
        ),
        ("minions.yaml", "one: {id: one}\n"),
    ]);
    let [states, argument, computed] = ["salt/web.sls", "m:a", "m:b"].map(|what| {
        let line = format!("impact {what} --root salt --minions minions.yaml -o json");
        printed(&tree, &line)
    });
    let [files, refused] =
        ["files", "refused"].map(|name| recorded(&format!("impact/{name}.json")));
    let samples = [impact, states, argument, computed, files, refused];
    assert_valid("impact", &samples, &[]);
}

#[test]
fn sources() {
    let sources = recorded("sources/bsd1.json");
    assert_strict("sources", &sources);
    let tree = Tree::new(&[
        ("r/f/parameters/defaults.yaml", "values: {}\n"),
        (
            "r/f/parameters/map_jinja.yaml",
            "values: {sources: [defaults.yaml, Y!C@no]}\n",
        ),
    ]);
    let nothing = printed(&tree, "sources f --root r --platform debian-12 -o json");
    assert_valid("sources", &[sources, nothing], &["reason"]);
}

#[test]
fn origins() {
    let pillar = recorded("explain_pillar/rows.json");
    assert_strict("explain", &pillar);
    let formula = recorded("explain/account.json");
    assert_valid(
        "explain",
        &[pillar, formula],
        &[
            "built_in",
            "flag",
            "platform",
            "unknown",
            "inputs",
            "argument",
            "class",
            "chosen_at",
            "external",
            "named_at",
            "id",
            "printed",
        ],
    );
}

#[test]
fn states() {
    let tree = Tree::new(&[
        ("salt/top.sls", "base: {'*': [web]}\n"),
        ("salt/web/defaults.yaml", "{port: 80, user: www}\n"),
        (
            "salt/web/init.sls",
            "{% import_yaml 'web/defaults.yaml' as web %}\n\
             web-{{ web.port }}: {pkg.installed: [{name: 'web-{{ web.port }}-{{ web.user }}'}]}\n\
             web: {service.running: [{require: [{pkg: 'web-{{ web.port }}'}]}]}\n\
             after: {cmd.run: [name: x, require_in: [{service: web}]]}\n",
        ),
        ("salt/off.sls", "off: {pkg.nothing: []}\n"),
        ("minions.yaml", "one: {id: one}\n"),
    ]);
    let explained = printed(
        &tree,
        "explain highstate --root salt --minions minions.yaml -o json",
    );
    assert_strict("explain-highstate", &explained);
    let problems: Vec<String> = validator("explain-highstate")
        .iter_errors(&explained)
        .map(|e| format!("{}: {e}", e.instance_path()))
        .collect();
    assert!(problems.is_empty(), "{problems:#?}");
    let mut seen = BTreeSet::new();
    keys(&explained, &mut seen);
    for name in ["printed", "given_by", "requisites", "reached"] {
        assert!(seen.contains(name), "nothing prints {name}");
    }
    let all = "fleet highstate --root salt --minions minions.yaml -o json";
    let whole = printed(&tree, all);
    assert_strict("fleet-highstate", &whole);
    let package = printed(&tree, &all.replace("highstate", "highstate pkg:web-80-www"));
    let files = "/f: {file.managed: [{contents: a}, {user: u}, {group: g}, {mode: 600}]}\n\
                 /u: {file.managed: [{source: 'http://a/b'}, {skip_verify: true}]}\n\
                 /n: {file.managed: [{source: 'salt://nothing'}]}\n";
    fs::write(tree.path().join("salt/web/init.sls"), files).unwrap();
    let files = printed(&tree, &all.replace("highstate", "--only files"));
    fs::write(tree.path().join("salt/web/init.sls"), "a: {x.y: []\n").unwrap();
    let failing = printed(&tree, all);
    assert_valid(
        "fleet-highstate",
        &[whole, package, files, failing],
        &["common"],
    );
}

#[test]
fn steps_of_pillars() {
    let stacks = recorded("pillar/trace.json");
    assert_strict("trace", &stacks);
    let tree = Tree::new(&[
        (
            "master",
            "pillar_roots: {base: [pillar]}\next_pillar: [no: x, saltclass: [{path: classes}]]\n",
        ),
        ("classes/nodes/one.yml", "pillars: {b: 1}\n"),
        ("pillar/top.sls", "base: {'*': [a]}\n"),
        ("pillar/a.sls", "a: 1\n"),
        ("minions.yaml", "one: {id: one}\ntwo: {id: two}\n"),
    ]);
    let whole = printed(
        &tree,
        "pillar --config master --trace -o json --minions minions.yaml",
    );
    assert_valid("trace", &[stacks, whole], &["reason"]);
}

#[test]
fn calls_of_templates() {
    let calls = recorded("lint/calls.json");
    assert_strict("calls", &calls);
    assert_valid("calls", &[calls], &[]);
}

#[test]
fn definitions() {
    let parsed = printed(&Tree::new::<&str>(&[]), "parse Y!C:SUB@a|I@roles -o json");
    assert_strict("parse", &parsed);
    assert_valid("parse", &[parsed], &[]);
}

#[test]
fn platforms() {
    let platforms = printed(&Tree::new::<&str>(&[]), "platforms -o json");
    assert_strict("platforms", &platforms);
    assert_valid("platforms", &[platforms], &[]);
}

#[test]
fn options_in_force() {
    let options = recorded("config/set.json");
    assert_valid("config", std::slice::from_ref(&options), &[]);
    let mut broken = options;
    broken["other"] = json!({"value": 1});
    assert!(!validator("config").is_valid(&broken));
}

/// The lines of a recorded output.
fn recorded_lines(name: &str) -> Vec<Value> {
    let path = repository().join(format!("mapstack-cli/tests/snapshots/fleet/{name}.txt"));
    let text = fs::read_to_string(path).unwrap();
    let lines = text.lines().filter(|line| line.starts_with('{'));
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn lines_of_a_fleet() {
    let lines = ["jsonl", "get-jsonl", "count-jsonl"].map(recorded_lines);
    assert_strict("fleet", &lines[0][0]);
    assert_valid("fleet", &lines.concat(), &[]);
}
