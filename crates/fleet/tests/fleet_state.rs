//! The data of minions while files change.

use mapstack::loader::MemoryFiles;
use mapstack::minion::Minion;
use mapstack::value::Value;
use mapstack::{Engine, Error, ErrorKind};
use mapstack_fleet::{ChangedFiles, Comparison, Differences, Fleet, FleetState, Minions, Pace};

struct Named;

impl Minions for Named {
    fn read(&self, id: &str) -> Result<Minion, Error> {
        match id {
            "broken" => Err(Error::new(ErrorKind::Facts, "no facts")),
            id => Ok(Minion::new(id).complete()),
        }
    }
}

fn engine(port: u16) -> Engine {
    let defaults = "values: {port: 22}\n";
    let own = format!("values: {{port: {port}}}\n");
    Engine::new(
        MemoryFiles::new()
            .file("base", "ssh/parameters/defaults.yaml", defaults)
            .file("base", "ssh/parameters/id/web1.yaml", &own),
    )
}

#[test]
fn each_change_is_compared_with_what_minions_have() {
    let ids = ["broken", "web1", "web2"].map(str::to_owned);
    let engines = [engine(22), engine(80), engine(80), engine(443)];
    let fleets = engines
        .each_ref()
        .map(|engine| Fleet::new(engine).formula("ssh"));
    let mut fleet_state = FleetState::of(&fleets[0], &Named, &ids, Pace::default());
    assert_eq!(fleet_state.broken().count(), 1);
    let mut found = Vec::new();
    for (at, pair) in fleets.windows(2).enumerate() {
        let changed = ChangedFiles::between(engines[at].files(), engines[at + 1].files()).unwrap();
        let comparison = Comparison::new(&pair[0], &pair[1]).reached_by(changed);
        let differences = fleet_state.advance(&comparison, &[], &Named, (&ids, Pace::default()));
        let groups = differences.groups().iter();
        let new = groups.map(|group| group.change.new.as_ref().unwrap().repr());
        found.push((new.collect::<Vec<_>>().join(" "), differences.unaffected));
    }
    let expected = [("80", 1), ("", 2), ("443", 1)];
    assert_eq!(found, expected.map(|(new, same)| (new.to_owned(), same)));
}

/// The values after changes, and the failures that began or ceased.
fn said(differences: &Differences) -> Vec<String> {
    let groups = differences.groups().iter().map(|group| {
        let value = |value: &Option<Value>| value.as_ref().map_or("".into(), Value::repr);
        let origin = group.old_origin.as_ref().map(ToString::to_string);
        let (old, new) = (value(&group.change.old), value(&group.change.new));
        format!("{old} at {} is {new}", origin.unwrap_or_default())
    });
    let failing = differences.failing();
    let failing = failing.map(|(turn, failing)| format!("{turn:?} on {}", failing.minions.len()));
    groups.chain(failing).collect()
}

#[test]
fn what_works_again_is_compared_with_the_last_that_worked() {
    let engine = |ssh: &str, ntp: &str| {
        Engine::new(
            MemoryFiles::new()
                .file("base", "ssh/parameters/defaults.yaml", ssh)
                .file("base", "ntp/parameters/defaults.yaml", ntp),
        )
    };
    let works = |value: u16| format!("values: {{value: {value}}}\n");
    let half = "values: {value: ";
    let states = [
        (works(1), works(10)),
        (half.to_owned(), works(10)),
        // Each failing minion has a separate last state.
        (half.to_owned(), works(11)),
        (half.to_owned(), half.to_owned()),
        ("# a comment\n".to_owned() + &works(1), half.to_owned()),
        (works(2), works(12)),
    ];
    let expected: [&[&str]; 5] = [
        &["Broken on 2"],
        &["10 at ntp/parameters/defaults.yaml:1:17 is 11"],
        &["Broken on 2"],
        &["Fixed on 2"],
        &[
            "1 at ssh/parameters/defaults.yaml:2:17 is 2",
            "11 at ntp/parameters/defaults.yaml:1:17 is 12",
            "Fixed on 2",
        ],
    ];
    let engines: Vec<Engine> = states.iter().map(|(ssh, ntp)| engine(ssh, ntp)).collect();
    let fleet = |engine| Fleet::new(engine).formula("ssh").formula("ntp");
    let fleets: Vec<Fleet<'_>> = engines.iter().map(fleet).collect();
    let ids = ["web1", "web2"].map(str::to_owned);
    let mut fleet_state = FleetState::of(&fleets[0], &Named, &ids, Pace::default());
    for (at, expected) in expected.into_iter().enumerate() {
        assert_eq!(fleet_state.state(), at);
        let changed = ChangedFiles::between(engines[at].files(), engines[at + 1].files()).unwrap();
        let comparison = Comparison::new(&fleets[at], &fleets[at + 1]).reached_by(changed);
        let past = fleet_state.past().into_iter();
        let past = past.map(|past| Comparison::new(&fleets[past], &fleets[at + 1]).since(past));
        let past: Vec<_> = past.collect();
        let work = (&ids[..], Pace::threads(2));
        let differences = fleet_state.advance(&comparison.since(at), &past, &Named, work);
        assert_eq!(said(&differences), expected, "{at}");
    }
    assert!(fleet_state.past().is_empty());
}
