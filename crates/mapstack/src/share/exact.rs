//! Values compared by everything that a template can observe.

use std::hash::{Hash, Hasher};

use mapstack_value::{Key, Value};

/// A value whose equality is stricter than Python's: `1`, `1.0` and `True` are different, and so are mappings of
/// different kinds or with a different order of entries.
#[derive(Debug, Clone)]
pub(crate) struct Exact(pub Value);

impl PartialEq for Exact {
    fn eq(&self, other: &Self) -> bool {
        self.0.is_same(&other.0)
    }
}

impl Eq for Exact {}

impl Hash for Exact {
    fn hash<H: Hasher>(&self, state: &mut H) {
        digest(&self.0, state);
    }
}

impl From<&Key> for Exact {
    fn from(key: &Key) -> Self {
        Exact(key.to_value())
    }
}

fn digest<H: Hasher>(value: &Value, state: &mut H) {
    std::mem::discriminant(value).hash(state);
    match value {
        Value::None => {}
        Value::Bool(b) => b.hash(state),
        Value::Int(i) => i.hash(state),
        Value::Float(f) => f.to_bits().hash(state),
        Value::Str(s) => s.hash(state),
        Value::Bytes(b) => b.hash(state),
        Value::List(items) => digest_all(items, state),
        Value::Tuple(items) => digest_all(items, state),
        Value::Map(map) => {
            map.len().hash(state);
            for (key, value) in map {
                digest_key(key, state);
                digest(value, state);
            }
        }
        Value::Set(set) => {
            set.len().hash(state);
            set.iter().for_each(|key| digest_key(key, state));
        }
    }
}

fn digest_all<H: Hasher>(items: &[Value], state: &mut H) {
    items.len().hash(state);
    items.iter().for_each(|item| digest(item, state));
}

fn digest_key<H: Hasher>(key: &Key, state: &mut H) {
    match key {
        // Equal to the digest of the key as a value, without making one.
        Key::Str(text) => {
            std::mem::discriminant(&Value::Str(text.clone())).hash(state);
            text.hash(state);
        }
        key => digest(&key.to_value(), state),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(value: &Value) -> u64 {
        use std::hash::BuildHasher;
        foldhash::fast::FixedState::default().hash_one(Exact(value.clone()))
    }

    #[test]
    fn what_prints_differently_is_different() {
        let texts = [
            "1",
            "1.0",
            "true",
            "'1'",
            "null",
            "[]",
            "{}",
            "[1]",
            "[1.0]",
            "[true]",
            "{a: 1, b: 2}",
            "{b: 2, a: 1}",
            "{1: x}",
            "{true: x}",
            "{'1': x}",
            "0.0",
            "-0.0",
            "!!omap [{a: 1}]",
            "{a: {}}",
            "''",
            "[[]]",
            "!!set {a, b}",
            "!!set {b, a}",
        ];
        let values: Vec<Value> = texts
            .iter()
            .map(|text| mapstack_yaml::load(text).unwrap())
            .collect();
        for (i, one) in values.iter().enumerate() {
            for (j, other) in values.iter().enumerate() {
                assert_eq!(
                    Exact(one.clone()) == Exact(other.clone()),
                    i == j,
                    "{} {}",
                    texts[i],
                    texts[j]
                );
            }
            let again = mapstack_yaml::load(texts[i]).unwrap();
            assert!(
                Exact(one.clone()) == Exact(again.clone()) && hash(one) == hash(&again),
                "{}",
                texts[i]
            );
        }
        let nan = Value::Float(f64::NAN);
        assert!(Exact(nan.clone()) == Exact(nan));
    }
}
