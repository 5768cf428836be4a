//! `mapstack convert`: what it proposes, what it proves, and that it writes all or nothing.

use std::fs;
use std::path::Path;

use crate::common::{Tree, run_line};

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
