//! Every recorded merge of the reference, result or refusal.

use crate::common::{Recorder, from_json};
use mapstack_merge::{Options, merge, merge_observed, stack};
use mapstack_value::Value;

fn records(text: &str) -> Vec<serde_json::Value> {
    serde_json::from_str(text).unwrap()
}

/// The expected outcome: the result's `repr` (which shows types and key order) or the exception.
fn expected(record: &serde_json::Value) -> Result<String, String> {
    match record.get("error") {
        Some(error) => Err(error.as_str().unwrap().to_owned()),
        None => Ok(from_json(&record["result"]).repr()),
    }
}

/// Check all records with a function from (record, base, overlay) to the outcome.
fn check(text: &str, run: impl Fn(&serde_json::Value, Value, &Value) -> Result<String, String>) {
    let records = records(text);
    assert!(!records.is_empty());
    let failures: Vec<String> = records
        .iter()
        .filter_map(|record| {
            let (base, overlay) = (from_json(&record["base"]), from_json(&record["overlay"]));
            let (base_before, overlay_before) = (base.repr(), overlay.repr());
            let outcome = run(record, base.clone(), &overlay);
            // The reference changes its arguments in some of the records (`base_after` and
            // `overlay_after` show it); here neither side ever notices a merge.
            assert_eq!((base.repr(), overlay.repr()), (base_before, overlay_before));
            let expected = expected(record);
            (outcome != expected)
                .then(|| format!("{record}\n  ours {outcome:?}\n  want {expected:?}"))
        })
        .collect();
    assert!(
        failures.is_empty(),
        "{} of {} differ:\n{}",
        failures.len(),
        records.len(),
        failures.join("\n")
    );
}

#[test]
fn every_strategy_gives_what_the_reference_gives() {
    check(
        include_str!("data/merge_table.json"),
        |record, base, overlay| {
            let options = Options::new(
                &from_json(&record["strategy"]),
                &from_json(&record["merge_lists"]),
            );
            let mut recorder = Recorder::default();
            let observed = merge_observed(base.clone(), overlay, &options, &mut recorder);
            let result = merge(base.clone(), overlay, &options);
            if let (Ok(observed), Ok(result)) = (observed, &result) {
                assert_eq!(observed.repr(), result.repr());
                if !matches!(options.strategy, mapstack_merge::Strategy::Aggregate)
                    || base.as_map().is_some()
                {
                    assert_eq!(recorder.replay(&base), *result, "replay of {record}");
                }
            }
            result
                .map(|value| value.repr())
                .map_err(|error| error.reference_class().to_owned())
        },
    );
}

#[test]
fn a_stack_merges_as_pillarstack_merges() {
    check(
        include_str!("data/stack_merge.json"),
        |record, base, overlay| {
            let (Value::Map(base), Value::Map(overlay)) = (base, overlay) else {
                panic!("no mappings: {record}")
            };
            let mut recorder = Recorder::default();
            let observed = stack::merge_observed(base.clone(), overlay, &mut recorder);
            let result = stack::merge(base.clone(), overlay);
            if let (Ok(observed), Ok(result)) = (observed, &result) {
                assert_eq!(
                    Value::from(observed).repr(),
                    Value::from(result.clone()).repr()
                );
                assert_eq!(
                    recorder.replay(&base.into()),
                    Value::from(result.clone()),
                    "replay of {record}"
                );
            }
            result
                .map(|map| Value::from(map).repr())
                .map_err(|error| error.reference_class().to_owned())
        },
    );
}
