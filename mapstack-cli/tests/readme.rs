//! The README and the tour show what the command does: every `console` block is run from the repository's root.

mod common;

use common::{repository, run};
use snapbox::Assert;

/// A command of a `console` block, and the output shown below it.
struct Shown {
    file: &'static str,
    line: usize,
    command: String,
    output: String,
}

/// The documents whose commands are run.
const DOCUMENTS: [&str; 2] = ["README.md", "docs/tour.md"];

fn shown(file: &'static str) -> Vec<Shown> {
    let text = std::fs::read_to_string(repository().join(file)).unwrap();
    let mut all: Vec<Shown> = Vec::new();
    let mut inside = false;
    for (index, line) in text.lines().enumerate() {
        match line {
            "```console" => inside = true,
            "```" => inside = false,
            _ if !inside => {}
            _ => match line.strip_prefix("$ ") {
                Some(command) => {
                    all.push(Shown {
                        file,
                        line: index + 1,
                        command: command.into(),
                        output: String::new(),
                    });
                }
                None => {
                    let last = all
                        .last_mut()
                        .expect("a console block starts with a command");
                    last.output.push_str(line);
                    last.output.push('\n');
                }
            },
        }
    }
    all
}

/// The arguments after the command's name, single quotes taken off.
fn arguments(command: &str) -> Vec<String> {
    let rest = command
        .strip_prefix("mapstack ")
        .or_else(|| command.strip_prefix("cargo run -p mapstack-cli -- "))
        .unwrap_or_else(|| panic!("no command of ours: {command}"));
    let mut words = Vec::new();
    for (index, piece) in rest.split('\'').enumerate() {
        match index % 2 {
            0 => words.extend(piece.split_whitespace().map(String::from)),
            _ => words.push(piece.to_string()),
        }
    }
    words
}

#[test]
fn documents_show_what_the_command_prints() {
    let all: Vec<Shown> = DOCUMENTS.into_iter().flat_map(shown).collect();
    assert!(all.len() >= 10, "only {} commands found", all.len());
    for Shown {
        file,
        line,
        command,
        output,
    } in all
    {
        let ran = run(&repository(), &arguments(&command));
        let printed = format!("{}{}", ran.stdout, ran.stderr);
        assert!(
            !output.is_empty(),
            "{file}:{line}: no output shown for {command}"
        );
        if let Err(e) = Assert::new().normalize_paths(false).try_eq(
            Some(&format!("{file}:{line}")),
            printed.into(),
            output.into(),
        ) {
            panic!("{e}");
        }
    }
}

#[test]
fn the_set_up_command_works() {
    let text = std::fs::read_to_string(repository().join("README.md")).unwrap();
    let command = text
        .lines()
        .find(|line| line.starts_with("cargo run -p mapstack-cli -- "))
        .unwrap();
    let ran = run(&repository(), &arguments(command));
    assert_eq!((ran.status, &*ran.stderr), (Some(0), ""));
    let expected =
        std::fs::read_to_string(repository().join("examples/expected/web1.yaml")).unwrap();
    assert_eq!(ran.stdout, expected);
}

/// The documentation of the crates is run; what the document about crates shows of it has to be the same.
#[test]
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

/// What is copied from the documents is there as files as well.
#[test]
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

#[test]
fn every_link_leads_somewhere() {
    let moved = [
        "docs/crates.md",
        "docs/pipelines.md",
        "docs/setup.md",
        "docs/saltext-formula.md",
    ];
    for document in DOCUMENTS.into_iter().chain(moved) {
        links_lead_somewhere(document);
    }
}

#[test]
fn the_readme_fits_on_a_screen() {
    let text = std::fs::read_to_string(repository().join("README.md")).unwrap();
    assert!(text.lines().count() <= 80);
}

fn links_lead_somewhere(document: &str) {
    let path = repository().join(document);
    let text = std::fs::read_to_string(&path).unwrap();
    // `['map.data']('users')` is code.
    let links = text
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split(')').next())
        .filter(|l| !l.starts_with('\''));
    let local: Vec<&str> = links.filter(|link| !link.starts_with("http")).collect();
    assert!(!local.is_empty());
    for link in local {
        let target = link.split('#').next().unwrap_or(link);
        assert!(
            path.with_file_name("").join(target).exists(),
            "{document}: {link}"
        );
    }
}

#[test]
fn the_changelog_knows_the_version() {
    let text = std::fs::read_to_string(repository().join("CHANGELOG.md")).unwrap();
    assert!(
        text.contains(env!("CARGO_PKG_VERSION")),
        "no {}",
        env!("CARGO_PKG_VERSION")
    );
}
