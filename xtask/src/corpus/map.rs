//! The results of each formula's map.jinja for each minion.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use xshell::cmd;

use super::sides::{Formula, Sides, lists, stem};
use super::tally::{Judgement, Tally, brief};
use crate::Result;

/// A map.jinja, the variable that is imported from it, and a minion.
pub struct Pair {
    pub root: PathBuf,
    pub directory: String,
    pub variable: String,
    pub with_context: bool,
    /// The minion's file, and how the reference gets it: the same path, or the facts themselves.
    pub minion: PathBuf,
    pub facts: Value,
}

pub fn compare(sides: &Sides, formulas: &[Formula]) -> Result<Tally> {
    let questions: Vec<Value> = formulas
        .iter()
        .map(|f| json!({"op": "subjects", "formula": f.root}))
        .collect();
    let mut tally = Tally::default();
    for (formula, subjects) in formulas.iter().zip(lists(sides.reference(&questions)?)) {
        if subjects.is_empty() {
            tally.add(
                &formula.name,
                Judgement::NotComparable("the formula has no map.jinja".into()),
            );
        }
        for subject in subjects {
            compare_subject(sides, formula, &subject, &mut tally)
                .map_err(|error| format!("{}: {error}", formula.name))?;
        }
    }
    Ok(tally)
}

fn compare_subject(sides: &Sides, formula: &Formula, subject: &Value, tally: &mut Tally) -> Result {
    let directory = subject["directory"].as_str().unwrap_or_default();
    let Some(variable) = subject["variable"].as_str() else {
        let reason = "no file imports a variable from map.jinja";
        tally.add(&formula.name, Judgement::NotComparable(reason.into()));
        return Ok(());
    };
    let pair = |minion: &PathBuf| Pair {
        root: formula.root.clone(),
        directory: directory.to_owned(),
        variable: variable.to_owned(),
        with_context: subject["with_context"] == true,
        minion: minion.clone(),
        facts: json!(minion),
    };
    let pairs: Vec<Pair> = sides.minions.iter().map(pair).collect();
    let theirs = kept_or_asked(sides, &formula.name, &pairs)?;
    for (pair, theirs) in pairs.iter().zip(&theirs) {
        let name = format!(
            "{} {directory} {variable} {}",
            formula.name,
            stem(&pair.minion)
        );
        let outcome = match theirs["blocked"].as_str() {
            Some(function) => Judgement::Blocked(function.to_owned()),
            None => match &sides.mapstack {
                Some(_) => outcome(&ours(sides, pair)?, theirs),
                None => Judgement::NotComparable(format!("the reference {}", describe(theirs))),
            },
        };
        tally.add(&name, outcome);
    }
    Ok(())
}

/// A word for the reference's answer, or the start of its message where it had none.
fn describe(answer: &Value) -> String {
    match answer["error"].as_str() {
        Some(error) => format!("refuses: {}", error.chars().take(90).collect::<String>()),
        None => "answers".to_owned(),
    }
}

/// The reference's answers, from the folder that keeps them where it has them all.
fn kept_or_asked(sides: &Sides, formula: &str, pairs: &[Pair]) -> Result<Vec<Value>> {
    let Some(answers) = &sides.answers else {
        return theirs(sides, pairs);
    };
    let place = |pair: &Pair| {
        let folder = answers.join(formula).join(pair.directory.replace('/', "."));
        folder.join(stem(&pair.minion)).with_extension_added("json")
    };
    if pairs.iter().all(|pair| sides.sh.path_exists(place(pair))) {
        return pairs
            .iter()
            .map(|pair| Ok(serde_json::from_str(&sides.sh.read_file(place(pair))?)?))
            .collect();
    }
    let asked = theirs(sides, pairs)?;
    for (pair, answer) in pairs.iter().zip(&asked) {
        sides.sh.write_file(place(pair), format!("{answer}\n"))?;
    }
    Ok(asked)
}

/// `a.b` with `.json` behind it, where `with_extension` would replace the `b`.
trait ExtensionAdded {
    fn with_extension_added(&self, extension: &str) -> PathBuf;
}

impl ExtensionAdded for Path {
    fn with_extension_added(&self, extension: &str) -> PathBuf {
        PathBuf::from(format!("{}.{extension}", self.display()))
    }
}

/// The answers of real Salt for each pair.
pub fn theirs(sides: &Sides, pairs: &[Pair]) -> Result<Vec<Value>> {
    let question = |pair: &Pair| {
        let Pair {
            root,
            directory,
            variable,
            with_context,
            facts,
            ..
        } = pair;
        json!({
            "op": "map", "roots": [root], "directory": directory, "variable": variable, "with_context": with_context,
            "minion": facts,
        })
    };
    sides.reference(&pairs.iter().map(question).collect::<Vec<_>>())
}

/// Answers in place of calls that look at the machine; the reference reads the same file.
const STUBS: &str = "xtask/reference/corpus_stubs.yaml";

/// The answer of the command, in the reference's form.
///
/// # Errors
/// The command was not understood, so that every answer would be a refusal.
pub fn ours(sides: &Sides, pair: &Pair) -> Result<Value> {
    let (sh, mapstack) = (
        sides.sh,
        sides.mapstack.as_deref().unwrap_or(Path::new("mapstack")),
    );
    let Pair {
        root,
        directory,
        variable,
        minion,
        ..
    } = pair;
    let facts = cmd!(
        sh,
        "{mapstack} map {directory} --root {root} --minion {minion}"
    );
    let asked = facts.args(["--stub", STUBS, "--var", variable, "-o", "json"]);
    let output = asked.quiet().ignore_status().output()?;
    let message = String::from_utf8_lossy(&output.stderr);
    match output.status.code() {
        Some(0) => Ok(json!({"ok": String::from_utf8_lossy(&output.stdout), "warnings": message})),
        Some(1) => Ok(json!({"error": message})),
        _ => Err(format!(
            "{} map {directory}: {}: {}",
            mapstack.display(),
            output.status,
            brief(&message)
        )
        .into()),
    }
}

/// Compares by keys, their order, values and types.
fn outcome(ours: &Value, theirs: &Value) -> Judgement {
    match (data(ours), data(theirs)) {
        (None, None) => Judgement::BothRefuse,
        (Some(Ok(ours)), Some(Ok(theirs))) => match difference(&ours, &theirs, "") {
            None => Judgement::Equal,
            Some(line) => Judgement::Differs(line),
        },
        (Some(_), None) if text(ours, "warnings").contains("that is not data") => {
            // Data may contain undefined values until they are printed, as this comparison does.
            Judgement::NotComparable(
                "the data holds an undefined value: null with a warning, or not to be printed"
                    .into(),
            )
        }
        (None, _) => Judgement::Differs(format!("ours refuses: {}", brief(text(ours, "error")))),
        (_, None) => Judgement::Differs(format!(
            "ours answers, theirs refuses: {}",
            brief(text(theirs, "error"))
        )),
        (Some(Err(problem)), _) => Judgement::Differs(format!("ours is not JSON: {problem}")),
        (_, Some(Err(problem))) => Judgement::Differs(format!("theirs is not JSON: {problem}")),
    }
}

/// The data of an answer that is one.
pub fn data(answer: &Value) -> Option<serde_json::Result<Value>> {
    answer["ok"].as_str().map(serde_json::from_str)
}

pub fn text<'a>(answer: &'a Value, name: &str) -> &'a str {
    answer[name].as_str().unwrap_or_default()
}

/// The first place where two values differ, with both values.
pub fn difference(ours: &Value, theirs: &Value, place: &str) -> Option<String> {
    match (ours, theirs) {
        (Value::Object(ours), Value::Object(theirs)) => {
            let keys =
                |map: &serde_json::Map<String, Value>| map.keys().cloned().collect::<Vec<_>>();
            let inner = ours
                .iter()
                .filter_map(|(key, value)| Some((key, value, theirs.get(key)?)));
            let below = inner
                .map(|(key, ours, theirs)| difference(ours, theirs, &format!("{place}:{key}")));
            let keys = (keys(ours) != keys(theirs))
                .then(|| differing_keys(&keys(ours), &keys(theirs), place));
            keys.or_else(|| below.flatten().next())
        }
        (Value::Array(ours), Value::Array(theirs)) if ours.len() == theirs.len() => {
            let pairs = ours.iter().zip(theirs).enumerate();
            pairs
                .filter_map(|(at, (ours, theirs))| {
                    difference(ours, theirs, &format!("{place}:{at}"))
                })
                .next()
        }
        _ if ours == theirs => None,
        _ => Some(format!(
            "at {}: ours {}, theirs {}",
            at(place),
            brief(&ours.to_string()),
            brief(&theirs.to_string())
        )),
    }
}

fn differing_keys(ours: &[String], theirs: &[String], place: &str) -> String {
    let without = |these: &[String], those: &[String]| -> Vec<String> {
        these
            .iter()
            .filter(|key| !those.contains(key))
            .cloned()
            .collect()
    };
    let (more, less) = (without(ours, theirs), without(theirs, ours));
    if more.is_empty() && less.is_empty() {
        return format!(
            "at {}: keys in another order: ours {ours:?}, theirs {theirs:?}",
            at(place)
        );
    }
    format!(
        "at {}: only ours has {more:?}, only theirs has {less:?}",
        at(place)
    )
}

fn at(place: &str) -> &str {
    if place.is_empty() {
        "the top"
    } else {
        &place[1..]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compared(ours: &str, theirs: &str) -> Judgement {
        outcome(&json!({"ok": ours}), &json!({"ok": theirs}))
    }

    #[test]
    fn order_and_types_count() {
        assert_eq!(
            compared(r#"{"a": [1, 2.0, null]}"#, r#"{"a":[1,2.0,null]}"#),
            Judgement::Equal
        );
        for (ours, theirs, line) in [
            (
                r#"{"a": 1, "b": 2}"#,
                r#"{"b": 2, "a": 1}"#,
                r#"at the top: keys in another order: ours ["a", "b"], theirs ["b", "a"]"#,
            ),
            (
                r#"{"a": {"b": 1}}"#,
                r#"{"a": {"b": 1.0}}"#,
                "at a:b: ours 1, theirs 1.0",
            ),
            (
                r#"{"a": [1, 2]}"#,
                r#"{"a": [1, "2"]}"#,
                r#"at a:1: ours 2, theirs "2""#,
            ),
            (
                r#"{"a": 1}"#,
                r#"{"b": 1}"#,
                r#"at the top: only ours has ["a"], only theirs has ["b"]"#,
            ),
            ("[1]", "[1, 2]", "at the top: ours [1], theirs [1,2]"),
            (
                "nothing",
                "1",
                "ours is not JSON: expected ident at line 1 column 2",
            ),
        ] {
            assert_eq!(
                compared(ours, theirs),
                Judgement::Differs(line.to_owned()),
                "{ours} {theirs}"
            );
        }
    }

    #[test]
    fn one_refusal_is_a_difference() {
        let (data, refusal) = (json!({"ok": "1"}), json!({"error": "no\nmore"}));
        assert_eq!(outcome(&refusal, &refusal), Judgement::BothRefuse);
        assert_eq!(
            outcome(&refusal, &data),
            Judgement::Differs("ours refuses: no".into())
        );
        assert_eq!(
            outcome(&data, &refusal),
            Judgement::Differs("ours answers, theirs refuses: no".into())
        );
        let warned = json!({"ok": "1", "warnings": "warning: puts something into mapdata that is not data: …"});
        assert!(matches!(
            outcome(&warned, &refusal),
            Judgement::NotComparable(_)
        ));
        assert_eq!(outcome(&warned, &data), Judgement::Equal);
    }

    #[test]
    fn a_name_with_a_point_keeps_it() {
        assert_eq!(
            Path::new("a/ubuntu-22.04").with_extension_added("json"),
            Path::new("a/ubuntu-22.04.json")
        );
    }
}
