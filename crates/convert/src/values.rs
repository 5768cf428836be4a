//! YAML texts of layers.

use mapstack::value::{Key, Map, Value};
use mapstack::yaml::{DumpOptions, dump};
use mapstack_salt_jinja::Syntax;

/// The lines that a new layer begins with.
pub(crate) const HEADER: &str = "# -*- coding: utf-8 -*-\n# vim: ft=yaml\n";

/// A value as the lines of a layer, lists indented below their keys. Marks of templates in its texts are texts there, too.
pub(crate) fn lines_of(value: &Value) -> String {
    let lines = yaml_of(value);
    if !Syntax::has_marks(&lines) {
        return lines;
    }
    let raw = |line: &str| {
        let text = line.trim_start_matches(' ');
        match Syntax::has_marks(text) {
            true => format!(
                "{}{{% raw %}}{text}{{% endraw %}}\n",
                &line[..line.len() - text.len()]
            ),
            false => format!("{line}\n"),
        }
    };
    lines.lines().map(raw).collect()
}

fn yaml_of(value: &Value) -> String {
    // A text of many words stays on one line.
    let options = DumpOptions {
        width: usize::MAX,
        ..DumpOptions::output()
    };
    let one = |value: &Value| dump(value, &options);
    let mut lines = String::new();
    match value {
        Value::Map(map) if !map.is_empty() => {
            for (key, value) in map {
                let inner = match value {
                    Value::Map(map) if !map.is_empty() => yaml_of(value),
                    Value::List(items) if !items.is_empty() => yaml_of(value),
                    _ => {
                        let entry = Map::from_iter([(key.clone(), value.clone())]);
                        lines.push_str(&quoted(one(&entry.into()), value));
                        continue;
                    }
                };
                lines.push_str(&format!("{}\n{}", key_text(key), indented(&inner, 2)));
            }
        }
        Value::List(items) if !items.is_empty() => {
            for item in items.iter() {
                let inner = match item {
                    Value::Map(_) | Value::List(_) => yaml_of(item),
                    scalar => {
                        lines.push_str(&quoted(one(&vec![scalar.clone()].into()), scalar));
                        continue;
                    }
                };
                let inner = indented(&inner, 2);
                lines.push_str(&format!("- {}", inner.trim_start_matches(' ')));
            }
        }
        other => lines = one(other),
    }
    lines
}

/// A line with a text at its end; one of digits alone, such as `008`, in quotes, so that it is not taken for a number.
fn quoted(line: String, value: &Value) -> String {
    let digits = value
        .as_str()
        .filter(|text| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()));
    let lead = digits.and_then(|digits| line.trim_end().strip_suffix(digits));
    match (lead, digits) {
        (Some(lead), Some(digits)) => format!("{lead}'{digits}'\n"),
        _ => line,
    }
}

/// A key with its colon.
pub(crate) fn key_text(key: &Key) -> String {
    let entry = Map::from_iter([(key.clone(), Value::None)]);
    let text = dump(&entry.into(), &DumpOptions::output());
    let text = text.trim_end();
    text.strip_suffix("null")
        .unwrap_or(text)
        .trim_end()
        .to_owned()
}

/// Lines with this many blanks before each that is not empty.
pub(crate) fn indented(text: &str, by: usize) -> String {
    let pad = " ".repeat(by);
    let line = |line: &str| match line.trim().is_empty() {
        true => "\n".to_owned(),
        false => format!("{pad}{line}\n"),
    };
    text.lines().map(line).collect()
}

/// Lines without the blanks that all of them begin with.
pub(crate) fn dedented(text: &str) -> String {
    let indent = |line: &&str| line.len() - line.trim_start_matches(' ').len();
    let is_full = |line: &&str| !line.trim().is_empty();
    // A comment may stand further to the left than what it is about.
    let is_data = |line: &&str| is_full(line) && !line.trim_start().starts_with('#');
    let data = text.lines().filter(is_data).map(|line| indent(&line));
    let common = data.min().unwrap_or_else(|| {
        let all = text.lines().filter(is_full).map(|line| indent(&line));
        all.min().unwrap_or(0)
    });
    let line = |line: &str| {
        let cut = common.min(indent(&line));
        format!("{}\n", line[cut..].trim_end())
    };
    text.lines().map(line).collect()
}

/// A text without the empty lines around it.
pub(crate) fn trimmed(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let is_full = |line: &&str| !line.trim().is_empty();
    let first = lines.iter().position(&is_full);
    let last = lines.iter().rposition(is_full);
    match (first, last) {
        (Some(first), Some(last)) => lines[first..=last].join("\n") + "\n",
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use mapstack::yaml::load;

    use super::*;

    #[test]
    fn lists_stand_below_their_keys() {
        let text = "a:\n  - 1\n  - x: 'yes'\n    y: {}\n  - - 1\nb: []\n'1': |\n  two\n  lines\nc:\n  d: null\ne: '008'\n";
        let value = load(text).unwrap();
        let lines = lines_of(&value);
        assert!(load(&lines).unwrap().is_same(&value), "{lines}");
        assert!(
            lines.starts_with("a:\n  - 1\n  - x: 'yes'\n    y: {}\n  - - 1\nb: []\n")
                && lines.ends_with("e: '008'\n"),
            "{lines}"
        );
    }

    #[test]
    fn marks_of_templates_stay_texts() {
        let value = load("{a: {b: 'x {{ y }}', c: 1}}").unwrap();
        let expected = "a:\n  {% raw %}b: x {{ y }}{% endraw %}\n  c: 1\n";
        assert_eq!(lines_of(&value), expected);
    }

    #[test]
    fn lines_move_together() {
        assert_eq!(
            dedented("    a:\n# far left\n      b: 1\n"),
            "a:\n# far left\n  b: 1\n"
        );
        assert_eq!(trimmed("\n\n a\n\n"), " a\n");
    }
}
