//! `grains.get` and `pillar.get`.

use mapstack_merge::{Options, Strategy, merge};
use mapstack_value::{EmptyDelimiter, Key, Map, Path, Value};

use crate::Minion;

/// A look-up that cannot be made.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LookupError {
    /// The key cannot be split.
    #[error(transparent)]
    EmptyDelimiter(#[from] EmptyDelimiter),
    /// The key is of a type that is no path.
    #[error("a key to look up must be text, not {0}")]
    BadKey(&'static str),
}

/// The steps of a key: text is split, a number is one step, a list is the steps themselves.
pub(crate) fn path(key: &Value, delimiter: &str) -> Result<Path, LookupError> {
    let steps = |items: &[Value]| {
        items
            .iter()
            .map(|item| Key::try_from(item).map_err(|e| LookupError::BadKey(e.kind.described())))
            .collect::<Result<Path, _>>()
    };
    match key {
        Value::Str(text) => Ok(Path::split(text, delimiter)?),
        Value::List(items) => steps(items),
        Value::Tuple(items) => steps(items),
        Value::Int(_) | Value::Bool(_) => steps(std::slice::from_ref(key)),
        other => Err(LookupError::BadKey(other.kind().described())),
    }
}

/// Look a key up in data.
pub(crate) fn traverse(data: &Map, key: &Value, delimiter: &str) -> Result<Option<Value>, LookupError> {
    Ok(mapstack_yaml::traverse(&Value::Map(data.clone()), &path(key, delimiter)?))
}

/// The arguments of `pillar.get` besides the key.
#[derive(Debug, Clone, PartialEq)]
pub struct PillarGet {
    /// What to return, or to merge the value onto.
    pub default: Option<Value>,
    /// Whether to merge the value onto the default.
    pub merge: bool,
    /// Whether that merge appends nested lists; the option `pillar_merge_lists` decides if absent.
    pub merge_nested_lists: Option<bool>,
    /// What separates the steps of the key.
    pub delimiter: String,
}

impl Default for PillarGet {
    fn default() -> Self {
        PillarGet { default: None, merge: false, merge_nested_lists: None, delimiter: ":".into() }
    }
}

impl Minion {
    /// `grains.get(key, delimiter=…)`; `None` if there is no such grain.
    ///
    /// # Errors
    /// A key or delimiter that makes no path.
    pub fn grains_get(&self, key: &Value, delimiter: &str) -> Result<Option<Value>, LookupError> {
        traverse(&self.grains, key, delimiter)
    }

    /// `pillar.get(key, …)`; `None` if there is neither such a value nor a default.
    ///
    /// # Errors
    /// A key or delimiter that makes no path.
    pub fn pillar_get(&self, key: &Value, query: &PillarGet) -> Result<Option<Value>, LookupError> {
        let found = traverse(&self.pillar, key, &query.delimiter)?;
        if !query.merge {
            return Ok(found.or_else(|| query.default.clone()));
        }
        let nested = query
            .merge_nested_lists
            .unwrap_or_else(|| self.options().get("pillar_merge_lists").is_some_and(Value::truthy));
        Ok(match (query.default.clone(), found) {
            (Some(default @ Value::Map(_)), found) => Some(match found.unwrap_or_else(Value::map) {
                value @ Value::Map(_) => {
                    let options = Options { strategy: Strategy::Recurse, merge_lists: nested };
                    // Two mappings always merge.
                    merge(default, &value, &options, &mut ()).unwrap_or(value)
                }
                other => other,
            }),
            (Some(Value::List(default)), found) => Some(match found {
                Some(Value::List(value)) => {
                    let new = value.iter().filter(|item| !default.contains(item)).cloned();
                    default.iter().cloned().chain(new).collect()
                }
                None => Value::List(default),
                Some(other) => other,
            }),
            (default, found) => found.or(default),
        })
    }
}
