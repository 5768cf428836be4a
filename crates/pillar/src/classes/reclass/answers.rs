//! Answers to queries, from the exports of all nodes.

use std::sync::Arc;

use mapstack_value::{Key, Value};

use super::at::At;
use super::keys::{shown_path, split};
use super::paths::{PathProblem, exists_in, get, plain};
use super::query::{Join, Operand, Query, Test};
use super::settings::ReclassSettings;
use super::value::{Dict, Node};

/// The exports of all nodes, by their names.
pub type Exports = Arc<[(String, Node)]>;

impl Query {
    /// The answer: a mapping of the nodes' names to the values, or the list of the names.
    pub fn answer(
        &self,
        base: &Node,
        exports: &[(String, Node)],
        settings: &ReclassSettings,
    ) -> Result<Node, PathProblem> {
        let mut values = Dict::default();
        let mut names = Vec::new();
        for (name, exports) in exports {
            if !self.is_match(base, exports, settings)? {
                continue;
            }
            match &self.value {
                None => names.push(Node::Plain(Value::from(&**name))),
                Some(path) if exists_in(exports, path) => {
                    let found = get(exports, path).map_err(|lost| lost.inside(path))?;
                    values.insert(Key::from(&**name), found.clone());
                }
                Some(_) => {}
            }
        }
        Ok(if self.value.is_some() {
            Node::Dict(values, At::default())
        } else {
            Node::List(names, At::default())
        })
    }

    fn is_match(
        &self,
        base: &Node,
        exports: &Node,
        settings: &ReclassSettings,
    ) -> Result<bool, PathProblem> {
        let mut tests = self.tests.iter();
        let Some(first) = tests.next() else {
            return Ok(true);
        };
        let mut is_match = first.holds(base, exports, settings)?;
        for (join, test) in self.joined_by.iter().zip(tests) {
            let holds = test.holds(base, exports, settings)?;
            is_match = match join {
                Join::And => is_match && holds,
                Join::Or => is_match || holds,
            };
        }
        Ok(is_match)
    }
}

impl Test {
    fn holds(
        &self,
        base: &Node,
        exports: &Node,
        settings: &ReclassSettings,
    ) -> Result<bool, PathProblem> {
        let other = match &self.other {
            Operand::Parameter(name) => {
                let path = split(name, &settings.delimiter);
                // A value that is not resolved yet equals no other.
                plain(get(base, &path).map_err(|lost| lost.inside(&path))?).ok()
            }
            Operand::Literal(value) => Some(value.clone()),
            Operand::None => Some(Value::None),
        };
        if other == Some(Value::None) {
            let path = shown_path(&self.export);
            return Err(PathProblem::Other(format!(
                "the test of the export `{path}` has nothing to compare it with"
            )));
        }
        if !exists_in(exports, &self.export) {
            return Ok(false);
        }
        let export = get(exports, &self.export).map_err(|lost| lost.inside(&self.export))?;
        let is_equal = other.is_some() && plain(export).ok() == other;
        Ok(is_equal == self.is_equal)
    }
}
