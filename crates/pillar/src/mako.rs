//! Mako, the language of MakoStack's templates.

use mapstack_pyobject::{DictRef, Obj};
use mapstack_salt_jinja::{RenderResult, Request};
use mapstack_sandbox::Interpreter;
use mapstack_value::Map;
use mapstack_value::Value;

/// True if a text has anything for Mako to do.
pub(crate) fn has_marks(text: &str) -> bool {
    let of_a_line = |line: &str| {
        let line = line.trim_start_matches([' ', '\t']);
        line.starts_with('%') || line.starts_with("##") || line.ends_with('\\')
    };
    text.contains("${")
        || text.contains("<%")
        || text.contains("</%")
        || text.lines().any(of_a_line)
}

/// True if a template can look at a variable: it says its name, or has a way to come by variables
/// without. Variables are copied into the interpreter, and a master's options are many.
pub(crate) fn may_use(text: &str, name: &str) -> bool {
    const WAYS: [&str; 22] = [
        "context",
        "<%inherit",
        "<%include",
        "<%namespace",
        "__M_",
        "eval",
        "exec",
        "locals",
        "globals",
        "vars",
        "dir",
        "getattr",
        "mako",
        "runtime",
        "template",
        "lookup",
        "module",
        "caller",
        "pageargs",
        "attrgetter",
        "methodcaller",
        "__dict__",
    ];
    // Python takes several spellings of letters that are not ASCII for the same name.
    !text.is_ascii() || text.contains(name) || WAYS.iter().any(|way| text.contains(way))
}

/// The encoding that the first line of a text names, unless it is one the text is in (Mako:
/// `Lexer.decode_raw_stream`).
pub(crate) fn other_encoding(text: &str) -> Option<&str> {
    let (first, _) = text.split_once('\n')?;
    let comment = first.strip_prefix('#')?;
    // The last one of the line counts.
    let mut marks = comment
        .rmatch_indices("coding")
        .map(|(at, word)| &comment[at + word.len()..]);
    let name = marks.find_map(|rest| {
        let rest = rest.strip_prefix([':', '='])?.trim_start();
        let end = rest
            .find(|c: char| !(c.is_alphanumeric() || matches!(c, '-' | '_' | '.')))
            .unwrap_or(rest.len());
        rest.get(..end).filter(|name| !name.is_empty())
    })?;
    let plain = name.to_ascii_lowercase().replace(['_', '-'], "");
    let fits = match &*plain {
        "utf8" | "u8" | "utf8sig" => true,
        "ascii" | "usascii" | "latin1" | "iso88591" | "iso885915" | "cp1252" | "windows1252" => {
            text.is_ascii()
        }
        _ => false,
    };
    (!fits).then_some(name)
}

/// The variables that stay as a template leaves them.
const CHANGED: [&str; 4] = ["stack", "pillar", "__grains__", "__opts__"];

/// Run a template as MakoStack does, and take over what it changed in place in the data stacked so far
/// and in the facts, even if it fails.
///
/// # Errors
/// The template fails, or the program that runs Mako is missing.
pub(crate) fn render(
    request: &Request<'_>,
    stack: &mut Value,
    interpreter: &Interpreter,
) -> mapstack_pyobject::Result<RenderResult> {
    let options = mapstack_sandbox::mako::MakoOptions::stack();
    let uri = request.name.as_deref();
    let given =
        |name: &&str| request.variables.contains_key(*name) || request.locals.contains_key(*name);
    let can_change: Vec<&str> = CHANGED.into_iter().filter(given).collect();
    let (rendered, changed) =
        mapstack_sandbox::mako::attempt_as(request, options, uri, &can_change, interpreter);
    for (name, value) in changed {
        match (request.variables.get(&name), value) {
            (Some(Obj::Dict(live)), Value::Map(map)) => replace(live, &map),
            // An unchanged value stays the very same.
            (None, value @ Value::Map(_)) if !value.is_same(stack) => *stack = value,
            _ => {}
        }
    }
    rendered
}

/// Give a live dict other entries.
fn replace(live: &DictRef, map: &Map) {
    let entries = map
        .iter()
        .map(|(key, value)| (key.clone(), Obj::from(value.clone())));
    live.change(|live| {
        live.clear();
        live.extend(entries);
    });
}

#[cfg(test)]
mod tests {
    use super::{has_marks, may_use, other_encoding};

    #[test]
    fn variables_that_a_template_cannot_look_at_are_known() {
        for (text, name, may) in [
            ("a: ${minion_id}", "minion_id", true),
            ("a: ${minion_id}", "__opts__", false),
            ("<% stack['a'] = 1 %>", "stack", true),
            ("<% stack['a'] = 1 %>", "pillar", false),
            ("${context['pil' + 'lar']}", "pillar", true),
            ("<%include file='x'/>", "pillar", true),
            ("${locals()}", "pillar", true),
            ("${\u{ff50}illar}", "pillar", true),
            (
                "<%page args='**pageargs'/>${sorted(pageargs)}",
                "pillar",
                true,
            ),
        ] {
            assert_eq!(may_use(text, name), may, "{text} {name}");
        }
    }

    #[test]
    fn encodings_other_than_that_of_the_text_are_reported() {
        for (text, other) in [
            ("# -*- coding: utf-8 -*-\na: \u{fc}", None),
            ("# -*- coding: latin-1 -*-\na: b", None),
            ("# -*- coding: latin-1 -*-\na: \u{fc}", Some("latin-1")),
            ("# vim: set fileencoding=klingon :\r\n", Some("klingon")),
            ("# coding: klingon", None),
            ("a: 1\n# coding: klingon\n", None),
            ("# encoding is what it is\n", None),
            ("# coding: klingon, coding: utf8\n", None),
        ] {
            assert_eq!(other_encoding(text), other, "{text:?}");
        }
    }

    #[test]
    fn plain_text_is_distinguished_from_templates() {
        for (text, marked) in [
            ("a: 1\nb: 50%\n", false),
            ("a: ${x}", true),
            ("% for x in y:\n", true),
            ("a: 1\n  % if x:\n", true),
            ("## note\n", true),
            ("# note\n", false),
            ("a: 1\\\nb", true),
            ("<%def name='x()'>", true),
            ("", false),
        ] {
            assert_eq!(has_marks(text), marked, "{text:?}");
        }
    }
}
