//! The forms of what changes and reaches a fleet, over files and minions in memory.

use mapstack::loader::MemoryFiles;
use mapstack::minion::{Minion, Part};
use mapstack::secrets::Secrets;
use mapstack::value::{Value, json};
use mapstack::{ConfigurationMethod, Engine, Error, ErrorKind};
use mapstack_fleet::impact::{AlsoSearched, QuestionSubject};
use mapstack_fleet::{Comparison, Differences, Fleet, Impact, Masking, Minions, Pace};
use mapstack_report::diff;
use mapstack_report::document::Document;
use mapstack_report::explain::check_size;
use mapstack_report::impact::{ExaminedSubjects, ReachedMinions, StatesOf};

/// Minions whose operating system is in their id; `broken` cannot be read.
struct Named;

impl Minions for Named {
    fn read(&self, id: &str) -> Result<Minion, Error> {
        if id == "broken" {
            return Err(Error::new(ErrorKind::Facts, "broken: no facts"));
        }
        let mut minion = Minion::new(id);
        let os = id.split('-').next().unwrap_or_default();
        minion.set("grains.os_family", os).unwrap();
        minion.set("pillar.password", "hunter2").unwrap();
        Ok(minion.complete())
    }
}

const IDS: [&str; 3] = ["Debian-1", "Debian-2", "RedHat-1"];

fn engine(shell: &str) -> Engine {
    let debian = format!("values: {{shell: {shell}, key: '{{{{ pillar.password }}}}'}}\n");
    let files = MemoryFiles::new()
        .file(
            "base",
            "users/parameters/defaults.yaml",
            "values: {shell: /bin/sh, key: none}\n",
        )
        .file("base", "users/parameters/os_family/Debian.yaml", &debian);
    Engine::new(files)
}

fn masking() -> Masking {
    Masking::new(Secrets::without_digests())
}

fn ids(ids: &[&str]) -> Vec<String> {
    ids.iter().map(ToString::to_string).collect()
}

#[test]
fn a_change_is_reported_once_for_all_minions() {
    let (before, after) = (engine("/bin/bash"), engine("/bin/zsh"));
    let (older, newer) = (
        Fleet::new(&before).formula("users"),
        Fleet::new(&after).formula("users"),
    );
    let comparison = Comparison::new(&older, &newer);
    let all = ids(&[&IDS[..], &["broken"]].concat());
    let differences = Differences::of(&comparison, &Named, &all, Pace::threads(2));
    let masking = masking();
    let configurations = vec![("users".into(), ConfigurationMethod::Data)];
    let unread = vec!["users/init.sls".into()];
    let accounting = diff::Accounting::new(configurations, 2, unread, false);
    let report = diff::DiffReport {
        accounting: &accounting,
        from: "before",
        to: "now",
        formulas: &["users".to_owned()],
        differences: &differences,
        masking: &masking,
        each: false,
    };
    let text = "\
1 change on 2 of 4 minions; 1 unaffected; 1 not compared

users: shell
  - /bin/bash  users/parameters/os_family/Debian.yaml:1:17
  + /bin/zsh  users/parameters/os_family/Debian.yaml:1:17
  on 2 minions: Debian-1, Debian-2

compared: parameters of users
changed, and not compared: 1 state file (users/init.sls)
";
    assert_eq!(diff::text(&report).shown(false), text);
    let printed = diff::Rows::from(&report).json().unwrap();
    let rows = json::loads(&printed).unwrap();
    let rows = rows.as_map().unwrap();
    let change = &rows.get("changes").and_then(Value::as_list).unwrap()[0];
    let change = change.as_map().unwrap();
    assert_eq!(change.get("what").and_then(Value::as_str), Some("changed"));
    assert_eq!(change.get("new").and_then(Value::as_str), Some("/bin/zsh"));
    let broken = rows.get("broken").map(Value::repr).unwrap();
    assert_eq!(
        broken,
        "[{'minion': 'broken', 'error': 'broken: no facts'}]"
    );
    let comment = diff::comment(&report);
    assert!(
        comment.contains("```diff\n- /bin/bash\n+ /bin/zsh\n```"),
        "{comment}"
    );
}

#[test]
fn what_a_file_and_a_fact_reach_is_named_without_secrets() {
    let engine = engine("/bin/bash");
    let fleet = Fleet::new(&engine).formula("users");
    let ids = IDS.map(str::to_owned);
    let look = |what: &QuestionSubject| {
        let impact = Impact::of(
            what,
            &fleet,
            AlsoSearched::default(),
            &Named,
            &ids,
            Pace::threads(2),
            &masking(),
        );
        assert!(impact.failed.is_empty());
        impact
    };
    let file = QuestionSubject::File("users/parameters/os_family/Debian.yaml".into());
    let reached = look(&file);
    let text = "\
salt://users/parameters/os_family/Debian.yaml reaches 2 of 3 minions
users: 2 minions: Debian-1, Debian-2
followed: parameters of users
";
    let followed = |what| ExaminedSubjects {
        what,
        configurations: vec![("users".into(), ConfigurationMethod::Data)],
        has_pillars: false,
        states: StatesOf::Nothing,
        is_external: false,
        unfollowed: Vec::new(),
    };
    let of_file = followed(&file);
    assert_eq!(
        ReachedMinions::new("x", &of_file, &reached).text(&of_file),
        text
    );
    let fact = look(&QuestionSubject::Fact(
        Part::Grains,
        vec!["os_family".into()],
    ));
    assert_eq!(fact.formulas[0].minions.len(), 3);

    let path = mapstack::value::Path::split("key", ":").unwrap();
    let value = QuestionSubject::Value("users".into(), path);
    let values = look(&value);
    let printed = ReachedMinions::new("users:key", &followed(&value), &values).json();
    let printed = printed.unwrap();
    assert!(
        !printed.contains("hunter2") && printed.contains("<secret>"),
        "{printed}"
    );
    let Value::Map(rows) = json::loads(&printed).unwrap() else {
        panic!("{printed}")
    };
    let names: Vec<String> = rows.keys().map(ToString::to_string).collect();
    let expected = ["of", "minions", "minions_not_looked_at", "formulas"];
    assert_eq!(names[..4], expected);
}

#[test]
fn data_that_aliases_make_large_is_not_explained() {
    let mut data: Value = [1, 1, 1].into_iter().collect();
    for _ in 0..9 {
        check_size(&data).unwrap();
        data = vec![data; 3].into();
    }
    let error = check_size(&vec![data; 3].into()).unwrap_err().to_string();
    assert!(error.contains("at most 100000 are explained"), "{error}");
}
