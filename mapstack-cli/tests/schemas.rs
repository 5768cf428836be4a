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

/// Output of a verb that other tests have recorded: a document, or lines of them.
fn recorded(path: &str) -> Vec<Value> {
    let path = repository().join("mapstack-cli/tests").join(path);
    let text = fs::read_to_string(&path).unwrap();
    let parsed = |text: &str| serde_json::from_str(text).unwrap();
    if path.extension().is_some_and(|ending| ending == "json") {
        return vec![parsed(&text)];
    }
    let lines = text.lines().filter(|line| line.starts_with('{'));
    lines.map(parsed).collect()
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
    // No option need be set.
    let is_empty_valid = verb == "config";
    assert_eq!(validator.is_valid(&json!({})), is_empty_valid, "{verb}");
}

/// The output of command lines in a tree.
struct Printed {
    files: &'static [(&'static str, &'static str)],
    lines: &'static [&'static str],
}

/// The output of a verb that is looked at.
struct Samples {
    /// The name of the schema.
    verb: &'static str,
    /// Recorded by other tests.
    recorded: &'static [&'static str],
    printed: &'static [Printed],
    /// The properties that only other tests see.
    elsewhere: &'static [&'static str],
}

const MINIONS: (&str, &str) = ("minions.yaml", "good: {id: good}\nbad: {grains: 1}\n");
const ONE: (&str, &str) = ("minions.yaml", "one: {id: one}\n");
const TOP: (&str, &str) = ("salt/top.sls", "base: {'*': [web]}\n");

const ALL: &[Samples] = &[
    Samples {
        verb: "diff",
        recorded: &[
            "cases/diff/changes.json",
            "cases/diff_pillars/pillars.json",
            "cases/diff_states/states.json",
        ],
        printed: &[Printed {
            files: &[
                ("old/f/parameters/defaults.yaml", "values: {a: 1}\n"),
                ("new/f/parameters/defaults.yaml", "values: {a: 2}\n"),
                MINIONS,
                ("up/top.sls", "base: {'*': [db]}\n"),
                ("up/db.sls", "grants: {mysql_grants.present: []}\n"),
            ],
            lines: &[
                "diff f --from old --to new --root . --minions minions.yaml -o json",
                "diff --root up --platform debian-12 --salt-version 3007..3008 -o json",
            ],
        }],
        // Only `watch` prints it.
        elsewhere: &["files"],
    },
    Samples {
        verb: "lint",
        recorded: &["cases/lint/findings.json", "cases/lint/pillar.json"],
        printed: &[Printed {
            files: &[
                ("r/f/parameters/defaults.yaml", "values: {a: 1}\n"),
                ("r/f/parameters/unused.yaml", "values: {a: 2}\n"),
                ("r/f/init.sls", "{{ pillar['no'] }}\n"),
                MINIONS,
            ],
            lines: &[
                "lint f --root r --platform all -o json",
                "lint f --root r --minions minions.yaml -o json",
            ],
        }],
        elsewhere: &[],
    },
    Samples {
        verb: "test",
        recorded: &["cases/test/outcomes.json"],
        printed: &[],
        elsewhere: &[],
    },
    Samples {
        verb: "impact",
        recorded: &[
            "cases/impact/port.json",
            "cases/impact/files.json",
            "cases/impact/refused.json",
        ],
        printed: &[Printed {
            files: &[
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
                ONE,
            ],
            lines: &[
                "impact salt/web.sls --root salt --minions minions.yaml -o json",
                "impact m:a --root salt --minions minions.yaml -o json",
                "impact m:b --root salt --minions minions.yaml -o json",
            ],
        }],
        elsewhere: &[],
    },
    Samples {
        verb: "sources",
        recorded: &["cases/examples/sources.json"],
        printed: &[Printed {
            files: &[
                ("r/f/parameters/defaults.yaml", "values: {}\n"),
                (
                    "r/f/parameters/map_jinja.yaml",
                    "values: {sources: [defaults.yaml, Y!C@no]}\n",
                ),
            ],
            lines: &["sources f --root r --platform debian-12 -o json"],
        }],
        elsewhere: &["reason"],
    },
    Samples {
        verb: "explain",
        recorded: &["cases/explain/pillar.json", "cases/explain/value.json"],
        printed: &[],
        elsewhere: &[
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
    },
    Samples {
        verb: "explain-highstate",
        recorded: &[],
        printed: &[Printed {
            files: WEB,
            lines: &["explain highstate --root salt --minions minions.yaml -o json"],
        }],
        elsewhere: &[
            "by",
            "chosen_at",
            "chosen_by",
            "class",
            "ended",
            "external",
            "found",
            "included_by",
            "inputs",
            "merge_lists",
            "merged",
            "named_at",
            "strategy",
        ],
    },
    Samples {
        verb: "fleet-highstate",
        recorded: &[],
        printed: &[
            Printed {
                files: WEB,
                lines: &[
                    "fleet highstate --root salt --minions minions.yaml -o json",
                    "fleet highstate pkg:web-80-www --root salt --minions minions.yaml -o json",
                ],
            },
            Printed {
                files: &[
                    TOP,
                    (
                        "salt/web.sls",
                        "/f: {file.managed: [{contents: a}, {user: u}, {group: g}, {mode: 600}]}\n\
                         /u: {file.managed: [{source: 'http://a/b'}, {skip_verify: true}]}\n\
                         /n: {file.managed: [{source: 'salt://nothing'}]}\n",
                    ),
                    ONE,
                ],
                lines: &["fleet --only files --root salt --minions minions.yaml -o json"],
            },
            Printed {
                files: &[TOP, ("salt/web.sls", "a: {x.y: []\n"), ONE],
                lines: &["fleet highstate --root salt --minions minions.yaml -o json"],
            },
        ],
        elsewhere: &["common"],
    },
    Samples {
        verb: "trace",
        recorded: &["cases/pillar/trace.json"],
        printed: &[Printed {
            files: &[
                (
                    "master",
                    "pillar_roots: {base: [pillar]}\next_pillar: [no: x, saltclass: [{path: classes}]]\n",
                ),
                ("classes/nodes/one.yml", "pillars: {b: 1}\n"),
                ("pillar/top.sls", "base: {'*': [a]}\n"),
                ("pillar/a.sls", "a: 1\n"),
                ("minions.yaml", "one: {id: one}\ntwo: {id: two}\n"),
            ],
            lines: &["pillar --config master --trace -o json --minions minions.yaml"],
        }],
        elsewhere: &["reason"],
    },
    Samples {
        verb: "calls",
        recorded: &["cases/lint/calls.json"],
        printed: &[],
        elsewhere: &[],
    },
    Samples {
        verb: "parse",
        recorded: &[],
        printed: &[Printed {
            files: &[],
            lines: &["parse Y!C:SUB@a|I@roles -o json"],
        }],
        elsewhere: &[],
    },
    Samples {
        verb: "platforms",
        recorded: &[],
        printed: &[Printed {
            files: &[],
            lines: &["platforms -o json"],
        }],
        elsewhere: &[],
    },
    Samples {
        verb: "config",
        recorded: &["cases/config/set.json"],
        printed: &[],
        elsewhere: &[],
    },
    Samples {
        verb: "fleet",
        recorded: &[
            "cases/fleet/all.jsonl",
            "cases/fleet/get.jsonl",
            "cases/fleet/count.jsonl",
        ],
        printed: &[],
        elsewhere: &[],
    },
];

/// States of a package and a service.
const WEB: &[(&str, &str)] = &[
    TOP,
    ("salt/web/defaults.yaml", "{port: 80, user: www}\n"),
    (
        "salt/web/init.sls",
        "{% import_yaml 'web/defaults.yaml' as web %}\n\
         web-{{ web.port }}: {pkg.installed: [{name: 'web-{{ web.port }}-{{ web.user }}'}]}\n\
         web: {service.running: [{require: [{pkg: 'web-{{ web.port }}'}]}]}\n\
         after: {cmd.run: [name: x, require_in: [{service: web}]]}\n",
    ),
    ("salt/off.sls", "off: {pkg.nothing: []}\n"),
    ONE,
];

#[test]
fn every_output_for_programs_is_as_its_schema_says() {
    for all in ALL {
        let mut samples: Vec<Value> = all.recorded.iter().copied().flat_map(recorded).collect();
        for Printed { files, lines } in all.printed {
            let tree = Tree::new(files);
            samples.extend(lines.iter().map(|line| printed(&tree, line)));
        }
        assert_strict(all.verb, &samples[0]);
        assert_valid(all.verb, &samples, all.elsewhere);
    }
}
