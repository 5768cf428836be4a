//! Formulas for many minions, as verbs that compare or look through them want them.

use mapstack::{Condition, DataOptions, Engine};
use mapstack_fleet::Fleet;
use mapstack_share::SharedFormula;

use crate::InputError;
use crate::Kwargs;
use crate::flags::{Input, Layering};

/// What is computed, on whichever files.
pub struct Plan {
    /// The formulas.
    pub formulas: Vec<String>,
    options: DataOptions,
    saltenv: Option<String>,
    condition: Option<Condition>,
    /// About how many bytes each formula remembers, if given.
    memory: Option<usize>,
}

impl Plan {
    /// What flags ask for, of no formula so far.
    ///
    /// # Errors
    /// Arguments that mean nothing.
    pub fn new(
        input: &Input,
        layering: &Layering,
        select: Option<&str>,
    ) -> Result<Self, InputError> {
        let kwargs = Kwargs::new(input)?.layering(layering)?.into_map();
        Ok(Plan {
            formulas: Vec::new(),
            options: DataOptions::from_kwargs(&kwargs)?,
            saltenv: input.files.saltenv.clone(),
            condition: select.map(Condition::parse).transpose()?,
            memory: None,
        })
    }

    /// Remember about so many bytes for each formula.
    pub fn with_memory(mut self, bytes: usize) -> Self {
        self.memory = Some(bytes);
        self
    }

    /// The saltenv that formulas are looked for in.
    pub fn saltenv(&self) -> &str {
        self.saltenv.as_deref().unwrap_or("base")
    }

    /// The same on the files of an engine.
    pub fn fleet<'e>(&self, engine: &'e Engine) -> Fleet<'e> {
        let formulas = self.formulas.iter().map(|formula| {
            let formula = SharedFormula::new(engine, formula, self.options.clone());
            let formula = match self.memory {
                Some(bytes) => formula.with_memory(bytes),
                None => formula,
            };
            match &self.saltenv {
                Some(saltenv) => formula.in_saltenv(saltenv.as_str()),
                None => formula,
            }
        });
        let fleet = formulas.fold(Fleet::new(engine), Fleet::shared_formula);
        match &self.condition {
            Some(condition) => fleet.only(condition.clone()),
            None => fleet,
        }
    }
}
