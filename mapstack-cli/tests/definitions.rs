//! The page about definitions: its commands print what it shows, and the rows of its tables hold.
#![cfg(unix)]

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::common::{Tree, repository, run};
use crate::readme::{copy, shown};

const PAGE: &str = "docs/definitions.md";

/// A copy of the examples, as the page makes files, and the directory in it where the page starts.
fn examples() -> (Tree, PathBuf) {
    let tree = Tree::new::<&str>(&[]);
    copy(
        &repository().join("examples"),
        &tree.path().join("examples"),
    );
    let directory = tree.path().join("examples/definitions");
    (tree, directory)
}

#[test]
fn the_commands_print_what_the_page_shows() {
    let (_tree, mut directory) = examples();
    let all = shown(PAGE);
    assert!(all.len() >= 50, "only {} commands found", all.len());
    for one in all {
        match one.command.strip_prefix("cd ") {
            Some(to) => directory.push(to),
            None => one.assert_output(&shell(&directory, &one.command), str::to_owned),
        }
    }
}

/// Run a line of the shell in which `mapstack` is this command.
fn shell(directory: &Path, line: &str) -> String {
    let program = Path::new(env!("CARGO_BIN_EXE_mapstack"));
    let mut path = program.with_file_name("").into_os_string();
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    let ran = Command::new("sh")
        .args(["-c", line])
        .current_dir(directory)
        .env("PATH", path)
        .env_remove("CLICOLOR_FORCE")
        .output()
        .expect("there is a shell");
    let printed = [ran.stdout, ran.stderr].concat();
    String::from_utf8(printed).expect("the commands print UTF-8")
}

/// A row of a table: the code of each of its cells, and of the paragraph above the table.
struct Row {
    above: Vec<String>,
    cells: Vec<Vec<String>>,
}

/// The rows of all tables with a header.
fn rows(header: &str) -> Vec<Row> {
    let text = std::fs::read_to_string(repository().join(PAGE)).unwrap();
    let paragraphs: Vec<&str> = text.split("\n\n").collect();
    let tables = paragraphs
        .windows(2)
        .filter(|pair| pair[1].starts_with(header));
    tables
        .flat_map(|pair| {
            pair[1].lines().skip(2).map(|line| Row {
                above: code(pair[0]),
                cells: line
                    .replace("\\|", "\0")
                    .split('|')
                    .skip(1)
                    .map(code)
                    .collect(),
            })
        })
        .collect()
}

/// The pieces of code in a text.
fn code(text: &str) -> Vec<String> {
    let pieces = text.split('`').skip(1).step_by(2);
    pieces.map(|piece| piece.replace('\0', "|")).collect()
}

/// The words of a command, and then others.
fn answer(directory: &Path, words: &str, more: &[&str]) -> String {
    let all: Vec<&str> = words
        .split_whitespace()
        .chain(more.iter().copied())
        .collect();
    let ran = run(directory, &all);
    assert_eq!(ran.status, Some(0), "{all:?}: {}", ran.stderr);
    ran.stdout
}

fn write(directory: &Path, path: &str, text: &str) {
    std::fs::write(directory.join(path), text).unwrap();
}

/// The merged data of parameter files with these texts, as JSON.
fn stacked(directory: &Path, texts: &[String]) -> String {
    let names = ["one.yaml", "two.yaml"];
    for (name, text) in names.iter().zip(texts) {
        write(directory, &format!("salt/backup/parameters/{name}"), text);
    }
    answer(directory, "stack backup -o json", &names[..texts.len()])
}

/// Data that is written as YAML, as the command prints it.
fn data(directory: &Path, yaml: &str) -> String {
    stacked(directory, &[format!("values: {{it: {yaml}}}")])
}

#[test]
fn every_form_gives_what_its_row_says() {
    let (_tree, directory) = examples();
    let all = rows("| definition | gives |");
    assert!(all.len() >= 20, "only {} forms found", all.len());
    for row in all {
        for definition in &row.cells[0] {
            match row.cells[2].first().filter(|cell| cell.starts_with('{')) {
                Some(cell) => assert_eq!(
                    serde_json::json!({"it": added(&directory, definition)}),
                    serde_json::from_str::<Value>(&data(&directory, cell)).unwrap(),
                    "{definition}"
                ),
                None => assert_eq!(tried(&directory, definition), row.cells[2], "{definition}"),
            }
        }
    }
}

/// The values that a definition adds to the defaults.
fn added(directory: &Path, definition: &str) -> Value {
    let [mut with, without] = [Some(definition), None].map(|definition| {
        let sources: Vec<&str> = ["defaults.yaml"].into_iter().chain(definition).collect();
        let words = "stack backup -o json --custom-data custom.yaml";
        serde_json::from_str::<Value>(&answer(directory, words, &sources)).unwrap()
    });
    let all = with.as_object_mut().unwrap();
    all.retain(|key, value| without.get(key) != Some(value));
    with
}

/// The paths that a definition leads to, apart from the templates beside them.
fn tried(directory: &Path, definition: &str) -> Vec<String> {
    let words = "sources backup -o json --custom-data custom.yaml --sources";
    let answer: Value = serde_json::from_str(&answer(directory, words, &[definition])).unwrap();
    let all: Vec<&str> = answer
        .as_array()
        .unwrap()
        .iter()
        .filter(|one| one["stage"] == "layers" && one["definition"] == definition)
        .map(|one| one["path"].as_str().unwrap())
        .map(|path| path.strip_prefix("salt://backup/parameters/").unwrap())
        .collect();
    all.chunks(2)
        .map(|pair| {
            assert_eq!(format!("{}.jinja", pair[0]), pair[1]);
            pair[0].to_string()
        })
        .collect()
}

#[test]
fn every_strategy_of_layers_gives_what_its_row_says() {
    let (_tree, directory) = examples();
    let all = rows("| `strategy` | `merge_lists` | result |");
    assert_eq!(all.len(), 5);
    for Row { above, cells } in all {
        let [layer, base] = &above[..] else {
            panic!("{above:?}")
        };
        for (strategy, lists) in cells[0]
            .iter()
            .flat_map(|strategy| cells[1].iter().map(move |lists| (strategy, lists)))
        {
            let texts = [
                format!("values: {base}"),
                format!("strategy: {strategy}\nmerge_lists: {lists}\nvalues: {layer}"),
            ];
            let expected = stacked(&directory, &[format!("values: {}", cells[2][0])]);
            assert_eq!(stacked(&directory, &texts), expected, "{strategy} {lists}");
        }
    }
}

#[test]
fn every_strategy_of_stacks_gives_what_its_row_says() {
    let (_tree, directory) = examples();
    let all = rows("| strategy | file | result |");
    assert_eq!(all.len(), 10);
    write(&directory, "stack.cfg", "before.yml\nafter.yml\n");
    for Row { above, cells } in all {
        let base = above.last().unwrap();
        write(&directory, "before.yml", &format!("it: {base}"));
        write(&directory, "after.yml", &format!("it: {}", cells[1][0]));
        for kind in ["--stack", "--makostack"] {
            let words = "pillar -o json --minions minions --id nas1.example.net";
            let merged = answer(&directory, words, &[kind, "stack.cfg"]);
            assert_eq!(merged, data(&directory, &cells[2][0]), "{kind} {cells:?}");
        }
    }
}
