//! The arguments behind the name of an external pillar, as those of a call (Salt: `Pillar._external_pillar_data`).

use std::collections::BTreeMap;

use mapstack::nearest;
use mapstack_diagnostic::{Error, ErrorKind, Result};
use mapstack_value::Value;

use crate::config::ExtPillar;

/// The arguments that were given, by name.
#[derive(Debug)]
pub(crate) struct Arguments(BTreeMap<&'static str, Value>);

impl Arguments {
    /// Bind the value of the name: a mapping of arguments, a list of them in the order of `names`, or the first
    /// one alone.
    ///
    /// # Errors
    /// There are too many, or they have unknown names.
    pub fn bind(one: &ExtPillar, names: &[&'static str]) -> Result<Self> {
        let list = |items: &[Value]| {
            if items.len() > names.len() {
                let message = format!(
                    "it takes at most {} arguments, not {}",
                    names.len(),
                    items.len()
                );
                return Err(wrong(one, &message).help(takes(names)));
            }
            Ok(Arguments(
                names.iter().copied().zip(items.iter().cloned()).collect(),
            ))
        };
        let Value::Map(given) = &one.arguments else {
            return match &one.arguments {
                Value::List(items) => list(items),
                alone => list(std::slice::from_ref(alone)),
            };
        };
        let mut bound = BTreeMap::new();
        for (key, value) in given {
            let known = names.iter().find(|name| key.as_str() == Some(**name));
            let Some(name) = known else {
                let error = wrong(one, &format!("it has no argument '{key}'"));
                let near = nearest(key.as_str().unwrap_or_default(), names.iter().copied());
                return Err(error.help(match near {
                    Some(near) => format!("did you mean '{near}'?"),
                    None => takes(names),
                }));
            };
            bound.insert(*name, value.clone());
        }
        Ok(Arguments(bound))
    }

    /// An argument; `None` if it was not given.
    pub fn given(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }

    /// An argument, or null.
    pub fn get(&self, name: &str) -> Value {
        self.given(name).cloned().unwrap_or_default()
    }
}

fn takes(names: &[&str]) -> String {
    format!("its arguments are {}", names.join(", "))
}

/// An error about an external pillar, at its place in the configuration.
pub(crate) fn wrong(one: &ExtPillar, message: &str) -> Error {
    let message = format!("the external pillar '{}': {message}", one.name);
    Error::new(ErrorKind::Options, message).at(one.place.clone())
}
