//! The ways of values through functions, for observers that want to know where values come from.

use mapstack_merge::Options;
use mapstack_minion::{ConfigGet, Part};
use mapstack_pyobject::{DictRef, Obj};
use mapstack_value::{Key, Path, Value};

/// A step of a function that moves values. What a function does not report, it computes.
#[derive(Clone, Copy)]
pub enum Flow<'f> {
    /// `is` is the entry or item of a container.
    Entry {
        /// The container.
        of: &'f Obj,
        /// The step.
        at: &'f Key,
        /// The value that is there.
        is: &'f Obj,
    },
    /// `is` is a copy of `of`.
    Copy {
        /// The value that is copied.
        of: &'f Obj,
        /// The copy.
        is: &'f Obj,
    },
    /// An entry of a dict is about to get the value under the same key of another.
    Update {
        /// The dict that changes.
        into: &'f DictRef,
        /// The key.
        at: &'f Key,
        /// The dict with the new value.
        from: &'f DictRef,
    },
    /// A list of a dict is about to be replaced by a longer one: its items, and some of another list.
    Join {
        /// The dict that changes.
        into: &'f DictRef,
        /// The key of the list.
        at: &'f Key,
        /// The dict with the other list, under the same key.
        from: &'f DictRef,
        /// The new list.
        is: &'f Obj,
    },
    /// `is` is the result of merging.
    Merge {
        /// The base.
        base: &'f Obj,
        /// The overlay.
        overlay: &'f Obj,
        /// The options of the merge.
        options: &'f Options,
        /// The result.
        is: &'f Obj,
    },
    /// `is` was found in a part of the facts.
    Fact {
        /// The part.
        part: Part,
        /// The steps.
        path: &'f [Key],
        /// The value that was found.
        is: &'f Obj,
    },
    /// `is` was found by `config.get`, in one part of the facts or merged from several.
    Config {
        /// The steps.
        path: &'f [Key],
        /// The other arguments.
        query: &'f ConfigGet,
        /// The value that was found.
        is: &'f Obj,
    },
    /// `is` was picked from a table because of a fact.
    Picked {
        /// The fact, as a matcher.
        matcher: &'f str,
        /// The value of the fact.
        found: &'f Value,
        /// The value that was picked.
        is: &'f Obj,
    },
    /// `is` was read from a YAML file.
    Read {
        /// Its path on the file server.
        path: &'f str,
        /// Its text.
        text: &'f str,
        /// The data that was read.
        is: &'f Obj,
    },
    /// `is` is the result of `map.data`, or of another fold.
    Folded {
        /// The result.
        is: &'f Obj,
    },
    /// `is` is the argument that is returned for a missing value.
    Default {
        /// The argument.
        is: &'f Obj,
    },
}

/// The steps of a key that look-ups take: a text with delimiters, or the steps themselves.
pub(crate) fn steps(key: &Value, delimiter: &str) -> Option<Vec<Key>> {
    let path = match key {
        Value::Str(text) => Path::split(text, delimiter).ok()?,
        Value::List(items) => items
            .iter()
            .map(|item| Key::try_from(item).ok())
            .collect::<Option<_>>()?,
        _ => return None,
    };
    Some(path.steps().iter().map(|step| step.0.clone()).collect())
}
