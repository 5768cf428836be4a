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
            |_, ours, theirs| {
                is_error(ours, "maximum recursion depth")
                    && is_error(theirs, "maximum recursion depth")
            },
            "Python names the function in which its stack ends",
        ),
        (
            |source, ours, theirs| {
                source.contains("%s' % (")
                    && ours["error"].is_string()
                    && is_error(theirs, "Jinja variable ")
            },
            "Python 3.11 and later print each value of a format before they compute the next",
        ),
        (
            |_, ours, theirs| {
                // `join(',')` separates the letters of what it is given.
                [|_: char| false, |c: char| c == ',']
                    .iter()
                    .any(|separates| {
                        let joined = |said: String| said.replace(separates, "");
                        let theirs = says(theirs).map(joined);
                        let theirs = theirs.and_then(|said| without_addresses(&said));
                        theirs.is_some() && says(ours).map(joined) == theirs
                    })
            },
            "addresses of Python's objects are not printed",
        ),
        (
            |_, ours, theirs| {
                ours["error"].is_string()
                    && is_error(theirs, "Object of type Undefined is not JSON serializable")
            },
            "an error about an undefined value in data names the value",
        ),
        (
            |source, ours, _| {
                source.contains("|yaml") && is_error(ours, "Circular reference detected")
            },
            "what contains itself is not written as YAML",
        ),
        (
            |_, ours, _| is_error(ours, "repetition would make more than"),
            "what a repetition makes is bounded",
        ),
    ],
};

/// Salt's message if the trace of an error has no template.
const SALT_FAILS: &str = "'NoneType' object is not subscriptable";

/// The text of an answer, or the first line of an error, in small letters: filters change them.
fn says(answer: &Value) -> Option<String> {
    let error = || answer["error"].as_str()?.lines().next();
    answer["text"]
        .as_str()
        .or_else(error)
        .map(str::to_lowercase)
}

/// A text without the addresses of objects in it; nothing if there are none.
fn without_addresses(said: &str) -> Option<String> {
    let mut parts = said.split(" at 0x");
    let first = parts.next()?.to_owned();
    let rest: Vec<&str> = parts
        .map(|part| part.trim_start_matches(|c: char| c.is_ascii_hexdigit()))
        .collect();
    (!rest.is_empty()).then(|| first + &rest.concat())
}

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
    fn addresses_are_all_that_may_differ() {
        let is_explained = |ours: Value, theirs: Value| {
            let mut reasons = SUITE.reasons.iter();
            reasons.any(|(shows, _)| shows("", &ours, &theirs))
        };
        let cases = [
            (
                json!({"text": "<METHOD> and <method>"}),
                json!({"text": "<METHOD AT 0X7FB947520D00> and <method at 0xff>"}),
            ),
            (
                json!({"error": "no element <method>"}),
                json!({"error": "no element <method at 0x7f>\nTraceback"}),
            ),
            (
                json!({"text": "<,m,>,1"}),
                json!({"text": "<,m, ,a,t, ,0,x,7,f,>,1"}),
            ),
        ];
        for (ours, theirs) in cases {
            assert!(is_explained(ours, theirs.clone()), "{theirs}");
        }
        let cases = [
            (json!({"text": "a"}), json!({"text": "b"})),
            (json!({"text": "<m>,1"}), json!({"text": "<m at 0x7f>,2"})),
            (json!({"text": "a,b"}), json!({"text": "ab"})),
        ];
        for (ours, theirs) in cases {
            assert!(!is_explained(ours, theirs.clone()), "{theirs}");
        }
    }

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
