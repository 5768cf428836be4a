//! The script that pipelines run, `pipelines/check.sh`, over a project in a repository.

#![cfg(all(unix, feature = "git"))]

use std::path::Path;
use std::process::Command;

use crate::common::{Ran, Tree, git, repository, run_line};

const DEFAULTS: &str = "values:\n  port: 22\n  shell: /bin/sh\n";

/// A project with a recorded result and a commit, and a change in the work tree that is the second commit.
fn project(changed: &str) -> Tree {
    let tree = Tree::new(&[("ssh/parameters/defaults.yaml", DEFAULTS)]);
    git(tree.path(), &["init", "--quiet", "--initial-branch=main"]);
    let recorded = run_line(tree.path(), "test ssh --update --platform debian-12");
    assert_eq!(recorded.status, Some(0), "{}", recorded.stderr);
    git(tree.path(), &["add", "."]);
    git(tree.path(), &["commit", "--quiet", "--message=first"]);
    tree.write("ssh/parameters/os_family/Debian.yaml", changed.as_bytes());
    git(tree.path(), &["add", "."]);
    git(tree.path(), &["commit", "--quiet", "--message=second"]);
    tree
}

/// Run the script with the built command on the path, and these variables.
fn check(directory: &Path, steps: &[&str], variables: &[(&str, &str)]) -> Ran {
    let built = Path::new(env!("CARGO_BIN_EXE_mapstack"));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = built
        .parent()
        .map(Path::to_path_buf)
        .into_iter()
        .chain(std::env::split_paths(&path));
    let output = Command::new("sh")
        .arg(repository().join("pipelines/check.sh"))
        .args(steps)
        .current_dir(directory)
        .env("PATH", std::env::join_paths(path).unwrap())
        .env_remove("GITHUB_ACTIONS")
        .env_remove("GITHUB_STEP_SUMMARY")
        .env_remove("MAPSTACK_BASE")
        .env_remove("MAPSTACK_RESULTS")
        .envs(variables.iter().copied())
        .output()
        .expect("a shell is there");
    Ran {
        status: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

fn result(tree: &Tree, name: &str) -> String {
    let file = tree.path().join("mapstack-results").join(name);
    std::fs::read_to_string(&file).unwrap_or_else(|e| panic!("{}: {e}", file.display()))
}

#[test]
fn a_change_is_shown_and_is_no_failure() {
    let tree = project("values:\n  port: 2222\n");
    // The record follows the change.
    assert_eq!(
        run_line(tree.path(), "test ssh --update --platform debian-12").status,
        Some(0)
    );
    let summary = tree.path().join("summary.md");
    let ran = check(
        tree.path(),
        &["lint", "test", "diff"],
        &[
            ("MAPSTACK_BASE", "HEAD~1"),
            ("GITHUB_STEP_SUMMARY", summary.to_str().unwrap()),
        ],
    );
    assert_eq!(ran.status, Some(0), "{}{}", ran.stdout, ran.stderr);
    let sarif: serde_json::Value = serde_json::from_str(&result(&tree, "lint.sarif")).unwrap();
    assert_eq!(sarif["version"], "2.1.0");
    assert!(result(&tree, "test.xml").contains("<testsuites"));
    let shown = result(&tree, "diff.md");
    assert!(shown.contains("2222"), "{shown}");
    assert!(ran.stdout.contains(&shown), "{}", ran.stdout);
    assert_eq!(std::fs::read_to_string(summary).unwrap(), shown);
}

#[test]
fn each_step_runs_and_the_worst_status_is_that_of_the_script() {
    let tree = project("a: b: c\n");
    let ran = check(
        tree.path(),
        &["lint", "test", "diff"],
        &[("MAPSTACK_BASE", "HEAD~1"), ("GITHUB_ACTIONS", "true")],
    );
    assert_eq!(ran.status, Some(1), "{}{}", ran.stdout, ran.stderr);
    assert!(
        ran.stdout.contains("::error file=ssh/parameters"),
        "{}",
        ran.stdout
    );
    for step in [
        "mapstack lint: exit status 1",
        "mapstack test: exit status 1",
    ] {
        assert!(ran.stderr.contains(step), "{step}: {}", ran.stderr);
    }
    assert!(result(&tree, "lint.sarif").contains("yaml-syntax"));
    assert!(result(&tree, "test.xml").contains("<error"));
    assert!(result(&tree, "diff.md").contains("8 fail now"));
}

#[test]
fn what_is_not_done_is_said() {
    let tree = project("values:\n  port: 2222\n");
    let ran = check(tree.path(), &["diff"], &[]);
    assert_eq!((ran.status, &*ran.stdout), (Some(0), ""));
    assert!(
        ran.stderr.contains("not run, since MAPSTACK_BASE"),
        "{}",
        ran.stderr
    );
    let ran = check(tree.path(), &["diff"], &[("MAPSTACK_BASE", "nowhere")]);
    assert_eq!(ran.status, Some(2), "{}", ran.stderr);
    for wrong in [&[][..], &["lints"]] {
        let ran = check(tree.path(), wrong, &[]);
        assert_eq!(ran.status, Some(2), "{wrong:?}");
        assert!(ran.stderr.contains("lint, test and diff"), "{}", ran.stderr);
    }
}
