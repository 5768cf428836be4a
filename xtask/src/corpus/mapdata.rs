//! The results that formulas ship for their own tests: what `values` a platform should get.
//!
//! Such a file may be older than its formula, or need functions that touch the machine. So it counts
//! only where the reference makes of it what it says.

use serde_json::{Value, json};
use tempfile::TempDir;

use super::map::{self, Pair, data, difference, text};
use super::sides::{Formula, Sides, lists};
use super::tally::{Judgement, Tally, brief};
use crate::Result;

pub fn compare(sides: &Sides, formulas: &[Formula]) -> Result<Tally> {
    let question =
        |f: &Formula| json!({"op": "mapdata", "formula": f.root, "minions": sides.minions});
    let cases = lists(sides.reference(&formulas.iter().map(question).collect::<Vec<_>>())?);
    let mut tally = Tally::default();
    for (formula, cases) in formulas.iter().zip(cases) {
        compare_cases(sides, formula, cases, &mut tally)
            .map_err(|error| format!("{}: {error}", formula.name))?;
    }
    Ok(tally)
}

fn compare_cases(sides: &Sides, formula: &Formula, cases: Vec<Value>, tally: &mut Tally) -> Result {
    let name = |case: &Value| format!("{} {}", formula.name, text(case, "file"));
    let (cases, others): (Vec<_>, Vec<_>) =
        cases.into_iter().partition(|case| case["reason"].is_null());
    for other in others {
        tally.add(
            &name(&other),
            Judgement::NotComparable(brief(text(&other, "reason"))),
        );
    }
    let home = TempDir::new()?;
    let mut pairs = Vec::new();
    for (number, case) in cases.iter().enumerate() {
        let minion = home.path().join(format!("{number}.json"));
        sides.sh.write_file(&minion, case["minion"].to_string())?;
        let [directory, variable] =
            ["directory", "variable"].map(|name| text(case, name).to_owned());
        let (root, facts) = (formula.root.clone(), case["minion"].clone());
        let with_context = case["with_context"] == true;
        pairs.push(Pair {
            root,
            directory,
            variable,
            with_context,
            minion,
            facts,
        });
    }
    for ((case, pair), theirs) in cases.iter().zip(&pairs).zip(map::theirs(sides, &pairs)?) {
        let expected = sorted(serde_json::from_str(text(case, "expected"))?);
        let outcome = match unfit(&expected, &theirs) {
            Some(outcome) => outcome,
            None => outcome(&expected, &map::ours(sides, pair)?),
        };
        tally.add(&name(case), outcome);
    }
    Ok(())
}

/// Why the reference's own answer is not what the file says.
fn unfit(expected: &Value, theirs: &Value) -> Option<Judgement> {
    if let Some(function) = theirs["blocked"].as_str() {
        return Some(Judgement::Blocked(function.to_owned()));
    }
    let reason = match data(theirs) {
        Some(Ok(theirs)) if sorted(theirs.clone()) == *expected => return None,
        Some(_) => "the reference makes something else of it",
        None => "the reference refuses",
    };
    Some(Judgement::NotComparable(reason.to_owned()))
}

fn outcome(expected: &Value, ours: &Value) -> Judgement {
    let difference = match data(ours) {
        Some(Ok(ours)) => difference(&sorted(ours), expected, ""),
        Some(Err(problem)) => Some(format!("ours is not JSON: {problem}")),
        None => Some(format!("ours refuses: {}", brief(text(ours, "error")))),
    };
    difference.map_or(Judgement::Equal, Judgement::Differs)
}

/// The files are written with sorted keys, so order does not count in them.
fn sorted(value: Value) -> Value {
    match value {
        Value::Object(map) => {
            let mut pairs: Vec<_> = map
                .into_iter()
                .map(|(key, value)| (key, sorted(value)))
                .collect();
            pairs.sort_by(|a, b| a.0.cmp(&b.0));
            Value::Object(pairs.into_iter().collect())
        }
        Value::Array(items) => items.into_iter().map(sorted).collect(),
        _ => value,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_counts_where_the_reference_agrees_with_it() {
        let expected = sorted(json!({"b": {"d": 1, "c": 2}, "a": 3}));
        let answer = |text: &str| json!({"ok": text});
        assert_eq!(
            unfit(&expected, &answer(r#"{"a": 3, "b": {"c": 2, "d": 1}}"#)),
            None
        );
        assert!(matches!(
            unfit(&expected, &answer("{}")),
            Some(Judgement::NotComparable(_))
        ));
        assert!(matches!(
            unfit(&expected, &json!({"error": "no"})),
            Some(Judgement::NotComparable(_))
        ));
        assert_eq!(
            unfit(&expected, &json!({"blocked": "cmd.run"})),
            Some(Judgement::Blocked("cmd.run".into()))
        );
    }

    #[test]
    fn ours_is_held_to_the_file() {
        let expected = sorted(json!({"b": 1, "a": 2}));
        assert_eq!(
            outcome(&expected, &json!({"ok": r#"{"b": 1, "a": 2}"#})),
            Judgement::Equal
        );
        assert_eq!(
            outcome(&expected, &json!({"ok": r#"{"b": 1, "a": 3}"#})),
            Judgement::Differs("at a: ours 3, theirs 2".into())
        );
        assert_eq!(
            outcome(&expected, &json!({"error": "no"})),
            Judgement::Differs("ours refuses: no".into())
        );
    }
}
