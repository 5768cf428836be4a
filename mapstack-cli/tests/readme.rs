//! The README shows what the command does: every `console` block is run from the repository's root.

mod common;

use common::{repository, run};
use snapbox::Assert;

/// A command of a `console` block, and the output shown below it.
struct Shown {
    line: usize,
    command: String,
    output: String,
}

fn shown() -> Vec<Shown> {
    let text = std::fs::read_to_string(repository().join("README.md")).unwrap();
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
fn the_readme_shows_what_the_command_prints() {
    let all = shown();
    assert!(all.len() >= 10, "only {} commands found", all.len());
    for Shown {
        line,
        command,
        output,
    } in all
    {
        let ran = run(&repository(), &arguments(&command));
        let printed = format!("{}{}", ran.stdout, ran.stderr);
        assert!(
            !output.is_empty(),
            "README.md:{line}: no output shown for {command}"
        );
        if let Err(e) = Assert::new().normalize_paths(false).try_eq(
            Some(&format!("README.md:{line}")),
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

/// The documentation of the crates is run; what the README shows of it has to be the same.
#[test]
fn the_library_examples_are_those_of_the_documentation() {
    let readme = std::fs::read_to_string(repository().join("README.md")).unwrap();
    let shown: Vec<&str> = readme
        .split("```rust\n")
        .skip(1)
        .filter_map(|rest| rest.split("```").next())
        .collect();
    let sources = ["crates/mapstack/src/lib.rs", "merge/src/merge.rs"];
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
        assert!(
            documented.contains(&format!("```\n{example}```\n")),
            "{source} does not document:\n{example}"
        );
    }
}

#[test]
fn every_link_in_the_readme_leads_somewhere() {
    let text = std::fs::read_to_string(repository().join("README.md")).unwrap();
    // `['map.data']('users')` is code.
    let links = text
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split(')').next())
        .filter(|l| !l.starts_with('\''));
    let local: Vec<&str> = links.filter(|link| !link.starts_with("http")).collect();
    assert!(!local.is_empty());
    for link in local {
        assert!(repository().join(link).exists(), "{link}");
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
