//! Keys and formulas that have another name and the value that they had.

use std::collections::{BTreeMap, HashMap};

use mapstack::value::{Key, Value};
use mapstack_fleet::{ChangeGroup, ComparedResult};

/// The common part of two halves of a rename: the minions and the value, and what it is of.
type Common<'g> = (&'g [String], Option<&'g [ComparedResult]>, String);

/// The indices of groups with a removed value, each with those of the groups that have the value under
/// another name.
pub(super) fn renames(groups: &[&ChangeGroup]) -> BTreeMap<usize, usize> {
    let mut found = BTreeMap::new();
    let mut common: HashMap<Common<'_>, [Vec<usize>; 2]> = HashMap::new();
    for (at, group) in groups.iter().enumerate() {
        let change = &group.change;
        let (side, value) = match (&change.old, &change.new) {
            (Some(old), None) => (0, old),
            (None, Some(new)) => (1, new),
            _ => continue,
        };
        // Of a formula that has another name, the formulas differ.
        let subjects = (!change.is_of_whole()).then_some(&group.subjects[..]);
        let key = (&group.minions[..], subjects, value.repr());
        common.entry(key).or_default()[side].push(at);
    }
    for [gone, new] in common.into_values() {
        pair(groups, &gone, &new, &mut found);
    }
    found
}

/// Pair what is the only one with its value: below the same key, or else anywhere, if the value tells something.
fn pair(
    groups: &[&ChangeGroup],
    gone: &[usize],
    new: &[usize],
    found: &mut BTreeMap<usize, usize>,
) {
    let parent = |at: &usize| groups.get(*at).and_then(|group| parent(&group.change.path));
    let mut left = Vec::new();
    for at in gone {
        let beside = |other: &&usize| parent(other) == parent(at);
        let rivals = gone.iter().filter(beside).count();
        let news: Vec<&usize> = new.iter().filter(beside).collect();
        match (rivals, &news[..]) {
            (1, [one]) => drop(found.insert(*at, **one)),
            _ => left.push(*at),
        }
    }
    let is_free = |at: &&usize| !found.values().any(|one| one == *at);
    let free: Vec<usize> = new.iter().filter(is_free).copied().collect();
    if let ([gone], [new]) = (&left[..], &free[..])
        && groups
            .get(*gone)
            .is_some_and(|group| tells(&group.change.old))
    {
        found.insert(*gone, *new);
    }
}

/// The keys to what a value is in; none for the whole data.
fn parent(path: &[Key]) -> Option<&[Key]> {
    path.split_last().map(|(_, above)| above)
}

/// True if two values that are equal hardly are by chance.
fn tells(value: &Option<Value>) -> bool {
    match value {
        None | Some(Value::None | Value::Bool(_) | Value::Int(_) | Value::Float(_)) => false,
        Some(Value::Str(text)) => !text.is_empty(),
        Some(other) => other.truthy(),
    }
}
