//! `mapstack convert`: what it proposes, what it proves, and that it writes all or nothing.

use std::fs;
use std::path::Path;

use crate::common::{Tree, assert_line, assert_snapshot, git, run_line};

const DEFAULTS: &str = "\
# -*- coding: utf-8 -*-
# vim: ft=yaml
---
ntp:
  # The package, where it is called so
  pkg: ntp
  service: ntpd  # as upstream calls it
  servers:
    - 0.pool.ntp.org
  options: {}
";

const FAMILIES: &str = "\
# -*- coding: utf-8 -*-
# vim: ft=yaml
#
# What differs from defaults.yaml
---
Debian:
    # Since wheezy
    service: ntp

# Ports have it elsewhere
FreeBSD: {config: /usr/local/etc/ntp.conf}
Suse: {}
";

const MAP: &str = "\
# -*- coding: utf-8 -*-
# vim: ft=jinja

{%- set tplroot = tpldir.split('/')[0] %}
{#- Start imports as #}
{%- import_yaml tplroot ~ '/defaults.yaml' as default_settings %}
{%- import_yaml tplroot ~ '/osfamilymap.yaml' as osfamilymap %}

{%- set defaults = salt['grains.filter_by'](
      default_settings,
      default='ntp',
      merge=salt['grains.filter_by'](
        osfamilymap,
        grain='os_family',
        merge=salt['pillar.get']('ntp:lookup', default={})
      )
    )
%}

{#- Merge the pillar #}
{%- set ntp = salt['pillar.get']('ntp', default=defaults, merge=True) %}
";

const REST: &str = "
{#- MacOS has users for groups #}
{%- if grains.os == 'MacOS' %}
{%-   do ntp.update({'group': salt['cmd.run']('stat -f %Sg /dev/console')}) %}
{%- endif %}
";

const INIT: &str = "\
{%- from tpldir ~ '/map.jinja' import ntp with context %}
ntp:
  pkg.installed:
    - name: {{ ntp.pkg }}
  service.running:
    - name: {{ ntp.service }}
";

fn formula(map: &str) -> Tree {
    Tree::new(&[
        ("ntp/defaults.yaml", DEFAULTS),
        ("ntp/osfamilymap.yaml", FAMILIES),
        ("ntp/map.jinja", map),
        ("ntp/init.sls", INIT),
        (
            "pillar.example",
            "ntp:\n  lookup: {pkg: chrony}\n  servers: [a, b]\n",
        ),
    ])
}

/// The files below a directory with their texts.
fn files(directory: &Path) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).unwrap().flatten() {
        let path = entry.path();
        match path.is_dir() && !path.is_symlink() {
            true if path.ends_with(".git") => {}
            true => found.extend(files(&path)),
            false => found.push((
                path.display().to_string(),
                fs::read_to_string(&path).unwrap_or_default(),
            )),
        }
    }
    found.sort();
    found
}

#[test]
fn tables_become_layers() {
    let tree = formula(&format!("{MAP}{REST}"));
    let before = files(tree.path());
    for (flag, name) in [
        ("--check", "check"),
        ("--diff", "diff"),
        ("--pr --dry-run", "pr"),
    ] {
        let ran = run_line(tree.path(), &format!("convert ntp --root . {flag}"));
        assert_eq!(ran.status, Some(0), "{}{}", ran.stdout, ran.stderr);
        assert_snapshot(&format!("convert/tables_{name}.txt"), &ran.stdout);
    }
    assert_eq!(files(tree.path()), before, "nothing is written");
    assert_line(
        tree.path(),
        "convert ntp --root .",
        0,
        "map.data gives",
        "6 written",
    );
    let read = |path: &str| fs::read_to_string(tree.path().join(path)).unwrap();
    assert!(read("ntp/post-map.jinja").contains("{#- MacOS has users for groups #}"));
    assert!(!tree.path().join("ntp/osfamilymap.yaml").exists());
    assert_line(
        tree.path(),
        "convert ntp --root .",
        1,
        "",
        "nothing to convert",
    );
    let map = "map ntp --root . --platform debian-12 --get service";
    assert_line(tree.path(), map, 0, "ntp\n", "");
}

#[test]
fn pillars_of_recorded_tests_count() {
    let tree = formula(MAP);
    let test = tree.path().join("tests/mapstack/ntp/debian-12.yaml");
    fs::create_dir_all(test.parent().unwrap()).unwrap();
    fs::write(&test, "set: {'pillar:ntp:pkg': chrony}\n---\npkg: chrony\n").unwrap();
    fs::write(
        test.with_file_name("gone.yaml"),
        "pillar: gone.sls\n---\n{}\n",
    )
    .unwrap();
    let ran = run_line(tree.path(), "convert ntp --root . --check");
    assert_eq!(ran.status, Some(0), "{}{}", ran.stdout, ran.stderr);
    for line in [
        "  pillars: pillar.example, tests/mapstack/ntp/debian-12.yaml\n",
        "  not compared: tests/mapstack/ntp/gone.yaml: gone.sls cannot be read from the repository\n",
    ] {
        assert!(ran.stdout.contains(line), "{}", ran.stdout);
    }
}

#[test]
fn what_has_no_counterpart_is_said_with_its_place() {
    for (map, says) in [
        ("{% set ntp = {'a': grains.id} %}", "nothing"),
        (
            "{% set ntp = salt['grains.filter_by']({'Debian': 1, 'default': {'a': 2, 'b': 3}}) %}",
            "an entry of the table is not a mapping",
        ),
        (
            "{% set ntp = salt['grains.filter_by']({'Deb*': {'a': 1}}) %}",
            "`Deb*` is a pattern",
        ),
        (
            "{% set ntp = salt['pillar.get']('ntp', {'a': 1}) %}",
            "has no merge=True",
        ),
        (
            "{% set x = salt['cmd.run']('x') %}{% set ntp = salt['grains.filter_by']({'Debian': {'a': y}}) %}",
            "uses `y`",
        ),
        ("{% set ntp = salt['grains.filter_by'](", "unexpected"),
        ("text", "no variable"),
    ] {
        let tree = Tree::new(&[("ntp/map.jinja", map), ("ntp/init.sls", "")]);
        let before = files(tree.path());
        let ran = run_line(tree.path(), "convert ntp --root .");
        assert_eq!(ran.status, Some(1), "{map}: {}{}", ran.stdout, ran.stderr);
        assert!(
            ran.stderr.contains(says) || says == "nothing",
            "{map}: {}",
            ran.stderr
        );
        assert_eq!(files(tree.path()), before, "{map}");
    }
}

#[test]
fn a_difference_keeps_everything_as_it_was() {
    // The state shows whether there is the key that map.data adds.
    let tree = formula(MAP);
    let sls = "{% from 'ntp/map.jinja' import ntp with context %}\n{% for key in ntp %}\nshow {{ key }}:\n  test.nop: []\n{% endfor %}\n";
    fs::write(tree.path().join("ntp/show.sls"), sls).unwrap();
    let before = files(tree.path());
    let ran = run_line(tree.path(), "convert ntp --root .");
    assert_eq!(ran.status, Some(1), "{}{}", ran.stdout, ran.stderr);
    assert_snapshot("convert/difference.txt", &ran.stdout);
    assert_eq!(files(tree.path()), before);
}

#[test]
fn uncommitted_changes_are_kept() {
    let tree = formula(MAP);
    let here = tree.path();
    git(here, &["init", "-q", "."]);
    git(here, &["add", "."]);
    git(here, &["commit", "-q", "-m", "1"]);
    let map = here.join("ntp/map.jinja");
    fs::write(&map, format!("{MAP}\n")).unwrap();
    let before = files(here);
    assert_line(
        here,
        "convert ntp --root .",
        2,
        "",
        "not committed: ntp/map.jinja",
    );
    assert_line(
        here,
        "convert ntp --root . --check",
        0,
        "map.data gives",
        "",
    );
    assert_eq!(files(here), before);
    assert_line(here, "convert ntp --root . --allow-dirty", 0, "", "written");

    // A folder that is a link is committed as a link.
    let tree = formula(MAP);
    let folder = tree.path().join("ntp/files");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("more"), "x\n").unwrap();
    std::os::unix::fs::symlink("files", tree.path().join("ntp/linked")).unwrap();
    git(tree.path(), &["init", "-q", "."]);
    git(tree.path(), &["add", "."]);
    git(tree.path(), &["commit", "-q", "-m", "1"]);
    assert_line(tree.path(), "convert", 0, "", "written");
}

#[test]
fn hostile_formulas_end_and_nothing_is_written_outside() {
    const TABLE: &str = "{% import_yaml 'f/t.yaml' as t %}\
        {% set f = salt['grains.filter_by'](t, merge=salt['pillar.get']('f', {})) %}";
    let endless = "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}";
    for (map, table) in [
        (TABLE, "../../x: {a: 1}\n"),
        (TABLE, "a: {b: 1\n"),
        (TABLE, "a: &a {b: *a}\n"),
        (&format!("{TABLE}{endless}"), "Debian: {a: 1}\n"),
        ("{% import_yaml '/etc/passwd' as t %}{% set f = t %}", ""),
        ("{% import_yaml '../x' as t %}{% set f = t %}", ""),
    ] {
        let files_of = [
            ("outside/x", "1"),
            ("root/f/map.jinja", map),
            ("root/f/t.yaml", table),
        ];
        let tree = Tree::new(&files_of);
        let before = files(tree.path());
        let ran = run_line(tree.path(), "convert f --root root --max-time 5");
        assert_eq!(ran.status, Some(1), "{map}: {}{}", ran.stdout, ran.stderr);
        assert_eq!(files(tree.path()), before, "{map}");
    }
}

#[cfg(unix)]
#[test]
fn links_are_not_written_through() {
    let tree = formula(MAP);
    let outside = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(outside.path(), tree.path().join("ntp/parameters")).unwrap();
    let before = files(tree.path());
    assert_line(tree.path(), "convert ntp --root .", 1, "", "link");
    assert_eq!(files(tree.path()), before);
    assert_eq!(outside.path().read_dir().unwrap().count(), 0);
}
