//! `mapstack watch`: what changes do, as they happen.

mod common;

use common::{Going, Tree};

#[test]
fn changes_are_reported_until_the_end() {
    let tree = Tree::new(&[
        ("r/ssh/parameters/defaults.yaml", "values: {port: 22}\n"),
        ("m.yaml", "id: web1\ngrains: {os: Debian}\n"),
    ]);
    let mut watch = Going::start(tree.path(), "watch --root r --minion m.yaml");
    watch.until("watching r for 1 minion;");
    tree.replace("r/ssh/parameters/defaults.yaml", b"values: {port: 2222}\n");
    watch.until("+ 2222  r/ssh/parameters/defaults.yaml:1:16");
    tree.replace(
        "r/ssh/parameters/os/Debian.yaml",
        b"values: {shell: {{ nope }}}\n",
    );
    watch.until("ssh fails now");
    tree.replace(
        "r/ssh/parameters/os/Debian.yaml",
        b"values: {shell: /bin/sh}\n",
    );
    watch.until("ssh works again");
}

#[test]
fn changes_of_gits_own_files_are_not_reported() {
    let tree = Tree::new(&[
        ("r/ssh/parameters/defaults.yaml", "values: {port: 22}\n"),
        ("r/.git/index", "1"),
        ("m.yaml", "id: web1\n"),
    ]);
    let mut watch = Going::start(tree.path(), "watch --root r --minion m.yaml");
    watch.until("watching r for 1 minion;");
    tree.replace("r/.git/index", b"2");
    std::thread::sleep(std::time::Duration::from_secs(1));
    tree.replace("r/ssh/parameters/defaults.yaml", b"values: {port: 2222}\n");
    watch.until("# ssh/parameters/defaults.yaml");
    let of_git = |line: &&String| line.starts_with('#') || line.contains("no change");
    assert_eq!(
        watch.seen.iter().filter(of_git).count(),
        1,
        "{:#?}",
        watch.seen
    );
}

#[test]
fn only_changes_of_a_key_are_reported() {
    let tree = Tree::new(&[
        (
            "r/ssh/parameters/defaults.yaml",
            "values: {port: 22, shell: sh}\n",
        ),
        ("m.yaml", "id: web1\n"),
    ]);
    let mut watch = Going::start(tree.path(), "watch --root r --minion m.yaml --get port");
    watch.until("watching r for 1 minion;");
    tree.replace(
        "r/ssh/parameters/defaults.yaml",
        b"values: {port: 22, shell: bash}\n",
    );
    watch.until("no change");
    tree.replace(
        "r/ssh/parameters/defaults.yaml",
        b"values: {port: 2222, shell: zsh}\n",
    );
    watch.until("+ 2222  r/ssh/parameters/defaults.yaml:1:16");
    assert!(
        !watch.seen.iter().any(|line| line.contains("bash")),
        "{:#?}",
        watch.seen
    );
}
