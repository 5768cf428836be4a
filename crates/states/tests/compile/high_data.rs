//! High data and the low data that real Salt makes of it.

use mapstack::value::{Map, Value, json};
use mapstack_pyobject::{Budget, Limits, Obj, repr};
use mapstack_states::compile::{
    CompileOptions, Compiler, LowDataError, LowState, Refusal, RefusalKind,
};
use mapstack_yaml::load_rendered;

use super::words::{WATCHES, more, says, text, texts, version};

fn compiled(record: &Map) -> Result<Vec<LowState>, LowDataError> {
    let high = load_rendered(&text(record, "high"), &Default::default()).unwrap();
    let high = Obj::from_shared(&high.value);
    let budget = Budget::new(Limits::default(), None);
    let options = CompileOptions {
        disabled_requisites: texts(record, "disabled_requisites"),
        disabled_states: texts(record, "state_runs_disabled"),
        watches: &|module| WATCHES.contains(&module),
        version: version(record),
        ..CompileOptions::default()
    };
    let compiler = Compiler::new(options, &budget);
    match &*text(record, "form") {
        "low" => compiler.low(&high),
        "lowstate" => compiler.shown_lowstate(&high),
        _ => compiler.shown_low_sls(&high),
    }
}

/// The tags of states in the order in which they run, each with true for a test.
fn steps(states: &[LowState]) -> Value {
    let step = |state: &LowState| {
        let parts = ["state", "__id__", "name", "fun"];
        let parts = parts.map(|part| state.chunk.get_str(part).unwrap_or_default());
        let parts = parts.map(|part| mapstack_pyobject::to_str(&part).unwrap());
        Value::from_iter([Value::from(parts.join("_|-")), Value::from(state.is_test)])
    };
    states.iter().map(step).collect()
}

/// True if refusals are of the kinds of what Salt finds when it runs the states.
fn finds(refusals: &[Refusal], faults: &[String]) -> bool {
    let has = |kind| refusals.iter().any(|one| one.kind == kind);
    let says = |words: &str| faults.iter().any(|fault| fault.contains(words));
    has(RefusalKind::MissingRequisite) == says("not found")
        && (has(RefusalKind::MissingRequisite) || has(RefusalKind::Cycle))
}

fn difference(record: &Map) -> Option<String> {
    let ours = compiled(record);
    let is_same = match &ours {
        Ok(states) => {
            let chunks = states.iter().map(|state| Obj::Dict(state.chunk.clone()));
            let chunks: Vec<String> = chunks.map(|chunk| repr(&chunk).unwrap()).collect();
            match record.get("ran") {
                Some(order) => *order == steps(states),
                None => record.contains_key("result") && chunks == texts(record, "result"),
            }
        }
        Err(LowDataError::Limit(_)) => false,
        Err(LowDataError::Refused(refusals)) => {
            let ends = refusals
                .iter()
                .any(|one| one.kind == RefusalKind::Exception);
            let errors = texts(record, "errors");
            let pairs = refusals.iter().zip(&errors);
            match record.contains_key("error") {
                // Older versions find them when they run the states.
                _ if record.contains_key("faults") => finds(refusals, &texts(record, "faults")),
                true => ends,
                false => {
                    refusals.len() == errors.len()
                        && pairs.into_iter().all(|(ours, theirs)| says(ours, theirs))
                }
            }
        }
    };
    (!is_same).then(|| {
        let theirs = ["result", "errors", "error", "message"];
        let theirs: Vec<String> = theirs
            .iter()
            .filter_map(|name| record.get(*name))
            .map(Value::repr)
            .collect();
        let ours = match ours {
            Ok(states) => format!("{states:#?}"),
            Err(failed) => format!("{failed:?}"),
        };
        format!(
            "{} {}\n  salt: {}\n  ours: {ours}",
            text(record, "high"),
            text(record, "form"),
            theirs.join(" ")
        )
    })
}

/// The differences of records, in words.
pub fn different<'r>(records: impl Iterator<Item = &'r Value>) -> Vec<String> {
    let records = records.map(|one| one.as_map().unwrap());
    records.filter_map(difference).collect()
}

#[test]
fn recorded_high_data_gives_the_low_data_of_salt() {
    let recorded = json::loads(include_str!("../data/high_data.json")).unwrap();
    let more = more("MAPSTACK_HIGH_DATA");
    let different = different(recorded.as_list().unwrap().iter().chain(&more));
    assert!(different.is_empty(), "{}", different.join("\n\n"));
}

fn low(text: &str) -> Result<Vec<LowState>, LowDataError> {
    compiled(&Map::from_iter([("high", text), ("form", "low")]))
}

#[test]
fn shared_lists_grow_within_limits() {
    let items = "{require: *l}, ".repeat(60);
    let doubled = format!(
        "a: {{file: [managed, {{require: &l [{{pkg: b}}]}}], __sls__: s, __env__: base}}\n\
         b: {{pkg: [installed], __sls__: s, __env__: base}}\n\
         __extend__: [{{a: {{file: [{items}], __sls__: s, __env__: base}}}}]\n"
    );
    assert!(matches!(low(&doubled), Err(LowDataError::Limit(_))));
    let endless = "a: {pkg: &l [installed, []], __sls__: s, __env__: base}\n\
                   __extend__: [{a: {pkg: *l, __sls__: s, __env__: base}}]\n";
    let Err(LowDataError::Refused(refusals)) = low(endless) else {
        panic!("Salt does not end");
    };
    assert!(refusals[0].message.contains("without end"), "{refusals:?}");
}
