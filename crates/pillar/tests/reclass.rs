//! The external pillar `reclass` beside the reference's, recorded; and its errors.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use crate::common::{assert_repeated, records};
use crate::common_inventory::{assert_says, compile, error_of, minion};
use crate::disk::written;
use crate::whole_pillar;
use mapstack::Engine;
use mapstack::loader::MemoryFiles;
use mapstack_pillar::{Master, PillarRequest};

/// Records whose result here differs on purpose, with the reason.
const DIFFERENCES: &[(&str, &str)] = &[(
    "a query of a class that sets a key twice",
    "what other nodes add to such a key does not come into the pillar of this one",
)];

#[test]
fn every_recorded_inventory_is_as_the_reference_has_it() {
    let records = records(include_str!("data/reclass_pillars.json"));
    assert_repeated(&records, DIFFERENCES, whole_pillar::check);
}

/// A directory with the files of an inventory; reclass wants one for classes.
fn inventory(files: &[(&str, &str)]) -> tempfile::TempDir {
    written(&[files, &[("classes/none.yml", "{}\n")]].concat())
}

fn master(arguments: &str) -> Master {
    crate::common_inventory::master("reclass", arguments)
}

fn master_of(directory: &Path) -> Master {
    master(&format!("{{inventory_base_uri: {}}}", directory.display()))
}

/// The only error for an inventory.
fn error(files: &[(&str, &str)]) -> String {
    let directory = inventory(files);
    error_of(&compile(&master_of(directory.path())))
}

#[test]
fn an_error_names_the_parameter_and_its_files() {
    let text = error(&[
        ("nodes/web1.yml", "classes: [a]\nparameters: {d: {k: 1}}\n"),
        ("classes/a.yml", "parameters: {d: {k: {x: 1}}}\n"),
    ]);
    assert_says(
        &text,
        &[
            "the parameter `d:k`: an integer cannot be merged over a mapping",
            "nodes/web1.yml sets it",
        ],
    );
    let text = error(&[("nodes/web1.yml", "parameters: {d: {k: 'x ${no:such}'}}\n")]);
    assert_says(
        &text,
        &[
            "the parameter `d:k`: the reference ${no:such} leads to nothing",
            "nodes/web1.yml sets it",
            "correct the path",
        ],
    );
    let text = error(&[("nodes/web1.yml", "parameters: {k: '${k'}\n")]);
    assert_says(
        &text,
        &["nodes/web1.yml: `parameters`: a reference that ${ begins has no }"],
    );
    let text = error(&[("nodes/web1.yml", "parameters: {a: '${b}', b: '${a}'}\n")]);
    assert_says(&text, &["leads back to the value it is in"]);
}

#[test]
fn an_error_of_a_query_names_the_node_and_the_export() {
    let query = ("nodes/web1.yml", "parameters: {k: '$[ exports:k:l ]'}\n");
    let text = error(&[query, ("nodes/db.yml", "exports: {k: {l: 'x ${no}'}}\n")]);
    assert_says(
        &text,
        &[
            "the export `k:l`: the reference ${no} leads to nothing",
            "nodes/db.yml sets it",
            "an inventory query asks all nodes, among them 'db'",
        ],
    );
    let text = error(&[query, ("nodes/db.yml", "classes: [nosuch]\n")]);
    assert_says(
        &text,
        &[
            "nodes/db.yml: the class 'nosuch' does not exist",
            "among them 'db'",
        ],
    );
    let text = error(&[
        query,
        ("nodes/db.yml", "{}\n"),
        ("nodes/broken.yml", "a: b: c\n"),
    ]);
    assert_says(&text, &["nodes/broken.yml:1:5", "among them 'broken'"]);
    let text = error(&[("nodes/web1.yml", "parameters: {k: '$[ exports:a b ]'}\n")]);
    assert_says(
        &text,
        &["nodes/web1.yml: `parameters`: `exports:a b` is not an inventory query; write"],
    );
    let text = error(&[("nodes/web1.yml", "parameters: {k: 'x $[ exports:a ]'}\n")]);
    assert_says(
        &text,
        &["the inventory query $[ exports:a ] has no answer here"],
    );
}

#[test]
fn a_node_that_queries_leave_out_is_a_warning() {
    let directory = inventory(&[
        (
            "nodes/web1.yml",
            "parameters: {k: '$[ exports:n ]'}\nexports: {n: 1}\n",
        ),
        ("nodes/broken.yml", "a: b: c\n"),
    ]);
    let root = directory.path().display();
    let pillar = compile(&master(&format!(
        "{{inventory_base_uri: {root}, inventory_ignore_failed_node: true}}"
    )));
    assert_eq!(pillar.data.get("k").unwrap().repr(), "{'web1': 1}");
    let [warning] = &pillar.warnings[..] else {
        panic!("{:?}", pillar.warnings)
    };
    assert_says(&warning.message, &["leave out the node 'broken'"]);
    let place = warning.place.as_ref().unwrap().to_string();
    assert!(place.ends_with("nodes/broken.yml:1:5"), "{place}");
}

#[test]
fn queries_over_many_nodes_end() {
    // Each of many nodes has a class with many values, and many queries look at all of them.
    let mut class = String::from("parameters:\n");
    for key in 0..2_000 {
        let _ = writeln!(class, "  k{key}: {{a: [1, 2, 3]}}");
    }
    let mut queries = String::from("classes: [c]\nparameters:\n");
    for key in 0..2_000 {
        let _ = writeln!(queries, "  q{key}: '$[ if exports:k == {key} ]'");
    }
    let mut files = vec![
        ("classes/c.yml".to_owned(), class),
        ("nodes/web1.yml".to_owned(), queries),
    ];
    files.extend((0..400).map(|at| (format!("nodes/n{at}.yml"), "classes: [c]\n".to_owned())));
    let files: Vec<(&str, &str)> = files
        .iter()
        .map(|(name, text)| (&**name, &**text))
        .collect();
    let directory = inventory(&files);
    let limits = mapstack::Limits {
        fuel: 300_000,
        ..Default::default()
    };
    let engine = Engine::new(MemoryFiles::new()).with_limits(limits);
    let minion = minion();
    let master = master_of(directory.path());
    let pillar = master
        .compile(&engine, &minion, &PillarRequest::of(&minion))
        .unwrap();
    assert_says(&error_of(&pillar), &["steps"]);
}

/// An inventory whose nodes ask each other.
const ASKING: &[(&str, &str)] = &[
    (
        "classes/asks.yml",
        "classes: [base]\nparameters:\n  all: '$[ exports:port ]'\n  own: '$[ exports:port if exports:role == self:role ]'\nexports: {port: '${port}', role: '${role}'}\n",
    ),
    (
        "classes/base.yml",
        "parameters: {port: 80, deep: {er: 1}}\n",
    ),
    (
        "nodes/web1.yml",
        "classes: [asks]\nparameters: {role: web}\n",
    ),
    (
        "nodes/web2.yml",
        "classes: [asks]\nparameters: {role: web, port: 81}\n",
    ),
    (
        "nodes/db1.yml",
        "classes: [asks]\nparameters: {role: db, port: 82}\nenvironment: dev\n",
    ),
    (
        "nodes/db2.yml",
        "classes: [asks]\nparameters: {role: db, port: 83}\nenvironment: dev\n",
    ),
    (
        "nodes/odd.yml",
        "classes: [asks]\nparameters: {role: web, '=port': 84, x: '${no:such}'}\n",
    ),
];

/// The answer for a minion with this many steps: data, errors and warnings.
fn shown(master: &Master, id: &str, fuel: u64) -> String {
    let limits = mapstack::Limits {
        fuel,
        ..Default::default()
    };
    let engine = Engine::new(MemoryFiles::new()).with_limits(limits);
    let minion = mapstack::minion::Minion {
        id: id.into(),
        ..minion()
    };
    let made = master
        .compile(&engine, &minion, &PillarRequest::of(&minion))
        .unwrap();
    let data = mapstack::value::Value::from(made.data.clone()).repr();
    format!("{data}\n{:?}\n{:?}", made.failures(), made.warnings)
}

#[test]
fn minions_share_what_is_asked_of_all_nodes() {
    const PLENTY: u64 = 1_000_000;
    let directory = inventory(ASKING);
    let shared = master_of(directory.path());
    let ids = ["web1", "db1", "odd", "web2", "db2", "web1", "nosuch"];
    let assert_same = || {
        for id in ids {
            let alone = shown(&master_of(directory.path()), id, PLENTY);
            assert_eq!(shown(&shared, id, PLENTY), alone, "{id}");
        }
    };
    assert_same();
    // They cost what they cost alone.
    let needs = |fuel: &u64| shown(&master_of(directory.path()), "web2", *fuel).ends_with("[]\n[]");
    let enough = (1..2_000).find(needs).unwrap();
    assert!(shown(&shared, "web2", enough).ends_with("[]\n[]"));
    assert!(!shown(&shared, "web2", enough - 1).ends_with("[]\n[]"));
    // The file's present text counts, and so do its failures.
    for text in [
        "classes: [asks]\nparameters: {role: db, port: 99}\n",
        "classes: [no]\n",
        "a: [",
    ] {
        std::fs::write(directory.path().join("nodes/web2.yml"), text).unwrap();
        assert_same();
    }
    std::fs::remove_file(directory.path().join("nodes/web2.yml")).unwrap();
    assert_same();
}

#[test]
fn what_is_not_there_is_an_error() {
    let text = error(&[("nodes/other.yml", "{}\n")]);
    assert_says(
        &text,
        &["reclass has no node 'web1' below /", "in the inventory /"],
    );
    let text = error(&[("nodes/web1.yml", "classes: [a.b]\n")]);
    assert_says(
        &text,
        &[
            "nodes/web1.yml: the class 'a.b' does not exist",
            "neither a/b.yml nor a/b/init.yml",
        ],
    );
    let text = error(&[
        ("nodes/web1.yml", "classes: [a]\n"),
        ("classes/a.yml", "classes: [b]\n"),
        ("classes/b.yml", "classes: [a]\n"),
    ]);
    assert_says(
        &text,
        &["classes/b.yml: the classes name each other in a circle: a → b → a"],
    );
    let text = error(&[("nodes/x/web1.yml", "{}\n"), ("nodes/y/web1.yml", "{}\n")]);
    assert_says(&text, &["are both the node 'web1'"]);
}

#[test]
fn a_class_that_may_be_missing_is_a_warning() {
    let directory = inventory(&[("nodes/web1.yml", "classes: [nosuch]\n")]);
    let root = directory.path().display();
    let pillar = compile(&master(&format!(
        "{{inventory_base_uri: {root}, ignore_class_notfound: true}}"
    )));
    assert!(pillar.errors.is_empty(), "{:?}", pillar.errors);
    let [warning] = &pillar.warnings[..] else {
        panic!("{:?}", pillar.warnings)
    };
    assert_says(
        &warning.message,
        &[
            "the class 'nosuch' does not exist",
            "nodes/web1.yml names it",
        ],
    );
}

#[test]
fn arguments_are_checked() {
    let of = |arguments: &str| error_of(&compile(&master(arguments)));
    assert_says(
        &of("[a]"),
        &["master:2:15", "its arguments must be a mapping, not a list"],
    );
    assert_says(
        &of("{storage_type: yaml_git}"),
        &["the storage 'yaml_git' is not built in"],
    );
    assert_says(
        &of("{inventory_base_uri: 5}"),
        &["`inventory_base_uri` must be a directory, not an integer"],
    );
    assert_says(
        &of("{inventory_base_uri: /srv, nodes_uri: classes}"),
        &["the directories of nodes and classes overlap"],
    );
    assert_says(
        &of("{inventory_base_uri: /nowhere}"),
        &["/nowhere/nodes is not a directory"],
    );
    assert_says(
        &of("{inventory_base_uri: /srv, delimiter: 5}"),
        &["`delimiter` must be a text"],
    );
}

#[test]
fn hostile_inventories_end() {
    // Each key doubles the one before, as text and as a mapping.
    for (form, words) in [
        (
            "'${{k{before}}} ${{k{before}}}'",
            "longer than 1048576 bytes",
        ),
        (
            "{{a: '${{k{before}}}', b: '${{k{before}}}'}}",
            "more than 250000 values",
        ),
    ] {
        let mut doubling = String::from("parameters:\n  k0: xxxxxxxx\n");
        for key in 1..60 {
            let value = form
                .replace("{{", "{")
                .replace("}}", "}")
                .replace("{before}", &(key - 1).to_string());
            let _ = writeln!(doubling, "  k{key}: {value}");
        }
        assert_says(&error(&[("nodes/web1.yml", &doubling)]), &[words]);
    }
    assert_says(
        &error(&[("nodes/web1.yml", "parameters: {a: {b: ['${a}']}}\n")]),
        &["nested deeper than 100"],
    );
    let mut chain = String::from("parameters:\n  k1000: x\n");
    for key in 0..1000 {
        let _ = writeln!(chain, "  k{key}: '${{k{}}}'", key + 1);
    }
    assert_says(
        &error(&[("nodes/web1.yml", &chain)]),
        &["further than 200 steps"],
    );
    let nested: Vec<(String, String)> = (0..300)
        .map(|at| {
            (
                format!("classes/c{at}.yml"),
                format!("classes: [c{}]\n", at + 1),
            )
        })
        .collect();
    let mut files: Vec<(&str, &str)> = nested
        .iter()
        .map(|(name, text)| (&**name, &**text))
        .collect();
    files.push(("nodes/web1.yml", "classes: [c0]\n"));
    assert_says(&error(&files), &["nested deeper than 200"]);
}

#[test]
fn no_file_is_read_that_lies_elsewhere() {
    let directory = inventory(&[
        ("rc/classes/a.yml", "{}\n"),
        ("rc/nodes/x.yml", "{}\n"),
        ("secret.yml", "parameters: {secret: s}\n"),
    ]);
    let root = directory.path().join("rc");
    std::os::unix::fs::symlink("../../secret.yml", root.join("nodes/web1.yml")).unwrap();
    let pillar = compile(&master_of(&root));
    assert_says(&error_of(&pillar), &["nodes/web1.yml"]);
    assert!(!pillar.data.contains_key("secret"));
}

#[test]
fn files_come_from_a_mounted_server_and_are_noted() {
    let directory = inventory(&[("nodes/web1.yml", "parameters: {k: now}\n")]);
    let before = MemoryFiles::new()
        .file("base", "nodes/web1.yml", "classes: [a.b]\n")
        .file("base", "classes/a/b.yml", "parameters: {k: before}\n");
    assert_eq!(
        compile(&master_of(directory.path()))
            .data
            .get("k")
            .unwrap()
            .to_string(),
        "now"
    );
    let then = master_of(directory.path()).mount(directory.path(), Arc::new(before));
    let (engine, minion) = (Engine::new(MemoryFiles::new()), minion());
    let (made, reads) = then.compile_noting(&engine, &minion, &PillarRequest::of(&minion));
    assert_eq!(made.unwrap().data.get("k").unwrap().to_string(), "before");
    let read = |path: &str| reads.stacked.iter().any(|read| *read.path == *path);
    for path in ["nodes", "nodes/web1.yml", "classes", "classes/a/b.yml"] {
        assert!(read(path), "{path} is not in {:?}", reads.stacked);
    }
}

#[test]
fn files_are_read_as_salt_reads_yaml() {
    let directory = inventory(&[(
        "nodes/web1.yml",
        "parameters: {mode: 0644, since: 2024-01-02}\n",
    )]);
    let data = compile(&master_of(directory.path())).data;
    assert_eq!(data.get("mode").unwrap().repr(), "644");
    assert_eq!(data.get("since").unwrap().repr(), "'2024-01-02'");
    let text = error(&[("nodes/web1.yml", "parameters: {}\nparameters: {}\n")]);
    assert_says(&text, &["nodes/web1.yml:2:1"]);
}
