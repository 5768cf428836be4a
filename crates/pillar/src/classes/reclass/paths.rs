//! Paths into values, and why a value cannot be computed.

use mapstack_diagnostic::Error;
use mapstack_value::{Key, Map, Value};

use super::keys::shown_path;
use super::value::Node;

pub type Result<T, E = PathProblem> = std::result::Result<T, E>;

/// Why a value cannot be computed.
#[derive(Debug, Clone, PartialEq)]
pub enum PathProblem {
    /// A reference to nothing; a later value can come in its place.
    Missing(String),
    /// Anything else.
    Other(String),
    /// A value is not data yet, as it refers to others that are not computed before it.
    Unresolved,
    /// A bound is reached.
    Limit(String),
}

impl PathProblem {
    /// The message.
    pub fn message(&self) -> String {
        match self {
            PathProblem::Missing(name) => format!("the reference ${{{name}}} leads to nothing"),
            PathProblem::Unresolved => {
                "a reference leads to an item of a list that has references itself".into()
            }
            PathProblem::Other(message) | PathProblem::Limit(message) => message.clone(),
        }
    }
}

impl From<Error> for PathProblem {
    /// A refusal by the program around an inventory is a limit.
    fn from(error: Error) -> Self {
        PathProblem::Limit(error.diagnostic().message.clone())
    }
}

/// Why nothing is at a path.
#[derive(Debug, Clone, PartialEq)]
pub enum MissingValue {
    /// A mapping has no such key.
    Key,
    /// The path leads into something that is not a container, or into a list by a name.
    Inside,
    /// A list has no such item.
    Item(String),
}

impl MissingValue {
    /// The problem of a path that is not a reference, where only a missing key counts as missing.
    pub fn inside(self, path: &[Key]) -> PathProblem {
        let path = shown_path(path);
        match self {
            MissingValue::Key => PathProblem::Missing(path),
            MissingValue::Inside => {
                PathProblem::Other(format!("`{path}` leads into a value that has no keys"))
            }
            MissingValue::Item(step) => {
                PathProblem::Other(format!("`{path}`: a list has no item '{step}'"))
            }
        }
    }
}

/// The value at a path. The last step is not looked up in a list by text, which is a habit of reclass.
pub fn get<'n>(base: &'n Node, path: &[Key]) -> Result<&'n Node, MissingValue> {
    let (last, way) = path.split_last().ok_or(MissingValue::Key)?;
    let mut node = base;
    for step in way {
        node = match node {
            Node::Dict(dict, _) => dict.get(step).ok_or(MissingValue::Key)?,
            Node::List(items, _) => {
                let index = match step {
                    Key::Int(index) => index.to_i64(),
                    step => step.to_string().trim().parse().ok(),
                };
                let found = index.and_then(|index| at_index(items, index));
                found.ok_or_else(|| MissingValue::Item(step.to_string()))?
            }
            _ => return Err(MissingValue::Inside),
        };
    }
    match (node, last) {
        (Node::Dict(dict, _), last) => dict.get(last).ok_or(MissingValue::Key),
        (Node::List(items, _), Key::Int(index)) => {
            let found = index.to_i64().and_then(|index| at_index(items, index));
            found.ok_or_else(|| MissingValue::Item(index.to_string()))
        }
        _ => Err(MissingValue::Inside),
    }
}

fn at_index(items: &[Node], index: i64) -> Option<&Node> {
    let index = match index < 0 {
        true => items
            .len()
            .checked_sub(usize::try_from(index.unsigned_abs()).ok()?)?,
        false => usize::try_from(index).ok()?,
    };
    items.get(index)
}

/// True if something is at a path, as reclass tests it before a look-up: for a list, if the step is one of its
/// items, and then the list itself is searched further (reclass: `DictPath.exists_in`).
pub fn exists_in(base: &Node, path: &[Key]) -> bool {
    let is =
        |node: &Node, step: &Key| matches!(node, Node::Plain(value) if *value == step.to_value());
    let mut node = base;
    for step in path {
        match node {
            Node::Dict(dict, _) => match dict.get(step) {
                Some(inside) => node = inside,
                None => return false,
            },
            Node::List(items, _) if items.iter().any(|item| is(item, step)) => {}
            Node::List(..) => return false,
            other => return path.last().is_some_and(|last| is(other, last)),
        }
    }
    true
}

/// Put a value at a path of the nodes' own, where something is.
pub fn set(base: &mut Node, path: &[Key], value: Node) {
    if let Some(node) = at_mut(base, path) {
        *node = value;
    }
}

/// Take a value away from a path of the nodes' own.
pub fn remove(base: &mut Node, path: &[Key]) {
    let Some((last, way)) = path.split_last() else {
        return;
    };
    match (at_mut(base, way), last) {
        (Some(Node::Dict(dict, _)), last) => {
            dict.shift_remove(last);
        }
        (Some(Node::List(items, _)), Key::Int(index)) => {
            let index = index.to_i64().and_then(|index| usize::try_from(index).ok());
            if let Some(index) = index.filter(|index| *index < items.len()) {
                items.remove(index);
            }
        }
        _ => {}
    }
}

pub fn at_mut<'n>(base: &'n mut Node, path: &[Key]) -> Option<&'n mut Node> {
    let mut node = base;
    for step in path {
        node = match (node, step) {
            (Node::Dict(dict, _), step) => dict.get_mut(step)?,
            (Node::List(items, _), step) => {
                let index = match step {
                    Key::Int(index) => index.to_i64(),
                    step => step.to_string().trim().parse().ok(),
                };
                items.get_mut(usize::try_from(index?).ok()?)?
            }
            _ => return None,
        };
    }
    Some(node)
}

/// A node as data; what waits has none.
pub fn plain(node: &Node) -> Result<Value> {
    Ok(match node {
        Node::Plain(value) => value.clone(),
        Node::Dict(dict, _) => {
            let entries = dict
                .iter()
                .map(|(key, value)| Ok((key.clone(), plain(value)?)));
            Value::Map(entries.collect::<Result<Map>>()?)
        }
        Node::List(items, _) => items.iter().map(plain).collect::<Result<Value>>()?,
        Node::One(_) | Node::Many(_) => return Err(PathProblem::Unresolved),
    })
}
