//! The classes of a node before Salt 3007, in order.

use foldhash::fast::RandomState;
use indexmap::IndexSet;
use mapstack_diagnostic::{Error, ErrorKind, Result};
use mapstack_pyobject::{DictRef, Entries, Obj};

use super::classes::{Class, Classes, ExpandedClasses};
use super::files::MatchedNames;
use super::inventory::Inventory;
use crate::classes::Host;

/// So many classes of one node at most: the reference goes one call deeper with each, up to the limit of Python.
const MAX_CLASSES: usize = 900;

/// The expansion of the classes of one node (Salt 3006: `expand_classes_in_order`).
///
/// It goes through a list, and puts what a class names in front of it. For each new class, it goes through a copy of the
/// list with patterns expanded; what it puts there is lost. So the list of the node has what its classes name, but not
/// what those name in turn, unless the node names it as well.
pub struct ClassExpansion<'i> {
    inventory: &'i Inventory<'i>,
    node: Class,
    seen: IndexSet<String, RandomState>,
    known: Classes,
    matched: MatchedNames,
}

/// A list, and how far it is done.
struct ListProgress {
    names: Vec<String>,
    next: usize,
}

impl<'i> ClassExpansion<'i> {
    /// The classes of the node's list, and the node.
    pub fn of(inventory: &'i Inventory<'i>, node: Class) -> Result<ExpandedClasses> {
        let mut flat = ClassExpansion {
            inventory,
            node,
            seen: IndexSet::default(),
            known: Classes::default(),
            matched: MatchedNames::default(),
        };
        let names = flat.expanded()?;
        let states = flat.states(&names)?;
        let ClassExpansion {
            mut known, node, ..
        } = flat;
        let mut all: Vec<Class> = names
            .iter()
            .filter_map(|name| known.swap_remove(name))
            .collect();
        all.push(node);
        Ok(ExpandedClasses {
            all,
            names: names.into_iter().collect(),
            states: Some(states),
        })
    }

    /// The node's list, each name once.
    fn expanded(&mut self) -> Result<IndexSet<String, RandomState>> {
        let wanted = match self.node.data.get_str("classes") {
            Some(wanted) => self
                .node
                .iterated(self.inventory.host, "classes", &wanted)?,
            None => Vec::new(),
        };
        let mut levels = vec![self.level(wanted)?];
        loop {
            let Some(level) = levels.last_mut() else {
                return Ok(IndexSet::default());
            };
            let Some(name) = level.names.get(level.next).cloned() else {
                let names: IndexSet<_, _> = std::mem::take(&mut level.names).into_iter().collect();
                if levels.len() == 1 {
                    return Ok(names);
                }
                // It reads the states of each list, and uses those of the node's.
                self.states(&names)?;
                levels.pop();
                continue;
            };
            level.next += 1;
            if !self.seen.insert(name.clone()) {
                continue;
            }
            let class = self.inventory.merged_class(&name)?;
            if let Some(further) = class.data.get_str("classes")
                && further.truthy().unwrap_or(true)
            {
                let further = class.iterated(self.inventory.host, "classes", &further)?;
                let further = further
                    .iter()
                    .map(|name| class.name_in(self.inventory.host, "classes", name));
                let further = further.collect::<Result<Vec<_>>>()?;
                let before = level.names.iter().position(|known| *known == name);
                let before = before.unwrap_or_default();
                level.names.splice(before..before, further);
            }
            self.known.insert(name, class);
            let names = level.names.iter().map(|name| Obj::from(name.as_str()));
            let next = self.level(names.collect())?;
            if levels.len() > MAX_CLASSES {
                let message = format!("the node has more than {MAX_CLASSES} classes");
                return Err(Error::new(ErrorKind::Limit, message)
                    .help("put what they say into fewer classes; Salt 3006 fails here, too"));
            }
            levels.push(next);
        }
    }

    /// The list with patterns expanded.
    fn level(&mut self, wanted: Vec<Obj>) -> Result<ListProgress> {
        self.inventory.host.spend(1 + wanted.len())?;
        let names = self
            .inventory
            .names(&self.node, wanted, &mut self.matched)?;
        Ok(ListProgress {
            names: names.into_iter().collect(),
            next: 0,
        })
    }

    /// The states of classes and the node.
    fn states(&self, names: &IndexSet<String, RandomState>) -> Result<Vec<Obj>> {
        let host = self.inventory.host;
        host.spend(names.len())?;
        let mut all = Vec::new();
        for name in names {
            let class = self.known.get(name).ok_or_else(|| unknown(name))?;
            all.extend(states_of(host, class)?);
        }
        all.extend(states_of(host, &self.node)?);
        Ok(all)
    }
}

/// The states of a class. The reference puts something empty in place of none.
fn states_of(host: &dyn Host<Obj>, class: &Class) -> Result<Vec<Obj>> {
    match class.data.get_str("states") {
        Some(Obj::None) => {
            let none = Obj::Dict(DictRef::new(Entries::default()));
            class.data.insert("states", none);
            Ok(Vec::new())
        }
        Some(states) => class.iterated(host, "states", &states),
        None => Ok(Vec::new()),
    }
}

fn unknown(name: &str) -> Error {
    let message = format!(
        "the class '{name}', which another class names, does not exist or is a pattern, and Salt 3006 ends there"
    );
    Error::new(ErrorKind::DataSource, message)
        .help("name it in the node, or name the classes that there are")
}
