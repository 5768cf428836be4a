//! The options of a merge: the strategy, and if lists are appended.

use std::fmt;
use std::str::FromStr;

use mapstack_value::Value;

/// A merge strategy, under Salt's own names.
///
/// ```
/// use mapstack_merge::Strategy;
/// use mapstack_value::Value;
/// assert_eq!(Strategy::from(&Value::from("overwrite")), Strategy::Overwrite);
/// let odd = Strategy::from(&Value::from("overwrit"));
/// assert!(odd.warning().unwrap().to_string().starts_with("unknown merge strategy 'overwrit'"));
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Strategy {
    /// `smart`: what fits the data; for plain data that is `recurse`.
    #[default]
    Smart,
    /// `recurse`: mappings are united at any depth, the overlay wins elsewhere.
    Recurse,
    /// `overwrite`: the overlay's values replace the base's whole.
    Overwrite,
    /// `aggregate`: the roots are united, or joined as lists.
    Aggregate,
    /// `list`: each of the base's values that the overlay has too becomes a pair of both.
    List,
    /// `none`: as `recurse`, but lists are never appended.
    None,
    /// Any other value, even one that is not text: merges as `none` and deserves a
    /// [warning](Strategy::warning).
    Unknown(Value),
}

/// The names of the strategies, as they are written.
const NAMES: [(&str, Strategy); 6] = [
    ("smart", Strategy::Smart),
    ("recurse", Strategy::Recurse),
    ("overwrite", Strategy::Overwrite),
    ("aggregate", Strategy::Aggregate),
    ("list", Strategy::List),
    ("none", Strategy::None),
];

impl Strategy {
    /// The names of all strategies.
    ///
    /// ```
    /// use mapstack_merge::Strategy;
    /// assert_eq!(Strategy::names()[0], "smart");
    /// assert!(Strategy::names().iter().all(|name| Strategy::from(&(*name).into()).warning().is_none()));
    /// ```
    #[must_use]
    pub fn names() -> [&'static str; 6] {
        NAMES.map(|(name, _)| name)
    }

    /// The message about a strategy that does not exist.
    #[must_use]
    pub fn warning(&self) -> Option<UnknownStrategy> {
        match self {
            Strategy::Unknown(value) => Some(UnknownStrategy {
                value: value.clone(),
            }),
            _ => None,
        }
    }

    /// The value a user writes for this strategy.
    #[must_use]
    pub fn to_value(&self) -> Value {
        match self {
            Strategy::Unknown(value) => value.clone(),
            known => NAMES
                .iter()
                .find(|(_, strategy)| strategy == known)
                .map(|(name, _)| *name)
                .into(),
        }
    }
}

impl From<&Value> for Strategy {
    /// Any value is a strategy; what is not a known name is [`Unknown`](Strategy::Unknown).
    fn from(value: &Value) -> Self {
        let known = value
            .as_str()
            .and_then(|text| NAMES.into_iter().find(|(name, _)| *name == text));
        known.map_or_else(
            || Strategy::Unknown(value.clone()),
            |(_, strategy)| strategy,
        )
    }
}

impl FromStr for Strategy {
    type Err = UnknownStrategy;

    /// Reads the name of a strategy, and refuses any other text.
    ///
    /// ```
    /// use mapstack_merge::Strategy;
    /// assert_eq!("overwrite".parse(), Ok(Strategy::Overwrite));
    /// assert!("overwrit".parse::<Strategy>().is_err());
    /// ```
    fn from_str(name: &str) -> Result<Self, UnknownStrategy> {
        let strategy = Strategy::from(&Value::from(name));
        match strategy.warning() {
            Some(unknown) => Err(unknown),
            None => Ok(strategy),
        }
    }
}

impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.to_value().fmt(f)
    }
}

/// A strategy that does not exist was requested; the merge went on as if it were `none`.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error(
    "unknown merge strategy {}: mappings are merged recursively and lists replaced, whatever merge_lists says; \
     write one of {}",
    value.repr(),
    Strategy::names().join(", ")
)]
pub struct UnknownStrategy {
    /// The given value.
    pub value: Value,
}

/// The options of one merge.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Options {
    /// The strategy by which the two sides are combined.
    pub strategy: Strategy,
    /// True if `smart` and `recurse` append lists instead of replacing them.
    pub merge_lists: bool,
}

impl From<Strategy> for Options {
    /// A strategy that replaces lists.
    fn from(strategy: Strategy) -> Self {
        Options {
            strategy,
            merge_lists: false,
        }
    }
}

impl Options {
    /// Options as layers give them: any values, `merge_lists` by its truth.
    ///
    /// ```
    /// use mapstack_merge::{Options, Strategy};
    /// use mapstack_value::Value;
    /// let options = Options::new(&Value::from("recurse"), &Value::from("false"));
    /// assert_eq!(options, Options { strategy: Strategy::Recurse, merge_lists: true });
    /// ```
    #[must_use]
    pub fn new(strategy: &Value, merge_lists: &Value) -> Self {
        Options {
            strategy: strategy.into(),
            merge_lists: merge_lists.truthy(),
        }
    }

    /// The rule these options come down to.
    pub(crate) fn rule(&self) -> Rule {
        match self.strategy {
            Strategy::Smart | Strategy::Recurse => Rule::Deep {
                append: self.merge_lists,
            },
            Strategy::None | Strategy::Unknown(_) => Rule::Deep { append: false },
            Strategy::Overwrite => Rule::Shallow,
            Strategy::Aggregate => Rule::Aggregate,
            Strategy::List => Rule::Pair,
        }
    }
}

/// The rules behind the strategies; there are fewer of them than names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rule {
    /// Unite mappings at any depth, append lists if asked, let the overlay win elsewhere.
    Deep { append: bool },
    /// Unite the roots only.
    Shallow,
    /// Unite the roots only, or join them as lists.
    Aggregate,
    /// Pair the values of shared keys.
    Pair,
}
