//! The map of the code in ARCHITECTURE.md: every crate once, each above those that it depends on.

use serde_json::Value;

use crate::Result;

/// The document with the map.
pub const DOCUMENT: &str = "ARCHITECTURE.md";
const HEADING: &str = "\n## The code map\n";
/// A map that takes longer to read than the code it leads to helps no one.
const MAX_BYTES: usize = 12 << 10;

/// The mistakes in the map. `metadata` is the output of `cargo metadata --no-deps`.
pub fn check(document: &str, metadata: &str) -> Result<Vec<String>> {
    let metadata: Value = serde_json::from_str(metadata)?;
    let order = order(document);
    let mut problems = Vec::new();
    let packages = packages(&metadata);
    for package in &packages {
        match order
            .iter()
            .filter(|path| **path == package.directory)
            .count()
        {
            1 => problems.extend(arrows_up(package, &packages, &order)),
            n => problems.push(format!(
                "{DOCUMENT}: `{}` is in the map {n} times, and should be once",
                package.directory
            )),
        }
    }
    let is_crate = |path: &&&str| packages.iter().any(|package| package.directory == **path);
    let gone = order.iter().filter(|path| !is_crate(path));
    problems.extend(gone.map(|path| format!("{DOCUMENT}: `{path}` is in the map, but no crate")));
    if document.len() > MAX_BYTES {
        problems.push(format!(
            "{DOCUMENT}: {} bytes, and {MAX_BYTES} are allowed; reasons belong into docs/decisions",
            document.len()
        ));
    }
    Ok(problems)
}

/// The directories of the crates in the order of the map, the lowest first.
pub fn order(document: &str) -> Vec<&str> {
    let map = document.split(HEADING).nth(1).unwrap_or_default();
    let map = map.split("\n## ").next().unwrap_or_default();
    let rows = map.lines().filter_map(|line| line.strip_prefix("- `"));
    rows.filter_map(|row| row.split_once("`: "))
        .map(|(directory, _)| directory)
        .collect()
}

/// The facts about a crate that the map is checked with.
struct Package<'m> {
    directory: String,
    name: &'m str,
    /// The names of all crates that its manifest names.
    dependencies: Vec<&'m str>,
}

fn packages(metadata: &Value) -> Vec<Package<'_>> {
    let root = metadata["workspace_root"].as_str().unwrap_or_default();
    let packages = metadata["packages"].as_array().into_iter().flatten();
    packages
        .map(|package| Package {
            directory: directory(package, root),
            name: package["name"].as_str().unwrap_or_default(),
            dependencies: package["dependencies"]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(|dependency| dependency["name"].as_str())
                .collect(),
        })
        .collect()
}

/// The directory of a package of `cargo metadata`, from the root of the workspace.
pub fn directory(package: &Value, root: &str) -> String {
    let manifest = package["manifest_path"].as_str().unwrap_or_default();
    let inside = manifest.strip_prefix(root).unwrap_or(manifest);
    inside
        .trim_end_matches("Cargo.toml")
        .trim_matches('/')
        .to_owned()
}

fn arrows_up(package: &Package, packages: &[Package], order: &[&str]) -> Vec<String> {
    let floor = |directory: &str| order.iter().position(|path| *path == directory);
    let siblings = packages
        .iter()
        .filter(|other| other.name != package.name && package.dependencies.contains(&other.name));
    siblings
        .filter(|other| floor(&other.directory) > floor(&package.directory))
        .map(|other| {
            format!(
                "{DOCUMENT}: `{}` depends on `{}`, which is above it",
                package.directory, other.directory
            )
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const METADATA: &str = r#"{"workspace_root": "/w", "packages": [
        {"name": "a", "manifest_path": "/w/crates/a/Cargo.toml", "dependencies": [{"name": "serde"}]},
        {"name": "b", "manifest_path": "/w/b/Cargo.toml", "dependencies": [{"name": "a"}, {"name": "b"}]}
    ]}"#;

    #[test]
    fn every_crate_is_in_the_map_above_what_it_depends_on() {
        let problems = |map: &str| check(&format!("# A\n{HEADING}{map}"), METADATA).unwrap();
        assert_eq!(
            problems("- `crates/a`: A\n\n- `b`: B\n\n## More\n\n- `x`: X\n"),
            [""; 0]
        );
        assert_eq!(
            problems("- `b`: B\n- `crates/a`: A\n"),
            ["ARCHITECTURE.md: `b` depends on `crates/a`, which is above it"]
        );
        assert_eq!(
            problems("- `b`: B\n- `c`: C\n"),
            [
                "ARCHITECTURE.md: `crates/a` is in the map 0 times, and should be once",
                "ARCHITECTURE.md: `c` is in the map, but no crate"
            ]
        );
    }

    #[test]
    fn the_map_is_short() {
        let map = format!(
            "{HEADING}- `crates/a`: A\n- `b`: B\n{}",
            "x".repeat(MAX_BYTES)
        );
        assert!(check(&map, METADATA).unwrap()[0].contains("docs/decisions"));
    }
}
