//! Differences from the reference that are meant, each known by a predicate.

use serde_json::Value;

/// True if our answer and theirs show this difference.
type ShowsDifference = fn(&Value, &Value) -> bool;

const REASONS: &[(&str, ShowsDifference)] = &[
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
    (
        "what is not data is null in the stack, or an error that says so",
        no_data,
    ),
    ("a text is data, and a stream that holds it is not", stream),
    ("objects print where they are in memory", address),
    ("what reclass has not resolved yet has no data", unresolved),
    ("what TOML forbids is an error", no_toml),
    ("includes nest at most 100 levels deep", deep_includes),
    (
        "an external pillar sees no list as the pillar",
        list_as_pillar,
    ),
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
    // If every place has a separate object, it never ends.
    let endless = theirs.get("values").is_some_and(Value::is_null) && !given.is_empty();
    refused && (given.contains("[...]") || given.contains("{...}"))
        || endless
        || ours.get("ok").is_some() && failed.starts_with("RecursionError")
}

/// The reference prints its internal objects, from inside a list with references to what is around it.
fn unresolved(ours: &Value, theirs: &Value) -> bool {
    let prints = |name: &str| text(theirs, "ok").contains(name);
    text(ours, "ok").contains("Failed to load ext_pillar reclass")
        && (prints("Item([") || prints("ValueList object"))
}

/// The reference gives the same as we do if every place has a separate object.
fn shares(ours: &Value, theirs: &Value) -> bool {
    ours.get("ok")
        .is_some_and(|ok| theirs.get("values") == Some(ok))
}

/// Salt 3006 puts it into an internal object, whose entries JSON does not see; without that object, it gives the same
/// as we do.
fn wrapped(ours: &Value, theirs: &Value) -> bool {
    ours.get("ok")
        .is_some_and(|ok| theirs.get("unwrapped") == Some(ok))
}

fn undefined(ours: &Value, theirs: &Value) -> bool {
    let (ours, theirs) = (text(ours, "ok"), text(theirs, "ok"));
    theirs.contains(": Undefined") && theirs.replace(": Undefined", ": None") == ours
}

/// In the reference's data are objects. Everything else is the same.
fn no_data(ours: &Value, theirs: &Value) -> bool {
    let Some(data) = with_null_for_objects(text(theirs, "ok")) else {
        return false;
    };
    let data = data.replace(": Undefined", ": None");
    text(ours, "ok") == data || text(ours, "error").contains("is not data")
}

/// Python's data with `None` in place of the objects that are not data, if it has some. The text of one, in quotes, is
/// data.
fn with_null_for_objects(data: &str) -> Option<String> {
    let (mut out, mut has_objects) = (String::new(), false);
    let mut rest = data;
    while let Some(at) = rest.find(['\'', '"', '<']) {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let object = from.starts_with('<').then(|| object_length(from)).flatten();
        let length = match object {
            Some(length) => length,
            None if from.starts_with('<') => 1,
            None => quoted_length(from),
        };
        out.push_str(object.map_or(&from[..length], |_| "None"));
        has_objects |= object.is_some();
        rest = &from[length..];
    }
    has_objects.then(|| out + rest)
}

/// The length of an object at the start: `<…>`, perhaps with others inside, with an address.
fn object_length(text: &str) -> Option<usize> {
    let mut open = 0;
    for (at, c) in text.char_indices() {
        match c {
            '<' => open += 1,
            '>' => open -= 1,
            _ => {}
        }
        if open == 0 {
            let length = at + c.len_utf8();
            return text[..length].contains(AT).then_some(length);
        }
    }
    None
}

/// The length of the quoted text at the start.
fn quoted_length(text: &str) -> usize {
    let quote = text.chars().next();
    let mut chars = text.char_indices().skip(1);
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => drop(chars.next()),
            c if Some(c) == quote => return at + 1,
            _ => {}
        }
    }
    text.len()
}

fn by_python(ours: &Value, theirs: &Value) -> bool {
    text(theirs, "error").starts_with("SyntaxError: ") && text(ours, "ok").starts_with('[')
}

/// Python's package lets tables grow that TOML says are complete.
fn no_toml(ours: &Value, theirs: &Value) -> bool {
    let error = text(ours, "error");
    theirs.get("ok").is_some()
        && (error == "duplicate key"
            || error.starts_with("cannot extend value of type inline table"))
}

/// Python ends with another error if includes nest deeper still.
fn deep_includes(ours: &Value, theirs: &Value) -> bool {
    text(ours, "error").starts_with("includes of the pillar nest deeper")
        && (theirs.get("ok").is_some() || text(theirs, "error").starts_with("RecursionError"))
}

/// The errors of an external pillar cannot be put into a list.
fn list_as_pillar(ours: &Value, theirs: &Value) -> bool {
    let refusals = [
        "TypeError: list indices must be integers or slices, not str",
        "TypeError: cannot convert dictionary update sequence element #0 to a sequence",
    ];
    ours.get("ok").is_some() && refusals.contains(&text(theirs, "error"))
}

/// Salt reads the name of an sls as a URL.
fn brackets(ours: &Value, theirs: &Value) -> bool {
    let refusal = text(theirs, "error");
    let of_urls = ["does not appear to be an IPv4", "Invalid IPv6 URL"];
    ours.get("ok").is_some() && of_urls.iter().any(|sign| refusal.contains(sign))
}

/// In the reference's data are streams, where ours has texts. Everything else is the same.
fn stream(ours: &Value, theirs: &Value) -> bool {
    let (ours, theirs) = (text(ours, "ok"), text(theirs, "ok"));
    let mut parts = theirs.split("<_io.StringIO object at 0x");
    let Some(mut rest) = parts.next().and_then(|first| ours.strip_prefix(first)) else {
        return false;
    };
    let mut has_streams = false;
    for part in parts {
        let same = part.split_once('>').map_or(part, |(_, same)| same);
        if !rest.starts_with(['\'', '"']) {
            return false;
        }
        let Some(after) = rest[quoted_length(rest)..].strip_prefix(same) else {
            return false;
        };
        (rest, has_streams) = (after, true);
    }
    has_streams && rest.is_empty()
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

    fn ok(text: &str) -> Value {
        json!({"ok": text})
    }

    fn error(text: &str) -> Value {
        json!({"error": text})
    }

    /// Checks whether each pair of our answer and theirs has a reason.
    fn check(cases: &[(Value, Value, bool)]) {
        for (ours, theirs, explained) in cases {
            let reason = reason(ours, theirs);
            assert_eq!(reason.is_some(), *explained, "{ours} {theirs}: {reason:?}");
        }
    }

    #[test]
    fn a_reason_needs_its_signs() {
        let holds_itself = "the list would contain itself";
        let outside_loop = "SyntaxError: 'break' outside loop (<template>, line 11)";
        let invalid = "ValueError: Invalid IPv6 URL";
        let too_deep = "includes of the pillar nest deeper than 100, at 'a.'";
        let (one, other) = ("'<x.A object at 0x1f>'", "'<y.A object at 0x2e>'");
        check(&[
            (error(holds_itself), ok("[[...]]"), true),
            (error(holds_itself), ok("[1]"), false),
            (error("no"), ok("[[...]]"), false),
            (ok("{}"), error("RecursionError: too deep"), true),
            (ok("{'a': None}"), ok("{'a': Undefined}"), true),
            (ok("{'b': None}"), ok("{'a': Undefined}"), false),
            (error(too_deep), ok("{}"), true),
            (error(too_deep), json!({}), false),
            (error("duplicate key"), ok("{}"), true),
            (error("duplicate key"), json!({}), false),
            (ok("{}"), error(invalid), true),
            (error("no"), error(invalid), false),
            (ok("['outside loop', 1]"), error(outside_loop), true),
            (ok("'a template'"), error(outside_loop), false),
            (ok(one), ok(other), true),
            (ok(one), ok("'a <y.A object at 0x2e>'"), false),
        ]);
    }

    #[test]
    fn a_reason_can_need_what_the_reference_gives_otherwise() {
        check(&[
            (ok("1"), json!({"ok": "2", "values": "1"}), true),
            (ok("1"), json!({"ok": "2", "values": "2"}), false),
            (ok("1"), json!({"ok": "2", "values": null}), true),
            (ok("1"), json!({"ok": "2", "unwrapped": "1"}), true),
            (ok("1"), json!({"ok": "2", "unwrapped": "2"}), false),
        ]);
    }

    #[test]
    fn streams_excuse_texts_in_their_places_only() {
        let theirs = "{'a': <_io.StringIO object at 0x1f>, 'b': [<_io.StringIO object at 0x2e>]}";
        check(&[
            (ok("{'a': 'x\\'y', 'b': [\"z'\"]}"), ok(theirs), true),
            (ok("{'a': 'x', 'b': ['z'], 'c': 1}"), ok(theirs), false),
            (ok("{'a': 'x', 'b': [5]}"), ok(theirs), false),
            (ok("{'a': 'x', 'b': []}"), ok(theirs), false),
            (ok("{'a': 'x'}"), ok("{'a': 'y'}"), false),
        ]);
    }

    #[test]
    fn objects_excuse_no_difference_elsewhere() {
        let theirs = "{'a': <function f at 0x1f>, 'b': [1, <bound method f of <C object at 0x2>>], 'c': Undefined}";
        let refused = "{'a': 1} is not data";
        check(&[
            (
                ok("{'a': None, 'b': [1, None], 'c': None}"),
                ok(theirs),
                true,
            ),
            (
                ok("{'a': None, 'b': [2, None], 'c': None}"),
                ok(theirs),
                false,
            ),
            (ok("{'a': None, 'b': [1, None]}"), ok(theirs), false),
            (ok("{'a': 1, 'b': [1, None], 'c': None}"), ok(theirs), false),
            (ok("{}"), ok(theirs), false),
            (error(refused), ok(theirs), true),
            (error("no such file"), ok(theirs), false),
            (error(refused), ok("{'a': Undefined}"), false),
            // Texts are data, whatever they look like.
            (ok("{'a': None}"), ok("{'a': '<f at 0x1>'}"), false),
            (ok("{'a': None}"), ok("{'a': 'b: \\'<f at 0x1>'}"), false),
            (
                ok("{'a': '< ', 'b': None}"),
                ok("{'a': '< ', 'b': <f at 0x1>}"),
                true,
            ),
            (ok("{'a': None}"), ok("{'a': <f>}"), false),
        ]);
    }
}
