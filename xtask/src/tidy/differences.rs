//! Each deliberate difference from the reference names a test that shows it, and the test exists.

use std::path::Path;

/// The document with the differences.
pub const DOCUMENT: &str = "DIFFERENCES.md";

/// The mistakes in the rows of the document. `read` has the text of a file.
pub fn check(document: &str, read: impl Fn(&Path) -> Option<String>) -> Vec<String> {
    let rows = document.lines().enumerate().filter(|(_, line)| {
        line.starts_with("| ") && !line.starts_with("| difference") && !line.starts_with("| ---")
    });
    let mut count = 0;
    let mut problems = Vec::new();
    for (number, row) in rows {
        count += 1;
        let problem = match named(row) {
            None => Some("the last cell names no file and test, each in backquotes".to_owned()),
            Some((file, test)) => match read(Path::new(file)) {
                None => Some(format!("{file} does not exist")),
                Some(text) => (!has(&text, test)).then(|| format!("{file} has no {test}")),
            },
        };
        problems.extend(problem.map(|problem| format!("{DOCUMENT}:{}: {problem}", number + 1)));
    }
    if count == 0 {
        problems.push(format!("{DOCUMENT}: there is no row of a table"));
    }
    problems
}

/// The file and the test in the last cell of a row.
fn named(row: &str) -> Option<(&str, &str)> {
    let cell = row.trim_end_matches(" |").rsplit(" | ").next()?;
    let mut quoted = cell.split('`').skip(1).step_by(2);
    Some((quoted.next()?, quoted.next()?))
}

/// True if a file has a test, a section of a case, or a record of that name.
fn has(text: &str, test: &str) -> bool {
    [
        format!("fn {test}("),
        format!("def {test}("),
        format!("const {test}: "),
        format!("\n## {test}\n"),
        format!("\"{test}\""),
    ]
    .iter()
    .any(|form| text.contains(form))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(document: &str) -> Vec<String> {
        check(document, |path| {
            (path == Path::new("tests/a.rs")).then(|| "fn is_there() {}\n".to_owned())
        })
    }

    #[test]
    fn a_row_names_a_test_that_exists() {
        let head = "| difference | reason | test |\n| --- | --- | --- |\n";
        let row = |cell: &str| format!("{head}| It differs. | Because. | {cell} |\n");
        assert_eq!(problems(&row("`tests/a.rs` `is_there`")), [""; 0]);
        for (cell, says) in [
            ("`tests/a.rs` `is_gone`", "3: tests/a.rs has no is_gone"),
            ("`tests/b.rs` `is_there`", "3: tests/b.rs does not exist"),
            ("`tests/a.rs`", "3: the last cell names no file and test"),
            ("somewhere", "3: the last cell names no file and test"),
        ] {
            let found = problems(&row(cell));
            assert!(
                found.len() == 1 && found[0].contains(says),
                "{cell}: {found:?}"
            );
        }
        assert!(problems("nothing\n")[0].contains("no row"));
    }
}
