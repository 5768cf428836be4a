//! Pairs of states that are the same one before and after a change.

use std::collections::HashMap;
use std::sync::Arc;

use super::plan::{PlannedState, StateName};

/// The positions of a state before and after. One of them is missing if it appears or vanishes.
pub(super) type StatePositions = (Option<usize>, Option<usize>);

/// The parts of a name that have to be equal, and how many states may share them.
struct NameLevel {
    parts: fn(&StateName) -> [&str; 6],
    /// Only the one state with these parts on each side is paired.
    only_one: bool,
}

/// From what tells a state apart down to what little is left of it, if its name, its function, its sls or its ID changed.
const LEVELS: [NameLevel; 6] = [
    NameLevel {
        parts: |n| [&n.saltenv, &n.sls, &n.id, &n.module, &n.function, &n.name],
        only_one: false,
    },
    NameLevel {
        parts: |n| [&n.saltenv, &n.sls, &n.id, &n.module, &n.function, ""],
        only_one: false,
    },
    NameLevel {
        parts: |n| [&n.saltenv, &n.sls, &n.id, &n.module, "", &n.name],
        only_one: true,
    },
    NameLevel {
        parts: |n| ["", "", &n.id, &n.module, &n.function, &n.name],
        only_one: true,
    },
    NameLevel {
        parts: |n| [&n.saltenv, &n.sls, "", &n.module, &n.function, &n.name],
        only_one: true,
    },
    NameLevel {
        parts: |n| ["", "", "", &n.module, &n.function, &n.name],
        only_one: true,
    },
];

/// The pairs of states, in the order in which they run now; those that vanish come where they were.
pub(super) fn pairs(
    before: &[Arc<PlannedState>],
    after: &[Arc<PlannedState>],
) -> Vec<StatePositions> {
    let is_same = |(old, new): (&Arc<PlannedState>, &Arc<PlannedState>)| {
        Arc::ptr_eq(old, new) || old.name == new.name
    };
    if before.len() == after.len() && before.iter().zip(after).all(is_same) {
        return (0..after.len()).map(|at| (Some(at), Some(at))).collect();
    }
    let mut partner: Vec<Option<usize>> = vec![None; after.len()];
    let mut is_taken = vec![false; before.len()];
    for level in &LEVELS {
        let mut known: HashMap<[&str; 6], [Vec<usize>; 2]> = HashMap::new();
        for (at, state) in before.iter().enumerate().filter(|(at, _)| !is_taken[*at]) {
            known.entry((level.parts)(&state.name)).or_default()[0].push(at);
        }
        for (at, state) in after.iter().enumerate() {
            if partner[at].is_none() {
                known.entry((level.parts)(&state.name)).or_default()[1].push(at);
            }
        }
        for [old, new] in known.into_values() {
            let is_clear = old.len() == new.len() && (old.len() == 1 || !level.only_one);
            for (old, new) in old.into_iter().zip(new).filter(|_| is_clear) {
                partner[new] = Some(old);
                is_taken[old] = true;
            }
        }
    }
    let mut pairs: Vec<StatePositions> = Vec::with_capacity(after.len());
    let mut gone = (0..before.len()).filter(|at| !is_taken[*at]).peekable();
    for (at, old) in partner.into_iter().enumerate() {
        if let Some(old) = old {
            while let Some(gone) = gone.next_if(|gone| *gone < old) {
                pairs.push((Some(gone), None));
            }
        }
        pairs.push((old, Some(at)));
    }
    pairs.extend(gone.map(|at| (Some(at), None)));
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn states(names: &[&str]) -> Vec<Arc<PlannedState>> {
        let state = |text: &&str| {
            let [sls, id, function, name] = text.split(' ').collect::<Vec<_>>()[..] else {
                panic!("four parts")
            };
            Arc::new(PlannedState {
                name: StateName {
                    saltenv: "base".into(),
                    sls: sls.into(),
                    id: id.into(),
                    module: "pkg".into(),
                    function: function.into(),
                    name: name.into(),
                },
                ..PlannedState::default()
            })
        };
        names.iter().map(state).collect()
    }

    #[test]
    fn a_state_that_changed_one_part_of_its_name_is_the_same_one() {
        let old = "a x installed dnsutils";
        for new in [
            "a x installed bind9-dnsutils",
            "a x latest dnsutils",
            "b x installed dnsutils",
            "a y installed dnsutils",
            "b y installed dnsutils",
        ] {
            let pairs = pairs(&states(&[old]), &states(&[new]));
            assert_eq!(pairs, [(Some(0), Some(0))], "{new}");
        }
        let both = pairs(&states(&[old]), &states(&["a y latest dnsutils"]));
        assert_eq!(both, [(None, Some(0)), (Some(0), None)]);
    }

    #[test]
    fn of_several_names_the_equal_ones_are_paired_first() {
        let before = states(&["a x installed one", "a x installed two"]);
        let after = states(&["a x installed two", "a x installed three"]);
        assert_eq!(
            pairs(&before, &after),
            [(Some(1), Some(0)), (Some(0), Some(1))]
        );
        // Which of two names took the place of one is not known.
        let more = states(&["a x installed three", "a x installed four"]);
        let found = pairs(&states(&["a x installed one"]), &more);
        assert_eq!(found, [(None, Some(0)), (None, Some(1)), (Some(0), None)]);
    }
}
