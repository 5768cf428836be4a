//! `cargo xtask jinja-suite`: what the templates of Jinja's own tests print here and in Salt's environment.

use serde_json::Value;

use crate::suite::{Agreement, Suite};

/// Jinja's own tests; the other side is Salt's environment.
pub const SUITE: Suite = Suite {
    package: "jinja2",
    tests: "tests",
    tools: &["pytest", "trio"],
    example: &["suite"],
    compare,
    reasons: &[
        (
            |source, _, _| source.replace(' ', "").contains("|random"),
            "random choices are the same every time here",
        ),
        (
            |_, ours, theirs| ours["error"].is_string() && theirs["error"] == SALT_FAILS,
            "Salt fails itself while it reports what Jinja2's compiler refuses",
        ),
        (
            |_, ours, theirs| {
                is_error(ours, "are nested more than")
                    && is_error(theirs, "maximum recursion depth")
            },
            "calls nest 180 levels deep",
        ),
        (
            |_, _, theirs| {
                theirs["text"]
                    .as_str()
                    .is_some_and(|text| text.contains(" at 0x"))
            },
            "addresses of Python's objects are not printed",
        ),
        (
            |_, ours, _| is_error(ours, "repetition would make more than"),
            "what a repetition makes is bounded",
        ),
    ],
};

/// What Salt says where the trace of an error has no template.
const SALT_FAILS: &str = "'NoneType' object is not subscriptable";

fn is_error(answer: &Value, part: &str) -> bool {
    let error = answer["error"].as_str();
    error.is_some_and(|error| error.contains(part))
}

fn compare(ours: &Value, theirs: &Value) -> Agreement {
    let text =
        |answer: &Value, name: &str| answer.get(name).and_then(Value::as_str).map(str::to_owned);
    if let (Some(ours), Some(theirs)) = (text(ours, "text"), text(theirs, "text"))
        && ours == theirs
    {
        return Agreement::SameText;
    }
    // Salt appends the excerpt, or Python's trace of calls, to the same message.
    if let (Some(ours), Some(theirs)) = (text(ours, "error"), text(theirs, "error"))
        && theirs
            .strip_prefix(&ours)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('\n'))
    {
        return Agreement::SameError;
    }
    Agreement::Different
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn answers_are_equal_by_text_and_by_message() {
        let cases = [
            (
                json!({"text": "1"}),
                json!({"text": "1"}),
                Agreement::SameText,
            ),
            (
                json!({"text": "1"}),
                json!({"text": "2"}),
                Agreement::Different,
            ),
            (
                json!({"error": "a"}),
                json!({"error": "a\nTrace"}),
                Agreement::SameError,
            ),
            (
                json!({"error": "a"}),
                json!({"error": "ab"}),
                Agreement::Different,
            ),
            (
                json!({"error": "a"}),
                json!({"text": "1"}),
                Agreement::Different,
            ),
        ];
        for (ours, theirs, outcome) in cases {
            assert_eq!(compare(&ours, &theirs), outcome, "{ours} {theirs}");
        }
    }
}
