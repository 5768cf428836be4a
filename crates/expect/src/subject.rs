//! What a formula makes, and how it differs from what it should.

use std::collections::HashSet;

use mapstack::minion::Minion;
use mapstack::value::{Key, Str, Value};
use mapstack::yaml::{DumpOptions, dump, load};
use mapstack::{DataOptions, Diagnostic, Engine, Error, ErrorKind, MapForm, Place, Run};
use mapstack_fleet::{Change, changes};
use mapstack_lineage::{Explain, Spot};

use crate::recorded::{Form, Recorded, VALUES};

/// Which of a formula's results is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// What its layers amount to: `map.data`.
    Data,
    /// What its `map.jinja` exports.
    Map,
}

/// A formula whose results are compared.
pub struct Subject<'e> {
    engine: &'e Engine,
    formula: String,
    saltenv: String,
    options: DataOptions,
    kind: Kind,
    form: Option<MapForm>,
    variable: Option<String>,
    has_parameters: bool,
    has_state: bool,
}

/// The state that writes the files of platforms, below the formula's folder.
const STATE: &str = "_mapdata/init.sls";

/// What came of a run.
#[derive(Debug)]
pub struct Actual {
    /// The data, as YAML reads it back.
    pub result: Result<Value, Error>,
    /// What was worth a warning.
    pub warnings: Vec<Diagnostic>,
    /// What is secret, and what templates made of that.
    pub secret_texts: Vec<Str>,
}

/// A value that is not what it should be.
#[derive(Debug, Clone)]
pub struct Difference {
    /// What was expected (`old`), and what came out (`new`).
    pub change: Change,
    /// Where the expected value stands.
    pub expected_at: Option<Place>,
    /// Where the value that came out stands, if that is known.
    pub actual_at: Option<Spot>,
    /// The paths of scalars in the change that are secret.
    pub secret: HashSet<Vec<Key>>,
}

impl<'e> Subject<'e> {
    /// A formula. One with a `map.jinja` is taken for what that exports, any other for its layers.
    ///
    /// # Errors
    /// There is no such formula, or its files cannot be read.
    pub fn new(
        engine: &'e Engine,
        formula: &str,
        saltenv: &str,
        options: DataOptions,
    ) -> Result<Self, Error> {
        let prefix = format!("{formula}/");
        let listed = engine.files().list(saltenv, &prefix);
        let listed = listed.map_err(|e| {
            Error::new(
                ErrorKind::File,
                format!("cannot list the files of {formula}: {e}"),
            )
        })?;
        if listed.is_empty() {
            let message = format!("no file lies below salt://{prefix} in saltenv {saltenv}");
            return Err(
                Error::new(ErrorKind::File, message).note("check the formula's name and the roots")
            );
        }
        let has = |wanted: &str| {
            listed
                .iter()
                .any(|path| path.strip_prefix(&prefix) == Some(wanted))
        };
        let parameters = format!("{prefix}parameters/");
        let subject = Subject {
            engine,
            formula: formula.into(),
            saltenv: saltenv.into(),
            options,
            kind: Kind::Data,
            form: None,
            variable: None,
            has_state: has(STATE),
            has_parameters: listed.iter().any(|path| path.starts_with(&parameters)),
        };
        if has("map.jinja") {
            subject.of(Kind::Map)
        } else {
            Ok(subject)
        }
    }

    /// The same formula, taken for one of its results.
    ///
    /// # Errors
    /// The formula's templates cannot be read.
    pub fn of(mut self, kind: Kind) -> Result<Self, Error> {
        self.form = match kind {
            Kind::Data => None,
            Kind::Map => Some(self.engine.map_form(&self.formula, None, &self.saltenv)?),
        };
        self.kind = kind;
        Ok(self)
    }

    /// Take this variable of the `map.jinja`.
    #[must_use]
    pub fn variable(mut self, name: Option<&str>) -> Self {
        self.variable = name.map(str::to_owned).or(self.variable);
        self
    }

    /// Which of its results is meant.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// What it makes on a minion. For files of platforms that is what the formula's own state would write
    /// to such a file, if it has one: it may be more than one variable.
    #[must_use]
    pub fn actual(&self, form: Form, minion: &Minion) -> Actual {
        let run = self.run(minion);
        let mapped = |form| {
            run.map_of(form, self.variable.as_deref())
                .map(|exported| exported.value)
        };
        let by_state = form == Form::Mapdata && self.has_state && self.variable.is_none();
        let result = match &self.form {
            None => run.data(&self.formula, &self.options),
            Some(form) if by_state => match run.sls(&format!("{}/{STATE}", self.formula)) {
                Ok(states) => written(&states).map_or_else(|| mapped(form), Ok),
                Err(error) => Err(error),
            },
            Some(form) => mapped(form),
        };
        let (warnings, secret_texts) = (run.warnings(), run.secret_texts());
        Actual {
            result: result.map(|value| read_back(&value)),
            warnings,
            secret_texts,
        }
    }

    /// How what came out on a minion differs from what was recorded. `secret_texts` are those of the
    /// [`Actual`].
    #[must_use]
    pub fn compare(
        &self,
        recorded: &Recorded,
        actual: &Value,
        secret_texts: &[Str],
        minion: &Minion,
    ) -> Vec<Difference> {
        let changes = changes(&recorded.data, &recorded.settled(actual));
        // Who made it matters only where it differs.
        let explained = match changes.is_empty() || (self.kind == Kind::Map && !self.has_parameters)
        {
            true => None,
            false => self.run(minion).explain(&self.formula, &self.options).ok(),
        };
        let origin = |path: &[Key], value: &Value| {
            let (data, lineage) = explained.as_ref()?;
            // The templates of a formula may make something else of its layers.
            let same = self.kind == Kind::Data || read_back(at(data, path)?).is_same(value);
            same.then(|| lineage.at(path).map(|known| known.spot))
                .flatten()
        };
        let by_origin = explained
            .as_ref()
            .map(|(_, lineage)| lineage.secret_paths(&[]))
            .unwrap_or_default();
        let secret = |change: &Change| {
            let mut secret: HashSet<Vec<Key>> = by_origin
                .iter()
                .filter(|path| path.starts_with(&change.path))
                .cloned()
                .collect();
            for value in change.old.iter().chain(&change.new) {
                add_secret_numbers(value, &mut change.path.clone(), secret_texts, &mut secret);
            }
            secret
        };
        let difference = |change: Change| Difference {
            expected_at: change
                .old
                .as_ref()
                .and_then(|_| recorded.place(&change.path)),
            actual_at: change
                .new
                .as_ref()
                .and_then(|value| origin(&change.path, value)),
            secret: secret(&change),
            change,
        };
        changes.into_iter().map(difference).collect()
    }

    fn run(&self, minion: &Minion) -> Run<'e> {
        self.engine
            .run(minion)
            .with_saltenv(self.saltenv.as_str())
            .following_secrets()
    }
}

/// What a state hands to the template of a file as `map`, or the values in it.
fn written(states: &Value) -> Option<Value> {
    let arguments = states
        .as_map()?
        .values()
        .find_map(|state| state.as_map()?.get("file.managed")?.as_list())?;
    let context = arguments
        .iter()
        .find_map(|argument| argument.as_map()?.get("context")?.as_map())?;
    let map = context.get("map")?;
    let values = map
        .as_map()
        .filter(|map| map.len() == 1)
        .and_then(|map| map.get(VALUES));
    Some(values.unwrap_or(map).clone())
}

/// The paths of numbers that are secret by their content: texts are not searched for those.
fn add_secret_numbers(
    value: &Value,
    path: &mut Vec<Key>,
    texts: &[Str],
    secret: &mut HashSet<Vec<Key>>,
) {
    match value {
        Value::Map(map) => {
            for (key, value) in map {
                path.push(key.clone());
                add_secret_numbers(value, path, texts, secret);
                path.pop();
            }
        }
        Value::List(items) => {
            for (index, item) in items.iter().enumerate() {
                path.push(Key::from(i64::try_from(index).unwrap_or(i64::MAX)));
                add_secret_numbers(item, path, texts, secret);
                path.pop();
            }
        }
        Value::Int(_) | Value::Float(_) if texts.contains(&Str::from(value.to_string())) => {
            secret.insert(path.clone());
        }
        _ => {}
    }
}

fn at<'v>(value: &'v Value, path: &[Key]) -> Option<&'v Value> {
    path.iter()
        .try_fold(value, |value, key| value.as_map()?.get(key))
}

/// A value as a file has it: tuples are lists there.
fn read_back(value: &Value) -> Value {
    load(&dump(value, &DumpOptions::output())).unwrap_or_else(|_| value.clone())
}
