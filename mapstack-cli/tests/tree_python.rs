//! Modules that the tree ships, in `salt://_modules` and `salt://_grains`: what changes to them do, and what is said about
//! them.

use crate::common::{Tree, assert_line, run_line};

const DIFF: &str = "diff --from old --to new";

/// The states differ in these lines on some minions, and everything that changed was compared.
fn assert_differ(tree: &Tree, minions: &str, lines: &[&str]) {
    let ran = run_line(tree.path(), &format!("{DIFF} {minions}"));
    assert_eq!(ran.status, Some(1), "{}", ran.stderr);
    for line in lines {
        assert!(ran.stdout.contains(line), "{line}: {}", ran.stdout);
    }
    assert!(!ran.stdout.contains("not compared"), "{}", ran.stdout);
}

#[test]
fn modules_of_the_tree_are_compared_and_reach_the_minions_that_use_them() {
    let map = "{% set web = {'port': salt['ports.of']('web'), 'os': salt['grains.get']('os')} %}\n";
    let ports = "def of(name):\n    return {'web': 80}[name] + __salt__['pillar.get']('add', 0)\n";
    let unused = "def f():\n    return 1\n";
    let tree = Tree::new(&[
        ("old/web/map.jinja", map),
        ("old/_modules/ports.py", ports),
        ("old/_modules/unused.py", unused),
        ("new/web/map.jinja", map),
        ("minions/web1.yaml", "{id: web1, grains: {os: Debian}}"),
        (
            "minions/web2.yaml",
            "{id: web2, grains: {os: Debian}, pillar: {add: 1}}",
        ),
    ]);
    // Everything as in the old state, but for one file.
    let change = |path: &str, text: &str| {
        tree.write("new/_modules/ports.py", ports.as_bytes());
        tree.write("new/_modules/unused.py", unused.as_bytes());
        tree.write(path, text.as_bytes());
    };
    change("new/_modules/ports.py", "def of(name):\n    return 8080\n");
    assert_differ(
        &tree,
        "--minions minions",
        &["  - 80  ", "  - 81  ", "  + 8080  "],
    );
    change("new/_modules/unused.py", "def f():\n    return 2\n");
    let says = "changed, and not compared: 1 module (_modules/unused.py)";
    assert_line(
        tree.path(),
        &format!("{DIFF} --minions minions"),
        2,
        says,
        "",
    );
    // A state may call one that no map uses.
    for (module, status, says) in [
        ("ports", 0, "reaches 2 of 2 minions"),
        ("unused", 2, "it is not known what"),
    ] {
        let line = format!("impact --root new --minions minions new/_modules/{module}.py");
        assert_line(tree.path(), &line, status, says, "");
    }
    let module = "import requests\ndef of(name):\n    return requests.get(name)\n";
    change("new/_modules/ports.py", module);
    let says = "ports.of: answered by a module of the tree";
    assert_line(tree.path(), "lint --root new --calls", 0, says, "");
    assert_line(tree.path(), "lint --root old", 0, "", "");
    let linted = run_line(tree.path(), "lint --root new");
    let said = format!("{}{}", linted.stdout, linted.stderr);
    assert!(
        !said.contains("error") && said.contains("ports.of"),
        "{said}"
    );
    // One with the name of a module of Salt's replaces it.
    change(
        "new/_modules/grains.py",
        "def get(key):\n    return 'mine'\n",
    );
    let line = format!("{DIFF} --minions minions");
    assert_line(tree.path(), &line, 1, "  + mine  ", "");
}

const ROLE: &str =
    "def role(grains):\n    return {'role': 'web' if grains['os_family'] == 'Debian' else 'db'}\n";
const PLATFORMS: &str = "--platform debian-12 --platform rockylinux-9";

/// Two states of a tree with a module of grains, and a pillar that targets them.
fn tree_of_grains() -> Tree {
    let layer = "values: {role: {{ grains.get('role') }}}\n";
    Tree::new(&[
        ("old/_grains/m.py", ROLE),
        ("new/_grains/m.py", ROLE),
        ("old/web/parameters/defaults.yaml", layer),
        ("new/web/parameters/defaults.yaml", layer),
        (
            "pillar/top.sls",
            "base:\n  'G@role:web':\n    - web\n  '*':\n    - all\n",
        ),
        ("pillar/web.sls", "is_web: true\n"),
        ("pillar/all.sls", "said: {{ grains.get('role') }}\n"),
        (
            "master",
            "file_roots: {base: [new]}\npillar_roots: {base: [pillar]}\n",
        ),
        ("minion.yaml", "{id: web1, grains: {os_family: Debian}}"),
        ("stubs.yaml", "grains.m.role: {return: {role: web}}\n"),
    ])
}

#[test]
fn grains_of_the_tree_are_those_of_platforms() {
    let tree = tree_of_grains();
    // Top files and templates of pillars see them.
    let line = format!("pillar --config master {PLATFORMS}");
    let pillars = "debian-12:\n  is_web: true\n  said: web\nrockylinux-9:\n  said: db\n";
    let ran = run_line(tree.path(), &line);
    assert_eq!(
        (ran.status, &*ran.stdout),
        (Some(0), pillars),
        "{}",
        ran.stderr
    );
    for (line, said) in [
        (
            "impact grains:role",
            "web: 2 minions: debian-12, rockylinux-9",
        ),
        ("impact new/_grains/m.py", "reaches 2 of 2 minions"),
        (
            "fleet web --select grains.role=='db' --get role",
            "rockylinux-9\tdb",
        ),
    ] {
        assert_line(
            tree.path(),
            &format!("{line} --root new {PLATFORMS}"),
            0,
            said,
            "",
        );
    }
    // A minion that was read has its own.
    let line = "data web --root new --minion minion.yaml --get role";
    assert_line(tree.path(), line, 0, "None\n", "");
    tree.write(
        "new/_grains/m.py",
        ROLE.replace("'db'", "'mail'").as_bytes(),
    );
    let edited = run_line(
        tree.path(),
        &format!("diff --from old --to new {PLATFORMS}"),
    );
    assert_eq!(edited.status, Some(1), "{}", edited.stderr);
    for line in ["  - db  ", "  + mail  "] {
        assert!(edited.stdout.contains(line), "{}", edited.stdout);
    }
    assert!(!edited.stdout.contains("not compared"), "{}", edited.stdout);
    let recorded = run_line(tree.path(), "diff --from old --to new --minion minion.yaml");
    assert!(
        recorded.stdout.contains("not compared"),
        "{}",
        recorded.stdout
    );
    assert!(
        recorded.stdout.contains("_grains/m.py"),
        "{}",
        recorded.stdout
    );
    assert_warned_until_written_down(&tree);
}

/// Grains that are not computed are a warning until they are written down.
fn assert_warned_until_written_down(tree: &Tree) {
    let module =
        "import subprocess\ndef role():\n    return {'role': subprocess.check_output(['role'])}\n";
    tree.write("new/_grains/m.py", module.as_bytes());
    let line = "data web --root new --platform debian-12 --get role";
    let says = "m.role() in salt://_grains/m.py are not computed";
    assert_line(tree.path(), line, 0, "None\n", says);
    for (more, role) in [("", "web\n"), ("--set grains.role=db", "db\n")] {
        let ran = run_line(tree.path(), &format!("{line} --stub stubs.yaml {more}"));
        assert_eq!((&*ran.stdout, &*ran.stderr), (role, ""));
    }
}
