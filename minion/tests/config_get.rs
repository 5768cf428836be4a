//! Every recorded look-up of the reference.

use mapstack_minion::{ConfigGet, Minion, PillarGet};
use mapstack_value::{Map, Value, json};

fn recorded() -> Map {
    match json::loads(include_str!("data/config_get.json")).unwrap() {
        Value::Map(map) => map,
        other => panic!("{other:?}"),
    }
}

fn map(value: Option<&Value>) -> Map {
    value.and_then(Value::as_map).cloned().unwrap_or_default()
}

#[test]
fn look_ups_find_what_the_reference_finds() {
    let recorded = recorded();
    let mut minion = Minion::new("m1");
    minion.set_opts(map(recorded.get("opts")));
    minion.set_grains(map(recorded.get("grains")));
    minion.set_pillar(map(recorded.get("pillar")));
    let cases = recorded.get("cases").unwrap().as_list().unwrap();
    assert_eq!(cases.len(), 271);
    for case in cases {
        let case = case.as_map().unwrap();
        let args = case.get("args").unwrap().as_list().unwrap();
        let kwargs = map(case.get("kwargs"));
        let default = args.get(1).or(kwargs.get("default")).cloned();
        let delimiter = kwargs.get("delimiter").and_then(Value::as_str).unwrap_or(":").to_string();
        let flag = |name: &str| kwargs.get(name).is_some_and(Value::truthy);
        let key = &args[0];
        let found = match case.get("function").and_then(Value::as_str).unwrap() {
            "grains.get" => minion.grains_get(key, &delimiter),
            "pillar.get" => minion.pillar_get(
                key,
                &PillarGet {
                    default: default.clone(),
                    merge: flag("merge"),
                    merge_nested_lists: kwargs.get("merge_nested_lists").map(Value::truthy),
                    delimiter,
                },
            ),
            _ => {
                let query = ConfigGet {
                    delimiter,
                    merge: kwargs.get("merge").cloned().unwrap_or_default(),
                    omit_opts: flag("omit_opts"),
                    omit_pillar: flag("omit_pillar"),
                    omit_master: flag("omit_master"),
                    omit_grains: flag("omit_grains"),
                };
                minion.config_get(key, &query).map(|got| got.value)
            }
        };
        match (found, case.get("result"), case.get("result_repr")) {
            (Ok(found), Some(result), _) => {
                let found = found.or(default).unwrap_or_else(|| "".into());
                assert_eq!(&found, result, "{case:?}");
                assert_eq!(found.repr(), result.repr(), "{case:?}");
            }
            (Ok(found), None, Some(repr)) => {
                assert_eq!(found.or(default).unwrap_or_else(|| "".into()).repr(), repr.to_string(), "{case:?}");
            }
            (Err(_), None, None) => assert!(case.contains_key("error"), "{case:?}"),
            (found, ..) => panic!("{case:?}: {found:?}"),
        }
    }
}
