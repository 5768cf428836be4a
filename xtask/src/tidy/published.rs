//! The requirements of a crate that can be published.

use serde_json::Value;

use crate::Result;

/// The most keywords that a registry takes.
const MAX_KEYWORDS: usize = 5;

/// Crates that are published without a description, a README, keywords or categories.
pub fn check(metadata: &str) -> Result<Vec<String>> {
    let metadata: Value = serde_json::from_str(metadata)?;
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let is_published = |package: &&Value| package["publish"].is_null();
    Ok(packages.filter(is_published).flat_map(missing).collect())
}

fn missing(package: &Value) -> Vec<String> {
    let count = |field: &str| package[field].as_array().map_or(0, Vec::len);
    let problems = [
        (package["description"].is_null(), "has no description"),
        (package["readme"].is_null(), "has no README.md"),
        (count("keywords") == 0, "has no keywords"),
        (
            count("keywords") > MAX_KEYWORDS,
            "has more than five keywords",
        ),
        (count("categories") == 0, "has no categories"),
    ];
    let name = package["name"].as_str().unwrap_or_default();
    let is_wrong = problems.into_iter().filter(|(is_wrong, _)| *is_wrong);
    is_wrong
        .map(|(_, what)| {
            format!("{name}: the published crate {what}; see Cargo.toml of the others")
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_published_crate_is_described() {
        let package = |fields: &str| format!(r#"{{"packages": [{{"name": "x", {fields}}}]}}"#);
        let whole =
            r#""description": "d", "readme": "README.md", "keywords": ["k"], "categories": ["c"]"#;
        assert_eq!(
            check(&package(&format!("{whole}, \"publish\": null"))).unwrap(),
            [""; 0]
        );
        let bare = r#""description": null, "readme": null, "keywords": [], "categories": []"#;
        assert_eq!(check(&package(bare)).unwrap().len(), 4);
        assert_eq!(
            check(&package(&format!("{bare}, \"publish\": []"))).unwrap(),
            [""; 0]
        );
        let many = whole.replace(r#"["k"]"#, r#"["1", "2", "3", "4", "5", "6"]"#);
        assert_eq!(
            check(&package(&many)).unwrap(),
            ["x: the published crate has more than five keywords; see Cargo.toml of the others"]
        );
    }
}
