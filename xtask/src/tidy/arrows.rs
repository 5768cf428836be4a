//! Which crate may depend on which, as data; and the check of what `cargo metadata` says.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::Result;

/// Every crate of the workspace, and all of its siblings that it may name in its manifest, be it
/// for its library, its tests or its build script.
const ARROWS: &[(&str, &[&str])] = &[
    ("mapstack-pytext", &[]),
    ("mapstack-value", &["mapstack-pytext"]),
    ("mapstack-yaml-events", &[]),
    (
        "mapstack-yaml",
        &["mapstack-pytext", "mapstack-value", "mapstack-yaml-events"],
    ),
    ("mapstack-formats", &["mapstack-value"]),
    (
        "mapstack-limits",
        &["mapstack-diagnostic", "mapstack-value"],
    ),
    (
        "mapstack-pyobject",
        &[
            "mapstack-diagnostic",
            "mapstack-limits",
            "mapstack-pytext",
            "mapstack-value",
            "mapstack-yaml",
        ],
    ),
    (
        "mapstack-pyrandom",
        &["mapstack-pyobject", "mapstack-value"],
    ),
    (
        "mapstack-jinja-syntax",
        &[
            "mapstack-diagnostic",
            "mapstack-pyobject",
            "mapstack-pytext",
            "mapstack-value",
        ],
    ),
    (
        "mapstack-jinja",
        &[
            "mapstack-diagnostic",
            "mapstack-jinja-syntax",
            "mapstack-pyobject",
            "mapstack-pyrandom",
            "mapstack-pytext",
            "mapstack-value",
        ],
    ),
    (
        "mapstack-salt-jinja",
        &[
            "mapstack-diagnostic",
            "mapstack-jinja",
            "mapstack-pyobject",
            "mapstack-pyrandom",
            "mapstack-pytext",
            "mapstack-value",
            "mapstack-yaml",
        ],
    ),
    ("mapstack-matcher", &[]),
    ("mapstack-merge", &["mapstack-value"]),
    (
        "mapstack-minion",
        &[
            "mapstack-diagnostic",
            "mapstack-value",
            "mapstack-yaml",
            "mapstack-merge",
        ],
    ),
    ("mapstack-loader", &["mapstack-pytext", "mapstack-value"]),
    ("mapstack-redact", &["mapstack-value"]),
    (
        "mapstack-diagnostic",
        &["mapstack-pytext", "mapstack-redact"],
    ),
    ("mapstack-python-protocol", &["mapstack-value"]),
    (
        "mapstack-python",
        &[
            "mapstack-value",
            "mapstack-python-protocol",
            "mapstack-yaml",
        ],
    ),
    (
        "mapstack-render",
        &[
            "mapstack-diagnostic",
            "mapstack-pyobject",
            "mapstack-python-protocol",
            "mapstack-pytext",
            "mapstack-salt-jinja",
            "mapstack-value",
            "mapstack-yaml",
        ],
    ),
    (
        "mapstack-salt-config",
        &[
            "mapstack-diagnostic",
            "mapstack-loader",
            "mapstack-merge",
            "mapstack-render",
            "mapstack-value",
            "mapstack-yaml",
        ],
    ),
    (
        "mapstack-functions",
        &[
            "mapstack-diagnostic",
            "mapstack-formats",
            "mapstack-loader",
            "mapstack-merge",
            "mapstack-minion",
            "mapstack-render",
            "mapstack-value",
            "mapstack-yaml",
        ],
    ),
    (
        "mapstack-survey",
        &["mapstack-diagnostic", "mapstack-render", "mapstack-value"],
    ),
    (
        "mapstack-stateconf",
        &[
            "mapstack-pyobject",
            "mapstack-pytext",
            "mapstack-value",
            "mapstack-yaml",
        ],
    ),
    (
        "mapstack",
        &[
            "mapstack-stateconf",
            "mapstack-survey",
            "mapstack-formats",
            "mapstack-functions",
            "mapstack-diagnostic",
            "mapstack-value",
            "mapstack-yaml",
            "mapstack-matcher",
            "mapstack-merge",
            "mapstack-minion",
            "mapstack-loader",
            "mapstack-redact",
            "mapstack-render",
        ],
    ),
    (
        "mapstack-classes",
        &[
            "mapstack-diagnostic",
            "mapstack-loader",
            "mapstack-pyobject",
            "mapstack-pytext",
            "mapstack-value",
            "mapstack-yaml",
        ],
    ),
    (
        "mapstack-pillar",
        &[
            "mapstack",
            "mapstack-diagnostic",
            "mapstack-formats",
            "mapstack-functions",
            "mapstack-loader",
            "mapstack-merge",
            "mapstack-minion",
            "mapstack-render",
            "mapstack-salt-config",
            "mapstack-share",
            "mapstack-classes",
            "mapstack-value",
            "mapstack-yaml",
        ],
    ),
    (
        "mapstack-states",
        &[
            "mapstack",
            "mapstack-diagnostic",
            "mapstack-share",
            "mapstack-value",
        ],
    ),
    (
        "mapstack-lineage",
        &[
            "mapstack",
            "mapstack-diagnostic",
            "mapstack-functions",
            "mapstack-matcher",
            "mapstack-merge",
            "mapstack-minion",
            "mapstack-pillar",
            "mapstack-render",
            "mapstack-salt-config",
            "mapstack-value",
            "mapstack-yaml",
        ],
    ),
    (
        "mapstack-share",
        &[
            "mapstack",
            "mapstack-diagnostic",
            "mapstack-loader",
            "mapstack-matcher",
            "mapstack-minion",
            "mapstack-redact",
            "mapstack-render",
            "mapstack-value",
            "mapstack-yaml",
        ],
    ),
    (
        "mapstack-fleet",
        &[
            "mapstack",
            "mapstack-lineage",
            "mapstack-pillar",
            "mapstack-salt-config",
            "mapstack-share",
        ],
    ),
    ("mapstack-host", &["mapstack", "mapstack-pytext"]),
    ("mapstack-mine", &["mapstack"]),
    ("mapstack-schema", &["mapstack-value", "mapstack-yaml"]),
    (
        "mapstack-lint",
        &[
            "mapstack",
            "mapstack-fleet",
            "mapstack-lineage",
            "mapstack-render",
            "mapstack-schema",
            "mapstack-states",
        ],
    ),
    (
        "mapstack-lint-pillar",
        &[
            "mapstack",
            "mapstack-fleet",
            "mapstack-lineage",
            "mapstack-lint",
            "mapstack-pillar",
            "mapstack-redact",
            "mapstack-salt-config",
            "mapstack-schema",
        ],
    ),
    ("mapstack-page", &[]),
    (
        "mapstack-expect",
        &[
            "mapstack",
            "mapstack-fleet",
            "mapstack-lineage",
            "mapstack-merge",
        ],
    ),
    (
        "mapstack-report",
        &[
            "mapstack",
            "mapstack-expect",
            "mapstack-fleet",
            "mapstack-lineage",
            "mapstack-lint",
            "mapstack-page",
            "mapstack-pillar",
            "mapstack-redact",
            "mapstack-salt-config",
            "mapstack-share",
        ],
    ),
    (
        "mapstack-inputs",
        &[
            "mapstack",
            "mapstack-fleet",
            "mapstack-host",
            "mapstack-mine",
            "mapstack-pillar",
            "mapstack-salt-config",
            "mapstack-share",
            "mapstack-states",
        ],
    ),
    ("mapstack-outputs", &["mapstack-fleet", "mapstack-report"]),
    (
        "mapstack-parts",
        &[
            "mapstack",
            "mapstack-fleet",
            "mapstack-outputs",
            "mapstack-python-protocol",
            "mapstack-report",
            "mapstack-share",
        ],
    ),
    (
        "mapstack-console",
        &[
            "mapstack",
            "mapstack-fleet",
            "mapstack-inputs",
            "mapstack-lint",
            "mapstack-outputs",
            "mapstack-report",
        ],
    ),
    (
        "mapstack-cli",
        &[
            "mapstack",
            "mapstack-console",
            "mapstack-expect",
            "mapstack-fleet",
            "mapstack-inputs",
            "mapstack-lineage",
            "mapstack-lint",
            "mapstack-lint-pillar",
            "mapstack-outputs",
            "mapstack-parts",
            "mapstack-pillar",
            "mapstack-report",
            "mapstack-salt-config",
        ],
    ),
    ("xtask", &[]),
];

/// The parts of the output of `cargo metadata --no-deps` that go against the table.
pub fn check(metadata: &str) -> Result<Vec<String>> {
    let metadata: Value = serde_json::from_str(metadata)?;
    let packages = metadata["packages"]
        .as_array()
        .ok_or("cargo metadata names no packages")?;
    let name = |value: &Value| value["name"].as_str().unwrap_or_default().to_owned();
    let ours: BTreeSet<String> = packages.iter().map(name).collect();
    let mut problems = Vec::new();
    for package in packages {
        let crate_name = name(package);
        let Some((_, allowed)) = ARROWS.iter().find(|(known, _)| *known == crate_name) else {
            problems.push(format!(
                "{crate_name}: not in the table of dependencies; give it a row"
            ));
            continue;
        };
        let dependencies = package["dependencies"]
            .as_array()
            .map_or(&[][..], Vec::as_slice);
        // For its tests a crate names itself to turn on its own features.
        let sibling = |n: &String| ours.contains(n) && *n != crate_name;
        let siblings: BTreeSet<String> = dependencies.iter().map(name).filter(sibling).collect();
        for sibling in siblings
            .iter()
            .filter(|sibling| !allowed.contains(&sibling.as_str()))
        {
            problems.push(format!(
                "{crate_name}: must not depend on {sibling}; see the code map in ARCHITECTURE.md"
            ));
        }
    }
    let gone = ARROWS.iter().filter(|(known, _)| !ours.contains(*known));
    problems.extend(
        gone.map(|(known, _)| format!("{known}: in the table of dependencies, but no crate")),
    );
    Ok(problems)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A workspace with exactly the allowed arrows, as `cargo metadata` would print it.
    fn workspace() -> Value {
        let package = |(name, allowed): &(&str, &[&str])| {
            let siblings = allowed
                .iter()
                .map(|name| json!({"name": name, "kind": null}));
            let dependencies: Vec<Value> = siblings
                .chain([json!({"name": "serde", "kind": null})])
                .collect();
            json!({"name": name, "dependencies": dependencies})
        };
        json!({"packages": ARROWS.iter().map(package).collect::<Vec<_>>()})
    }

    #[test]
    fn the_allowed_arrows_are_allowed() {
        assert_eq!(
            check(&workspace().to_string()).unwrap(),
            Vec::<String>::new()
        );
    }

    #[test]
    fn a_forbidden_arrow_is_named_whatever_its_kind() {
        for kind in [json!(null), json!("dev"), json!("build")] {
            let mut metadata = workspace();
            let loader = ARROWS
                .iter()
                .position(|(name, _)| *name == "mapstack-loader")
                .unwrap();
            let dependencies = metadata["packages"][loader]["dependencies"]
                .as_array_mut()
                .unwrap();
            dependencies.push(json!({"name": "mapstack-yaml", "kind": kind}));
            let problems = check(&metadata.to_string()).unwrap();
            assert_eq!(
                problems,
                [
                    "mapstack-loader: must not depend on mapstack-yaml; see the code map in ARCHITECTURE.md"
                ]
            );
        }
    }

    #[test]
    fn crates_and_rows_belong_together() {
        let mut metadata = workspace();
        let value = ARROWS
            .iter()
            .position(|(name, _)| *name == "mapstack-value");
        metadata["packages"][value.unwrap()]["name"] = json!("mapstack-valuable");
        let problems = check(&metadata.to_string()).unwrap();
        assert!(problems.contains(
            &"mapstack-valuable: not in the table of dependencies; give it a row".into()
        ));
        assert!(
            problems.contains(&"mapstack-value: in the table of dependencies, but no crate".into())
        );
    }
}
