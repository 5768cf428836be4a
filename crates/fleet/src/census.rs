//! The minions of a run, and the common traits of a part of them.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet};

use mapstack::minion::{Minion, platforms};
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
    /// The minions with each value of a grain that is not a platform's, such as a role.
    own: BTreeMap<(String, Str), Vec<usize>>,
    /// The minions in each group, by its index; `None` if they are unknown.
    groups: Vec<Option<Vec<usize>>>,
    /// The names of the groups.
    named: Vec<Grouping>,
}

/// The facts of one minion that descriptions need.
#[derive(Debug, Clone)]
pub struct Traits {
    grains: [Option<Str>; GRAINS.len()],
    /// The values of grains that are not a platform's.
    own: Vec<(String, Str)>,
    /// For each group, whether the minion is in it, if that is known.
    groups: Vec<Option<bool>>,
}

/// Values of grains that are not a platform's, of one minion and of all.
const MAX_OWN: usize = 64;
const MAX_OWN_OF_ALL: usize = 100_000;

/// A value of a grain as a short text.
fn short(value: &Value) -> Option<Str> {
    match value {
        Value::Str(text) if text.len() < 64 => Some(text.clone()),
        value @ (Value::Int(_) | Value::Bool(_)) => Some(value.to_string().into()),
        _ => None,
    }
}

impl Traits {
    /// Those of a minion.
    #[must_use]
    pub fn of(minion: &Minion) -> Self {
        let is_own = |name: &str| !platforms::have_grain(name) && !GRAINS.contains(&name);
        let of_minion = minion.grains.iter();
        let own = of_minion.filter_map(|(name, value)| {
            let name = name.as_str().filter(|name| is_own(name))?;
            let values = match value {
                Value::List(items) => items.iter().filter_map(short).collect(),
                value => Vec::from_iter(short(value)),
            };
            Some(values.into_iter().map(|value| (name.to_owned(), value)))
        });
        Traits {
            grains: GRAINS.map(|grain| short(minion.grains.get(grain)?)),
            own: own.flatten().take(MAX_OWN).collect(),
            groups: Vec::new(),
        }
    }

    /// With whether the minion is in each of some groups, if that is known.
    #[must_use]
    pub fn with_groups(mut self, groups: Vec<Option<bool>>) -> Self {
        self.groups = groups;
        self
    }
}

/// A description of some minions: what they have in common, and no others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Common {
    /// Their common facts.
    pub by: Grouping,
    /// The number of minions that have it.
    pub minions: usize,
    /// The minions that have it all the same and do not belong to these.
    pub exceptions: Vec<String>,
}

/// The common facts of minions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Grouping {
    /// These are all minions.
    All,
    /// A nodegroup, by its name.
    Nodegroup(String),
    /// A target of a top file.
    Target(String),
    /// A grain, with one of some values.
    Grain(String, Vec<String>),
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
        for (value, values) in traits.grains.into_iter().zip(&mut self.grains) {
            if let Some(value) = value {
                values.entry(value).or_default().push(index);
            }
        }
        for own in traits.own {
            let is_full = self.own.len() >= MAX_OWN_OF_ALL;
            match self.own.get_mut(&own) {
                Some(members) if members.last() == Some(&index) => {}
                Some(members) => members.push(index),
                None if is_full => {}
                None => drop(self.own.insert(own, vec![index])),
            }
        }
        for (at, members) in self.groups.iter_mut().enumerate() {
            match (traits.groups.get(at).copied().flatten(), &mut *members) {
                (Some(true), Some(members)) => members.push(index),
                (Some(false), _) => {}
                // Its members are unknown from here on.
                _ => *members = None,
            }
        }
    }

    /// Let minions be described by groups as well, in whose order the traits of each have them.
    #[must_use]
    pub fn with_groups(mut self, named: Vec<Grouping>) -> Self {
        self.groups = vec![Some(Vec::new()); named.len()];
        self.named = named;
        self
    }

    /// The common trait of these minions, and no others, by the names that people gave: a nodegroup, a target or a grain
    /// that is not a platform's. All minions together have none: nothing sets them apart.
    #[must_use]
    pub fn named(&self, ids: &[String]) -> Option<Common> {
        let known = |id: &String| self.by_id.get(id).copied();
        let mut part: Vec<usize> = ids.iter().map(known).collect::<Option<_>>()?;
        part.sort_unstable();
        self.exact(&part)
    }

    fn exact(&self, part: &[usize]) -> Option<Common> {
        if part.len() < 2 || part.len() == self.ids.len() {
            return None;
        }
        let of_group = |(by, members): (&Grouping, &Option<Vec<usize>>)| {
            (members.as_deref() == Some(part)).then(|| by.clone())
        };
        let mut groups = self.named.iter().zip(&self.groups);
        let of_own = |((name, value), members): (&(String, Str), &Vec<usize>)| {
            let by = || Grouping::Grain(name.clone(), vec![value.to_string()]);
            (members == part).then(by)
        };
        let by = groups.find_map(of_group);
        let by = by.or_else(|| self.own.iter().find_map(of_own))?;
        Some(Common {
            by,
            minions: part.len(),
            exceptions: Vec::new(),
        })
    }

    /// A description of these minions, which fits no others but a few; `None` if nothing is as short as their names.
    #[must_use]
    pub fn common(&self, ids: &[String]) -> Option<Common> {
        let known = |id: &String| self.by_id.get(id).copied();
        let part: HashSet<usize> = ids.iter().map(known).collect::<Option<_>>()?;
        if part.len() == self.ids.len() && part.len() > 1 {
            return Some(Common {
                by: Grouping::All,
                minions: part.len(),
                exceptions: Vec::new(),
            });
        }
        if let Some(named) = self.named(ids) {
            return Some(named);
        }
        let found = GRAINS.iter().zip(&self.grains);
        let found = found.filter_map(|(grain, values)| self.by_grain(grain, values, &part));
        found.min_by_key(|common| match &common.by {
            Grouping::Grain(_, values) => (common.exceptions.len(), values.len()),
            _ => (common.exceptions.len(), 0),
        })
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
        let values = || touched.iter().map(|(value, _)| value.to_string()).collect();
        (covers_all && is_short).then(|| Common {
            by: Grouping::Grain(grain.to_owned(), values()),
            minions,
            exceptions,
        })
    }
}

impl std::fmt::Display for Common {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let all = match self.minions {
            1 => "the one".to_owned(),
            n => format!("all {n}"),
        };
        match &self.by {
            Grouping::All => write!(f, "all {} minions", self.minions)?,
            Grouping::Nodegroup(name) => write!(f, "{all} of nodegroup {name}")?,
            Grouping::Target(target) => write!(f, "{all} of the target '{target}'")?,
            Grouping::Grain(grain, values) => {
                write!(f, "{all} with {grain}={}", values.join(" or "))?;
            }
        }
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
    fn groups_and_own_grains_name_minions() {
        let named = vec![
            Grouping::Nodegroup("lb".into()),
            Grouping::Target("db*".into()),
        ];
        let mut census = Census::default().with_groups(named);
        for n in 0..20 {
            let mut minion = Minion::new(format!("m{n}").as_str());
            let roles = if n < 7 { "[web, proxy]" } else { "[db]" };
            let roles = mapstack::yaml::load(roles).unwrap();
            minion.set("grains.roles", roles).unwrap();
            minion.set("grains.server_id", 7).unwrap();
            let groups = vec![Some(n < 3), (n != 5).then_some(n > 10)];
            census.add(&format!("m{n}"), Traits::of(&minion).with_groups(groups));
        }
        let common = |part: std::ops::Range<usize>| {
            let ids: Vec<String> = part.map(|n| format!("m{n}")).collect();
            census.named(&ids).map(|common| common.to_string())
        };
        assert_eq!(common(0..3).unwrap(), "all 3 of nodegroup lb");
        assert_eq!(common(0..7).unwrap(), "all 7 with roles=proxy");
        assert_eq!(common(7..20).unwrap(), "all 13 with roles=db");
        assert_eq!(common(0..6), None);
        assert_eq!(common(0..20), None);
        // Of one it is not known.
        assert_eq!(common(11..20), None);
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
