//! `mapstack map`: which variable it prints, and what it says when it cannot.

use crate::common::{Tree, assert_snapshot, run_line};

fn tree() -> Tree {
    Tree::new(&[
        (
            "r/documented/map.jinja",
            "{% set other = {'a': 1} %}{% set mapdata = {'b': 2} %}",
        ),
        (
            "r/imported/map.jinja",
            "{% set imported = {'a': 1} %}{% set used = [1] %}{% set _own = {} %}",
        ),
        (
            "r/imported/init.sls",
            "{% from tplroot ~ '/map.jinja' import used as u with context %}",
        ),
        (
            "r/imported/two.sls",
            "{% from './map.jinja' import used, imported %}{% from 'imported/map.jinja' import used %}",
        ),
        (
            "r/by-name/map.jinja",
            "{% set first = {} %}{% set by_name = {'tpldir': tpldir} %}{% macro m() %}{% endmacro %}",
        ),
        (
            "r/only/map.jinja",
            "{% set text = 'x' %}{% set data = {'c': 3} %}",
        ),
        (
            "r/unclear/map.jinja",
            "{% set a = {} %}{% set b = {} %}{% macro m() %}{% endmacro %}",
        ),
        ("r/nothing/map.jinja", "plain text"),
        (
            "r/wrong/map.jinja",
            "{% import_yaml './defaults.yaml' as d %}\n{% set wrong = d.values.nothing.more %}",
        ),
        ("r/wrong/defaults.yaml", "values: {something: 1}"),
        (
            "r/sub/below/map.jinja",
            "{% set below = {'tpldir': tpldir} %}",
        ),
        ("r/plain/parameters/defaults.yaml", "values: {}"),
        ("minion.yaml", "id: web1\ngrains: {os: Debian}\n"),
    ])
}

#[test]
fn the_variable_is_the_one_that_the_formula_uses() {
    let tree = tree();
    for (formula, printed) in [
        ("documented", "b: 2\n"),
        ("documented --var other", "a: 1\n"),
        ("imported", "- 1\n"),
        ("by-name", "tpldir: by-name\n"),
        ("by-name/", "tpldir: by-name\n"),
        ("only", "c: 3\n"),
        ("only --var text", "x\n"),
        ("only --get c", "3\n"),
        ("sub/below", "tpldir: sub/below\n"),
        ("sub --template below/map.jinja", "tpldir: sub\n"),
    ] {
        let ran = run_line(
            tree.path(),
            &format!("map {formula} --root r --minion minion.yaml"),
        );
        assert_eq!(
            (ran.status, &*ran.stdout, &*ran.stderr),
            (Some(0), printed, ""),
            "{formula}"
        );
    }
}

#[test]
fn missing_templates_and_variables_are_reported() {
    let tree = tree();
    for (name, formula) in [
        ("unclear", "unclear"),
        ("sets-nothing", "nothing"),
        ("no-such-variable", "documented --var mapdat"),
        ("a-macro", "unclear --var m"),
        ("private", "imported --var _own"),
        ("no-map", "plain"),
        ("map-elsewhere", "sub"),
        ("no-formula", "nope"),
        ("undefined", "wrong"),
    ] {
        let ran = run_line(
            tree.path(),
            &format!("map {formula} --root r --minion minion.yaml"),
        );
        assert_eq!(
            (ran.status, &*ran.stdout),
            (Some(1), ""),
            "{name}: {}",
            ran.stderr
        );
        assert_snapshot(&format!("map/{name}.txt"), &ran.stderr);
    }
}
