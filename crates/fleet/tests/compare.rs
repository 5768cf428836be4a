//! A comparison that works out only what a change reaches says what one that works out all says.

use mapstack::loader::MemoryFiles;
use mapstack::minion::{Minion, platforms};
use mapstack::share::SharedFormula;
use mapstack::{Condition, Configuration, DataOptions, Engine};
use mapstack_fleet::{Advanced, ChangedFiles, Comparison, Differences, ErrorTurn, Fleet, Report};
use proptest::prelude::*;

/// Paths of files that matter for some minions, and what they can hold.
const PATHS: [&str; 9] = [
    "f/parameters/defaults.yaml",
    "f/parameters/os_family/Debian.yaml",
    "f/parameters/os_family/RedHat.yaml.jinja",
    "f/parameters/os/Ubuntu.yaml",
    "f/parameters/map_jinja.yaml",
    "f/lib.jinja",
    "f/post-map.jinja",
    "g/parameters/defaults.yaml",
    "shared/os/Debian.yaml",
];

/// Paths of a formula that computes its map, and what they can hold.
const MAP_PATHS: [&str; 5] = [
    "m/map.jinja",
    "m/defaults.yaml",
    "m/osfamilymap.yaml",
    "m/init.sls",
    "n/lib.jinja",
];

const MAP_CONTENTS: [&str; 7] = [
    "a: 1\nl: [x]\n",
    "Debian: {a: 2}\nRedHat: {b: 3}\n",
    "{% import_yaml 'm/defaults.yaml' as d ignore missing %}{% import_yaml 'm/osfamilymap.yaml' as o ignore missing %}\
     {% set m = salt['grains.filter_by'](o or {}, merge=salt['pillar.get']('m', {}), default='Debian') %}{% set other = d %}",
    "{% from 'n/lib.jinja' import v with context %}{% set m = {'v': v, 'l': salt['map.data']('n')} %}",
    "{% from 'm/map.jinja' import m with context %}",
    "{% from 'm/map.jinja' import other with context %}",
    "{% set v = grains.os %}",
];

const CONTENTS: [&str; 8] = [
    "values: {a: 1}\n",
    "values: {a: 2, l: [x]}\n",
    "values: {b: {{ grains.os | json }}}\n",
    "values: {l: [y]}\nmerge_lists: true\n",
    "{% from 'f/lib.jinja' import v %}values: {v: {{ v }}}\n",
    "{% set v = 7 %}{% do mapdata.update({'p': 1}) if mapdata is defined %}values: {}\n",
    "values: {sources: ['Y!G@os_family', 'Y!G@os'], parameter_dirs: [f/parameters, shared]}\n",
    "values: {{ nope }}\n",
];

fn files(choice: &[Option<usize>]) -> MemoryFiles {
    served(&PATHS, &CONTENTS, choice)
}

fn served(paths: &[&str], contents: &[&str], choice: &[Option<usize>]) -> MemoryFiles {
    let chosen = paths
        .iter()
        .zip(choice)
        .filter_map(|(path, content)| Some((path, contents[(*content)?])));
    chosen.fold(MemoryFiles::new(), |files, (path, content)| {
        files.file("base", path, content)
    })
}

fn minions() -> Vec<Minion> {
    let names = [
        "debian-12",
        "ubuntu-22.04",
        "ubuntu-24.04",
        "rockylinux-9",
        "freebsd-14",
    ];
    names
        .iter()
        .map(|name| platforms::find(name).unwrap().minion().complete())
        .collect()
}

/// A change's report, as text.
fn reported(old: &[Option<usize>], new: &[Option<usize>], only_reached: bool) -> String {
    let (before, after) = (Engine::new(files(old)), Engine::new(files(new)));
    let fleet = |engine| Fleet::new(engine).formula("f").formula("g");
    compared(
        [&before, &after],
        [fleet(&before), fleet(&after)],
        only_reached,
    )
}

/// The same of a formula that computes its map, and of another one's layers.
fn mapped(old: &[Option<usize>], new: &[Option<usize>], only_reached: bool) -> String {
    let engine = |choice| Engine::new(served(&MAP_PATHS, &MAP_CONTENTS, choice));
    let (before, after) = (engine(old), engine(new));
    let fleets = [&before, &after].map(|engine| {
        Fleet::new(engine)
            .shared_formula(map_of(engine))
            .formula("n")
    });
    compared([&before, &after], fleets, only_reached)
}

fn map_of(engine: &Engine) -> SharedFormula<'_> {
    SharedFormula::of(
        engine,
        Configuration::of(engine, "m", "base", DataOptions::default()).unwrap(),
    )
}

fn compared(
    [before, after]: [&Engine; 2],
    [older, newer]: [Fleet<'_>; 2],
    only_reached: bool,
) -> String {
    let mut comparison = Comparison::new(&older, &newer);
    if only_reached {
        comparison =
            comparison.reached_by(ChangedFiles::between(before.files(), after.files()).unwrap());
    }
    let mut differences = Differences::default();
    for minion in minions() {
        differences.add(
            &comparison,
            &minion.id().to_string(),
            comparison.compare(&minion),
            || minion.clone(),
        );
    }
    text(&differences)
}

fn text(differences: &Differences) -> String {
    let groups = differences.groups().iter().map(|group| {
        let value = |value: &Option<mapstack::value::Value>| {
            value.as_ref().map(mapstack::value::Value::repr)
        };
        format!(
            "{:?} {:?} {:?} {:?} {:?} {:?}",
            group.change.path,
            value(&group.change.old),
            value(&group.change.new),
            group.old_origin,
            group.new_origin,
            group.minions
        )
    });
    let failing = differences
        .failures()
        .map(|(turn, failing)| format!("{turn:?} {} {:?}", failing.error, failing.minions));
    let all: Vec<String> = groups.chain(failing).collect();
    format!(
        "{}\n{} {} {}",
        all.join("\n"),
        differences.minions,
        differences.unaffected,
        differences.fail_still
    )
}

fn choice() -> impl Strategy<Value = Vec<Option<usize>>> {
    proptest::collection::vec(
        proptest::option::weighted(0.7, 0..CONTENTS.len()),
        PATHS.len(),
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn only_what_a_change_reaches_differs(old in choice(), at in 0..PATHS.len(), content in proptest::option::of(0..CONTENTS.len()), more in choice(), many in any::<bool>()) {
        let mut new = if many { more } else { old.clone() };
        new[at] = content;
        prop_assert_eq!(reported(&old, &new, true), reported(&old, &new, false));
    }

    #[test]
    fn only_what_a_change_reaches_differs_in_maps(old in map_choice(), at in 0..MAP_PATHS.len(), content in proptest::option::of(0..MAP_CONTENTS.len()), more in map_choice(), many in any::<bool>()) {
        let mut new = if many { more } else { old.clone() };
        new[at] = content;
        prop_assert_eq!(mapped(&old, &new, true), mapped(&old, &new, false));
    }
}

fn map_choice() -> impl Strategy<Value = Vec<Option<usize>>> {
    // Each path holds what suits it more often than not.
    let suits = |at: usize| match at {
        0 => vec![2, 3],
        1 => vec![0],
        2 => vec![1],
        3 => vec![4, 5],
        _ => vec![6],
    };
    (0..MAP_PATHS.len())
        .map(|at| {
            let one =
                prop_oneof![3 => proptest::sample::select(suits(at)), 1 => 0..MAP_CONTENTS.len()];
            proptest::option::weighted(0.8, one)
        })
        .collect::<Vec<_>>()
}

/// A formula with a `map.jinja`, a state and a file that only its state reads.
fn ntp(map: &str, sls: &str) -> Engine {
    Engine::new(
        MemoryFiles::new()
            .file("base", "m/map.jinja", map)
            .file("base", "m/defaults.yaml", "pkg: ntp")
            .file("base", "m/init.sls", sls),
    )
}

#[test]
fn the_folder_of_git_is_not_the_project() {
    let files = |head: &str| {
        MemoryFiles::new()
            .file("base", ".git/HEAD", head)
            .file("base", "m/map.jinja", MAP)
            .file("base", "m/defaults.yaml", "pkg: ntp")
    };
    let (before, after) = (Engine::new(files("1")), Engine::new(files("2")));
    let changed = ChangedFiles::between(before.files(), after.files()).unwrap();
    assert_eq!(
        (changed.paths().count(), changed.project_paths().count()),
        (1, 0)
    );
    assert!(compared_maps(&before, &after).1.is_empty());
}

/// The comparison of all minions, and which changed files had no part in it.
fn compared_maps(before: &Engine, after: &Engine) -> (Differences, Vec<String>) {
    let (older, newer) = (
        Fleet::new(before).shared_formula(map_of(before)),
        Fleet::new(after).shared_formula(map_of(after)),
    );
    let changed = ChangedFiles::between(before.files(), after.files()).unwrap();
    let comparison = Comparison::new(&older, &newer).reached_by(changed);
    let mut differences = Differences::default();
    for minion in minions() {
        let id = minion.id().to_string();
        differences.add(&comparison, &id, comparison.compare(&minion), || {
            minion.clone()
        });
    }
    (differences, comparison.not_compared().unwrap())
}

const MAP: &str =
    "{% import_yaml 'm/defaults.yaml' as d %}{% set m = d %}{% set other = {'pkg': 'chrony'} %}";
const SLS: &str = "{% from 'm/map.jinja' import m %}";

#[test]
fn changes_of_a_map_are_found_and_what_is_not_looked_at_is_listed() {
    let changed_map = MAP.replace("= d", "= {'pkg': d.pkg, 'service': 'ntpd'}");
    let (found, not_compared) =
        compared_maps(&ntp(MAP, SLS), &ntp(&changed_map, &format!("{SLS} {{}}")));
    let [group] = found.groups() else {
        panic!("{:?}", found.groups())
    };
    assert_eq!(
        (group.change.path[0].to_string(), group.minions.len()),
        ("service".into(), 5)
    );
    assert_eq!(not_compared, ["m/init.sls"]);
    // The state chooses the variable that is the map: a change of it changes the result.
    let (found, not_compared) = compared_maps(
        &ntp(MAP, SLS),
        &ntp(MAP, &SLS.replace("import m", "import other")),
    );
    assert_eq!(found.groups().len(), 1);
    assert_eq!(not_compared, ["m/init.sls"]);
    // Nothing is compared of what fails in both states.
    let broken = "{{ nope.x }}";
    let (found, not_compared) = compared_maps(&ntp(broken, SLS), &ntp(&format!("{broken} "), SLS));
    assert!(found.is_empty() && found.fail_still == 5);
    let still = found.failures();
    let still: Vec<_> = still.map(|(turn, one)| (turn, one.minions.len())).collect();
    assert_eq!(still, [(ErrorTurn::Still, 5)]);
    assert_eq!(not_compared, ["m/map.jinja"]);
}

#[test]
fn failures_and_recoveries_are_distinguished() {
    let (old, new) = (
        MemoryFiles::new().file("base", "f/parameters/os/Debian.yaml", "values: {{ nope }}"),
        MemoryFiles::new().file("base", "f/parameters/os/Ubuntu.yaml", "values: {{ nope }}"),
    );
    let (before, after) = (Engine::new(old), Engine::new(new));
    let (older, newer) = (
        Fleet::new(&before).formula("f"),
        Fleet::new(&after).formula("f"),
    );
    let comparison = Comparison::new(&older, &newer);
    let mut differences = Differences::default();
    for minion in minions() {
        differences.add(
            &comparison,
            &minion.id().to_string(),
            comparison.compare(&minion),
            || minion.clone(),
        );
    }
    let turns: Vec<_> = differences
        .failing()
        .map(|(turn, failing)| (turn, failing.minions.join(" ")))
        .collect();
    assert_eq!(
        turns,
        [
            (ErrorTurn::Fixed, "debian-12".to_string()),
            (ErrorTurn::Broken, "ubuntu-22.04 ubuntu-24.04".to_string())
        ]
    );
    assert_eq!((differences.minions, differences.unaffected), (5, 2));
}

#[test]
fn minions_that_are_left_out_are_not_counted() {
    let engine = Engine::new(files(&[Some(0); 9]));
    let only = || Condition::parse("grains.os == 'Debian'").unwrap();
    let (older, newer) = (
        Fleet::new(&engine).formula("f").only(only()),
        Fleet::new(&engine).formula("f").only(only()),
    );
    let comparison = Comparison::new(&older, &newer);
    let mut differences = Differences::default();
    for minion in minions() {
        differences.add(
            &comparison,
            &minion.id().to_string(),
            comparison.compare(&minion),
            || minion.clone(),
        );
    }
    assert_eq!(
        (
            differences.minions,
            differences.unaffected,
            differences.is_empty()
        ),
        (1, 1, true)
    );
}

#[test]
#[expect(
    clippy::too_many_lines,
    reason = "two states, and one comparison of them by three ways"
)]
fn a_change_of_a_printed_name_is_reported_as_without_sharing() {
    let state = |name: &str, shell: &str| {
        let files = MemoryFiles::new()
            .file(
                "base",
                "f/parameters/defaults.yaml",
                format!("values: {{{name}: {{{{ grains.id }}}}, shell: sh}}\n"),
            )
            .file(
                "base",
                "f/parameters/os/A.yaml",
                format!("values: {{shell: {shell}}}\n"),
            )
            .file("base", "f/parameters/os/B.yaml", "values: {shell: zsh}\n");
        Engine::new(files)
    };
    let minion = |n: usize| {
        let text = format!(
            "{{id: web{n}.example.org, grains: {{os: {}}}}}",
            ["A", "B", "C"][n % 3]
        );
        Minion::parse(text.as_bytes(), "minion").unwrap().complete()
    };
    let states = [
        ("name", "bash"),
        ("name", "fish"),
        ("host", "fish"),
        ("host", "{{ nope }}"),
    ];
    for pair in states.windows(2) {
        let (before, after) = (state(pair[0].0, pair[0].1), state(pair[1].0, pair[1].1));
        let all = |memory: Option<usize>| {
            let fleet = |engine| {
                let formula = SharedFormula::new(engine, "f", DataOptions::default());
                Fleet::new(engine).shared_formula(match memory {
                    Some(bytes) => formula.with_memory(bytes),
                    None => formula,
                })
            };
            let (older, newer) = (fleet(&before), fleet(&after));
            let changed = ChangedFiles::between(before.files(), after.files()).unwrap();
            let comparison = Comparison::new(&older, &newer).reached_by(changed);
            let (mut differences, mut step_by_step) =
                (Differences::default(), Differences::default());
            for minion in (0..300).map(minion) {
                let id = minion.id().to_string();
                let Report { outcomes, .. } = older.report(&minion).unwrap();
                let compared = comparison.compare(&minion);
                // With the outcomes before the change known, the result is the same.
                match comparison
                    .advance(&outcomes.unwrap().into(), || Ok(minion.clone()))
                    .unwrap()
                {
                    Advanced::Reached(advanced, now) => {
                        let plain = newer.report(&minion).unwrap().outcomes.unwrap();
                        assert_eq!(
                            format!("{:?}", now.outcomes[0].result),
                            format!("{:?}", plain[0].result)
                        );
                        step_by_step.add(&comparison, &id, advanced, || minion.clone());
                    }
                    Advanced::Unreached { fails, states } => {
                        let read = || minion.clone();
                        step_by_step.add_unreached(&comparison, &id, fails, &states, read);
                    }
                }
                differences.add(&comparison, &id, compared, || minion.clone());
            }
            assert_eq!(text(&step_by_step), text(&differences));
            text(&differences)
        };
        assert_eq!(all(None), all(Some(0)), "{pair:?}");
    }
}
