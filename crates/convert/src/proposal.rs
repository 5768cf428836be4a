//! The proposed files of a formula with `map.data`.

use std::collections::{BTreeMap, BTreeSet};

use mapstack::Place;

use crate::Formula;

/// The way in which a formula makes its configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Kind {
    /// By `libmapstack.jinja`.
    Libmapstack,
    /// By tables: `grains.filter_by`, `defaults.yaml`, `osfamilymap.yaml` and their like.
    #[default]
    Tables,
}

/// Something that stays as it was, and why.
#[derive(Debug, Clone, PartialEq)]
pub struct Left {
    /// What, such as `the table osmap.yaml`.
    pub what: String,
    /// Why.
    pub why: String,
    /// Where.
    pub place: Option<Place>,
}

/// The files of a formula as they would be with `map.data`. Paths are below the formula's folder.
#[derive(Debug, Clone, Default)]
pub struct Proposal {
    /// The way in which the formula makes its configuration now.
    pub kind: Kind,
    /// The files to write, with their texts.
    pub write: BTreeMap<String, String>,
    /// The files to remove.
    pub remove: BTreeSet<String>,
    /// The conversions, a sentence each.
    pub done: Vec<String>,
    /// The parts that stay as they are.
    pub left: Vec<Left>,
    /// The steps that a maintainer could take next.
    pub advice: Vec<String>,
    /// The variable of `map.jinja` with the configuration.
    pub variable: String,
    /// The keys of the pillar that the configuration is made of.
    pub keys: Vec<Vec<String>>,
}

impl Proposal {
    /// Write a file.
    #[must_use]
    pub fn writing(mut self, path: &str, text: &str) -> Self {
        self.remove.remove(path);
        self.write.insert(path.into(), text.into());
        self
    }

    /// True if a file is written or removed.
    #[must_use]
    pub fn touches(&self, path: &str) -> bool {
        self.write.contains_key(path) || self.remove.contains(path)
    }

    /// Leave files alone that have the text already.
    pub(crate) fn without_same(mut self, formula: &Formula) -> Self {
        self.write
            .retain(|path, text| formula.text(path) != Some(text));
        self
    }
}
