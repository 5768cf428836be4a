//! The form of a pillar in JSON, which has texts alone as keys, and neither bytes nor sets.

use mapstack::value::{Key, Map, Value, json};
use mapstack::{Diagnostic, Error, ErrorKind, Severity};

use crate::words::{joined, some};

/// The number of keys that a message names.
const NAMED: usize = 3;

/// The form of a value in JSON, as far as it differs.
#[derive(Default)]
struct JsonForm {
    path: Vec<Key>,
    /// Keys that become text.
    turned: Vec<String>,
    /// Keys that become the text that another key is.
    doubled: Vec<String>,
    /// Values that have no form, and what they are.
    values: Vec<(String, &'static str)>,
    /// Keys that have no form, and what they are.
    keys: Vec<(String, &'static str)>,
}

/// The warnings about what changes when a pillar is written as JSON and read again.
pub fn lost(pillar: &Map) -> Vec<Diagnostic> {
    let form = JsonForm::of(pillar);
    let values: Vec<String> = form.values.into_iter().map(|(path, _)| path).collect();
    let all = [
        (
            form.turned,
            "JSON only has text keys, so these keys become text",
        ),
        (
            values,
            "JSON has neither bytes nor sets, so these values become the text that Python shows",
        ),
    ];
    let warning = |(paths, message): (Vec<String>, &str)| {
        let message = format!("{message}: {}", some(&paths, NAMED));
        let help = "YAML keeps them: -o yaml, which Salt's cmd_yaml reads";
        (!paths.is_empty())
            .then(|| Diagnostic::warning(ErrorKind::DataSource, message).with_help(help))
    };
    all.into_iter().filter_map(warning).collect()
}

/// That JSON has a place for all of a pillar.
///
/// # Errors
/// Bytes, sets, keys that are not scalars, and keys that become the same text as another key.
pub fn check(pillar: &Map) -> Result<(), Error> {
    let form = JsonForm::of(pillar);
    let error = |message: String| {
        let help = "YAML can: -o yaml, which Salt's cmd_yaml reads";
        let error = Diagnostic::warning(ErrorKind::DataSource, message).with_help(help);
        Error::from(Diagnostic {
            severity: Severity::Error,
            ..error
        })
    };
    if let Some((path, what)) = form.values.iter().chain(&form.keys).next() {
        return Err(error(format!(
            "the value of {path} is {what}, which JSON cannot express"
        )));
    }
    if !form.doubled.is_empty() {
        let message = format!(
            "JSON cannot have two keys with the same text: {}",
            some(&form.doubled, NAMED)
        );
        return Err(error(message));
    }
    Ok(())
}

impl JsonForm {
    fn of(pillar: &Map) -> Self {
        let mut form = JsonForm::default();
        form.map(pillar);
        form
    }

    fn value(&mut self, value: &Value) {
        match value {
            Value::Map(map) => self.map(map),
            Value::List(items) => self.items(items),
            Value::Tuple(items) => self.items(items),
            Value::Bytes(_) | Value::Set(_) => {
                self.values.push((self.shown(), value.kind().described()));
            }
            _ => {}
        }
    }

    fn items(&mut self, items: &[Value]) {
        for (index, item) in items.iter().enumerate() {
            self.below(Key::of_index(index), item);
        }
    }

    fn map(&mut self, map: &Map) {
        for (key, value) in map {
            self.path.push(key.clone());
            match (key, json_text(key)) {
                (Key::Str(_), _) => {}
                (_, None) => self.keys.push((self.shown(), key.kind().described())),
                (_, Some(text)) => {
                    if map.contains_key(&*text) {
                        self.doubled.push(self.shown());
                    }
                    self.turned.push(self.shown());
                }
            }
            self.value(value);
            self.path.pop();
        }
    }

    fn below(&mut self, key: Key, value: &Value) {
        self.path.push(key);
        self.value(value);
        self.path.pop();
    }

    fn shown(&self) -> String {
        joined(&self.path)
    }
}

/// The text that a key is in JSON.
fn json_text(key: &Key) -> Option<String> {
    let only = Map::from_iter([(key.clone(), Value::None)]);
    let text = json::dumps(&only.into(), &json::DumpOptions::default()).ok()?;
    let Ok(Value::Map(read)) = json::loads(&text) else {
        return None;
    };
    read.keys().next().map(ToString::to_string)
}

#[cfg(test)]
mod tests {
    use mapstack::yaml;

    use super::*;

    fn map(text: &str) -> Map {
        yaml::load(text).unwrap().as_map().unwrap().clone()
    }

    #[test]
    fn keys_that_are_not_text_are_named() {
        for (text, expected) in [
            ("a: {b: [{c: 1}]}", None),
            ("p: {80: x}", Some("p:80")),
            (
                "{1: a, 2.5: b, false: c, null: d}",
                Some("1, 2.5, False and 1 more"),
            ),
            ("l: [x, {443: y}]", Some("l:1:443")),
        ] {
            let warning = lost(&map(text)).pop().map(|warning| warning.message);
            let expected = expected
                .map(|keys| format!("JSON only has text keys, so these keys become text: {keys}"));
            assert_eq!(warning, expected, "{text}");
            check(&map(text)).unwrap();
        }
    }

    #[test]
    fn values_that_become_what_python_shows_are_named() {
        let warnings = lost(&map("{a: {b: !!binary /w==}, s: !!set {x}, 1: y}"));
        assert_eq!(warnings.len(), 2);
        let says = "so these values become the text that Python shows: a:b, s";
        assert!(warnings[1].message.ends_with(says));
    }

    #[test]
    fn what_has_no_form_is_an_error_that_says_where() {
        for (text, expected) in [
            (
                "a: {b: !!binary aGk=}",
                "the value of a:b is bytes, which JSON cannot express",
            ),
            (
                "a: [1, !!set {x, y}]",
                "the value of a:1 is a set, which JSON cannot express",
            ),
            (
                "a: {80: x, '80': y}",
                "JSON cannot have two keys with the same text: a:80",
            ),
            (
                "{null: x, 'null': y}",
                "JSON cannot have two keys with the same text: None",
            ),
            (
                "{true: x, 'true': y}",
                "JSON cannot have two keys with the same text: True",
            ),
        ] {
            let error = check(&map(text)).unwrap_err();
            assert_eq!(error.diagnostic().message, expected, "{text}");
        }
    }
}
