//! `cargo xtask crates`: the table of docs/crates.md, from what each crate says of itself.

use std::path::Path;

use clap::Parser;
use serde_json::Value;
use xshell::{Shell, cmd};

use crate::Result;
use crate::tidy::code_map;

/// The document with the table.
pub const DOCUMENT: &str = "docs/crates.md";
const BEGIN: &str = "<!-- `cargo xtask crates` writes this table -->\n";
const END: &str = "<!-- the end of the table -->\n";

#[derive(Parser)]
pub struct Args {}

pub fn run(sh: &Shell, _: &Args) -> Result {
    let metadata = cmd!(sh, "cargo metadata --format-version 1 --no-deps")
        .quiet()
        .read()?;
    let map = sh.read_file(code_map::DOCUMENT)?;
    let document = sh.read_file(DOCUMENT)?;
    let written = written(&document, &map, &metadata, |path| sh.read_file(path).ok())?;
    sh.write_file(DOCUMENT, written)?;
    Ok(())
}

/// The document with the table as it should be. The map gives the order, and `read` the text of a file.
pub fn written(
    document: &str,
    map: &str,
    metadata: &str,
    read: impl Fn(&Path) -> Option<String>,
) -> Result<String> {
    let no_place = || format!("{DOCUMENT}: there is no place for the table: {BEGIN}{END}");
    let (before, rest) = document.split_once(BEGIN).ok_or_else(no_place)?;
    let (_, after) = rest.split_once(END).ok_or_else(no_place)?;
    let table = table(&serde_json::from_str(metadata)?, map, read);
    Ok(format!("{before}{BEGIN}{table}{END}{after}"))
}

fn table(metadata: &Value, map: &str, read: impl Fn(&Path) -> Option<String>) -> String {
    let root = metadata["workspace_root"].as_str().unwrap_or_default();
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let order = code_map::order(map);
    let mut rows: Vec<(Option<usize>, String)> = packages
        .map(|package| {
            let directory = code_map::directory(package, root);
            let source = package["targets"][0]["src_path"].as_str();
            let text = source.and_then(|path| read(Path::new(path)));
            let (is, ignores) = documented(&text.unwrap_or_default());
            let name = package["name"].as_str().unwrap_or_default();
            let place = order.iter().position(|path| *path == directory);
            (
                place,
                format!("| `{name}` | `{directory}` | {is} | {ignores} |\n"),
            )
        })
        .collect();
    rows.sort();
    let rows: String = rows.into_iter().map(|(_, row)| row).collect();
    format!(
        "\n| crate | directory | what it is | does not know about |\n|---|---|---|---|\n{rows}\n"
    )
}

/// The first paragraph of a file's documentation, and what it does not know about.
fn documented(text: &str) -> (String, String) {
    let lines = text.lines().map_while(|line| line.strip_prefix("//!"));
    let text = lines.map(str::trim).collect::<Vec<_>>().join("\n");
    // Names lead nowhere outside of the documentation of the crate.
    let text = text.replace("[`", "`").replace("`]", "`");
    let first = text.split("\n\n").next().unwrap_or_default();
    let whole = text.replace('\n', " ");
    let ignored = whole
        .split_once("does not know about ")
        .map_or("", |(_, rest)| rest);
    let end = ignored
        .char_indices()
        .find(|(at, c)| ";:".contains(*c) || (*c == '.' && ends_sentence(&ignored[at + 1..])))
        .map_or(ignored.len(), |(at, _)| at);
    (
        first.replace('\n', " ").trim_end_matches('.').to_owned(),
        ignored[..end].to_owned(),
    )
}

fn ends_sentence(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with(' ')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_says_what_the_crates_say() {
        let metadata = r#"{"workspace_root": "/w", "packages": [
            {"name": "b", "manifest_path": "/w/b/Cargo.toml", "targets": [{"src_path": "/w/b/src/lib.rs"}]},
            {"name": "a", "manifest_path": "/w/crates/a/Cargo.toml", "targets": [{"src_path": "/w/crates/a/src/lib.rs"}]}
        ]}"#;
        let read = |path: &Path| {
            Some(match path.starts_with("/w/b") {
                true => "//! Reads b.\n\nfn f() {}\n".to_owned(),
                false => "//! Holds [`A`]s, two\n//! of them.\n//!\n//! The crate does not know\n//! about c, d.rs or e; it asks.\n".to_owned(),
            })
        };
        let document = format!("# Crates\n\n{BEGIN}old{END}\nmore\n");
        let map = "\n## The code map\n\n- `crates/a`: A\n- `b`: B\n";
        let expected = format!(
            "# Crates\n\n{BEGIN}\n| crate | directory | what it is | does not know about |\n|---|---|---|---|\n\
             | `a` | `crates/a` | Holds `A`s, two of them | c, d.rs or e |\n| `b` | `b` | Reads b |  |\n\n{END}\nmore\n"
        );
        assert_eq!(written(&document, map, metadata, read).unwrap(), expected);
        assert_eq!(written(&expected, map, metadata, read).unwrap(), expected);
        assert!(written("# Crates\n", map, metadata, read).is_err());
    }
}
