//! The documents are a book: each page is in its summary once, each link leads somewhere, and pages about the code
//! name files that exist.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

/// The folder of the pages.
const PAGES: &str = "docs";
/// The order in which one reads them.
const SUMMARY: &str = "docs/SUMMARY.md";
/// The documents about the code.
const ABOUT_CODE: [&str; 3] = ["ARCHITECTURE.md", "docs/chores.md", "docs/decisions"];
/// The folders of the code.
const CODE: [&str; 9] = [
    "benchmarks",
    "crates",
    "fuzz",
    "loader",
    "mapstack-cli",
    "matcher",
    "merge",
    "render",
    "xtask",
];

/// The mistakes in the documents among the files. `exists` says whether a file or folder is there.
pub fn check(files: &[(PathBuf, String)], exists: impl Fn(&Path) -> bool) -> Vec<String> {
    let documents: BTreeMap<&Path, &str> = files
        .iter()
        .filter(|(path, _)| is_document(path))
        .map(|(path, text)| (path.as_path(), text.as_str()))
        .collect();
    let mut problems = missing_pages(&documents);
    for (path, text) in &documents {
        for (line, named) in sources(path, text) {
            if !exists(Path::new(named)) {
                problems.push(format!("{}:{line}: there is no {named}", path.display()));
            }
        }
        for (line, link) in links(text) {
            if let Some(problem) = broken(path, link, &documents, &exists) {
                problems.push(format!("{}:{line}: {problem}", path.display()));
            }
        }
    }
    problems
}

/// True for documents that people read; the tests have others as data.
fn is_document(path: &Path) -> bool {
    path.extension().is_some_and(|end| end == "md")
        && !path.iter().any(|part| part == "tests" || part == "corpus")
}

/// Pages that the summary does not name, or names twice.
fn missing_pages(documents: &BTreeMap<&Path, &str>) -> Vec<String> {
    let summary = documents.get(Path::new(SUMMARY)).copied();
    let named: Vec<PathBuf> = links(summary.unwrap_or_default())
        .map(|(_, link)| below(Path::new(SUMMARY), link))
        .collect();
    let pages = documents
        .keys()
        .filter(|path| path.starts_with(PAGES) && **path != Path::new(SUMMARY));
    let count = |page: &Path| named.iter().filter(|path| *path == page).count();
    pages
        .filter_map(|page| match count(page) {
            1 => None,
            0 => Some(format!("{SUMMARY}: {} is missing", page.display())),
            n => Some(format!("{SUMMARY}: {} is there {n} times", page.display())),
        })
        .collect()
}

/// The mistake in a link of a document.
fn broken(
    document: &Path,
    link: &str,
    documents: &BTreeMap<&Path, &str>,
    exists: impl Fn(&Path) -> bool,
) -> Option<String> {
    let (file, section) = link.split_once('#').unwrap_or((link, ""));
    let target = match file {
        "" => document.to_owned(),
        file => below(document, file),
    };
    let text = documents.get(target.as_path());
    if text.is_none() && !exists(&target) {
        return Some(format!("{link}: there is no {}", target.display()));
    }
    let is_there = |text: &&str| sections(text).any(|name| name == section);
    (!section.is_empty() && !text.is_some_and(is_there))
        .then(|| format!("{link}: {} has no such section", target.display()))
}

/// The path of a link, from the root of the repository.
fn below(document: &Path, link: &str) -> PathBuf {
    let mut path = document.with_file_name("");
    for part in Path::new(link).components() {
        match part {
            Component::ParentDir => drop(path.pop()),
            Component::CurDir => {}
            part => path.push(part),
        }
    }
    path
}

/// The links of a document into the repository, each with its line.
fn links(text: &str) -> impl Iterator<Item = (usize, &str)> {
    prose(text).flat_map(|(number, line)| {
        // Every second part is code, such as `['map.data']('users')`.
        let outside = line.split('`').step_by(2);
        outside
            .flat_map(|part| part.split("](").skip(1))
            .filter_map(|rest| rest.split_once(')'))
            .map(|(link, _)| link)
            .filter(|link| !link.contains(':'))
            .map(move |link| (number, link))
    })
}

/// The files and folders of code that a document about the code names, each with its line.
fn sources<'t>(document: &Path, text: &'t str) -> impl Iterator<Item = (usize, &'t str)> {
    let is_about_code = ABOUT_CODE.iter().any(|about| document.starts_with(about));
    let lines = prose(text).filter(move |_| is_about_code);
    let spans = lines.flat_map(|(number, line)| {
        let spans = line.split('`').skip(1).step_by(2);
        spans.map(move |span| (number, span))
    });
    spans.filter(|(_, span)| {
        let folder = span.split_once('/').map(|(folder, _)| folder);
        let is_path = !span.contains([' ', '*', '$']);
        is_path && folder.is_some_and(|folder| CODE.contains(&folder))
    })
}

/// The names by which links lead to the sections of a document.
fn sections(text: &str) -> impl Iterator<Item = String> {
    let headings = prose(text).filter_map(|(_, line)| line.strip_prefix('#'));
    headings.map(|heading| {
        let words = heading.trim_start_matches('#').trim().to_lowercase();
        let kept = words
            .chars()
            .filter(|c| c.is_alphanumeric() || " -_".contains(*c));
        kept.collect::<String>().replace(' ', "-")
    })
}

/// The numbered lines that are not in a block of code, whether it is fenced or indented.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let (mut is_fenced, mut may_be_code) = (false, true);
    text.lines().enumerate().filter_map(move |(index, line)| {
        let is_fence = line.trim_start().starts_with("```");
        is_fenced ^= is_fence;
        let is_code = may_be_code && line.starts_with("    ");
        may_be_code = is_code || line.is_empty();
        (!is_fenced && !is_fence && !is_code).then_some((index + 1, line))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(files: &[(&str, &str)]) -> Vec<String> {
        let files: Vec<_> = files
            .iter()
            .map(|(path, text)| (PathBuf::from(path), (*text).to_owned()))
            .collect();
        check(&files, |path| path == Path::new("examples"))
    }

    #[test]
    fn links_lead_to_files_and_sections() {
        let summary = ("docs/SUMMARY.md", "- [A](a.md)\n  - [B](deep/b.md)\n");
        let b = (
            "docs/deep/b.md",
            "# B\n\n```\n# Code\n[x](y)\n```\n\n## `Two` words\n",
        );
        for good in [
            "[b](deep/b.md#two-words) and [`b`](deep/b.md)",
            "\n    f['x'](y)\n\n`f['x'](y)`, [web](https://x.y/z), [here](#a)\n\n## A",
            "[examples](../examples)",
        ] {
            assert_eq!(problems(&[summary, b, ("docs/a.md", good)]), [""; 0]);
        }
        for (bad, says) in [
            ("\n[b](b.md)", "docs/a.md:2: b.md: there is no docs/b.md"),
            (
                "[b](deep/b.md#code)",
                "docs/a.md:1: deep/b.md#code: docs/deep/b.md has no such section",
            ),
            ("[x](../x.rs)", "docs/a.md:1: ../x.rs: there is no x.rs"),
        ] {
            assert_eq!(problems(&[summary, b, ("docs/a.md", bad)]), [says]);
        }
        let data = ("merge/tests/data/x.md", "[x](gone)");
        assert_eq!(problems(&[data]), [""; 0]);
    }

    #[test]
    fn documents_about_the_code_name_files_that_exist() {
        let text = "See `merge/src/lib.rs`, `data.rs`, `salt/x` and `cargo xtask/x y`.\n";
        assert_eq!(
            problems(&[("ARCHITECTURE.md", text)]),
            ["ARCHITECTURE.md:1: there is no merge/src/lib.rs"]
        );
        assert_eq!(problems(&[("README.md", text)]), [""; 0]);
    }

    #[test]
    fn each_page_is_in_the_summary_once() {
        let pages = [("docs/a.md", ""), ("docs/deep/b.md", ""), ("README.md", "")];
        let with =
            |summary| problems(&[pages[0], pages[1], pages[2], ("docs/SUMMARY.md", summary)]);
        assert_eq!(with("- [A](a.md)\n- [B](deep/b.md)\n"), [""; 0]);
        assert_eq!(
            with("- [A](a.md)\n- [A](a.md)\n"),
            [
                "docs/SUMMARY.md: docs/a.md is there 2 times",
                "docs/SUMMARY.md: docs/deep/b.md is missing"
            ]
        );
    }
}
