//! What states do before and after a change, compared.

use std::collections::HashMap;

use mapstack::Engine;
use mapstack::loader::MemoryFiles;
use mapstack::minion::Minion;
use mapstack::value::{Key, Map};
use mapstack_fleet::states::{
    MinionPlan, PlannedState, StateName, StatePlans, WantedStates, compare,
};
use mapstack_fleet::{ChangedFiles, Comparison, Differences, Fleet};
use mapstack_states::TopOptions;
use proptest::prelude::*;

/// A state of a few, with an argument.
fn state() -> impl Strategy<Value = PlannedState> {
    (0..3_u8, 0..4_u8, 0..2_u8, 0..3_u8, 0..3_i64).prop_map(|(sls, id, function, name, port)| {
        PlannedState {
            name: StateName {
                saltenv: "base".into(),
                sls: format!("sls{sls}").into(),
                id: format!("id{id}").into(),
                module: "pkg".into(),
                function: format!("f{function}").into(),
                name: format!("n{name}").into(),
            },
            arguments: Map::from_iter([("port", port)]),
            ..PlannedState::default()
        }
    })
}

/// States of which no two have one name, as in a run.
fn plan() -> impl Strategy<Value = MinionPlan> {
    prop::collection::vec(state(), 0..12).prop_map(|mut states| {
        let mut known = std::collections::HashSet::new();
        states.retain(|state| known.insert(state.name.clone()));
        states.into_iter().collect()
    })
}

/// The states of a plan by name.
fn by_name(plan: &MinionPlan) -> HashMap<&StateName, &PlannedState> {
    let states = plan.states.iter();
    states.map(|state| (&state.name, &**state)).collect()
}

/// Files of a saltenv, by path.
type Tree = Vec<(&'static str, &'static str)>;

const TREE: [(&str, &str); 9] = [
    ("top.sls", "base: {'*': [web, db]}\n"),
    (
        "web/init.sls",
        "{% from 'web/map.jinja' import port with context %}\ninclude: [web.more]\nconf:\n  file.managed:\n    - name: /etc/web\n    - source: ['salt://web/files/{{ grains.id }}', 'salt://web/files/web']\n    - template: jinja\n    - context: {port: {{ port }}}\nsum: {file.accumulated: [{filename: /etc/web}, {text: x}, {require_in: [{file: conf}]}]}\n",
    ),
    (
        "web/more.sls",
        "more: {test.nop: [{require: [{file: conf}]}]}\n",
    ),
    ("web/map.jinja", "{% set port = 80 %}\n"),
    (
        "web/files/web",
        "{% include 'web/files/part' %} {{ port }} {{ grains.id }} {{ accumulator.sum }}\n",
    ),
    ("web/files/part", "part\n"),
    (
        "db.sls",
        "dir: {file.recurse: [{name: /srv}, {source: 'salt://db/dir'}]}\n",
    ),
    ("db/dir/a", "a\n"),
    ("db/dir/c", "c\n"),
];

/// Other contents of the files, and files that can come.
const EDITS: [(&str, &str); 10] = [
    ("top.sls", "base: {'*': [web]}\n"),
    ("web/more.sls", "more: {test.nop: []}\n"),
    ("web/map.jinja", "{% set port = 81 %}\n"),
    ("web/files/web", "{{ port }}\n"),
    ("web/files/part", "other\n"),
    ("web/files/a", "of a\n"),
    (
        "db.sls",
        "dir: {file.recurse: [{name: /srv/x}, {source: 'salt://db/dir'}]}\n",
    ),
    ("db/dir/a", "b\n"),
    ("db/dir/b", "b\n"),
    ("web/unused", "x\n"),
];

fn served(tree: &Tree) -> Engine {
    let files = tree.iter().fold(MemoryFiles::new(), |files, (path, text)| {
        files.file("base", path, text)
    });
    Engine::new(files)
}

/// The changes on two minions, as far as they are looked for.
fn changes_of([old, new]: [&Engine; 2], changed: Option<ChangedFiles>) -> Vec<String> {
    let fleet = |engine| {
        let wanted = WantedStates::Top(Vec::new());
        Fleet::new(engine).with_states(StatePlans::new(engine, TopOptions::default(), wanted))
    };
    let (before, after) = (fleet(old), fleet(new));
    let comparison = Comparison::new(&before, &after);
    let comparison = match changed {
        Some(changed) => comparison.reached_by(changed),
        None => comparison,
    };
    let mut differences = Differences::default();
    for id in ["a", "b"] {
        let minion = Minion::new(id).complete();
        let compared = comparison.compare(&minion);
        differences.add(&comparison, id, compared, || minion.clone());
    }
    let groups = differences.states.groups().iter();
    let groups =
        groups.map(|group| format!("{:?} {:?} {:?}", group.change, group.places, group.minions));
    let failing = differences
        .failing()
        .map(|(turn, one)| format!("{turn:?} {}", one.error));
    groups.chain(failing).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn what_no_change_reaches_is_what_computing_everything_gives(
        edits in prop::collection::vec(0..EDITS.len(), 0..4),
        gone in prop::option::of(0..TREE.len()),
    ) {
        let old: Tree = TREE.to_vec();
        let mut new: Tree = TREE.to_vec();
        if let Some(gone) = gone {
            new.remove(gone);
        }
        for edit in edits {
            let (path, text) = EDITS[edit];
            new.retain(|(known, _)| *known != path);
            new.push((path, text));
        }
        let engines = [served(&old), served(&new)];
        let changed = ChangedFiles::between(engines[0].files(), engines[1].files()).unwrap();
        let [old, new] = &engines;
        prop_assert_eq!(changes_of([old, new], Some(changed)), changes_of([old, new], None));
    }
}

proptest! {
    #[test]
    fn nothing_changes_in_the_same_plan(plan in plan()) {
        prop_assert!(compare(&plan, &plan).is_empty());
    }

    #[test]
    fn each_state_that_differs_is_in_one_change(before in plan(), after in plan()) {
        let found = compare(&before, &after);
        let mut sides = [HashMap::new(), HashMap::new()];
        for change in &found.states {
            for (side, name) in sides.iter_mut().zip([&change.old, &change.new]) {
                if let Some(name) = name {
                    *side.entry(name.clone()).or_insert(0) += 1;
                }
            }
        }
        let (old, new) = (by_name(&before), by_name(&after));
        for (side, (own, other)) in sides.iter().zip([(&old, &new), (&new, &old)]) {
            for (name, state) in own {
                let is_same = other.get(name).is_some_and(|other| other.arguments == state.arguments);
                let times = side.get(*name).copied().unwrap_or(0);
                prop_assert_eq!(times, usize::from(!is_same), "{:?}", name);
            }
        }
        for change in &found.states {
            if let (Some(from), Some(to)) = (&change.old, &change.new) {
                let (from, to) = (old[from], new[to]);
                let says = |part: &str| change.arguments.iter().any(|one| one.path == [Key::from(part)]);
                prop_assert_eq!(says("port"), from.arguments != to.arguments);
                prop_assert_eq!(says("name"), from.name.name != to.name.name);
                prop_assert_eq!(says("function"), from.name.function != to.name.function);
                prop_assert_eq!(says("ID"), from.name.id != to.name.id);
                prop_assert_eq!(says("sls"), from.name.sls != to.name.sls);
            }
        }
    }

    #[test]
    fn without_the_moved_states_the_order_is_what_it_was(plan in plan(), order in any::<u64>()) {
        let mut states = plan.states.clone();
        let count = states.len().max(1);
        let mut rest = order;
        for at in (1..states.len()).rev() {
            let other = usize::try_from(rest % (at as u64 + 1)).unwrap();
            rest = rest / count as u64 + rest % 1_000_003 * 7;
            states.swap(at, other);
        }
        let shuffled: MinionPlan = states.iter().map(|state| (**state).clone()).collect();
        let found = compare(&plan, &shuffled);
        prop_assert!(found.states.is_empty());
        let stay = |plan: &MinionPlan| -> Vec<StateName> {
            let names = plan.states.iter().map(|state| state.name.clone());
            names.filter(|name| !found.order.iter().any(|moved| moved.state == *name)).collect()
        };
        prop_assert_eq!(stay(&plan), stay(&shuffled));
        let at = |plan: &MinionPlan, name: &StateName| {
            plan.states.iter().position(|state| state.name == *name).unwrap()
        };
        for moved in &found.order {
            let (was, is) = (&plan, &shuffled);
            let is_before = at(is, &moved.state) < at(is, &moved.other);
            prop_assert_eq!(is_before, moved.is_before);
            prop_assert_ne!(is_before, at(was, &moved.state) < at(was, &moved.other));
        }
    }
}
