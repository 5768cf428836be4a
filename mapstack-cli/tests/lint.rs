//! `mapstack lint`: what templates refer to, and what is wrong with them.

mod common;

use common::{Tree, assert_snapshot, run_line};

fn tree() -> Tree {
    Tree::new(&[
        ("r/f/init.sls", "{% from tplroot ~ '/lib.jinja' import a %}\n{{ salt['grains.get']('os') }}\n"),
        ("r/f/lib.jinja", "{% set a = salt.cmd.run('id') %}{{ salt['grains.get']('os') }}\n{{ salt[a ~ '.b']() }}\n"),
        ("r/g/init.sls", "x:\n  {{ 1 | uper }}\n"),
        ("r/g/two.jinja", "{% if x %}\n\n"),
        ("r/g/files/plain.conf", "no template"),
        ("r/h/readme.txt", "no template"),
    ])
}

#[test]
fn calls_are_listed_with_their_places_and_who_answers() {
    let ran = run_line(tree().path(), "lint f --root r --calls");
    assert_eq!((ran.status, &*ran.stderr), (Some(0), ""));
    assert_snapshot("lint/calls.txt", &ran.stdout);
    let ran = run_line(tree().path(), "lint f f --root r --calls -o json");
    assert_eq!((ran.status, &*ran.stderr), (Some(0), ""));
    assert_snapshot("lint/calls.json", &ran.stdout);
}

#[test]
fn what_is_wrong_is_told_with_its_place() {
    for (name, formulas, status) in
        [("unanswered", "f", 0), ("broken", "f g", 1), ("empty", "h", 1), ("missing", "nope", 1)]
    {
        let ran = run_line(tree().path(), &format!("lint {formulas} --root r"));
        assert_eq!((ran.status, &*ran.stdout), (Some(status), ""), "{name}: {}", ran.stderr);
        assert_snapshot(&format!("lint/{name}.txt"), &ran.stderr);
    }
    // Who could answer is told, or does.
    let tree = tree();
    tree.write("stubs.yaml", b"cmd.run: {return: x}");
    for flag in ["--stub stubs.yaml", "--allow cmd.run", "--allow cmd.*", "--salt-call salt-call"] {
        let ran = run_line(tree.path(), &format!("lint f --root r {flag}"));
        assert_eq!((ran.status, &*ran.stderr), (Some(0), ""), "{flag}");
    }
    // A listing does not hide what could not be read.
    let ran = run_line(tree.path(), "lint f g --root r --calls");
    assert_eq!(ran.status, Some(1));
    assert!(ran.stdout.contains("cmd.run") && ran.stderr.contains("uper"), "{}{}", ran.stdout, ran.stderr);
}
