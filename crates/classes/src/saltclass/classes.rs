//! Which classes a node has, in which order.

use foldhash::fast::RandomState;
use indexmap::{IndexMap, IndexSet};
use mapstack_diagnostic::{Diagnostic, Error, ErrorKind, Result};
use mapstack_pyobject::{DictRef, Entries, Obj};

use super::Inventory;
use super::merge::Merge;
use super::objects::described;

/// A class or a node.
pub struct Class {
    /// Its name; the minion's id for a node.
    pub name: String,
    /// Its file.
    pub file: Option<String>,
    /// What the file says.
    pub data: DictRef,
}

/// Classes with their names, in the order of their merge.
pub type Classes = IndexMap<String, Class, RandomState>;

/// Classes nest this deep at most.
const MAX_DEPTH: usize = 200;

impl Class {
    /// The pillars as an object of their own, as the reference copies those of the node.
    pub fn own_copy_of_pillars(&self) -> Result<Obj> {
        let Some(pillars) = self.data.get_str("pillars") else {
            return Ok(Obj::Dict(DictRef::new(Entries::default())));
        };
        let value = pillars.to_value().map_err(|e| self.wrong(&e.to_string()))?;
        Ok(Obj::from_shared(&value))
    }

    /// What a `for` over a part of the class sees: items, keys, or characters.
    pub fn iterated(&self, what: &str, object: &Obj) -> Result<Vec<Obj>> {
        match object {
            Obj::List(items) => Ok(items.items()),
            Obj::Dict(entries) => Ok(entries.keys().iter().map(Obj::from).collect()),
            Obj::Str(text) => Ok(text.chars().map(|c| Obj::from(c.to_string())).collect()),
            other => {
                let message = format!("`{what}` must be a list, not {}", described(other));
                Err(self.wrong(&message).help(format!(
                    "write each item behind a dash; leave `{what}:` out if there are none"
                )))
            }
        }
    }

    /// An error about the class.
    pub fn wrong(&self, message: &str) -> Error {
        let message = match &self.file {
            Some(file) => format!("{file}: {message}"),
            None => format!("the class '{}': {message}", self.name),
        };
        Error::new(ErrorKind::DataSource, message)
    }
}

impl Inventory<'_> {
    /// The node of the minion; one that is not there says nothing.
    pub fn node(&self) -> Result<Class> {
        let file = self.node_file()?;
        if file.is_none() {
            let message = format!(
                "saltclass has no node '{}' below {}",
                self.minion_id, self.path
            );
            let warning = Diagnostic::warning(ErrorKind::File, message);
            let help = format!(
                "write it to nodes/{}.yml, in any directory below nodes",
                self.minion_id
            );
            self.host.warn(warning.with_help(help));
        }
        let mut node = Class {
            name: self.minion_id.into(),
            file,
            data: DictRef::new(Entries::default()),
        };
        if let Some(file) = &node.file {
            match self.host.read(file)? {
                Obj::Dict(data) => node.data = data,
                Obj::None => {
                    return Err(node
                        .wrong("the file of a node must be a mapping, and it is empty")
                        .help("write `{}` for a node without classes"));
                }
                other => return Err(node.wrong(&no_mapping("node", &other))),
            }
        }
        Ok(node)
    }

    /// A class by its name; one that is not there says nothing.
    fn class(&self, name: &str) -> Result<Class> {
        let mut class = Class {
            name: name.into(),
            file: self.class_file(name)?,
            data: DictRef::new(Entries::default()),
        };
        let Some(file) = &class.file else {
            return Ok(class);
        };
        match self.host.read(file)? {
            Obj::Dict(data) => class.data = data,
            Obj::None => {}
            other => return Err(class.wrong(&no_mapping("class", &other))),
        }
        Ok(class)
    }
}

fn no_mapping(what: &str, data: &Obj) -> String {
    format!(
        "the file of a {what} must be a mapping, not {}",
        described(data)
    )
}

/// The expansion of the classes of one node (Salt: `expand_classes_in_order`).
pub struct Expansion<'i> {
    inventory: &'i Inventory<'i>,
    seen: IndexSet<String, RandomState>,
}

impl<'i> Expansion<'i> {
    /// All classes and, unless it says nothing, the node. Classes come behind those they name; each stands where it is
    /// first named.
    pub fn of(inventory: &'i Inventory<'i>, node: Class) -> Result<Classes> {
        let mut expansion = Expansion {
            inventory,
            seen: IndexSet::default(),
        };
        let mut all = match node.data.get_str("classes") {
            Some(wanted) => expansion.named(&node, &wanted, 0)?,
            None => Classes::default(),
        };
        if !node.data.is_empty() {
            all.insert(node.name.clone(), node);
        }
        Ok(all)
    }

    fn named(&mut self, by: &Class, wanted: &Obj, depth: usize) -> Result<Classes> {
        if depth > MAX_DEPTH {
            let message =
                format!("classes that name each other are nested deeper than {MAX_DEPTH}");
            return Err(Error::new(ErrorKind::Limit, message).help("name them side by side"));
        }
        let mut all = Classes::default();
        for name in self.names(by, wanted)? {
            if !self.seen.insert(name.clone()) {
                continue;
            }
            let class = self.inventory.class(&name)?;
            let merge = Merge {
                host: self.inventory.host,
            };
            if let Some(pillars) = class.data.get_str("pillars")
                && pillars.truthy().unwrap_or(true)
            {
                merge.over_pillar(self.inventory.pillar, &pillars, &class)?;
            }
            if let Some(further) = class.data.get_str("classes") {
                all.extend(self.named(&class, &further, depth + 1)?);
            }
            all.insert(name, class);
        }
        Ok(all)
    }

    /// The names that patterns stand for, each once (Salt: `expand_classes_glob`).
    fn names(&self, by: &Class, wanted: &Obj) -> Result<IndexSet<String, RandomState>> {
        let mut all = IndexSet::default();
        for name in by.iterated("classes", wanted)? {
            let Obj::Str(name) = &name else {
                let message = format!(
                    "an item of `classes` must be the name of a class, not {}",
                    described(&name)
                );
                return Err(by.wrong(&message));
            };
            let names = self.inventory.matching(name)?;
            if names.is_empty() {
                self.warn_of_nothing(by, name);
            }
            all.extend(names);
        }
        Ok(all)
    }

    fn warn_of_nothing(&self, by: &Class, name: &str) {
        let by = by.file.as_deref().unwrap_or(&by.name);
        let message =
            format!("the class '{name}' does not exist, so it is left out where {by} names it");
        let warning = Diagnostic::warning(ErrorKind::File, message);
        let path = name.replace('.', "/");
        let help = format!(
            "there is neither {path}.yml nor {path}/init.yml below {}",
            self.inventory.classes()
        );
        self.inventory.host.warn(warning.with_help(help));
    }
}
