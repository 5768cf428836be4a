//! Every recorded look-up of the reference.

use mapstack_minion::{ConfigGet, Minion, Part, PillarGet};
use mapstack_value::{Map, Value, json};

fn field<'a>(record: &'a Map, name: &str) -> Option<&'a Value> {
    record.get(name)
}

fn map(record: &Map, name: &str) -> Map {
    record.get(name).unwrap().as_map().unwrap().clone()
}

fn flag(kwargs: &Map, name: &str) -> bool {
    kwargs.get(name).is_some_and(Value::truthy)
}

/// Look up what a record asks for, with its default where nothing is found.
fn run(minion: &Minion, case: &Map) -> Value {
    let kwargs = map(case, "kwargs");
    let args = field(case, "args").unwrap().as_list().unwrap();
    let key = args[0].clone();
    let default = args.get(1).or_else(|| kwargs.get("default")).cloned();
    let delimiter = kwargs
        .get("delimiter")
        .map_or_else(|| ":".to_owned(), Value::to_string);
    let or_default = |found: Option<Value>| found.or(default.clone()).unwrap_or_else(|| "".into());
    match field(case, "function").unwrap().as_str().unwrap() {
        "grains.get" => or_default(minion.grains_get(key, &delimiter).unwrap()),
        "pillar.get" => {
            let query = PillarGet {
                default,
                merge: flag(&kwargs, "merge"),
                merge_nested_lists: kwargs.get("merge_nested_lists").map(Value::truthy),
                delimiter,
            };
            minion.pillar_get(key, &query).unwrap().value
        }
        "config.get" => {
            let query = ConfigGet {
                delimiter,
                merge: kwargs.get("merge").cloned().unwrap_or_default(),
                omit_opts: flag(&kwargs, "omit_opts"),
                omit_grains: flag(&kwargs, "omit_grains"),
                omit_pillar: flag(&kwargs, "omit_pillar"),
                omit_master: flag(&kwargs, "omit_master"),
            };
            or_default(minion.config_get(key, &query).unwrap().value)
        }
        other => panic!("no such function: {other}"),
    }
}

#[test]
fn every_look_up_finds_what_the_reference_finds() {
    let recorded = json::loads(include_str!("data/config_get.json")).unwrap();
    let recorded = recorded.as_map().unwrap();
    let minion = Minion::new("m1")
        .with(Part::Opts, map(recorded, "opts"))
        .with(Part::Grains, map(recorded, "grains"))
        .with(Part::Pillar, map(recorded, "pillar"))
        .complete();
    let cases = field(recorded, "cases").unwrap().as_list().unwrap();
    assert!(!cases.is_empty());
    let failures: Vec<String> = cases
        .iter()
        .filter_map(|case| {
            let record = case.as_map().unwrap();
            let (ours, theirs) = (
                run(&minion, record).repr(),
                field(record, "result").unwrap().repr(),
            );
            (ours != theirs).then(|| format!("{case:?}\n  ours {ours}"))
        })
        .collect();
    assert!(
        failures.is_empty(),
        "{} differ:\n{}",
        failures.len(),
        failures.join("\n")
    );
}
