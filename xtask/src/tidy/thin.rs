//! That the command stays thin: how large it is, and that its verbs do not know each other.

use std::path::{Path, PathBuf};

/// The command's sources.
pub const SOURCES: &str = "mapstack-cli/src";

/// The number of lines of product code, and the mistakes.
pub fn check(files: &[(PathBuf, String)]) -> (usize, Vec<String>) {
    let lines = files.iter().map(|(_, text)| product_lines(text)).sum();
    let mut problems = Vec::new();
    let verbs: Vec<&str> = files.iter().filter_map(|(path, _)| verb(path)).collect();
    for (path, text) in files {
        let Some(own) = verb(path) else { continue };
        for (at, line) in text.lines().enumerate() {
            let other = verbs.iter().find(|other| {
                **other != own
                    && line.trim_start().starts_with("use ")
                    && ([format!("commands::{other}"), format!("super::{other}::")]
                        .iter()
                        .any(|import| names(line, import))
                        || names_in_group(line, other))
            });
            if let Some(other) = other {
                problems.push(format!(
                    "{}:{}: the verb {own} imports the verb {other}; move what both need into a library",
                    path.display(),
                    at + 1
                ));
            }
        }
    }
    (lines, problems)
}

/// The lines before the tests at the end of a file.
fn product_lines(text: &str) -> usize {
    let is_test = |line: &&str| *line == "#[cfg(test)]";
    text.lines().take_while(|line| !is_test(line)).count()
}

/// The verb that a file belongs to.
fn verb(path: &Path) -> Option<&str> {
    let below = path
        .strip_prefix(SOURCES)
        .ok()?
        .strip_prefix("commands")
        .ok()?;
    let first = below.components().next()?.as_os_str().to_str()?;
    Some(first.strip_suffix(".rs").unwrap_or(first)).filter(|name| *name != "mod")
}

/// True if a line names a path, and not one that only begins like it.
fn names(line: &str, import: &str) -> bool {
    line.split_once(import).is_some_and(|(_, behind)| {
        import.ends_with("::") || !behind.starts_with(|c: char| c.is_alphanumeric() || c == '_')
    })
}

/// True if a line names a verb in a group, as `use crate::commands::{engine, version};` does.
fn names_in_group(line: &str, verb: &str) -> bool {
    ["commands::{", "super::{"]
        .iter()
        .filter_map(|group| line.split_once(group))
        .flat_map(|(_, group)| group.split([',', '{', '}']))
        .any(|part| part.trim().split("::").next() == Some(verb))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(files: &[(&str, &str)]) -> Vec<String> {
        let files: Vec<(PathBuf, String)> = files
            .iter()
            .map(|(path, text)| (Path::new(SOURCES).join(path), (*text).into()))
            .collect();
        check(&files).1
    }

    #[test]
    fn verbs_do_not_import_each_other() {
        let [test, diff] = [("commands/test.rs", "x\n"), ("commands/diff/mod.rs", "x\n")];
        assert_eq!(problems(&[test, diff]), Vec::<String>::new());
        for import in [
            "use super::diff::text;",
            "use crate::commands::diff::text;",
            "use crate::commands::{engine, diff};",
            "use super::{diff::text, engine};",
        ] {
            let found = problems(&[("commands/test.rs", import), diff]);
            let expected = "mapstack-cli/src/commands/test.rs:1: the verb test imports the verb diff; \
                            move what both need into a library";
            assert_eq!(found, [expected], "{import}");
        }
        let own = (
            "commands/diff/page.rs",
            "use crate::commands::diff::text;\nuse mapstack_report::test;\n",
        );
        assert_eq!(problems(&[own, diff, test]), Vec::<String>::new());
        assert_eq!(
            problems(&[("cli.rs", "use crate::commands::test::Test;"), test]),
            Vec::<String>::new()
        );
    }
}
