//! Differences from the reference that are meant, each known by a predicate.

use serde_json::Value;

/// Whether our answer and theirs show this difference.
type Shows = fn(&Value, &Value) -> bool;

const REASONS: &[(&str, Shows)] = &[
    (
        "a value that would contain itself is an error, as values are trees",
        contains_itself,
    ),
    (
        "values are values: what changes one place changes no other",
        shares,
    ),
    (
        "a pillar that was empty at first and that templates changed has its entries in JSON, too",
        wrapped,
    ),
    (
        "an undefined value in data is null, with a warning",
        undefined,
    ),
    ("what is not data does not come into the stack", no_data),
    ("objects print where they are in memory", address),
    ("what reclass has not resolved yet has no data", unresolved),
    ("what TOML forbids is an error", no_toml),
    ("includes nest at most 100 levels deep", deep_includes),
    (
        "brackets in the name of an sls are not those of an address in a URL",
        brackets,
    ),
    (
        "what Python refuses of the code that Jinja makes is a syntax error with a place",
        by_python,
    ),
];

/// Why these answers may differ.
pub fn reason(ours: &Value, theirs: &Value) -> Option<&'static str> {
    REASONS
        .iter()
        .find(|(_, shows)| shows(ours, theirs))
        .map(|(reason, _)| *reason)
}

fn text<'a>(answer: &'a Value, name: &str) -> &'a str {
    answer.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn contains_itself(ours: &Value, theirs: &Value) -> bool {
    let (given, failed) = (text(theirs, "ok"), text(theirs, "error"));
    let refused = text(ours, "error").contains("contain itself");
    // Where every place has an object of its own, it never ends.
    let endless = theirs.get("values").is_some_and(Value::is_null) && !given.is_empty();
    refused && (given.contains("[...]") || given.contains("{...}"))
        || endless
        || ours.get("ok").is_some() && failed.starts_with("RecursionError")
}

/// The reference prints objects of its own, from inside a list with references to what is around it.
fn unresolved(ours: &Value, theirs: &Value) -> bool {
    let prints = |name: &str| text(theirs, "ok").contains(name);
    text(ours, "ok").contains("Failed to load ext_pillar reclass")
        && (prints("Item([") || prints("ValueList object"))
}

/// The reference gives the same as we do if every place has an object of its own.
fn shares(ours: &Value, theirs: &Value) -> bool {
    ours.get("ok")
        .is_some_and(|ok| theirs.get("values") == Some(ok))
}

/// Salt 3006 has an object of its own around it, whose entries JSON does not see; without that object, it gives the same
/// as we do.
fn wrapped(ours: &Value, theirs: &Value) -> bool {
    ours.get("ok")
        .is_some_and(|ok| theirs.get("unwrapped") == Some(ok))
}

fn undefined(ours: &Value, theirs: &Value) -> bool {
    let (ours, theirs) = (text(ours, "ok"), text(theirs, "ok"));
    theirs.contains(": Undefined") && theirs.replace(": Undefined", ": None") == ours
}

/// In the reference's data is an object, not the text of one.
fn no_data(_: &Value, theirs: &Value) -> bool {
    let given = text(theirs, "ok");
    [": <", "[<", ", <"].iter().any(|sign| given.contains(sign)) && given.contains(AT)
}

fn by_python(ours: &Value, theirs: &Value) -> bool {
    text(theirs, "error").starts_with("SyntaxError: ") && text(ours, "ok").starts_with('[')
}

/// Python's package lets tables grow that TOML says are complete.
fn no_toml(ours: &Value, _: &Value) -> bool {
    let error = text(ours, "error");
    error == "duplicate key" || error.starts_with("cannot extend value of type inline table")
}

fn deep_includes(ours: &Value, _: &Value) -> bool {
    text(ours, "error").starts_with("includes of the pillar nest deeper")
}

/// Salt reads the name of an sls as a URL.
fn brackets(ours: &Value, theirs: &Value) -> bool {
    let refusal = text(theirs, "error");
    let of_urls = ["does not appear to be an IPv4", "Invalid IPv6 URL"];
    ours.get("ok").is_some() && of_urls.iter().any(|sign| refusal.contains(sign))
}

fn address(ours: &Value, theirs: &Value) -> bool {
    let (ours, theirs) = (text(ours, "ok"), text(theirs, "ok"));
    theirs.contains(AT) && without_objects(ours) == without_objects(theirs)
}

/// Stands before an address.
const AT: &str = " at 0x";

/// A text without what lies between `<` and an address.
fn without_objects(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(AT) {
        out.push_str(before.rsplit_once('<').map_or(before, |(kept, _)| kept));
        rest = after.trim_start_matches(|c: char| c.is_ascii_hexdigit());
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_reason_needs_its_signs() {
        let cases = [
            (
                json!({"error": "the list would contain itself"}),
                json!({"ok": "[[...]]"}),
                true,
            ),
            (
                json!({"error": "the list would contain itself"}),
                json!({"ok": "[1]"}),
                false,
            ),
            (json!({"error": "no"}), json!({"ok": "[[...]]"}), false),
            (
                json!({"ok": "{}"}),
                json!({"error": "RecursionError: too deep"}),
                true,
            ),
            (json!({"ok": "1"}), json!({"ok": "2", "values": "1"}), true),
            (json!({"ok": "1"}), json!({"ok": "2", "values": "2"}), false),
            (json!({"ok": "1"}), json!({"ok": "2", "values": null}), true),
            (
                json!({"ok": "1"}),
                json!({"ok": "2", "unwrapped": "1"}),
                true,
            ),
            (
                json!({"ok": "1"}),
                json!({"ok": "2", "unwrapped": "2"}),
                false,
            ),
            (
                json!({"ok": "{}"}),
                json!({"ok": "{'a': <function f at 0x1f>}", "values": "{}"}),
                true,
            ),
            (
                json!({"ok": "{'a': None}"}),
                json!({"ok": "{'a': Undefined}"}),
                true,
            ),
            (
                json!({"ok": "{'b': None}"}),
                json!({"ok": "{'a': Undefined}"}),
                false,
            ),
            (
                json!({"error": "includes of the pillar nest deeper than 100, at 'a.'"}),
                json!({"ok": "{}"}),
                true,
            ),
            (
                json!({"ok": "{}"}),
                json!({"error": "ValueError: Invalid IPv6 URL"}),
                true,
            ),
            (
                json!({"error": "no"}),
                json!({"error": "ValueError: Invalid IPv6 URL"}),
                false,
            ),
            (
                json!({"ok": "['outside loop', 1]"}),
                json!({"error": "SyntaxError: 'break' outside loop (<template>, line 11)"}),
                true,
            ),
            (
                json!({"ok": "'a template'"}),
                json!({"error": "SyntaxError: 'break' outside loop (<template>, line 11)"}),
                false,
            ),
            (
                json!({"ok": "'<x.A object at 0x1f>'"}),
                json!({"ok": "'<y.A object at 0x2e>'"}),
                true,
            ),
            (
                json!({"ok": "'<x.A object at 0x1f>'"}),
                json!({"ok": "'a <y.A object at 0x2e>'"}),
                false,
            ),
        ];
        for (ours, theirs, explained) in cases {
            assert_eq!(
                reason(&ours, &theirs).is_some(),
                explained,
                "{ours} {theirs}"
            );
        }
    }
}
