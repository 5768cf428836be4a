//! reclass: what nodes and the classes they inherit from give a minion (kapicorp-reclass 2.0: `reclass.adapters.salt`).
//!
//! Written here, as crates.io has no crate for it: reclass-rs is published as a module of Python alone.
//!
//! `storage` finds the files, `entity` reads them, `reference` and `query` read texts, `value` and `merging` merge,
//! `interpolate` resolves references, and `exports` asks all nodes for what queries look at, or takes from `memo` what
//! they said before.

mod answers;
mod at;
mod entity;
mod exports;
mod interpolate;
mod keys;
mod mappings;
mod memo;
mod merging;
mod meter;
mod paths;
mod query;
mod reference;
mod settings;
mod storage;
mod value;

use mapstack_diagnostic::{Error, ErrorKind, Result};
use mapstack_value::posixpath::{join, normpath};
use mapstack_value::{Map, Value};

use crate::classes::{Host, Origins, SetPlaces};
use entity::Entity;
use interpolate::{KeyProblem, Parameters, Role};
use keys::shown_path;
pub use memo::Memo;
use merging::{NO_FILE, NODE_FILE, Reader};
use meter::MeteredHost;
use paths::PathProblem;
use settings::ReclassSettings;

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
    /// The answers that minions before this one got of all nodes. With it, errors cost twice.
    pub memo: Option<&'i Memo>,
    /// True if somebody asks for the places that set the parameters.
    pub is_explained: bool,
}

/// The result of an inventory for a minion.
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
    /// The places that set the parameters, if the inventory is explained.
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

impl Inventory<'_> {
    /// Find the node of the minion, merge its classes and resolve references.
    ///
    /// # Errors
    /// A file cannot be read or has the wrong form, a node or class does not exist, types that cannot be merged,
    /// references to nothing, an inventory query that has no answer, and limits.
    pub fn classify(&self) -> Result<Classified> {
        let meter = MeteredHost::new(self.host);
        let metered = Inventory {
            host: &meter,
            ..*self
        };
        match metered.classified(&meter) {
            // Exports of another minion know its files by their numbers, which errors look up.
            Err(_) if meter.is_shared.get() => Inventory {
                memo: None,
                ..*self
            }
            .classify(),
            made => made,
        }
    }

    fn classified(&self, meter: &MeteredHost<'_>) -> Result<Classified> {
        let settings = ReclassSettings::new(self.options).map_err(option)?;
        let reader = Reader::new(self, &settings, meter)?;
        let node = reader.node(self.minion_id)?;
        let merged = reader.merged(self.minion_id, &node)?;
        let parameters = resolved(&reader, &merged)?;
        let data = parameters.data();
        let data = data.map_err(|failure| failed(&reader, &failure))?;
        Ok(Classified {
            parameters: data,
            origins: origins(&reader, &merged.classes, parameters.origin),
            classes: merged.classes,
            applications: merged.applications.items,
            environment: merged.environment,
        })
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

/// The parameters of the minion, with references and queries resolved.
fn resolved<'r>(reader: &Reader<'r>, merged: &Entity) -> Result<Parameters<'r>> {
    let (settings, host) = (reader.settings, reader.inventory.host);
    let wrong = |failure| failed(reader, &failure);
    let given = merged.parameters.clone();
    let mut parameters = Parameters::new(given, settings, host, Role::Result).map_err(wrong)?;
    let given = merged.exports.clone();
    let mut exports = Parameters::new(given, settings, host, Role::Exports).map_err(wrong)?;
    let queries = parameters.queries();
    let asked = queries.map(|queries| exports::exports(reader, &queries, &merged.environment));
    parameters.interpolate(asked.transpose()?).map_err(wrong)?;
    // They are computed because reclass computes them, and fails where they do.
    exports.interpolate_from(&mut parameters).map_err(wrong)?;
    Ok(parameters)
}

/// The places that set values, with the files in the order of their merge.
fn origins(reader: &Reader<'_>, classes: &[String], origin: SetPlaces) -> Origins {
    let files = reader.files();
    let mut in_order: Vec<usize> = (0..files.len()).filter(|file| *file != NO_FILE).collect();
    in_order.sort_by_key(|&number| match number {
        // The node is read first, and merged last.
        NODE_FILE => (1, 0),
        class => {
            let name = &files[class].name;
            let at = classes.iter().position(|class| class == name);
            (0, at.unwrap_or(classes.len()))
        }
    });
    Origins::ordered(&files, &in_order, [origin, SetPlaces::default()])
}

/// An error that names the value, and the files that set it.
fn failed(reader: &Reader<'_>, failure: &KeyProblem) -> Error {
    let kind = match failure.problem {
        PathProblem::Limit(_) => ErrorKind::Limit,
        PathProblem::Missing(_) | PathProblem::Other(_) | PathProblem::Unresolved => {
            ErrorKind::DataSource
        }
    };
    let what = match failure.role {
        Role::Exports => "export",
        Role::Parameters | Role::Result => "parameter",
    };
    let at = match &*failure.path {
        [] => String::new(),
        path => format!("the {what} `{}`: ", shown_path(path)),
    };
    let mut error = Error::new(kind, format!("{at}{}", failure.problem.message()));
    let mut files = failure.files.clone();
    files.dedup();
    for file in files.into_iter().filter(|file| *file != NO_FILE) {
        error = error.note(format!("{} sets it", reader.files()[file].path));
    }
    error.help(match failure.problem {
        PathProblem::Missing(_) => "correct the path, or set it in a class that the node has",
        PathProblem::Other(_) | PathProblem::Unresolved | PathProblem::Limit(_) => {
            "see docs/pillar.md on reclass"
        }
    })
}
