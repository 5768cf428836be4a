//! The configuration of a formula, and how to compute it.

use mapstack_diagnostic::Result;
use mapstack_value::{Map, Value};

use crate::engine::Engine;
use crate::map_jinja::MapForm;
use crate::options::DataOptions;
use crate::run::Run;

/// The way in which a formula computes its configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ConfigurationMethod {
    /// From layers: the result of `map.data`.
    Data,
    /// By a template: a variable that `map.jinja` exports. This template may call `map.data`.
    Map,
}

/// A formula's configuration, that is, the data its states use, and how to compute it on a minion.
///
/// For a formula with `map.jinja`, the configuration is the variable that this template exports; for others, it is
/// the result of `map.data`. All code that compares formulas uses this type, so its results do not depend on which
/// of the two a formula uses.
///
/// ```
/// use mapstack::{Configuration, DataOptions, Engine, ConfigurationMethod, loader::MemoryFiles, minion::Minion};
/// let files = MemoryFiles::new()
///     .file("base", "ntp/map.jinja", "{% set ntp = {'pkg': 'ntpsec'} %}")
///     .file("base", "ssh/parameters/defaults.yaml", "values: {port: 22}");
/// let engine = Engine::new(files);
/// let minion = Minion::new("web1").complete();
/// for (formula, way, expected) in [("ntp", ConfigurationMethod::Map, "{'pkg': 'ntpsec'}"), ("ssh", ConfigurationMethod::Data, "{'port': 22}")] {
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
    /// True if the formula has any file.
    is_there: bool,
    /// The way that the caller chose, regardless of the formula's files.
    forced: Option<ConfigurationMethod>,
    has_layers: bool,
    /// The way to take the configuration from a `map.jinja`, for [`ConfigurationMethod::Map`].
    map: Option<MapForm>,
    variable: Option<String>,
    /// True if the other variables are meant.
    is_others: bool,
}

impl Configuration {
    /// The configuration of a formula, computed in the way that its files show.
    ///
    /// A formula without files has an empty configuration.
    ///
    /// # Errors
    /// The formula's files cannot be listed or read.
    pub fn of(engine: &Engine, formula: &str, saltenv: &str, options: DataOptions) -> Result<Self> {
        let listed = engine.list(saltenv, &format!("{formula}/"))?;
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
            true => {
                let survey = engine.survey_of(listed, saltenv)?;
                let map = Some(MapForm::of(&survey, formula, None));
                Ok(Configuration { map, ..layers })
            }
            false => Ok(layers),
        }
    }

    /// The result of `map.data`, regardless of the formula's files.
    #[must_use]
    pub fn by_layers(formula: &str, saltenv: &str, options: DataOptions) -> Self {
        Configuration {
            formula: formula.into(),
            saltenv: saltenv.into(),
            options,
            is_there: true,
            forced: Some(ConfigurationMethod::Data),
            has_layers: true,
            map: None,
            variable: None,
            is_others: false,
        }
    }

    /// The configuration computed in a given way, regardless of the formula's files.
    ///
    /// # Errors
    /// The formula's templates cannot be read.
    pub fn made(mut self, engine: &Engine, way: ConfigurationMethod) -> Result<Self> {
        self.forced = Some(way);
        self.is_there = true;
        self.map = match way {
            ConfigurationMethod::Data => None,
            ConfigurationMethod::Map => {
                Some(engine.map_form(&self.formula, None, &self.saltenv)?)
            }
        };
        Ok(self)
    }

    /// Use this variable of `map.jinja`, if one is given.
    #[must_use]
    pub fn with_variable(mut self, name: Option<&str>) -> Self {
        self.variable = name.map(str::to_owned).or(self.variable);
        self
    }

    /// True if templates of the formula import more variables of its `map.jinja` than the one that the configuration
    /// is, unless the caller chose one.
    #[must_use]
    pub fn has_others(&self) -> bool {
        self.variable.is_none() && self.map.as_ref().is_some_and(MapForm::has_others)
    }

    /// These other variables in place of the configuration: a mapping by their names. Functions and macros are left out.
    #[must_use]
    pub fn of_others(mut self) -> Self {
        self.is_others = true;
        self
    }

    /// True if it is these.
    #[must_use]
    pub fn is_others(&self) -> bool {
        self.is_others
    }

    /// The name of the formula.
    #[must_use]
    pub fn formula(&self) -> &str {
        &self.formula
    }

    /// The arguments of `map.data` besides the formula.
    #[must_use]
    pub fn options(&self) -> &DataOptions {
        &self.options
    }

    /// The way in which the configuration is computed.
    #[must_use]
    pub fn way(&self) -> ConfigurationMethod {
        match self.map {
            None => ConfigurationMethod::Data,
            Some(_) => ConfigurationMethod::Map,
        }
    }

    /// True if the formula has any file.
    #[must_use]
    pub fn is_there(&self) -> bool {
        self.is_there
    }

    /// True if the formula has what a configuration is made of: parameter files or a `map.jinja`.
    #[must_use]
    pub fn has_data(&self) -> bool {
        self.is_there && (self.has_layers || self.map.is_some())
    }

    /// True if the formula has parameter files.
    #[must_use]
    pub fn has_layers(&self) -> bool {
        self.has_layers
    }

    /// The variable that the caller chose.
    #[must_use]
    pub fn variable(&self) -> Option<&str> {
        self.variable.as_deref()
    }

    /// Compute the configuration on the minion of a run.
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
            Some(form) if self.is_others => run.others_of(form),
            None if self.is_others => Ok(Map::new().into()),
            None => run.data(&self.formula, &self.options),
            Some(form) => run
                .map_of(form, self.variable.as_deref())
                .map(|exported| exported.value),
        }
    }

    /// The configuration in the saltenv of a run, where the formula can have other files.
    fn in_saltenv(&self, run: &Run<'_>) -> Result<Self> {
        let (engine, saltenv) = (run.engine(), run.saltenv());
        let found = Self::of(engine, &self.formula, saltenv, self.options.clone())?;
        let found = match self.forced {
            Some(way) => found.made(engine, way)?,
            None => found,
        };
        Ok(Configuration {
            is_others: self.is_others,
            ..found.with_variable(self.variable.as_deref())
        })
    }
}
