//! Differences from the reference that are meant, each known by a predicate.

use serde_json::Value;

/// Whether question, our answer and theirs show this difference.
type Shows = fn(&Value, &str, &str) -> bool;

const REASONS: &[(&str, Shows)] =
    &[("a value that would contain itself is an error, as values are trees", contains_itself)];

/// Why these answers may differ.
pub fn reason(question: &Value, ours: &Value, theirs: &Value) -> Option<&'static str> {
    let text = |answer: &Value| {
        let text = answer.get("ok").or(answer.get("error")).and_then(Value::as_str);
        text.unwrap_or_default().to_owned()
    };
    let (ours, theirs) = (text(ours), text(theirs));
    REASONS.iter().find(|(_, shows)| shows(question, &ours, &theirs)).map(|(reason, _)| *reason)
}

fn contains_itself(_: &Value, ours: &str, theirs: &str) -> bool {
    ours.contains("contain itself") && (theirs.contains("[...]") || theirs.contains("{...}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_reason_needs_its_signs() {
        let question = json!({"op": "yaml", "text": "&a [*a]"});
        let ours = json!({"error": "the list would contain itself"});
        assert!(reason(&question, &ours, &json!({"ok": "[[...]]"})).is_some());
        assert!(reason(&question, &ours, &json!({"ok": "[1]"})).is_none());
        assert!(reason(&question, &json!({"error": "no"}), &json!({"ok": "[[...]]"})).is_none());
    }
}
