//! Documents whose repeated keys are joined, as the reference joins them.
//!
//! `cargo xtask reference --record --only yamlex` records the results again; `--check --kind yamlex` compares more.

use crate::marked::marked;
use mapstack_value::Path;
use mapstack_yaml::{ErrorKind, Limits, Mark, load_aggregating};
use serde_json::Value as Json;

#[test]
fn documents_are_read_as_recorded() {
    let records: Vec<Json> = serde_json::from_str(include_str!("data/yamlex.json")).unwrap();
    assert!(!records.is_empty());
    for record in &records {
        let input = record["input"].as_str().unwrap();
        match (
            load_aggregating(input, &Limits::default()),
            record.get("result"),
        ) {
            (Ok(loaded), Some(expected)) => {
                assert_eq!(marked(&loaded.value), expected.as_str().unwrap(), "{input}");
            }
            (Err(error), None) => {
                assert_eq!(
                    error.reference_class(),
                    record["error"].as_str().unwrap(),
                    "{input}: {error}"
                );
                if let Some(line) = record.get("line") {
                    let (mark, line) = (error.mark().unwrap(), line.as_u64().unwrap());
                    // A bracket that is never closed is shown where it opens, not where the text ends.
                    match error.to_string().contains("opened here") {
                        true => {
                            let opening = input.get(mark.offset(input)..).unwrap_or_default();
                            assert!(
                                opening.starts_with(['[', '{', '\'', '"']),
                                "{input}: {error}"
                            );
                            assert!(u64::from(mark.line) <= line, "{input}: {error}");
                        }
                        false => assert_eq!(u64::from(mark.line), line, "{input}: {error}"),
                    }
                }
            }
            (ours, theirs) => panic!("{input}\nours {ours:?}\ntheirs {theirs:?}"),
        }
    }
}

#[test]
fn joined_values_keep_their_places() {
    let text =
        "a: !aggregate x\nb: !aggregate {k: 1}\na: !aggregate\n  - y\nb: !aggregate {l: 2}\n";
    let loaded = load_aggregating(text, &Limits::default()).unwrap();
    for (path, place) in [
        ("a:0", (1, 4)),
        ("a:1", (4, 5)),
        ("b:k", (2, 19)),
        ("b:l", (5, 19)),
    ] {
        let marks = loaded
            .marks
            .at(&loaded.value, &Path::split(path, ":").unwrap())
            .unwrap();
        assert_eq!((marks.mark().line, marks.mark().column), place, "{path}");
    }
    let key = Path::split("b", ":").unwrap();
    assert_eq!(
        loaded.marks.key_at(&loaded.value, &key),
        Some(Mark { line: 5, column: 1 })
    );
}

#[test]
fn the_first_of_several_merged_mappings_wins() {
    let text = "a: &a {key: 1, k: 1}\nb: &b {key: 2, k: 2}\nc: {<<: [*a, *b]}\n";
    let loaded = load_aggregating(text, &Limits::default()).unwrap();
    let merged = loaded.value.as_map().unwrap().get("c").unwrap();
    for key in ["key", "k"] {
        assert_eq!(merged.as_map().unwrap().get(key), Some(&1.into()), "{key}");
    }
}

#[test]
fn joining_is_bounded() {
    let limits = Limits {
        max_depth: 20,
        max_nodes: 5_000,
    };
    let long = "k: !aggregate [[1], [2]]\n".repeat(1_000);
    let error = load_aggregating(&long, &limits).unwrap_err();
    assert!(
        matches!(error.kind(), ErrorKind::TooLarge { limit: 5_000 }),
        "{error}"
    );
    let many = (0..400)
        .map(|n| format!("k: !aggregate [[{n}], [x]]\n"))
        .collect::<String>();
    let error = load_aggregating(&many, &limits).unwrap_err();
    assert!(
        matches!(error.kind(), ErrorKind::TooMuchJoined { .. }),
        "{error}"
    );
    let deep = format!("k: !aggregate {}", "[".repeat(21));
    assert!(load_aggregating(&deep, &limits).is_err());
}
