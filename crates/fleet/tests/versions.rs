//! The same files as two versions of Salt read them.

use mapstack::Engine;
use mapstack::loader::MemoryFiles;
use mapstack::minion::{Minion, SaltVersion};
use mapstack_fleet::states::{StatePlans, WantedStates};
use mapstack_fleet::{ChangedFiles, Comparison, Departed, DepartedPart, Differences, Fleet};
use mapstack_states::{Home, TopOptions};

/// Files that the versions of Salt read differently, and states that only one of them has.
const TREE: [(&str, &str); 4] = [
    ("top.sls", "base: {'*': [web]}\n"),
    (
        "web.sls",
        "#jinja2: {\"line_statement_prefix\": \"%%\"}
/etc/motd:
  file.managed:
    - contents: |
        %% if true
        text
        %% endif
grants:
  mysql_grants.present:
    - database: x.*
own:
  zpool.present: []
",
    ),
    ("_states/zpool.py", "def present(name):\n    return {}\n"),
    (
        "pools.jinja",
        "{{ salt['zpool.list']() }}{{ salt['pkg.version']('a') }}{{ salt['nginx.version']() }}",
    ),
];

fn engine(version: SaltVersion) -> Engine {
    let files = TREE.iter().fold(MemoryFiles::new(), |files, (path, text)| {
        files.file("base", path, text)
    });
    Engine::new(files).with_salt_version(version)
}

fn differences(versions: [SaltVersion; 2]) -> Differences {
    let [old, new] = versions.map(engine);
    let fleet = |engine| {
        let wanted = WantedStates::Top(Vec::new());
        let plans = StatePlans::new(engine, TopOptions::default(), wanted);
        Fleet::new(engine).with_states(plans)
    };
    let (before, after) = (fleet(&old), fleet(&new));
    let changed = ChangedFiles::between(old.files(), new.files()).unwrap();
    let comparison = Comparison::new(&before, &after).reached_by(changed);
    let mut differences = Differences::default();
    for id in ["web1", "web2"] {
        let minion = Minion::new(id).complete();
        differences.add(&comparison, id, comparison.compare(&minion), || {
            minion.clone()
        });
    }
    differences
}

#[test]
fn files_that_stay_are_compared_where_the_version_differs() {
    let found = differences([SaltVersion::V3006, SaltVersion::V3008]);
    let [group] = found.states.groups() else {
        panic!("{:?}", found.states.groups());
    };
    let change = group.state().unwrap();
    assert_eq!(*change.new.as_ref().unwrap().id, *"/etc/motd");
    assert_eq!(group.minions, ["web1", "web2"]);
    let same = differences([SaltVersion::V3008, SaltVersion::V3008]);
    assert!(same.is_empty());
}

#[test]
fn states_that_left_the_core_are_named_with_their_package() {
    let found = differences([SaltVersion::V3007, SaltVersion::V3008]);
    let departed: Vec<&Departed> = found.states.departed().collect();
    let [grants] = departed[..] else {
        panic!("{departed:?}")
    };
    assert_eq!(
        grants.part,
        DepartedPart::State("mysql_grants.present".into())
    );
    assert_eq!(grants.home, Home::Extension("saltext-mysql"));
    assert_eq!(grants.places.iter().collect::<Vec<_>>(), ["web.sls:8"]);
    assert_eq!(grants.minions, ["web1", "web2"]);
    let earlier = differences([SaltVersion::V3006, SaltVersion::V3007]);
    assert_eq!(earlier.states.departed().count(), 0);
}

#[test]
fn functions_that_left_the_core_are_found_in_templates() {
    let engine = engine(SaltVersion::V3008);
    let found = Departed::functions(engine.files(), &engine, &[]).unwrap();
    let found: Vec<_> = found.iter().map(|one| (&one.part, one.home)).collect();
    let function = |name: &str| DepartedPart::Function(name.into());
    assert_eq!(
        found,
        [
            (&function("nginx.version"), Home::Gone),
            (&function("zpool.list"), Home::Extension("saltext-zfs")),
        ]
    );
    let none = Departed::functions(engine.files(), &engine, &["web".into()]).unwrap();
    assert_eq!(none, []);
}
