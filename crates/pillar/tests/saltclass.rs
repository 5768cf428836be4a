//! The external pillar `saltclass` beside the reference's, recorded; and its errors.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use crate::common::{assert_repeated, records};
use crate::common_inventory;
use crate::common_inventory::{assert_says, compile, compile_as, error_of, minion};
use crate::disk::written;
use crate::whole_pillar;
use mapstack::Engine;
use mapstack::loader::MemoryFiles;
use mapstack::minion::SaltVersion;
use mapstack_pillar::{Master, PillarRequest};

/// Records whose result here differs on purpose, with the reason.
const DIFFERENCES: &[(&str, &str)] = &[];

#[test]
fn every_recorded_inventory_is_as_the_reference_has_it() {
    let records = records(include_str!("data/saltclass_pillars.json"));
    assert_repeated(&records, DIFFERENCES, whole_pillar::check);
}

fn master(arguments: &str) -> Master {
    common_inventory::master("saltclass", arguments)
}

fn master_of(directory: &Path) -> Master {
    master(&format!("[{{path: {}}}]", directory.display()))
}

/// The only error for an inventory.
fn error(files: &[(&str, &str)]) -> String {
    let directory = written(files);
    error_of(&compile(&master_of(directory.path())))
}

#[test]
fn an_error_names_the_file_and_what_to_do() {
    let text = error(&[("nodes/web1.yml", "classes:\n")]);
    assert_says(
        &text,
        &[
            "nodes/web1.yml:1:1: `classes` must be a list, not null",
            "leave `classes:` out",
        ],
    );
    let text = error(&[
        ("nodes/web1.yml", "classes: [a]\n"),
        ("classes/a.yml", "[]\n"),
    ]);
    assert_says(
        &text,
        &[
            "classes/a.yml:1:1: the file of a class must be a mapping, not a list",
            "in the inventory /",
        ],
    );
    let text = error(&[("nodes/web1.yml", "")]);
    assert_says(&text, &["nodes/web1.yml", "it is empty", "write `{}`"]);
    let text = error(&[
        ("nodes/web1.yml", "classes: [a]\npillars: {l: []}\n"),
        ("classes/a.yml", "pillars: {l: [1]}\n"),
    ]);
    assert_says(
        &text,
        &[
            "nodes/web1.yml:2:1: `pillars:l`: an empty list cannot be merged",
            "`[^]`",
        ],
    );
    let text = error(&[("nodes/web1.yml", "pillars: [a]\n")]);
    assert_says(&text, &["`pillars`: it must be a mapping, not a list"]);
    let text = error(&[("nodes/web1.yml", "states: [{a: b}]\n")]);
    assert_says(
        &text,
        &["an item of `states` must be the name of a state, not a mapping"],
    );
}

#[test]
fn templates_and_yaml_that_fail_say_where() {
    let text = error(&[("nodes/web1.yml", "a: 1\nb: {{ nosuch.x }}\n")]);
    assert_says(&text, &["nodes/web1.yml:2:"]);
    let text = error(&[
        ("nodes/web1.yml", "classes: [a.b]\n"),
        ("classes/a/b.yml", "x: 1\na: [\n"),
    ]);
    assert_says(&text, &["classes/a/b.yml:"]);
    let text = error(&[
        ("nodes/web1.yml", "classes: [a.b]\n"),
        ("classes/a/b.yml", "{% include 'c.yml' %}\n"),
        ("classes/a/c.yml", "x: 1\ny: {{ 1 / 0 }}\n"),
    ]);
    assert_says(&text, &["classes/a/c.yml:2:"]);
}

#[test]
fn references_to_values_that_are_not_text_are_errors() {
    let of = |pillars: &str| error(&[("nodes/web1.yml", &format!("pillars: {pillars}\n"))]);
    assert_says(
        &of("{a: 'x${b}', b: 5}"),
        &[
            "${b} is an integer",
            "in the text 'x${b}'",
            "quote the value",
        ],
    );
    assert_says(
        &of("{a: '${b:c}', b: 5}"),
        &["${b:c} leads into an integer, which has no keys"],
    );
}

#[test]
fn arguments_need_a_path() {
    let text = error_of(&compile(&master("{path: /srv/saltclass}")));
    assert_says(
        &text,
        &[
            "master:2:15",
            "must be a list with a mapping, not a mapping",
            "- saltclass: [{path:",
        ],
    );
    assert_says(&error_of(&compile(&master("[{}]"))), &["has no `path`"]);
    assert_says(
        &error_of(&compile(&master("[{path: 5}]"))),
        &["`path` must be a directory, not an integer"],
    );
    assert_says(
        &error_of(&compile(&master("[]"))),
        &["needs the argument `path`"],
    );
}

#[test]
fn what_is_not_there_is_a_warning() {
    let warnings = |files: &[(&str, &str)]| {
        let directory = written(files);
        let pillar = compile(&master_of(directory.path()));
        assert!(pillar.errors.is_empty(), "{:?}", pillar.errors);
        let shown = |warning: &mapstack_diagnostic::Diagnostic| {
            assert!(
                warning.place.is_some() && warning.help.is_some(),
                "{warning:?}"
            );
            warning.message.clone()
        };
        pillar
            .warnings
            .iter()
            .map(shown)
            .collect::<Vec<_>>()
            .join("\n")
    };
    assert_says(
        &warnings(&[("classes/a.yml", "{}\n")]),
        &["saltclass has no node 'web1' below /"],
    );
    let text = warnings(&[("nodes/web1.yml", "classes: [nosuch]\n")]);
    assert_says(
        &text,
        &[
            "the class 'nosuch' does not exist",
            "nodes/web1.yml names it",
        ],
    );
    let directory = written(&[("nodes/web1.yml", "classes:\n- nosuch\n")]);
    let pillar = compile(&master_of(directory.path()));
    let place = pillar.warnings[0].place.as_ref().unwrap().to_string();
    assert!(place.ends_with("nodes/web1.yml:2:3"), "{place}");
    let text = warnings(&[("nodes/a/web1.yml", "{}\n"), ("nodes/b/web1.yml", "{}\n")]);
    assert_says(
        &text,
        &[
            "the node 'web1' has several files, among them",
            "nodes/a/web1.yml and",
            "nodes/b/web1.yml",
        ],
    );
}

#[test]
fn hostile_inventories_end() {
    // Each key doubles the one before.
    let mut doubling = String::from("pillars:\n  k00: xxxxxxxx\n");
    for key in 1..60 {
        let _ = writeln!(
            doubling,
            "  k{key:02}: ' ${{k{before:02}}} ${{k{before:02}}}'",
            before = key - 1
        );
    }
    assert_says(
        &error(&[("nodes/web1.yml", &doubling)]),
        &["becomes longer than 1048576 bytes"],
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
    let cyclic = "{% set _ = __pillar__.update({'p': __pillar__}) %}pillars: {p: {p: {p: {}}}}\n";
    let directory = written(&[("nodes/web1.yml", cyclic)]);
    assert!(!compile(&master_of(directory.path())).errors.is_empty());
}

#[test]
fn salt_3006_ends_at_names_that_are_patterns_or_too_many() {
    let error = |files: &[(&str, &str)]| {
        let directory = written(files);
        error_of(&compile_as(
            &master_of(directory.path()),
            SaltVersion::V3006,
        ))
    };
    let text = error(&[
        ("nodes/web1.yml", "classes: [a]\n"),
        ("classes/a.yml", "classes: ['b*']\n"),
        ("classes/b1.yml", "{}\n"),
    ]);
    assert_says(
        &text,
        &["the class 'b*'", "is a pattern", "name it in the node"],
    );
    let many: Vec<(String, String)> = (0..902)
        .map(|at| (format!("classes/c{at}.yml"), "{}\n".into()))
        .collect();
    let names: Vec<String> = (0..902).map(|at| format!("c{at}")).collect();
    let node = format!("classes: [{}]\n", names.join(", "));
    let mut files: Vec<(&str, &str)> = many.iter().map(|(name, text)| (&**name, &**text)).collect();
    files.push(("nodes/web1.yml", &node));
    assert_says(&error(&files), &["more than 900 classes"]);
}

#[test]
fn links_that_lead_back_or_out_are_errors() {
    let directory = written(&[
        ("sc/nodes/web1.yml", "{}\n"),
        ("secret.yml", "pillars: {secret: s}\n"),
    ]);
    let root = directory.path().join("sc");
    std::os::unix::fs::symlink(".", root.join("nodes/again")).unwrap();
    assert_says(
        &error_of(&compile(&master_of(&root))),
        &["deeper than 32 directories"],
    );
    std::fs::remove_file(root.join("nodes/again")).unwrap();
    std::fs::remove_file(root.join("nodes/web1.yml")).unwrap();
    std::os::unix::fs::symlink("../../secret.yml", root.join("nodes/web1.yml")).unwrap();
    let pillar = compile(&master_of(&root));
    assert_says(&error_of(&pillar), &["nodes/web1.yml"]);
    assert!(!pillar.data.contains_key("secret"));
}

#[test]
fn files_come_from_a_mounted_server_and_are_noted() {
    let directory = written(&[("sc/nodes/web1.yml", "pillars: {k: now}\n")]);
    let before = MemoryFiles::new()
        .file("base", "sc/nodes/web1.yml", "classes: [a.*]\n")
        .file("base", "sc/classes/a/b.yml", "pillars: {k: before}\n");
    let root = directory.path().join("sc");
    assert_eq!(
        compile(&master_of(&root))
            .data
            .get("k")
            .unwrap()
            .to_string(),
        "now"
    );
    let then = master_of(&root).mount(directory.path(), Arc::new(before));
    let (engine, minion) = (Engine::new(MemoryFiles::new()), minion());
    let (made, reads) = then.compile_noting(&engine, &minion, &PillarRequest::of(&minion));
    assert_eq!(made.unwrap().data.get("k").unwrap().to_string(), "before");
    let read = |path: &str| reads.stacked.iter().any(|read| *read.path == *path);
    for path in [
        "sc/nodes",
        "sc/nodes/web1.yml",
        "sc/classes",
        "sc/classes/a/b.yml",
    ] {
        assert!(read(path), "{path} is not in {:?}", reads.stacked);
    }
}
