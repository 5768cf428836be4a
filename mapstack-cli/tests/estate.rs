//! An estate is found in a checkout, and verbs need no flags in it.

use crate::common::{Tree, assert_line, assert_snapshot, repository, run, run_line};

/// What a verb prints in the example estate, and its messages.
fn shown(line: &str) -> String {
    let ran = run_line(&repository().join("examples/estate"), line);
    format!(
        "{}---\n{}--- {}\n",
        ran.stdout,
        ran.stderr,
        ran.status.unwrap_or(-1)
    )
}

#[test]
fn verbs_in_the_example_estate() {
    for (name, line) in [
        ("minions", "minions"),
        ("lint", "lint"),
        ("fleet", "fleet"),
        ("pillar", "pillar web1.example.org"),
        ("explain", "explain --id db1.example.org"),
        ("init", "init --print"),
    ] {
        assert_snapshot(&format!("estate/{name}.txt"), &shown(line));
    }
    for (name, line) in [("minions", "minions -o json"), ("fleet", "fleet -o json")] {
        let ran = run_line(&repository().join("examples/estate"), line);
        assert_snapshot(&format!("estate/{name}.json"), &ran.stdout);
    }
}

/// A checkout whose files say all of it.
fn checkout() -> Tree {
    Tree::new(&[
        ("salt/top.sls", "base:\n  '*': [common]\n  web*: [web]\n"),
        ("salt/common.sls", "a: test.nop\n"),
        (
            "salt/web/init.sls",
            "b: {test.nop: [{name: {{ pillar.x }}}]}\n",
        ),
        ("salt/lost.sls", "{% if %}\n"),
        ("pillar/top.sls", "base:\n  '*': [private.all, own]\n"),
        ("pillar/own.sls", "x: 1\n"),
    ])
}

#[test]
fn nothing_has_to_be_named() {
    let tree = checkout();
    for (line, status, out, err) in [
        (
            "minions",
            0,
            "web-1  as debian-12  salt/top.sls:3, made up",
            "",
        ),
        (
            "fleet",
            0,
            "web-1  2 sls; its pillar has 1 error",
            "states in salt; pillar in pillar",
        ),
        (
            "lint",
            1,
            "error[template-syntax]",
            "3 sls: 2 that 1 minion get by top files, 1 that none gets",
        ),
        (
            "lint",
            1,
            "no root of the pillar has the folder 'private'",
            "",
        ),
        (
            "pillar web1",
            1,
            "x: 1",
            "nothing in the checkout names the minion 'web1', so it is one of debian-12",
        ),
        ("pillar wen-1", 1, "", "did you mean 'web-1'?"),
        ("pillar web-1 --id web-1", 2, "", "cannot be used with"),
        ("explain", 1, "x: 1", ""),
        ("init --print", 0, "roots: [salt]", ""),
    ] {
        assert_line(tree.path(), line, status, (out, err));
    }
}

#[test]
fn what_only_made_up_minions_lack_is_a_warning() {
    let tree = Tree::new(&[
        (
            "salt/top.sls",
            "{% set own = pillar.sites[grains.id].kind %}\nbase:\n  web1: [web]\n  'G@roles:db': [web]\n",
        ),
        (
            "salt/web.sls",
            "a: {test.nop: [{name: {{ pillar.sites[grains.id].kind }}}]}\n",
        ),
        ("pillar/top.sls", "base: {'*': [sites]}\n"),
        ("pillar/sites.sls", "sites: {web1: {kind: a}}\n"),
    ]);
    assert_line(
        tree.path(),
        "lint",
        0,
        ("these minions stand for others", ""),
    );
    tree.write("pillar/sites.sls", b"sites: {web2: {kind: a}}\n");
    assert_line(tree.path(), "lint", 1, ("did you mean 'web2'?", ""));
}

#[test]
fn a_file_is_proposed_once() {
    let tree = checkout();
    assert_line(tree.path(), "init", 0, ("", ".mapstack.yaml written"));
    assert_line(tree.path(), "init", 1, ("", ".mapstack.yaml exists"));
    assert_line(tree.path(), "minions", 0, ("web-1", ""));
    let empty = Tree::new(&[("README.md", "")]);
    assert_line(empty.path(), "init", 1, ("", "nothing here is a formula"));
    assert_line(empty.path(), "minions", 2, ("", "no estate here"));
}

#[test]
fn what_is_said_to_lie_elsewhere_is_empty() {
    let tree = checkout();
    tree.write(".mapstack.yaml", b"absent: [private.*]\n");
    assert_line(
        tree.path(),
        "pillar web1",
        0,
        ("x: 1", "empty where they are missing"),
    );
}

#[test]
fn nothing_found_is_said_of_what_was_looked_at() {
    let tree = Tree::new(&[(
        "master",
        "file_roots: {base: [nowhere]}\npillar_roots: {base: [nowhere]}\n",
    )]);
    assert_line(
        tree.path(),
        "lint --config master --platform debian-12",
        2,
        ("", "nothing was looked at"),
    );
}

#[test]
fn a_hostile_checkout_reads_nothing_outside() {
    let outside = Tree::new(&[
        ("secret.sls", "stolen: yes"),
        ("conf", "id: stolen"),
        ("stack.cfg", "secret.sls"),
    ]);
    let at = outside.path().display();
    let template = format!(
        "{{% include '{at}/secret.sls' %}}\n{{{{ salt['cp.get_file_str']('{at}/secret.sls') }}}}\n"
    );
    let imports = format!("{{% import_yaml '{at}/secret.sls' as s %}}\ns: {{{{ s }}}}\n");
    let master = format!(
        "include: {at}/conf\nfile_roots: {{base: [{at}]}}\npillar_roots: {{base: [{at}, ..{at}]}}\next_pillar:\n\
         - stack: {at}/stack.cfg\n- file_tree: {{root_dir: {at}}}\n- cmd_yaml: cat {at}/secret.sls\n"
    );
    let tree = Tree::new(&[
        ("salt/top.sls", "base: {'*': [a]}"),
        ("salt/a.sls", &*template),
        ("pillar/top.sls", "base: {'*': [a]}"),
        ("pillar/a.sls", &*imports),
        ("master", &*master),
    ]);
    for line in [
        "pillar web1",
        "lint",
        "fleet",
        "explain",
        "minions",
        "init --print",
    ] {
        let args: Vec<&str> = line.split(' ').collect();
        let ran = run(tree.path(), &args);
        let shown = format!("{}{}", ran.stdout, ran.stderr);
        assert!(!shown.contains("stolen"), "{line}: {shown}");
    }
}
