//! The page about definitions: its commands print what it shows.
#![cfg(unix)]

use std::path::Path;
use std::process::Command;

use crate::common::{Tree, repository};
use crate::readme::{copy, shown};

const PAGE: &str = "docs/definitions.md";

/// They run in a copy of the examples, as the page makes files.
#[test]
fn the_commands_print_what_the_page_shows() {
    let tree = Tree::new::<&str>(&[]);
    copy(
        &repository().join("examples"),
        &tree.path().join("examples"),
    );
    let mut directory = tree.path().join("examples/definitions");
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
