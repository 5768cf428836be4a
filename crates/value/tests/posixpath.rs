//! Paths as Python's `posixpath` has them.

use mapstack_value::pytext::posixpath::{join, normpath, split};
use serde_json::{Value, json};

/// Each row is what Python says; `cargo xtask reference --record` asks it again.
#[test]
fn paths_are_what_python_makes_of_them() {
    let records: Vec<Value> = serde_json::from_str(include_str!("data/posixpath.json")).unwrap();
    assert!(!records.is_empty());
    for record in records {
        let path = record["path"].as_str().unwrap();
        let (head, name) = split(path);
        let said = json!({
            "normpath": normpath(path),
            "split": [head, name],
            "below_a": join("a", path),
            "with_b": join(path, "b"),
        });
        assert_eq!(said, record["result"], "{path}");
    }
}
