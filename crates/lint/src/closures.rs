//! Each sls of a formula with those that it includes.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use mapstack::{Engine, Error, out_of_budget};
use mapstack_states::{Gatherer, included};

use crate::states::{SlsOfMinions, SlsRender};

/// An sls of a formula with those that it includes.
pub(crate) struct Closure {
    pub root: usize,
    pub included: Arc<IncludedSls>,
}

/// The sls that some sls of a formula include, themselves among them.
pub(crate) struct IncludedSls {
    /// The number of each sls of the formula.
    pub states: BTreeSet<usize>,
    /// Those of other formulas and saltenvs.
    pub outside: BTreeSet<(Option<String>, String)>,
}

/// Finds what sls of a formula include.
pub(crate) struct Closures<'c, 'e> {
    engine: &'e Engine,
    gatherer: &'c Gatherer<'e>,
    saltenv: &'c str,
    states: &'c [SlsOfMinions],
    by_name: HashMap<&'c str, usize>,
    contents: Contents,
    /// The sls that one names, by the number of its contents.
    named: HashMap<usize, Arc<NamedByOneSls>>,
}

/// The sls that one names, of the formula and of others.
#[derive(Default)]
struct NamedByOneSls {
    own: Vec<usize>,
    outside: Vec<(Option<String>, String)>,
}

/// The names in each sls of a formula for a minion; `None` for an sls that does not render.
type Graph = Vec<Option<Arc<NamedByOneSls>>>;

impl<'c, 'e> Closures<'c, 'e> {
    pub fn new(
        engine: &'e Engine,
        gatherer: &'c Gatherer<'e>,
        saltenv: &'c str,
        states: &'c [SlsOfMinions],
    ) -> Self {
        let names = states.iter().enumerate();
        Closures {
            engine,
            gatherer,
            saltenv,
            states,
            by_name: names.map(|(n, state)| (&*state.name, n)).collect(),
            contents: Contents::default(),
            named: HashMap::new(),
        }
    }

    /// Each sls that can be asked for, with what it includes, and the runs on which these are the same. Sls that
    /// include each other share what they include.
    ///
    /// # Errors
    /// The budget of the run is used up.
    pub fn alone(mut self) -> Result<Vec<(Closure, Vec<usize>)>, Error> {
        let runs = self.states.iter().map(|state| state.outcomes.len()).max();
        // Minions with the same renders have the same closures.
        let mut alike: BTreeMap<Vec<Option<usize>>, Vec<usize>> = BTreeMap::new();
        for run in 0..runs.unwrap_or_default() {
            let made = (0..self.states.len()).map(|number| self.content(number, run));
            let made = made.collect();
            alike.entry(made).or_default().push(run);
        }
        let mut found: Vec<(Closure, Vec<usize>)> = Vec::new();
        let mut known: HashMap<(usize, Vec<Option<usize>>), usize> = HashMap::new();
        for (made, runs) in alike {
            for (root, reached) in self.of_graph(&self.graph(&made))? {
                let state = &self.states[root];
                let runs = runs.iter().copied();
                let runs: Vec<usize> = runs
                    .filter(|run| state.used.contains(run) && state.is_rendered(*run))
                    .collect();
                if runs.is_empty() {
                    continue;
                }
                let contents = reached.states.iter().map(|number| made[*number]).collect();
                let at = *known.entry((root, contents)).or_insert(found.len());
                if at == found.len() {
                    let included = reached;
                    found.push((Closure { root, included }, Vec::new()));
                }
                found[at].1.extend(runs);
            }
        }
        found.sort_by_key(|(closure, _)| closure.root);
        found.iter_mut().for_each(|(_, runs)| runs.sort_unstable());
        Ok(found)
    }

    /// The result of rendering an sls on a run.
    fn outcome(&self, number: usize, run: usize) -> Option<&'c Arc<Result<SlsRender, Error>>> {
        self.states.get(number)?.outcomes.get(run)?.as_ref()
    }

    fn content(&mut self, number: usize, run: usize) -> Option<usize> {
        let outcome = self.outcome(number, run)?;
        let content = self.contents.of(number, outcome);
        if !self.named.contains_key(&content) {
            let named = Arc::new(self.named_by(number, outcome));
            self.named.insert(content, named);
        }
        Some(content)
    }

    fn named_by(&self, number: usize, outcome: &Result<SlsRender, Error>) -> NamedByOneSls {
        let mut named = NamedByOneSls::default();
        let state = &self.states[number];
        let entries = outcome.as_ref().map(|made| &*made.includes);
        for entry in entries.unwrap_or_default() {
            let Some((saltenv, name)) = included(state.own(), entry) else {
                continue;
            };
            let is_own = saltenv.as_ref().is_none_or(|one| one == self.saltenv);
            let mut names = match is_own {
                true => self.gatherer.listed(self.saltenv, &name),
                false => Vec::new(),
            };
            if names.is_empty() {
                names.push(name);
            }
            for name in names {
                match self.by_name.get(&*name).filter(|_| is_own) {
                    Some(other) => named.own.push(*other),
                    None => named.outside.push((saltenv.clone(), name)),
                }
            }
        }
        named
    }

    fn graph(&self, made: &[Option<usize>]) -> Graph {
        let named = made.iter().map(|content| self.named.get(content.as_ref()?));
        named.map(Option::<&_>::cloned).collect()
    }

    /// The sls that each of a graph reaches.
    fn of_graph(&self, graph: &Graph) -> Result<Vec<(usize, Arc<IncludedSls>)>, Error> {
        let mut from: Vec<Vec<usize>> = vec![Vec::new(); graph.len()];
        for (number, named) in graph.iter().enumerate() {
            for other in named.iter().flat_map(|named| &named.own) {
                from[*other].push(number);
            }
        }
        let mut all: Vec<Option<Arc<IncludedSls>>> = vec![None; graph.len()];
        for root in 0..graph.len() {
            if all[root].is_some() {
                continue;
            }
            if let Some(spent) = self.engine.spent() {
                return Err(out_of_budget(spent, &self.states[root].file.path));
            }
            let own = |number: usize| match &graph[number] {
                Some(named) => &*named.own,
                None => &[],
            };
            let states = reach(root, own);
            let around = reach(root, |number| &from[number]);
            let named = states.iter().filter_map(|number| graph[*number].as_ref());
            let outside = named.flat_map(|named| &named.outside).cloned().collect();
            let alike: Vec<usize> = states.intersection(&around).copied().collect();
            let reached = Arc::new(IncludedSls { states, outside });
            for number in alike {
                all[number] = Some(reached.clone());
            }
        }
        let numbered = all.into_iter().enumerate();
        Ok(numbered
            .filter_map(|(n, reached)| Some((n, reached?)))
            .collect())
    }
}

/// All that can be reached, with the first.
fn reach<'n>(first: usize, next: impl Fn(usize) -> &'n [usize]) -> BTreeSet<usize> {
    let (mut reached, mut open) = (BTreeSet::from([first]), vec![first]);
    while let Some(number) = open.pop() {
        let more = next(number).iter().copied();
        open.extend(more.filter(|other| reached.insert(*other)));
    }
    reached
}

/// Limit on the compiled sls of a group that include each other and so have the same states: what differs by
/// the one that is requested shows with the first few.
const MOST_ALIKE: usize = 4;

/// For each key, the position of the one whose result it takes: its own, or that of the first with the key after a few.
pub(crate) fn taken_from<K: Ord>(keys: impl IntoIterator<Item = K>) -> Vec<usize> {
    let mut seen: BTreeMap<K, (usize, usize)> = BTreeMap::new();
    let keys = keys.into_iter().enumerate();
    let taken = keys.map(|(number, key)| {
        let (first, times) = seen.entry(key).or_insert((number, 0));
        *times += 1;
        match *times > MOST_ALIKE {
            true => *first,
            false => number,
        }
    });
    taken.collect()
}

/// The positions of those that take the result of another.
pub(crate) fn taken(from: &[usize]) -> impl Iterator<Item = usize> {
    let from = from.iter().enumerate();
    from.filter_map(|(number, from)| (number != *from).then_some(number))
}

/// Numbers for the contents of renders: minions between which a template tells can get the same states.
#[derive(Default)]
struct Contents {
    by_address: HashMap<usize, usize>,
    by_text: HashMap<(usize, String), usize>,
}

impl Contents {
    /// The number of what an sls renders to.
    fn of(&mut self, sls: usize, outcome: &Arc<Result<SlsRender, Error>>) -> usize {
        let address = Arc::as_ptr(outcome) as usize;
        if let Some(known) = self.by_address.get(&address) {
            return *known;
        }
        let text = match &**outcome {
            Ok(made) => made.data.repr(),
            Err(_) => String::new(),
        };
        let next = self.by_text.len();
        let number = *self.by_text.entry((sls, text)).or_insert(next);
        self.by_address.insert(address, number);
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Level, Linter};
    use mapstack::loader::MemoryFiles;
    use mapstack::minion::Minion;

    #[test]
    fn those_that_come_to_the_same_take_the_first_result_after_a_few() {
        let keys = ["a", "b", "a", "a", "a", "a", "b", "a"];
        assert_eq!(taken_from(keys), [0, 1, 2, 3, 4, 0, 6, 0]);
    }

    #[test]
    fn faults_of_sls_that_include_each_other_are_found_however_many_there_are() {
        let part = |n: usize| {
            format!("include: ['f.s*']\na{n}: {{test.nop: [{{require: [{{test: x{n}}}]}}]}}")
        };
        let files = (0..7).fold(MemoryFiles::new(), |files, n| {
            files.file("base", &format!("f/s{n}.sls"), part(n))
        });
        let found = |files: MemoryFiles| {
            let engine = Engine::new(files);
            let linter = Linter::new(&engine).minions(vec![Minion::new("web1").complete()]);
            let report = linter.lint("f").unwrap();
            let noted = report
                .findings
                .iter()
                .filter(|one| one.level == Level::Note);
            (report.findings.len(), noted.count(), report.remarks)
        };
        let remark =
            "3 sls were compiled only with others that include the same sls, not by themselves";
        let remarks = vec![remark.to_owned()];
        assert_eq!(found(files.clone()), (7, 0, remarks.clone()));
        // One has the state that it lacks within another, whose closure is not theirs.
        let around = "include: ['f.s*']\nx3: test.nop";
        assert_eq!(
            found(files.file("base", "f/init.sls", around)),
            (7, 1, remarks)
        );
    }
}
