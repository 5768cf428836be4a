//! The compiled states of many minions. Those whose sls render to the same share them.

use std::sync::Arc;

use mapstack::minion::Minion;
use mapstack_diagnostic::{Error, ErrorKind};
use mapstack_pyobject::{Budget, Obj};
use mapstack_value::Value;

use crate::compile::{CompileOptions, Compiler, LowDataError, LowState, limit_reached, low_data};
use crate::high::{RequestedSls, matches_of};
use crate::runs::{Compiled, LowRun, RunningState};
use crate::{Gatherer, HighData, Places};

impl<'e> Gatherer<'e> {
    /// The states that top files give a minion.
    ///
    /// ```
    /// use mapstack::{Engine, loader::MemoryFiles, minion::Minion};
    /// use mapstack_states::{Gatherer, TopOptions};
    /// let files = MemoryFiles::new()
    ///     .file("base", "top.sls", "base: {'*': [web]}")
    ///     .file("base", "web.sls", "nginx: {pkg.installed: [{pkgs: [nginx, {curl: '8'}]}]}");
    /// let engine = Engine::new(files);
    /// let gatherer = Gatherer::new(&engine, TopOptions::default());
    /// let compiled = ["web1", "web2"].map(|id| gatherer.compiled(&Minion::new(id).complete()).unwrap());
    /// assert_eq!(compiled[0].states[0].packages, ["nginx", "curl"]);
    /// assert!(std::sync::Arc::ptr_eq(&compiled[0], &compiled[1]));
    /// ```
    ///
    /// # Errors
    /// The top files cannot be used.
    pub fn compiled(&self, minion: &Minion) -> Result<Arc<Compiled>, Error> {
        let top = self.top(minion)?;
        Ok(self.compiled_of(minion, &matches_of(&Ok(top))))
    }

    /// The states of some sls, and of those that they include.
    #[must_use]
    pub fn compiled_sls(&self, minion: &Minion, saltenv: &str, names: &[String]) -> Arc<Compiled> {
        self.compiled_of(minion, &[(saltenv.to_owned(), names.to_vec())].into())
    }

    fn compiled_of(&self, minion: &Minion, matches: &RequestedSls) -> Arc<Compiled> {
        let options = CompileOptions::of(minion);
        let start = format!(
            "{matches:?} {:?} {:?}",
            options.disabled_requisites, options.disabled_states
        );
        let mut renders = self.renders.of(minion);
        if let Some(known) = self.compiles.find(&start, &mut renders) {
            return known;
        }
        let budget = Budget::new(self.limits(), None);
        let compiled = self.building(&budget, renders, matches, |high, states| {
            Arc::new(self.compile(minion, high, &states, &budget))
        });
        // Time and memory may suffice for the next minion.
        if compiled
            .errors
            .iter()
            .all(|error| error.kind() != ErrorKind::Limit)
        {
            let size = compiled.size();
            self.compiles.keep(start, &compiled.sls, &compiled, size);
        }
        compiled
    }

    fn compile<'b>(
        &self,
        minion: &Minion,
        high: HighData,
        states: &Obj,
        budget: &'b Budget<'b>,
    ) -> Compiled {
        let watches = |module: &str| high.watches(module);
        let options = high.compile_options(minion, &watches);
        let compiler = Compiler::new(options, budget).after(high.refusals.clone());
        let (mut chunks, mut runs) = (Vec::new(), Vec::new());
        let (states, errors) = match compiler.low(states) {
            Ok(low) => {
                let states = low.iter().map(RunningState::of).collect();
                let kept = low.iter().filter(|_| self.keeps_low);
                let run = |state| LowRun::of(state, &|module| high.watches(module));
                runs = kept.map(run).collect();
                let errors = match self.kept(low) {
                    Ok(made) => {
                        chunks = made;
                        Vec::new()
                    }
                    Err(error) => vec![error],
                };
                (states, errors)
            }
            Err(LowDataError::Refused(refusals)) => {
                let places = Places::new(self.engine(), &high.sls);
                (Vec::new(), places.errors(&refusals))
            }
            Err(LowDataError::Limit(error)) => (Vec::new(), vec![limit_reached(&error)]),
        };
        Compiled {
            changed: high.changed,
            sls: high.sls,
            low: chunks,
            runs,
            states,
            errors,
        }
    }

    /// The low data of states, if it is kept.
    fn kept(&self, low: Vec<LowState>) -> Result<Vec<Value>, Error> {
        low_data(low.into_iter().filter(|_| self.keeps_low))
    }
}
