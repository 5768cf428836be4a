//! Values before their references are resolved, and how they are merged (reclass: `values`, `Parameters`).

use std::sync::Arc;

use foldhash::fast::RandomState;
use indexmap::IndexMap;
use mapstack_value::{Key, Value};

use super::at::At;
use super::query::Query;
use super::reference::{Token, parse};
use super::settings::ReclassSettings;

/// A mapping of values that may have references.
pub type Dict = IndexMap<Key, Node, RandomState>;

/// A value at one place.
#[derive(Debug, Clone)]
pub enum Node {
    /// Plain data.
    Plain(Value),
    Dict(Dict, At),
    List(Vec<Node>, At),
    /// The content of one file.
    One(PlacedItem),
    /// The values that several files set at one place.
    Many(Vec<PlacedItem>),
}

impl Node {
    /// The number of its values, with itself.
    pub fn size(&self) -> usize {
        let content = |item: &PlacedItem| match &item.content {
            Content::Dict(dict) => dict.values().map(Node::size).sum(),
            Content::List(items) => items.iter().map(Node::size).sum(),
            Content::Scalar(_) | Content::Text(_) => 0,
        };
        1 + match self {
            Node::Dict(dict, _) => dict.values().map(Node::size).sum::<usize>(),
            Node::List(items, _) => items.iter().map(Node::size).sum(),
            Node::One(item) => content(item),
            Node::Many(items) => items.iter().map(content).sum(),
            Node::Plain(_) => 0,
        }
    }

    /// The items from files, if it is not merged yet.
    pub fn items(&self) -> &[PlacedItem] {
        match self {
            Node::One(item) => std::slice::from_ref(item),
            Node::Many(items) => items,
            Node::Dict(..) | Node::List(..) | Node::Plain(_) => &[],
        }
    }
}

/// The value of a file for one place.
#[derive(Debug, Clone)]
pub struct PlacedItem {
    pub content: Content,
    /// The number of the file.
    pub file: usize,
    /// The place in it.
    pub at: At,
    /// It comes in place of earlier ones.
    pub overwrites: bool,
    /// No later one may change it.
    pub is_constant: bool,
}

#[derive(Debug, Clone)]
pub enum Content {
    Scalar(Value),
    List(Vec<Node>),
    Dict(Dict),
    /// Text with parts that are computed.
    Text(Arc<[Token]>),
}

impl Content {
    /// True if it has to wait for other values.
    pub fn is_complex(&self) -> bool {
        match self {
            Content::Text(tokens) => self.query().is_some() || tokens.iter().any(refers),
            _ => false,
        }
    }

    /// The query that is all of it.
    pub fn query(&self) -> Option<&Query> {
        match self {
            Content::Text(tokens) => match &**tokens {
                [Token::Query(query)] => Some(query),
                _ => None,
            },
            _ => None,
        }
    }

    /// Types that are merged without asking.
    fn kind(&self) -> u8 {
        match self {
            Content::Scalar(_) => 0,
            Content::List(_) => 1,
            Content::Dict(_) => 2,
            Content::Text(tokens) => match &**tokens {
                [Token::Reference(_)] => 3,
                [Token::Query(_)] => 4,
                [Token::Text(_)] => 0,
                _ => 5,
            },
        }
    }
}

/// True if a part of a text waits for other values.
fn refers(token: &Token) -> bool {
    match token {
        Token::Text(_) => false,
        Token::Reference(_) => true,
        Token::Query(query) => query.references().next().is_some(),
    }
}

/// True if items have to wait, or need rules of their own to be merged.
pub fn is_complex(items: &[PlacedItem]) -> bool {
    let first = items.first().map(|item| item.content.kind());
    let is_special = |item: &PlacedItem| {
        item.content.is_complex()
            || item.is_constant
            || item.overwrites
            || Some(item.content.kind()) != first
    };
    items.iter().any(is_special)
}

/// Makes and merges values of one file.
#[derive(Clone, Copy)]
pub struct ValueFile<'s> {
    pub settings: &'s ReclassSettings,
    pub file: usize,
    /// True if texts can have references.
    pub parses: bool,
    /// True if values know their places.
    pub is_noted: bool,
}

impl ValueFile<'_> {
    fn item(self, content: Content, at: At) -> PlacedItem {
        PlacedItem {
            content,
            file: self.file,
            at,
            overwrites: false,
            is_constant: false,
        }
    }

    /// The node of data (reclass: `_wrap_value`).
    pub fn wrap(self, value: &Value) -> Result<Node, String> {
        self.wrap_at(value, At::top(self.is_noted.then_some(self.file)))
    }

    fn wrap_at(self, value: &Value, at: At) -> Result<Node, String> {
        Ok(match value {
            Value::Map(map) => {
                let entries = map.iter().map(|(key, value)| {
                    Ok((key.clone(), self.wrap_at(value, at.inside(|| key.clone()))?))
                });
                Node::Dict(entries.collect::<Result<_, String>>()?, at)
            }
            Value::List(items) => {
                let items = items.iter().enumerate();
                let items = items
                    .map(|(index, item)| self.wrap_at(item, at.inside(|| Key::of_index(index))));
                Node::List(items.collect::<Result<_, _>>()?, at)
            }
            Value::Str(text) if self.parses => {
                let content = match parse(text, self.settings)? {
                    Some(tokens) => Content::Text(tokens.into()),
                    None => Content::Scalar(value.clone()),
                };
                Node::One(self.item(content, at))
            }
            other => Node::One(self.item(Content::Scalar(other.clone()), at)),
        })
    }

    /// A node as what one file says; a node of several files is handed back.
    fn as_item(self, node: Node) -> Result<PlacedItem, Vec<PlacedItem>> {
        Ok(match node {
            Node::One(item) => item,
            Node::Many(items) => return Err(items),
            Node::Plain(value) => self.item(Content::Scalar(value), At::default()),
            Node::Dict(dict, at) => self.item(Content::Dict(dict), at),
            Node::List(items, at) => self.item(Content::List(items), at),
        })
    }

    /// Merge a node over another (reclass: `_merge_recurse`).
    pub fn merge(self, base: Option<Node>, new: Node) -> Result<Node, String> {
        match (base, new) {
            (None, Node::Dict(new, at)) => {
                let made = self.merge_dict(Dict::default(), new)?;
                Ok(Node::Dict(made, at))
            }
            // The mapping is the first file's.
            (Some(Node::Dict(base, at)), Node::Dict(new, _)) => {
                Ok(Node::Dict(self.merge_dict(base, new)?, at))
            }
            (None, new) => Ok(new),
            (Some(base), new) => {
                let mut all = self.as_item(base).map_or_else(|many| many, |one| vec![one]);
                match self.as_item(new) {
                    Ok(one) => all.push(one),
                    Err(many) => all.extend(many),
                }
                Ok(Node::Many(all))
            }
        }
    }

    /// Keys become text, and their first character can say how the value is merged.
    pub fn merge_dict(self, mut base: Dict, new: Dict) -> Result<Dict, String> {
        for (key, value) in new {
            let name = key.to_string();
            let Some(first) = name.chars().next() else {
                return Err("a key is empty".into());
            };
            let (rest, first) = (&name[first.len_utf8()..], &name[..first.len_utf8()]);
            let overwrites = first == self.settings.override_prefix;
            let is_constant = first == self.settings.constant_prefix && !overwrites;
            let (name, value) = if overwrites || is_constant {
                let item = self
                    .as_item(value)
                    .map_err(|_| format!("the key '{name}' is set by several files"))?;
                let item = PlacedItem {
                    overwrites: item.overwrites || overwrites,
                    is_constant: item.is_constant || is_constant,
                    ..item
                };
                (Key::from(rest), Node::One(item))
            } else {
                (Key::from(&*name), value)
            };
            let before = base
                .get_mut(&name)
                .map(|node| std::mem::replace(node, Node::Plain(Value::None)));
            let merged = self.merge(before, value)?;
            base.insert(name, merged);
        }
        Ok(base)
    }
}
