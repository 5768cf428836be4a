//! External pillars that follow from files, options and what the minion asks with.

mod arguments;
mod extra_data;
mod file_tree;
mod nodegroups;

use mapstack::Run;
use mapstack_diagnostic::{Diagnostic, ErrorKind, Result};
use mapstack_loader::Tree;
use mapstack_value::{Map, Value};

use self::arguments::Arguments;
pub(crate) use self::extra_data::{passed, unasked};
use crate::config::ExtPillar;

/// An external pillar of this module.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BuiltIn {
    ExtraData,
    FileTree,
    Nodegroups,
}

/// What an external pillar of this module is given.
pub(crate) struct Asked<'a, 'e> {
    pub one: &'a ExtPillar,
    /// A run for a minion with the pillar so far.
    pub run: &'a Run<'e>,
    /// The options of external pillars.
    pub opts: &'a Map,
    /// What the minion passes on from its configuration.
    pub extra: &'a Map,
    /// The files below a directory.
    pub tree: &'a dyn Fn(&str) -> Tree,
}

impl BuiltIn {
    /// By its name in `ext_pillar`.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "extra_minion_data_in_pillar" => Some(BuiltIn::ExtraData),
            "file_tree" => Some(BuiltIn::FileTree),
            "nodegroups" => Some(BuiltIn::Nodegroups),
            _ => None,
        }
    }

    /// The data for the minion.
    ///
    /// # Errors
    /// Arguments that it does not have, and files that cannot be read.
    pub fn data(self, asked: &Asked<'_, '_>) -> Result<Value> {
        match self {
            BuiltIn::ExtraData => extra_data::data(asked),
            BuiltIn::FileTree => file_tree::data(asked),
            BuiltIn::Nodegroups => nodegroups::data(asked),
        }
    }
}

impl Asked<'_, '_> {
    /// The id of the minion.
    fn id(&self) -> String {
        self.run.given_id().to_string()
    }

    fn option(&self, name: &str) -> Value {
        self.opts.get(name).cloned().unwrap_or_default()
    }

    /// Warn about something at the place of the external pillar in the configuration.
    fn warn(&self, kind: ErrorKind, message: &str, help: &str) {
        let message = format!("the external pillar '{}': {message}", self.one.name);
        let warning = Diagnostic::warning(kind, message).with_help(help);
        self.run.warn(Diagnostic {
            place: self.one.place.clone(),
            ..warning
        });
    }
}
