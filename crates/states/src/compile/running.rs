//! The order of states before Salt 3008, which follows requisites during the run (Salt: `call_chunk`).
//!
//! Every state is taken to succeed with changes, so every requisite is met.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use mapstack_pyobject::{DictRef, Obj};
use mapstack_value::Key;
use mapstack_value::pytext::Fnmatch;

use super::chunks::text_at;
use super::graph::tag_of;
use super::keywords::{Requisite, is_pattern};
use super::order::{Link, cycle_of};
use super::python::{contains, described, first, item, items, mapping, text};
use super::refusal::{Result, exception};
use super::requisites::missing;
use super::work::MinionCompile;
use super::{CompileOptions, LowState};
use crate::gather::stacked;

/// The argument of a state that another one names in `prereq`.
const PREREQUIRED: &str = "prerequired";

/// The number of times that Salt tries a waiting state before it gives up.
const TRIES: usize = 20;

/// The number of states that can wait for each other. Python's recursion limit is lower.
const DEPTH: usize = 1_000;

/// A requisite of a chunk.
struct ChunkRequisite {
    /// The argument that has it.
    argument: &'static str,
    /// The kind of the requisite; nothing for [`PREREQUIRED`].
    kind: Option<Requisite>,
    module: Key,
    /// Nothing if it names no state.
    name: Option<String>,
    /// The chunks that it names.
    targets: Vec<usize>,
    /// True if it names an sls without states.
    is_empty_sls: bool,
    /// True if the option `disabled_requisites` has it.
    is_disabled: bool,
}

impl ChunkRequisite {
    fn is_missing(&self) -> bool {
        self.targets.is_empty() && !self.is_empty_sls
    }
}

/// A state that waits for others.
struct PendingState {
    chunk: usize,
    /// The argument by which it waits.
    argument: &'static str,
}

/// The chunks of a run, and what is known about each.
struct Run<'r, 'w, 'o> {
    work: &'r mut MinionCompile<'w>,
    options: &'r CompileOptions<'o>,
    chunks: Vec<DictRef>,
    /// The tag of each chunk: chunks with the same tag are one state.
    tags: Vec<usize>,
    by_name: HashMap<String, Vec<usize>>,
    /// Chunks whose name or ID is not text. Salt raises an exception when it compares such a name with
    /// another one.
    not_text: Vec<usize>,
    needs: Vec<Option<Rc<Vec<ChunkRequisite>>>>,
    /// By tag.
    has_run: HashSet<usize>,
    is_tested: HashSet<usize>,
    active: HashSet<usize>,
    /// By chunk: those whose next run is a test, and those that another state names in `prereq`.
    tests: HashSet<usize>,
    prerequired: HashSet<usize>,
    waiting: Vec<PendingState>,
    /// The chunks in the order in which they run, with true for a test.
    steps: Vec<(usize, bool)>,
}

impl MinionCompile<'_> {
    /// The states in the order in which they run. Missing requisites and states that require each other are refused; in Salt
    /// these states fail when they run.
    pub(crate) fn running(
        &mut self,
        states: Vec<LowState>,
        options: &CompileOptions<'_>,
    ) -> Result<Vec<LowState>> {
        let chunks = states.into_iter().map(|state| state.chunk);
        let mut chunks: Vec<DictRef> = chunks.collect();
        self.leave_out_disabled(&mut chunks, &options.disabled_states)?;
        let mut run = Run::new(self, options, chunks)?;
        for chunk in 0..run.chunks.len() {
            if !run.has_run.contains(&run.tags[chunk]) {
                run.call(chunk, 0)?;
            }
            run.active.clear();
        }
        run.states()
    }
}

impl<'r, 'w, 'o> Run<'r, 'w, 'o> {
    fn new(
        work: &'r mut MinionCompile<'w>,
        options: &'r CompileOptions<'o>,
        chunks: Vec<DictRef>,
    ) -> Result<Self> {
        let (mut tags, mut by_tag) = (Vec::new(), HashMap::new());
        let mut by_name: HashMap<String, Vec<usize>> = HashMap::new();
        let (mut not_text, mut tests, mut prerequired) =
            (Vec::new(), HashSet::new(), HashSet::new());
        for (index, chunk) in chunks.iter().enumerate() {
            let next = by_tag.len();
            tags.push(*by_tag.entry(tag_of(chunk)?).or_insert(next));
            for part in ["name", "__id__"] {
                let name = chunk.get_str(part).unwrap_or_default();
                let Some(name) = name.as_str() else {
                    not_text.push(index);
                    continue;
                };
                let named = by_name.entry(name.to_string()).or_default();
                if named.last() != Some(&index) {
                    named.push(index);
                }
            }
            for (mark, marked) in [
                ("__prereq__", &mut tests),
                ("__prerequired__", &mut prerequired),
            ] {
                if chunk.get_str(mark).unwrap_or_default().truthy()? {
                    marked.insert(index);
                }
            }
        }
        Ok(Run {
            needs: chunks.iter().map(|_| None).collect(),
            work,
            options,
            chunks,
            tags,
            by_name,
            not_text,
            has_run: HashSet::new(),
            is_tested: HashSet::new(),
            active: HashSet::new(),
            tests,
            prerequired,
            waiting: Vec::new(),
            steps: Vec::new(),
        })
    }

    /// Run a state after those that it requires (Salt: `call_chunk`).
    fn call(&mut self, chunk: usize, tries: usize) -> Result<()> {
        let tag = self.tags[chunk];
        let needs = self.needs(chunk)?;
        self.work.budget.burn(1 + needs.len())?;
        let own = self.chunks[chunk].get_str(PREREQUIRED).unwrap_or_default();
        if !own.truthy()? {
            self.active.insert(tag);
        }
        let is_test = self.tests.contains(&chunk);
        if self.is_met(&needs, is_test)? {
            self.step(chunk);
            return Ok(());
        }
        let relevant = needs.iter().filter(|need| match need.kind {
            Some(kind) => kind != Requisite::OnfailAll,
            None => !is_test,
        });
        let relevant: Vec<&ChunkRequisite> = relevant.collect();
        if relevant.is_empty() {
            let id = text_at(&self.chunks[chunk], "__id__")?;
            return exception(format!(
                "'onfail_all' of '{id}' names a state that does not run before it"
            ));
        }
        if self.refuse_missing(chunk, &relevant)? {
            match is_test {
                true => self.is_tested.insert(tag),
                false => self.has_run.insert(tag),
            };
            return Ok(());
        }
        for need in &relevant {
            let marked = match need.kind {
                Some(Requisite::Prereq) => &mut self.tests,
                None => &mut self.prerequired,
                Some(_) => continue,
            };
            marked.extend(&need.targets);
        }
        for need in relevant {
            for other in &need.targets {
                if !self.call_before(chunk, need.argument, *other)? {
                    return Ok(());
                }
            }
        }
        if self.tests.contains(&chunk) {
            self.step(chunk);
            return Ok(());
        }
        match tries + 1 < TRIES {
            true => self.call(chunk, tries + 1),
            false => self.give_up(chunk, &needs),
        }
    }

    /// Run a state that another requires. False if the other does not run after it.
    fn call_before(&mut self, chunk: usize, argument: &'static str, other: usize) -> Result<bool> {
        let (tag, other_tag) = (self.tags[chunk], self.tags[other]);
        if self.has_run.contains(&other_tag) {
            return Ok(true);
        }
        let waiting = PendingState { chunk, argument };
        if !self.active.contains(&other_tag) {
            if self.waiting.len() >= DEPTH {
                return exception(format!("states require each other {DEPTH} deep"));
            }
            self.waiting.push(waiting);
            stacked(|| self.call(other, 0))?;
            self.waiting.pop();
            return Ok(true);
        }
        if self.prerequired.contains(&other) {
            if !self.is_tested.contains(&tag) {
                self.steps.push((chunk, true));
                self.tests.remove(&chunk);
                self.is_tested.insert(other_tag);
            }
            return Ok(false);
        }
        self.waiting.push(waiting);
        let found = self.cycle(other);
        self.waiting.pop();
        self.work.refuse(found?);
        self.has_run.insert(tag);
        Ok(false)
    }

    /// The refusal of states that wait for each other in a circle.
    fn cycle(&self, other: usize) -> Result<super::Refusal> {
        let tag = self.tags[other];
        let start = self
            .waiting
            .iter()
            .position(|one| self.tags[one.chunk] == tag);
        let way = &self.waiting[start.unwrap_or(self.waiting.len() - 1)..];
        let next = way.iter().skip(1).map(|one| one.chunk).chain([other]);
        let links = way.iter().zip(next).map(|(one, before)| Link {
            behind: &self.chunks[one.chunk],
            kind: one.argument,
            before: &self.chunks[before],
        });
        cycle_of(&links.collect::<Vec<_>>())
    }

    /// Record that a state runs.
    fn step(&mut self, chunk: usize) {
        let is_test = self.tests.remove(&chunk);
        self.steps.push((chunk, is_test));
        match is_test {
            true => self.is_tested.insert(self.tags[chunk]),
            false => self.has_run.insert(self.tags[chunk]),
        };
    }

    /// True if all that a state requires has run.
    fn is_met(&self, needs: &[ChunkRequisite], is_test: bool) -> Result<bool> {
        for need in needs {
            if need.is_disabled || need.name.is_none() || (is_test && need.kind.is_none()) {
                continue;
            }
            self.work.budget.burn(need.targets.len())?;
            let ran = match need.kind {
                Some(Requisite::Prereq) => &self.is_tested,
                _ => &self.has_run,
            };
            let has_run = |chunk: &usize| ran.contains(&self.tags[*chunk]);
            if need.is_missing() || !need.targets.iter().all(has_run) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Refuse the missing requisites of a state. True if there are any.
    fn refuse_missing(&mut self, chunk: usize, needs: &[&ChunkRequisite]) -> Result<bool> {
        let missing_requisites: Vec<_> = needs.iter().filter(|need| need.is_missing()).collect();
        for need in &missing_requisites {
            let name = need.name.as_deref().unwrap_or("nothing");
            let refusal = missing(&self.chunks[chunk], need.argument, &need.module, name)?;
            self.work.refuse(refusal);
        }
        Ok(!missing_requisites.is_empty())
    }

    /// Refuse a state that still waits after [`TRIES`].
    fn give_up(&mut self, chunk: usize, needs: &[ChunkRequisite]) -> Result<()> {
        let needs: Vec<&ChunkRequisite> = needs.iter().collect();
        if !self.refuse_missing(chunk, &needs)? {
            let own = &self.chunks[chunk];
            let waits = needs.iter().find_map(|need| {
                let is_late = |other: &&usize| !self.has_run.contains(&self.tags[**other]);
                Some((need.argument, *need.targets.iter().find(is_late)?))
            });
            let (kind, before) = waits.unwrap_or(("require", chunk));
            let before = &self.chunks[before];
            let link = Link {
                behind: own,
                kind,
                before,
            };
            let refusal = cycle_of(&[link])?;
            self.work.refuse(refusal);
        }
        self.has_run.insert(self.tags[chunk]);
        Ok(())
    }

    /// The requisites of a chunk, in the order in which Salt looks for them.
    fn needs(&mut self, chunk: usize) -> Result<Rc<Vec<ChunkRequisite>>> {
        if let Some(known) = &self.needs[chunk] {
            return Ok(known.clone());
        }
        let own = self.chunks[chunk].clone();
        let watches = (self.options.watches)(&text_at(&own, "state")?);
        let mut needs = Vec::new();
        let kinds = Requisite::ALL.into_iter().map(Some).chain([None]);
        for kind in kinds {
            let argument = kind.map_or(PREREQUIRED, Requisite::name);
            let watch = match kind {
                Some(Requisite::Require) => Some("watch"),
                Some(Requisite::RequireAny) => Some("watch_any"),
                Some(Requisite::Watch | Requisite::WatchAny) if !watches => continue,
                _ => None,
            };
            for name in [Some(argument), watch.filter(|_| !watches)] {
                let value = name.and_then(|name| own.get_str(name)).unwrap_or_default();
                if value.is_none() {
                    continue;
                }
                for one in items(self.work.budget, &value)? {
                    needs.push(self.need(argument, kind, one)?);
                }
            }
        }
        let needs = Rc::new(needs);
        self.needs[chunk] = Some(needs.clone());
        Ok(needs)
    }

    fn need(
        &self,
        argument: &'static str,
        kind: Option<Requisite>,
        one: Obj,
    ) -> Result<ChunkRequisite> {
        let (module, name) = match &one {
            Obj::Str(_) | Obj::Markup(_) => (Key::from("id"), one),
            other => first(mapping(other)?)?,
        };
        let module = match text(&module)?.split_once('.') {
            Some((module, _)) => Key::from(module),
            None => module,
        };
        let disabled = &self.options.disabled_requisites;
        let mut need = ChunkRequisite {
            argument,
            kind,
            is_disabled: disabled.iter().any(|name| name == argument),
            module,
            name: None,
            targets: Vec::new(),
            is_empty_sls: false,
        };
        if name.is_none() {
            return Ok(need);
        }
        let Some(name) = name.as_str() else {
            return exception(format!("'{argument}' names {}, not text", described(&name)));
        };
        match need.module.as_str() {
            Some("sls") => {
                need.targets = self.chunks_of_sls(name)?;
                let pattern = Fnmatch::new(name);
                let mut rendered = self.options.rendered.iter();
                need.is_empty_sls = rendered.any(|sls| pattern.matches(sls));
            }
            _ => need.targets = self.chunks_named(&need.module, name)?,
        }
        need.name = Some(name.to_string());
        Ok(need)
    }

    /// The chunks of an sls and of the sls that it includes.
    fn chunks_of_sls(&self, name: &str) -> Result<Vec<usize>> {
        let (pattern, key) = (Fnmatch::new(name), Key::from(name));
        let mut found = Vec::new();
        self.work.budget.burn(self.chunks.len())?;
        for (index, chunk) in self.chunks.iter().enumerate() {
            let sls = item(&Obj::Dict(chunk.clone()), &"__sls__".into())?;
            let Some(sls) = sls.as_str() else {
                return exception(format!("{} is the name of an sls", described(&sls)));
            };
            let from = chunk.get_str("__sls_included_from__");
            let from = from.unwrap_or_else(|| Obj::list([]));
            if pattern.matches(sls) || contains(self.work.budget, &from, &key)? {
                found.push(index);
            }
        }
        Ok(found)
    }

    /// The chunks of a name or an ID.
    fn chunks_named(&self, module: &Key, name: &str) -> Result<Vec<usize>> {
        let pattern = Fnmatch::new(name);
        for not_text in &self.not_text {
            self.work.budget.burn(1)?;
            let own = self.chunks[*not_text].get_str("name").unwrap_or_default();
            if !own.as_str().is_some_and(|own| pattern.matches(own)) {
                return exception(format!(
                    "'{name}' is compared with a name or ID that is not text"
                ));
            }
        }
        let mut found = match is_pattern(name) {
            false => self.by_name.get(name).cloned().unwrap_or_default(),
            true => {
                self.work.budget.burn(self.by_name.len())?;
                let named = self.by_name.iter().filter(|(own, _)| pattern.matches(own));
                let mut found: Vec<usize> = named.flat_map(|(_, chunks)| chunks).copied().collect();
                found.sort_unstable();
                found.dedup();
                found
            }
        };
        self.work.budget.burn(found.len())?;
        if module.as_str() != Some("id") {
            let module = Obj::from(module);
            let of = |chunk: usize| self.chunks[chunk].get_str("state").unwrap_or_default();
            found.retain(|chunk| of(*chunk).as_str() == module.as_str());
        }
        Ok(found)
    }

    /// The steps as states, each with the positions of the states that its requisites put before it.
    fn states(mut self) -> Result<Vec<LowState>> {
        let steps = std::mem::take(&mut self.steps);
        let mut positions = HashMap::new();
        for (position, (chunk, is_test)) in steps.iter().enumerate() {
            positions.insert((self.tags[*chunk], *is_test), position);
        }
        let mut states = Vec::new();
        for (position, (chunk, is_test)) in steps.into_iter().enumerate() {
            let mut after = Vec::new();
            for need in self.needs(chunk)?.iter() {
                if need.is_disabled || (is_test && need.kind.is_none()) {
                    continue;
                }
                let kind = need.kind.unwrap_or(Requisite::Require);
                self.work.budget.burn(need.targets.len())?;
                for other in &need.targets {
                    let other = (self.tags[*other], kind == Requisite::Prereq);
                    let before = positions.get(&other).filter(|before| **before < position);
                    after.extend(before.map(|before| (*before, kind)));
                }
            }
            after.sort_unstable();
            after.dedup();
            states.push(LowState {
                chunk: self.chunks[chunk].clone(),
                after,
                is_test,
            });
        }
        Ok(states)
    }
}
