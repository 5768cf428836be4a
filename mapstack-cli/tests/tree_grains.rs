//! Grains that modules of the tree compute, in `salt://_grains`: who sees them, what changes to them do, and what is said
//! about those that are not computed.

use crate::common::{Tree, run_line};

const ROLE: &str =
    "def role(grains):\n    return {'role': 'web' if grains['os_family'] == 'Debian' else 'db'}\n";

/// A tree in two states, of which the new one has other grains, with a pillar that targets them.
fn tree(new: &str) -> Tree {
    let master = "file_roots: {base: [new]}\npillar_roots: {base: [pillar]}\n";
    let layer = "values: {role: {{ grains.get('role') }}}\n";
    Tree::new(&[
        ("old/_grains/m.py", ROLE),
        ("new/_grains/m.py", new),
        ("old/web/parameters/defaults.yaml", layer),
        ("new/web/parameters/defaults.yaml", layer),
        (
            "pillar/top.sls",
            "base:\n  'G@role:web':\n    - web\n  '*':\n    - all\n",
        ),
        ("pillar/web.sls", "is_web: true\n"),
        ("pillar/all.sls", "said: {{ grains.get('role') }}\n"),
        ("master", master),
        ("minion.yaml", "{id: web1, grains: {os_family: Debian}}"),
    ])
}

#[test]
fn top_files_and_templates_of_pillars_see_them() {
    let tree = tree(ROLE);
    let pillar = "pillar --config master --platform debian-12 --platform rockylinux-9";
    let ran = run_line(tree.path(), pillar);
    assert_eq!(ran.status, Some(0), "{}", ran.stderr);
    let lines: Vec<&str> = ran.stdout.lines().map(str::trim).collect();
    let [debian, rocky] = ["debian-12", "rockylinux-9"]
        .map(|id| lines.iter().position(|line| line.contains(id)).unwrap());
    assert!(
        lines[debian..rocky].contains(&"said: web"),
        "{}",
        ran.stdout
    );
    assert!(
        lines[debian..rocky].contains(&"is_web: true"),
        "{}",
        ran.stdout
    );
    assert!(lines[rocky..].contains(&"said: db"), "{}", ran.stdout);
    assert!(!lines[rocky..].contains(&"is_web: true"), "{}", ran.stdout);
}

#[test]
fn a_minion_that_was_read_has_its_own() {
    let ran = run_line(
        tree(ROLE).path(),
        "data web --root new --minion minion.yaml --get role",
    );
    assert_eq!(
        (ran.status, &*ran.stdout),
        (Some(0), "None\n"),
        "{}",
        ran.stderr
    );
}

#[test]
fn an_edit_of_the_module_changes_what_platforms_get() {
    let tree = tree(&ROLE.replace("'db'", "'mail'"));
    let diff = "diff --from old --to new --platform debian-12 --platform rockylinux-9";
    let ran = run_line(tree.path(), diff);
    assert_eq!(ran.status, Some(1), "{}", ran.stderr);
    for line in ["  - db  ", "  + mail  "] {
        assert!(ran.stdout.contains(line), "{}", ran.stdout);
    }
    assert!(!ran.stdout.contains("not compared"), "{}", ran.stdout);
    // Recorded grains stay as they are, so nothing is said of the file.
    let ran = run_line(tree.path(), "diff --from old --to new --minion minion.yaml");
    assert!(
        ran.stdout.contains("not compared") && ran.stdout.contains("_grains/m.py"),
        "{}",
        ran.stdout
    );
}

#[test]
fn questions_about_facts_know_them() {
    let tree = tree(ROLE);
    let all = "--root new --platform debian-12 --platform rockylinux-9";
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
        let ran = run_line(tree.path(), &format!("{line} {all}"));
        assert!(
            ran.stdout.contains(said),
            "{line}: {}{}",
            ran.stdout,
            ran.stderr
        );
    }
}

#[test]
fn what_is_not_computed_is_a_warning_until_it_is_written_down() {
    let tree = tree(
        "import subprocess\ndef role():\n    return {'role': subprocess.check_output(['role'])}\n",
    );
    let data = "data web --root new --platform debian-12 --get role";
    let ran = run_line(tree.path(), data);
    assert_eq!(
        (ran.status, &*ran.stdout),
        (Some(0), "None\n"),
        "{}",
        ran.stderr
    );
    assert!(
        ran.stderr
            .contains("m.role() in salt://_grains/m.py are not computed"),
        "{}",
        ran.stderr
    );
    let stub = tree.path().join("stubs.yaml");
    std::fs::write(stub, "grains.m.role: {return: {role: web}}\n").unwrap();
    let ran = run_line(tree.path(), &format!("{data} --stub stubs.yaml"));
    assert_eq!((&*ran.stdout, &*ran.stderr), ("web\n", ""));
    let ran = run_line(
        tree.path(),
        &format!("{data} --set grains.role=db --stub stubs.yaml"),
    );
    assert_eq!((&*ran.stdout, &*ran.stderr), ("db\n", ""));
}
