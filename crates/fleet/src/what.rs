//! The subjects of `impact`.

use std::path::PathBuf;

use mapstack::minion::Part;
use mapstack::share::Outcome;
use mapstack::value::{Key, Path as KeyPath, Value};
use mapstack::yaml;

/// The subject of a question.
#[derive(Debug, Clone)]
pub enum QuestionSubject {
    /// A file, by its path from the file server's root.
    File(String),
    /// A file of the pillar: its saltenv, and its path from the root.
    Pillar(String, String),
    /// A file that lies below no root, which external pillars may read.
    External(PathBuf),
    /// A key of a formula's data.
    Value(String, KeyPath),
    /// A fact.
    Fact(Part, Vec<Key>),
}

impl QuestionSubject {
    /// The keys to a value.
    pub(crate) fn keys(&self) -> Vec<Key> {
        match self {
            QuestionSubject::Value(_, path) => {
                path.steps().iter().map(|step| step.0.clone()).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The value of an outcome that is asked about.
    pub(crate) fn value(&self, outcome: &Outcome) -> Option<Value> {
        match (self, &outcome.result) {
            (QuestionSubject::Value(_, path), Ok(data)) => yaml::traverse(data, path),
            _ => None,
        }
    }
}
