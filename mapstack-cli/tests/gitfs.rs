//! The documented set-up: a master's own files first, formulas pinned to tags in git last.

#![cfg(all(unix, feature = "git"))]

use std::path::Path;
use std::process::Command;

use crate::common::{assert_snapshot, repository, run, run_line};
use mapstack::value::{Value, json};
use tempfile::TempDir;

/// The tree that the example's script makes.
fn built() -> TempDir {
    let home = tempfile::tempdir().unwrap();
    let script = repository().join("examples/gitfs/build.sh");
    let built = Command::new("sh")
        .arg(script)
        .arg(home.path().join("top"))
        .output()
        .expect("sh runs");
    assert!(
        built.status.success(),
        "{}",
        String::from_utf8_lossy(&built.stderr)
    );
    home
}

#[test]
fn the_example_is_read_compared_and_answered_as_by_salt() {
    let home = built();
    let top = home.path().join("top");
    assert_answers_of_salt(&top);
    assert_documented_order(&top);
    assert_remotes_are_compared(&top);
    assert_errors_are_reported(&top);
}

fn assert_answers_of_salt(top: &Path) {
    let records = json::loads(include_str!("data/gitfs_example.json")).unwrap();
    let records = records.as_list().unwrap();
    assert!(!records.is_empty());
    for record in records {
        let record = record.as_map().unwrap();
        let text = |name: &str| record.get(name).unwrap().to_string();
        let (configuration, minion, formula) =
            (text("configuration"), text("minion"), text("formula"));
        let config = format!("--config=etc/{configuration}/master");
        let id = format!("--id={minion}");
        let ran = run(
            top,
            &[
                "data",
                &formula,
                &config,
                "--minions=minions",
                &id,
                "-o",
                "json",
            ],
        );
        assert_eq!(
            (ran.status, &*ran.stderr),
            (Some(0), ""),
            "{configuration} {minion} {formula}"
        );
        let printed: Value = json::loads(&ran.stdout).unwrap();
        assert_eq!(
            printed.repr(),
            record.get("result").unwrap().repr(),
            "{configuration} {minion} {formula}"
        );
    }
}

/// Files are found in the documented order.
fn assert_documented_order(at: &Path) {
    let top = at.display().to_string();
    let shown = |line: &str| {
        let ran = run_line(at, line);
        assert_eq!((ran.status, &*ran.stderr), (Some(0), ""), "{line}");
        ran.stdout.replace(&top, "<TOP>")
    };
    let minion = "--config etc/salt/master --minions minions --id server-1.example.net";
    assert_snapshot(
        "gitfs/sources.txt",
        &shown(&format!("sources TEMPLATE {minion}")),
    );
    assert_snapshot(
        "gitfs/explain.txt",
        &shown(&format!("explain TEMPLATE config {minion}")),
    );
    assert_snapshot(
        "gitfs/blame.txt",
        &shown(&format!("explain TEMPLATE --format blame {minion}")),
    );
}

/// Formulas of remotes are compared.
fn assert_remotes_are_compared(top: &Path) {
    let line = "diff --config etc/salt/master --minions minions --from worktree --to worktree";
    let ran = run_line(top, line);
    assert_eq!(ran.status, Some(0), "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("TEMPLATE"), "{}", ran.stdout);
    let named = line.replace("diff", "diff TEMPLATE");
    let ran = run_line(top, &named);
    assert_eq!(ran.status, Some(0), "{}{}", ran.stdout, ran.stderr);
}

/// A repository that is damaged, and then gone, is named.
fn assert_errors_are_reported(top: &Path) {
    let line = "data openssh --config etc/salt/master --minions minions --id other.example.com";
    std::fs::remove_dir_all(top.join("git/openssh-formula/.git/refs")).unwrap();
    let ran = run_line(top, line);
    assert_eq!(ran.status, Some(1));
    assert!(ran.stderr.contains("openssh-formula"), "{}", ran.stderr);
    std::fs::remove_dir_all(top.join("git/openssh-formula")).unwrap();
    let ran = run_line(top, line);
    assert_eq!(ran.status, Some(1));
    assert!(ran.stderr.contains("openssh-formula"), "{}", ran.stderr);
}
