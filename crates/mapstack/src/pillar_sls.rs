//! Rendering files of a pillar, and what else a master does with templates and functions. The fold over them is in another
//! crate.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use mapstack_diagnostic::{Error, Result};
use mapstack_functions::Functions as _;
use mapstack_minion::{Minion, Part};
use mapstack_pyobject::{DictRef, Obj};
use mapstack_render::pipe::Allowed;
use mapstack_salt_jinja::Names;
use mapstack_value::{Key, Map, Str, Value};

use crate::engine::Engine;
use crate::file::File;
use crate::hooks::Hooks;
use crate::host::RunHost;
use crate::master_side::MasterSide;
use crate::pipe::{Data, PipeInput, StageOutput, context_of};
use crate::run::{Run, TemplateOnlyFacts};
use crate::text::Text;

/// A file to be rendered through its pipe.
#[derive(Debug, Clone, Copy)]
pub struct PillarSls<'s> {
    /// The file.
    pub file: &'s File,
    /// The saltenv it comes from.
    pub saltenv: &'s str,
    /// The name with dots; empty for a top file.
    pub sls: &'s str,
    /// More variables, as an include can give.
    pub variables: &'s [(Str, Value)],
}

/// The data of a file, and the text it was read from, for the places of values.
#[derive(Debug)]
pub struct RenderedSls {
    /// The data; the text if the pipe ends in text.
    pub value: Value,
    /// True if the pipe ends in text. Python takes even an empty one for something.
    pub is_text: bool,
    /// True if an alias of YAML names a mapping or a list.
    pub has_aliases: bool,
    /// The text that was read as YAML; `None` where the pipe has no such stage.
    pub text: Option<Text<'static>>,
}

impl RenderedSls {
    pub(crate) fn of(made: StageOutput<'_>, text: Option<Text<'static>>) -> Self {
        let (value, has_aliases, is_text) = match made {
            StageOutput::Data(Data { value, shared }) => (value, shared, false),
            StageOutput::Text(text) => (Value::from(text.as_str()), false, true),
        };
        RenderedSls {
            value,
            is_text,
            has_aliases,
            text,
        }
    }
}

/// A text of an external pillar, with its own renderers.
#[derive(Debug, Clone, Copy)]
pub struct ExternalText<'t> {
    /// The text.
    pub file: &'t File,
    /// The pipe of a text that names none; `None` for nothing.
    pub default: &'t Value,
    /// The renderers that may run; all of them if it is empty.
    pub whitelist: &'t Value,
    /// Those that may not.
    pub blacklist: &'t Value,
}

impl Engine {
    /// Start a run for templates of a master. The minion has the master's options.
    pub fn run_on_master(&self, minion: &Minion, side: MasterSide) -> Run<'_> {
        self.run(minion).on_master(side)
    }
}

impl<'e> Run<'e> {
    fn on_master(mut self, side: MasterSide) -> Self {
        let reader = || self.observed.hooks.get()?.fact_reader(Part::Opts);
        let opts = match reader() {
            Some(reader) => Obj::Dict(DictRef::tracked(side.opts.clone(), reader, Vec::new())),
            None => Obj::from(side.opts.clone()),
        };
        if let Some(facts) = &side.facts {
            self = self.with_facts_of_templates(facts.clone());
        }
        if side.opts_have_pillar
            && let (Obj::Dict(opts), Some([_, pillar])) =
                (&opts, self.live.apart.as_ref().map(|apart| &apart.live))
        {
            opts.insert("pillar", pillar.clone());
        }
        // Nothing has asked for the options yet.
        let _ = self.live.opts.set(opts);
        self.is_elsewhere = side.opts.get("__role").and_then(Value::as_str) != Some("minion");
        self.master = Some(side);
        self
    }

    /// The same run, whose templates have grains and a pillar of their own, as those of a state run: functions do not see
    /// what templates change, nor the other way round (Salt: `LazyLoader`, which copies its options).
    #[must_use]
    pub fn with_facts_of_templates(mut self, given: [Map; 2]) -> Self {
        let hooks = self.observed.hooks.get();
        let live = |part, facts| Run::live_dict(hooks.as_deref(), part, facts);
        let live = [live(Part::Grains, &given[0]), live(Part::Pillar, &given[1])];
        drop(hooks);
        self.live.apart = Some(TemplateOnlyFacts { given, live });
        self
    }

    /// The same run, whose functions cannot ask the minion's machine: they run on its master.
    #[must_use]
    pub fn on_another_machine(mut self) -> Self {
        self.is_elsewhere = true;
        self
    }

    /// Another run of the same minion with the present facts and what is left of this one's limits, on the same
    /// master if there is one. Hooks observe it from its start.
    pub fn beside(&self, hooks: Option<Rc<dyn Hooks + 'e>>) -> Run<'e> {
        let minion = self.minion().clone();
        let mut run = match hooks {
            Some(hooks) => self.engine.run_with_hooks(&minion, hooks),
            None => self.engine.run(&minion),
        };
        run.allowance.limits = self.allowance.limits;
        run.allowance.fuel = self.allowance.fuel.clone();
        run.allowance.following = self.allowance.following.clone();
        run.saltenv = self.saltenv.clone();
        run.stateconf = self.stateconf.clone();
        run.is_elsewhere = self.is_elsewhere;
        match (&self.master, &self.live.apart) {
            (Some(side), _) => run.on_master(side.clone()),
            (None, Some(apart)) => run.with_facts_of_templates(apart.given.clone()),
            (None, None) => run,
        }
    }
}

impl Run<'_> {
    /// Render a file of a pillar through the pipe in its first line, or through the default of the options (Salt:
    /// `compile_template`).
    ///
    /// # Errors
    /// A template or its output is wrong, a renderer is not built in, or the variables have names that a renderer gives
    /// to others itself.
    pub fn pillar_sls(&self, sls: PillarSls<'_>) -> Result<RenderedSls> {
        let kept = RefCell::new(None);
        let given = sls.variables.iter();
        let mut extra: Names = given
            .map(|(name, value)| (name.clone(), Obj::from(value.clone())))
            .collect();
        extra.insert("_pillar_rend".into(), Obj::Bool(true));
        let source = PipeInput {
            kept: Some(&kept),
            ..PipeInput::new(sls.file, sls.saltenv.into(), sls.sls.into()).with_variables(extra)
        };
        let made = self.compile(&source, &self.default_pipe(), false)?;
        Ok(RenderedSls::of(made, kept.take()))
    }

    /// Render a text of an external pillar through the pipe in its first line, or through a default (Salt:
    /// `compile_template_str`). Its templates see an empty pillar.
    ///
    /// # Errors
    /// A template or its output is wrong, or a renderer is not built in.
    pub fn external_text(&self, text: ExternalText<'_>) -> Result<Value> {
        let pillar = ("pillar".into(), Obj::from(Value::map()));
        let source = PipeInput {
            context: Some(context_of([pillar].into_iter().collect())),
            allowed: Some(Allowed {
                whitelist: text.whitelist.clone(),
                blacklist: text.blacklist.clone(),
            }),
            ..PipeInput::new(text.file, "base".into(), Str::default())
        };
        Ok(match self.compile(&source, text.default, false)? {
            StageOutput::Data(Data { value, .. }) => value,
            StageOutput::Text(text) => Value::from(text.as_str()),
        })
    }

    /// Set the test of a minion against a target of top files (Salt: `confirm_top`). It gets the target and its value
    /// of `match`, and fails as [`mapstack_functions::confirm_top`] does.
    pub fn with_targets<T>(
        &self,
        id: &str,
        work: impl FnOnce(&dyn Fn(&Key, Option<&Value>) -> Result<bool>) -> T,
    ) -> T {
        let host = RunHost::new(self);
        self.on_vm(|vm| {
            work(&|target, matcher| {
                mapstack_functions::confirm_top(self, &host, vm, id, target, matcher)
                    .map_err(|e| self.located(*e))
            })
        })
    }

    /// True if a minion is one that a nodegroup's target means.
    ///
    /// # Errors
    /// As [`mapstack_functions::is_in_group`].
    pub fn is_in_group(&self, id: &str, target: &Value) -> Result<bool> {
        self.on_vm(|vm| mapstack_functions::is_in_group(self, vm, id, target))
            .map_err(|e| self.located(*e))
    }

    /// Call a function as a template would.
    ///
    /// # Errors
    /// The function does not exist, or it fails.
    pub fn call_function(&self, name: &str, args: &[Value], kwargs: &Map) -> Result<Value> {
        let args = mapstack_pyobject::CallArgs {
            positional: args.iter().cloned().map(Obj::from).collect(),
            named: kwargs
                .iter()
                .map(|(name, value)| (name.to_string().into(), Obj::from(value.clone())))
                .collect(),
        };
        self.on_vm(|vm| vm.host().call_function(vm, name, args)?.to_value())
            .map_err(|e| self.located(*e))
    }

    /// The answer of a stub to a question that no template asks, such as `ext_pillar.NAME`; nothing without a stub.
    ///
    /// # Errors
    /// The stub is an error.
    pub fn stubbed(&self, name: &str) -> Result<Option<Value>> {
        let stubs = &self.engine.stubs;
        if !stubs.has(name) {
            return Ok(None);
        }
        let host = RunHost::new(self);
        let answer = self.on_vm(|vm| {
            let call = host.call(name, &mapstack_pyobject::CallArgs::default())?;
            let answer = host.ask(vm, stubs, &call);
            answer.map(|answer| answer?.to_value()).transpose()
        });
        answer.map_err(|e| self.located(*e))
    }

    /// Note a question that no stub answers, where these are collected.
    pub fn lack_answer(&self, name: &str) {
        if self.engine.collected.is_some() {
            let host = RunHost::new(self);
            let call = host.call(name, &mapstack_pyobject::CallArgs::default());
            let _ = call.and_then(|call| host.lacks_answer(call));
        }
    }

    /// Pay for work outside of templates from the steps of the run.
    ///
    /// # Errors
    /// There are not enough steps left.
    pub fn spend(&self, steps: usize) -> Result<()> {
        // Most of the time there are plenty.
        let left = self.allowance.fuel.get().saturating_sub(steps as u64);
        if left > self.engine.limits.fuel / 2 {
            self.allowance.fuel.set(left);
            return Ok(());
        }
        self.on_vm(|vm| vm.burn(steps))
            .map_err(|e| self.located(*e))
    }

    /// An error that belongs to no file.
    fn located(&self, e: mapstack_pyobject::Error) -> Error {
        let file = File {
            path: String::new(),
            shown: String::new(),
            bytes: Arc::from([]),
        };
        let message = e.message.clone();
        self.located_error(message, e, &file)
    }
}
