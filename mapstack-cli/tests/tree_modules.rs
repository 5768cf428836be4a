//! Modules that the tree ships, in `salt://_modules`: what changes to them do, and what is said about them.

use crate::common::{Tree, assert_line, run_line};

const MAP: &str =
    "{% set web = {'port': salt['ports.of']('web'), 'os': salt['grains.get']('os')} %}\n";

/// Two states of a tree; in the new one, some files are others.
fn tree(changed: &[(&str, &str)]) -> Tree {
    let module = "def of(name):\n    return {'web': 80}[name] + __salt__['pillar.get']('add', 0)\n";
    let files = [
        ("web/map.jinja", MAP),
        ("_modules/ports.py", module),
        ("_modules/unused.py", "def f():\n    return 1\n"),
    ];
    let mut all: Vec<(String, &str)> = Vec::new();
    for (path, text) in files {
        let new = changed.iter().find(|(name, _)| *name == path);
        all.push((format!("old/{path}"), text));
        all.push((format!("new/{path}"), new.map_or(text, |(_, text)| text)));
    }
    for (path, text) in changed {
        if !files.iter().any(|(known, _)| known == path) {
            all.push((format!("new/{path}"), text));
        }
    }
    all.push((
        "minions/web1.yaml".to_owned(),
        "{id: web1, grains: {os: Debian}}",
    ));
    all.push((
        "minions/web2.yaml".to_owned(),
        "{id: web2, grains: {os: Debian}, pillar: {add: 1}}",
    ));
    let all: Vec<(&str, &str)> = all.iter().map(|(path, text)| (&**path, *text)).collect();
    Tree::new(&all)
}

const DIFF: &str = "diff --from old --to new --minions minions";

#[test]
fn an_edit_of_a_module_changes_what_is_made_with_it() {
    let module = "def of(name):\n    return 8080\n";
    let ran = run_line(tree(&[("_modules/ports.py", module)]).path(), DIFF);
    assert_eq!(ran.status, Some(1), "{}", ran.stderr);
    for line in ["  - 80  ", "  - 81  ", "  + 8080  "] {
        assert!(ran.stdout.contains(line), "{}", ran.stdout);
    }
    assert!(!ran.stdout.contains("not compared"), "{}", ran.stdout);
}

#[test]
fn a_new_file_replaces_a_module_of_salt() {
    let module = "def get(key):\n    return 'mine'\n";
    let ran = run_line(tree(&[("_modules/grains.py", module)]).path(), DIFF);
    assert_eq!(ran.status, Some(1), "{}", ran.stderr);
    assert!(ran.stdout.contains("  + mine  "), "{}", ran.stdout);
}

#[test]
fn a_module_that_nothing_uses_is_not_compared() {
    let module = "def f():\n    return 2\n";
    let ran = run_line(tree(&[("_modules/unused.py", module)]).path(), DIFF);
    let says = "changed, and not compared: 1 module (_modules/unused.py)";
    assert!(ran.stdout.contains(says), "{}{}", ran.stdout, ran.stderr);
}

#[test]
fn modules_reach_the_minions_that_use_them() {
    let tree = tree(&[]);
    for (module, status, says) in [
        ("ports", 0, "reaches 2 of 2 minions"),
        // A state may call it.
        ("unused", 2, "it is not known what"),
    ] {
        let line = format!("impact --root new --minions minions new/_modules/{module}.py");
        assert_line(tree.path(), &line, status, says, "");
    }
}

#[test]
fn lint_knows_modules_and_what_they_need() {
    let module = "import requests\ndef of(name):\n    return requests.get(name)\n";
    let tree = tree(&[("_modules/ports.py", module)]);
    let ran = run_line(tree.path(), "lint --root new --calls");
    let says = "ports.of: answered by a module of the tree";
    assert!(ran.stdout.contains(says), "{}{}", ran.stdout, ran.stderr);
    let ran = run_line(tree.path(), "lint --root old");
    assert_eq!(ran.status, Some(0), "{}{}", ran.stdout, ran.stderr);
    let ran = run_line(tree.path(), "lint --root new");
    let said = format!("{}{}", ran.stdout, ran.stderr);
    assert!(!said.contains("error"), "{said}");
    assert!(said.contains("ports.of"), "{said}");
}
