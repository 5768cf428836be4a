//! The order of chunks (Salt: `aggregate_and_order_chunks`).

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use mapstack_pyobject::{DictRef, Obj, as_float, order};
use mapstack_value::{Int, Key};

use super::chunks::text_at;
use super::extend::taken;
use super::graph::Graph;
use super::keywords::Requisite;
use super::python::key;
use super::refusal::{
    NamedState, Refusal, RefusalKind, Requires, Result, cycle_message, exception,
};
use super::work::MinionCompile;

/// The key by which states are sorted.
struct Rank {
    order: Number,
    own: Number,
    label: String,
    tag: String,
}

/// A number as Python sorts it; `inf` is above all.
struct Number(Obj);

impl Number {
    fn cmp(&self, other: &Self) -> Ordering {
        order(&self.0, &other.0, "<")
            .ok()
            .flatten()
            .unwrap_or(Ordering::Equal)
    }
}

impl Ord for Rank {
    fn cmp(&self, other: &Self) -> Ordering {
        let numbers = self
            .order
            .cmp(&other.order)
            .then_with(|| self.own.cmp(&other.own));
        numbers
            .then_with(|| self.label.cmp(&other.label))
            .then_with(|| self.tag.cmp(&other.tag))
    }
}

impl PartialOrd for Rank {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Rank {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Rank {}

/// Numbers that `order` may name.
struct Cap {
    cap: Obj,
    last: Int,
}

impl Cap {
    fn new(cap: Int) -> Self {
        Cap {
            last: cap.add(&Int::from(1_000_000)),
            cap: Obj::Int(cap),
        }
    }

    /// The number for one below zero.
    fn counted_back(&self, number: Obj) -> Result<Obj> {
        Ok(match number {
            Obj::Int(number) => Obj::Int(number.add(&self.last)),
            number => Obj::Float(float(&number)? + float(&Obj::Int(self.last.clone()))?),
        })
    }

    /// The number of an `order` that is none.
    fn named(&self, order: Option<&Obj>) -> Obj {
        match order.and_then(Obj::as_str).map(|text| &**text) {
            Some("last") => Obj::Int(self.last.clone()),
            Some("first") => Obj::from(0),
            _ => self.cap.clone(),
        }
    }

    /// The order of a chunk. An order that is not a number is replaced in the chunk.
    fn of(&self, chunk: &DictRef) -> Obj {
        match chunk.get_str("order") {
            Some(number) if is_number(&number) => number,
            other => {
                let number = self.named(other.as_ref());
                chunk.insert("order", number.clone());
                number
            }
        }
    }
}

/// Raise a number above the order of a chunk.
pub(super) fn raise(cap: &mut Int, chunk: &DictRef) {
    let order = match chunk.get_str("order") {
        Some(Obj::Int(order)) => order,
        Some(Obj::Bool(order)) => Int::from(i64::from(order)),
        _ => return,
    };
    if order >= *cap && order > Int::from(0) {
        *cap = order.add(&Int::from(100));
    }
}

fn is_number(object: &Obj) -> bool {
    matches!(object, Obj::Int(_) | Obj::Float(_) | Obj::Bool(_))
}

fn float(object: &Obj) -> Result<f64> {
    match as_float(object)? {
        Some(float) => Ok(float),
        None => exception("the order of a name is not a number"),
    }
}

fn is_less(a: &Obj, b: &Obj) -> Result<bool> {
    Ok(order(a, b, "<")? == Some(Ordering::Less))
}

impl MinionCompile<'_> {
    /// The nodes in the order in which they run.
    pub(crate) fn sorted(&mut self, graph: &Graph, cap: Int) -> Result<Vec<usize>> {
        let cap = Cap::new(cap);
        let mut waits = vec![0; graph.nodes.len()];
        for (behind, kinds) in graph.nodes.iter().flat_map(|node| &node.behind) {
            waits[*behind] += kinds.count();
        }
        let mut heap = BinaryHeap::new();
        for (node, waits) in waits.iter().enumerate() {
            if *waits == 0 {
                heap.push(Reverse((self.rank(graph, node, &cap)?, node)));
            }
        }
        let mut sorted = Vec::new();
        while let Some(Reverse((_, node))) = heap.pop() {
            sorted.push(node);
            for (behind, kinds) in &graph.nodes[node].behind {
                waits[*behind] -= kinds.count();
                if waits[*behind] == 0 {
                    heap.push(Reverse((self.rank(graph, *behind, &cap)?, *behind)));
                }
            }
        }
        if sorted.len() != graph.nodes.len() {
            let cycle = cycle(graph)?;
            self.refuse(cycle);
            sorted.clear();
        }
        Ok(sorted)
    }

    /// The key by which a node is sorted. Computing it writes the order into chunks.
    fn rank(&self, graph: &Graph, node: usize, cap: &Cap) -> Result<Rank> {
        let own = &graph.nodes[node];
        let chunk = graph.chunk(node)?;
        let [state, name, function] = ["state", "name", "fun"].map(|part| text_at(chunk, part));
        let label = format!("{}{}{}", state?, name?, function?);
        let number = self.own_order(chunk, cap)?;
        let mut least = Obj::Float(f64::INFINITY);
        let mut heaviest = None;
        for (behind, kinds) in &own.behind {
            for kind in kinds.iter() {
                self.budget.burn(1)?;
                if heaviest > Some(kind) {
                    continue;
                }
                heaviest = Some(kind);
                let order = match graph.chunk(*behind) {
                    Ok(behind) if behind.contains(&Key::from("order")) => cap.of(behind),
                    _ => Obj::Float(f64::INFINITY),
                };
                if is_less(&order, &least)? {
                    least = order;
                }
            }
        }
        let order = match is_less(&least, &number)? {
            true => least,
            false => number.clone(),
        };
        Ok(Rank {
            order: Number(order),
            own: Number(number),
            label,
            tag: own.tag.clone(),
        })
    }

    /// The order of a chunk: its number, and as a fraction the position of its name in `names`.
    fn own_order(&self, chunk: &DictRef, cap: &Cap) -> Result<Obj> {
        let mut number = cap.of(chunk);
        if let Some(of_name) = taken(chunk, "name_order")
            && of_name.truthy()?
        {
            number = Obj::Float(float(&number)? + float(&of_name)? / 10_000.0);
            chunk.insert("order", number.clone());
        }
        if is_less(&number, &Obj::from(0))? {
            number = cap.counted_back(number)?;
            chunk.insert("order", number.clone());
        }
        Ok(number)
    }

    /// The chunks by their numbers, as before Salt 3008 (Salt: `order_chunks`).
    pub(crate) fn sorted_by_order(&self, chunks: Vec<DictRef>) -> Result<Vec<DictRef>> {
        let mut cap = Int::from(1);
        for chunk in &chunks {
            raise(&mut cap, chunk);
        }
        let cap = Cap::new(cap);
        let mut ranked = Vec::with_capacity(chunks.len());
        for chunk in chunks {
            self.budget.burn(1)?;
            let has_order = chunk.contains(&Key::from("order"));
            let mut number = cap.of(&chunk);
            if has_order {
                if let Some(of_name) = taken(&chunk, "name_order") {
                    number = Obj::Float(float(&number)? + float(&of_name)? / 10_000.0);
                }
                if is_less(&number, &Obj::from(0))? {
                    number = cap.counted_back(number)?;
                }
                chunk.insert("order", number.clone());
            }
            let [state, name, function] =
                ["state", "name", "fun"].map(|part| text_at(&chunk, part));
            let label = format!("{}{}{}", state?, name?, function?);
            ranked.push((Number(number), label, chunk));
        }
        ranked.sort_by(|a, b| a.0.cmp(&b.0).then_with(|| a.1.cmp(&b.1)));
        Ok(ranked.into_iter().map(|(_, _, chunk)| chunk).collect())
    }
}

/// A state that requires another.
pub(super) struct Link<'l> {
    pub behind: &'l DictRef,
    pub kind: &'static str,
    pub before: &'l DictRef,
}

fn cycle(graph: &Graph) -> Result<Refusal> {
    let mut links = Vec::new();
    // The edges lead from what is required; said along the requisites, the last comes first.
    for (before, behind, kind) in graph.cycle().into_iter().rev() {
        let behind = graph.chunk(behind)?;
        let is_own = behind.contains(&Key::from(kind.name()));
        let kind = match kind {
            Requisite::Require if !is_own => Requisite::Prereq,
            kind => kind,
        };
        links.push(Link {
            behind,
            kind: kind.name(),
            before: graph.chunk(before)?,
        });
    }
    cycle_of(&links)
}

/// The names of the state of a chunk.
pub(super) fn named_state(chunk: &DictRef) -> Result<NamedState> {
    let [sls, id, module, name] =
        ["__sls__", "__id__", "state", "name"].map(|part| text_at(chunk, part));
    Ok(NamedState {
        sls: sls?,
        id: id?,
        module: module?,
        name: name?,
    })
}

/// The refusal of states that require each other.
pub(super) fn cycle_of(links: &[Link<'_>]) -> Result<Refusal> {
    let mut requisites = Vec::new();
    for link in links {
        requisites.push(Requires {
            state: named_state(link.behind)?,
            argument: link.kind.to_owned(),
            on: named_state(link.before)?,
        });
    }
    let message = cycle_message(&requisites, |link| link.state.sls.clone());
    let mut refusal = Refusal::new(RefusalKind::Cycle, message);
    refusal.requisites = requisites;
    if let Some(Link { behind, .. }) = links.first() {
        let id = key(&behind.get_str("__id__").unwrap_or_default())?;
        refusal = refusal.of_sls(text_at(behind, "__sls__")?);
        refusal = refusal.of_state(&id, vec![id.clone()]);
    }
    Ok(refusal)
}
