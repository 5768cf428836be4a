//! The data that a formula makes, and how it differs from what is expected.

use std::collections::HashSet;

use mapstack::minion::Minion;
use mapstack::value::{Key, Str, Value};
use mapstack::{
    Configuration, ConfigurationMethod, DataOptions, Diagnostic, Engine, Error, ErrorKind, Place,
    Run,
};
use mapstack_fleet::{Change, Origins, Scope, changes, read_back};
use mapstack_lineage::ValuePosition;

use crate::recorded::{ExpectationForm, RecordedExpectation, VALUES};
use crate::{state, states};

/// A formula whose results are compared.
pub struct ExpectationSubject<'e> {
    engine: &'e Engine,
    configuration: Configuration,
    saltenv: String,
    has_state: bool,
}

/// The data that a run made.
#[derive(Debug)]
pub struct Actual {
    /// The data, as YAML reads it back.
    pub result: Result<Value, Error>,
    /// The warnings.
    pub warnings: Vec<Diagnostic>,
    /// The secrets, and texts that templates made of them.
    pub secret_texts: Vec<Str>,
}

/// A value that is not what it should be.
#[derive(Debug, Clone)]
pub struct Difference {
    /// The expected value (`old`), and the one that came out (`new`).
    pub change: Change,
    /// The place of the expected value.
    pub expected_at: Option<Place>,
    /// The place of the actual value, if that is known.
    pub actual_at: Option<ValuePosition>,
    /// The paths of scalars in the change that are secret.
    pub secret: HashSet<Vec<Key>>,
}

impl<'e> ExpectationSubject<'e> {
    /// A formula. One with a `map.jinja` is taken for what that exports, any other for its layers.
    ///
    /// # Errors
    /// The formula does not exist, or its files cannot be read.
    pub fn new(
        engine: &'e Engine,
        formula: &str,
        saltenv: &str,
        options: DataOptions,
    ) -> Result<Self, Error> {
        let configuration = Configuration::of(engine, formula, saltenv, options)?;
        if !configuration.is_there() {
            let message = format!("salt://{formula}/ has no files in saltenv {saltenv}");
            return Err(
                Error::new(ErrorKind::File, message).note("check the formula's name and the roots")
            );
        }
        Ok(ExpectationSubject {
            engine,
            configuration,
            saltenv: saltenv.into(),
            has_state: state::has_state(engine, saltenv, formula)?,
        })
    }

    /// The same formula, its configuration made in a given way.
    ///
    /// # Errors
    /// The formula's templates cannot be read.
    pub fn made(mut self, way: ConfigurationMethod) -> Result<Self, Error> {
        self.configuration = self.configuration.made(self.engine, way)?;
        Ok(self)
    }

    /// Take this variable of the `map.jinja`.
    #[must_use]
    pub fn variable(mut self, name: Option<&str>) -> Self {
        self.configuration = self.configuration.with_variable(name);
        self
    }

    /// The configuration that is compared.
    #[must_use]
    pub fn configuration(&self) -> &Configuration {
        &self.configuration
    }

    /// The data on a minion. For files of platforms that is what the formula's own state would write
    /// to such a file, if it has one: it may be more than one variable.
    #[must_use]
    pub fn actual(&self, form: ExpectationForm, minion: &Minion) -> Actual {
        let run = self.run(minion);
        let configured = || self.configuration.compute(&run);
        let by_state = form == ExpectationForm::Mapdata
            && self.has_state
            && self.configuration.way() == ConfigurationMethod::Map
            && self.configuration.variable().is_none();
        let result = match by_state {
            true => match run.sls(&state::path(self.configuration.formula())) {
                Ok(states) => written(&states).map_or_else(configured, Ok),
                Err(error) => Err(error),
            },
            false => configured(),
        };
        let (warnings, secret_texts) = (run.warnings(), run.secret_texts());
        Actual {
            result: result.map(|value| read_back(&value)),
            warnings,
            secret_texts,
        }
    }

    /// The states and managed files of a minion: of some sls, or of the formula's own.
    ///
    /// # Errors
    /// The formula has no sls of its name, and none is given.
    pub fn states(&self, sls: &[String], minion: &Minion) -> Result<Actual, Error> {
        let formula = self.configuration.formula();
        if sls.is_empty() {
            states::check(self.engine, &self.saltenv, formula)?;
        }
        let made = states::actual(self.engine, &self.saltenv, formula, sls, minion);
        Ok(Actual {
            result: made.result.map(|value| read_back(&value)),
            ..made
        })
    }

    /// Compare the data of a minion with the recorded data. `secret_texts` are those of the
    /// [`Actual`].
    #[must_use]
    pub fn compare(
        &self,
        recorded: &RecordedExpectation,
        actual: &Value,
        scope: &Scope,
        secret_texts: &[Str],
        minion: &Minion,
    ) -> Vec<Difference> {
        scope.note_keys(&recorded.data);
        scope.note_keys(actual);
        let changes = scope.of(changes(&recorded.data, &recorded.settled(actual)));
        // Origins are needed only for differences.
        let has_origins = !changes.is_empty() && recorded.form() != ExpectationForm::States;
        let origins = has_origins.then(|| {
            let run = || self.run(minion);
            Origins::of(&self.configuration, run, secret_texts.to_vec())
        });
        let origins = origins.as_ref();
        let secret = |change: &Change| {
            let values = change.old.iter().chain(&change.new);
            let paths = |value| Some(origins?.secret_paths(&change.path, value));
            values.filter_map(paths).flatten().collect()
        };
        let difference = |change: Change| Difference {
            expected_at: change
                .old
                .as_ref()
                .and_then(|_| recorded.place(&change.path)),
            actual_at: change
                .new
                .as_ref()
                .and_then(|value| origins?.at(&change.path, value)),
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

/// The value that a state passes to a file's template as `map`, or the values in it.
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
