//! What a formula's configuration is, and how to compute it.

use mapstack_diagnostic::{Error, ErrorKind, Result};
use mapstack_value::{Map, Value};

use crate::engine::{Engine, Run};
use crate::map_jinja::MapForm;
use crate::options::DataOptions;

/// The way in which a formula makes its configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Way {
    /// Its layers: the result of `map.data`.
    Data,
    /// Its templates: what its `map.jinja` exports, which may or may not call `map.data`.
    Map,
}

/// A formula's configuration: what its states work with, and how to compute it on a minion.
///
/// A formula with a `map.jinja` has the variable that this exports, any other the result of `map.data`. So a result does
/// not depend on which of the two the formula's author chose, and everything that compares formulas asks here.
///
/// ```
/// use mapstack::{Configuration, DataOptions, Engine, Way, loader::MemoryFiles, minion::Minion};
/// let files = MemoryFiles::new()
///     .file("base", "ntp/map.jinja", "{% set ntp = {'pkg': 'ntpsec'} %}")
///     .file("base", "ssh/parameters/defaults.yaml", "values: {port: 22}");
/// let engine = Engine::new(files);
/// let minion = Minion::new("web1").complete();
/// for (formula, way, expected) in [("ntp", Way::Map, "{'pkg': 'ntpsec'}"), ("ssh", Way::Data, "{'port': 22}")] {
///     let configuration = Configuration::of(&engine, formula, "base", DataOptions::default()).unwrap();
///     assert_eq!(configuration.way(), way);
///     assert!(configuration.compute(&engine.run(&minion)).unwrap().repr().starts_with(&expected[..expected.len() - 1]));
/// }
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Configuration {
    formula: String,
    saltenv: String,
    options: DataOptions,
    /// Whether there is any file of the formula.
    is_there: bool,
    /// The way that was asked for, whatever the formula's files show.
    forced: Option<Way>,
    has_layers: bool,
    /// How to take the configuration from a `map.jinja`, for [`Way::Map`].
    map: Option<MapForm>,
    variable: Option<String>,
}

impl Configuration {
    /// The configuration of a formula, made in the way that its files show.
    ///
    /// A formula without any files has an empty one.
    ///
    /// # Errors
    /// The formula's files cannot be listed or read.
    pub fn of(engine: &Engine, formula: &str, saltenv: &str, options: DataOptions) -> Result<Self> {
        let listed = engine.files().list(saltenv, &format!("{formula}/"));
        let listed = listed.map_err(|e| {
            Error::new(
                ErrorKind::File,
                format!("cannot list the files of {formula}: {e}"),
            )
        })?;
        let below = |path: &String| {
            path.strip_prefix(formula)?
                .strip_prefix('/')
                .map(str::to_owned)
        };
        let files: Vec<String> = listed.iter().filter_map(below).collect();
        let layers = Configuration {
            is_there: !files.is_empty(),
            forced: None,
            has_layers: files.iter().any(|path| path.starts_with("parameters/")),
            ..Self::by_layers(formula, saltenv, options)
        };
        match files.iter().any(|path| path == "map.jinja") {
            true => layers.by(engine, Way::Map),
            false => Ok(layers),
        }
    }

    /// The result of `map.data`, whatever files the formula has.
    #[must_use]
    pub fn by_layers(formula: &str, saltenv: &str, options: DataOptions) -> Self {
        Configuration {
            formula: formula.into(),
            saltenv: saltenv.into(),
            options,
            is_there: true,
            forced: Some(Way::Data),
            has_layers: true,
            map: None,
            variable: None,
        }
    }

    /// The configuration made in a given way, whatever files the formula has.
    ///
    /// # Errors
    /// The formula's templates cannot be read.
    pub fn made(mut self, engine: &Engine, way: Way) -> Result<Self> {
        self.forced = Some(way);
        self.is_there = true;
        self.by(engine, way)
    }

    fn by(mut self, engine: &Engine, way: Way) -> Result<Self> {
        self.map = match way {
            Way::Data => None,
            Way::Map => Some(engine.map_form(&self.formula, None, &self.saltenv)?),
        };
        Ok(self)
    }

    /// Take this variable of the `map.jinja`, if one is given.
    #[must_use]
    pub fn with_variable(mut self, name: Option<&str>) -> Self {
        self.variable = name.map(str::to_owned).or(self.variable);
        self
    }

    /// The formula.
    #[must_use]
    pub fn formula(&self) -> &str {
        &self.formula
    }

    /// The arguments of `map.data` besides the formula.
    #[must_use]
    pub fn options(&self) -> &DataOptions {
        &self.options
    }

    /// The way in which it is made.
    #[must_use]
    pub fn way(&self) -> Way {
        match self.map {
            None => Way::Data,
            Some(_) => Way::Map,
        }
    }

    /// Whether the formula has any file.
    #[must_use]
    pub fn is_there(&self) -> bool {
        self.is_there
    }

    /// Whether the formula has parameter files.
    #[must_use]
    pub fn has_layers(&self) -> bool {
        self.has_layers
    }

    /// The variable that was chosen by name.
    #[must_use]
    pub fn variable(&self) -> Option<&str> {
        self.variable.as_deref()
    }

    /// The configuration on the minion of a run.
    ///
    /// # Errors
    /// Those of [`Run::data`] or [`Run::map`].
    pub fn compute(&self, run: &Run<'_>) -> Result<Value> {
        if **run.saltenv() != *self.saltenv {
            return self.in_saltenv(run)?.compute(run);
        }
        if !self.is_there {
            return Ok(Map::new().into());
        }
        match &self.map {
            None => run.data(&self.formula, &self.options),
            Some(form) => run
                .map_of(form, self.variable.as_deref())
                .map(|exported| exported.value),
        }
    }

    /// The configuration in the saltenv of a run, where the formula may have other files.
    fn in_saltenv(&self, run: &Run<'_>) -> Result<Self> {
        let (engine, saltenv) = (run.engine(), run.saltenv());
        let found = Self::of(engine, &self.formula, saltenv, self.options.clone())?;
        let found = match self.forced {
            Some(way) => found.made(engine, way)?,
            None => found,
        };
        Ok(found.with_variable(self.variable.as_deref()))
    }
}
