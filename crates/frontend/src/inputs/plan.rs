//! Formulas for many minions, as verbs that compare or look through them want them.

use mapstack::share::SharedFormula;
use mapstack::{Condition, Configuration, ConfigurationMethod, DataOptions, Engine, Error};
use mapstack_fleet::Fleet;

use crate::inputs::InputError;
use crate::inputs::Kwargs;
use crate::inputs::flags::{Input, Layering, ResultFlags};

/// The work that is done, on whichever files.
pub struct Plan {
    /// The formulas.
    pub formulas: Vec<String>,
    /// Those of them whose `map.jinja` has other variables that are compared as well.
    others: Vec<String>,
    options: DataOptions,
    /// The way in which configurations are made, if it is not for the formula to say.
    way: Option<ConfigurationMethod>,
    variable: Option<String>,
    saltenv: Option<String>,
    condition: Option<Condition>,
    /// About how many bytes each formula remembers, if given.
    memory: Option<usize>,
}

impl Plan {
    /// The plan that flags ask for, of no formula so far.
    ///
    /// # Errors
    /// Arguments that mean nothing.
    pub fn new(
        input: &Input,
        layering: &Layering,
        result: &ResultFlags,
        select: Option<&str>,
    ) -> Result<Self, InputError> {
        Ok(Plan {
            formulas: Vec::new(),
            others: Vec::new(),
            options: Kwargs::data_options(input, layering)?,
            way: result.way(),
            variable: result.var.clone(),
            saltenv: input.files.saltenv.clone(),
            condition: select.map(Condition::parse).transpose()?,
            memory: None,
        })
    }

    /// Look at these formulas, with all variables of a `map.jinja` that templates import in one of some states.
    ///
    /// # Errors
    /// A formula's files cannot be listed or read.
    pub(crate) fn compare(
        &mut self,
        formulas: Vec<String>,
        engines: [&Engine; 2],
    ) -> Result<(), Error> {
        self.others.clear();
        for formula in &formulas {
            for engine in engines {
                if self.configuration(engine, formula)?.has_others() {
                    self.others.push(formula.clone());
                    break;
                }
            }
        }
        self.formulas = formulas;
        Ok(())
    }

    /// The formulas, in the order of what is computed: and again those with other compared variables.
    pub fn names(&self) -> Vec<String> {
        self.formulas.iter().chain(&self.others).cloned().collect()
    }

    /// Remember about this many bytes for each formula.
    pub fn with_memory(mut self, bytes: usize) -> Self {
        self.memory = Some(bytes);
        self
    }

    /// The condition on minions; empty if there is none.
    pub(crate) fn select(&self) -> &str {
        self.condition.as_ref().map_or("", Condition::as_str)
    }

    /// The saltenv that formulas are looked for in.
    pub fn saltenv(&self) -> &str {
        self.saltenv.as_deref().unwrap_or("base")
    }

    /// The configuration of a formula, on the files of an engine.
    fn configuration(&self, engine: &Engine, formula: &str) -> Result<Configuration, Error> {
        let options = self.options.clone();
        let configuration = Configuration::of(engine, formula, self.saltenv(), options)?;
        let configuration = match self.way {
            Some(way) => configuration.made(engine, way)?,
            None => configuration,
        };
        Ok(configuration.with_variable(self.variable.as_deref()))
    }

    /// The way in which each formula's configuration is made, the later state before the earlier one, where they differ.
    pub fn ways(&self, [before, after]: [&Fleet<'_>; 2]) -> Vec<(String, ConfigurationMethod)> {
        let both = before.configurations().zip(after.configurations());
        let both = both.filter(|(before, _)| !before.is_others());
        let has_data = |before: &Configuration, after: &Configuration| {
            after.has_data() || after.is_there() && !before.has_data()
        };
        let way = |(before, after): (&Configuration, &Configuration)| match has_data(before, after)
        {
            true => (after.formula().to_owned(), after.way()),
            false => (before.formula().to_owned(), before.way()),
        };
        both.map(way).collect()
    }

    /// The formulas on the files of an engine.
    ///
    /// # Errors
    /// A formula's files cannot be listed or read.
    pub fn fleet<'e>(&self, engine: &'e Engine) -> Result<Fleet<'e>, Error> {
        let own = self.formulas.iter().map(|formula| (formula, false));
        let others = self.others.iter().map(|formula| (formula, true));
        let shared = |(formula, of_others): (&String, bool)| -> Result<_, Error> {
            let configuration = self.configuration(engine, formula)?;
            let shared = SharedFormula::of(
                engine,
                match of_others {
                    true => configuration.of_others(),
                    false => configuration,
                },
            );
            let shared = match self.memory {
                Some(bytes) => shared.with_memory(bytes),
                None => shared,
            };
            Ok(match &self.saltenv {
                Some(saltenv) => shared.in_saltenv(saltenv.as_str()),
                None => shared,
            })
        };
        let mut formulas = own.chain(others).map(shared);
        let fleet = formulas.try_fold(Fleet::new(engine), |fleet, shared| {
            Ok::<_, Error>(fleet.shared_formula(shared?))
        })?;
        Ok(match &self.condition {
            Some(condition) => fleet.only(condition.clone()),
            None => fleet,
        })
    }
}
