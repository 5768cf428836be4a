//! reclass: what nodes and the classes they inherit from give a minion (kapicorp-reclass 2.0: `reclass.adapters.salt`).
//!
//! Written here, as crates.io has no crate for it: reclass-rs is published as a module of Python alone.
//!
//! `storage` finds the files, `reference` reads texts, `value` merges, and `interpolate` resolves
//! references.

mod interpolate;
mod mappings;
mod reference;
mod settings;
mod storage;
mod value;

use std::collections::HashSet;

use mapstack_diagnostic::{Diagnostic, Error, ErrorKind, Result};
use mapstack_value::posixpath::{join, normpath};
use mapstack_value::{Key, Map, Value};

use crate::{ClassFile, Host, Origins};
use interpolate::{Failure, Parameters, Problem};
use settings::Settings;
use storage::{File, Files, Naming};
use value::{Dict, Node, Source};

/// An inventory, and the minion in question.
#[derive(Clone, Copy)]
pub struct Inventory<'i> {
    /// Reads the files.
    pub host: &'i dyn Host<Value>,
    /// The options, among them `inventory_base_uri`; those that reclass does not know are ignored.
    pub options: &'i Map,
    /// The id of the minion.
    pub minion_id: &'i str,
    /// The pillar so far. reclass means to show it to classes if `propagate_pillar_data_to_reclass` is set, and fails.
    pub pillar: &'i Map,
}

/// What an inventory gives a minion.
#[derive(Debug, Clone)]
pub struct Classified {
    /// The parameters, without `__reclass__`.
    pub parameters: Map,
    /// The names of the classes, in the order of their merge.
    pub classes: Vec<String>,
    /// The applications.
    pub applications: Vec<String>,
    /// The environment of the node.
    pub environment: Value,
    /// The file that set each value of the parameters.
    pub origins: Origins,
}

impl Classified {
    /// The parameters with `__reclass__`, as the external pillar returns them.
    #[must_use]
    pub fn into_pillar(self, minion_id: &str) -> Map {
        let mut about = Map::new();
        about.insert("nodename", minion_id);
        about.insert("applications", Value::from_iter(self.applications));
        about.insert("classes", Value::from_iter(self.classes));
        about.insert("environment", self.environment);
        let mut pillar = self.parameters;
        pillar.insert("__reclass__", about);
        pillar
    }
}

/// Classes nest this deep at most.
const MAX_DEPTH: usize = 200;

/// The number of what no file says.
const NO_FILE: usize = 0;

/// A node or a class.
#[derive(Debug, Default)]
struct Entity {
    classes: Vec<String>,
    applications: Applications,
    parameters: Dict,
    exports: Dict,
    environment: Value,
    /// The number of its file.
    file: usize,
    /// Its path from the directory of all.
    path: String,
}

/// Applications, and those that are taken away from earlier ones.
#[derive(Debug, Default)]
struct Applications {
    items: Vec<String>,
    negations: Vec<String>,
}

impl Applications {
    fn add(&mut self, item: &str) {
        match item.strip_prefix('~') {
            Some(negated) => {
                self.remove(negated);
                self.negations.push(negated.into());
            }
            None if self.items.iter().any(|own| own == item) => {}
            None => self.items.push(item.into()),
        }
    }

    fn remove(&mut self, item: &str) {
        if let Some(at) = self.items.iter().position(|own| own == item) {
            self.items.remove(at);
        }
    }

    fn merge(&mut self, other: &Applications) {
        other
            .negations
            .iter()
            .for_each(|negated| self.remove(negated));
        other.items.iter().for_each(|item| self.add(item));
    }
}

impl Inventory<'_> {
    /// Find the node of the minion, merge its classes and resolve references.
    ///
    /// # Errors
    /// A file cannot be read or has the wrong form, a node or class does not exist, types that cannot be merged,
    /// references to nothing, inventory queries, and limits.
    pub fn classify(&self) -> Result<Classified> {
        let settings = Settings::new(self.options).map_err(option)?;
        let (nodes, classes) = self.directories()?;
        let naming = match self.option("compose_node_name").truthy() {
            true => Naming::ComposedNodes,
            false => Naming::Nodes,
        };
        let mut run = Run {
            inventory: self,
            settings: &settings,
            nodes: Files::below(self.host, &nodes, naming)?,
            classes: Files::below(self.host, &classes, Naming::Classes)?,
            directories: (nodes, classes),
            files: vec![ClassFile {
                name: String::new(),
                path: String::new(),
            }],
            seen: HashSet::new(),
            merged: Entity::default(),
        };
        run.merge_all()?;
        run.finished()
    }

    fn option(&self, name: &str) -> Value {
        self.options.get(name).cloned().unwrap_or_default()
    }

    /// The directories of nodes and classes.
    fn directories(&self) -> Result<(String, String)> {
        let text = |name: &str, usual: &str| match self.option(name) {
            Value::Str(text) => Ok(text.to_string()),
            Value::None => Ok(usual.to_owned()),
            other if !other.truthy() => Ok(usual.to_owned()),
            other => Err(option(format!(
                "`{name}` must be a directory, not {}",
                other.kind().described()
            ))),
        };
        let base = text("inventory_base_uri", "/etc/reclass")?;
        let below = |path: String, usual: &str| {
            let path = if path.is_empty() {
                usual.to_owned()
            } else {
                path
            };
            normpath(&join(&base, &path))
        };
        let nodes = below(text("nodes_uri", "nodes")?, "nodes");
        let classes = below(text("classes_uri", "classes")?, "classes");
        if nodes.starts_with(&*classes) || classes.starts_with(&*nodes) {
            let message =
                format!("the directories of nodes and classes overlap: {nodes} and {classes}");
            return Err(option(message));
        }
        Ok((nodes, classes))
    }
}

fn option(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Options, message.into())
        .help("see the options of the external pillar `reclass`")
}

/// The work for one node.
struct Run<'r> {
    inventory: &'r Inventory<'r>,
    settings: &'r Settings,
    nodes: Files,
    classes: Files,
    directories: (String, String),
    /// The files that were read, by their numbers.
    files: Vec<ClassFile>,
    /// The classes that are merged, and those that are being merged.
    seen: HashSet<String>,
    merged: Entity,
}

impl Run<'_> {
    /// Merge mapped classes, what is known of the node, and the node with its classes (reclass: `_node_entity`).
    fn merge_all(&mut self) -> Result<()> {
        let name = self.inventory.minion_id;
        let Some(file) = self.nodes.get(name).cloned() else {
            let message = format!("reclass has no node '{name}' below {}", self.directories.0);
            return Err(
                Error::new(ErrorKind::File, message).help(format!("write it to {name}.yml there"))
            );
        };
        let mut node = self.entity(name, &file)?;
        if node.environment.is_none() {
            node.environment = self.settings.default_environment.clone();
        }
        let base = self.base(name, &node)?;
        self.merge_entity(base, &mut Vec::new())?;
        self.merge_entity(node, &mut Vec::new())
    }

    /// What comes before the node.
    fn base(&self, name: &str, node: &Entity) -> Result<Entity> {
        let mut base = Entity::default();
        let matched = if self.settings.mappings_match_path {
            &*node.path
        } else {
            name
        };
        let mappings = self.inventory.option("class_mappings");
        for mapping in mappings.as_list().unwrap_or_default() {
            let classes = mappings::classes(&mapping.to_string(), matched);
            for class in
                classes.map_err(|message| option(format!("`class_mappings`: {message}")))?
            {
                add_class(&mut base.classes, class)
                    .map_err(|message| option(format!("`class_mappings`: {message}")))?;
            }
        }
        let propagates = self
            .inventory
            .option("propagate_pillar_data_to_reclass")
            .truthy();
        if propagates && !self.inventory.pillar.is_empty() {
            let message = "`propagate_pillar_data_to_reclass` fails in reclass as soon as the pillar has any data";
            return Err(option(message).help("leave it out: classes do not see the pillar"));
        }
        let source = Source {
            settings: self.settings,
            file: NO_FILE,
            parses: true,
        };
        if self.settings.automatic_parameters {
            let about = automatic(name, &node.environment);
            let about = read_dict(source, &about.into());
            let merged = about.and_then(|about| source.merge_dict(base.parameters, about));
            base.parameters =
                merged.map_err(|message| option(format!("automatic parameters: {message}")))?;
        }
        Ok(base)
    }

    /// Merge the classes that an entity names, and then the entity (reclass: `_recurse_entity`).
    fn merge_entity(&mut self, entity: Entity, way: &mut Vec<String>) -> Result<()> {
        if way.len() > MAX_DEPTH {
            let message =
                format!("classes that name each other are nested deeper than {MAX_DEPTH}");
            return Err(Error::new(ErrorKind::Limit, message).help("name them side by side"));
        }
        for class in &entity.classes {
            let name = self.class_name(class, &entity)?;
            if self.seen.contains(&name) {
                continue;
            }
            if way.contains(&name) {
                let circle = format!("{} → {name}", way.join(" → "));
                let error = self.wrong(
                    entity.file,
                    format!("the classes name each other in a circle: {circle}"),
                );
                return Err(error.help("take one of the names out of its `classes`"));
            }
            let Some(file) = self.classes.get(&name).cloned() else {
                self.missing(&name, &entity)?;
                continue;
            };
            let class = self.entity(&name, &file)?;
            way.push(name.clone());
            self.merge_entity(class, way)?;
            way.pop();
            self.seen.insert(name);
        }
        self.add(entity)
    }

    /// The name of a class, with what its references stand for so far.
    fn class_name(&self, class: &str, entity: &Entity) -> Result<String> {
        let tokens = reference::parse(class, self.settings);
        let Some(tokens) = tokens
            .map_err(|message| self.wrong(entity.file, format!("the class {class}: {message}")))?
        else {
            return Ok(class.into());
        };
        let so_far = Parameters::new(self.merged.parameters.clone(), self.settings, false);
        let name = so_far.and_then(|so_far| so_far.text(&tokens));
        name.map_err(|problem| {
            let error = self.wrong(
                entity.file,
                format!("the class {class} has no name: {}", problem.message()),
            );
            error.help(
                "references in names of classes see what classes before it say, without references",
            )
        })
    }

    /// A class that does not exist: an error, unless it may be missing.
    fn missing(&self, name: &str, entity: &Entity) -> Result<()> {
        let path = name.replace('.', "/");
        let help = format!(
            "there is neither {path}.yml nor {path}/init.yml below {}",
            self.directories.1
        );
        let Some(patterns) = &self.settings.may_miss else {
            return Err(self
                .wrong(entity.file, format!("the class '{name}' does not exist"))
                .help(help));
        };
        let pattern = patterns.join("|");
        let wrong = |e: fancy_regex::Error| option(format!("`ignore_class_notfound_regexp`: {e}"));
        let expression = fancy_regex::Regex::new(&format!("^(?:{pattern})")).map_err(wrong)?;
        if !expression.is_match(name).map_err(wrong)? {
            return Err(self
                .wrong(entity.file, format!("the class '{name}' does not exist"))
                .help(help));
        }
        if self.settings.warns_of_missing {
            let by = &self.files[entity.file].path;
            let message =
                format!("the class '{name}' does not exist, so it is left out where {by} names it");
            self.inventory
                .host
                .warn(Diagnostic::warning(ErrorKind::File, message).with_help(help));
        }
        Ok(())
    }

    /// Merge an entity over those before (reclass: `Entity.merge`).
    fn add(&mut self, entity: Entity) -> Result<()> {
        let merged = std::mem::take(&mut self.merged);
        let source = Source {
            settings: self.settings,
            file: entity.file,
            parses: true,
        };
        let failed = |message: String| self.wrong(entity.file, message);
        self.inventory.host.spend(1 + entity.parameters.len())?;
        let parameters = source
            .merge_dict(merged.parameters, entity.parameters)
            .map_err(failed)?;
        let exports = source
            .merge_dict(merged.exports, entity.exports)
            .map_err(failed)?;
        let mut classes = merged.classes;
        for class in entity.classes {
            add_class(&mut classes, class).map_err(failed)?;
        }
        let mut applications = merged.applications;
        applications.merge(&entity.applications);
        self.merged = Entity {
            classes,
            applications,
            parameters,
            exports,
            environment: match entity.environment {
                Value::None => merged.environment,
                environment => environment,
            },
            file: entity.file,
            path: entity.path,
        };
        Ok(())
    }

    /// Read a node or a class (reclass: `get_entity`).
    fn entity(&mut self, name: &str, file: &File) -> Result<Entity> {
        self.files.push(ClassFile {
            name: name.into(),
            path: file.path.clone(),
        });
        let number = self.files.len() - 1;
        let read = match self.inventory.host.read(&file.path)? {
            Value::None => Map::new(),
            Value::Map(map) => map,
            other => {
                let what = other.kind().described();
                return Err(self.wrong(
                    number,
                    format!("the file of a class or a node must be a mapping, not {what}"),
                ));
            }
        };
        let wrong = |message: String| self.wrong(number, message);
        let source = Source {
            settings: self.settings,
            file: number,
            parses: true,
        };
        let part = |name: &str| match read.get(name) {
            None | Some(Value::None) => Ok(Dict::default()),
            Some(data) => {
                read_dict(source, data).map_err(|message| wrong(format!("`{name}`: {message}")))
            }
        };
        let mut entity = Entity {
            parameters: part("parameters")?,
            exports: part("exports")?,
            environment: read.get("environment").cloned().unwrap_or_default(),
            file: number,
            path: file.name.clone(),
            ..Entity::default()
        };
        for class in texts(&read, "classes").map_err(wrong)? {
            let class = absolute(&class, name)
                .ok_or_else(|| wrong("the name of a class is empty".into()))?;
            add_class(&mut entity.classes, class).map_err(wrong)?;
        }
        for application in texts(&read, "applications").map_err(wrong)? {
            entity.applications.add(&application);
        }
        Ok(entity)
    }

    /// Resolve references, and put the result together.
    fn finished(self) -> Result<Classified> {
        let merged = &self.merged;
        let made = self.interpolated();
        let (data, set_by) = made.map_err(|failure| self.failed(&failure))?;
        let mut origins = Origins::default();
        let numbers: Vec<usize> = self
            .files
            .iter()
            .map(|file| origins.add(file.clone()))
            .collect();
        for (path, file) in set_by {
            // Origins know mappings; items of lists are the list's.
            let end = path
                .iter()
                .position(|key| matches!(key, Key::Int(_)))
                .unwrap_or(path.len());
            origins.set(&path[..end], numbers[file]);
        }
        Ok(Classified {
            parameters: data,
            classes: merged.classes.clone(),
            applications: merged.applications.items.clone(),
            environment: merged.environment.clone(),
            origins,
        })
    }

    #[expect(
        clippy::type_complexity,
        reason = "the data with the files that set each part"
    )]
    fn interpolated(&self) -> std::result::Result<(Map, Vec<(Vec<Key>, usize)>), Failure> {
        let whole = |problem| Failure {
            problem,
            path: Vec::new(),
            files: Vec::new(),
        };
        let mut parameters =
            Parameters::new(self.merged.parameters.clone(), self.settings, true).map_err(whole)?;
        let mut exports =
            Parameters::new(self.merged.exports.clone(), self.settings, false).map_err(whole)?;
        parameters.interpolate()?;
        exports.interpolate_from(&parameters)?;
        let data = parameters.data().map_err(whole)?;
        Ok((data, parameters.set_by))
    }

    fn failed(&self, failure: &Failure) -> Error {
        let kind = match failure.problem {
            Problem::Limit(_) => ErrorKind::Limit,
            Problem::Unsupported(_) => ErrorKind::Unsupported,
            Problem::Missing(_) | Problem::Other(_) => ErrorKind::DataSource,
        };
        let keys: Vec<String> = failure.path.iter().map(ToString::to_string).collect();
        let at = if keys.is_empty() {
            String::new()
        } else {
            format!("the parameter `{}`: ", keys.join(":"))
        };
        let mut error = Error::new(kind, format!("{at}{}", failure.problem.message()));
        let mut files = failure.files.clone();
        files.dedup();
        for file in files.into_iter().filter(|file| *file != NO_FILE) {
            error = error.note(format!("{} sets it", self.files[file].path));
        }
        match failure.problem {
            Problem::Missing(_) => {
                error.help("correct the path, or set it in a class that the node has")
            }
            Problem::Other(_) | Problem::Limit(_) => error.help("see docs/pillar.md on reclass"),
            Problem::Unsupported(_) => {
                error.help("write the values down, or give the parameter by another class")
            }
        }
    }

    fn wrong(&self, file: usize, message: String) -> Error {
        let path = &self.files[file].path;
        let message = if path.is_empty() {
            message
        } else {
            format!("{path}: {message}")
        };
        Error::new(ErrorKind::DataSource, message)
    }
}

/// Data as parameters.
fn read_dict(source: Source<'_>, data: &Value) -> std::result::Result<Dict, String> {
    match source.wrap(data)? {
        Node::Dict(dict) => source.merge_dict(Dict::default(), dict),
        _ => Err(format!(
            "it must be a mapping, not {}",
            data.kind().described()
        )),
    }
}

/// The texts of a list.
fn texts(data: &Map, name: &str) -> std::result::Result<Vec<String>, String> {
    let text = |item: &Value| match item {
        Value::Str(text) => Ok(text.to_string()),
        other => Err(format!(
            "an item of `{name}` must be text, not {}",
            other.kind().described()
        )),
    };
    match data.get(name) {
        None | Some(Value::None) => Ok(Vec::new()),
        Some(Value::List(items)) => items.iter().map(text).collect(),
        // Python goes over keys and characters as well.
        Some(Value::Map(map)) => map.keys().map(|key| text(&key.to_value())).collect(),
        Some(Value::Str(all)) => Ok(all.chars().map(String::from).collect()),
        Some(other) => Err(format!(
            "`{name}` must be a list, not {}",
            other.kind().described()
        )),
    }
}

/// The name of a class that may begin with dots, which lead up from the class that names it.
fn absolute(class: &str, by: &str) -> Option<String> {
    let rest = class.trim_start_matches('.');
    let dots = class.len() - rest.len();
    if dots == 0 {
        return (!class.is_empty()).then(|| class.into());
    }
    let parts: Vec<&str> = by.split('.').collect();
    let parent = parts[..parts.len().saturating_sub(dots)].join(".");
    Some(match &*parent {
        "" => rest.into(),
        parent => format!("{parent}.{rest}"),
    })
}

/// Add the name of a class once.
fn add_class(classes: &mut Vec<String>, class: String) -> std::result::Result<(), String> {
    if class.contains([' ', '/']) {
        return Err(format!(
            "the name of the class '{class}' has a blank or a slash in it"
        ));
    }
    if !classes.contains(&class) {
        classes.push(class);
    }
    Ok(())
}

/// What every node knows of itself.
fn automatic(name: &str, environment: &Value) -> Map {
    let parts: Vec<&str> = name.split('.').collect();
    let about: [(&str, Value); 4] = [
        ("full", name.into()),
        ("short", parts.last().copied().unwrap_or_default().into()),
        (
            "path",
            parts
                .iter()
                .skip(1)
                .fold(parts[0].to_owned(), |path, part| join(&path, part))
                .into(),
        ),
        ("parts", Value::from_iter(parts.iter().copied())),
    ];
    let about: Map = about.into_iter().collect();
    let about: [(&str, Value); 2] = [("name", about.into()), ("environment", environment.clone())];
    let about: Map = about.into_iter().collect();
    [("_reclass_", about)].into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dots_lead_up_from_the_class_that_names_another() {
        assert_eq!(absolute(".x", "a.b").as_deref(), Some("a.x"));
        assert_eq!(absolute("..x.y", "a.b").as_deref(), Some("x.y"));
        assert_eq!(absolute("..x", "a.b.c").as_deref(), Some("a.x"));
        assert_eq!(absolute("x", "a.b").as_deref(), Some("x"));
        assert_eq!(absolute("", "a"), None);
    }

    #[test]
    fn negated_applications_go() {
        let mut all = Applications::default();
        ["a", "b", "a", "~b", "c"]
            .into_iter()
            .for_each(|item| all.add(item));
        let mut more = Applications::default();
        ["~a", "d"].into_iter().for_each(|item| more.add(item));
        all.merge(&more);
        assert_eq!(all.items, ["c", "d"]);
    }
}
