//! TOML, read and written as the reference does.
//!
//! `cargo xtask reference --record --only toml` records the results again; `--check --kind toml` compares more.

#[path = "../../yaml/tests/common/marked.rs"]
mod marked;

use mapstack_functions::formats::toml::read;
use marked::marked;
use serde_json::Value as Json;

/// Texts that the reference reads in another way than TOML says: what is read here, or `None` for an error.
const DIFFERENCES: &[(&str, Option<&str>)] = &[
    (
        "a = \"\"\"x\ny\"\"\" # c\nb = 1\n",
        Some("{'a': 'x\\ny', 'b': 1}"),
    ),
    ("\"q k\".'lit' = 1\n", Some("{'q k': {'lit': 1}}")),
    ("a.b = \"\"\"x\ny\"\"\"\n", Some("{'a': {'b': 'x\\ny'}}")),
    ("a = { b = 1 }\na.c = 2\n", None),
    ("a = { b = 1 }\n[a.c]\n", None),
    ("[a.b]\nx = 1\n[a]\nb.y = 2\n", None),
    ("a = [1, \n", None),
    ("a = 07:32:00.999\n", Some("{'a': '07:32:00.999000'}")),
    ("a = [1, 'x']\n", Some("{'a': [1, 'x']}")),
];

#[test]
fn documents_are_read_as_recorded() {
    let records: Vec<Json> = serde_json::from_str(include_str!("data/toml.json")).unwrap();
    assert!(!records.is_empty());
    let mut different = 0;
    for record in &records {
        let input = record["input"].as_str().unwrap();
        let ours = read(input).ok().map(|value| marked(&value));
        let theirs = record.get("result").and_then(Json::as_str);
        if let Some((_, expected)) = DIFFERENCES.iter().find(|(text, _)| *text == input) {
            different += 1;
            assert_eq!(ours.as_deref(), *expected, "{input}");
            assert_ne!(ours.as_deref(), theirs, "{input}");
        } else {
            assert_eq!(ours.as_deref(), theirs, "{input}");
        }
    }
    assert_eq!(different, DIFFERENCES.len());
}

#[test]
fn errors_say_where() {
    for (text, at) in [
        ("a = 1\nb = \n", 10),
        ("a = 1\n[a]\n", 7),
        ("x\n", 0),
        ("a = 01\n", 4),
        ("a = 'x\n", 4),
    ] {
        let error = read(text).unwrap_err();
        assert!(
            error.at.abs_diff(at) <= 2,
            "{text:?}: {error} at {}",
            error.at
        );
    }
}
