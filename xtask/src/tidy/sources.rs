//! The beginning of every source file, and the words that none may hold.

use std::path::Path;

use super::code::code_only;
use super::flags;

/// Words for unfinished work, and words that are banned: the word, and what to do instead.
const FORBIDDEN: &[(&str, &str)] = &[
    ("todo!", "write it"),
    (
        "unimplemented!",
        "write it, or return an error that says what is not supported",
    ),
    ("dbg!", "remove it"),
    (
        "#[ignore",
        "make the test quick or remove it; one that needs more than Rust gets `test = false` in Cargo.toml and a line in `.ci/run`",
    ),
    ("unsafe", "find a safe way"),
];

/// Folders of the workspace whose Rust is not a library of the product.
const NO_LIBRARIES: &[&str] = &[
    "mapstack-cli",
    "xtask",
    "benchmarks",
    "fuzz",
    "salt",
    "examples",
];

/// The mistakes in one file.
pub fn check(path: &Path, text: &str) -> Vec<String> {
    let mut problems: Vec<String> = home_paths(text)
        .map(|at| format!("{}:{at}", path.display()))
        .collect();
    if path.extension().is_some_and(|e| e == "rs") {
        let is_library = is_library(path);
        if is_library {
            problems.extend(flags::check(path, text));
        }
        problems.extend(
            rust(text)
                .into_iter()
                .map(|problem| format!("{}:{problem}", path.display())),
        );
        if is_library && path.ends_with("src/lib.rs") && !says_what_it_ignores(text) {
            problems.push(format!(
                "{}:1: the `//!` has no sentence \"… does not know about …\"",
                path.display()
            ));
        }
    }
    problems
}

/// True for the sources of a library.
fn is_library(path: &Path) -> bool {
    let in_sources = path.iter().any(|part| part == "src");
    in_sources && !NO_LIBRARIES.iter().any(|folder| path.starts_with(folder))
}

fn rust(text: &str) -> Vec<String> {
    let mut problems = Vec::new();
    if !text.starts_with("//!") {
        problems.push("1: the first line is not a `//!` that says what the file is for".into());
    }
    for (number, line) in code_only(text).lines().enumerate() {
        for (word, instead) in FORBIDDEN {
            if contains_word(line, word) {
                problems.push(format!("{}: `{word}`: {instead}", number + 1));
            }
        }
    }
    problems
}

/// True if the line has the word: `unsafe_code` does not contain `unsafe`.
fn contains_word(line: &str, word: &str) -> bool {
    let part_of_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    line.match_indices(word).any(|(at, _)| {
        let (before, after) = (
            line[..at].chars().next_back(),
            line[at + word.len()..].chars().next(),
        );
        let ends_in_letter = word.ends_with(char::is_alphanumeric);
        let inside = part_of_word(before) || (ends_in_letter && part_of_word(after));
        !inside
    })
}

fn says_what_it_ignores(text: &str) -> bool {
    let documentation: Vec<&str> = text
        .lines()
        .map_while(|line| line.strip_prefix("//!"))
        .map(str::trim)
        .collect();
    documentation.join(" ").contains("does not know about")
}

/// Lines that name a home directory, which exists on one machine only.
fn home_paths(text: &str) -> impl Iterator<Item = String> {
    let lines = text
        .lines()
        .enumerate()
        .filter(|(_, line)| names_home(line));
    lines.map(|(n, _)| format!("{}: a path of one machine", n + 1))
}

/// True if the line has a path below a home directory; `/home/alice` alone may be data.
fn names_home(line: &str) -> bool {
    ["/home/", "/Users/", "/root/"].iter().any(|home| {
        line.match_indices(home).any(|(at, _)| {
            let path_begins =
                !line[..at].ends_with(|c: char| c.is_alphanumeric() || "._-~}>".contains(c));
            let below = line[at + home.len()..]
                .trim_start_matches(|c: char| c.is_alphanumeric() || "._-".contains(c));
            path_begins && below.starts_with('/')
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(path: &str, text: &str) -> Vec<String> {
        check(Path::new(path), text)
    }

    #[test]
    fn tidy_files_pass() {
        let library = "//! A crate.\n//!\n//! It does not\n//! know about files.\n\nfn f() { g(\"todo!()\") } // unsafe\n";
        assert_eq!(
            problems("crates/yaml/src/lib.rs", library),
            Vec::<String>::new()
        );
        assert_eq!(
            problems(
                "crates/yaml/src/scalar.rs",
                "//! Scalars.\n#![forbid(unsafe_code)]\n"
            ),
            Vec::<String>::new()
        );
        assert_eq!(
            problems("README.md", "See <https://host/home/page>, ~/home/x\n"),
            Vec::<String>::new()
        );
        assert_eq!(
            problems("xtask/src/lib.rs", "//! Not a library of the product.\n"),
            Vec::<String>::new()
        );
    }

    #[test]
    fn a_file_begins_with_what_it_is_for() {
        let expected =
            ["merge/src/x.rs:1: the first line is not a `//!` that says what the file is for"];
        assert_eq!(
            problems("merge/src/x.rs", "use std::fmt;\n//! Late.\n"),
            expected
        );
    }

    #[test]
    fn a_library_says_what_it_does_not_know_about() {
        let expected =
            ["merge/src/lib.rs:1: the `//!` has no sentence \"… does not know about …\""];
        assert_eq!(
            problems(
                "merge/src/lib.rs",
                "//! Merging.\n// does not know about files\n"
            ),
            expected
        );
    }

    #[test]
    fn unfinished_work_is_named() {
        for (line, word) in [
            ("fn f() { todo!() }", "todo!"),
            ("fn f() { unimplemented!() }", "unimplemented!"),
            ("let x = dbg!(y);", "dbg!"),
            ("#[ignore = \"slow\"]", "#[ignore"),
            ("unsafe { f() }", "unsafe"),
        ] {
            let found = problems("crates/value/src/x.rs", &format!("//! X.\n\n{line}\n"));
            assert_eq!(found.len(), 1, "{found:?}");
            assert!(
                found[0].starts_with(&format!("crates/value/src/x.rs:3: `{word}`: ")),
                "{found:?}"
            );
        }
    }

    #[test]
    fn a_path_of_one_machine_is_named() {
        let home = ["", "home", "someone", "salt"].join("/");
        for (path, text) in [
            ("x.py", format!("# X\nROOT = '{home}'\n")),
            ("README.md", format!("See\n`{home}`.\n")),
        ] {
            assert_eq!(
                problems(path, &text),
                [format!("{path}:2: a path of one machine")]
            );
        }
    }
}
