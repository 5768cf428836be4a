//! Paths as Python's `posixpath` has them.

use mapstack_value::posixpath::{join, normpath, split};
use mapstack_value::{Map, Value, json};

/// Each row is what Python says; `cargo xtask reference --record` asks it again.
#[test]
fn paths_are_what_python_makes_of_them() {
    let records = json::loads(include_str!("data/posixpath.json")).unwrap();
    let records = records.as_list().unwrap();
    assert_eq!(records.len(), 259);
    for record in records {
        let record = record.as_map().unwrap();
        let path = record.get("path").unwrap().as_str().unwrap();
        let (head, name) = split(path);
        let said: Map = [
            ("normpath", Value::from(normpath(path))),
            ("split", Value::from_iter([head, name])),
            ("below_a", join("a", path).into()),
            ("with_b", join(path, "b").into()),
        ]
        .into_iter()
        .collect();
        assert_eq!(
            Value::from(said).repr(),
            record.get("result").unwrap().repr(),
            "{path}"
        );
    }
}
