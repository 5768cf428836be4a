//! Nodes to values.
//!
//! The reference builds collections breadth first, and reading an integer changes its node's
//! text, by which `<<` compares keys. So [`Constructor::check`] visits the nodes in the
//! reference's order, merges, reads scalars and finds errors; [`Constructor::build`] then
//! assembles values bottom up.

use std::collections::{HashMap, HashSet, VecDeque};

use mapstack_value::{Key, List, Map, MapKind, Set, Value, ValueKind};

use crate::compose::{Content, Graph, Node, NodeId, ROOT};
use crate::mark::Trail;
use crate::object::Object;
use crate::resolve::Tag;
use crate::scalar::{self, without_leading_zeros};
use crate::{Error, ErrorKind, timestamp};

/// The value of a document; `None` if it is empty.
pub(crate) fn construct<T: Trail>(graph: Graph<'_>) -> Result<(Value, T), Error> {
    construct_as(graph, MapKind::Dict)
}

/// The same with another of Python's types for mappings.
pub(crate) fn construct_as<T: Trail>(graph: Graph<'_>, maps: MapKind) -> Result<(Value, T), Error> {
    construct_in(graph, maps, Dialect::Salt)
}

/// The same without what Salt changes of PyYAML.
pub(crate) fn construct_plain<T: Trail>(graph: Graph<'_>) -> Result<(Value, T), Error> {
    construct_in(graph, MapKind::Dict, Dialect::Plain)
}

/// Whose constructors are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Dialect {
    /// Those of Salt's loader (`salt.utils.yamlloader`).
    Salt,
    /// PyYAML's, with the tag `!encrypted` of Salt's serializer.
    Plain,
    /// PyYAML's, for programs in Python: dates are objects.
    Python,
}

impl Dialect {
    /// True if Salt's changes are left out.
    fn is_plain(self) -> bool {
        self != Dialect::Salt
    }
}

fn construct_in<T: Trail>(
    graph: Graph<'_>,
    maps: MapKind,
    dialect: Dialect,
) -> Result<(Value, T), Error> {
    if graph.nodes.is_empty() {
        return Ok((Value::None, T::leaf(crate::Mark::default())));
    }
    let mut constructor = checked(graph, maps, dialect)?;
    Ok(constructor.build(ROOT, &mut HashMap::new()))
}

/// The nodes with their scalars read and their mappings merged.
fn checked(graph: Graph<'_>, maps: MapKind, dialect: Dialect) -> Result<Constructor<'_>, Error> {
    let ready = std::iter::repeat_with(|| NodeState::New)
        .take(graph.nodes.len())
        .collect();
    let mut constructor = Constructor {
        nodes: graph.nodes,
        ready,
        queue: VecDeque::new(),
        maps,
        dialect,
    };
    constructor.check()?;
    Ok(constructor)
}

/// The objects of a document as a program in Python gets them; none if it is empty. What an alias names is one object.
pub(crate) fn objects(graph: Graph<'_>, salt: bool) -> Result<Vec<Object>, Error> {
    if graph.nodes.is_empty() {
        return Ok(Vec::new());
    }
    let dialect = match salt {
        true => Dialect::Salt,
        false => Dialect::Python,
    };
    let constructor = checked(graph, MapKind::Dict, dialect)?;
    let Constructor { nodes, ready, .. } = constructor;
    let made = nodes.into_iter().zip(ready).map(|(node, ready)| {
        let is = |tag: &Tag| node.tag == *tag;
        match (ready, node.content) {
            (NodeState::Scalar(Value::Str(date)), _) if is(&Tag::Timestamp) && !salt => {
                Object::Date(date)
            }
            (NodeState::Scalar(value), _) => Object::Scalar(value),
            (NodeState::Keys(_), Content::Mapping(pairs)) if is(&Tag::Set) => {
                Object::Set(pairs.into_iter().map(|(key, _)| key).collect())
            }
            (_, Content::Sequence(items)) if is(&Tag::Omap) || is(&Tag::Pairs) => {
                Object::Pairs(items)
            }
            (_, Content::Sequence(items)) => Object::List(items),
            // A mapping, or the only entry of one in `!!pairs`.
            (_, Content::Mapping(pairs)) => Object::Map(pairs),
            (_, Content::Scalar(text)) => Object::Scalar(Value::from(&*text)),
        }
    });
    Ok(made.collect())
}

struct Constructor<'t> {
    nodes: Vec<Node<'t>>,
    ready: Vec<NodeState>,
    queue: VecDeque<NodeId>,
    maps: MapKind,
    dialect: Dialect,
}

/// The state of a node.
enum NodeState {
    New,
    Scalar(Value),
    /// A collection whose turn will come, or has come.
    Collection,
    /// A mapping with its keys in place and no values yet.
    Keys(Map),
}

impl Constructor<'_> {
    fn check(&mut self) -> Result<(), Error> {
        self.visit(ROOT)?;
        while let Some(id) = self.queue.pop_front() {
            match self.nodes[id].tag {
                Tag::Map | Tag::Set => self.check_mapping(id)?,
                // The renderer takes `!!omap` for its own type of mapping.
                Tag::Omap if self.maps == MapKind::Ordered => self.check_mapping(id)?,
                Tag::Omap | Tag::Pairs => self.check_pairs(id)?,
                _ => self.check_sequence(id)?,
            }
        }
        Ok(())
    }

    /// Read a scalar; put a collection in the queue.
    fn visit(&mut self, id: NodeId) -> Result<(), Error> {
        if !matches!(self.ready[id], NodeState::New) {
            return Ok(());
        }
        self.ready[id] = match self.nodes[id].tag {
            Tag::Map | Tag::Set | Tag::Omap | Tag::Pairs | Tag::Seq => {
                self.queue.push_back(id);
                NodeState::Collection
            }
            _ => NodeState::Scalar(self.scalar(id)?),
        };
        Ok(())
    }

    fn scalar(&mut self, id: NodeId) -> Result<Value, Error> {
        if self.dialect.is_plain() {
            return self.plain_scalar(id);
        }
        let source = self.scalar_source(id)?;
        let Node { tag, mark, .. } = &self.nodes[id];
        let Content::Scalar(text) = &self.nodes[source].content else {
            return Err(self.wrong_node(id, "a scalar"));
        };
        let value = match scalar::construct(tag, text) {
            Some(Ok(value)) => value,
            Some(Err(kind)) => return Err(Error::new(kind, *mark)),
            None => return Err(self.wrong_node(id, "a collection")),
        };
        if *tag == Tag::Int && without_leading_zeros(text).len() != text.len() {
            let shorter = without_leading_zeros(text).to_owned();
            self.nodes[source].content = Content::Scalar(shorter.into());
        }
        Ok(value)
    }

    fn plain_scalar(&self, id: NodeId) -> Result<Value, Error> {
        let Node {
            tag, mark, content, ..
        } = &self.nodes[id];
        if let (Tag::Unknown(tag), Content::Scalar(text)) = (tag, content)
            && tag.starts_with(scalar::ENCRYPTED)
        {
            return Ok(Value::from(&**text));
        }
        let source = self.scalar_source(id)?;
        let Content::Scalar(text) = &self.nodes[source].content else {
            return Err(self.wrong_node(id, "a scalar"));
        };
        if self.dialect == Dialect::Python && *tag == Tag::Timestamp {
            let date = timestamp::printed(text).map(Value::from);
            let kind = || ErrorKind::Date {
                text: crate::error::excerpt(text),
            };
            return date.ok_or_else(|| Error::new(kind(), *mark));
        }
        match scalar::construct_plain(tag, text) {
            Some(made) => made.map_err(|kind| Error::new(kind, *mark)),
            None => Err(self.wrong_node(id, "a collection")),
        }
    }

    /// The node with a scalar's text: a mapping may carry a scalar under the key `=`.
    fn scalar_source(&self, mut id: NodeId) -> Result<NodeId, Error> {
        let first = id;
        loop {
            let node = &self.nodes[id];
            id = match &node.content {
                Content::Scalar(_) => return Ok(id),
                _ if matches!(node.tag, Tag::Unknown(_)) => {
                    let Tag::Unknown(tag) = &node.tag else {
                        return Ok(id);
                    };
                    return Err(Error::new(
                        ErrorKind::UnknownTag {
                            tag: tag.to_string(),
                        },
                        node.mark,
                    ));
                }
                Content::Mapping(pairs) if self.nodes[first].tag != Tag::Int => {
                    match pairs
                        .iter()
                        .find(|(key, _)| self.nodes[*key].tag == Tag::Value)
                    {
                        Some((_, value)) => *value,
                        None => return Err(self.wrong_node(first, "a scalar")),
                    }
                }
                _ => return Err(self.wrong_node(first, "a scalar")),
            };
        }
    }

    fn wrong_node(&self, id: NodeId, expected: &'static str) -> Error {
        let node = &self.nodes[id];
        let found = node.content.described();
        Error::new(
            ErrorKind::WrongNode {
                tag: node.tag.written(),
                expected,
                found,
            },
            node.mark,
        )
    }

    fn check_sequence(&mut self, id: NodeId) -> Result<(), Error> {
        let Content::Sequence(items) = &self.nodes[id].content else {
            return Err(self.wrong_node(id, "a list"));
        };
        for item in items.clone() {
            self.visit(item)?;
        }
        Ok(())
    }

    fn check_mapping(&mut self, id: NodeId) -> Result<(), Error> {
        self.merge(id)?;
        let Content::Mapping(pairs) = &mut self.nodes[id].content else {
            return Err(self.wrong_node(id, "a mapping"));
        };
        let mut pairs = std::mem::take(pairs);
        let mut keys = Map::with_capacity(pairs.len()).with_kind(self.maps);
        let mut kept: Vec<(NodeId, NodeId)> = Vec::new();
        for &(key, value) in &pairs {
            self.visit(key)?;
            let key_value = self.key(key)?;
            self.visit(value)?;
            if let Some(first) = keys.index_of(&key_value) {
                if let (true, Some((_, kept))) = (self.dialect.is_plain(), kept.get_mut(first)) {
                    // The last value counts, where the key was first.
                    *kept = value;
                    continue;
                }
                let first = self.nodes[pairs[first].0].mark;
                let kind = ErrorKind::DuplicateKey {
                    key: key_value.to_value().repr(),
                    first,
                };
                return Err(Error::new(kind, self.nodes[key].mark));
            }
            keys.insert(key_value, Value::None);
            if self.dialect.is_plain() {
                kept.push((key, value));
            }
        }
        if self.dialect.is_plain() {
            pairs = kept;
        }
        self.nodes[id].content = Content::Mapping(pairs);
        self.ready[id] = NodeState::Keys(keys);
        Ok(())
    }

    fn key(&self, id: NodeId) -> Result<Key, Error> {
        if let NodeState::Scalar(value) = &self.ready[id]
            && let Ok(key) = Key::try_from(value)
        {
            return Ok(key);
        }
        let node = &self.nodes[id];
        let kind = match node.tag {
            Tag::Map if node.double_brace => {
                return Err(Error::new(ErrorKind::TemplateExpression, node.mark));
            }
            Tag::Map => ValueKind::Map,
            Tag::Set => ValueKind::Set,
            _ => ValueKind::List,
        };
        Err(Error::new(ErrorKind::UnhashableKey { kind }, node.mark))
    }

    /// Replace the `<<` entries of a mapping by the entries that they merge, ahead of its own entries.
    fn merge(&mut self, id: NodeId) -> Result<(), Error> {
        let Content::Mapping(pairs) = &self.nodes[id].content else {
            return Ok(());
        };
        if pairs
            .iter()
            .all(|(key, _)| !matches!(self.nodes[*key].tag, Tag::Merge | Tag::Value))
        {
            return Ok(());
        }
        let (mut own, mut sources) = (Vec::with_capacity(pairs.len()), Vec::new());
        for &(key, value) in pairs {
            if self.nodes[key].tag == Tag::Merge {
                sources.push(value);
            } else {
                own.push((key, value));
            }
        }
        let mut merged = Vec::new();
        for source in sources {
            for mapping in self.mappings_to_merge(source)? {
                self.merge(mapping)?;
                if let Content::Mapping(pairs) = &self.nodes[mapping].content {
                    merged.extend_from_slice(pairs);
                }
            }
        }
        for (key, _) in &own {
            if self.nodes[*key].tag == Tag::Value {
                self.nodes[*key].tag = Tag::Str;
            }
        }
        // Salt's loader refuses duplicate keys, so it leaves out those that the mapping has itself.
        let texts: HashSet<&str> = own.iter().filter_map(|(key, _)| self.text(*key)).collect();
        let is_kept = |key| self.text(key).is_none_or(|text| !texts.contains(text));
        merged.retain(|(key, _)| self.dialect.is_plain() || is_kept(*key));
        // A merged value has two parents from now on, and one storage.
        for (_, value) in &merged {
            self.nodes[*value].aliased = true;
        }
        merged.extend(own);
        self.nodes[id].content = Content::Mapping(merged);
        Ok(())
    }

    /// The mappings behind one `<<`, in the order their entries come.
    fn mappings_to_merge(&self, id: NodeId) -> Result<Vec<NodeId>, Error> {
        let refuse = |node: &Node| {
            Err(Error::new(
                ErrorKind::NotMergeable {
                    found: node.content.described(),
                },
                node.mark,
            ))
        };
        match &self.nodes[id].content {
            Content::Mapping(_) => Ok(vec![id]),
            Content::Sequence(items) => {
                match items
                    .iter()
                    .find(|&&item| !matches!(self.nodes[item].content, Content::Mapping(_)))
                {
                    Some(&item) => refuse(&self.nodes[item]),
                    None => Ok(items.iter().rev().copied().collect()),
                }
            }
            Content::Scalar(_) => refuse(&self.nodes[id]),
        }
    }

    fn text(&self, id: NodeId) -> Option<&str> {
        match &self.nodes[id].content {
            Content::Scalar(text) => Some(text),
            _ => None,
        }
    }

    /// `!!omap` and `!!pairs`: a list of mappings with one entry each.
    fn check_pairs(&mut self, id: NodeId) -> Result<(), Error> {
        let Content::Sequence(items) = &self.nodes[id].content else {
            return Err(self.wrong_node(id, "a list"));
        };
        for item in items.clone() {
            let node = &self.nodes[item];
            let (key, value) = match &node.content {
                Content::Mapping(pairs) if pairs.len() == 1 => pairs[0],
                other => {
                    let found = match other {
                        Content::Mapping(_) => "a mapping of another size",
                        _ => other.described(),
                    };
                    let tag = self.nodes[id].tag.written();
                    let expected = "a list of mappings with one entry each";
                    return Err(Error::new(
                        ErrorKind::WrongNode {
                            tag,
                            expected,
                            found,
                        },
                        node.mark,
                    ));
                }
            };
            self.visit(key)?;
            self.visit(value)?;
            let aliased = self.nodes[item].aliased;
            self.nodes[key].aliased |= aliased;
            self.nodes[value].aliased |= aliased;
        }
        Ok(())
    }

    /// Assemble a checked node. The recursion is as deep as the document, which has a limit.
    fn build<T: Trail>(
        &mut self,
        id: NodeId,
        shared: &mut HashMap<NodeId, (Value, T)>,
    ) -> (Value, T) {
        let mark = self.nodes[id].mark;
        if let NodeState::Scalar(value) = &self.ready[id] {
            return (value.clone(), T::leaf(mark));
        }
        if self.nodes[id].aliased
            && let Some(built) = shared.get(&id)
        {
            return built.clone();
        }
        let built = self.build_collection(id, shared);
        if self.nodes[id].aliased {
            shared.insert(id, built.clone());
        }
        built
    }

    fn build_collection<T: Trail>(
        &mut self,
        id: NodeId,
        shared: &mut HashMap<NodeId, (Value, T)>,
    ) -> (Value, T) {
        let mark = self.nodes[id].mark;
        let content = std::mem::replace(&mut self.nodes[id].content, Content::Sequence(Vec::new()));
        let ready = std::mem::replace(&mut self.ready[id], NodeState::Collection);
        let built = match (&content, ready) {
            (Content::Mapping(pairs), NodeState::Keys(keys)) if self.nodes[id].tag == Tag::Set => {
                let marks = pairs.iter().map(|(key, _)| self.nodes[*key].mark);
                let set: Set = keys.into_iter().map(|(key, _)| key).collect();
                (Value::Set(set), T::branch(mark, marks, Vec::new()))
            }
            (Content::Mapping(pairs), NodeState::Keys(mut keys)) => {
                let mut trails = Vec::with_capacity(pairs.len());
                for (i, &(_, value)) in pairs.iter().enumerate() {
                    let (value, trail) = self.build(value, shared);
                    if let Some(slot) = keys.value_at_mut(i) {
                        *slot = value;
                    }
                    trails.push(trail);
                }
                let marks = pairs.iter().map(|(key, _)| self.nodes[*key].mark);
                (Value::Map(keys), T::branch(mark, marks, trails))
            }
            (Content::Sequence(items), _) => {
                let pairs = matches!(self.nodes[id].tag, Tag::Omap | Tag::Pairs);
                let (values, trails): (Vec<_>, Vec<_>) = items
                    .iter()
                    .map(|&item| {
                        if pairs {
                            self.build_pair(item, shared)
                        } else {
                            self.build(item, shared)
                        }
                    })
                    .unzip();
                (
                    Value::List(List::from(values)),
                    T::branch(mark, std::iter::empty(), trails),
                )
            }
            // Checked nodes are one of the above.
            _ => (Value::None, T::leaf(mark)),
        };
        // The keys' marks may be asked for again through `<<`, and pairs built again.
        self.nodes[id].content = content;
        built
    }

    fn build_pair<T: Trail>(
        &mut self,
        id: NodeId,
        shared: &mut HashMap<NodeId, (Value, T)>,
    ) -> (Value, T) {
        let mark = self.nodes[id].mark;
        let Content::Mapping(pairs) = &self.nodes[id].content else {
            return (Value::None, T::leaf(mark));
        };
        let Some(&(key, value)) = pairs.first() else {
            return (Value::None, T::leaf(mark));
        };
        let (key, key_trail) = self.build(key, shared);
        let (value, value_trail) = self.build(value, shared);
        (
            Value::Tuple([key, value].into()),
            T::branch(mark, std::iter::empty(), vec![key_trail, value_trail]),
        )
    }
}
