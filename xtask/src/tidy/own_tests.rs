//! A library or program is compiled a second time for the tests among its sources, and only where there are any.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::Result;

/// Targets with tests that nothing runs, and those that are compiled for tests that they do not have.
pub fn check(metadata: &str, files: &[(PathBuf, String)]) -> Result<Vec<String>> {
    let metadata: Value = serde_json::from_str(metadata)?;
    let workspace = metadata["workspace_root"].as_str().unwrap_or_default();
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let targets = packages.flat_map(|package| package["targets"].as_array().into_iter().flatten());
    Ok(targets
        .filter_map(|target| problem(target, workspace, files))
        .collect())
}

fn problem(target: &Value, workspace: &str, files: &[(PathBuf, String)]) -> Option<String> {
    let kind = target["kind"][0].as_str()?;
    let root = Path::new(target["src_path"].as_str()?);
    let root = root.strip_prefix(workspace).ok()?;
    let sources = root.parent()?;
    let is_among = |path: &Path| match kind {
        // A program beside a library is one file.
        "bin"
            if files
                .iter()
                .any(|(path, _)| *path == sources.join("lib.rs")) =>
        {
            path == root
        }
        _ => path.starts_with(sources),
    };
    let has_tests = files
        .iter()
        .any(|(path, text)| is_among(path) && text.lines().any(|line| line.trim() == "#[test]"));
    let what = match (kind, target["test"].as_bool()?, has_tests) {
        ("lib" | "bin", false, true) => "has tests that nothing runs; remove `test = false`",
        ("lib" | "bin", true, false) => "has no tests; `test = false` saves a second compilation",
        _ => return None,
    };
    Some(format!("{}: the {kind} {what}", root.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_tests_is_compiled_for_them() {
        let target = |kind: &str, path: &str, test: bool| {
            format!(r#"{{"kind": ["{kind}"], "src_path": "/w/{path}", "test": {test}}}"#)
        };
        let problems = |targets: &[String]| {
            let targets = targets.join(", ");
            let metadata =
                format!(r#"{{"workspace_root": "/w", "packages": [{{"targets": [{targets}]}}]}}"#);
            let files = [
                ("with/src/lib.rs", "mod deep;"),
                ("with/src/deep/mod.rs", "    #[test]\n    fn t() {}"),
                ("with/src/main.rs", ""),
                ("with/tests/all.rs", "#[test]"),
                ("without/src/lib.rs", "/// #[test]"),
                ("without/tests/all.rs", "#[test]"),
            ];
            let files = files.map(|(path, text)| (path.into(), text.to_owned()));
            check(&metadata, &files).unwrap()
        };
        let good = [
            target("lib", "with/src/lib.rs", true),
            target("bin", "with/src/main.rs", false),
            target("lib", "without/src/lib.rs", false),
            target("test", "without/tests/all.rs", true),
        ];
        assert_eq!(problems(&good), [""; 0]);
        let bad = [
            target("lib", "with/src/lib.rs", false),
            target("bin", "with/src/main.rs", true),
            target("lib", "without/src/lib.rs", true),
        ];
        assert_eq!(problems(&bad).len(), 3);
    }
}
