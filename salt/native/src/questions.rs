//! What a formula reads, where its values come from, and what is wrong with it, as data.

use mapstack::secrets::Policy;
use mapstack::trace::{Asked, DataStage, RequestOutcome};
use mapstack::value::{Key, Map, Value};
use mapstack::{Configuration, DataOptions, Result, Run};
use mapstack_lineage::{Ancestry, Explain, How, Layer, LayerKind, Lineage, Spot};
use mapstack_lint::{Finding, Linter};

/// What stands in the place of a secret.
const MASKED: &str = "**********";

/// The values of a formula's configuration at or below a path, by their paths, with where each comes from.
pub(crate) fn explain(run: &Run<'_>, formula: &str, saltenv: &str, path: &[Key]) -> Result<Value> {
    let configuration = Configuration::of(run.engine(), formula, saltenv, DataOptions::default())?;
    let (_, lineage) = run.explain_configuration(&configuration)?;
    let mut explained = Map::new();
    lineage.visit(&mut |at, ancestry| {
        if at.starts_with(path) && !has_entries(&ancestry.value) {
            let name: Vec<String> = at.iter().map(ToString::to_string).collect();
            let known = origin(&lineage, ancestry, at, run.engine().policy());
            explained.insert(name.join(":"), Value::Map(known));
        }
    });
    Ok(explained.into())
}

/// Whether what a value contains is explained, and not the value itself.
fn has_entries(value: &Value) -> bool {
    match value {
        Value::Map(map) => !map.is_empty(),
        Value::List(items) => !items.is_empty(),
        _ => false,
    }
}

fn shown(value: &Value, spot: &Spot, is_named: bool) -> Value {
    match is_named || spot.is_secret() {
        true => MASKED.into(),
        false => value.clone(),
    }
}

fn origin(lineage: &Lineage, known: &Ancestry, at: &[Key], policy: &Policy) -> Map {
    let is_named = policy.is_secret_path(at);
    let mut map = Map::new();
    map.insert("value", shown(&known.value, &known.spot, is_named));
    map.insert("from", known.spot.to_string());
    if let Some(layer) = lineage.layers().get(known.layer) {
        map.extend(of_layer(layer, policy));
    }
    if !known.inputs.is_empty() {
        let inputs = known
            .inputs
            .iter()
            .map(|spot| Value::from(spot.to_string()));
        map.insert("made_of", inputs.collect::<Value>());
    }
    let past = known.past.iter().map(|past| {
        let entries = [
            ("value", shown(&past.value, &past.spot, is_named)),
            ("from", past.spot.to_string().into()),
            ("became", how(past.how).into()),
        ];
        Value::Map(entries.into_iter().collect())
    });
    let past: Value = past.collect();
    if past.truthy() {
        map.insert("before", past);
    }
    map
}

fn how(how: How) -> &'static str {
    match how {
        How::Replaced => "replaced",
        How::Joined => "part of a longer list",
        How::Paired => "one of the two items of a list",
        How::Removed => "removed",
        How::Rejected => "rejected",
        How::Edited => "changed by a template",
    }
}

/// The source of a layer, what led to it, and how it is merged.
fn of_layer(layer: &Layer, policy: &Policy) -> Map {
    let mut map = Map::new();
    if let Some(definition) = &layer.definition {
        map.insert("source", &**definition);
    }
    if !layer.because.is_empty() {
        // Only grains are shown: other matchers find pillar values, too.
        let is_shown = |matcher: &str| {
            matcher
                .strip_prefix("G@")
                .is_some_and(|query| !query.split(':').any(|key| policy.is_secret_key(key)))
        };
        let because = layer.because.iter().map(|because| {
            let found = match is_shown(&because.matcher) {
                true => because.found.clone(),
                false => MASKED.into(),
            };
            (because.matcher.as_str(), found)
        });
        let because: Map = because.collect();
        map.insert("because", Value::Map(because));
    }
    if let Some(merged) = &layer.merged {
        map.insert("strategy", merged.strategy.as_str());
        map.insert("merge_lists", Value::Bool(merged.merge_lists));
    }
    if let LayerKind::Edits { shown } = &layer.kind {
        map.insert("template", shown.as_str());
    }
    map
}

/// What a formula's configuration looked for: files and values, with the outcome, in order.
pub(crate) fn sources(run: &Run<'_>, formula: &str, saltenv: &str) -> Result<Value> {
    Configuration::of(run.engine(), formula, saltenv, DataOptions::default())?.compute(run)?;
    let asked = run.events().into_iter().map(|event| {
        let mut map = Map::new();
        let stage = match event.stage {
            DataStage::Meta => "meta",
            DataStage::Layers => "layers",
            DataStage::PostMap => "post-map",
        };
        map.insert("stage", stage);
        if let Some(definition) = &event.definition {
            map.insert("source", &**definition);
        }
        match event.asked {
            Asked::File { path, outcome } => {
                map.insert("path", format!("salt://{path}"));
                let (name, more) = match outcome {
                    RequestOutcome::Hit(file) => {
                        ("hit", Some(("file", file.display().to_string())))
                    }
                    RequestOutcome::Miss => ("miss", None),
                    RequestOutcome::Refused(reason) => ("refused", Some(("reason", reason))),
                };
                map.insert("outcome", name);
                map.extend(more.map(|(key, text)| (Key::from(key), Value::from(text))));
            }
            Asked::Value { found } => {
                map.insert("outcome", if found { "hit" } else { "miss" });
            }
            Asked::NoPaths { query } => {
                map.insert("outcome", "miss");
                map.insert("query", query.map_or(Value::None, Value::from));
            }
        }
        Value::Map(map)
    });
    Ok(asked.collect())
}

/// What is wrong with a formula, on every platform that is built in.
pub(crate) fn lint(engine: &mapstack::Engine, formula: &str, saltenv: &str) -> Result<Value> {
    let report = Linter::new(engine).saltenv(saltenv).lint(formula)?;
    Ok(report.findings.iter().map(finding).collect())
}

fn finding(finding: &Finding) -> Value {
    let number = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
    let mut map = Map::new();
    map.insert("rule", finding.rule.name());
    map.insert("level", finding.level.name());
    map.insert("message", finding.message.as_str());
    map.insert("file", finding.place.file.as_str());
    if !finding.whole_file {
        map.insert("line", number(finding.place.line()));
        map.insert("column", number(finding.place.column()));
    }
    let notes: Value = finding
        .notes
        .iter()
        .map(|note| Value::from(note.as_str()))
        .collect();
    if notes.truthy() {
        map.insert("notes", notes);
    }
    if let Some(help) = &finding.help {
        map.insert("help", help.as_str());
    }
    map.into()
}
