//! `cargo xtask mako-suite`: what the templates of Mako's own tests print here and in Mako.

use serde_json::Value;

use crate::suite::{Agreement, Suite};

/// Mako's own tests.
pub const SUITE: Suite = Suite {
    package: "mako",
    tests: "",
    tools: &["pytest"],
    example: &["mako"],
    compare,
    reasons: &[
        (
            |source, _, _| source.contains("cached=\"True\""),
            "there is no cache",
        ),
        (
            |_, ours, _| ours["error"] == "refused" || ours["error"] == "ModuleNotFoundError",
            "modules that can be imported are those that need no machine",
        ),
        (
            |source, _, _| source.contains("open("),
            "no file of the machine is read",
        ),
        (
            ends_open,
            "a bracket or a tag that is never closed is reported where the parser, or the tag, is",
        ),
        (
            |source, _, theirs| {
                source.contains("# someone's '''comment") && theirs["error"] == "SyntaxError"
            },
            "Mako takes quotes in a comment for those of a text",
        ),
    ],
};

/// Both refuse what is not closed, at another line.
fn ends_open(source: &str, ours: &Value, theirs: &Value) -> bool {
    let bracket = source.contains("c = (");
    let message = ours["message"].as_str().unwrap_or_default();
    let open = bracket && message.contains("unexpected EOF") || message.contains("Unclosed tag");
    open && ours["error"] == "SyntaxException" && theirs["error"] == "SyntaxException"
}

/// Texts, and errors by their class; where a template cannot be read, by their line, too.
fn compare(ours: &Value, theirs: &Value) -> Agreement {
    if let (Some(ours), Some(theirs)) = (ours.get("output"), theirs.get("output"))
        && ours == theirs
    {
        return Agreement::SameText;
    }
    let same_line = theirs
        .get("line")
        .is_none_or(|line| ours.get("line") == Some(line));
    match (ours.get("error"), theirs.get("error")) {
        (Some(ours), Some(theirs)) if ours == theirs && same_line => Agreement::SameError,
        _ => Agreement::Different,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn answers_are_equal_by_text_and_by_class_and_line() {
        let unclosed = json!({"error": "SyntaxException", "line": 1, "message": "SyntaxException: Unclosed tag: <%def>"});
        let cases = [
            (
                json!({"output": "1"}),
                json!({"output": "1"}),
                Agreement::SameText,
            ),
            (
                json!({"output": "1"}),
                json!({"output": "2"}),
                Agreement::Different,
            ),
            (
                json!({"error": "KeyError", "line": 3}),
                json!({"error": "KeyError", "message": "k"}),
                Agreement::SameError,
            ),
            (
                unclosed.clone(),
                json!({"error": "SyntaxException", "line": 2}),
                Agreement::Different,
            ),
            (
                json!({"error": "KeyError"}),
                json!({"output": "1"}),
                Agreement::Different,
            ),
        ];
        for (ours, theirs, outcome) in cases {
            assert_eq!(compare(&ours, &theirs), outcome, "{ours} {theirs}");
        }
        assert!(ends_open(
            "<%def name='f()'>",
            &unclosed,
            &json!({"error": "SyntaxException", "line": 2})
        ));
        assert!(!ends_open(
            "c = (",
            &json!({"error": "SyntaxException", "message": "x"}),
            &json!({"output": ""})
        ));
    }
}
