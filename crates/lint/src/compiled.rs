//! The faults for which a state run would refuse the states of minions.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use mapstack::minion::Minion;
use mapstack::value::{Key, Value};
use mapstack::{Error, ErrorKind, out_of_budget};
use mapstack_states::compile::{CompileOptions, Refusal, RefusalKind};
use mapstack_states::{
    GatheredStates, Gatherer, GotSls, Places, RequestedStates, SlsData, TopOptions,
};

use crate::closures::{Closure, Closures, taken, taken_from};
use crate::misuse::{Misuse, MisuseKey, calls_of_high, calls_of_low, misuses};
use crate::subject::FormulaSubject;
use crate::work::side_by_side;

/// A fault for which Salt refuses the states of minions.
pub(crate) struct Fault {
    pub refusal: Refusal,
    /// The message, with its place.
    pub error: Error,
    /// The path of the sls that has it.
    pub path: String,
    /// The runs for which the states are refused.
    pub runs: BTreeSet<usize>,
    /// An sls that includes the faulty one and compiles without the fault.
    pub works_with: Option<String>,
    /// The sls that is refused, of a formula.
    pub within: Option<String>,
    /// An sls with the state that is missing.
    pub had_by: Option<String>,
    /// The messages of all states that have it.
    pub messages: BTreeSet<String>,
}

/// The refusals of one compilation, with their messages and the paths of their sls.
type Refusals = Vec<(Refusal, Error, String)>;

/// The identity of a fault: the kind, the sls, and the missing name or else the message.
type FaultKey = (RefusalKind, Option<String>, String);

fn key_of(refusal: &Refusal) -> FaultKey {
    let what = match &refusal.missing {
        Some((module, name)) => format!("{module:?} {name}"),
        None => refusal.message.clone(),
    };
    (refusal.kind, refusal.sls.clone(), what)
}

/// The faults of one compilation.
#[derive(Clone)]
struct Compiled {
    refusals: Refusals,
    misuses: Vec<Misuse>,
}

/// The faults in the sls that were gathered for a minion, without those that a missing part may explain.
fn compiled(
    gatherer: &Gatherer<'_>,
    subject: &FormulaSubject<'_>,
    minion: &Minion,
    wanted: RequestedStates<'_>,
    gathered: &GatheredStates,
    is_open: bool,
) -> Result<Compiled, Error> {
    let high = gatherer.high_of(minion, wanted, gathered);
    let low = high.low(minion)?;
    let places = Places::new(subject.engine, &high.sls);
    let calls = match &low {
        Ok(states) => calls_of_low(states),
        Err(_) => calls_of_high(&high.data),
    };
    let misuses = misuses(&calls, &high.own, &places, &subject.saltenv);
    let may_be_elsewhere = |refusal: &Refusal| refusal.missing.is_some() && is_open;
    let refused = low.err().unwrap_or_default().into_iter();
    let found = refused.filter(|one| !may_be_elsewhere(one));
    let found = found.filter_map(|refusal| {
        let sls = places.sls(refusal.sls.as_deref()?, None);
        let sls = sls.filter(|sls| sls.saltenv == subject.saltenv)?;
        let error = places.error(&refusal);
        Some((refusal, error, sls.path.clone()))
    });
    Ok(Compiled {
        refusals: found.collect(),
        misuses,
    })
}

/// Runs whose states cannot differ, by what tells them apart.
type Groups = BTreeMap<String, Vec<usize>>;

impl FormulaSubject<'_> {
    /// Compile the states of minions, and each sls that no minion gets by itself.
    pub(crate) fn compile_estate(
        &mut self,
        gatherer: &Gatherer<'_>,
        minions: &[Minion],
        gathered: &[GatheredStates],
        alone: &[(String, GatheredStates)],
    ) -> Result<(), Error> {
        let mut groups = Groups::new();
        for (run, (minion, gathered)) in minions.iter().zip(gathered).enumerate() {
            groups
                .entry(group_of(minion, gathered))
                .or_default()
                .push(run);
        }
        let groups: Vec<Vec<usize>> = groups.into_values().collect();
        let done = side_by_side(&groups, |runs| {
            let (minion, gathered) = (&minions[runs[0]], &gathered[runs[0]]);
            let is_open = gathered.sls.iter().any(|sls| self.is_empty_elsewhere(sls));
            let wanted = RequestedStates::Highstate;
            compiled(gatherer, self, minion, wanted, gathered, is_open)
        })?;
        let mut faults = Faults::default();
        for (runs, found) in groups.iter().zip(done) {
            faults.add(found, runs);
        }
        if let Some(first) = minions.first() {
            self.compile_alone(gatherer, first, alone, &mut faults)?;
        }
        for fault in faults.all.values_mut() {
            let renders = gathered.iter().chain(alone.iter().map(|(_, alone)| alone));
            let renders = renders.flat_map(|one| &one.sls);
            let mut renders =
                renders.filter_map(|sls| Some((sls, sls.rendered.data.as_ref().ok()?)));
            let missing = fault.refusal.missing.as_ref();
            fault.had_by = missing.and_then(|(_, name)| {
                let found = renders.find(|(_, data)| has_state(data, name));
                found.map(|(sls, _)| sls.name.clone())
            });
        }
        self.keep(faults);
        Ok(())
    }

    /// Compile each sls that no minion gets by itself, for one minion.
    fn compile_alone(
        &self,
        gatherer: &Gatherer<'_>,
        first: &Minion,
        alone: &[(String, GatheredStates)],
        faults: &mut Faults,
    ) -> Result<(), Error> {
        let from = taken_from(alone.iter().map(|(_, gathered)| {
            let renders = gathered.sls.iter().map(|sls| Arc::as_ptr(&sls.rendered));
            renders.collect::<BTreeSet<_>>()
        }));
        let jobs: Vec<usize> = (0..alone.len()).collect();
        let done = side_by_side(&jobs, |number| {
            let (name, gathered) = &alone[*number];
            if from[*number] != *number {
                return None;
            }
            if let Some(spent) = self.engine.spent() {
                return Some(Err(out_of_budget(spent, name)));
            }
            let names = std::slice::from_ref(name);
            let saltenv = &self.saltenv;
            let wanted = RequestedStates::Sls { saltenv, names };
            Some(compiled(gatherer, self, first, wanted, gathered, true))
        })?;
        faults.compiled_with_others = taken(&from).count();
        for ((name, _), from) in alone.iter().zip(from) {
            let Some(found) = done[from].clone() else {
                continue;
            };
            let own = found.map(|mut found| {
                let is_own = |(refusal, ..): &(Refusal, _, _)| refusal.sls.as_ref() == Some(name);
                found.refusals.retain(is_own);
                found.misuses.retain(|misuse| misuse.sls == *name);
                found
            });
            faults.add(own, &[0]);
        }
        Ok(())
    }

    fn keep(&mut self, faults: Faults) {
        if let Some(why) = faults.limit {
            self.ignored.insert("what states require".into(), why);
        }
        self.faults = faults.all.into_values().collect();
        self.compiled_with_others = faults.compiled_with_others;
        self.misuses = faults.misuses.into_values().collect();
    }

    /// True if an sls lies elsewhere and an empty one takes its place, or if it cannot be rendered here.
    fn is_empty_elsewhere(&self, sls: &GotSls) -> bool {
        let SlsData { data, warnings, .. } = &*sls.rendered;
        let is_empty = data.as_ref().is_ok_and(|data| !data.truthy());
        let mut warnings = warnings.iter();
        warnings.any(|warning| warning.kind == ErrorKind::Unsupported)
            || (is_empty && !self.files.contains_key(&sls.path))
    }

    /// Compile each sls of a formula by itself, with what it includes.
    pub(crate) fn compile_formula(&mut self) -> Result<(), Error> {
        let gatherer = Gatherer::new(self.engine, TopOptions::default());
        let gatherer = gatherer.secrets(self.secrets.clone());
        let alone = match Closures::new(self.engine, &gatherer, &self.saltenv, &self.states).alone()
        {
            Ok(alone) => alone,
            Err(limit) => {
                self.keep(Faults::of_limit(&limit));
                return Ok(());
            }
        };
        let alike = alone.iter();
        let alike = alike.map(|(closure, runs)| (Arc::as_ptr(&closure.included), runs));
        let from = taken_from(alike);
        let jobs: Vec<Option<(&Closure, usize)>> = alone
            .iter()
            .zip(from.iter().enumerate())
            .map(|((closure, runs), (number, from))| {
                Some((closure, *runs.first()?)).filter(|_| number == *from)
            })
            .collect();
        let done = side_by_side(&jobs, |job| {
            let (closure, run) = job.as_ref()?;
            if let Some(spent) = self.engine.spent() {
                let path = &self.states[closure.root].file.path;
                return Some(Err(out_of_budget(spent, path)));
            }
            let (gathered, is_open) = self.gathered(&gatherer, closure, *run);
            let names = std::slice::from_ref(&self.states[closure.root].name);
            let saltenv = &self.saltenv;
            let sls = RequestedStates::Sls { saltenv, names };
            let minion = self.runs[*run].minion;
            Some(compiled(&gatherer, self, minion, sls, &gathered, is_open))
        })?;
        let mut faults = Faults::default();
        let with_others = taken(&from).map(|number| alone[number].0.root);
        faults.compiled_with_others = with_others.collect::<BTreeSet<_>>().len();
        let mut failed: BTreeMap<FaultKey, BTreeSet<usize>> = BTreeMap::new();
        for (number, (closure, runs)) in alone.iter().enumerate() {
            let Some(mut found) = done[from[number]].clone() else {
                continue;
            };
            let root = closure.root;
            let is_around = |(other, _): &(Closure, _)| {
                other.root != root && other.included.states.contains(&root)
            };
            if let (Ok(found), true) = (&mut found, alone.iter().any(is_around)) {
                // What includes an sls can extend its states.
                let name = &self.states[root].name;
                found.misuses.retain(|misuse| !misuse.is_missing_in(name));
            }
            for (refusal, ..) in found.iter().flat_map(|found| &found.refusals) {
                let all = failed.entry(key_of(refusal)).or_default();
                all.insert(number);
            }
            faults.add(found, runs);
        }
        for (key, fault) in &mut faults.all {
            self.settle(fault, &alone, &failed[key]);
        }
        self.keep(faults);
        Ok(())
    }

    /// Find an sls that compiles without the fault, and one that has the missing state. A failing sls can be part of one
    /// that works.
    fn settle(&self, fault: &mut Fault, alone: &[(Closure, Vec<usize>)], failed: &BTreeSet<usize>) {
        let working = alone.iter().enumerate();
        let working = working.filter(|(number, _)| !failed.contains(number));
        let working: Vec<&(Closure, Vec<usize>)> = working.map(|(_, one)| one).collect();
        let with = |number: usize, run: usize| {
            let part = alone[number].0.root;
            let mut others = working.iter().filter(|(closure, runs)| {
                let is_around = closure.root != part && closure.included.states.contains(&part);
                is_around && runs.contains(&run)
            });
            others.next().map(|(other, _)| self.name_of(other))
        };
        let (mut works, mut fails) = (None, BTreeMap::new());
        for number in failed {
            for run in &alone[*number].1 {
                match with(*number, *run) {
                    Some(with) => works = works.or(Some(with)),
                    None => drop(fails.insert(*run, *number)),
                }
            }
        }
        match fails.first_key_value() {
            None => fault.works_with = works,
            Some((_, number)) => {
                fault.within = Some(self.name_of(&alone[*number].0));
                fault.runs = fails.into_keys().collect();
            }
        }
        if let (Some((_, name)), Some(run)) = (&fault.refusal.missing, fault.runs.first()) {
            let mut states = self.states.iter().filter_map(|state| {
                let outcome = state.outcomes.get(*run)?.as_ref()?;
                Some((state, outcome.as_ref().as_ref().ok()?))
            });
            let found = states.find(|(_, made)| has_state(&made.data, name));
            fault.had_by = found.map(|(state, _)| state.name.clone());
        }
    }

    fn name_of(&self, closure: &Closure) -> String {
        self.states[closure.root].name.clone()
    }

    /// The sls of a closure as gathered, and true if it includes some of other formulas, in whose place are empty ones.
    fn gathered(
        &self,
        gatherer: &Gatherer<'_>,
        closure: &Closure,
        run: usize,
    ) -> (GatheredStates, bool) {
        let got = |saltenv: &str, name: &str, path: String, data| GotSls {
            saltenv: saltenv.to_owned(),
            name: name.to_owned(),
            path,
            included_by: None,
            rendered: Arc::new(SlsData::of(data)),
        };
        let own = closure.included.states.iter().filter_map(|number| {
            let state = &self.states[*number];
            let outcome = state.outcomes.get(run)?.as_ref()?;
            let data = outcome.as_ref().as_ref().map(|made| made.data.clone());
            let data = data.map_err(Error::clone);
            Some(got(
                &self.saltenv,
                &state.name,
                state.file.path.clone(),
                data,
            ))
        });
        let outside = closure
            .included
            .outside
            .iter()
            .filter_map(|(saltenv, name)| {
                let saltenv = saltenv.as_deref().unwrap_or(&self.saltenv);
                let path = gatherer.path(saltenv, name)?;
                Some(got(saltenv, name, path, Ok(Value::map())))
            });
        let sls = own.chain(outside).collect();
        let gathered = GatheredStates {
            sls,
            ..GatheredStates::default()
        };
        (gathered, !closure.included.outside.is_empty())
    }
}

/// Faults that are found so far.
#[derive(Default)]
struct Faults {
    all: BTreeMap<FaultKey, Fault>,
    misuses: BTreeMap<MisuseKey, Misuse>,
    /// The reason for which some states were not compiled.
    limit: Option<String>,
    /// The number of sls that were compiled only with others.
    compiled_with_others: usize,
}

impl Faults {
    fn of_limit(limit: &Error) -> Self {
        Faults {
            limit: Some(limit.diagnostic().message.clone()),
            ..Faults::default()
        }
    }

    fn add(&mut self, found: Result<Compiled, Error>, runs: &[usize]) {
        let found = match found {
            Ok(found) => found,
            Err(limit) => {
                self.limit = Some(limit.diagnostic().message.clone());
                return;
            }
        };
        for misuse in found.misuses {
            let key = misuse.key();
            let known = self.misuses.entry(key).or_insert_with(|| misuse.clone());
            known.join(misuse, runs);
        }
        for (refusal, error, path) in found.refusals {
            let message = refusal.message.clone();
            let fault = self.all.entry(key_of(&refusal)).or_insert_with(|| Fault {
                refusal,
                error,
                path,
                runs: BTreeSet::new(),
                works_with: None,
                within: None,
                had_by: None,
                messages: BTreeSet::new(),
            });
            fault.runs.extend(runs);
            fault.messages.insert(message);
        }
    }
}

/// The key by which minions share compiled states.
fn group_of(minion: &Minion, gathered: &GatheredStates) -> String {
    let CompileOptions {
        disabled_requisites,
        disabled_states,
        ..
    } = CompileOptions::of(minion);
    let sls = gathered.sls.iter().map(|sls| {
        let render = Arc::as_ptr(&sls.rendered);
        (&sls.saltenv, &sls.name, render)
    });
    let top = gathered.top.iter().flatten().map(|top| &top.entries);
    let sls: Vec<_> = sls.collect();
    let top: Vec<_> = top.collect();
    format!("{disabled_requisites:?} {disabled_states:?} {sls:?} {top:?}")
}

/// True if an sls has a state of an ID, or with an argument of that value.
fn has_state(sls: &Value, name: &str) -> bool {
    let Some(states) = sls.as_map() else {
        return false;
    };
    let is_name = |value: &Value| value.as_str() == Some(name);
    let names = |arg: &Value| match arg {
        Value::Map(arg) => arg.iter().any(|(key, value)| match key.as_str() {
            Some("name") => is_name(value),
            Some("names") => value.as_list().into_iter().flatten().any(is_name),
            _ => false,
        }),
        _ => false,
    };
    let of = |(id, body): (&Key, &Value)| {
        let functions = body.as_map().into_iter().flat_map(|body| body.values());
        let mut args = functions.filter_map(Value::as_list).flatten();
        let is_part = matches!(id.as_str(), Some("include" | "exclude" | "extend"));
        !is_part && (id.as_str() == Some(name) || args.any(names))
    };
    states.iter().any(of)
}
