//! The values, and the minions that have them.

use std::collections::HashMap;

use mapstack::value::Value;

/// Counts of values, with the first minions that have each.
///
/// ```
/// use mapstack::value::Value;
/// use mapstack_fleet::Tally;
/// let mut tally = Tally::new(1);
/// for (id, port) in [("web1", Some(22)), ("web2", Some(2222)), ("web3", Some(22)), ("db1", None)] {
///     tally.add(id, port.map(Value::from).as_ref());
/// }
/// let counts = tally.counts();
/// let shown: Vec<_> = counts.iter().map(|c| (c.count, c.value.as_ref().map(Value::repr), c.minions.join(" "))).collect();
/// assert_eq!(shown[0], (2, Some("22".into()), "web1".into()));
/// assert_eq!(shown[1], (1, Some("2222".into()), "web2".into()));
/// assert_eq!(shown[2], (1, None, "db1".into()));
/// ```
#[derive(Debug, Default)]
pub struct Tally {
    examples: usize,
    /// Keyed by what distinguishes values: their text in Python, which shows types and order.
    by_text: HashMap<Option<String>, Count>,
}

/// A value, and who has it.
#[derive(Debug, Clone, PartialEq)]
pub struct Count {
    /// The value; `None` for those that have none.
    pub value: Option<Value>,
    /// The number of minions that have it.
    pub count: usize,
    /// The first of them.
    pub minions: Vec<String>,
    /// When it was first seen.
    seen: usize,
}

impl Tally {
    /// Counts that remember this many minions for each value.
    #[must_use]
    pub fn new(examples: usize) -> Self {
        Tally {
            examples,
            by_text: HashMap::new(),
        }
    }

    /// Count one minion's value.
    pub fn add(&mut self, id: &str, value: Option<&Value>) {
        let seen = self.by_text.len();
        let fresh = || Count {
            value: value.cloned(),
            count: 0,
            minions: Vec::new(),
            seen,
        };
        let entry = self
            .by_text
            .entry(value.map(Value::repr))
            .or_insert_with(fresh);
        entry.count += 1;
        if entry.minions.len() < self.examples {
            entry.minions.push(id.into());
        }
    }

    /// The values, the most frequent first, those that are equally frequent in the order they were
    /// first seen.
    #[must_use]
    pub fn counts(&self) -> Vec<&Count> {
        let mut counts: Vec<&Count> = self.by_text.values().collect();
        counts.sort_by_key(|count| (std::cmp::Reverse(count.count), count.seen));
        counts
    }
}
