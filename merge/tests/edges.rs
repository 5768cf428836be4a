//! Warnings, errors, sharing and reports: what no single result shows.

use crate::common::{Recorded, Recorder, json};
use mapstack_merge::{
    Change, ItemOrigin, Observer, Options, Strategy, Trail, merge, merge_all, merge_observed, stack,
};
use mapstack_value::{Key, Map, MapKind, Value};

fn map(text: &str) -> Map {
    json(text).as_map().unwrap().clone()
}

fn with(strategy: Strategy) -> Options {
    Options {
        strategy,
        merge_lists: false,
    }
}

#[test]
fn unknown_strategies_warn_and_none_does_not() {
    for (value, warns) in [
        (Value::from("smart"), None),
        (Value::from("none"), None),
        (Value::None, Some("None")),
        (Value::from(""), Some("''")),
        (Value::from("Recurse"), Some("'Recurse'")),
        (Value::from_iter(["recurse"]), Some("['recurse']")),
    ] {
        let text = Strategy::from(&value)
            .warning()
            .map(|warning| warning.to_string());
        assert_eq!(text.is_some(), warns.is_some(), "{value:?}");
        if let (Some(text), Some(shown)) = (text, warns) {
            assert!(
                text.starts_with(&format!("unknown merge strategy {shown}:")),
                "{text}"
            );
        }
    }
}

#[test]
fn lists_are_appended_if_the_option_is_true_in_python() {
    let no = [
        Value::None,
        false.into(),
        0.into(),
        "".into(),
        Value::map(),
        0.0.into(),
        Value::Tuple([].into()),
    ];
    for value in no {
        assert!(
            !Options::new(&"recurse".into(), &value).merge_lists,
            "{value:?}"
        );
    }
    for value in [
        true.into(),
        1.into(),
        "false".into(),
        Value::from_iter([Value::None]),
    ] {
        assert!(
            Options::new(&"recurse".into(), &value).merge_lists,
            "{value:?}"
        );
    }
}

#[test]
fn strategies_print_as_they_are_written() {
    for name in [
        "smart",
        "recurse",
        "overwrite",
        "aggregate",
        "list",
        "none",
        "bogus",
    ] {
        assert_eq!(Strategy::from(&Value::from(name)).to_string(), name);
    }
}

/// Merge, and check the message and exception of the refusal.
fn check_refused(base: &str, overlay: &str, strategy: Strategy, message: &str, class: &str) {
    let error = merge(json(base), &json(overlay), &with(strategy)).unwrap_err();
    assert_eq!(
        (error.to_string().as_str(), error.reference_class()),
        (message, class)
    );
}

#[test]
fn refusals_say_what_where_and_what_to_do() {
    check_refused(
        r#"{"a": 1}"#,
        "[1]",
        Strategy::Smart,
        "cannot merge a list over a mapping at the root with strategy smart: \
         a layer must be a mapping; write its data as `key: value`",
        "TypeError",
    );
    check_refused(
        "3",
        r#"{"a": 1}"#,
        Strategy::Recurse,
        "cannot merge a mapping over an integer at the root with strategy recurse: \
         the data merged so far is not a mapping; let the earlier layers yield mappings",
        "TypeError",
    );
    check_refused(
        r#"{"x": "s"}"#,
        "5",
        Strategy::List,
        "cannot merge an integer over a string at x with strategy list: \
         the overlay cannot be asked for this key; write it as a mapping",
        "TypeError",
    );
}

#[test]
fn list_subscripts_an_overlay_list_by_integer_keys() {
    let base = Value::from(Map::from_iter([(0, "a"), (7, "b")]));
    let merged = |overlay| merge(base.clone(), &json(overlay), &with(Strategy::List));
    assert_eq!(merged("[9, 0]").unwrap().repr(), "{0: ['a', 9], 7: 'b'}");
    assert_eq!(merged("[7]").unwrap_err().reference_class(), "IndexError");
}

#[test]
fn aggregate_marks_the_root_and_later_merges_keep_the_mark() {
    let aggregate = merge(
        json(r#"{"a": {"x": 1}}"#),
        &json(r#"{"a": {"y": 2}}"#),
        &with(Strategy::Aggregate),
    );
    let aggregate = aggregate.unwrap();
    assert_eq!(aggregate.repr(), "{'a': {'y': 2}}");
    for (strategy, kind) in [
        (Strategy::Recurse, MapKind::Aggregate),
        (Strategy::Overwrite, MapKind::Aggregate),
        (Strategy::Aggregate, MapKind::Aggregate),
        (Strategy::List, MapKind::Dict),
    ] {
        let merged = merge(
            aggregate.clone(),
            &json(r#"{"a": {"z": 3}}"#),
            &with(strategy.clone()),
        )
        .unwrap();
        assert_eq!(merged.as_map().unwrap().kind(), kind, "{strategy}");
    }
    // As an overlay it is data like any other.
    let merged = merge(json(r#"{"b": 1}"#), &aggregate, &Options::default()).unwrap();
    assert_eq!(merged.as_map().unwrap().kind(), MapKind::Dict);
}

#[test]
fn aggregates_on_both_sides_unite_one_level_deeper() {
    let nest = |text: &str, kind| Value::from(Map::from_iter([("k", map(text).with_kind(kind))]));
    let merged = |left, right| {
        let base = nest(r#"{"a": 1, "b": {"p": 1}}"#, left);
        merge(
            base,
            &nest(r#"{"b": {"q": 2}}"#, right),
            &with(Strategy::Aggregate),
        )
        .unwrap()
        .repr()
    };
    assert_eq!(
        merged(MapKind::Aggregate, MapKind::Aggregate),
        "{'k': {'a': 1, 'b': {'q': 2}}}"
    );
    assert_eq!(
        merged(MapKind::Aggregate, MapKind::Dict),
        "{'k': {'b': {'q': 2}}}"
    );
    assert_eq!(
        merged(MapKind::Dict, MapKind::Aggregate),
        "{'k': {'b': {'q': 2}}}"
    );
}

#[test]
fn a_merge_copies_only_what_it_changes() {
    let base = json(r#"{"kept": {"x": 1}, "changed": {"y": 1}}"#);
    let overlay = json(r#"{"changed": {"z": 2}, "new": {"w": 3}}"#);
    let merged = merge(base.clone(), &overlay, &Options::default()).unwrap();
    let at = |value: &Value, key: &str| {
        value
            .as_map()
            .unwrap()
            .get(key)
            .unwrap()
            .as_map()
            .unwrap()
            .clone()
    };
    assert!(at(&merged, "kept").ptr_eq(&at(&base, "kept")));
    assert!(at(&merged, "new").ptr_eq(&at(&overlay, "new")));
    assert!(!at(&merged, "changed").ptr_eq(&at(&base, "changed")));
}

#[test]
fn one_object_under_two_keys_is_two_values() {
    let shared = json(r#"{"x": 1}"#);
    let base = Value::from(Map::from_iter([("base", shared.clone()), ("k", shared)]));
    let merged = merge(base, &json(r#"{"base": {"y": 2}}"#), &Options::default()).unwrap();
    assert_eq!(merged, json(r#"{"base": {"x": 1, "y": 2}, "k": {"x": 1}}"#));
}

fn path(keys: &[&str]) -> mapstack_merge::KeyPath {
    mapstack_merge::KeyPath(keys.iter().map(|k| Key::from(*k)).collect())
}

#[test]
fn appended_lists_tell_whose_items_they_have() {
    let mut recorder = Recorder::default();
    let options = Options {
        strategy: Strategy::Recurse,
        merge_lists: true,
    };
    merge_observed(
        json(r#"{"a": {"l": [1, 2]}}"#),
        &json(r#"{"a": {"l": [2, 3]}}"#),
        &options,
        &mut recorder,
    )
    .unwrap();
    let [(at, Recorded::Joined { origins, .. })] = &recorder.0[..] else {
        panic!("{recorder:?}")
    };
    assert_eq!(*at, path(&["a", "l"]));
    assert_eq!(
        origins,
        &[
            ItemOrigin::Base(0),
            ItemOrigin::Base(1),
            ItemOrigin::Overlay(1)
        ]
    );
}

#[test]
fn dropped_and_kept_values_are_reported() {
    let mut recorder = Recorder::default();
    merge_observed(
        json(r#"{"a": 1}"#),
        &json(r#"{"a": 2, "b": 3}"#),
        &with(Strategy::List),
        &mut recorder,
    )
    .unwrap();
    assert_eq!(
        recorder.0,
        [
            (path(&["a"]), Recorded::Paired(1.into(), 2.into())),
            (path(&["b"]), Recorded::Dropped)
        ]
    );

    let mut recorder = Recorder::default();
    let overlay = map(r#"{"__": "merge-first", "a": {"x": 2, "y": 3}}"#);
    stack::merge_observed(map(r#"{"a": {"x": 1, "z": 0}}"#), &overlay, &mut recorder).unwrap();
    assert_eq!(
        recorder.0,
        [
            (path(&["a", "y"]), Recorded::Set(3.into())),
            (path(&["a", "x"]), Recorded::Kept(1.into()))
        ]
    );
}

#[test]
fn a_bad_stack_strategy_names_its_place() {
    for (overlay, message) in [
        (
            r#"{"__": null}"#,
            "unknown strategy None under `__` of the mapping at the root",
        ),
        (
            r#"{"a": {"b": {"__": "Overwrite"}}}"#,
            "unknown strategy 'Overwrite' under `__` of the mapping at a:b",
        ),
        (
            r#"{"a": {"l": [{"__": "append"}]}}"#,
            "unknown strategy 'append' under `__` of the list at a:l",
        ),
    ] {
        let base = map(r#"{"a": {"b": {}, "l": []}}"#);
        let error = stack::merge(base, &map(overlay)).unwrap_err().to_string();
        assert_eq!(
            error,
            format!("{message}: write one of merge-last, merge-first, remove, overwrite")
        );
    }
}

#[test]
fn what_was_merged_before_a_bad_strategy_stays() {
    let mut base = map(r#"{"a": 1, "b": {"x": 1}}"#);
    let overlay = map(r#"{"a": 2, "b": {"y": 2, "z": 3}, "c": 3, "b2": {}, "d": 1}"#);
    let mut broken = overlay.clone();
    broken.insert("b", json(r#"{"__": "nope"}"#));
    assert!(stack::merge_into(&mut base, &broken).is_err());
    assert_eq!(Value::from(base).repr(), "{'a': 2, 'b': {'x': 1}}");
}

#[test]
fn a_stack_tells_mapping_types_apart() {
    let base = Map::from_iter([("k", map(r#"{"a": 1}"#).with_kind(MapKind::Ordered))]);
    let merged = stack::merge(base, &map(r#"{"k": {"b": 2}}"#)).unwrap();
    assert_eq!(Value::from(merged).repr(), "{'k': {'b': 2}}");
}

/// Values of all kinds, as Python has them.
fn odd_values() -> Vec<(&'static str, Value)> {
    let set = |items: &[&str]| Value::Set(items.iter().map(|item| Key::from(*item)).collect());
    let bytes = |text: &str| Value::Bytes(text.as_bytes().into());
    vec![
        ("map", json(r#"{"a": 1, "b": 2}"#)),
        (
            "map of numbers",
            Value::Map(
                [(0, "x"), (97, "y")]
                    .map(|(key, text)| (Key::from(key), Value::from(text)))
                    .into_iter()
                    .collect(),
            ),
        ),
        ("set", set(&["a"])),
        ("list", json(r#"["a", 0]"#)),
        ("list of numbers", json("[0, 1]")),
        ("list of lists", json("[[1]]")),
        ("tuple", Value::Tuple([Value::from("a")].into())),
        ("text", "ab".into()),
        ("one letter", "a".into()),
        ("bytes", bytes("ab")),
        ("no bytes", bytes("")),
        ("number", 7.into()),
        ("null", Value::None),
    ]
}

/// The classes are those of `dictupdate.merge`: what they are is an accident of how it goes about it.
#[test]
fn what_is_not_a_mapping_fails_as_in_the_reference() {
    let class = |strategy, base: &Value, overlay: &Value| match merge(
        base.clone(),
        overlay,
        &with(strategy),
    ) {
        Ok(_) => "ok",
        Err(error) => error.reference_class(),
    };
    let maps = ["map", "map of numbers"];
    for (base_name, base) in odd_values() {
        for (name, overlay) in odd_values() {
            let overwrite = match (base_name, name) {
                (base, overlay) if maps.contains(&base) && maps.contains(&overlay) => "ok",
                ("map of numbers" | "bytes", "bytes") => "IndexError",
                _ => "TypeError",
            };
            let list = match (base_name, name) {
                (base, _) if !maps.contains(&base) => "AttributeError",
                ("map of numbers", "bytes") => "IndexError",
                ("map of numbers", "text" | "one letter" | "number" | "null") => "TypeError",
                ("map of numbers", _)
                | (_, "map" | "map of numbers" | "list of numbers" | "list of lists") => "ok",
                _ => "TypeError",
            };
            let got = [Strategy::Overwrite, Strategy::List].map(|s| class(s, &base, &overlay));
            assert_eq!(got, [overwrite, list], "{base_name} <- {name}");
        }
    }
}

#[test]
fn overlays_are_merged_in_their_order() {
    let overlays = [r#"{"a": 1, "k": {"x": 1}}"#, r#"{"a": 2, "k": {"y": 2}}"#].map(json);
    let merged = merge_all(&overlays, &with(Strategy::Smart)).unwrap();
    assert_eq!(merged.repr(), "{'a': 2, 'k': {'x': 1, 'y': 2}}");
    let error = merge_all([&overlays[0], &Value::None], &with(Strategy::Smart)).unwrap_err();
    assert_eq!(error.reference_class(), "TypeError");
}

#[test]
fn lists_join_if_both_are_aggregates() {
    let lists = |aggregate: [bool; 2]| {
        let [base, overlay] =
            [(aggregate[0], "[1]"), (aggregate[1], "[2]")].map(|(marked, items)| {
                let Value::List(list) = json(items) else {
                    unreachable!("a list")
                };
                let list = if marked { list.as_aggregate() } else { list };
                Value::Map([(Key::from("k"), Value::List(list))].into_iter().collect())
            });
        let merged = merge(base, &overlay, &with(Strategy::Aggregate));
        merged.unwrap().repr()
    };
    assert_eq!(lists([true, true]), "{'k': [1, 2]}");
    for others in [[true, false], [false, true], [false, false]] {
        assert_eq!(lists(others), "{'k': [2]}", "{others:?}");
    }
}

/// Records the last key and its path.
#[derive(Default)]
struct Places(Vec<(Option<Key>, String)>);

impl Observer for Places {
    fn changed(&mut self, at: &Trail<'_>, _change: Change<'_>) {
        let parent = at.parent().map(|parent| parent.to_path().to_string());
        self.0.push((at.key().cloned(), parent.unwrap_or_default()));
    }
}

#[test]
fn an_observer_can_be_lent_and_knows_where_it_is() {
    let (base, overlay) = (
        json(r#"{"k": {"x": 1}}"#),
        json(r#"{"k": {"y": 2}, "n": 3}"#),
    );
    let mut places = Places::default();
    merge_observed(base, &overlay, &with(Strategy::Smart), &mut &mut places).unwrap();
    let root = Trail::ROOT.to_path().to_string();
    let expected = [
        (Some("y".into()), "k".to_string()),
        (Some("n".into()), root),
    ];
    assert_eq!(places.0, expected);
    assert!(Trail::ROOT.key().is_none() && Trail::ROOT.parent().is_none());
}

#[test]
fn an_empty_base_reports_what_is_added() {
    let mut recorder = Recorder::default();
    let merged = merge_observed(
        Value::map(),
        &json(r#"{"a": 1}"#),
        &with(Strategy::Smart),
        &mut recorder,
    );
    assert_eq!(merged.unwrap().repr(), "{'a': 1}");
    assert_eq!(recorder.0.len(), 1);
}

#[test]
fn a_stacked_layer_reports_what_it_adds_and_no_more() {
    let mut recorder = Recorder::default();
    let base = map(r#"{"k": {"x": 1}}"#);
    stack::merge_observed(base, &map(r#"{"k": {"y": 2}}"#), &mut recorder).unwrap();
    let paths: Vec<String> = recorder
        .0
        .iter()
        .map(|(path, _)| path.to_string())
        .collect();
    assert_eq!(paths, ["k:y"]);
    assert_eq!(stack::StackStrategy::MergeFirst.to_string(), "merge-first");
}
