//! The README and the tour show what the command does: every `console` block is run from the repository's root.

use std::path::Path;

use crate::common::repository;
#[cfg(feature = "git")]
use crate::common::{Tree, git};
use crate::console::{Document, Readers, printed};
/// The documents whose commands are run.
const DOCUMENTS: [(&str, usize); 2] = [("README.md", 1), ("docs/tour.md", 20)];

/// The commands of a document print what is shown, apart from what `same` makes equal; `least` is their number at least.
fn assert_prints(file: &str, least: usize, directory: &Path, same: fn(&str) -> String) {
    let document = Document::read(&repository().join(file));
    let mut count = 0;
    for shown in document.commands() {
        count += 1;
        assert!(
            !document.output(shown).is_empty(),
            "{file}: no output shown for {}",
            shown.command
        );
        let printed = printed(directory, &shown.command, Readers::Users);
        document
            .check(shown, &printed, same)
            .unwrap_or_else(|e| panic!("{e}"));
    }
    assert!(count >= least, "{file}: only {count} commands found");
}

#[test]
fn documents_show_what_the_command_prints() {
    for (file, least) in DOCUMENTS {
        assert_prints(file, least, &repository(), str::to_owned);
    }
}

/// The document about a change shows it, and is run in a repository with a commit before and after it.
#[cfg(feature = "git")]
#[test]
fn the_change_of_a_pillar_does_what_its_document_shows() {
    const FILE: &str = "docs/pillar-change.md";
    let tree = Tree::new::<&str>(&[]);
    let at = tree.path().join("examples/pillars");
    copy(&repository().join("examples/pillars"), &at);
    git(tree.path(), &["init", "--quiet"]);
    let commit = |message: &str| {
        git(tree.path(), &["add", "examples"]);
        git(tree.path(), &["commit", "--quiet", message]);
    };
    commit("--message=before");
    let document = std::fs::read_to_string(repository().join(FILE)).unwrap();
    let (_, rest) = document.split_once("```diff\n").unwrap();
    let (change, _) = rest.split_once("```\n").unwrap();
    tree.write("change.diff", change.as_bytes());
    git(tree.path(), &["apply", "change.diff"]);
    commit("--message=after");
    assert_prints(FILE, 3, tree.path(), without_hashes);
}

/// A text without the hashes of commits, which follow an `@`.
#[cfg(feature = "git")]
fn without_hashes(text: &str) -> String {
    let mut pieces = text.split('@');
    let first = pieces.next().unwrap_or_default().to_owned();
    pieces.fold(first, |all, piece| {
        let digits = piece.chars().take_while(char::is_ascii_hexdigit).count();
        format!("{all}@{}", &piece[digits..])
    })
}

/// Copy a directory with all that is in it.
#[cfg(any(feature = "git", unix))]
pub fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let (from, to) = {
            let entry = entry.unwrap();
            (entry.path(), to.join(entry.file_name()))
        };
        match from.is_dir() {
            true => copy(&from, &to),
            false => drop(std::fs::copy(from, to).unwrap()),
        }
    }
}

#[test]
fn documents_agree_with_the_sources() {
    the_library_examples_are_those_of_the_documentation();
    the_document_about_fleets_shows_the_files_of_its_examples();
    the_readme_fits_on_a_screen();
    the_changelog_knows_the_version();
}

/// The documentation of the crates is run; what the document about crates shows of it has to be the same.
fn the_library_examples_are_those_of_the_documentation() {
    let document = std::fs::read_to_string(repository().join("docs/crates.md")).unwrap();
    let shown: Vec<&str> = document
        .split("```rust\n")
        .skip(1)
        .filter_map(|rest| rest.split("```").next())
        .collect();
    let sources = ["crates/mapstack/README.md", "merge/src/merge.rs"];
    assert_eq!(shown.len(), sources.len());
    for (example, source) in shown.into_iter().zip(sources) {
        let text = std::fs::read_to_string(repository().join(source)).unwrap();
        let comments = text.lines().filter_map(|line| {
            line.strip_prefix("//!")
                .or_else(|| line.strip_prefix("///"))
        });
        let documented: String = comments
            .map(|line| format!("{}\n", line.strip_prefix(' ').unwrap_or(line)))
            .collect();
        // A crate's README is its documentation as well.
        assert!(
            documented.contains(&format!("```\n{example}```\n"))
                || text.contains(&format!("```rust\n{example}```\n")),
            "{source} does not document:\n{example}"
        );
    }
}

/// Examples copied from the documents are files as well.
fn the_document_about_fleets_shows_the_files_of_its_examples() {
    let document = std::fs::read_to_string(repository().join("docs/fleet.md")).unwrap();
    for (language, file) in [("sh", "slurm.sh"), ("yaml", "kubernetes.yaml")] {
        let path = repository().join("examples/fleet").join(file);
        let text = std::fs::read_to_string(path).unwrap();
        let link = format!("(../examples/fleet/{file})");
        let (_, rest) = document.split_once(&link).unwrap();
        assert!(
            rest.contains(&format!("```{language}\n{text}```\n")),
            "docs/fleet.md does not show {file}"
        );
    }
}

fn the_readme_fits_on_a_screen() {
    let text = std::fs::read_to_string(repository().join("README.md")).unwrap();
    assert!(text.lines().count() <= 80);
}

fn the_changelog_knows_the_version() {
    let text = std::fs::read_to_string(repository().join("CHANGELOG.md")).unwrap();
    assert!(
        text.contains(env!("CARGO_PKG_VERSION")),
        "no {}",
        env!("CARGO_PKG_VERSION")
    );
}
