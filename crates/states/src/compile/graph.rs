//! The states of a minion and what they require (Salt: `DependencyGraph`).

use std::collections::HashMap;

use indexmap::{IndexMap, IndexSet};
use mapstack_pyobject::{Budget, DictRef, Obj};
use mapstack_value::Key;
use mapstack_value::pytext::Fnmatch;

use super::chunks::text_at;
use super::keywords::{Requisite, is_pattern};
use super::python::{items, key};
use super::refusal::{Result, exception};

/// A state, or the test of a state that others `prereq`.
pub(crate) struct Node {
    pub tag: String,
    /// `None` for the test of a state that is marked as tested itself.
    chunk: Option<DictRef>,
    /// Those that come behind it.
    pub behind: Edges,
    /// Those that come before it. The kinds are in their edges alone, as there can be millions.
    before: Vec<usize>,
}

impl Node {
    /// True if it is the test of a state.
    pub fn is_test(&self) -> bool {
        self.tag.ends_with(TEST)
    }
}

/// The end of the tag of a test.
const TEST: &str = "_|-__prereq_test__";

/// Edges to other nodes; there can be several of different kinds.
pub(crate) type Edges = IndexMap<usize, Kinds>;

/// The kinds of edges between two nodes, in the order in which they were added. Nothing of it is on the heap: names of a
/// state that require all names of another make millions.
#[derive(Clone, Copy, Default)]
pub(crate) struct Kinds([Option<Requisite>; Requisite::ALL.len()]);

impl Kinds {
    /// Add a kind, unless it is present.
    fn add(&mut self, kind: Requisite) {
        let mut slots = self.0.iter_mut();
        if let Some(slot) = slots.find(|slot| slot.is_none_or(|present| present == kind)) {
            *slot = Some(kind);
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = Requisite> + '_ {
        self.0.iter().map_while(|kind| *kind)
    }

    pub fn count(&self) -> usize {
        self.iter().count()
    }
}

/// States by tag, module and name, and sls.
#[derive(Default)]
pub(crate) struct Graph {
    pub nodes: Vec<Node>,
    by_tag: HashMap<String, usize>,
    by_name: IndexMap<(Key, Key), IndexSet<usize>>,
    by_sls: IndexMap<Key, IndexSet<usize>>,
}

/// The name of a chunk among all (Salt: `_gen_tag`).
pub(super) fn tag_of(chunk: &DictRef) -> Result<String> {
    let [state, id, name, function] =
        ["state", "__id__", "name", "fun"].map(|part| text_at(chunk, part));
    Ok(format!("{}_|-{}_|-{}_|-{}", state?, id?, name?, function?))
}

fn key_at(chunk: &DictRef, name: &str) -> Result<Key> {
    key(&chunk.get_str(name).unwrap_or_default())
}

impl Graph {
    /// Add a chunk. It takes the place of one with its tag.
    pub fn add(&mut self, budget: &Budget<'_>, chunk: &DictRef) -> Result<()> {
        let node = self.add_node(tag_of(chunk)?, Some(chunk));
        let (state, name) = (key_at(chunk, "state")?, key_at(chunk, "name")?);
        let id = key_at(chunk, "__id__")?;
        let any = Key::from("id");
        let names = [
            (state.clone(), name.clone()),
            (state, id.clone()),
            (any.clone(), id),
            (any, name),
        ];
        for name in names {
            self.by_name.entry(name).or_default().insert(node);
        }
        let sls = chunk.get_str("__sls__").unwrap_or_default();
        if sls.truthy()? {
            self.by_sls.entry(key(&sls)?).or_default().insert(node);
        }
        let from = chunk.get_str("__sls_included_from__").unwrap_or_default();
        if from.truthy()? {
            for sls in items(budget, &from)? {
                self.by_sls.entry(key(&sls)?).or_default().insert(node);
            }
        }
        Ok(())
    }

    fn add_node(&mut self, tag: String, chunk: Option<&DictRef>) -> usize {
        if let Some(known) = self.by_tag.get(&tag) {
            let own = &mut self.nodes[*known].chunk;
            *own = chunk.cloned().or_else(|| own.take());
            return *known;
        }
        self.by_tag.insert(tag.clone(), self.nodes.len());
        self.nodes.push(Node {
            tag,
            chunk: chunk.cloned(),
            behind: Edges::new(),
            before: Vec::new(),
        });
        self.nodes.len() - 1
    }

    fn add_edge(&mut self, from: usize, to: usize, kind: Requisite) {
        let behind = &mut self.nodes[from].behind;
        let known = behind.len();
        behind.entry(to).or_default().add(kind);
        if behind.len() > known {
            self.nodes[to].before.push(from);
        }
    }

    /// The states that a requisite names; `None` if there are none. A pattern for sls may match none.
    pub fn targets(&self, module: &Key, name: &str) -> Result<Option<Vec<usize>>> {
        let all = |sets: Vec<&IndexSet<usize>>| sets.into_iter().flatten().copied().collect();
        if !is_pattern(name) {
            let name = Key::from(name);
            let found = match module.as_str() {
                Some("sls") => self.by_sls.get(&name),
                _ => self.by_name.get(&(module.clone(), name)),
            };
            return Ok(found.map(|nodes| all(vec![nodes])));
        }
        let pattern = Fnmatch::new(name);
        let matches = |key: &Key| match key.as_str() {
            Some(text) => Ok(pattern.matches(text)),
            None => exception(format!(
                "the pattern '{name}' is compared with {key}, which is not text"
            )),
        };
        let mut found = Vec::new();
        if module.as_str() == Some("sls") {
            for (sls, nodes) in &self.by_sls {
                if matches(sls)? {
                    found.push(nodes);
                }
            }
            return Ok(Some(all(found)));
        }
        for ((own, key), nodes) in &self.by_name {
            if own == module && matches(key)? {
                found.push(nodes);
            }
        }
        Ok((!found.is_empty()).then(|| all(found)))
    }

    /// Let a chunk require other states.
    pub fn require(
        &mut self,
        chunk: &DictRef,
        kind: Requisite,
        others: &[usize],
        is_tested: bool,
    ) -> Result<()> {
        let tag = tag_of(chunk)?;
        let Some(own) = self.by_tag.get(&tag).copied() else {
            return exception(format!("the state '{tag}' does not exist"));
        };
        for other in others {
            if kind == Requisite::Prereq {
                self.test_before(own, *other)?;
                continue;
            }
            if is_tested {
                let test = self.add_node(test_tag(&self.nodes[own].tag), None);
                self.add_edge(*other, test, kind);
            }
            self.add_edge(*other, own, kind);
        }
        Ok(())
    }

    /// The chunk of a node.
    pub fn chunk(&self, node: usize) -> Result<&DictRef> {
        match &self.nodes[node].chunk {
            Some(chunk) => Ok(chunk),
            None => exception(format!("'{}' is tested for no state", self.nodes[node].tag)),
        }
    }

    /// The test of a state, if it is whole.
    fn test_of(&self, node: usize) -> Option<usize> {
        let test = self.by_tag.get(&test_tag(&self.nodes[node].tag)).copied()?;
        self.nodes[test].chunk.is_some().then_some(test)
    }

    /// Let a state run first in test mode, to see if another is to run before it (`prereq`).
    fn test_before(&mut self, own: usize, other: usize) -> Result<()> {
        self.chunk(own)?.insert("__prerequiring__", Obj::Bool(true));
        self.chunk(other)?.insert("__prereq__", Obj::Bool(true));
        let test = match self.test_of(other) {
            Some(test) => test,
            None => self.add_test(other)?,
        };
        self.add_edge(test, own, Requisite::Prereq);
        self.add_edge(own, other, Requisite::Require);
        if let Some(own_test) = self.test_of(own) {
            self.add_edge(test, own_test, Requisite::Prereq);
        }
        Ok(())
    }

    /// The test of a state, which requires what the state requires.
    fn add_test(&mut self, node: usize) -> Result<usize> {
        let chunk = self.chunk(node)?.clone();
        let test = self.add_node(test_tag(&self.nodes[node].tag), Some(&chunk));
        for before in self.nodes[node].before.clone() {
            let kinds = self.nodes[before].behind.get(&node).copied();
            for kind in kinds.unwrap_or_default().iter() {
                if kind != Requisite::Prereq {
                    self.add_edge(before, test, kind);
                }
            }
        }
        Ok(test)
    }

    /// A cycle: edges, each from a node to one that comes behind it.
    pub fn cycle(&self) -> Vec<(usize, usize, Requisite)> {
        let mut seen = vec![VisitState::Not; self.nodes.len()];
        for node in 0..self.nodes.len() {
            if seen[node] == VisitState::Not
                && let Some(cycle) = self.cycle_from(node, &mut seen)
            {
                return cycle;
            }
        }
        Vec::new()
    }

    fn cycle_from(
        &self,
        start: usize,
        seen: &mut [VisitState],
    ) -> Option<Vec<(usize, usize, Requisite)>> {
        // The way to a node: each with the edge that led to it, and how many of its own edges were looked at.
        let mut way = vec![(start, 0)];
        seen[start] = VisitState::OnWay;
        while let Some((node, looked)) = way.last_mut() {
            let (from, at) = (*node, *looked);
            *looked += 1;
            let Some((to, _)) = self.nodes[from].behind.get_index(at) else {
                seen[from] = VisitState::Done;
                way.pop();
                continue;
            };
            match seen[*to] {
                VisitState::OnWay => {
                    let first = way.iter().position(|(node, _)| node == to)?;
                    return Some(self.edges(&way[first..], *to));
                }
                VisitState::Not => {
                    seen[*to] = VisitState::OnWay;
                    way.push((*to, 0));
                }
                VisitState::Done => {}
            }
        }
        None
    }

    /// The edges of a way that ends where it begins.
    fn edges(&self, way: &[(usize, usize)], end: usize) -> Vec<(usize, usize, Requisite)> {
        let next = way.iter().skip(1).map(|(node, _)| *node).chain([end]);
        let edges = way.iter().zip(next);
        edges
            .filter_map(|((from, _), to)| {
                Some((*from, to, self.nodes[*from].behind.get(&to)?.iter().next()?))
            })
            .collect()
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum VisitState {
    Not,
    OnWay,
    Done,
}

fn test_tag(tag: &str) -> String {
    format!("{tag}{TEST}")
}

/// The requisites of a chunk as a list, if it has them.
pub(super) fn listed(budget: &Budget<'_>, chunk: &DictRef, kind: Requisite) -> Result<Vec<Obj>> {
    let value = chunk.get_str(kind.name()).unwrap_or_default();
    match value.truthy()? {
        true => items(budget, &value),
        false => Ok(Vec::new()),
    }
}
