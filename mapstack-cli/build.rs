//! Hands the commit to the program, if it is built in a checkout: from `MAPSTACK_COMMIT`, or from git's own files.

use std::fs;
use std::path::{Path, PathBuf};

fn main() {
    println!("cargo::rerun-if-env-changed=MAPSTACK_COMMIT");
    println!("cargo::rerun-if-changed=build.rs");
    let given = std::env::var("MAPSTACK_COMMIT").ok();
    let commit = given
        .filter(|commit| !commit.is_empty())
        .or_else(checked_out);
    let is_commit = |commit: &String| {
        (7..=64).contains(&commit.len()) && commit.bytes().all(|byte| byte.is_ascii_hexdigit())
    };
    if let Some(commit) = commit.filter(is_commit) {
        println!("cargo::rustc-env=MAPSTACK_COMMIT={commit}");
    }
}

/// The commit that is checked out above this package. A package without a repository of ours has none.
fn checked_out() -> Option<String> {
    let package = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR")?);
    let git = git_directory(&package.parent()?.join(".git"))?;
    let head = read(&git.join("HEAD"))?;
    let Some(name) = head.strip_prefix("ref: ") else {
        return Some(head);
    };
    // A work tree has its own HEAD, and shares its branches.
    let common = read(&git.join("commondir")).map_or_else(|| git.clone(), |path| git.join(path));
    read(&common.join(name)).or_else(|| {
        let packed = read(&common.join("packed-refs"))?;
        let of_branch = |line: &str| Some(line.strip_suffix(name)?.trim_end().to_owned());
        packed.lines().find_map(of_branch)
    })
}

/// The directory of a `.git`, which is it or names it.
fn git_directory(git: &Path) -> Option<PathBuf> {
    if git.is_dir() {
        return Some(git.into());
    }
    let text = read(git)?;
    let directory = text.strip_prefix("gitdir: ")?;
    Some(git.parent()?.join(directory))
}

/// A file's text, which is looked at again when the file changes.
fn read(file: &Path) -> Option<String> {
    let text = fs::read_to_string(file).ok()?;
    println!("cargo::rerun-if-changed={}", file.display());
    Some(text.trim_end().to_owned())
}
