//! Commands in scripts and documents name existing test targets.

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde_json::Value;

use crate::Result;

/// Calls of `cargo test` with a test target that the named package, or all of them, do not have.
pub fn check<'f>(
    metadata: &str,
    files: impl IntoIterator<Item = &'f (PathBuf, String)>,
) -> Result<Vec<String>> {
    let metadata: Value = serde_json::from_str(metadata)?;
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let targets: BTreeSet<(&str, &str)> = packages.flat_map(tests_of).collect();
    let mut problems = Vec::new();
    for (path, text) in files {
        let is_code = path.extension().is_some_and(|end| end == "rs");
        for (index, line) in text.lines().enumerate() {
            let is_read = !is_code || line.trim_start().starts_with("//");
            let Some((package, test)) = called(line).filter(|_| is_read) else {
                continue;
            };
            let is_it = |(of, name): &(&str, &str)| {
                *name == test && package.is_none_or(|package| package == *of)
            };
            if !targets.iter().any(is_it) {
                problems.push(format!(
                    "{}:{}: no test target is named `{test}`; `cargo test --test` lists the names",
                    path.display(),
                    index + 1
                ));
            }
        }
    }
    Ok(problems)
}

/// The package and the test target that a line's `cargo test` names.
fn called(line: &str) -> Option<(Option<&str>, &str)> {
    let (_, call) = line.split_once("cargo test ")?;
    let call = call.split('`').next()?;
    let words: Vec<&str> = call.split_whitespace().collect();
    let after = |flag: &str| {
        let at = words.iter().position(|word| *word == flag)?;
        words.get(at + 1).copied()
    };
    Some((after("-p").or_else(|| after("--package")), after("--test")?))
}

fn tests_of(package: &Value) -> Vec<(&str, &str)> {
    let name = package["name"].as_str().unwrap_or_default();
    let targets = package["targets"].as_array().into_iter().flatten();
    let tests = targets.filter(|target| target["kind"][0] == "test");
    tests
        .filter_map(|target| Some((name, target["name"].as_str()?)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_target_that_is_named_exists() {
        let metadata =
            r#"{"packages": [{"name": "p", "targets": [{"kind": ["test"], "name": "all"}]}]}"#;
        let problems = |line: &str| {
            let files = [(PathBuf::from("x.sh"), line.to_owned())];
            check(metadata, &files).unwrap().len()
        };
        for good in [
            "cargo test -p p --test all some::test",
            "`cargo test --workspace --test all` runs them",
            "cargo test -p p",
            "another --test gone",
        ] {
            assert_eq!(problems(good), 0, "{good}");
        }
        for bad in [
            "cargo test -p p --test gone",
            "\n`cargo test --package q --test all`",
        ] {
            assert_eq!(problems(bad), 1, "{bad}");
        }
    }
}
