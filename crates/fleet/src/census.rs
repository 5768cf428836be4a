//! Which minions there are, and what a part of them has in common.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet};

use mapstack::minion::Minion;
use mapstack::value::{Str, Value};

/// The grains by which minions are described, the most telling first.
const GRAINS: [&str; 9] = [
    "kernel",
    "os_family",
    "os",
    "osmajorrelease",
    "osfinger",
    "osarch",
    "init",
    "virtual",
    "role",
];

/// Values of one grain that a description names.
const MAX_VALUES: usize = 3;
/// Minions that a description leaves out.
const MAX_EXCEPTIONS: usize = 3;

/// The grains of minions, as far as descriptions need them.
///
/// ```
/// use mapstack_fleet::{Census, Traits};
/// use mapstack::minion::platforms;
/// let mut census = Census::default();
/// for name in ["debian-12", "ubuntu-24.04", "rockylinux-9", "freebsd-14"] {
///     census.add(name, Traits::of(&platforms::find(name).unwrap().minion()));
/// }
/// let common = |ids: &[&str]| census.common(&ids.iter().map(ToString::to_string).collect::<Vec<_>>());
/// assert_eq!(common(&["debian-12", "ubuntu-24.04"]).unwrap().to_string(), "all 2 with os_family=Debian");
/// assert_eq!(common(&["freebsd-14"]).unwrap().to_string(), "the one with kernel=FreeBSD");
/// ```
#[derive(Debug, Default)]
pub struct Census {
    /// The index of each minion.
    by_id: HashMap<String, usize>,
    ids: Vec<String>,
    /// For each grain, the minions with each value.
    grains: [BTreeMap<Str, Vec<usize>>; GRAINS.len()],
}

/// The grains of one minion that descriptions need.
#[derive(Debug, Clone)]
pub struct Traits([Option<Str>; GRAINS.len()]);

impl Traits {
    /// Those of a minion.
    #[must_use]
    pub fn of(minion: &Minion) -> Self {
        Traits(GRAINS.map(|grain| match minion.grains.get(grain)? {
            Value::Str(text) if text.len() < 64 => Some(text.clone()),
            value @ (Value::Int(_) | Value::Bool(_)) => Some(value.to_string().into()),
            _ => None,
        }))
    }
}

/// A description of some minions: what they have in common, and no others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Common {
    /// The grain; `None` if these are all minions.
    pub grain: Option<&'static str>,
    /// Its values.
    pub values: Vec<String>,
    /// The number of minions that have one of them.
    pub minions: usize,
    /// The minions that have one of them all the same and do not belong to these.
    pub exceptions: Vec<String>,
}

impl Census {
    /// Take a minion in. One that is known already is not counted again.
    pub fn add(&mut self, id: &str, traits: Traits) {
        let index = self.ids.len();
        match self.by_id.entry(id.to_owned()) {
            Entry::Occupied(_) => return,
            Entry::Vacant(entry) => entry.insert(index),
        };
        self.ids.push(id.to_owned());
        for (value, values) in traits.0.into_iter().zip(&mut self.grains) {
            if let Some(value) = value {
                values.entry(value).or_default().push(index);
            }
        }
    }

    /// A description of these minions, which fits no others but a few; `None` if nothing is as short as their names.
    #[must_use]
    pub fn common(&self, ids: &[String]) -> Option<Common> {
        let known = |id: &String| self.by_id.get(id).copied();
        let part: HashSet<usize> = ids.iter().map(known).collect::<Option<_>>()?;
        if part.len() == self.ids.len() && part.len() > 1 {
            return Some(Common {
                grain: None,
                values: Vec::new(),
                minions: part.len(),
                exceptions: Vec::new(),
            });
        }
        let found = GRAINS.iter().zip(&self.grains);
        let found = found.filter_map(|(grain, values)| self.by_grain(grain, values, &part));
        found.min_by_key(|common| (common.exceptions.len(), common.values.len()))
    }

    fn by_grain(
        &self,
        grain: &'static str,
        values: &BTreeMap<Str, Vec<usize>>,
        part: &HashSet<usize>,
    ) -> Option<Common> {
        let has_one = |members: &Vec<usize>| members.iter().any(|one| part.contains(one));
        let touched: Vec<(&Str, &Vec<usize>)> = values
            .iter()
            .filter(|(_, members)| has_one(members))
            .collect();
        let members = || touched.iter().flat_map(|(_, members)| members.iter());
        let others = members().filter(|one| !part.contains(one));
        let exceptions: Vec<String> = others
            .filter_map(|one| self.ids.get(*one).cloned())
            .collect();
        let minions = members().count();
        let covers_all = minions == part.len() + exceptions.len();
        let is_short = touched.len() <= MAX_VALUES
            && exceptions.len() <= MAX_EXCEPTIONS
            && exceptions.len() * 2 < part.len().max(1);
        (covers_all && is_short).then(|| Common {
            grain: Some(grain),
            values: touched.iter().map(|(value, _)| value.to_string()).collect(),
            minions,
            exceptions,
        })
    }
}

impl std::fmt::Display for Common {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Some(grain) = self.grain else {
            return write!(f, "all {} minions", self.minions);
        };
        match self.minions {
            1 => write!(f, "the one with")?,
            n => write!(f, "all {n} with")?,
        }
        write!(f, " {grain}={}", self.values.join(" or "))?;
        match &self.exceptions[..] {
            [] => Ok(()),
            exceptions => write!(f, " but {}", exceptions.join(", ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn census() -> Census {
        let mut census = Census::default();
        for n in 0..20 {
            let mut minion = Minion::new(format!("m{n}").as_str());
            let family = ["Debian", "RedHat", "Suse", "Arch"][n % 4];
            minion.set("grains.os_family", family).unwrap();
            minion
                .set("grains.role", if n < 7 { "web" } else { "db" })
                .unwrap();
            census.add(&format!("m{n}"), Traits::of(&minion));
        }
        census
    }

    fn described(part: impl Fn(usize) -> bool) -> Option<String> {
        let ids: Vec<String> = (0..20)
            .filter(|n| part(*n))
            .map(|n| format!("m{n}"))
            .collect();
        census().common(&ids).map(|common| common.to_string())
    }

    #[test]
    fn what_minions_have_in_common_is_found() {
        assert_eq!(described(|_| true).unwrap(), "all 20 minions");
        assert_eq!(
            described(|n| n % 4 == 0).unwrap(),
            "all 5 with os_family=Debian"
        );
        assert_eq!(
            described(|n| n % 4 < 2).unwrap(),
            "all 10 with os_family=Debian or RedHat"
        );
        assert_eq!(described(|n| n < 7).unwrap(), "all 7 with role=web");
        assert_eq!(
            described(|n| n < 7 && n != 3).unwrap(),
            "all 7 with role=web but m3"
        );
        assert_eq!(described(|n| n == 3 || n == 12), None);
    }

    #[test]
    fn a_minion_counts_once() {
        let mut census = census();
        let again = Minion::new("m1");
        census.add("m1", Traits::of(&again));
        census.add("m20", Traits::of(&again));
        let common = census.common(&["m1".into(), "m20".into()]);
        assert_eq!(common, None);
        let all: Vec<String> = (0..=20).map(|n| format!("m{n}")).collect();
        assert_eq!(census.common(&all).unwrap().to_string(), "all 21 minions");
    }
}
