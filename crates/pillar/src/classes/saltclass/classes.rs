//! The classes of a node, in order.

use foldhash::fast::RandomState;
use indexmap::{IndexMap, IndexSet};
use mapstack_diagnostic::{Diagnostic, Error, ErrorKind, Result};
use mapstack_pyobject::{DictRef, Entries, Obj};

use super::files::MatchedNames;
use super::inventory::Inventory;
use super::merge::Merge;
use super::objects::described;
use crate::classes::Host;

/// A class or a node.
pub struct Class {
    /// Its name; the minion's id for a node.
    pub name: String,
    /// Its file.
    pub file: Option<String>,
    /// The data of the file.
    pub data: DictRef,
}

/// Classes by their names.
pub type Classes = IndexMap<String, Class, RandomState>;

/// The expanded classes of a node.
pub struct ExpandedClasses {
    /// The classes and, unless it is left out, the node, in the order of their merge.
    pub all: Vec<Class>,
    /// The names of the classes.
    pub names: Vec<String>,
    /// The states, if they are known before the merge, which can change their lists.
    pub states: Option<Vec<Obj>>,
}

/// Classes nest this deep at most.
const MAX_DEPTH: usize = 200;

impl Class {
    /// The pillars; none if there are none.
    pub fn pillars(&self) -> Obj {
        let none = || Obj::Dict(DictRef::new(Entries::default()));
        self.data.get_str("pillars").unwrap_or_else(none)
    }

    /// The pillars as an object of their own, as the reference copies those of the node.
    pub fn own_copy_of_pillars(&self, host: &dyn Host<Obj>) -> Result<Obj> {
        let pillars = self.pillars().to_value();
        let value = pillars.map_err(|e| self.wrong(host, &["pillars"], &e.to_string()))?;
        Ok(Obj::from_shared(&value))
    }

    /// The parts that a `for` over a part of the class sees: items, keys, or characters.
    pub fn iterated(&self, host: &dyn Host<Obj>, what: &str, object: &Obj) -> Result<Vec<Obj>> {
        match object {
            Obj::List(items) => Ok(items.items()),
            Obj::Dict(entries) => Ok(entries.keys().iter().map(Obj::from).collect()),
            Obj::Str(text) => Ok(text.chars().map(|c| Obj::from(c.to_string())).collect()),
            other => {
                let message = format!("`{what}` must be a list, not {}", described(other));
                Err(self.wrong(host, &[what], &message).help(format!(
                    "write each item behind a dash; leave `{what}:` out if there are none"
                )))
            }
        }
    }

    /// The name of a class in a part of this one.
    pub fn name_in(&self, host: &dyn Host<Obj>, what: &str, item: &Obj) -> Result<String> {
        let Obj::Str(name) = item else {
            let message = format!(
                "an item of `{what}` must be the name of a class, not {}",
                described(item)
            );
            return Err(self.wrong(host, &[what], &message));
        };
        Ok(name.to_string())
    }

    /// An error about the value below some keys in the class.
    pub fn wrong(&self, host: &dyn Host<Obj>, keys: &[&str], message: &str) -> Error {
        let place = self.file.as_ref().and_then(|file| host.place(file, keys));
        let message = match (&self.file, &place) {
            (Some(_), Some(_)) => message.to_owned(),
            (Some(file), None) => format!("{file}: {message}"),
            (None, _) => format!("the class '{}': {message}", self.name),
        };
        Error::new(ErrorKind::DataSource, message).at(place)
    }
}

impl Inventory<'_> {
    /// The node of the minion; one that does not exist says nothing.
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
                        .wrong(
                            self.host,
                            &[],
                            "the file of a node must be a mapping, and it is empty",
                        )
                        .help("write `{}` for a node without classes"));
                }
                other => return Err(node.wrong(self.host, &[], &no_mapping("node", &other))),
            }
        }
        self.note(&node, &node.pillars());
        Ok(node)
    }

    /// A class by its name; one that does not exist says nothing.
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
            other => return Err(class.wrong(self.host, &[], &no_mapping("class", &other))),
        }
        self.note(&class, &class.pillars());
        Ok(class)
    }

    /// Note the places of all that the file of a class or a node says.
    pub fn note(&self, class: &Class, pillars: &Obj) {
        if let (Some(setters), Some(path)) = (self.setters, &class.file) {
            setters.borrow_mut().enter(&class.name, path, pillars);
        }
    }

    /// A class by its name, whose pillars are merged over the one that templates see.
    pub fn merged_class(&self, name: &str) -> Result<Class> {
        let class = self.class(name)?;
        if let Some(pillars) = class.data.get_str("pillars")
            && pillars.truthy().unwrap_or(true)
        {
            let merge = Merge::new(self);
            merge.over_pillar(self.pillar, &pillars, &class)?;
        }
        Ok(class)
    }

    /// The names that patterns mean, each once (Salt: `expand_classes_glob`).
    pub fn names(
        &self,
        by: &Class,
        wanted: Vec<Obj>,
        matched: &mut MatchedNames,
    ) -> Result<IndexSet<String, RandomState>> {
        let mut all = IndexSet::default();
        for name in wanted {
            let name = by.name_in(self.host, "classes", &name)?;
            let names = self.matching(&name, matched)?;
            if names.is_empty() {
                self.warn_of_nothing(by, &name);
            }
            all.extend(names.iter().cloned());
        }
        Ok(all)
    }

    fn warn_of_nothing(&self, by: &Class, name: &str) {
        let place = by.file.as_ref();
        let place = place.and_then(|file| self.host.place(file, &["classes", name]));
        let by = by.file.as_deref().unwrap_or(&by.name);
        let message =
            format!("the class '{name}' does not exist, so it is left out where {by} names it");
        let warning = Diagnostic::warning(ErrorKind::File, message);
        let path = name.replace('.', "/");
        let help = format!(
            "there is neither {path}.yml nor {path}/init.yml below {}",
            self.classes()
        );
        self.host.warn(Diagnostic {
            place,
            ..warning.with_help(help)
        });
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
    matched: MatchedNames,
}

impl<'i> Expansion<'i> {
    /// All classes and, unless it is empty, the node. Classes follow those they name; each is at the place of
    /// its first mention.
    pub fn of(inventory: &'i Inventory<'i>, node: Class) -> Result<ExpandedClasses> {
        let mut expansion = Expansion {
            inventory,
            seen: IndexSet::default(),
            matched: MatchedNames::default(),
        };
        let mut all = match node.data.get_str("classes") {
            Some(wanted) => expansion.named(&node, &wanted, 0)?,
            None => Classes::default(),
        };
        if !node.data.is_empty() {
            all.insert(node.name.clone(), node);
        }
        // The reference takes the last one for the node, which does not exist if it is empty.
        let most = all.len().saturating_sub(1);
        Ok(ExpandedClasses {
            names: all.keys().take(most).cloned().collect(),
            all: all.into_values().collect(),
            states: None,
        })
    }

    fn named(&mut self, by: &Class, wanted: &Obj, depth: usize) -> Result<Classes> {
        if depth > MAX_DEPTH {
            let message =
                format!("classes that name each other are nested deeper than {MAX_DEPTH}");
            return Err(Error::new(ErrorKind::Limit, message).help("name them side by side"));
        }
        let mut all = Classes::default();
        let wanted = by.iterated(self.inventory.host, "classes", wanted)?;
        for name in self.inventory.names(by, wanted, &mut self.matched)? {
            if !self.seen.insert(name.clone()) {
                continue;
            }
            let class = self.inventory.merged_class(&name)?;
            if let Some(further) = class.data.get_str("classes") {
                all.extend(self.named(&class, &further, depth + 1)?);
            }
            all.insert(name, class);
        }
        Ok(all)
    }
}
