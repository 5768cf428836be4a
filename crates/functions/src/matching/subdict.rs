//! Looking for `key:subkey:pattern` in facts (Salt: `salt.utils.data.subdict_match`).

use mapstack_pyobject::{Error, Result};
use mapstack_salt_jinja::{
    Vm,
    python::{Anchor, Pattern, endless},
};
use mapstack_value::pytext::fnmatch;
use mapstack_value::{Map, Path, Value};

/// The value or pattern to compare with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Expected {
    /// A shell pattern.
    Glob,
    /// A regular expression that matches from the start.
    Regex,
    /// The same text.
    Exact,
}

/// A search.
pub(super) struct SubdictSearch<'v, 'r> {
    pub vm: &'v Vm<'r>,
    pub how: Expected,
    /// True if the keys of a mapping match as the members of a list do.
    pub matches_keys: bool,
}

/// No data is deeper than this, so no longer key leads anywhere.
const MAX_STEPS: usize = 256;

/// Stars and delimiters lead this deep at most.
const MAX_DEPTH: usize = 150;

impl SubdictSearch<'_, '_> {
    /// True if data holds something that matches behind some prefix of the expression: the longest
    /// prefix that leads somewhere is tried first, then shorter ones.
    pub fn find(&self, data: &Value, expression: &str, delimiter: &str) -> Result<bool> {
        if delimiter.is_empty() {
            return Err(Error::value_error("empty separator"));
        }
        self.subdict(data, expression, delimiter, MAX_DEPTH)
    }

    fn subdict(
        &self,
        data: &Value,
        expression: &str,
        delimiter: &str,
        depth: usize,
    ) -> Result<bool> {
        let Some(depth) = depth.checked_sub(1) else {
            return Err(endless());
        };
        let cuts: Vec<usize> = expression
            .match_indices(delimiter)
            .map(|(at, _)| at)
            .take(MAX_STEPS)
            .collect();
        for at in cuts.into_iter().rev() {
            self.vm.burn(1 + expression.len() / 16)?;
            let (key, rest) = (&expression[..at], &expression[at + delimiter.len()..]);
            let (found, pattern) = if key == "*" {
                (Some(data.clone()), expression)
            } else {
                let path =
                    Path::split(key, delimiter).map_err(|e| Error::value_error(e.to_string()))?;
                (mapstack_yaml::traverse(data, &path), rest)
            };
            let matches = match found {
                None => false,
                Some(Value::Map(map)) => !map.is_empty() && self.dict(&map, pattern, depth)?,
                Some(Value::List(items)) => self.any_member(&items, pattern, depth)?,
                Some(Value::Tuple(items)) => self.any_member(&items, pattern, depth)?,
                Some(value) => self.value(&value, pattern)?,
            };
            if matches {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn any_member(&self, items: &[Value], pattern: &str, depth: usize) -> Result<bool> {
        for item in items {
            if let Value::Map(map) = item
                && self.dict(map, pattern, depth)?
            {
                return Ok(true);
            }
            if self.value(item, pattern)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// True if a mapping has a key that matches, or something below one; behind `*:` also below any
    /// other.
    fn dict(&self, map: &Map, pattern: &str, depth: usize) -> Result<bool> {
        let Some(depth) = depth.checked_sub(1) else {
            return Err(endless());
        };
        self.vm.burn(1)?;
        let (pattern, wildcard) = pattern
            .strip_prefix("*:")
            .map_or((pattern, false), |rest| (rest, true));
        if pattern == "*" || map.contains_key(pattern) {
            return Ok(true);
        }
        for key in map.keys().filter(|_| self.matches_keys) {
            if self.text(&key.to_string(), pattern)? {
                return Ok(true);
            }
        }
        if self.subdict(&map.clone().into(), pattern, ":", depth)? {
            return Ok(true);
        }
        if !wildcard {
            return Ok(false);
        }
        for value in map.values() {
            let matches = match value {
                Value::Map(inner) => self.dict(inner, pattern, depth)?,
                Value::List(items) => {
                    let mut any = false;
                    for item in items.iter() {
                        any = any || self.value(item, pattern)?;
                    }
                    any
                }
                other => self.value(other, pattern)?,
            };
            if matches {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn value(&self, value: &Value, pattern: &str) -> Result<bool> {
        self.text(&value.to_string(), pattern)
    }

    /// Compare without regard to case.
    fn text(&self, text: &str, pattern: &str) -> Result<bool> {
        self.vm.burn(1 + text.len() / 16)?;
        let (text, pattern) = (text.to_lowercase(), pattern.to_lowercase());
        match self.how {
            Expected::Exact => Ok(text == pattern),
            Expected::Glob => {
                // Every star may have to be tried at every character.
                self.vm
                    .burn(text.len().saturating_mul(pattern.len()) / 64)?;
                Ok(fnmatch(&pattern, &text))
            }
            Expected::Regex => match Pattern::new(&pattern.into(), false, false, Anchor::Start) {
                Ok(pattern) => Ok(pattern.at_start(self.vm, &text)?.is_some()),
                // No regular expression matches nothing.
                Err(_) => Ok(false),
            },
        }
    }
}
