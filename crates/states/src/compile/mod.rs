//! The state compiler: high data, as sls render to it, becomes low data, the chunks that a minion runs one after the
//! other (Salt: `State`). The module does not know about files, templates or minions.
//!
//! ```
//! use mapstack_pyobject::{Budget, Limits, Obj};
//! use mapstack_states::compile::{CompileOptions, Compiler};
//! let high = "\
//! nginx: {pkg: [installed], __sls__: web, __env__: base}
//! /etc/nginx.conf: {file: [managed, {require: [{pkg: nginx}]}, {order: first}], __sls__: web, __env__: base}
//! ";
//! let high = Obj::from_shared(&mapstack_yaml::load(high).unwrap());
//! let budget = Budget::new(Limits::default(), None);
//! let compiler = Compiler::new(CompileOptions::default(), &budget);
//! let low = compiler.low(&high).unwrap();
//! let order: Vec<String> = low.iter().map(|state| state.chunk.get_str("name").unwrap().as_str().unwrap().to_string()).collect();
//! assert_eq!(order, ["nginx", "/etc/nginx.conf"]);
//! ```

mod chunks;
pub(crate) mod declare;
mod exclude;
mod extend;
mod graph;
mod keywords;
mod mutual;
mod order;
pub(crate) mod python;
pub(crate) mod refusal;
mod requisite_in;
mod requisites;
mod running;
mod verify;
pub(crate) mod work;

use mapstack::minion::{Minion, SaltVersion};
use mapstack_diagnostic::{Error as Diagnosed, ErrorKind};
use mapstack_pyobject::{Budget, DictRef, Error, Obj};
use mapstack_value::Value;

use self::graph::Graph;
pub use self::keywords::{Requisite, is_internal, is_of_every_state, is_requisite};
use self::python::mapping;
use self::refusal::CompileEnd;
pub use self::refusal::{NamedState, Refusal, RefusalKind, Requires};
use self::work::MinionCompile;

/// The options of a minion that change its low data.
pub struct CompileOptions<'o> {
    /// The requisites that `disabled_requisites` switches off.
    pub disabled_requisites: Vec<String>,
    /// The patterns of the grain `state_runs_disabled`.
    pub disabled_states: Vec<String>,
    /// True for a state module that does something about what it watches (`mod_watch`). Elsewhere `watch` is `require`.
    pub watches: &'o dyn Fn(&str) -> bool,
    /// The version of Salt.
    pub version: SaltVersion,
    /// The sls that are rendered. Before Salt 3008, a requisite on one is met if the sls has no states.
    pub rendered: Vec<String>,
}

impl CompileOptions<'_> {
    /// The options that follow from a minion's options and grains.
    #[must_use]
    pub fn of(minion: &Minion) -> Self {
        let texts = |value: Option<&Value>| match value {
            Some(Value::List(items)) => items.iter().map(ToString::to_string).collect(),
            Some(one) if one.truthy() => vec![one.to_string()],
            _ => Vec::new(),
        };
        CompileOptions {
            disabled_requisites: texts(minion.opts.get("disabled_requisites")),
            disabled_states: texts(minion.grains.get("state_runs_disabled")),
            ..CompileOptions::default()
        }
    }
}

impl Default for CompileOptions<'_> {
    /// Nothing is switched off, and each module watches.
    fn default() -> Self {
        CompileOptions {
            disabled_requisites: Vec::new(),
            disabled_states: Vec::new(),
            watches: &|_| true,
            version: SaltVersion::default(),
            rendered: Vec::new(),
        }
    }
}

/// The reason for which low data could not be made.
#[derive(Debug)]
pub enum LowDataError {
    /// Salt refuses the states.
    Refused(Vec<Refusal>),
    /// The limits were reached.
    Limit(Box<Error>),
}

/// A state as it runs: a chunk of low data.
#[derive(Clone)]
pub struct LowState {
    /// The function, its arguments, and what Salt adds.
    pub chunk: DictRef,
    /// The positions of states that come before it by a requisite.
    pub after: Vec<(usize, Requisite)>,
    /// True if it runs in test mode here, since another state has it as `prereq`.
    pub is_test: bool,
}

impl std::fmt::Debug for LowState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let chunk = Obj::Dict(self.chunk.clone());
        f.debug_tuple("LowState")
            .field(&chunk)
            .field(&self.after)
            .finish()
    }
}

/// The low data of states as data.
///
/// # Errors
/// The limits were reached.
pub fn low_data(low: impl IntoIterator<Item = LowState>) -> Result<Vec<Value>, Diagnosed> {
    let chunks = low
        .into_iter()
        .map(|state| Obj::Dict(state.chunk).to_value());
    let chunks = chunks.collect::<Result<_, _>>();
    chunks.map_err(|e| limit_reached(&e))
}

/// The error of work on Python's objects whose limits were reached, as users read it.
#[must_use]
pub fn limit_reached(error: &Error) -> Diagnosed {
    let reached = Diagnosed::new(ErrorKind::Limit, error.message.clone());
    match &error.help {
        Some(help) => reached.help(help.clone()),
        None => reached,
    }
}

/// Compiles high data, which it changes.
pub struct Compiler<'c> {
    options: CompileOptions<'c>,
    budget: &'c Budget<'c>,
    refusals: Vec<Refusal>,
}

impl<'c> Compiler<'c> {
    /// A compiler that spends from a budget.
    #[must_use]
    pub fn new(options: CompileOptions<'c>, budget: &'c Budget<'c>) -> Self {
        Compiler {
            options,
            budget,
            refusals: Vec::new(),
        }
    }

    /// The faults that were found when the high data was made. With any of them, compiling fails.
    #[must_use]
    pub fn after(mut self, refusals: Vec<Refusal>) -> Self {
        self.refusals = refusals;
        self
    }

    /// The chunks in the order in which they run, as a state run has them (Salt: `State.call_high`).
    ///
    /// # Errors
    /// Salt refuses the states.
    pub fn low(&self, high: &Obj) -> Result<Vec<LowState>, LowDataError> {
        self.working(|work| {
            // If something is missing already, only the form of the rest is checked.
            if let (Obj::Dict(high), []) = (high, &work.refusals[..]) {
                work.reconcile(high)?;
            }
            work.verify(high)?;
            if !work.refusals.is_empty() {
                return Ok(Vec::new());
            }
            let high = mapping(high)?;
            work.move_requisites(high, &self.options.disabled_requisites)?;
            work.exclude(high)?;
            let chunks = self.chunks(work, high)?;
            match work.behaviour.requisites_order_states {
                true => Ok(chunks),
                false => work.running(chunks, &self.options),
            }
        })
    }

    /// The same, as `state.show_lowstate` has them (Salt: `compile_low_chunks`): what is wrong with the form of states
    /// does not keep it from the next steps, in which it can end.
    ///
    /// # Errors
    /// Salt refuses the states.
    pub fn shown_lowstate(&self, high: &Obj) -> Result<Vec<LowState>, LowDataError> {
        self.working(|work| {
            let states = mapping(high)?;
            work.reconcile(states)?;
            work.verify(high)?;
            work.move_requisites(states, &self.options.disabled_requisites)?;
            work.exclude(states)?;
            self.chunks(work, states)
        })
    }

    /// The same, as `state.show_low_sls` has them: without what extends or excludes, and requisites that end in `_in`.
    ///
    /// # Errors
    /// Salt refuses the states.
    pub fn shown_low_sls(&self, high: &Obj) -> Result<Vec<LowState>, LowDataError> {
        self.working(|work| {
            work.verify(high)?;
            self.chunks(work, mapping(high)?)
        })
    }

    /// The faults in the form of states, as `state.show_sls` reports them.
    ///
    /// # Errors
    /// The faults.
    pub fn verify(&self, high: &Obj) -> Result<(), LowDataError> {
        self.working(|work| {
            work.verify(high)?;
            Ok(Vec::new())
        })
        .map(|_| ())
    }

    fn working(
        &self,
        run: impl FnOnce(&mut MinionCompile<'_>) -> refusal::Result<Vec<LowState>>,
    ) -> Result<Vec<LowState>, LowDataError> {
        let mut work = MinionCompile {
            budget: self.budget,
            behaviour: self.options.version.behaviour(),
            refusals: self.refusals.clone(),
        };
        match run(&mut work) {
            Err(CompileEnd::Limit(error)) => return Err(LowDataError::Limit(error)),
            Err(CompileEnd::Exception(why)) => {
                work.refuse(Refusal::new(
                    RefusalKind::Exception,
                    format!("Salt ends here: {why}"),
                ));
            }
            Ok(chunks) if work.refusals.is_empty() => return Ok(chunks),
            Ok(_) => {}
        }
        Err(LowDataError::Refused(work.refusals))
    }

    /// The sorted chunks, if nothing is refused so far.
    fn chunks(
        &self,
        work: &mut MinionCompile<'_>,
        high: &DictRef,
    ) -> refusal::Result<Vec<LowState>> {
        if !work.refusals.is_empty() {
            return Ok(Vec::new());
        }
        if !work.behaviour.requisites_order_states {
            return self.chunks_by_order(work, high);
        }
        let mut graph = Graph::default();
        let mut chunks = work.chunks(high)?;
        work.leave_out_disabled(&mut chunks, &self.options.disabled_states)?;
        for chunk in &chunks {
            graph.add(self.budget, chunk)?;
        }
        let cap = work.require(&chunks, &self.options, &mut graph)?;
        let sorted = work.sorted(&graph, cap)?;
        let mut after = vec![Vec::new(); graph.nodes.len()];
        for (position, node) in sorted.iter().enumerate() {
            // Taken out, so that millions of edges are not held twice.
            for (behind, kinds) in std::mem::take(&mut graph.nodes[*node].behind) {
                self.budget.burn(1)?;
                after[behind].extend(kinds.iter().map(|kind| (position, kind)));
            }
        }
        let states = sorted.into_iter().map(|node| {
            let mut after = std::mem::take(&mut after[node]);
            after.sort_unstable();
            Ok(LowState {
                chunk: graph.chunk(node)?.clone(),
                after,
                is_test: graph.nodes[node].is_test(),
            })
        });
        states.collect()
    }

    /// The chunks by their numbers, without a look at their requisites, as before Salt 3008.
    fn chunks_by_order(
        &self,
        work: &MinionCompile<'_>,
        high: &DictRef,
    ) -> refusal::Result<Vec<LowState>> {
        let chunks = work.sorted_by_order(work.chunks(high)?)?;
        let states = chunks.into_iter().map(|chunk| LowState {
            chunk,
            after: Vec::new(),
            is_test: false,
        });
        Ok(states.collect())
    }
}
