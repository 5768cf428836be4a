//! The data of minions while files change.

use mapstack::loader::MemoryFiles;
use mapstack::minion::Minion;
use mapstack::value::Value;
use mapstack::{Engine, Error, ErrorKind};
use mapstack_fleet::states::{PlannedText, StatePlans, WantedStates};
use mapstack_fleet::{ChangedFiles, Comparison, Differences, Fleet, FleetState, Minions, Pace};
use mapstack_states::TopOptions;

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
        let differences = fleet_state.advance(&comparison, &[], &Named, &ids, Pace::default());
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

/// The differences of each step through states of the files, after which nothing fails.
fn steps(
    engines: &[Engine],
    fleets: &[Fleet<'_>],
    ids: &[String],
    said: fn(&Differences) -> Vec<String>,
) -> Vec<Vec<String>> {
    let mut fleet_state = FleetState::of(&fleets[0], &Named, ids, Pace::default());
    let mut all = Vec::new();
    for at in 0..fleets.len() - 1 {
        assert_eq!(fleet_state.state(), at);
        let changed = ChangedFiles::between(engines[at].files(), engines[at + 1].files()).unwrap();
        let comparison = Comparison::new(&fleets[at], &fleets[at + 1]).reached_by(changed);
        let past = fleet_state.past().into_iter();
        let past = past.map(|past| Comparison::new(&fleets[past], &fleets[at + 1]).since(past));
        let past: Vec<_> = past.collect();
        let pace = Pace::threads(2);
        let differences = fleet_state.advance(&comparison.since(at), &past, &Named, ids, pace);
        all.push(said(&differences));
    }
    assert!(fleet_state.past().is_empty());
    all
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
    let steps = steps(&engines, &fleets, &ids, said);
    assert_eq!(steps, expected);
}

/// The changes of states and the failures, with the place from which each first change comes.
fn said_of_states(differences: &Differences) -> Vec<String> {
    let groups = differences.states.groups().iter().map(|group| {
        let change = group.state().unwrap();
        let argument = change.arguments.first();
        let file = change.files.first();
        let argument = argument.map(|argument| {
            let value = |value: &Option<Value>| value.as_ref().map_or("".into(), Value::repr);
            let [old, new] = &group.causes.as_ref().unwrap().arguments[0];
            let spots = [old, new].map(|of| of.first().map(|cause| cause.spot.to_string()));
            let (old, new) = (value(&argument.old), value(&argument.new));
            format!(
                "{old} {new} {}",
                spots.map(Option::unwrap_or_default).join(" ")
            )
        });
        let file = file.map(|file| match &file.new.as_ref().unwrap().text {
            PlannedText::Bytes(bytes) => String::from_utf8_lossy(bytes).trim().to_owned(),
            other => format!("{other:?}"),
        });
        let all = argument.into_iter().chain(file).collect::<Vec<_>>();
        format!("{} on {}", all.join(", "), group.minions.len())
    });
    let failing = differences.failing();
    let failing = failing.map(|(turn, failing)| format!("{turn:?} on {}", failing.minions.len()));
    let changes: Vec<String> = groups.chain(failing).collect();
    match (&changes[..], differences.states.are_compared()) {
        ([], true) => vec!["same".to_owned()],
        _ => changes,
    }
}

/// Follow some minions through states of an sls and of the file that it manages.
fn followed(minions: u16, wanted: &WantedStates, states: &[(&str, &str)]) -> Vec<Vec<String>> {
    let engine = |(sls, text): &(&str, &str)| {
        let files = MemoryFiles::new()
            .file("base", "top.sls", "base: {'*': [a, b]}")
            .file("base", "a.sls", *sls)
            .file("base", "b.sls", "b: {test.nop: []}")
            .file("base", "unread", *text);
        Engine::new(files.file("base", "x.conf", *text))
    };
    let engines: Vec<Engine> = states.iter().map(engine).collect();
    let fleets = engines.iter().map(|engine| {
        let plans = StatePlans::new(engine, TopOptions::default(), wanted.clone());
        Fleet::new(engine).with_states(plans)
    });
    let fleets: Vec<Fleet<'_>> = fleets.collect();
    let ids: Vec<String> = (0..minions).map(|n| format!("web{n}")).collect();
    steps(&engines, &fleets, &ids, said_of_states)
}

#[test]
fn states_and_their_files_are_followed_and_a_half_written_sls_hides_nothing() {
    let managed = "/x:\n  file.managed:\n    - source: salt://x.conf\n    - template: jinja\n";
    let moded = |mode: u16| format!("{managed}    - check_cmd: c{mode}\n");
    let (first, second) = (moded(1), moded(2));
    let states = [
        (&*first, "old {{ grains.id }}"),
        (&*second, "old {{ grains.id }}"),
        (&*second, "new"),
        ("{% if", "new"),
        ("{% if", "newer"),
        (&*first, "newer"),
        (&*first, "newer"),
    ];
    let expected: [&[&str]; 6] = [
        &["'c1' 'c2' a.sls:5:18 a.sls:5:18 on 2"],
        &["new on 1", "new on 1"],
        &["Broken on 2"],
        // The other sls is the same.
        &["same"],
        &["'c2' 'c1' a.sls:5:18 a.sls:5:18, newer on 2", "Fixed on 2"],
        &["same"],
    ];
    assert_eq!(
        followed(2, &WantedStates::Top(Vec::new()), &states),
        expected
    );
    let names = ["a", "b"].map(|name| ("base".to_owned(), name.to_owned()));
    assert_eq!(
        followed(2, &WantedStates::Sls(names.to_vec()), &states),
        expected
    );
}

#[test]
fn of_many_minions_with_plans_of_their_own_nothing_is_hidden_either() {
    let moded = |mode: u16| {
        format!(
            "/x:\n  file.managed:\n    - source: salt://x.conf\n    - template: jinja\n    - check_cmd: c{mode}\n"
        )
    };
    let (first, second) = (moded(1), moded(2));
    let text = "{{ grains.id }}";
    let states = [
        (&*first, text),
        ("{% if", text),
        (&*second, text),
        (&*first, text),
    ];
    let expected: [&[&str]; 3] = [
        &["Broken on 140"],
        &["'c1' 'c2' a.sls:5:18 a.sls:5:18 on 140", "Fixed on 140"],
        &["'c2' 'c1' a.sls:5:18 a.sls:5:18 on 140"],
    ];
    assert_eq!(
        followed(140, &WantedStates::Top(Vec::new()), &states),
        expected
    );
}
