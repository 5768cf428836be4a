//! Trees of sls, and the high and low data that real Salt makes of them.

use mapstack::Engine;
use mapstack::loader::MemoryFiles;
use mapstack::minion::{Minion, Part};
use mapstack::value::{Map, Value, json};
use mapstack_pyobject::{Budget, Limits, Obj};
use mapstack_states::compile::{Compiler, LowDataError, LowState, Refusal, RefusalKind};
use mapstack_states::{Gatherer, RequestedStates, Top, TopOptions};

use super::words::{WATCHES, more, says, text, texts, version};

/// The high or low data as JSON, or the refusals, of which there are none where the top files are not of the form that
/// Salt takes.
fn ours(record: &Map) -> Result<String, Vec<Refusal>> {
    let mut files = MemoryFiles::new();
    for (env, own) in record.get("envs").and_then(Value::as_map).unwrap() {
        for (path, content) in own.as_map().unwrap() {
            files = files.file(&env.to_string(), &path.to_string(), content.to_string());
        }
    }
    let engine = Engine::new(files).with_salt_version(version(record));
    let opts = record.get("opts").and_then(Value::as_map).cloned();
    let opts = opts.unwrap_or_default();
    let mut options = opts.clone();
    options.insert(
        "file_roots",
        record.get("envs").cloned().unwrap_or_default(),
    );
    let gatherer = Gatherer::new(&engine, TopOptions::of(&options));
    let grains = Map::from_iter([("os", "Debian")]);
    let minion = Minion::new("m").with(Part::Grains, grains);
    let pillar = record.get("pillar").and_then(Value::as_map).cloned();
    let minion = minion.with(Part::Pillar, pillar.unwrap_or_default());
    let minion = minion.with(Part::Opts, opts).complete();
    let names = texts(record, "sls");
    let saltenv = record
        .get("saltenv")
        .map_or("base".into(), ToString::to_string);
    let form = text(record, "form");
    let wanted = match &*form {
        "sls" | "low_sls" => RequestedStates::Sls {
            saltenv: &saltenv,
            names: &names,
        },
        _ => RequestedStates::Highstate,
    };
    let made = gatherer.high(&minion, wanted);
    let top = match &made.top {
        Some(Err(_)) => return Err(Vec::new()),
        Some(Ok(top)) => top_data(top),
        None => Value::None,
    };
    let budget = Budget::new(Limits::default(), None);
    let options = made.compile_options(&minion, &|module| WATCHES.contains(&module));
    let compiler = Compiler::new(options, &budget).after(made.refusals.clone());
    let high = Obj::from_shared(&made.data);
    let low = match &*form {
        "top" => Ok(top),
        "highstate" if made.refusals.is_empty() => Ok(made.data),
        "highstate" => return Err(made.refusals),
        "sls" => compiler.verify(&high).map(|()| made.data),
        "low_sls" => compiler.shown_low_sls(&high).map(chunks),
        _ => compiler.shown_lowstate(&high).map(chunks),
    };
    match low {
        Ok(value) => Ok(json::dumps(&value, &json::DumpOptions::default()).unwrap()),
        Err(LowDataError::Refused(refusals)) => Err(refusals),
        Err(failed) => panic!("{failed:?}"),
    }
}

/// The result of `state.show_top`.
fn top_data(top: &Top) -> Value {
    let envs = top.entries.iter().map(|(env, entries)| {
        let names: Value = entries.iter().map(|entry| entry.sls.as_str()).collect();
        (env.as_str(), names)
    });
    Value::from(envs.collect::<Map>())
}

fn chunks(low: Vec<LowState>) -> Value {
    low.into_iter()
        .map(|state| Obj::Dict(state.chunk).to_value().unwrap())
        .collect()
}

fn difference(record: &Map) -> Option<String> {
    let ours = ours(record);
    let is_same = match &ours {
        Ok(data) => text(record, "result") == *data,
        // `state.show_lowstate` does not look at their form, and goes on.
        Err(refusals) if refusals.is_empty() => {
            text(record, "form") == "lowstate"
                || ["error", "errors"]
                    .iter()
                    .any(|name| record.contains_key(*name))
        }
        Err(refusals) => {
            let errors: Vec<String> = texts(record, "errors")
                .into_iter()
                .filter(|text| is_own(text))
                .collect();
            let pairs = refusals.iter().zip(&errors);
            let has = |kind| refusals.iter().any(|one| one.kind == kind);
            let says_more = |words: &str| errors.iter().any(|text| text.contains(words));
            match record.contains_key("error") {
                // Salt raises an exception if an included sls is not a mapping, and goes on with the sls of the saltenv
                // before.
                true => [
                    RefusalKind::Exception,
                    RefusalKind::SlsNotMapping,
                    RefusalKind::UnknownSaltenv,
                ]
                .into_iter()
                .any(has),
                // Python's stack ends before the limit here.
                false if says_more("failed: Traceback") => has(RefusalKind::Exception),
                // Salt goes on with the sls of the saltenv before.
                false if says_more("No matching salt env") => has(RefusalKind::UnknownSaltenv),
                false => {
                    refusals.len() == errors.len()
                        && pairs.into_iter().all(|(ours, theirs)| says(ours, theirs))
                }
            }
        }
    };
    (!is_same).then(|| {
        let mut record = record.clone();
        let envs = record.shift_remove("envs");
        format!(
            "{}\n {}\n  ours: {}",
            envs.unwrap().repr(),
            Value::from(record).repr(),
            match ours {
                Ok(data) => data,
                Err(refusals) => format!("{refusals:?}"),
            }
        )
    })
}

/// True if a message says more than the one before it.
fn is_own(message: &str) -> bool {
    !message.starts_with("Error when rendering state")
}

/// Trees with top files of several saltenvs.
const TOPS: &str = include_str!("../data/top_trees.json");

/// Trees of sls that change the facts in place.
const FACTS: &str = include_str!("../data/facts_trees.json");

/// Trees as Salt 3006 and 3007 compile them.
const OLDER: &str = include_str!("../data/older_trees.json");

#[test]
fn recorded_trees_give_the_high_and_low_data_of_salt() {
    let recorded = [include_str!("../data/trees.json"), TOPS, FACTS, OLDER];
    let recorded = recorded.map(|text| json::loads(text).unwrap());
    let recorded = recorded.iter().flat_map(|all| all.as_list().unwrap());
    let more = more("MAPSTACK_TREES");
    let records = recorded.cloned().chain(more);
    let different: Vec<String> = records
        .filter_map(|one| difference(one.as_map().unwrap()))
        .collect();
    assert!(different.is_empty(), "{}", different.join("\n\n"));
}
