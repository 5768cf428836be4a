//! The licences of the crates that are built in, and their sources.
//!
//! `deny.toml` says the same for `cargo deny check licenses bans sources`, which CI runs where it is installed.

use serde_json::Value;

use crate::Result;

/// Licences under which anything may be built in.
const ALLOWED: &[&str] = &[
    "MIT",
    "MIT-0",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-2-Clause-Views",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "CDLA-Permissive-2.0",
    "ISC",
    "PSF-2.0",
    "Unicode-3.0",
    "Unicode-DFS-2016",
    "Unlicense",
    "Zlib",
    "bzip2-1.0.6",
];

/// Crates under other words, each with the reason why it may be there.
const EXCEPTIONS: &[(&str, &str)] = &[
    (
        "malachite-base",
        "LGPL-3.0-only; comes with the Python interpreter alone, which is a feature and a program of its own",
    ),
    ("malachite-bigint", "as malachite-base"),
    ("malachite-nz", "as malachite-base"),
    ("malachite-q", "as malachite-base"),
    ("libyaml-safer", "names a file, LICENSE-MIT"),
    ("mt19937", "names a file, the licence of BSD-3-Clause"),
    ("rustpython-doc", "names a file, the licence of MIT"),
    ("rustpython-pylib", "names a file, PSF-LICENSE"),
    ("syn-ext", "names a file, the licence of MIT"),
];

/// The registry that crates may come from.
const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// The parts of the output of `cargo metadata` that go against the tables.
pub fn check(metadata: &str) -> Result<Vec<String>> {
    let metadata: Value = serde_json::from_str(metadata)?;
    let packages = metadata["packages"]
        .as_array()
        .ok_or("cargo metadata names no packages")?;
    let mut problems = Vec::new();
    for package in packages {
        let name = package["name"].as_str().unwrap_or_default();
        let licence = package["license"].as_str().unwrap_or("a file");
        if !is_allowed(licence) && !EXCEPTIONS.iter().any(|(known, _)| *known == name) {
            problems
                .push(format!("{name}: its licence is {licence}; do without it, or give it a reason in licences.rs"));
        }
        if let Some(source) = package["source"]
            .as_str()
            .filter(|source| *source != REGISTRY)
        {
            problems.push(format!(
                "{name}: comes from {source}; crates come from crates.io"
            ));
        }
    }
    Ok(problems)
}

/// True if an expression such as `(MIT OR Apache-2.0) AND Unicode-3.0` can be met with what is allowed.
fn is_allowed(expression: &str) -> bool {
    let expression = expression.replace('/', " OR ");
    split(&expression, " AND ").into_iter().all(|part| {
        let part = part.trim();
        let inner = part
            .strip_prefix('(')
            .and_then(|part| part.strip_suffix(')'))
            .unwrap_or(part);
        inner
            .split(" OR ")
            .any(|licence| ALLOWED.contains(&licence.trim()))
    })
}

/// The parts of an expression outside of brackets.
fn split<'e>(expression: &'e str, separator: &str) -> Vec<&'e str> {
    let (mut parts, mut start, mut depth) = (Vec::new(), 0, 0_usize);
    for (at, c) in expression.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ if depth == 0 && at >= start && expression[at..].starts_with(separator) => {
                parts.push(&expression[start..at]);
                start = at + separator.len();
            }
            _ => {}
        }
    }
    parts.push(&expression[start..]);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_are_met_by_one_of_each() {
        for good in [
            "MIT",
            "GPL-3.0 OR MIT",
            "Apache-2.0/MIT",
            "(MIT OR X) AND Unicode-3.0",
            "Apache-2.0 AND ISC",
        ] {
            assert!(is_allowed(good), "{good}");
        }
        for bad in [
            "",
            "GPL-3.0",
            "MIT AND GPL-3.0",
            "(MIT OR Apache-2.0) AND X",
            "a file",
            "LGPL-3.0-only",
        ] {
            assert!(!is_allowed(bad), "{bad}");
        }
    }

    #[test]
    fn a_foreign_licence_and_a_foreign_source_are_named() {
        let packages = serde_json::json!({"packages": [
            {"name": "good", "license": "MIT", "source": REGISTRY},
            {"name": "ours", "license": "MIT OR Apache-2.0", "source": null},
            {"name": "malachite-nz", "license": "LGPL-3.0-only", "source": REGISTRY},
            {"name": "copyleft", "license": "GPL-3.0", "source": REGISTRY},
            {"name": "fork", "license": "MIT", "source": "git+https://example.org/fork"},
        ]});
        let problems = check(&packages.to_string()).unwrap();
        assert!(
            problems.len() == 2 && problems[0].contains("copyleft: its licence is GPL-3.0"),
            "{problems:?}"
        );
        assert!(
            problems[1].contains("fork: comes from git+"),
            "{problems:?}"
        );
    }
}
