//! The laws of the crate documentation on random data, and the counterexamples where one fails.

use crate::common::{Recorder, json};
use mapstack_merge::{Options, Strategy, merge, merge_observed, stack};
use mapstack_value::{Int, Key, Map, MapKind, Value};
use proptest::prelude::*;
use proptest::strategy::Strategy as Generator;

const NAMED: [Strategy; 6] = [
    Strategy::Smart,
    Strategy::Recurse,
    Strategy::Overwrite,
    Strategy::Aggregate,
    Strategy::List,
    Strategy::None,
];

fn options(merge_lists: bool) -> impl Generator<Value = Options> {
    let unknown = Just(Strategy::Unknown(Value::from("bogus")));
    prop_oneof![6 => proptest::sample::select(NAMED.to_vec()), 1 => unknown]
        .prop_flat_map(move |strategy| {
            (
                Just(strategy),
                if merge_lists {
                    any::<bool>().boxed()
                } else {
                    Just(false).boxed()
                },
            )
        })
        .prop_map(|(strategy, merge_lists)| Options {
            strategy,
            merge_lists,
        })
}

fn scalar() -> impl Generator<Value = Value> {
    prop_oneof![
        Just(Value::None),
        any::<bool>().prop_map(Value::from),
        (0..4i64).prop_map(Value::from),
        (0..3i32).prop_map(|i| Value::from(f64::from(i) / 2.0)),
        "[ab]{0,1}".prop_map(Value::from),
        "[ab]{0,1}".prop_map(|text| Value::Bytes(text.into_bytes().into())),
        Just(Value::from(Int::from(2).pow(70).unwrap())),
    ]
}

/// Keys of every type; letters for the most part, so that sides meet.
fn key() -> impl Generator<Value = Key> {
    let hashable = || scalar().prop_map(|value| Key::try_from(&value).unwrap());
    let pair =
        proptest::collection::vec(hashable(), 0..3).prop_map(|items| Key::Tuple(items.into()));
    prop_oneof![8 => "[abcd]".prop_map(Key::from), 1 => hashable(), 1 => pair]
}

/// Neither a mapping nor a list: scalars, tuples, sets.
fn leaf() -> impl Generator<Value = Value> {
    prop_oneof![
        6 => scalar(),
        1 => proptest::collection::vec(scalar(), 0..3).prop_map(|items| Value::Tuple(items.into())),
        1 => proptest::collection::vec(key(), 0..3).prop_map(|keys| Value::Set(keys.into_iter().collect())),
    ]
}

/// Each of Python's mapping types.
fn mapping_kind() -> impl Generator<Value = MapKind> {
    prop_oneof![4 => Just(MapKind::Dict), 1 => Just(MapKind::Ordered), 2 => Just(MapKind::Aggregate)]
}

/// Values of every type and shape; few keys and few scalars, so that sides meet.
fn value() -> impl Generator<Value = Value> {
    leaf().prop_recursive(4, 32, 4, |inner| {
        prop_oneof![
            2 => proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from_iter),
            1 => proptest::collection::vec(inner.clone(), 0..3).prop_map(|items| Value::Tuple(items.into())),
            3 => mapping_of(inner).prop_map(Value::from),
        ]
    })
}

fn mapping_of(inner: impl Generator<Value = Value>) -> impl Generator<Value = Map> {
    let entries = proptest::collection::vec((key(), inner), 0..5);
    (entries, mapping_kind()).prop_map(|(entries, kind)| Map::from_iter(entries).with_kind(kind))
}

fn mapping() -> impl Generator<Value = Value> {
    mapping_of(value()).prop_map(Value::from)
}

/// The same value with every mapping below the root as a plain one.
fn without_inner_aggregates(value: &Value) -> Value {
    fn plain(value: &Value) -> Value {
        match value {
            Value::Map(map) => map
                .iter()
                .map(|(k, v)| (k.clone(), plain(v)))
                .collect::<Map>()
                .into(),
            Value::List(items) => items.iter().map(plain).collect(),
            Value::Tuple(items) => Value::Tuple(items.iter().map(plain).collect()),
            other => other.clone(),
        }
    }
    let Value::Map(map) = plain(value) else {
        return plain(value);
    };
    map.with_kind(value.as_map().unwrap().kind()).into()
}

/// The types of mappings below the same path: alike or different.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Kinds {
    /// Any type anywhere.
    Mixed,
    /// The key decides, so that they agree.
    ByKey,
    /// As by key, and an aggregate is never in a mapping of another type.
    AggregatesOutside,
}

/// Mappings that agree on what is where: a key's letter decides the kind of its value.
fn agreeing(kinds: Kinds) -> impl Generator<Value = Value> {
    let scalars = proptest::collection::vec(("[st]".prop_map(Key::from), leaf()), 0..3)
        .prop_map(Map::from_iter);
    let tree = scalars.prop_recursive(4, 32, 4, move |inner| {
        let list = proptest::collection::vec(leaf(), 0..4).prop_map(Value::from_iter);
        let below = (inner, mapping_kind()).prop_map(move |(map, any)| (map, any));
        let entry = prop_oneof![
            ("[st]".prop_map(Key::from), leaf()),
            ("[lm]".prop_map(Key::from), list),
            ("[xyz]", below).prop_map(move |(key, (map, any))| {
                let kind = match (kinds, key.as_str()) {
                    (Kinds::Mixed, _) => any,
                    (_, "x") => MapKind::Dict,
                    (_, "y") => MapKind::Ordered,
                    _ => MapKind::Aggregate,
                };
                let map = match kinds {
                    Kinds::AggregatesOutside if kind != MapKind::Aggregate => {
                        without_aggregates(&map)
                    }
                    _ => map,
                };
                (Key::from(key), Value::from(map.with_kind(kind)))
            }),
        ];
        proptest::collection::vec(entry, 0..5).prop_map(Map::from_iter)
    });
    tree.prop_map(Value::from)
}

/// A mapping without its aggregates at any depth.
fn without_aggregates(map: &Map) -> Map {
    let kept = map.iter().filter(|(_, value)| {
        value
            .as_map()
            .is_none_or(|map| map.kind() != MapKind::Aggregate)
    });
    let entries: Map = kept
        .map(|(key, value)| {
            (
                key.clone(),
                value
                    .as_map()
                    .map_or(value.clone(), |map| without_aggregates(map).into()),
            )
        })
        .collect();
    entries.with_kind(map.kind())
}

fn over(base: &Value, overlay: &Value, options: &Options) -> Value {
    merge(base.clone(), overlay, options).unwrap()
}

/// Two values alike down to types and key order.
fn same(left: &Value, right: &Value) -> Result<(), TestCaseError> {
    prop_assert!(
        left.is_same(right),
        "{:?} is not {:?}, or not of its types",
        left,
        right
    );
    Ok(())
}

/// A mapping as the root that a strategy leaves: `aggregate` and `list` make their own kind of mapping of the base.
fn as_root(value: &Value, options: &Options) -> Value {
    let Value::Map(map) = value.clone() else {
        return value.clone();
    };
    match options.strategy {
        Strategy::Aggregate => map.with_kind(MapKind::Aggregate).into(),
        Strategy::List => map.with_kind(MapKind::Dict).into(),
        _ => map.into(),
    }
}

fn check_associative(
    x: &Value,
    y: &Value,
    z: &Value,
    options: &Options,
) -> Result<(), TestCaseError> {
    same(
        &over(&over(x, y, options), z, options),
        &over(x, &over(y, z, options), options),
    )
}

fn is_list(options: &Options) -> bool {
    options.strategy == Strategy::List
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn an_empty_overlay_changes_nothing(x in mapping(), options in options(true)) {
        same(&over(&x, &Value::map(), &options), &as_root(&x, &options))?;
    }

    #[test]
    fn an_empty_base_takes_the_overlay(x in mapping(), options in options(true)) {
        let Value::Map(entries) = x else { unreachable!() };
        let entries = if is_list(&options) { Map::new() } else { entries.with_kind(MapKind::Dict) };
        same(&over(&Value::map(), &entries.clone().into(), &options), &as_root(&entries.into(), &options))?;
    }

    #[test]
    fn merging_over_itself_changes_nothing(x in mapping(), options in options(true)) {
        prop_assume!(!is_list(&options));
        // A copy without shared storage, so that nothing is skipped.
        let copy = Value::from(x.as_map().unwrap().iter().map(|(k, v)| (k.clone(), v.clone())).collect::<Map>());
        same(&over(&x, &copy, &options), &as_root(&x, &options))?;
    }

    #[test]
    fn a_second_time_changes_nothing(x in mapping(), y in mapping(), options in options(true)) {
        prop_assume!(!is_list(&options));
        let once = over(&x, &y, &options);
        same(&over(&once, &y, &options), &once)?;
    }

    #[test]
    fn overwrite_is_associative(x in mapping(), y in mapping(), z in mapping()) {
        check_associative(&x, &y, &z, &Options { strategy: Strategy::Overwrite, merge_lists: false })?;
    }

    #[test]
    fn aggregate_is_associative_without_aggregates_below_the_roots(x in mapping(), y in mapping(), z in mapping()) {
        let [x, y, z] = [&x, &y, &z].map(without_inner_aggregates);
        check_associative(&x, &y, &z, &Options { strategy: Strategy::Aggregate, merge_lists: false })?;
    }

    #[test]
    fn aggregate_is_associative_where_aggregates_agree(
        x in agreeing(Kinds::AggregatesOutside),
        y in agreeing(Kinds::AggregatesOutside),
        z in agreeing(Kinds::AggregatesOutside),
    ) {
        check_associative(&x, &y, &z, &Options { strategy: Strategy::Aggregate, merge_lists: false })?;
    }

    #[test]
    fn recursion_is_associative_where_kinds_agree(
        x in agreeing(Kinds::Mixed),
        y in agreeing(Kinds::Mixed),
        z in agreeing(Kinds::Mixed),
        merge_lists: bool,
    ) {
        check_associative(&x, &y, &z, &Options { strategy: Strategy::Recurse, merge_lists })?;
    }

    #[test]
    fn keys_keep_their_places(x in mapping(), y in mapping(), options in options(true)) {
        let merged = over(&x, &y, &options);
        let (x, y) = (x.as_map().unwrap(), y.as_map().unwrap());
        let mut expected: Vec<&Key> = x.keys().collect();
        if !is_list(&options) {
            expected.extend(y.keys().filter(|key| !x.contains_key(*key)));
        }
        prop_assert_eq!(merged.as_map().unwrap().keys().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn the_overlay_is_in_the_result(x in mapping(), y in mapping(), options in options(false)) {
        prop_assume!(!is_list(&options));
        prop_assert!(within(&y, &over(&x, &y, &options)));
    }

    #[test]
    fn merge_lists_is_for_recursion_alone(x in mapping(), y in mapping(), options in options(false)) {
        prop_assume!(!matches!(options.strategy, Strategy::Smart | Strategy::Recurse));
        let with_lists = Options { merge_lists: true, ..options.clone() };
        same(&over(&x, &y, &options), &over(&x, &y, &with_lists))?;
    }

    #[test]
    fn neither_side_notices(x in value(), y in value(), options in options(true)) {
        let before = (x.repr(), y.repr());
        let _ = merge(x.clone(), &y, &options);
        prop_assert_eq!((x.repr(), y.repr()), before);
    }

    #[test]
    fn aggregate_takes_any_two_values(x in value(), y in value()) {
        let merged = over(&x, &y, &Options { strategy: Strategy::Aggregate, merge_lists: false });
        match merged {
            Value::Map(map) => prop_assert_eq!(map.kind(), MapKind::Aggregate),
            merged => prop_assert!(merged.as_list().is_some()),
        }
    }

    #[test]
    fn reports_are_complete(x in mapping(), y in mapping(), options in options(true)) {
        let mut recorder = Recorder::default();
        let observed = merge_observed(x.clone(), &y, &options, &mut recorder).unwrap();
        same(&observed, &over(&x, &y, &options))?;
        // The replay keeps the root's own type.
        same(&as_root(&recorder.replay(&x), &options), &observed)?;
    }
}

/// True if every scalar and list of a value is in another, at its path.
fn within(part: &Value, whole: &Value) -> bool {
    match (part, whole) {
        (Value::Map(part), Value::Map(whole)) => part
            .iter()
            .all(|(k, v)| whole.get(k).is_some_and(|w| within(v, w))),
        (part, whole) => part == whole,
    }
}

/// Data that names stack strategies in mappings and lists.
fn marked() -> impl Generator<Value = Map> {
    let strategy =
        proptest::sample::select(vec!["merge-last", "merge-first", "remove", "overwrite"]);
    let marker = strategy.prop_map(|name| Map::from_iter([("__", name)]));
    let inner = scalar().prop_recursive(3, 24, 4, move |inner| {
        let marker = prop_oneof![2 => Just(Map::new()), 1 => marker.clone()];
        let list = (
            marker.clone(),
            proptest::collection::vec(inner.clone(), 0..4),
        )
            .prop_map(|(marker, items)| {
                let head = (!marker.is_empty()).then(|| Value::from(marker));
                Value::from_iter(head.into_iter().chain(items))
            });
        let map = (marker, mapping_of(inner))
            .prop_map(|(marker, map)| marker.into_iter().chain(map).collect::<Map>());
        prop_oneof![list, map.prop_map(Value::from)]
    });
    mapping_of(inner)
}

fn stacked(base: &Map, overlay: &Map) -> Map {
    stack::merge(base.clone(), overlay).unwrap()
}

fn with_strategy(name: &str, map: &Map) -> Map {
    let mut marked = map.clone();
    marked.insert("__", name);
    marked
}

fn has_marked_mapping(map: &Map) -> bool {
    map.contains_key("__")
        || map
            .values()
            .any(|v| v.as_map().is_some_and(has_marked_mapping))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn stack_an_empty_overlay_changes_nothing(x in marked()) {
        same(&stacked(&x, &Map::new()).into(), &x.into())?;
    }

    #[test]
    fn stack_an_empty_base_takes_the_cleaned_overlay(x in marked()) {
        let clean = stacked(&Map::new(), &x);
        prop_assert!(!has_marked_mapping(&clean));
        prop_assert_eq!(clean.keys().collect::<Vec<_>>(), x.keys().collect::<Vec<_>>());
    }

    #[test]
    fn stack_merge_last_is_associative_where_types_agree(x in agreeing(Kinds::ByKey), y in agreeing(Kinds::ByKey), z in agreeing(Kinds::ByKey)) {
        let (Value::Map(x), Value::Map(y), Value::Map(z)) = (x, y, z) else { unreachable!() };
        let left = stacked(&stacked(&x, &y), &z);
        same(&left.into(), &stacked(&x, &stacked(&y, &z)).into())?;
    }

    #[test]
    fn stack_overwrite_forgets_the_base(x in marked(), y in marked()) {
        let overlay = with_strategy("overwrite", &y);
        same(&stacked(&x, &overlay).into(), &stacked(&Map::new(), &overlay).into())?;
    }

    #[test]
    fn stack_remove_takes_the_named_keys(x in marked(), y in marked()) {
        let left = stacked(&x, &with_strategy("remove", &y));
        let expected: Vec<&Key> = x.keys().filter(|key| !y.contains_key(*key)).collect();
        prop_assert_eq!(left.keys().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn stack_merge_first_lets_the_base_win(x in agreeing(Kinds::ByKey), y in agreeing(Kinds::ByKey)) {
        let (Value::Map(x), Value::Map(y)) = (x, y) else { unreachable!() };
        let first = stacked(&x, &with_strategy("merge-first", &y));
        // Apart from the order of keys, it is the base over the overlay.
        prop_assert_eq!(first, stacked(&y, &x));
    }

    #[test]
    fn stack_reports_are_complete(x in marked(), y in marked()) {
        // A base is what earlier merges left, so it has no markers to clean.
        let x = stacked(&Map::new(), &x);
        let mut recorder = Recorder::default();
        let observed = stack::merge_observed(x.clone(), &y, &mut recorder).unwrap();
        same(&Value::from(observed.clone()), &stacked(&x, &y).into())?;
        prop_assert_eq!(recorder.replay(&x.into()), Value::from(observed));
    }
}

/// Folds three values both ways and compares each result with what is expected.
fn check_both_ways(
    options: &Options,
    [x, y, z]: [&str; 3],
    from_the_left: &str,
    from_the_right: &str,
) {
    let (x, y, z) = (json(x), json(y), json(z));
    assert_eq!(
        over(&over(&x, &y, options), &z, options).repr(),
        json(from_the_left).repr()
    );
    assert_eq!(
        over(&x, &over(&y, &z, options), options).repr(),
        json(from_the_right).repr()
    );
}

#[test]
fn recursion_is_not_associative_where_kinds_differ() {
    let three = [r#"{"k": {"a": 1}}"#, r#"{"k": 1}"#, r#"{"k": {"b": 2}}"#];
    check_both_ways(
        &Options::default(),
        three,
        r#"{"k": {"b": 2}}"#,
        r#"{"k": {"a": 1, "b": 2}}"#,
    );
}

/// Three mappings as the values of one key, of the given types.
fn under_one_key(texts: [&str; 3], kinds: [MapKind; 3]) -> [Value; 3] {
    let under = |text: &str, kind| {
        Map::from_iter([("k", json(text).as_map().unwrap().clone().with_kind(kind))]).into()
    };
    [
        under(texts[0], kinds[0]),
        under(texts[1], kinds[1]),
        under(texts[2], kinds[2]),
    ]
}

#[test]
fn aggregate_is_not_associative_where_one_is_an_aggregate_and_another_not() {
    use MapKind::{Aggregate, Dict};
    let options = Options {
        strategy: Strategy::Aggregate,
        merge_lists: false,
    };
    let [x, y, z] = under_one_key(
        [r#"{"a": 1}"#, r#"{"b": 2}"#, r#"{"c": 3}"#],
        [Aggregate, Dict, Aggregate],
    );
    assert_eq!(
        over(&over(&x, &y, &options), &z, &options).repr(),
        "{'k': {'c': 3}}"
    );
    assert_eq!(
        over(&x, &over(&y, &z, &options), &options).repr(),
        "{'k': {'a': 1, 'c': 3}}"
    );
}

#[test]
fn aggregate_is_not_associative_for_aggregates_inside_plain_mappings() {
    let options = Options {
        strategy: Strategy::Aggregate,
        merge_lists: false,
    };
    let [inner, _, last] = under_one_key(
        [r#"{"a": 1}"#, "{}", r#"{"c": 3}"#],
        [MapKind::Aggregate; 3],
    );
    let [x, y, z] =
        [inner, json("{}"), last].map(|value| Value::from(Map::from_iter([("p", value)])));
    assert_eq!(
        over(&over(&x, &y, &options), &z, &options).repr(),
        "{'p': {'k': {'c': 3}}}"
    );
    assert_eq!(
        over(&x, &over(&y, &z, &options), &options).repr(),
        "{'p': {'k': {'a': 1, 'c': 3}}}"
    );
}

#[test]
fn list_is_not_associative() {
    let options = Options {
        strategy: Strategy::List,
        merge_lists: false,
    };
    let three = [r#"{"a": 1}"#, r#"{"a": 2}"#, r#"{"a": 3}"#];
    check_both_ways(
        &options,
        three,
        r#"{"a": [[1, 2], 3]}"#,
        r#"{"a": [1, [2, 3]]}"#,
    );
}

#[test]
fn list_is_not_idempotent() {
    let options = Options {
        strategy: Strategy::List,
        merge_lists: false,
    };
    let x = json(r#"{"a": 1}"#);
    assert_eq!(over(&x, &x, &options), json(r#"{"a": [1, 1]}"#));
}

#[test]
fn nan_is_not_absorbed() {
    let nan = Value::from(Map::from_iter([("l", Value::from_iter([f64::NAN]))]));
    let other = Value::from(Map::from_iter([("l", Value::from_iter([f64::NAN]))]));
    let options = Options {
        strategy: Strategy::Recurse,
        merge_lists: true,
    };
    assert_eq!(over(&nan, &other, &options).repr(), "{'l': [nan, nan]}");
}

#[test]
fn a_stack_is_not_idempotent() {
    let Value::Map(x) = json(r#"{"l": [1]}"#) else {
        unreachable!()
    };
    assert_eq!(Value::from(stacked(&x, &x)), json(r#"{"l": [1, 1]}"#));
}
