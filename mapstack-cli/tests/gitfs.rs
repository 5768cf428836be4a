//! The documented set-up: a master's own files first, formulas pinned to tags in git last.

#![cfg(all(unix, feature = "git"))]

use std::process::Command;

use crate::common::{Tree, assert_line, assert_snapshot, git, repository, run, run_line};
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
fn the_example_has_the_answers_of_salt() {
    let home = built();
    let top = home.path().join("top");
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
            &top,
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

#[test]
fn files_are_found_in_the_documented_order() {
    let home = built();
    let top = home.path().join("top").display().to_string();
    let shown = |line: &str| {
        let ran = run_line(&home.path().join("top"), line);
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

#[test]
fn formulas_of_remotes_are_compared() {
    let home = built();
    let line = "diff --config etc/salt/master --minions minions --from worktree --to worktree";
    let ran = run_line(&home.path().join("top"), line);
    assert_eq!(ran.status, Some(0), "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("TEMPLATE"), "{}", ran.stdout);
    let named = line.replace("diff", "diff TEMPLATE");
    let ran = run_line(&home.path().join("top"), &named);
    assert_eq!(ran.status, Some(0), "{}{}", ran.stdout, ran.stderr);
}

#[test]
fn errors_of_a_repository_are_reported() {
    let home = built();
    let top = home.path().join("top");
    let line = "data openssh --config etc/salt/master --minions minions --id other.example.com";
    std::fs::remove_dir_all(top.join("git/openssh-formula/.git/refs")).unwrap();
    let ran = run_line(&top, line);
    assert_eq!(ran.status, Some(1));
    assert!(ran.stderr.contains("openssh-formula"), "{}", ran.stderr);
    std::fs::remove_dir_all(top.join("git/openssh-formula")).unwrap();
    let ran = run_line(&top, line);
    assert_eq!(ran.status, Some(1));
    assert!(ran.stderr.contains("openssh-formula"), "{}", ran.stderr);
}

/// A repository with an sls of a pillar, and with a top file in one folder.
fn with_pillar() -> Tree {
    let tree = Tree::new(&[
        ("git/plain/a.sls", "a: 1\n"),
        ("git/full/top.sls", "base: {'*': [a]}\n"),
        ("git/full/a.sls", "a: 1\n"),
    ]);
    let at = tree.path().join("git");
    git(&at, &["init", "-q", "-b", "master"]);
    git(&at, &["add", "."]);
    git(&at, &["commit", "-q", "-m", "one"]);
    tree
}

#[test]
fn a_pillar_of_git_alone_is_compiled_and_checked() {
    let tree = with_pillar();
    let url = format!("file://{}/git", tree.path().display());
    let of = "--config master --config-kind master --platform debian-12";
    for (remotes, out, said) in [
        (
            format!("[{{master {url}: [{{root: full}}]}}]"),
            "a: 1",
            None,
        ),
        (
            format!("[{{master {url}: [{{root: plain}}]}}]"),
            "{}",
            Some("@master:plain has no top.sls"),
        ),
        (
            format!("[{{master {url}: [{{root: nope}}]}}]"),
            "{}",
            Some("@master:nope, so it is left out"),
        ),
        (
            format!("['dev {url}']"),
            "{}",
            Some("@dev, so it is left out"),
        ),
        (
            "[]".to_owned(),
            "{}",
            Some("the external pillar `git` has no remotes"),
        ),
    ] {
        let master = format!("ext_pillar: [{{git: {remotes}}}]\n");
        tree.write("master", master.as_bytes());
        let err = said.unwrap_or_default();
        assert_line(tree.path(), &format!("pillar --id web1 {of}"), 0, out, err);
        let out = said.unwrap_or_default();
        assert_line(
            tree.path(),
            &format!("lint pillar {of}"),
            0,
            out,
            "in the pillar",
        );
    }
}

#[test]
fn a_remote_that_hides_all_it_has_is_named() {
    let tree = with_pillar();
    let url = format!("file://{}/git", tree.path().display());
    tree.write(
        "master",
        format!("fileserver_backend: [gitfs]\ngitfs_saltenv_whitelist: [prod]\ngitfs_remotes: ['{url}']\n").as_bytes(),
    );
    let line = "render salt://full/a.sls --config master --platform debian-12";
    let err = "`saltenv_whitelist` and `saltenv_blacklist` hide all its saltenvs";
    assert_line(tree.path(), line, 1, "", err);
}
