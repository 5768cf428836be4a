//! `cargo xtask tidy`: the rules of the house that no compiler checks.
//!
//! Each check is a function from data to the list of what is wrong, so that each can be tested
//! with something wrong.

mod book;
mod circles;
mod code;
pub mod code_map;
mod differences;
mod flags;
mod licences;
mod own_tests;
mod published;
mod rim;
mod sources;
mod targets;
mod test_files;
mod thin;
mod versions;

use std::path::{Path, PathBuf};

use clap::Parser;
use xshell::{Shell, cmd};

use crate::{Result, crates};

#[derive(Parser)]
pub struct Args {}

pub fn run(sh: &Shell, _: &Args) -> Result {
    let own = cmd!(sh, "cargo metadata --format-version 1 --no-deps")
        .quiet()
        .read()?;
    let mut problems = published::check(&own)?;
    problems.extend(licences::check(
        &cmd!(sh, "cargo metadata --format-version 1 --locked")
            .quiet()
            .read()?,
    )?);
    let mut files = Vec::new();
    for path in our_files(sh, Path::new(""))? {
        let text = sh.read_file(&path)?;
        files.push((path, text));
    }
    for (path, text) in &files {
        problems.extend(sources::check(path, text));
    }
    problems.extend(targets::check(&own, files.iter().chain(&jobs(sh)?))?);
    problems.extend(own_tests::check(&own, &files)?);
    problems.extend(circles::check(&files));
    problems.extend(rim::check(&files));
    problems.extend(test_files::check(&files));
    let command: Vec<_> = files
        .iter()
        .filter(|(path, _)| {
            path.starts_with(thin::SOURCES) && path.extension().is_some_and(|end| end == "rs")
        })
        .cloned()
        .collect();
    let (lines, thick) = thin::check(&command);
    problems.extend(thick);
    let manifest = sh.read_file("Cargo.toml")?;
    let version = workspace_version(&manifest).unwrap_or_default();
    for (path, text) in &files {
        if path.ends_with("pyproject.toml") {
            problems.extend(versions::check(&path.display().to_string(), text, version));
        }
    }
    let changelog = sh.read_file("CHANGELOG.md").unwrap_or_default();
    problems.extend(check_changelog(&manifest, &changelog));
    let document = sh.read_file(differences::DOCUMENT)?;
    let read = |path: &Path| sh.read_file(path).ok();
    problems.extend(differences::check(&document, read));
    problems.extend(check_documents(sh, &own, &files)?);
    if problems.is_empty() {
        println!("tidy; the command has {lines} lines of product code");
        return Ok(());
    }
    for problem in &problems {
        eprintln!("{problem}");
    }
    Err(format!(
        "{} untidy things; each line above says what to change",
        problems.len()
    )
    .into())
}

/// The map of the code, the table of crates, and what leads from one document to another.
fn check_documents(sh: &Shell, own: &str, files: &[(PathBuf, String)]) -> Result<Vec<String>> {
    let map = sh.read_file(code_map::DOCUMENT)?;
    let mut problems = code_map::check(&map, own)?;
    problems.extend(book::check(files, |path| sh.path_exists(path)));
    let table = sh.read_file(crates::DOCUMENT)?;
    if crates::written(&table, &map, own, |path| sh.read_file(path).ok())? != table {
        problems.push(format!(
            "{}: the crates say something else of themselves: cargo xtask crates",
            crates::DOCUMENT
        ));
    }
    Ok(problems)
}

/// Every text of our own below a directory, recorded data and built things left out.
fn our_files(sh: &Shell, directory: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for path in sh.read_dir(sh.current_dir().join(directory))? {
        let name = path.file_name().unwrap_or_default();
        let here = directory.join(name);
        let hidden = name.to_string_lossy().starts_with('.');
        if path.is_dir() && !hidden && name != "target" {
            files.extend(our_files(sh, &here)?);
        } else if matches!(
            path.extension().and_then(|e| e.to_str()),
            Some("rs" | "py" | "sh" | "md" | "toml")
        ) {
            files.push(here);
        }
    }
    Ok(files)
}

/// The scripts of jobs, which lie in a hidden folder.
fn jobs(sh: &Shell) -> Result<Vec<(PathBuf, String)>> {
    let scripts = sh.read_dir(".ci")?.into_iter();
    let read = |path: PathBuf| Ok((path.clone(), sh.read_file(path)?));
    scripts.map(read).collect()
}

/// The changelog has an entry for the version of the workspace.
fn check_changelog(manifest: &str, changelog: &str) -> Option<String> {
    let Some(version) = workspace_version(manifest) else {
        return Some("Cargo.toml: [workspace.package] has no version".into());
    };
    let entry = |line: &str| {
        line.starts_with("## ") && line.split([' ', '[', ']']).any(|word| word == version)
    };
    (!changelog.lines().any(entry))
        .then(|| format!("CHANGELOG.md: no heading `## {version}` for the workspace's version; say what it brings"))
}

/// The version that the workspace's manifest gives its crates.
fn workspace_version(manifest: &str) -> Option<&str> {
    let package = manifest.split("[workspace.package]").nth(1)?;
    package
        .lines()
        .find_map(|line| line.strip_prefix("version = \"")?.strip_suffix('"'))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANIFEST: &str = "[workspace]\n\n[workspace.package]\nversion = \"1.2.3\"\n";

    #[test]
    fn a_changelog_mentions_the_version_in_a_heading() {
        for good in [
            "# Changelog\n\n## 1.2.3\n",
            "## [1.2.3] - 2024-01-01\n",
            "## 1.2.4\n\n## 1.2.3 (old)\n",
        ] {
            assert_eq!(check_changelog(MANIFEST, good), None, "{good}");
        }
        for bad in [
            "",
            "# Changelog\n\n## 1.2.30\n",
            "## 1.2.2\n\nBefore 1.2.3.\n",
        ] {
            let problem = check_changelog(MANIFEST, bad).unwrap();
            assert!(problem.contains("`## 1.2.3`"), "{problem}");
        }
        assert!(
            check_changelog("[workspace]\n", "## 1.2.3\n")
                .unwrap()
                .contains("no version")
        );
    }
}
