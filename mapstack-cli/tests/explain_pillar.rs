//! `mapstack explain pillar`: which sls set a value, and why the minion has it.

use crate::common::{Tree, assert_line, assert_snapshot, run_line};

fn tree() -> Tree {
    Tree::new(&[
        ("master", "pillar_roots: {base: [pillar]}\n"),
        (
            "pillar/top.sls",
            "base:\n  '*':\n    - common\n  'os:Debian':\n    - match: grain\n    - debian\n",
        ),
        (
            "pillar/common.sls",
            "include: [users]\nssh: {port: 22}\nntp: [a]\ndb_password: very-secret\n",
        ),
        ("pillar/users/init.sls", "users:\n  tom: {shell: /bin/sh}\n"),
        (
            "pillar/debian.sls",
            "{% from 'ports.jinja' import port %}\nssh: {port: {{ port + 1 }}}\nusers: {tom: {shell: /bin/bash}}\n",
        ),
        ("pillar/ports.jinja", "{% set port = 2221 %}\n"),
        ("minion.yaml", "id: web1\ngrains: {os: Debian}\n"),
    ])
}

const FACTS: &str = "--config master --minion minion.yaml --digest-salt x";

#[test]
fn a_value_of_a_pillar_has_its_history() {
    let tree = tree();
    for (name, line) in [
        ("value.txt", "explain pillar users:tom:shell"),
        ("computed.txt", "explain pillar ssh:port"),
        ("blame.txt", "explain pillar"),
        ("rows.json", "explain pillar ssh -o json"),
    ] {
        let ran = run_line(tree.path(), &format!("{line} {FACTS}"));
        assert_eq!((ran.status, ran.said()), (Some(0), ""), "{line}");
        assert_snapshot(&format!("explain_pillar/{name}"), &ran.stdout);
        assert!(!ran.stdout.contains("very-secret"), "{}", ran.stdout);
    }
    let masked = run_line(
        tree.path(),
        &format!("explain pillar {FACTS} --mask pillar"),
    );
    assert!(!masked.stdout.contains("/bin/bash"), "{}", masked.stdout);
    if cfg!(feature = "html") {
        let ran = run_line(tree.path(), &format!("explain pillar {FACTS} --html -"));
        assert_eq!((ran.status, ran.said()), (Some(0), ""));
        for text in [
            "included by common",
            "the sls users of base",
            "pillar/top.sls:2:3",
        ] {
            assert!(ran.stdout.contains(text), "{text}");
        }
        assert!(!ran.stdout.contains("very-secret"));
    }
}

#[test]
fn the_values_of_a_formula_lead_into_the_pillar() {
    let tree = tree();
    tree.write(
        "master",
        b"pillar_roots: {base: [pillar]}\nfile_roots: {base: [salt]}\n",
    );
    tree.write(
        "salt/ssh/parameters/defaults.yaml",
        b"values: {port: 1, users: []}\n",
    );
    tree.write(
        "salt/users/map.jinja",
        b"{% set users = salt['pillar.get']('users', {}) %}\n",
    );
    for (name, line) in [
        ("formula.txt", "explain ssh port"),
        ("formula-blame.txt", "explain ssh --get port -o blame"),
        ("formula-map.txt", "explain users tom:shell"),
    ] {
        let ran = run_line(tree.path(), &format!("{line} {FACTS}"));
        assert_eq!((ran.status, &*ran.stderr), (Some(0), ""), "{line}");
        assert_snapshot(&format!("explain_pillar/{name}"), &ran.stdout);
    }
    let masked = run_line(
        tree.path(),
        &format!("explain ssh port {FACTS} --mask pillar"),
    );
    assert!(
        masked.stdout.contains("in the pillar:"),
        "{}",
        masked.stdout
    );
    assert!(!masked.stdout.contains("2222"), "{}", masked.stdout);
    // Another pillar than the one that is compiled has no such history.
    tree.write("own.yaml", b"ssh: {port: 7}\n");
    let given = run_line(
        tree.path(),
        &format!("explain ssh port {FACTS} --pillar own.yaml"),
    );
    assert!(
        given.stdout.contains("pillar:ssh:port (own.yaml:1:13)"),
        "{}",
        given.stdout
    );
    assert!(!given.stdout.contains("in the pillar:"), "{}", given.stdout);
}

#[test]
fn what_is_wrong_is_reported_and_the_rest_explained() {
    let tree = tree();
    for (line, status, out, err) in [
        ("explain pillar nope", 1, "", "nope"),
        (
            "explain pillar --why-not pillar/common.sls",
            2,
            "",
            "--root DIR",
        ),
        (
            "explain pillar --pillar minion.yaml",
            2,
            "",
            "not compiled and cannot be explained",
        ),
    ] {
        assert_line(tree.path(), &format!("{line} {FACTS}"), status, out, err);
    }
    let line = "explain pillar --root pillar --minion minion.yaml";
    assert_line(
        tree.path(),
        line,
        2,
        "",
        "nothing says what compiles the pillar",
    );
    tree.write("pillar/users/init.sls", b"users: {{ nope.nope }}\n");
    let line = format!("explain pillar ssh:port {FACTS}");
    assert_line(
        tree.path(),
        &line,
        1,
        "pillar/debian.sls:2:13",
        "'nope' is undefined",
    );
    tree.write("pillar/top.sls", b"- a\n");
    assert_line(tree.path(), &line, 1, "", "not a mapping");
}
