//! Events to a graph of nodes, within limits.

use std::collections::HashMap;

use libyaml_safer::EventData;

use crate::resolve::{Tag, implicit};
use crate::source::{Event, Source};
use crate::{Error, ErrorKind, Limits, Mark};

/// An index into [`Graph::nodes`].
pub(crate) type NodeId = usize;

/// The nodes of one document. Aliases are edges to a node that has another parent already.
#[derive(Default)]
pub(crate) struct Graph {
    pub nodes: Vec<Node>,
    /// Whether an alias names a collection.
    pub shared: bool,
}

/// The document's top node, if it has one.
pub(crate) const ROOT: NodeId = 0;

pub(crate) struct Node {
    pub content: Content,
    pub tag: Tag,
    pub mark: Mark,
    /// Levels of collections in and below the node.
    height: usize,
    /// Values it stands for, aliases expanded; 0 while it is open.
    size: usize,
    /// Whether an alias leads here.
    pub aliased: bool,
    /// Whether its brace is the second of `{{`.
    pub double_brace: bool,
    /// What says which type a scalar or a mapping is.
    pub typed_by: TypedBy,
}

/// What says which type a scalar or a mapping is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TypedBy {
    /// Its text, as it has neither quotes nor a tag.
    Text,
    /// Its quotes, or that it is a block: it is text.
    Style,
    /// A tag; for lists, always.
    Tag,
}

pub(crate) enum Content {
    Scalar(String),
    Sequence(Vec<NodeId>),
    Mapping(Vec<(NodeId, NodeId)>),
}

impl Content {
    /// What a reader calls it.
    pub fn described(&self) -> &'static str {
        match self {
            Content::Scalar(_) => "a scalar",
            Content::Sequence(_) => "a list",
            Content::Mapping(_) => "a mapping",
        }
    }
}

/// Read the only document of a text.
pub(crate) fn compose(text: &str, limits: &Limits) -> Result<Graph, Error> {
    Ok(documents(text, limits, false)?.pop().unwrap_or_default())
}

/// Read all documents of a text; the limit on values is for all of them together.
pub(crate) fn compose_all(text: &str, limits: &Limits) -> Result<Vec<Graph>, Error> {
    documents(text, limits, true)
}

fn documents(text: &str, limits: &Limits, many: bool) -> Result<Vec<Graph>, Error> {
    let source = Source::new(text)?;
    let mut events = source.events();
    let mut composer = Composer {
        source: &source,
        limits,
        graph: Graph::default(),
        anchors: HashMap::new(),
        open: Vec::new(),
        size: 0,
    };
    let (mut graphs, mut begun) = (Vec::new(), false);
    loop {
        let event = events.next()?;
        match event.data {
            EventData::StreamEnd => return Ok(graphs),
            EventData::DocumentStart { .. } if begun && !many => {
                return Err(Error::new(
                    ErrorKind::MultipleDocuments,
                    source.mark(&event.at),
                ));
            }
            EventData::DocumentStart { .. } => begun = true,
            EventData::DocumentEnd { .. } => {
                composer.anchors.clear();
                graphs.push(std::mem::take(&mut composer.graph));
            }
            _ => composer.take(event)?,
        }
    }
}

struct Composer<'s> {
    source: &'s Source<'s>,
    limits: &'s Limits,
    graph: Graph,
    anchors: HashMap<String, NodeId>,
    /// Collections that have not ended.
    open: Vec<Open>,
    /// Values so far, aliases expanded.
    size: usize,
}

struct Open {
    id: NodeId,
    key: Option<NodeId>,
    height: usize,
    size_before: usize,
}

impl Composer<'_> {
    fn take(&mut self, event: Event) -> Result<(), Error> {
        let mark = self.source.mark(&event.at);
        match event.data {
            EventData::Alias { anchor } => self.alias(anchor, mark),
            EventData::Scalar {
                anchor,
                tag,
                value,
                plain_implicit,
                ..
            } => {
                let (tag, typed_by) = match tag {
                    Some(tag) if tag != "!" => (Tag::explicit(&tag), TypedBy::Tag),
                    _ if plain_implicit => (implicit(&value), TypedBy::Text),
                    _ => (Tag::Str, TypedBy::Style),
                };
                let id = self.node(Content::Scalar(value), tag, anchor, mark)?;
                let node = &mut self.graph.nodes[id];
                (node.size, node.typed_by) = (1, typed_by);
                self.attach(id);
                Ok(())
            }
            EventData::SequenceStart { anchor, tag, .. } => {
                let tag = collection_tag(tag, Tag::Seq);
                self.begin(Content::Sequence(Vec::new()), tag, anchor, mark)
                    .map(|_| ())
            }
            EventData::MappingStart { anchor, tag, .. } => {
                let is_tagged = tag.as_deref().is_some_and(|tag| tag != "!");
                let tag = collection_tag(tag, Tag::Map);
                let id = self.begin(Content::Mapping(Vec::new()), tag, anchor, mark)?;
                let node = &mut self.graph.nodes[id];
                node.double_brace = self.source.is_second_brace(&event.at);
                if !is_tagged {
                    node.typed_by = TypedBy::Text;
                }
                Ok(())
            }
            EventData::SequenceEnd | EventData::MappingEnd => {
                self.end();
                Ok(())
            }
            EventData::StreamStart { .. }
            | EventData::StreamEnd
            | EventData::DocumentStart { .. }
            | EventData::DocumentEnd { .. } => Ok(()),
        }
    }

    fn node(
        &mut self,
        content: Content,
        tag: Tag,
        anchor: Option<String>,
        mark: Mark,
    ) -> Result<NodeId, Error> {
        let id = self.graph.nodes.len();
        if let Some(name) = anchor {
            if let Some(&first) = self.anchors.get(&name) {
                let first = self.graph.nodes[first].mark;
                return Err(Error::new(ErrorKind::DuplicateAnchor { name, first }, mark));
            }
            self.anchors.insert(name, id);
        }
        self.count(1, mark)?;
        let typed_by = TypedBy::Tag;
        let node = Node {
            content,
            tag,
            mark,
            height: 0,
            size: 0,
            aliased: false,
            double_brace: false,
            typed_by,
        };
        self.graph.nodes.push(node);
        Ok(id)
    }

    fn alias(&mut self, name: String, mark: Mark) -> Result<(), Error> {
        let Some(&id) = self.anchors.get(&name) else {
            return Err(Error::new(ErrorKind::UndefinedAlias { name }, mark));
        };
        if self.graph.nodes[id].size == 0 {
            if self.merges_into_itself(id) {
                return Ok(());
            }
            return Err(Error::new(ErrorKind::RecursiveAlias { name }, mark));
        }
        let node = &mut self.graph.nodes[id];
        node.aliased = true;
        self.graph.shared |= !matches!(node.content, Content::Scalar(_));
        let (size, height) = (node.size, node.height);
        self.count(size, mark)?;
        self.allow_depth(self.open.len() + height, mark)?;
        self.attach(id);
        Ok(())
    }

    /// `<<: *a` or `<<: [*a]` in the mapping `&a`: it has all its keys already, so nothing is added.
    fn merges_into_itself(&mut self, id: NodeId) -> bool {
        let merging = |open: &Open| {
            open.id == id
                && open
                    .key
                    .is_some_and(|key| self.graph.nodes[key].tag == Tag::Merge)
        };
        match self.open.as_mut_slice() {
            [.., innermost] if merging(innermost) => {
                innermost.key = None;
                true
            }
            // The list loses an item here, so nothing else may see it.
            [.., outer, list] => {
                matches!(self.graph.nodes[list.id].content, Content::Sequence(_))
                    && !self.anchors.values().any(|&anchored| anchored == list.id)
                    && merging(outer)
            }
            _ => false,
        }
    }

    fn begin(
        &mut self,
        content: Content,
        tag: Tag,
        anchor: Option<String>,
        mark: Mark,
    ) -> Result<NodeId, Error> {
        let size_before = self.size;
        let id = self.node(content, tag, anchor, mark)?;
        self.open.push(Open {
            id,
            key: None,
            height: 0,
            size_before,
        });
        self.allow_depth(self.open.len(), mark)?;
        Ok(id)
    }

    fn end(&mut self) {
        if let Some(open) = self.open.pop() {
            let node = &mut self.graph.nodes[open.id];
            node.height = open.height + 1;
            node.size = self.size - open.size_before;
            self.attach(open.id);
        }
    }

    /// Give a finished node to the collection around it.
    fn attach(&mut self, id: NodeId) {
        let height = self.graph.nodes[id].height;
        let Some(parent) = self.open.last_mut() else {
            return;
        };
        parent.height = parent.height.max(height);
        match &mut self.graph.nodes[parent.id].content {
            Content::Sequence(items) => items.push(id),
            Content::Mapping(pairs) => match parent.key.take() {
                None => parent.key = Some(id),
                Some(key) => pairs.push((key, id)),
            },
            Content::Scalar(_) => {}
        }
    }

    fn count(&mut self, values: usize, mark: Mark) -> Result<(), Error> {
        self.size = self.size.saturating_add(values);
        if self.size > self.limits.max_nodes {
            return Err(Error::new(
                ErrorKind::TooLarge {
                    limit: self.limits.max_nodes,
                },
                mark,
            ));
        }
        Ok(())
    }

    fn allow_depth(&self, depth: usize, mark: Mark) -> Result<(), Error> {
        if depth > self.limits.max_depth {
            return Err(Error::new(
                ErrorKind::TooDeep {
                    limit: self.limits.max_depth,
                },
                mark,
            ));
        }
        Ok(())
    }
}

fn collection_tag(tag: Option<String>, default: Tag) -> Tag {
    match tag {
        Some(tag) if tag != "!" => Tag::explicit(&tag),
        _ => default,
    }
}
