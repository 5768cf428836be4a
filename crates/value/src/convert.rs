//! Values of `serde_json` and `serde_yaml` as values of this crate, and back.
//!
//! Every JSON value is a value here, so that way is `From`. The others can fail, and say at which path: formats have no
//! sets, JSON has no keys but text, and YAML's model has no integers beyond 64 bits.

use std::fmt;

use crate::{Key, Value};

/// A value that has no counterpart in the other model.
///
/// ```
/// # #[cfg(feature = "serde_json")] {
/// use mapstack_value::{Map, Value};
/// let ports = Value::from(Map::from_iter([("tcp", Map::from_iter([(80, "http")]))]));
/// let error = serde_json::Value::try_from(&ports).unwrap_err();
/// assert_eq!(error.to_string(), "tcp: the key 80 is an integer; keys of JSON are strings");
/// # }
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct NoCounterpart {
    /// The keys and indices that lead to the value.
    pub path: Vec<Value>,
    /// The value that has no counterpart, and why.
    pub reason: String,
}

impl NoCounterpart {
    fn new(reason: impl Into<String>) -> Self {
        NoCounterpart {
            path: Vec::new(),
            reason: reason.into(),
        }
    }

    fn below(mut self, step: impl Into<Value>) -> Self {
        self.path.insert(0, step.into());
        self
    }
}

impl fmt::Display for NoCounterpart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, step) in self.path.iter().enumerate() {
            write!(f, "{}{step}", if i > 0 { ":" } else { "" })?;
        }
        write!(
            f,
            "{}{}",
            if self.path.is_empty() { "" } else { ": " },
            self.reason
        )
    }
}

impl std::error::Error for NoCounterpart {}

#[cfg(feature = "serde_json")]
mod json {
    use super::{Key, NoCounterpart, Value};
    use crate::{Map, de, float_repr};

    impl From<serde_json::Value> for Value {
        /// Numbers are exact: with `serde_json`'s feature `arbitrary_precision` integers have any size. A number with
        /// a point or an exponent is a float.
        ///
        /// ```
        /// use mapstack_value::Value;
        /// let value = Value::from(serde_json::json!({"port": 80, "weights": [0.5, null]}));
        /// assert_eq!(value.repr(), "{'port': 80, 'weights': [0.5, None]}");
        /// ```
        fn from(json: serde_json::Value) -> Self {
            match json {
                serde_json::Value::Null => Value::None,
                serde_json::Value::Bool(b) => b.into(),
                serde_json::Value::Number(n) => {
                    de::number(&n.to_string()).unwrap_or_else(|| n.to_string().into())
                }
                serde_json::Value::String(s) => s.into(),
                serde_json::Value::Array(items) => items.into_iter().map(Value::from).collect(),
                serde_json::Value::Object(entries) => entries
                    .into_iter()
                    .map(|(k, v)| (k, Value::from(v)))
                    .collect::<Map>()
                    .into(),
            }
        }
    }

    impl TryFrom<&Value> for serde_json::Value {
        type Error = NoCounterpart;

        /// Tuples become arrays.
        ///
        /// # Errors
        /// [`NoCounterpart`] for bytes, sets, floats that are not finite, keys that are not text, and integers that
        /// `serde_json` cannot hold: beyond 64 bits unless its feature `arbitrary_precision` is on.
        fn try_from(value: &Value) -> Result<Self, NoCounterpart> {
            Ok(match value {
                Value::None => serde_json::Value::Null,
                Value::Bool(b) => (*b).into(),
                Value::Int(i) => {
                    let exact = |n: &serde_json::Number| n.to_string() == i.to_string();
                    let number = i
                        .to_string()
                        .parse::<serde_json::Number>()
                        .ok()
                        .filter(exact);
                    number
                        .ok_or_else(|| {
                            NoCounterpart::new(format!("the integer {i} has more than 64 bits"))
                        })?
                        .into()
                }
                Value::Float(f) => serde_json::Number::from_f64(*f)
                    .ok_or_else(|| {
                        NoCounterpart::new(format!(
                            "the float {} is not finite; JSON has no word for it",
                            float_repr(*f)
                        ))
                    })?
                    .into(),
                Value::Str(s) => (&**s).into(),
                Value::List(items) => array(items)?,
                Value::Tuple(items) => array(items)?,
                Value::Map(map) => {
                    serde_json::Value::Object(map.iter().map(entry).collect::<Result<_, _>>()?)
                }
                Value::Bytes(_) | Value::Set(_) => {
                    return Err(NoCounterpart::new(format!(
                        "{} cannot be JSON",
                        value.kind().described()
                    )));
                }
            })
        }
    }

    fn array(items: &[Value]) -> Result<serde_json::Value, NoCounterpart> {
        let item = |(i, item): (usize, &Value)| {
            serde_json::Value::try_from(item).map_err(|error| error.below(i))
        };
        items
            .iter()
            .enumerate()
            .map(item)
            .collect::<Result<Vec<_>, _>>()
            .map(serde_json::Value::Array)
    }

    fn entry((key, value): (&Key, &Value)) -> Result<(String, serde_json::Value), NoCounterpart> {
        let Key::Str(text) = key else {
            let reason = format!(
                "the key {key:?} is {}; keys of JSON are strings",
                key.kind().described()
            );
            return Err(NoCounterpart::new(reason));
        };
        serde_json::Value::try_from(value)
            .map(|value| (text.to_string(), value))
            .map_err(|error| error.below(key.to_value()))
    }
}

#[cfg(feature = "yaml_serde")]
mod yaml {
    use super::{Key, NoCounterpart, Value};
    use crate::{Map, de};

    impl TryFrom<serde_yaml::Value> for Value {
        type Error = NoCounterpart;

        /// This is YAML as `serde_yaml` reads it, not Salt's dialect: `0644` is not 644.
        ///
        /// ```
        /// use mapstack_value::Value;
        /// let yaml: serde_yaml::Value = serde_yaml::from_str("{80: http, names: [a, ~]}").unwrap();
        /// assert_eq!(Value::try_from(yaml).unwrap().repr(), "{80: 'http', 'names': ['a', None]}");
        /// ```
        ///
        /// # Errors
        /// [`NoCounterpart`] for a mapping as a key (a sequence becomes a tuple), and for tags.
        fn try_from(yaml: serde_yaml::Value) -> Result<Self, NoCounterpart> {
            Ok(match yaml {
                serde_yaml::Value::Null => Value::None,
                serde_yaml::Value::Bool(b) => b.into(),
                serde_yaml::Value::Number(n) => match (n.as_i64(), n.as_u64(), n.as_f64()) {
                    (Some(i), ..) => i.into(),
                    (_, Some(i), _) => i.into(),
                    (.., f) => f.map_or(Value::None, Value::from),
                },
                serde_yaml::Value::String(s) => s.into(),
                serde_yaml::Value::Sequence(items) => items
                    .into_iter()
                    .enumerate()
                    .map(|(i, item)| Value::try_from(item).map_err(|error| error.below(i)))
                    .collect::<Result<Vec<_>, _>>()?
                    .into(),
                serde_yaml::Value::Mapping(entries) => entries
                    .into_iter()
                    .map(read_entry)
                    .collect::<Result<Map, _>>()?
                    .into(),
                serde_yaml::Value::Tagged(tagged) => {
                    return Err(NoCounterpart::new(format!(
                        "the tag {} says a type that is not known",
                        tagged.tag
                    )));
                }
            })
        }
    }

    fn read_entry(
        (key, value): (serde_yaml::Value, serde_yaml::Value),
    ) -> Result<(Key, Value), NoCounterpart> {
        let key = Value::try_from(key)?;
        let key = de::hashable(&key)
            .map_err(|error| NoCounterpart::new(format!("the key {key:?}: {error}")))?;
        let value = Value::try_from(value).map_err(|error| error.below(key.to_value()))?;
        Ok((key, value))
    }

    impl TryFrom<&Value> for serde_yaml::Value {
        type Error = NoCounterpart;

        /// Tuples become sequences.
        ///
        /// # Errors
        /// [`NoCounterpart`] for bytes, sets, and integers beyond 64 bits.
        fn try_from(value: &Value) -> Result<Self, NoCounterpart> {
            Ok(match value {
                Value::None => serde_yaml::Value::Null,
                Value::Bool(b) => (*b).into(),
                Value::Int(i) => match (i.to_i64(), i.to_string().parse::<u64>()) {
                    (Some(i), _) => i.into(),
                    (None, Ok(i)) => i.into(),
                    (None, Err(_)) => {
                        return Err(NoCounterpart::new(format!(
                            "the integer {i} has more than 64 bits"
                        )));
                    }
                },
                Value::Float(f) => (*f).into(),
                Value::Str(s) => (&**s).into(),
                Value::List(items) => sequence(items)?,
                Value::Tuple(items) => sequence(items)?,
                Value::Map(map) => map
                    .iter()
                    .map(entry)
                    .collect::<Result<serde_yaml::Mapping, _>>()?
                    .into(),
                Value::Bytes(_) | Value::Set(_) => {
                    let reason = format!(
                        "{} cannot be a value of serde_yaml",
                        value.kind().described()
                    );
                    return Err(NoCounterpart::new(reason));
                }
            })
        }
    }

    fn sequence(items: &[Value]) -> Result<serde_yaml::Value, NoCounterpart> {
        let item = |(i, item): (usize, &Value)| {
            serde_yaml::Value::try_from(item).map_err(|error| error.below(i))
        };
        items
            .iter()
            .enumerate()
            .map(item)
            .collect::<Result<Vec<_>, _>>()
            .map(serde_yaml::Value::Sequence)
    }

    fn entry(
        (key, value): (&Key, &Value),
    ) -> Result<(serde_yaml::Value, serde_yaml::Value), NoCounterpart> {
        let yaml =
            serde_yaml::Value::try_from(value).map_err(|error| error.below(key.to_value()))?;
        Ok((serde_yaml::Value::try_from(&key.to_value())?, yaml))
    }
}
