//! States that moved in the order of the run.

use std::sync::Arc;

use super::plan::{PlannedState, StateName};

/// A state that now runs before another one and ran after it, or the reverse.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrderChange {
    /// The state.
    pub state: StateName,
    /// True if it runs before the other one now.
    pub is_before: bool,
    /// The other state: the nearest one that did not move.
    pub other: StateName,
}

/// The states that moved, among the states of both plans, which are given by both positions. The others run
/// in their old order; there are as many of them as possible.
pub(super) fn moved(both: &[(usize, usize)], after: &[Arc<PlannedState>]) -> Vec<OrderChange> {
    if both.is_sorted_by_key(|(old, _)| *old) && both.is_sorted_by_key(|(_, new)| *new) {
        return Vec::new();
    }
    let mut by_old = both.to_vec();
    by_old.sort_unstable();
    let new: Vec<usize> = by_old.iter().map(|(_, new)| *new).collect();
    let stays = longest_rising(&new);
    // The new positions of states that did not move, in ascending order.
    let anchors: Vec<usize> = stays.iter().map(|at| new[*at]).collect();
    let mut is_stable = vec![false; new.len()];
    stays.iter().for_each(|at| is_stable[*at] = true);
    let mut stable_before = 0;
    let mut changes: Vec<(usize, OrderChange)> = Vec::new();
    for (at, new) in new.iter().enumerate() {
        if is_stable[at] {
            stable_before += 1;
            continue;
        }
        let stable_now = anchors.partition_point(|anchor| anchor < new);
        let is_before = stable_now < stable_before;
        let anchor = match is_before {
            true => anchors.get(stable_now),
            false => stable_now.checked_sub(1).and_then(|at| anchors.get(at)),
        };
        let name = |at: usize| after.get(at).map(|state| state.name.clone());
        if let (Some(state), Some(other)) = (name(*new), anchor.and_then(|at| name(*at))) {
            let change = OrderChange {
                state,
                is_before,
                other,
            };
            changes.push((*new, change));
        }
    }
    changes.sort_by_key(|(at, _)| *at);
    changes.into_iter().map(|(_, change)| change).collect()
}

/// The positions of a longest increasing subsequence.
fn longest_rising(sequence: &[usize]) -> Vec<usize> {
    // For each length, the position of the smallest number in which a subsequence of this length ends.
    let mut ends: Vec<usize> = Vec::new();
    let mut previous: Vec<Option<usize>> = vec![None; sequence.len()];
    for (at, number) in sequence.iter().enumerate() {
        let length = ends.partition_point(|end| sequence[*end] < *number);
        previous[at] = length.checked_sub(1).map(|shorter| ends[shorter]);
        match ends.get_mut(length) {
            Some(end) => *end = at,
            None => ends.push(at),
        }
    }
    let mut part = Vec::with_capacity(ends.len());
    let mut next = ends.last().copied();
    while let Some(at) = next {
        part.push(at);
        next = previous[at];
    }
    part.reverse();
    part
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(before: &str, after: &str) -> Vec<String> {
        let state = |name: char| {
            Arc::new(PlannedState {
                name: StateName {
                    id: name.to_string().into(),
                    ..StateName::default()
                },
                ..PlannedState::default()
            })
        };
        let states: Vec<Arc<PlannedState>> = after.chars().map(state).collect();
        let both = before.chars().enumerate();
        let both = both.filter_map(|(old, name)| Some((old, after.find(name)?)));
        let both: Vec<(usize, usize)> = both.collect();
        let said = |change: OrderChange| {
            let word = if change.is_before { "before" } else { "after" };
            format!("{} {word} {}", change.state.id, change.other.id)
        };
        moved(&both, &states).into_iter().map(said).collect()
    }

    #[test]
    fn as_few_states_as_possible_moved() {
        assert_eq!(found("abcd", "abcd"), [""; 0]);
        assert_eq!(found("abcd", "xaybczd"), [""; 0]);
        assert_eq!(found("abcd", "dabc"), ["d before a"]);
        assert_eq!(found("abcd", "bcda"), ["a after d"]);
        assert_eq!(found("abcde", "adbce"), ["d before b"]);
        assert_eq!(found("abcdef", "efabcd"), ["e before a", "f before a"]);
        assert_eq!(found("abc", "cab"), ["c before a"]);
    }
}
