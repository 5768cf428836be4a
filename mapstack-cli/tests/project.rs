//! In a checkout, verbs need no flags.

use crate::common;
use crate::common::{Tree, assert_line, run_line};

const MAP: &str = "{% set ntp = salt['grains.filter_by']({'Debian': {'pkg': 'ntpsec'}, 'RedHat': {'pkg': 'chrony'}}, \
     default='Debian') %}\n";

/// A repository of one formula.
fn checkout() -> Tree {
    Tree::new(&[
        ("FORMULA", "name: ntp\n"),
        ("ntp/map.jinja", MAP),
        (
            "ntp/init.sls",
            "{% from 'ntp/map.jinja' import ntp with context %}\nntp: {pkg.installed: [{name: {{ ntp.pkg }}}]}\n",
        ),
        ("old/ntp/map.jinja", &MAP.replace("chrony", "ntp")),
    ])
}

#[test]
#[expect(clippy::too_many_lines, reason = "one row for each command line")]
fn the_root_and_the_formula_are_found() {
    let tree = checkout();
    for (line, status, out, err) in [
        ("map", 0, "pkg: ntpsec", "built-in minion debian-12"),
        ("map --platform rockylinux-9", 0, "pkg: chrony", ""),
        ("data", 0, "", "mapstack map ntp"),
        ("fleet --count pkg", 0, "\tchrony\t", ""),
        ("fleet --get pgk", 1, "", "did you mean 'pkg'?"),
        (
            "fleet --select false",
            2,
            "",
            "--select is true for none of 47 minions",
        ),
        ("fleet npt", 1, "", "did you mean 'ntp'?"),
        ("lint", 0, "", "nothing found"),
        ("explain --why-not ntp/map.jinja", 0, "is read", ""),
        (
            "explain --why-not ntp/init.sls",
            0,
            "no template of the formula names it",
            "",
        ),
        ("explain -o html", 0, "<!doctype html>", ""),
        ("watch --get pgk", 1, "", "did you mean 'pkg'?"),
        ("test --shard 1/2", 2, "", "nothing to test"),
        ("impact ntp:pkg", 0, "reaches 47 of 47 minions", ""),
        (
            "impact ntp:pkg --select grains.os_famly=='Debian'",
            2,
            "",
            "no minion has a grain 'os_famly'; did you mean 'os_family'?",
        ),
        (
            "fleet --select grains.os=='Nope'",
            2,
            "",
            "--select is true for none of 47 minions",
        ),
        (
            "watch --select grains['os_famly']",
            2,
            "",
            "did you mean 'os_family'?",
        ),
        (
            "lint --select grains.get('os_famly')",
            2,
            "",
            "did you mean 'os_family'?",
        ),
        (
            "diff --from old --select grains.os_famly",
            2,
            "",
            "did you mean 'os_family'?",
        ),
        ("impact nto:pkg", 2, "", "did you mean 'ntp'?"),
        ("fleet --get os.name", 1, "", "has nothing under 'os.name'"),
        ("impact ntp:pgk", 1, "", "did you mean 'pkg'?"),
        ("impact grains:os_family", 0, "reaches 47 of 47 minions", ""),
        ("diff --from old", 1, "with os_family=RedHat", ""),
        ("diff --from .", 0, "no file's content differs", ""),
    ] {
        assert_line(tree.path(), line, status, out, err);
    }
}

#[test]
fn layers_that_states_do_not_use_are_named_as_such() {
    let tree = Tree::new(&[
        ("ssh/parameters/defaults.yaml", "values: {port: 22}\n"),
        (
            "ssh/map.jinja",
            "{% set mapdata = salt['map.data']('ssh') %}{% do mapdata.update({'port': 2222}) %}\n",
        ),
        ("web/parameters/defaults.yaml", "values: {port: 80}\n"),
        (
            "web/map.jinja",
            "{% set mapdata = salt['map.data']('web') %}\n",
        ),
        ("bad/parameters/defaults.yaml", "values: {port: 80}\n"),
        ("bad/map.jinja", "{{ nope.x }}\n"),
    ]);
    let explained = run_line(tree.path(), "explain ssh port --platform debian-12");
    assert!(
        explained.stdout.contains("2222  ./ssh/map.jinja:1:74"),
        "{}",
        explained.stdout
    );
    for verb in ["data", "explain --of data"] {
        for (formula, said) in [
            ("ssh", "its map.jinja, which exports something else"),
            ("bad", "its map.jinja, which fails"),
        ] {
            let line = format!("{verb} {formula}");
            assert_line(tree.path(), &line, 0, "port", said);
        }
        let ran = run_line(tree.path(), &format!("{verb} web --platform debian-12"));
        assert_eq!((ran.status, &*ran.stderr), (Some(0), ""), "{verb}");
    }
}

#[test]
fn a_file_names_roots_minions_and_stubs() {
    let tree = Tree::new(&[
        (
            ".mapstack.yaml",
            "roots: salt\nminions: minions\nstubs: stubs.yaml\n",
        ),
        (
            "salt/web/parameters/defaults.yaml",
            "values: {port: {{ salt['my.port']() }}}\n",
        ),
        ("minions/web1.yaml", "id: web1\n"),
        ("stubs.yaml", "my.port: [{return: 8080}]\n"),
    ]);
    let ran = run_line(tree.path(), "fleet --get port");
    assert_eq!(
        ran.stdout, "minion\tweb:port\nweb1\t8080\n",
        "{}",
        ran.stderr
    );
    tree.write(".mapstack.yaml", b"rots: salt\n");
    let ran = run_line(tree.path(), "fleet");
    assert_eq!(ran.status, Some(1));
    assert!(
        ran.stderr.contains("did you mean 'roots'?"),
        "{}",
        ran.stderr
    );
}

#[test]
fn what_was_not_compared_is_listed() {
    let tree = checkout();
    tree.write("new/ntp/map.jinja", MAP.as_bytes());
    tree.write("new/ntp/files/unread.conf", b"a\n");
    tree.write("before/ntp/map.jinja", MAP.as_bytes());
    let line = "diff --from before --to new";
    let unread = "changed, and not compared: 1 managed file (ntp/files/unread.conf)";
    let refused = "nothing that changed was compared";
    assert_line(tree.path(), line, 2, unread, refused);
    tree.write("new/ntp/init.sls", b"{}\n");
    tree.write("new/web/init.sls", b"{}\n");
    for (line, status, out, err) in [
        // The sls were compared.
        (line, 0, unread, ""),
        (
            "diff --from old --to new --strict",
            2,
            "not compared",
            "not all that changed was compared",
        ),
        (
            "diff ntp --from old --to new",
            1,
            "changed in other folders, and not compared: 1 file",
            "",
        ),
        ("diff npt --from old --to new", 2, "", "did you mean 'ntp'?"),
        (
            "diff --from old --to new --select false",
            2,
            "",
            "--select is true for none of 47 minions",
        ),
    ] {
        assert_line(tree.path(), line, status, out, err);
    }
}

/// Documents, and whether they are a `.mapstack.yaml`.
const DOCUMENTS: [(&str, bool); 14] = [
    ("{}", true),
    ("roots: states", true),
    ("roots: [states]", true),
    ("roots: {base: states, dev: [states]}", true),
    ("minions: states", true),
    ("stubs: [stubs.yaml]", true),
    ("stubs: stubs.yaml", true),
    ("levels: {dead-file: note}", false),
    (
        "levels: {redundant-override: off, missing-import: error}",
        true,
    ),
    ("levels: {redundant-override: loud}", false),
    ("levels: {redundant-override: 3}", false),
    ("secret: pin*\nno_secret: [keyid, '*_algos']", true),
    ("no_secret: [1]", false),
    ("root: states", false),
];

#[test]
fn the_schema_of_the_file_has_what_its_reader_reads() {
    let read = |path: &str| std::fs::read_to_string(common::repository().join(path)).unwrap();
    let schema: serde_json::Value =
        serde_json::from_str(&read("docs/mapstack.schema.json")).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let tree = Tree::new(&[
        ("states/ntp/map.jinja", MAP),
        ("ntp/map.jinja", MAP),
        ("stubs.yaml", ""),
    ]);
    let ran = |text: &str| {
        tree.write(".mapstack.yaml", text.as_bytes());
        run_line(tree.path(), "lint ntp --platform debian-12")
    };
    for (text, valid) in DOCUMENTS {
        let document: serde_json::Value = {
            let value = mapstack::yaml::load(text).unwrap();
            let json = mapstack::value::json::dumps(&value, &Default::default()).unwrap();
            serde_json::from_str(&json).unwrap()
        };
        let ran = ran(text);
        assert_eq!(validator.is_valid(&document), valid, "{text}");
        assert_eq!(ran.status == Some(0), valid, "{text}: {}", ran.stderr);
        assert_eq!(
            ran.stderr.contains(".mapstack.yaml:1:"),
            !valid,
            "{text}: {}",
            ran.stderr
        );
    }
    // The reader lists its keys if a key is unknown.
    let refusal = ran("nothing: 1").stderr;
    let (_, keys) = refusal.split_once("a .mapstack.yaml has ").expect("a note");
    let keys: Vec<&str> = keys.lines().next().unwrap().split(", ").collect();
    let properties = schema["properties"].as_object().unwrap();
    assert_eq!(properties.len(), keys.len());
    assert!(
        keys.iter().all(|key| properties.contains_key(*key)),
        "{keys:?}"
    );
    tree.write(".mapstack.yaml", b"{}");
    let listed = run_line(tree.path(), "lint --rules").stdout;
    let rules: Vec<&str> = listed
        .lines()
        .filter_map(|line| line.split(' ').next())
        .collect();
    assert_eq!(
        schema["properties"]["levels"]["propertyNames"]["enum"],
        serde_json::json!(rules)
    );
}

#[test]
#[cfg(feature = "html")]
fn lint_and_fleet_have_pages() {
    let tree = checkout();
    tree.write(
        "ntp/init.sls",
        b"include: [ntp.nothing]\nntp: {pkg.installed: [{name: {{ nope }}}]}\n",
    );
    let lint = run_line(tree.path(), "lint -o html");
    for part in [
        "<h1><bdi>ntp</bdi>",
        "change bad",
        "data-rule=",
        "{{ nope }}",
    ] {
        assert!(lint.stdout.contains(part), "{part}: {}", lint.stdout);
    }
    let fleet = run_line(tree.path(), "fleet --count pkg -o html");
    for part in [
        "ntp:pkg",
        "<code><bdi>chrony</bdi>",
        "<code><bdi>ntpsec</bdi>",
        "class=\"bar\"",
        "rockylinux-9",
    ] {
        assert!(fleet.stdout.contains(part), "{part}: {}", fleet.stdout);
    }
    for line in [
        "fleet --get pkg --get service -o html",
        "fleet --count pkg --count service -o html",
    ] {
        let both = run_line(tree.path(), line).stdout;
        assert!(
            both.contains("ntp:pkg") && both.contains("ntp:service"),
            "{both}"
        );
    }
    assert_line(
        tree.path(),
        "fleet -o html",
        2,
        "",
        "-o html is for --get and --count",
    );
}

#[test]
fn a_checkout_follows_the_version_of_salt_that_it_names() {
    let tree = Tree::new(&[
        (
            ".mapstack.yaml",
            "pillar_roots: pillar\nsalt_version: 3006.9\n",
        ),
        ("pillar/top.sls", "base: {'G@roles:we*': [a]}\n"),
        ("pillar/a.sls", "a: 1\n"),
        (
            "f/parameters/defaults.yaml",
            "values: {a: {{ salt['pillar.get']('a', 0) }}}\n",
        ),
        (
            "web1.yaml",
            "{id: web1, grains: {id: web1, roles: {web: 1}}}\n",
        ),
    ]);
    let value = |flags: &str| {
        let line = format!("data f --minion web1.yaml --get a {flags}");
        run_line(tree.path(), &line)
    };
    assert_eq!(value("").stdout, "0\n");
    let two = b"pillar_roots: {base: pillar, dev: pillar}\nsalt_version: 3006\n";
    tree.write(".mapstack.yaml", two);
    for line in [
        "lint pillar",
        "fleet f --get a",
        "impact f/parameters/defaults.yaml",
    ] {
        let ran = run_line(tree.path(), &format!("{line} --minion web1.yaml"));
        let says = "2 environments of pillar_roots in an order that changes";
        assert!(ran.stderr.contains(says), "{line}: {}", ran.stderr);
    }
    assert_eq!(value("--salt-version 3007").stdout, "0\n");
    assert_eq!(value("--salt-version 3008").stdout, "1\n");
    let wrong = value("--salt-version 3005");
    let says = "that can be followed are 3006, 3007 and 3008";
    assert!(
        wrong.status == Some(2) && wrong.stderr.contains(says),
        "{}",
        wrong.stderr
    );
    tree.write(
        ".mapstack.yaml",
        b"pillar_roots: pillar\nsalt_version: 3009\n",
    );
    let wrong = value("").stderr;
    assert!(
        wrong.contains(says) && wrong.contains(".mapstack.yaml:2:15"),
        "{wrong}"
    );
}
