//! The observer that a merge reports each change to, and the path it reports.

use std::fmt;

use mapstack_value::{Key, Value};

/// Receives every change that a merge makes to its base.
///
/// The observer is a type parameter of the merge functions, so `()`, which watches nothing, costs
/// nothing: [`ACTIVE`](Observer::ACTIVE) is false and what only an observer needs is not computed.
///
/// ```
/// use mapstack_merge::{Change, Map, Observer, Options, Trail, merge_observed};
///
/// #[derive(Default)]
/// struct Log(Vec<String>);
/// impl Observer for Log {
///     fn changed(&mut self, at: &Trail<'_>, change: Change<'_>) {
///         if let Change::Replaced { old, new } = change {
///             self.0.push(format!("{}: {old} -> {new}", at.to_path()));
///         }
///     }
/// }
///
/// let base: Map = [("port", 80)].into_iter().collect();
/// let overlay: Map = [("port", 8080)].into_iter().collect();
/// let mut log = Log::default();
/// merge_observed(base.into(), &overlay.into(), &Options::default(), &mut log).unwrap();
/// assert_eq!(log.0, ["port: 80 -> 8080"]);
/// ```
pub trait Observer {
    /// True if the observer uses the reports.
    const ACTIVE: bool = true;

    /// Something happened at a path. What is not reported stays as it was in the base.
    fn changed(&mut self, at: &Trail<'_>, change: Change<'_>);
}

impl Observer for () {
    const ACTIVE: bool = false;

    fn changed(&mut self, _at: &Trail<'_>, _change: Change<'_>) {}
}

impl<O: Observer> Observer for &mut O {
    const ACTIVE: bool = O::ACTIVE;

    fn changed(&mut self, at: &Trail<'_>, change: Change<'_>) {
        (**self).changed(at, change);
    }
}

/// The change of a merge at one path. A path that only its descendants changed is not reported itself.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Change<'a> {
    /// The base had nothing here; the overlay's value is the result.
    Added {
        /// The value in the result.
        new: &'a Value,
    },
    /// The overlay's value took the place of the base's, equal to it or not.
    Replaced {
        /// The base's value.
        old: &'a Value,
        /// The value in the result.
        new: &'a Value,
    },
    /// Both had a value and the base's won (PillarStack's `merge-first`).
    Kept {
        /// The base's value, which stays, without stack markers if it had any.
        old: &'a Value,
        /// The overlay's value.
        rejected: &'a Value,
    },
    /// Two lists became one.
    Joined {
        /// The base's items.
        base: &'a [Value],
        /// The overlay's items, without the one that names a stack strategy.
        overlay: &'a [Value],
        /// The origin of each item of the result, in order. An item of neither side that is
        /// missing here was left out (a duplicate, or removed).
        origins: &'a [ItemOrigin],
    },
    /// The result is the two-element list of both (strategy `list`).
    Paired {
        /// The base's value: the first element.
        old: &'a Value,
        /// The overlay's value: the second element.
        new: &'a Value,
    },
    /// The overlay took the entry away (PillarStack's `remove`).
    Removed {
        /// The base's value.
        old: &'a Value,
    },
    /// The overlay's value went nowhere, as the strategy adds no keys (strategy `list`).
    Dropped {
        /// The overlay's value.
        new: &'a Value,
    },
}

/// The origin of an item of a [joined](Change::Joined) list, with its index there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ItemOrigin {
    /// The base's item.
    Base(usize),
    /// The overlay's item.
    Overlay(usize),
}

/// The path of a change, as a chain of borrowed keys on the stack.
#[derive(Debug, Clone, Copy)]
pub struct Trail<'a>(Option<(&'a Trail<'a>, &'a Key)>);

impl<'a> Trail<'a> {
    /// The path of the whole value.
    pub const ROOT: Trail<'static> = Trail(None);

    /// The path of an entry of the mapping here.
    #[must_use]
    pub fn then(&'a self, key: &'a Key) -> Self {
        Trail(Some((self, key)))
    }

    /// The key of the entry, or `None` at the root.
    #[must_use]
    pub fn key(&self) -> Option<&'a Key> {
        self.0.map(|(_, key)| key)
    }

    /// The path of the mapping that holds the entry, or `None` at the root.
    #[must_use]
    pub fn parent(&self) -> Option<&'a Trail<'a>> {
        self.0.map(|(parent, _)| parent)
    }

    /// The path as an owned list of keys.
    #[must_use]
    pub fn to_path(&self) -> KeyPath {
        let mut keys = Vec::new();
        let mut here = self;
        while let Some((parent, key)) = here.0 {
            keys.push(key.clone());
            here = parent;
        }
        keys.reverse();
        KeyPath(keys)
    }
}

/// A path of mapping keys from the root.
///
/// ```
/// use mapstack_merge::{KeyPath, Trail};
/// use mapstack_value::Key;
/// let (a, b) = (Key::from("a"), Key::from(1));
/// assert_eq!(Trail::ROOT.then(&a).then(&b).to_path().to_string(), "a:1");
/// assert_eq!(KeyPath::default().to_string(), "the root");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct KeyPath(pub Vec<Key>);

impl fmt::Display for KeyPath {
    /// The keys joined with `:`, or `the root`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("the root");
        }
        for (i, key) in self.0.iter().enumerate() {
            if i > 0 {
                f.write_str(":")?;
            }
            write!(f, "{key}")?;
        }
        Ok(())
    }
}
