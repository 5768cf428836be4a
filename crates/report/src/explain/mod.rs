//! The origins of values: the history of one, the whole with an origin on each line, everything for programs.

mod blame;
mod history;
#[cfg(feature = "html")]
mod html;
mod lines;
mod rows;
mod states;
mod why_not;

use std::collections::HashSet;

use mapstack::minion::{FactPlace, Minion};
use mapstack::secrets::{Redacted, Secrets};
use mapstack::value::{Extent, Key, Path as KeyPath, Value};
use mapstack::{Error, ErrorKind, Means};
use mapstack_diagnostic::redact::with_keys;
use mapstack_lineage::{Ancestor, Ancestry, Layer, LayerKind, Lineage, MAX_VALUES, ValuePosition};

use crate::terminal::Styled;
use crate::values::nothing_under;
use crate::words::joined;
pub use lines::line_path;
pub use rows::ExplanationRows;
pub use states::{ExplainedHighstate, argument_paths};
pub use why_not::text as why_not;

/// Refuse data that a few lines of aliases make too large to read.
///
/// # Errors
/// The data expands to more than 100,000 keys and values.
pub fn check_size(data: &Value) -> Result<(), Error> {
    let values = Extent::of(data).values;
    if values <= MAX_VALUES {
        return Ok(());
    }
    let message = format!(
        "the configuration expands to {values} keys and values, repeated aliases included; \
         at most {MAX_VALUES} are explained ({} prints all of it)",
        Means::Data
    );
    Err(Error::new(ErrorKind::DataSource, message))
}

/// The parts of a run that are shown.
pub struct ExplainReport<'r> {
    lineage: &'r Lineage,
    secrets: &'r Secrets,
    minion: &'r Minion,
    formula: &'r str,
    /// The paths of values that are in the pillar, or may be, and of those that templates made of secrets.
    secret: HashSet<Vec<Key>>,
    /// Keys that are literally in a file: no template made them of a secret.
    written: HashSet<Key>,
    /// True if all values are secret.
    hides_all: bool,
}

/// True if a key is in its file as it is, in quotes or without: a template can print a part of a quoted one.
fn is_written(spot: Option<&ValuePosition>, key: &Key) -> bool {
    match spot {
        None | Some(ValuePosition::Unknown | ValuePosition::File { computed: true, .. }) => false,
        Some(ValuePosition::File { place, .. }) => {
            let text = place.source.get(place.start..).unwrap_or_default();
            text.trim_start_matches(['\'', '"'])
                .starts_with(&key.to_string())
        }
        Some(_) => true,
    }
}

impl<'r> ExplainReport<'r> {
    /// The origins that `lineage` knows of a formula on a minion.
    pub fn new(
        lineage: &'r Lineage,
        secrets: &'r Secrets,
        minion: &'r Minion,
        formula: &'r str,
    ) -> Self {
        let mut written = HashSet::new();
        lineage.visit(&mut |path, known| {
            let key = path
                .last()
                .filter(|key| is_written(known.key.as_ref(), key));
            written.extend(key.cloned());
        });
        ExplainReport {
            lineage,
            secrets,
            minion,
            formula,
            written,
            secret: lineage.secret_paths(&[]),
            hides_all: false,
        }
    }

    /// The origins that `lineage` knows of a minion's pillar.
    pub fn of_pillar(lineage: &'r Lineage, secrets: &'r Secrets, minion: &'r Minion) -> Self {
        ExplainReport {
            hides_all: secrets.policy().masks_pillar(),
            ..ExplainReport::new(lineage, secrets, minion, "pillar")
        }
    }

    /// The origins that `lineage` knows of a minion's states.
    pub fn of_states(lineage: &'r Lineage, secrets: &'r Secrets, minion: &'r Minion) -> Self {
        ExplainReport::new(lineage, secrets, minion, "highstate")
    }

    /// The origins that `lineage` knows of the lines of a minion's file.
    pub fn of_file(lineage: &'r Lineage, secrets: &'r Secrets, minion: &'r Minion) -> Self {
        ExplainReport::new(lineage, secrets, minion, "file")
    }

    /// For people: the history of the value at a path, or the data with an origin on each line.
    pub fn text(&self, data: &Value, path: Option<&[Key]>, blame: bool) -> Styled {
        match path {
            Some(path) if !blame => self.history(path),
            path => self.blame(data, path.unwrap_or_default()),
        }
    }

    /// A value of the data, without secrets: each part of it has its own place.
    fn now(&self, path: &[Key], value: &Value) -> Redacted<Value> {
        let is_secret = |path: &[Key]| self.hides_all || self.secret.contains(path);
        let masked = self.secrets.redact_value(path, value, &is_secret);
        masked.map(|value| with_keys(&value, &|key| self.masked_key(key)))
    }

    /// A key that shows no secrets: templates can make keys of them.
    fn masked_key(&self, key: &Key) -> Key {
        match key {
            Key::Str(text) if !self.written.contains(key) => {
                Key::from(&*self.secrets.shown_key(text))
            }
            other => other.clone(),
        }
    }

    /// A value that was there before, without secrets. The places of its parts are not known, so
    /// it may come from any layer up to then.
    fn past(&self, path: &[Key], past: &Ancestor) -> Redacted<Value> {
        let is_whole = !matches!(past.value, Value::Map(_) | Value::List(_));
        let before = || self.lineage.layers_before(past.by).iter();
        let mixed =
            || before().any(|layer| layer.kind == LayerKind::Value && !is_of_own_facts(layer));
        let masks_pillar = self.secrets.policy().masks_pillar();
        let is_secret =
            self.hides_all || past.spot.is_secret() || (masks_pillar && !is_whole && mixed());
        self.secrets.redact_value(path, &past.value, &|_| is_secret)
    }

    /// The ancestry of an existing value.
    fn at(&self, path: &[Key]) -> Option<Ancestry> {
        self.lineage.at(path)
    }
}

/// True if a matcher looks into grains, which are not secret.
fn is_of_grains(matcher: &str) -> bool {
    matcher.starts_with("G@") || matcher.starts_with("G:")
}

/// True if a matcher looks into the pillar and nowhere else.
fn is_of_the_pillar(matcher: &str) -> bool {
    ["I@", "I:", "J@", "J:"]
        .iter()
        .any(|kind| matcher.starts_with(kind))
}

/// True if what a matcher finds is secret because of where it looks.
fn is_secret_matcher(matcher: &str, secrets: &Secrets) -> bool {
    let policy = secrets.policy();
    match policy.masks_pillar() {
        true => !is_of_grains(matcher),
        false => matcher
            .split([':', '@'])
            .any(|step| policy.is_secret_key(step)),
    }
}

/// True if a layer's value cannot come from the pillar.
fn is_of_own_facts(layer: &Layer) -> bool {
    layer
        .because
        .iter()
        .all(|because| is_of_grains(&because.matcher))
}

/// A place, as flags name what gave a fact.
fn shown(spot: &ValuePosition) -> String {
    match spot {
        ValuePosition::Fact {
            part,
            path,
            place: Some(FactPlace::Set),
            secret,
        } => {
            let fact = ValuePosition::Fact {
                part: *part,
                path: path.clone(),
                place: None,
                secret: *secret,
            };
            format!("{fact} ({})", Means::Fact)
        }
        spot => spot.to_string(),
    }
}

/// True if a value has entries or items.
fn is_branch(value: &Value) -> bool {
    match value {
        Value::Map(map) => !map.is_empty(),
        Value::List(items) => !items.is_empty(),
        _ => false,
    }
}

/// A text that fits on a line.
fn short(text: &str) -> String {
    const MAX: usize = 60;
    match text.char_indices().nth(MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.into(),
    }
}

/// The exact path of a key, which may name keys that are not text and count from the end of lists.
///
/// # Errors
/// The data has no such key.
pub fn path(data: &Value, given: &KeyPath) -> Result<Vec<Key>, Error> {
    let (mut here, mut path) = (data, Vec::new());
    for step in given.steps() {
        let found = exact(here, &step.0)
            .ok_or_else(|| nothing_under(here, &step.0.to_string(), &joined(&path)))?;
        here = found.1;
        path.push(found.0);
    }
    Ok(path)
}

fn exact<'v>(value: &'v Value, step: &Key) -> Option<(Key, &'v Value)> {
    match value {
        Value::Map(map) => {
            let as_written = step.to_string();
            let loose = || map.iter().find(|(key, _)| key.to_string() == as_written);
            let own = map.index_of(step).and_then(|index| map.entry_at(index));
            own.or_else(loose).map(|(key, value)| (key.clone(), value))
        }
        Value::List(items) => {
            let index: i64 = step.to_string().parse().ok()?;
            let index = if index < 0 {
                index.checked_add(i64::try_from(items.len()).ok()?)?
            } else {
                index
            };
            Some((Key::from(index), items.get(usize::try_from(index).ok()?)?))
        }
        _ => None,
    }
}
