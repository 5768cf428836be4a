//! No file of tests is left out. Where a crate's tests are one program, `tests/main.rs` names each file; one that it
//! does not name would be compiled by nothing.

use std::path::{Path, PathBuf};

/// The files beside a `tests/main.rs` that are neither its modules nor programs of their own.
pub fn check(files: &[(PathBuf, String)]) -> Vec<String> {
    let is_root = |path: &Path| path.ends_with("tests/main.rs");
    let roots = files.iter().filter(|(path, _)| is_root(path));
    roots
        .flat_map(|(root, text)| left_out(root, text, files))
        .collect()
}

fn left_out(root: &Path, text: &str, files: &[(PathBuf, String)]) -> Vec<String> {
    let directory = root.parent().unwrap_or(Path::new(""));
    let manifest = directory.parent().map(|of| of.join("Cargo.toml"));
    let manifest = files
        .iter()
        .find(|(path, _)| Some(path) == manifest.as_ref());
    let is_named = |name: &str| {
        let program = format!("path = \"tests/{name}.rs\"");
        text.lines().any(|line| line == format!("mod {name};"))
            || manifest.is_some_and(|(_, manifest)| manifest.contains(&program))
    };
    let names = files.iter().filter_map(|(path, _)| {
        let is_beside = path.parent() == Some(directory) && path != root;
        let name = path.file_name()?.to_str()?.strip_suffix(".rs")?;
        (is_beside && !is_named(name)).then_some(name)
    });
    let problem = |name| {
        format!(
            "{}: {name}.rs is beside it and nothing compiles it; add `mod {name};`",
            root.display()
        )
    };
    names.map(problem).collect()
}

#[cfg(test)]
mod tests {
    use super::check;

    #[test]
    fn a_file_that_nothing_names_is_found() {
        let files = [
            (
                "a/Cargo.toml",
                "path = \"tests/main.rs\"\npath = \"tests/own.rs\"\n",
            ),
            (
                "a/tests/main.rs",
                "mod common;\n#[path = \"x\"]\nmod one;\n",
            ),
            ("a/tests/one.rs", ""),
            ("a/tests/own.rs", ""),
            ("a/tests/lost.rs", ""),
            ("a/tests/common/mod.rs", ""),
            ("b/tests/lost.rs", ""),
        ];
        let files = files.map(|(path, text)| (path.into(), text.to_owned()));
        assert_eq!(
            check(&files),
            ["a/tests/main.rs: lost.rs is beside it and nothing compiles it; add `mod lost;`"]
        );
    }
}
