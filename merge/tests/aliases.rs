//! Differences from Python's objects: mappings that occur at several places.
//!
//! The expectations are what `salt.utils.dictupdate.merge` of Salt 3008.3 gives for documents with such an anchor, read by
//! PyYAML: it changes another place exactly where one is reported here.

use mapstack_merge::{Aliases, Options, merge};
use mapstack_value::{Map, Value};
use serde_json::{Value as Json, json};

/// A document, in which each text `*` is replaced by the same value.
fn document(json: Json, anchor: &Json) -> Value {
    replaced(Value::from(json), &Value::from(anchor.clone()))
}

fn replaced(value: Value, anchor: &Value) -> Value {
    match value {
        Value::Str(text) if &*text == "*" => anchor.clone(),
        Value::List(items) => {
            Value::from_iter(items.iter().map(|item| replaced(item.clone(), anchor)))
        }
        Value::Map(map) => Map::from_iter(
            map.iter()
                .map(|(key, value)| (key.clone(), replaced(value.clone(), anchor))),
        )
        .into(),
        other => other,
    }
}

fn parted(base: &Value, overlay: Json, strategy: &str, merge_lists: bool) -> Vec<String> {
    let options = Options::new(&Value::from(strategy), &Value::from(merge_lists));
    let found = Aliases::of(base).parted(base, &overlay.into(), &options);
    let shown = found.iter().map(|parted| {
        let others: Vec<String> = parted.unchanged.iter().map(ToString::to_string).collect();
        format!("{}, not {}", parted.changed, others.join(" "))
    });
    shown.collect()
}

#[test]
fn recursive_strategies_change_an_aliased_mapping_at_one_place() {
    for strategy in ["smart", "recurse", "none", "no such strategy"] {
        for (anchor, base, overlay, expected) in [
            (
                json!({"k": 1}),
                json!({"a": "*", "b": "*"}),
                json!({"a": {"k": 2}}),
                "a, not b",
            ),
            (
                json!({"k": 1}),
                json!({"a": "*", "b": "*"}),
                json!({"b": {"k": 2}}),
                "b, not a",
            ),
            (
                json!({"k": 1}),
                json!({"a": "*", "b": "*", "c": ["*"]}),
                json!({"a": {"k": 2}}),
                "a, not b c:0",
            ),
            (
                json!({"l": [1]}),
                json!({"a": "*", "b": "*"}),
                json!({"a": {"l": [2]}}),
                "a, not b",
            ),
            (
                json!({"k": 1}),
                json!({"a": {"c": "*"}, "b": "*"}),
                json!({"a": {"c": {"k": 2}}}),
                "a:c, not b",
            ),
            (
                json!({"z": 1}),
                json!({"a": {"k": "*"}, "b": {"k": "*"}}),
                json!({"a": {"k": {"z": 2}}}),
                "a:k, not b:k",
            ),
            (
                json!({}),
                json!({"a": "*", "b": "*"}),
                json!({"a": {"k": 1}}),
                "a, not b",
            ),
        ] {
            let base = document(base, &anchor);
            assert_eq!(
                parted(&base, overlay, strategy, false),
                [expected],
                "{base:?} {strategy}"
            );
        }
    }
}

#[test]
fn what_salt_does_not_change_elsewhere_is_not_reported() {
    let nothing: [&str; 0] = [];
    let both = || json!({"a": "*", "b": "*"});
    for (anchor, base, overlay) in [
        (json!({"k": 1}), both(), json!({"a": {"k": 1}})),
        (json!({"k": 1}), both(), json!({"a": {}})),
        (json!({"k": 1}), both(), json!({"a": 1})),
        (json!({"k": 1}), both(), json!({"c": {"k": 2}})),
        (json!([1]), both(), json!({"a": [2]})),
        (
            json!(0),
            json!({"a": {"k": 1}, "b": {"k": 1}}),
            json!({"a": {"k": 2}}),
        ),
        (json!(0), json!({"a": {}, "b": {}}), json!({"a": {"k": 2}})),
    ] {
        let base = document(base, &anchor);
        for merge_lists in [false, true] {
            let found = parted(&base, overlay.clone(), "smart", merge_lists);
            assert_eq!(found, nothing, "{base:?} {overlay}");
        }
    }
    let base = document(both(), &json!({"k": 1}));
    for strategy in ["overwrite", "aggregate", "list"] {
        let found = parted(&base, json!({"a": {"k": 2}}), strategy, false);
        assert_eq!(found, nothing);
    }
}

#[test]
fn a_mapping_that_was_parted_is_reported_once() {
    let options = Options::default();
    let base = document(json!({"a": "*", "b": "*"}), &json!({"k": 1}));
    let aliases = Aliases::of(&base);
    let overlay = json!({"a": {"k": 2}}).into();
    assert_eq!(aliases.parted(&base, &overlay, &options).len(), 1);
    let base = merge(base, &overlay, &options).unwrap();
    let overlay = json!({"a": {"k": 3}}).into();
    assert_eq!(aliases.parted(&base, &overlay, &options), []);
}

#[test]
fn documents_are_looked_at_together_and_in_tuples() {
    let anchor = Value::from(json!({"k": 1}));
    let twice = Value::Tuple([anchor.clone(), anchor.clone()].into());
    let aliases = Aliases::of(&twice);
    assert!(!aliases.is_empty());
    assert!(Aliases::of(&anchor).is_empty() && Aliases::default().is_empty());
    let mut all = Aliases::default();
    all.add(&aliases);
    assert!(!all.is_empty());
    let base = document(json!({"a": "*", "b": "*"}), &json!({"k": 1}));
    let mut others = Aliases::default();
    others.add(&Aliases::of(&base));
    let options = Options::new(&Value::from("smart"), &Value::None);
    assert_eq!(
        others
            .parted(&base, &json!({"a": {"k": 2}}).into(), &options)
            .len(),
        1
    );
}
