//! Stubs: answers to calls, read from a file.

use mapstack_value::{Map, Value};
use mapstack_yaml::{DumpOptions, Limits, Marks, dump, load_marked};

use crate::calls::{Call, CallError, Functions};
use mapstack_diagnostic::{Error, ErrorKind, Place, Result};

/// Answers to calls, by function and arguments.
///
/// A stub file is YAML or JSON. It maps function names to what they return, or to a list of entries. The first entry
/// that matches a call answers it.
///
/// ```
/// use mapstack_functions::{Call, Functions, Stubs};
///
/// let text = "
/// cmd.run:
///   - args: [hostname -f]
///     return: web1.example.org
///   - return: ''
/// pkg.version: {error: no such package}
/// ";
/// let stubs = Stubs::parse(text, "stubs.yaml").unwrap();
/// let answer = stubs.call(&Call::new("cmd.run").arg("hostname -f")).unwrap();
/// assert_eq!(answer.unwrap().as_str(), Some("web1.example.org"));
/// assert!(stubs.call(&Call::new("pkg.version").arg("vim")).unwrap().is_err());
/// assert!(stubs.call(&Call::new("pkg.latest_version").arg("vim")).is_none());
/// ```
///
/// | key | meaning |
/// |---|---|
/// | `args` | all positional arguments; without this key, any arguments match |
/// | `kwargs` | named arguments that the call must have with these values, among others |
/// | `exact` | `true`: the call must have no other named arguments |
/// | `minions` | a glob, or a list of globs, for the ids of minions |
/// | `return` | what the call returns; an entry with `???` has no answer yet, and is ignored |
/// | `error` | the message that the call fails with, instead of `return` |
#[derive(Debug, Clone, Default)]
pub struct Stubs(Vec<(String, Vec<Stub>)>);

#[derive(Debug, Clone)]
struct Stub {
    args: Option<Vec<Value>>,
    kwargs: Map,
    exact: bool,
    minions: Option<Vec<glob::Pattern>>,
    answer: Result<Value, CallError>,
}

const KEYS: [&str; 6] = ["args", "kwargs", "exact", "minions", "return", "error"];

impl Stubs {
    /// Parse a stub file; `name` is its name in errors.
    ///
    /// # Errors
    /// The text is not YAML, or an entry is invalid. The error has a place.
    pub fn parse(text: &str, name: &str) -> Result<Self> {
        let reader = Reader { text, name };
        let loaded = load_marked(text, &Limits::default()).map_err(|e| {
            let at = e.mark().map_or(0, |mark| mark.offset(text));
            Error::new(ErrorKind::Stub, e.kind().to_string()).at(Some(reader.place(at)))
        })?;
        let (document, marks) = loaded;
        let Value::Map(functions) = &document else {
            if document.is_none() {
                return Ok(Stubs::default());
            }
            let message = format!(
                "a stub file maps function names to what they return; this is {}",
                kind(&document)
            );
            return Err(reader.error(&marks, message).help(SHORT_FORM));
        };
        let mut stubs = Stubs::default();
        for (i, (function, given)) in functions.iter().enumerate() {
            let marks = marks.child(i).cloned().unwrap_or_default();
            let entries = match given {
                Value::List(entries) => {
                    let each = entries.iter().enumerate();
                    each.filter(|(_, entry)| !is_open(entry))
                        .map(|(i, entry)| {
                            reader.stub(entry, &marks.child(i).cloned().unwrap_or_default())
                        })
                        .collect::<Result<Vec<_>>>()?
                }
                entry if is_open(entry) => Vec::new(),
                entry => vec![reader.stub(entry, &marks)?],
            };
            stubs.0.push((function.to_string(), entries));
        }
        Ok(stubs)
    }

    /// Add stubs for calls that these do not answer.
    #[must_use]
    pub fn or(mut self, others: Stubs) -> Self {
        self.0.extend(others.0);
        self
    }

    /// True if the answer to a call can depend on the minion.
    pub fn tell_minions_apart(&self, name: &str) -> bool {
        self.entries(name).any(|stub| stub.minions.is_some())
    }

    fn entries(&self, name: &str) -> impl Iterator<Item = &Stub> {
        self.0
            .iter()
            .filter(move |(function, _)| *function == name)
            .flat_map(|(_, entries)| entries)
    }
}

/// The placeholder for an answer that is still to be written.
pub(crate) const OPEN: &str = "???";

fn is_open(entry: &Value) -> bool {
    let answer = entry.as_map().and_then(|entry| entry.get("return"));
    answer.and_then(Value::as_str) == Some(OPEN)
}

const SHORT_FORM: &str = "the short form of an entry is `cmd.run: {return: …}`";

impl Functions for Stubs {
    fn has(&self, name: &str) -> bool {
        self.entries(name).next().is_some()
    }

    fn has_module(&self, module: &str) -> bool {
        self.0.iter().any(|(name, entries)| {
            !entries.is_empty() && name.split_once('.').is_some_and(|(m, _)| m == module)
        })
    }

    fn call(&self, call: &Call) -> Option<Result<Value, CallError>> {
        self.entries(&call.name)
            .find(|stub| stub.fits(call))
            .map(|stub| stub.answer.clone())
    }
}

impl Stub {
    fn fits(&self, call: &Call) -> bool {
        let given = |(name, wanted): (&mapstack_value::Key, &Value)| {
            call.kwargs
                .get(name)
                .is_some_and(|given| same(given, wanted))
        };
        self.minions
            .as_ref()
            .is_none_or(|globs| globs.iter().any(|glob| glob.matches(&call.minion)))
            && self
                .args
                .as_ref()
                .is_none_or(|args| all_same(&call.args, args))
            && self.kwargs.iter().all(given)
            && (!self.exact || self.kwargs.len() == call.kwargs.len())
    }
}

/// Equality of arguments. A file cannot contain tuples, so its lists equal tuples as well.
fn same(given: &Value, written: &Value) -> bool {
    match (given, written) {
        (Value::Tuple(given), Value::List(written)) => all_same(given, written),
        (Value::List(given), Value::List(written)) => all_same(given, written),
        (Value::Map(given), Value::Map(written)) => {
            given.len() == written.len()
                && given.iter().all(|(key, value)| {
                    written.get(key).is_some_and(|written| same(value, written))
                })
        }
        _ => given == written,
    }
}

fn all_same(given: &[Value], written: &[Value]) -> bool {
    given.len() == written.len()
        && given
            .iter()
            .zip(written)
            .all(|(given, written)| same(given, written))
}

/// The lines of a stub file that answer a call, with an empty `return`.
pub fn entry_for(call: &Call) -> String {
    let mut entry = Map::new();
    if !call.args.is_empty() {
        entry.insert("args", call.args.iter().cloned().collect::<Value>());
    }
    if !call.kwargs.is_empty() {
        entry.insert("kwargs", call.kwargs.clone());
    }
    entry.insert("return", "");
    let written = |entry: Map| {
        let entries: Value = [Value::from(entry)].into_iter().collect();
        dump(
            &Value::from(Map::from_iter([(&*call.name, entries)])),
            &DumpOptions {
                width: 10_000,
                ..DumpOptions::output()
            },
        )
    };
    let text = written(entry);
    // Very long arguments are left out, because they are of no use in a message.
    if text.len() <= 2_000 {
        text
    } else {
        written(Map::from_iter([("return", "")]))
    }
}

/// The key of a stub that may be meant, or all of them.
fn near(key: &str) -> String {
    match mapstack_diagnostic::nearest(key, KEYS) {
        Some(near) => format!("did you mean '{near}'?"),
        None => format!("its keys are {}", KEYS.join(", ")),
    }
}

fn kind(value: &Value) -> &'static str {
    value.kind().described()
}

/// Creates errors with a place in the stub file.
struct Reader<'t> {
    text: &'t str,
    name: &'t str,
}

impl Reader<'_> {
    fn place(&self, at: usize) -> Place {
        Place {
            file: self.name.into(),
            source: self.text.into(),
            start: at,
            end: at,
        }
    }

    fn error(&self, marks: &Marks, message: impl Into<String>) -> Error {
        Error::new(ErrorKind::Stub, message).at(Some(self.place(marks.mark().offset(self.text))))
    }

    fn stub(&self, entry: &Value, marks: &Marks) -> Result<Stub> {
        let Value::Map(map) = entry else {
            let what = kind(entry);
            let message = format!("a stub is a mapping with `return` or `error`, not {what}");
            return Err(self.error(marks, message).help(SHORT_FORM));
        };
        let mut stub = Stub {
            args: None,
            kwargs: Map::new(),
            exact: false,
            minions: None,
            answer: Ok(Value::None),
        };
        let mut answered = false;
        for (i, (key, value)) in map.iter().enumerate() {
            let here = marks.child(i).unwrap_or(marks);
            let wrong = |wanted: &str| {
                let what = kind(value);
                self.error(here, format!("`{key}` must be {wanted}, not {what}"))
            };
            match (key.as_str().unwrap_or_default(), value) {
                ("args", Value::List(args)) => stub.args = Some(args.iter().cloned().collect()),
                ("args", _) => {
                    return Err(wrong("a list")
                        .help(format!("one argument is a list of one: [{}]", value.repr())));
                }
                ("kwargs", Value::Map(kwargs)) => stub.kwargs = kwargs.clone(),
                ("kwargs", _) => return Err(wrong("a mapping of argument names to values")),
                ("exact", Value::Bool(exact)) => stub.exact = *exact,
                ("exact", _) => return Err(wrong("true or false")),
                ("minions", Value::List(globs)) => {
                    let each = globs.iter().map(|glob| self.glob(glob, here));
                    stub.minions = Some(each.collect::<Result<_>>()?);
                }
                ("minions", one) => stub.minions = Some(vec![self.glob(one, here)?]),
                ("return" | "error", _) if answered => {
                    return Err(self.error(here, "a stub has either `return` or `error`, not both"));
                }
                ("return", value) => (stub.answer, answered) = (Ok(value.clone()), true),
                ("error", Value::Str(message)) => {
                    (stub.answer, answered) = (Err(CallError::new(message.to_string())), true);
                }
                ("error", _) => return Err(wrong("the message the call fails with")),
                (other, _) => {
                    let at = Marks::key(marks, i).map_or(0, |mark| mark.offset(self.text));
                    let message = format!("a stub has no key '{key}'");
                    return Err(Error::new(ErrorKind::Stub, message)
                        .at(Some(self.place(at)))
                        .help(near(other)));
                }
            }
        }
        if !answered {
            let message = "a stub needs `return`, what the call returns, or `error`, the message it fails with";
            return Err(self.error(marks, message));
        }
        Ok(stub)
    }

    fn glob(&self, value: &Value, marks: &Marks) -> Result<glob::Pattern> {
        let Value::Str(text) = value else {
            let message = format!(
                "`minions` holds globs for ids, such as 'web*', not {}",
                kind(value)
            );
            return Err(self.error(marks, message));
        };
        glob::Pattern::new(text)
            .map_err(|e| self.error(marks, format!("'{text}' is not a glob: {e}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stubs(text: &str) -> Stubs {
        Stubs::parse(text, "stubs.yaml").unwrap()
    }

    /// The answer to a call with `args` (a YAML list) and `kwargs` (a YAML mapping).
    fn answer(stubs: &Stubs, args: &str, kwargs: &str) -> Option<Value> {
        let mut call = Call::new("f.x");
        call.minion = "web1".into();
        call.args = mapstack_yaml::load(args)
            .unwrap()
            .as_list()
            .unwrap()
            .to_vec();
        call.kwargs = mapstack_yaml::load(kwargs)
            .unwrap()
            .as_map()
            .unwrap()
            .clone();
        stubs
            .call(&call)
            .map(|answer| answer.unwrap_or_else(|e| format!("error: {e}").into()))
    }

    #[test]
    fn the_first_entry_that_fits_answers() {
        let text = "
f.x:
  - {args: [a], return: one}
  - {args: [a, 2], return: two}
  - {kwargs: {k: [1]}, exact: true, return: exact}
  - {kwargs: {k: [1]}, return: named}
  - {minions: 'db*', return: db}
  - {minions: [app*, web?], args: [], return: web}
  - {args: [boom], error: it broke}
";
        let stubs = stubs(text);
        for (args, kwargs, expected) in [
            ("[a]", "{}", Some("one")),
            ("[a]", "{z: 1}", Some("one")),
            ("[a, 2]", "{}", Some("two")),
            ("[a, '2']", "{}", None),
            ("[b]", "{k: [1]}", Some("exact")),
            ("[b]", "{k: [1], z: 1}", Some("named")),
            ("[b]", "{k: [2]}", None),
            ("[]", "{}", Some("web")),
            ("[boom]", "{}", Some("error: it broke")),
        ] {
            assert_eq!(
                answer(&stubs, args, kwargs),
                expected.map(Value::from),
                "{args} {kwargs}"
            );
        }
    }

    #[test]
    fn a_list_in_the_file_stands_for_a_tuple_too() {
        let stubs = stubs("f.x: {args: [[1, {a: [2]}]], return: 1}");
        let inner = Value::Tuple(vec![Value::from(2)].into());
        let map = Value::from(Map::from_iter([("a", inner)]));
        let call = Call::new("f.x").arg(Value::Tuple(vec![Value::from(1), map].into()));
        assert!(stubs.call(&call).is_some());
    }

    #[test]
    fn the_suggested_entry_answers_the_call() {
        let awkward = "a: 'b' # {c} \"d\"\nnext\t[line] é";
        for call in [
            Call::new("f.x"),
            Call::new("f.x")
                .arg(awkward)
                .arg(1)
                .arg(Value::None)
                .kwarg("k", true)
                .kwarg("l", awkward),
            Call::new("f.x").arg("x".repeat(300)).arg("y ".repeat(300)),
            Call::new("f.x").arg("long".repeat(1_000)),
            Call::new("which").arg("bash"),
        ] {
            let entry = entry_for(&call);
            assert!(entry.len() < 2_100);
            assert_eq!(stubs(&entry).call(&call), Some(Ok("".into())), "{entry}");
        }
    }

    #[test]
    fn files_are_asked_in_order() {
        let both = stubs("f.x: {args: [a], return: 1}").or(stubs("f.x: {return: 2}"));
        assert_eq!(answer(&both, "[a]", "{}"), Some(Value::from(1)));
        assert_eq!(answer(&both, "[b]", "{}"), Some(Value::from(2)));
        assert!(
            both.has("f.x") && both.has_module("f") && !both.has("f.y") && !both.has_module("g")
        );
        assert!(stubs("").0.is_empty());
    }

    #[test]
    fn mistakes_have_a_place_and_a_reason() {
        for (text, expected) in [
            (
                "[1]",
                "s.yaml:1:1: a stub file maps function names to what they return; this is a list",
            ),
            (
                "a.b: 1",
                "s.yaml:1:6: a stub is a mapping with `return` or `error`, not an integer",
            ),
            (
                "a.b:\n  - retrun: 1",
                "s.yaml:2:5: a stub has no key 'retrun' (did you mean 'return'?)",
            ),
            (
                "a.b: {args: x, return: 1}",
                "s.yaml:1:13: `args` must be a list, not a string",
            ),
            (
                "a.b: {kwargs: [x], return: 1}",
                "s.yaml:1:15: `kwargs` must be a mapping",
            ),
            (
                "a.b: {exact: 1, return: 1}",
                "s.yaml:1:14: `exact` must be true or false",
            ),
            (
                "a.b: {minions: 1, return: 1}",
                "s.yaml:1:16: `minions` holds globs",
            ),
            (
                "a.b: {minions: '[', return: 1}",
                "s.yaml:1:16: '[' is not a glob",
            ),
            (
                "a.b: {return: 1, error: x}",
                "s.yaml:1:25: a stub has either",
            ),
            (
                "a.b: {error: 1}",
                "s.yaml:1:14: `error` must be the message",
            ),
            ("a.b: {args: []}", "s.yaml:1:6: a stub needs `return`"),
            ("a.b: {", "s.yaml:1:"),
        ] {
            let error = Stubs::parse(text, "s.yaml").unwrap_err().to_string();
            assert!(error.starts_with(expected), "{text}: {error}");
        }
    }
}
