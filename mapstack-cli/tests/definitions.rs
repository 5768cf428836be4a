//! The page about definitions: its commands print what it shows.
#![cfg(unix)]

use crate::common::{Tree, repository};
use crate::console::{Document, Readers, printed};
use crate::readme::copy;

const PAGE: &str = "docs/definitions.md";

/// The page makes files in a copy of the examples.
#[test]
fn the_commands_print_what_the_page_shows() {
    let tree = Tree::new::<&str>(&[]);
    copy(
        &repository().join("examples"),
        &tree.path().join("examples"),
    );
    let mut directory = tree.path().join("examples/definitions");
    let document = Document::read(&repository().join(PAGE));
    let commands = document.commands().count();
    assert!(commands >= 50, "only {commands} commands found");
    for shown in document.commands() {
        match shown.command.strip_prefix("cd ") {
            Some(to) => directory.push(to),
            None => {
                let printed = printed(&directory, &shown.command, Readers::Users);
                let same = document.check(shown, &printed, str::to_owned);
                same.unwrap_or_else(|e| panic!("{e}"));
            }
        }
    }
}
