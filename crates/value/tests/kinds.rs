//! Equality, identity, containers and sizes of values of every kind.

use std::cmp::Ordering;
use std::sync::Arc;

use mapstack_value::{Extent, Int, Key, KeyRef, List, Map, Set, Value, json, sort_by_key, weight};

fn tuple(items: &[Value]) -> Value {
    Value::Tuple(items.into())
}

fn bytes(text: &str) -> Value {
    Value::Bytes(text.as_bytes().into())
}

fn set(items: &[&str]) -> Value {
    Value::Set(items.iter().copied().collect::<Set>())
}

fn map(entries: &[(&str, i64)]) -> Value {
    entries.iter().copied().collect::<Map>().into()
}

fn list(items: &[i64]) -> Value {
    items.iter().copied().collect()
}

/// A large number, twice the same by two ways.
fn large() -> Int {
    Int::from(10).pow(30).unwrap()
}

/// Two values of every kind, which differ.
fn pairs() -> Vec<[Value; 2]> {
    vec![
        [Value::None, "".into()],
        [true.into(), false.into()],
        [1.into(), 2.into()],
        [large().into(), large().neg().into()],
        [1.5.into(), 2.5.into()],
        ["a".into(), "b".into()],
        [bytes("a"), bytes("b")],
        [list(&[1]), list(&[2])],
        [list(&[1]), list(&[1, 1])],
        [tuple(&[1.into()]), tuple(&[2.into()])],
        [tuple(&[1.into()]), list(&[1])],
        [map(&[("a", 1)]), map(&[("a", 2)])],
        [map(&[("a", 1)]), map(&[("b", 1)])],
        [set(&["a"]), set(&["b"])],
        [set(&["a"]), list(&[])],
    ]
}

/// The same value in new storage.
fn copied(value: &Value) -> Value {
    match value {
        Value::List(items) => Value::List(items.iter().cloned().collect()),
        Value::Tuple(items) => tuple(items),
        Value::Map(map) => Value::Map(map.clone().into_iter().collect()),
        Value::Set(set) => Value::Set(set.iter().cloned().collect()),
        Value::Bytes(bytes) => Value::Bytes(bytes.to_vec().into()),
        other => other.clone(),
    }
}

#[test]
fn values_of_every_kind_are_equal_to_themselves_alone() {
    for [one, other] in pairs() {
        for value in [&one, &other] {
            assert_eq!(*value, copied(value));
            assert!(
                value.is_same(value) && value.is_same(&copied(value)),
                "{value:?}"
            );
        }
        assert_ne!(one, other);
        assert!(
            !one.is_same(&other) && !other.is_same(&one),
            "{one:?} {other:?}"
        );
    }
}

#[test]
fn equal_values_of_other_types_or_orders_are_not_the_same() {
    let ordered = |names: [&'static str; 2]| names.map(|name| (name, 1));
    for (one, other) in [
        (1.into(), true.into()),
        (1.into(), 1.0.into()),
        (0.0.into(), (-0.0).into()),
        (list(&[1]), Value::from_iter([1.0])),
        (tuple(&[1.into()]), tuple(&[true.into()])),
        (map(&ordered(["a", "b"])), map(&ordered(["b", "a"]))),
        (set(&["a", "b"]), set(&["b", "a"])),
    ] {
        let (one, other): (Value, Value) = (one, other);
        assert_eq!(one, other);
        assert!(!one.is_same(&other), "{one:?} {other:?}");
    }
    let marked = List::from(vec![Value::from(1)]).as_aggregate();
    assert!(!Value::List(marked.clone()).is_same(&list(&[1])));
    assert!(Value::List(marked.clone()).is_same(&Value::List(marked)));
    let nan = Value::from(f64::NAN);
    assert!(nan != nan.clone() && nan.is_same(&nan.clone()));
}

#[test]
fn nothing_is_none_but_none() {
    assert!(Value::None.is_none() && Value::from(None::<i64>).is_none());
    assert!(!Value::from(0).is_none() && !Value::from("").is_none());
    assert_eq!(Value::from(Some(1)), 1.into());
}

#[test]
fn storage_has_an_identity() {
    let one = List::from(vec![Value::from(1)]);
    let other = List::from(vec![Value::from(1)]);
    assert!(one.ptr_eq(&one.clone()) && !one.ptr_eq(&other));
    assert!(one.address() == one.clone().address() && one.address() != other.address());
    let maps: [Map; 2] = std::array::from_fn(|_| Map::from_iter([("a", 1)]));
    assert!(
        maps[0].address() == maps[0].clone().address() && maps[0].address() != maps[1].address()
    );
    assert!(maps[0].ptr_eq(&maps[0].clone()) && !maps[0].ptr_eq(&maps[1]));
    let sets: [Set; 2] = std::array::from_fn(|_| Set::from_iter(["a"]));
    assert!(
        sets[0].address() == sets[0].clone().address() && sets[0].address() != sets[1].address()
    );
}

#[test]
fn maps_are_read_and_changed_by_key_and_place() {
    let mut map = Map::from_iter([("a", 1), ("b", 2), ("c", 3)]);
    assert_eq!(
        [map.index_of("a"), map.index_of("c"), map.index_of("x")],
        [Some(0), Some(2), None]
    );
    assert_eq!(map.get(&KeyRef("b")), Some(&2.into()));
    assert_eq!(map.get(&KeyRef("x")), None);
    assert_eq!(
        map.values().cloned().collect::<Vec<_>>(),
        [1, 2, 3].map(Value::from)
    );
    assert_eq!(map.shift_remove("b"), Some(2.into()));
    assert_eq!(map.shift_remove("b"), None);
    let left: Vec<(Key, Value)> = map.into_iter().collect();
    assert_eq!(left, [("a".into(), 1.into()), ("c".into(), 3.into())]);
}

#[test]
fn a_borrowed_key_is_equal_to_its_own_text_alone() {
    use indexmap::Equivalent as _;

    assert!(KeyRef("a").equivalent(&Key::from("a")));
    assert!(!KeyRef("a").equivalent(&Key::from("b")) && !KeyRef("1").equivalent(&Key::from(1)));
}

#[test]
fn sets_know_their_elements() {
    let set = Set::from_iter(["a", "b"]);
    assert!(set.contains("a") && !set.contains("c") && !set.is_empty() && set.len() == 2);
    assert!(Set::default().is_empty() && !Set::default().contains("a"));
    assert!(set == Set::from_iter(["b", "a"]) && set != Set::from_iter(["a"]));
}

#[test]
fn keys_of_every_kind_are_equal_to_themselves_alone() {
    let keys: Vec<Key> = [
        Value::None,
        "a".into(),
        "b".into(),
        bytes("a"),
        bytes("b"),
        1.into(),
        2.into(),
        large().into(),
        large().neg().into(),
        1.5.into(),
        2.5.into(),
        tuple(&[1.into()]),
        tuple(&[2.into()]),
    ]
    .iter()
    .map(|value| Key::try_from(value).unwrap())
    .collect();
    for (i, one) in keys.iter().enumerate() {
        for (j, other) in keys.iter().enumerate() {
            assert_eq!(one == other, i == j, "{one:?} {other:?}");
        }
    }
    assert!(Key::from(1) == Key::from(true));
}

#[test]
fn large_numbers_are_calculated_with_and_compared() {
    let (large, two, max) = (large(), Int::from(2), Int::from(i64::MAX));
    let hundred: Int = "100".parse().unwrap();
    assert_eq!(large.add(&two).sub(&large), two);
    assert_eq!(large.sub(&two).add(&two), large);
    assert_eq!(max.add(&two).to_string(), "9223372036854775809");
    assert_eq!(
        Int::from(i64::MIN).sub(&two).to_string(),
        "-9223372036854775810"
    );
    assert_eq!(large.mul(&hundred).unwrap(), Int::from(10).pow(32).unwrap());
    for (a, b, quotient, rest) in [
        (large.add(&two), large.clone(), "1", "2"),
        (
            large.neg().sub(&two),
            large.clone(),
            "-2",
            "999999999999999999999999999998",
        ),
        (large.neg(), large.clone(), "-1", "0"),
        (7.into(), (-2).into(), "-4", "-1"),
        ((-7).into(), 2.into(), "-4", "1"),
        (0.into(), (-5).into(), "0", "0"),
        ((-6).into(), 3.into(), "-2", "0"),
    ] {
        let (a, b): (Int, Int) = (a, b);
        let got = (
            a.floor_div(&b).unwrap().to_string(),
            a.modulo(&b).unwrap().to_string(),
        );
        assert_eq!(got, (quotient.into(), rest.into()), "{a:?} {b:?}");
    }
    assert_eq!(large.to_f64().unwrap(), 1e30);
    assert!(Int::from(10).pow(400).unwrap().to_f64().is_err());
    assert_eq!(large.cmp(&two), Ordering::Greater);
    assert_eq!(Int::from(1).cmp(&two), Ordering::Less);
    let bits = [0, 1, 2, 3, -1, -8, 255].map(|i| Int::from(i).bits());
    assert_eq!(bits, [0, 1, 2, 2, 1, 4, 8]);
    assert_eq!(
        format!("{large:?} {two:?}"),
        "1000000000000000000000000000000 2"
    );
}

#[test]
fn numbers_are_compared_with_floats_to_the_last_digit() {
    use Ordering::{Equal, Greater, Less};

    for (int, float, expected) in [
        (1, 1.5, Some(Less)),
        (2, 1.5, Some(Greater)),
        (-1, -1.5, Some(Greater)),
        (-2, -1.5, Some(Less)),
        (1, 1.0, Some(Equal)),
        (0, -0.5, Some(Greater)),
        (0, 0.5, Some(Less)),
        (1, f64::INFINITY, Some(Less)),
        (1, f64::NEG_INFINITY, Some(Greater)),
        (1, f64::NAN, None),
        ((1_i64 << 53) + 1, 9_007_199_254_740_992.0, Some(Greater)),
    ] {
        assert_eq!(
            Int::from(int).compare_float(float),
            expected,
            "{int} {float}"
        );
    }
}

#[test]
fn digits_are_read_in_any_base() {
    let long = "f".repeat(20);
    for (digits, radix, expected) in [
        ("-12", 10, Some("-12")),
        ("ff", 16, Some("255")),
        (&*long, 16, Some("1208925819614629174706175")),
        ("100000000000000000000", 10, Some("100000000000000000000")),
        ("-100000000000000000000", 10, Some("-100000000000000000000")),
        ("", 10, None),
        ("+", 10, None),
        ("--1", 10, None),
        ("1_0", 10, None),
        ("_100000000000000000000", 10, None),
        ("1000000000000_00000000", 10, None),
        ("-+100000000000000000000", 10, None),
    ] {
        let read = Int::from_str_radix(digits, radix).map(|int| int.to_string());
        assert_eq!(read.as_deref(), expected, "{digits}");
    }
}

#[test]
fn sizes_count_every_entry() {
    let extent = |value: &Value| {
        let Extent { values, depth, .. } = Extent::of(value);
        (values, depth)
    };
    let inner = list(&[1, 2]);
    for (value, size, weight_of) in [
        (Value::from(1), (1, 0), 1),
        ("text".into(), (1, 0), 4),
        (bytes("abc"), (1, 0), 3),
        (list(&[1, 2, 3]), (4, 1), 4),
        (tuple(&[1.into(), inner.clone()]), (5, 2), 5),
        (tuple(&[]), (1, 1), 1),
        (set(&["a", "b", "c"]), (4, 1), 4),
        (map(&[("a", 1), ("b", 2)]), (5, 1), 5),
    ] {
        assert_eq!(
            (extent(&value), weight(&value)),
            (size, weight_of),
            "{value:?}"
        );
    }
    // Shared storage counts at each of its places.
    let shared: Value = [inner.clone(), inner].into_iter().collect();
    assert_eq!(extent(&shared), (7, 2));
}

#[test]
fn short_lists_without_a_total_order_are_sorted_as_python_sorts_them() {
    let tuples = |items: &[&[i64]]| -> Vec<Key> {
        let tuple = |item: &&[i64]| {
            Value::Tuple(
                item.iter()
                    .map(|i| Value::from(*i))
                    .collect::<Vec<_>>()
                    .into(),
            )
        };
        items
            .iter()
            .map(|item| Key::try_from(&tuple(item)).unwrap())
            .collect()
    };
    let sorted = |items: &[&[i64]]| {
        let all = tuples(items);
        let sorted = sort_by_key(all.iter().collect(), |key| *key).unwrap();
        sorted.into_iter().cloned().collect::<Vec<Key>>()
    };
    let expected = tuples(&[&[1], &[1, 0], &[2], &[3], &[4], &[5]]);
    for items in [
        [&[5][..], &[4], &[3], &[2], &[1, 0], &[1]],
        [&[1], &[1, 0], &[2], &[3], &[4], &[5]],
        [&[3], &[1], &[5], &[1, 0], &[4], &[2]],
        [&[2], &[3], &[1], &[5], &[4], &[1, 0]],
        [&[4], &[3], &[5], &[1], &[2], &[1, 0]],
    ] {
        assert_eq!(sorted(&items), expected, "{items:?}");
    }
    let less = |a: &str, b: &str| {
        let key = |text: &str| Key::Bytes(Arc::from(text.as_bytes()));
        key(a).less_than(&key(b)).unwrap()
    };
    assert!(less("a", "b") && !less("b", "a") && !less("a", "a"));
}

#[test]
fn json_nests_up_to_a_limit_and_numbers_keep_their_digits() {
    for (text, expected) in [
        ("1e2", "100.0"),
        ("-0", "0"),
        ("-0.0", "-0.0"),
        (
            "123456789012345678901234567890",
            "123456789012345678901234567890",
        ),
        ("\"\\ud83d\\ude00\"", "'😀'"),
        ("NaN", "nan"),
        ("-Infinity", "-inf"),
    ] {
        assert_eq!(json::loads(text).unwrap().repr(), expected, "{text}");
    }
}
