//! Nodes with the classes they inherit from, merged (reclass: `Core._node_entity`).

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use fancy_regex::Regex;
use mapstack_diagnostic::{Diagnostic, Error, ErrorKind, Result};
use mapstack_value::{Map, Value};

use super::entity::{Entity, add_class, automatic, read_dict};
use super::interpolate::{Parameters, Role};
use super::memo::FileReading;
use super::meter::MeteredHost;
use super::paths::PathProblem;
use super::settings::ReclassSettings;
use super::storage::{InventoryFile, InventoryFiles, NamingScheme};
use super::value::ValueFile;
use super::{Inventory, mappings, option, reference};
use crate::classes::ClassFile;

/// Classes nest this deep at most.
const MAX_DEPTH: usize = 200;

/// The number of what no file says.
pub const NO_FILE: usize = 0;

/// The number of the file of the minion's node, which is read before all others.
pub const NODE_FILE: usize = 1;

/// The files of an inventory, each read once.
pub struct Reader<'r> {
    pub inventory: &'r Inventory<'r>,
    /// The inventory's host.
    pub meter: &'r MeteredHost<'r>,
    pub settings: &'r ReclassSettings,
    pub nodes: InventoryFiles,
    pub classes: InventoryFiles,
    directories: (String, String),
    /// The classes that may be missing.
    may_miss: Option<Regex>,
    /// The files that were read, by their numbers.
    files: RefCell<Vec<ClassFile>>,
    /// The files' entities, by their paths.
    entities: RefCell<HashMap<String, Rc<Entity>>>,
    /// The files read, in order.
    readings: RefCell<Vec<FileReading>>,
    /// The missing classes that were reported, with the files that name them.
    reported: RefCell<HashSet<(String, usize)>>,
}

impl<'r> Reader<'r> {
    pub fn new(
        inventory: &'r Inventory<'r>,
        settings: &'r ReclassSettings,
        meter: &'r MeteredHost<'r>,
    ) -> Result<Self> {
        let directories = inventory.directories()?;
        let naming = match inventory.option("compose_node_name").truthy() {
            true => NamingScheme::ComposedNodes,
            false => NamingScheme::Nodes,
        };
        let wrong = |e: fancy_regex::Error| option(format!("`ignore_class_notfound_regexp`: {e}"));
        let may_miss = settings.may_miss.as_ref();
        let may_miss = may_miss.map(|all| Regex::new(&format!("^(?:{})", all.join("|"))));
        Ok(Reader {
            inventory,
            meter,
            settings,
            nodes: InventoryFiles::below(inventory.host, &directories.0, naming)?,
            classes: InventoryFiles::below(inventory.host, &directories.1, NamingScheme::Classes)?,
            directories,
            may_miss: may_miss.transpose().map_err(wrong)?,
            files: RefCell::new(vec![ClassFile {
                name: String::new(),
                path: String::new(),
            }]),
            entities: RefCell::default(),
            readings: RefCell::default(),
            reported: RefCell::default(),
        })
    }

    /// The names of all nodes, in the order of their files.
    pub fn node_names(&self) -> impl Iterator<Item = &str> {
        self.nodes.names()
    }

    /// The readings so far, in order.
    pub fn readings(&self) -> std::cell::Ref<'_, Vec<FileReading>> {
        self.readings.borrow()
    }

    /// The cost of reading a file that was read for another minion; `None` if it has other data.
    pub fn read_again(&self, reading: &FileReading) -> Option<usize> {
        let own = self.readings.borrow();
        if let Some(own) = own.iter().find(|own| own.path == reading.path) {
            return own.data.is_same(&reading.data).then_some(0);
        }
        let data = self.inventory.host.read(&reading.path).ok()?;
        data.is_same(&reading.data).then_some(reading.steps)
    }

    /// True if nothing was reported that another minion would have to report as well.
    pub fn is_silent(&self) -> bool {
        self.reported.borrow().is_empty()
    }

    pub fn files(&self) -> std::cell::Ref<'_, Vec<ClassFile>> {
        self.files.borrow()
    }

    pub fn spend(&self, steps: usize) -> Result<()> {
        self.inventory.host.spend(steps)
    }

    /// The entity of a node's file, with an environment (reclass: `get_node`).
    ///
    /// # Errors
    /// The node does not exist, or its file is wrong.
    pub fn node(&self, name: &str) -> Result<Entity> {
        let Some(file) = self.nodes.get(name) else {
            let message = format!("reclass has no node '{name}' below {}", self.directories.0);
            return Err(
                Error::new(ErrorKind::File, message).help(format!("write it to {name}.yml there"))
            );
        };
        let mut node = (*self.entity(name, file)?).clone();
        if node.environment.is_none() {
            node.environment = self.settings.default_environment.clone();
        }
        Ok(node)
    }

    /// A node merged with mapped classes, what is known about it, and its classes.
    ///
    /// # Errors
    /// A file is wrong, a class does not exist, or types cannot be merged.
    pub fn merged(&self, name: &str, node: &Entity) -> Result<Entity> {
        let mut merging = Merging {
            reader: self,
            seen: HashSet::new(),
            merged: Entity::default(),
        };
        merging.merge_entity(&self.base(name, node)?, &mut Vec::new())?;
        merging.merge_entity(node, &mut Vec::new())?;
        Ok(merging.merged)
    }

    /// The parameters below the node's.
    fn base(&self, name: &str, node: &Entity) -> Result<Entity> {
        let mut base = Entity::default();
        let matched = match self.settings.mappings_match_path {
            true => &*node.path,
            false => name,
        };
        let wrong = |message: String| option(format!("`class_mappings`: {message}"));
        let mappings = self.inventory.option("class_mappings");
        for mapping in mappings.as_list().unwrap_or_default() {
            let mapping = mapping.to_string();
            self.spend(1 + mapping.len())?;
            for class in mappings::classes(&mapping, matched).map_err(wrong)? {
                add_class(&mut base.classes, class).map_err(wrong)?;
            }
        }
        let propagates = self.inventory.option("propagate_pillar_data_to_reclass");
        if propagates.truthy() && !self.inventory.pillar.is_empty() {
            let message = "`propagate_pillar_data_to_reclass` fails in reclass as soon as the pillar has any data";
            return Err(option(message).help("leave it out: classes do not see the pillar"));
        }
        if self.settings.automatic_parameters {
            let source = self.source(NO_FILE);
            let about = automatic(name, &node.environment);
            base.parameters = read_dict(source, &about.into())
                .map_err(|message| option(format!("automatic parameters: {message}")))?;
        }
        Ok(base)
    }

    fn source(&self, file: usize) -> ValueFile<'r> {
        ValueFile {
            settings: self.settings,
            file,
            parses: true,
            is_noted: self.inventory.is_explained && file != NO_FILE,
        }
    }

    /// The entity in the file of a node or a class.
    fn entity(&self, name: &str, file: &InventoryFile) -> Result<Rc<Entity>> {
        if let Some(known) = self.entities.borrow().get(&file.path) {
            return Ok(Rc::clone(known));
        }
        self.files.borrow_mut().push(ClassFile {
            name: name.into(),
            path: file.path.clone(),
        });
        let number = self.files().len() - 1;
        let data = self.inventory.host.read(&file.path)?;
        let read = match data.clone() {
            Value::None => Map::new(),
            Value::Map(map) => map,
            other => {
                let what = other.kind().described();
                let message =
                    format!("the file of a class or a node must be a mapping, not {what}");
                return Err(self.wrong(number, message));
            }
        };
        let entity = Entity {
            path: file.name.clone(),
            ..Entity::read(&read, name, self.source(number))
                .map_err(|message| self.wrong(number, message))?
        };
        let steps = 1 + entity.size;
        self.spend(steps)?;
        self.readings.borrow_mut().push(FileReading {
            path: file.path.clone(),
            data,
            steps,
        });
        let entity = Rc::new(entity);
        self.entities
            .borrow_mut()
            .insert(file.path.clone(), Rc::clone(&entity));
        Ok(entity)
    }

    /// A class that does not exist: an error, unless it may be missing.
    fn missing(&self, name: &str, entity: &Entity) -> Result<()> {
        let path = name.replace('.', "/");
        let help = format!(
            "there is neither {path}.yml nor {path}/init.yml below {}",
            self.directories.1
        );
        let wrong = |e: fancy_regex::Error| option(format!("`ignore_class_notfound_regexp`: {e}"));
        let may_miss = match &self.may_miss {
            Some(pattern) => pattern.is_match(name).map_err(wrong)?,
            None => false,
        };
        if !may_miss {
            let message = format!("the class '{name}' does not exist");
            return Err(self.wrong(entity.file, message).help(help));
        }
        let is_new = || {
            self.reported
                .borrow_mut()
                .insert((name.into(), entity.file))
        };
        if self.settings.warns_of_missing && is_new() {
            let by = &self.files()[entity.file].path;
            let message =
                format!("the class '{name}' does not exist, so it is left out where {by} names it");
            let warning = Diagnostic::warning(ErrorKind::File, message).with_help(help);
            self.inventory.host.warn(warning);
        }
        Ok(())
    }

    /// Something is wrong with a file.
    fn wrong(&self, file: usize, message: String) -> Error {
        let path = &self.files()[file].path;
        let message = match &**path {
            "" => message,
            path => format!("{path}: {message}"),
        };
        Error::new(ErrorKind::DataSource, message)
    }
}

/// The merge of one node.
struct Merging<'m, 'r> {
    reader: &'m Reader<'r>,
    /// The classes that are merged.
    seen: HashSet<String>,
    merged: Entity,
}

impl Merging<'_, '_> {
    /// Merge the classes that an entity names, and then the entity (reclass: `_recurse_entity`).
    fn merge_entity(&mut self, entity: &Entity, way: &mut Vec<String>) -> Result<()> {
        if way.len() > MAX_DEPTH {
            let message =
                format!("classes that name each other are nested deeper than {MAX_DEPTH}");
            return Err(Error::new(ErrorKind::Limit, message).help("name them side by side"));
        }
        for class in &entity.classes {
            let Some(name) = self.class_name(class, entity)? else {
                continue;
            };
            if self.seen.contains(&name) {
                continue;
            }
            if way.contains(&name) {
                let circle = format!("{} → {name}", way.join(" → "));
                let message = format!("the classes name each other in a circle: {circle}");
                let error = self.reader.wrong(entity.file, message);
                return Err(error.help("take one of the names out of its `classes`"));
            }
            let Some(file) = self.reader.classes.get(&name) else {
                self.reader.missing(&name, entity)?;
                continue;
            };
            let class = self.reader.entity(&name, file)?;
            way.push(name.clone());
            self.merge_entity(&class, way)?;
            way.pop();
            self.seen.insert(name);
        }
        self.add(entity)
    }

    /// The name of a class, with the values of its references so far. While the value of a reference has references
    /// itself, no class has that name: an error, unless classes may be missing.
    fn class_name(&self, class: &str, entity: &Entity) -> Result<Option<String>> {
        let reader = self.reader;
        let tokens = reference::parse(class, reader.settings).map_err(|message| {
            reader.wrong(entity.file, format!("the class {class}: {message}"))
        })?;
        let Some(tokens) = tokens else {
            return Ok(Some(class.into()));
        };
        reader.spend(1 + self.merged.size)?;
        let host = reader.inventory.host;
        let given = self.merged.parameters.clone();
        let so_far = Parameters::new(given, reader.settings, host, Role::Parameters);
        let so_far = so_far.map_err(|failure| failure.problem);
        let name = so_far.and_then(|so_far| so_far.text(&tokens));
        let nameless = |problem: &PathProblem| {
            let message = format!("the class {class} has no name: {}", problem.message());
            reader.wrong(entity.file, message).help(
                "references in names of classes see what classes before it say, without references",
            )
        };
        match name {
            Err(problem @ PathProblem::Unresolved) if reader.settings.may_miss.is_some() => {
                reader
                    .missing(class, entity)
                    .map_err(|_| nameless(&problem))?;
                Ok(None)
            }
            Err(problem) => Err(nameless(&problem)),
            Ok(name) => Ok(Some(name)),
        }
    }

    /// Merge an entity over those before (reclass: `Entity.merge`).
    fn add(&mut self, entity: &Entity) -> Result<()> {
        let merged = std::mem::take(&mut self.merged);
        let source = self.reader.source(entity.file);
        let failed = |message: String| self.reader.wrong(entity.file, message);
        self.reader.spend(1 + entity.size)?;
        let parameters = source.merge_dict(merged.parameters, entity.parameters.clone());
        let exports = source.merge_dict(merged.exports, entity.exports.clone());
        let mut classes = merged.classes;
        for class in &entity.classes {
            add_class(&mut classes, class.clone()).map_err(failed)?;
        }
        let mut applications = merged.applications;
        applications.merge(&entity.applications);
        self.merged = Entity {
            classes,
            applications,
            parameters: parameters.map_err(failed)?,
            exports: exports.map_err(failed)?,
            environment: match &entity.environment {
                Value::None => merged.environment,
                environment => environment.clone(),
            },
            file: entity.file,
            path: entity.path.clone(),
            size: merged.size + entity.size,
        };
        Ok(())
    }
}
