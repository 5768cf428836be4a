//! High data and the low data that real Salt makes of it: `cargo xtask reference` records it again.

use mapstack::value::{Map, Value, json};
use mapstack_pyobject::{Budget, DictRef, Limits, Obj, repr};
use mapstack_states::compile::{CompileOptions, Compiler, Failed, Refusal, RefusalKind};
use mapstack_yaml::load_rendered;

/// The state modules that watch, as in the records.
const WATCHES: [&str; 3] = ["service", "cmd", "test"];

fn texts(record: &Map, name: &str) -> Vec<String> {
    let values = record.get(name).and_then(Value::as_list);
    values
        .unwrap_or_default()
        .iter()
        .map(ToString::to_string)
        .collect()
}

fn text(record: &Map, name: &str) -> String {
    record
        .get(name)
        .map(ToString::to_string)
        .unwrap_or_default()
}

fn compiled(record: &Map) -> Result<Vec<DictRef>, Failed> {
    let high = load_rendered(&text(record, "high"), &Default::default()).unwrap();
    let high = Obj::from_shared(&high.value);
    let budget = Budget::new(Limits::default(), None);
    let options = CompileOptions {
        disabled_requisites: texts(record, "disabled_requisites"),
        disabled_states: texts(record, "state_runs_disabled"),
        watches: &|module| WATCHES.contains(&module),
    };
    let compiler = Compiler::new(options, &budget);
    match &*text(record, "form") {
        "low" => compiler.low(&high),
        "lowstate" => compiler.shown_lowstate(&high),
        _ => compiler.shown_low_sls(&high),
    }
}

/// Words of Salt's messages, by which they are told apart.
const WORDS: [(&str, RefusalKind); 17] = [
    ("Cannot extend ID", RefusalKind::ExtendOfNothing),
    ("is not formed as a string", RefusalKind::IdNotText),
    (
        "is not formatted as a dictionary",
        RefusalKind::StateNotMapping,
    ),
    ("trailing colon", RefusalKind::TrailingColon),
    ("is not formed as a list", RefusalKind::ArgumentsNotList),
    ("The function ", RefusalKind::FunctionWithSpace),
    ("The 'names' argument", RefusalKind::NamesNotList),
    (
        "needs to be formed as a list",
        RefusalKind::RequisiteNotList,
    ),
    ("single key dictionary", RefusalKind::RequisiteNotSingle),
    ("did you mean", RefusalKind::RequisiteWithDot),
    ("Illegal requisite", RefusalKind::RequisiteUnhashable),
    ("Multiple dictionaries", RefusalKind::SeveralArguments),
    ("No function declared", RefusalKind::NoFunction),
    ("Too many functions", RefusalKind::SeveralFunctions),
    ("must have a string", RefusalKind::RequisiteNotText),
    (
        "Referenced state does not exist",
        RefusalKind::MissingRequisite,
    ),
    ("Recursive requisites", RefusalKind::Cycle),
];

/// True if a refusal says what a message of Salt does.
fn says(refusal: &Refusal, message: &str) -> bool {
    let kind = WORDS.iter().find(|(words, _)| message.contains(words));
    let names: Vec<&str> = match refusal.kind {
        // It names the arguments, and not the ID.
        RefusalKind::MissingRequisite | RefusalKind::RequisiteNotText => quoted(&refusal.message),
        RefusalKind::RequisiteUnhashable | RefusalKind::RequisiteWithDot => {
            refusal.sls.as_deref().into_iter().collect()
        }
        _ => [&refusal.id, &refusal.sls]
            .into_iter()
            .flatten()
            .map(String::as_str)
            .collect(),
    };
    kind.is_some_and(|(_, kind)| *kind == refusal.kind)
        && names.into_iter().all(|name| message.contains(name))
        && (refusal.kind != RefusalKind::Cycle || has_cycle(&refusal.message, message))
}

/// The parts of a text in quotes.
fn quoted(text: &str) -> Vec<&str> {
    text.split('\'').skip(1).step_by(2).collect()
}

/// True if both name the same states and requisites one after the other.
fn has_cycle(ours: &str, theirs: &str) -> bool {
    let edges = ours.split_once(": ").unwrap_or_default().1.split("), ");
    let ours = edges.flat_map(|edge| {
        let (behind, before) = edge.split_once(") has '").unwrap_or_default();
        let kind = before.split('\'').next().unwrap_or_default();
        [
            quoted(behind)[0],
            kind,
            before.split('\'').nth(2).unwrap_or_default(),
        ]
    });
    let theirs = theirs.split("({").skip(1).flat_map(|edge| {
        let ids = edge.split("'ID': ").skip(1).map(|rest| {
            rest.split([',', '}'])
                .next()
                .unwrap_or_default()
                .trim_matches('\'')
        });
        let ids: Vec<&str> = ids.collect();
        let kind = edge
            .split("}, '")
            .nth(1)
            .unwrap_or_default()
            .split('\'')
            .next()
            .unwrap_or_default();
        [
            *ids.first().unwrap_or(&""),
            kind,
            *ids.get(1).unwrap_or(&""),
        ]
    });
    ours.eq(theirs)
}

fn difference(record: &Map) -> Option<String> {
    let ours = compiled(record);
    let is_same = match &ours {
        Ok(chunks) => {
            let chunks = chunks.iter().cloned().map(Obj::Dict);
            let chunks: Vec<String> = chunks.map(|chunk| repr(&chunk).unwrap()).collect();
            record.contains_key("result") && chunks == texts(record, "result")
        }
        Err(Failed::Limit(_)) => false,
        Err(Failed::Refused(refusals)) => {
            let ends = refusals
                .iter()
                .any(|one| one.kind == RefusalKind::Exception);
            let errors = texts(record, "errors");
            let pairs = refusals.iter().zip(&errors);
            match record.contains_key("error") {
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
            Ok(chunks) => format!(
                "{chunks:#?}",
                chunks = chunks.into_iter().map(Obj::Dict).collect::<Vec<_>>()
            ),
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

#[test]
fn recorded_high_data_gives_the_low_data_of_salt() {
    let recorded = json::loads(include_str!("data/high_data.json")).unwrap();
    let records = recorded.as_list().unwrap().iter();
    let different: Vec<String> = records
        .filter_map(|one| difference(one.as_map().unwrap()))
        .collect();
    assert!(different.is_empty(), "{}", different.join("\n\n"));
}

fn low(text: &str) -> Result<Vec<DictRef>, Failed> {
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
    assert!(matches!(low(&doubled), Err(Failed::Limit(_))));
    let endless = "a: {pkg: &l [installed, []], __sls__: s, __env__: base}\n\
                   __extend__: [{a: {pkg: *l, __sls__: s, __env__: base}}]\n";
    let Err(Failed::Refused(refusals)) = low(endless) else {
        panic!("Salt does not end");
    };
    assert!(refusals[0].message.contains("without end"), "{refusals:?}");
}
