//! `saltutil.runner`: the runners that the tree ships, in `salt://_runners`.
//!
//! In Salt this function runs a runner on the master, which compiles pillars, or on a minion that is its own master. A
//! stub with the runner's name answers it as well: `mine.get` is both the runner and the function of a minion.

use mapstack_functions::{
    Call, Functions as _, RunnerCall, TreeAnswer, tree_has_runners, tree_runner,
};
use mapstack_pyobject::{CallArgs, Error, ErrorKind, Obj, Result};
use mapstack_salt_jinja::Vm;
use mapstack_value::{Key, Map, Value};

use crate::host::RunHost;

/// The function that runs runners.
pub(crate) const RUNNER: &str = "saltutil.runner";

impl RunHost<'_, '_> {
    /// True if the tree has runners, so that the function exists.
    pub(crate) fn runs_runners(&self) -> bool {
        tree_has_runners(self)
    }

    /// Answer a call of `saltutil.runner`; none where something else has to.
    pub(crate) fn ask_runner(&self, vm: &Vm<'_>, args: &CallArgs) -> Option<Result<Obj>> {
        let asked = match self
            .call(RUNNER, args)
            .and_then(|call| RunnerRequest::of(&call))
        {
            Ok(Some(asked)) => asked,
            Ok(None) => return None,
            Err(error) => return Some(Err(error)),
        };
        let stubs = &self.run.engine.stubs;
        if stubs.has(&asked.runner.name) {
            let answer = self.call(RUNNER, args).map(|call| {
                let call = Call {
                    name: asked.runner.name.clone(),
                    args: asked.runner.arguments.clone(),
                    kwargs: asked.runner.keywords.clone(),
                    ..call
                };
                self.ask(vm, stubs, &call)
            });
            match answer {
                Ok(Some(answer)) => return Some(answer),
                Ok(None) => {}
                Err(error) => return Some(Err(error)),
            }
        }
        let name = asked.runner.name.clone();
        let is_full = asked.is_full;
        let answer = match tree_runner(self, vm, asked.runner) {
            Ok(TreeAnswer::None) => return None,
            Ok(TreeAnswer::Value(..)) if is_full => Err(Error::new(
                ErrorKind::Undefined,
                format!(
                    "the runner {name} answers with the number of a job and times for full_return=True"
                ),
            )),
            answer => answer,
        };
        self.run.note_outside_input();
        Some(match answer {
            Ok(answer) => self.of_tree(answer, RUNNER, args),
            Err(mut error) => {
                if error.kind == ErrorKind::Undefined && !error.message.starts_with("salt[") {
                    let quoted = mapstack_value::quote_str(&name);
                    error.message = format!("the runner {quoted} has no answer: {}", error.message);
                }
                Err(self.with_advice(error, RUNNER, args))
            }
        })
    }
}

/// The function and arguments of a call.
struct RunnerRequest {
    runner: RunnerCall,
    /// True if it asks for what the job is, besides.
    is_full: bool,
}

impl RunnerRequest {
    /// The runner that a call asks for; none where Salt itself refuses the arguments in a way that has no answer here.
    fn of(call: &Call) -> Result<Option<Self>> {
        let mut known = call.clone();
        let names = ["name", "arg", "kwarg", "full_return", "saltenv", "jid"];
        let mut others = Map::new();
        let is_known = |name: &Key| name.as_str().is_some_and(|name| names.contains(&name));
        for (name, value) in &call.kwargs {
            if !is_known(name) {
                known.kwargs.shift_remove(name);
                others.insert(name.clone(), value.clone());
            }
        }
        let [name, arg, kwarg, full, saltenv, _] = known.bind(names)?;
        let Some(Value::Str(name)) = name else {
            return Ok(None);
        };
        let wrong = |what: &str| {
            let message = format!("SaltInvocationError: {what}");
            Error::new(ErrorKind::Salt, message)
        };
        let arguments = match arg {
            None | Some(Value::None) => Vec::new(),
            Some(Value::List(items)) => items.to_vec(),
            Some(Value::Tuple(items)) => items.to_vec(),
            Some(_) => return Err(wrong("arg must be formatted as a list/tuple")),
        };
        let mut keywords = match kwarg {
            None | Some(Value::None) => Map::new(),
            Some(Value::Map(map)) => map,
            Some(_) => return Err(wrong("kwarg must be formatted as a dictionary")),
        };
        let env = others.shift_remove("__env__");
        for (name, value) in others {
            // Salt passes on what it does not keep for itself.
            if !name.as_str().is_some_and(|name| name.starts_with("__")) {
                keywords.insert(name, value);
            }
        }
        let runner = RunnerCall {
            name,
            arguments,
            keywords,
            saltenv: env.or(saltenv).unwrap_or_else(|| "base".into()),
        };
        let is_full = full.is_some_and(|full| full.truthy());
        Ok(Some(RunnerRequest { runner, is_full }))
    }
}
