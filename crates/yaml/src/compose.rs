//! Events to a graph of nodes, within limits.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::events::{Event, EventKind, Scalar};

use crate::resolve::{Tag, implicit};
use crate::source::YamlSource;
use crate::{Error, ErrorKind, Limits, Mark};

/// An index into [`Graph::nodes`].
pub(crate) type NodeId = usize;

/// The nodes of one document. Aliases are edges to a node that has another parent already.
#[derive(Default)]
pub(crate) struct Graph<'t> {
    pub nodes: Vec<Node<'t>>,
    /// True if an alias names a collection.
    pub shared: bool,
}

/// The document's top node, if it has one.
pub(crate) const ROOT: NodeId = 0;

pub(crate) struct Node<'t> {
    pub content: Content<'t>,
    pub tag: Tag,
    pub mark: Mark,
    /// Levels of collections in and below the node.
    height: usize,
    /// The number of its values, aliases expanded; 0 while it is open.
    size: usize,
    /// True if an alias leads here.
    pub aliased: bool,
    /// True if its brace is the second of `{{`.
    pub double_brace: bool,
    /// The source of the type of a scalar or a mapping.
    pub typed_by: TypedBy,
}

/// The source of the type of a scalar or a mapping.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TypedBy {
    /// Its text, as it has neither quotes nor a tag.
    Text,
    /// Its quotes, or that it is a block: it is text.
    Style,
    /// A tag; for lists, always.
    Tag,
}

pub(crate) enum Content<'t> {
    Scalar(Cow<'t, str>),
    Sequence(Vec<NodeId>),
    Mapping(Vec<(NodeId, NodeId)>),
}

impl Content<'_> {
    /// A name of it for readers.
    pub fn described(&self) -> &'static str {
        match self {
            Content::Scalar(_) => "a scalar",
            Content::Sequence(_) => "a list",
            Content::Mapping(_) => "a mapping",
        }
    }
}

/// Read the only document of a text.
pub(crate) fn compose<'t>(text: &'t str, limits: &Limits) -> Result<Graph<'t>, Error> {
    Ok(documents(text, limits, false)?.pop().unwrap_or_default())
}

/// Nodes for which there is room from the start, as for those of most files.
const FEW: usize = 256;

/// Read all documents of a text; the limit on values is for all of them together.
pub(crate) fn compose_all<'t>(text: &'t str, limits: &Limits) -> Result<Vec<Graph<'t>>, Error> {
    documents(text, limits, true)
}

fn documents<'t>(text: &'t str, limits: &Limits, many: bool) -> Result<Vec<Graph<'t>>, Error> {
    let source = YamlSource::new(text);
    let mut composer = Composer {
        source: &source,
        limits,
        graph: Graph {
            nodes: Vec::with_capacity((text.len() / 16).min(FEW)),
            shared: false,
        },
        anchors: HashMap::new(),
        open: Vec::new(),
        size: 0,
    };
    let (mut graphs, mut begun) = (Vec::new(), false);
    for event in source.events()? {
        let event = event.map_err(|error| source.error(&error))?;
        match event.kind {
            EventKind::DocumentStart { .. } if begun && !many => {
                let mark = source.mark(event.start);
                return Err(Error::new(ErrorKind::MultipleDocuments, mark));
            }
            EventKind::DocumentStart { .. } => begun = true,
            EventKind::DocumentEnd { .. } => {
                composer.anchors.clear();
                graphs.push(std::mem::take(&mut composer.graph));
            }
            _ => composer.take(event)?,
        }
    }
    Ok(graphs)
}

struct Composer<'s, 't> {
    source: &'s YamlSource<'t>,
    limits: &'s Limits,
    graph: Graph<'t>,
    anchors: HashMap<&'t str, NodeId>,
    /// Collections that have not ended.
    open: Vec<OpenNode>,
    /// Values so far, aliases expanded.
    size: usize,
}

struct OpenNode {
    id: NodeId,
    key: Option<NodeId>,
    height: usize,
    size_before: usize,
}

impl<'t> Composer<'_, 't> {
    fn take(&mut self, event: Event<'t>) -> Result<(), Error> {
        let mark = self.source.mark(event.start);
        match event.kind {
            EventKind::Alias(name) => self.alias(name, mark),
            EventKind::Scalar(scalar) => self.scalar(scalar, mark),
            EventKind::SequenceStart(node) => {
                let tag = collection_tag(node.tag.as_deref(), Tag::Seq);
                self.begin(Content::Sequence(Vec::new()), tag, node.anchor, mark)
                    .map(|_| ())
            }
            EventKind::MappingStart(node) => {
                let is_tagged = node.tag.as_deref().is_some_and(|tag| tag != "!");
                let tag = collection_tag(node.tag.as_deref(), Tag::Map);
                let id = self.begin(Content::Mapping(Vec::new()), tag, node.anchor, mark)?;
                let node = &mut self.graph.nodes[id];
                node.double_brace = self.source.is_second_brace(event.start);
                if !is_tagged {
                    node.typed_by = TypedBy::Text;
                }
                Ok(())
            }
            EventKind::SequenceEnd | EventKind::MappingEnd => {
                self.end();
                Ok(())
            }
            EventKind::DocumentStart { .. } | EventKind::DocumentEnd { .. } => Ok(()),
        }
    }

    fn scalar(&mut self, scalar: Scalar<'t>, mark: Mark) -> Result<(), Error> {
        let (tag, typed_by) = match scalar.node.tag.as_deref() {
            Some(tag) if tag != "!" => (Tag::explicit(tag), TypedBy::Tag),
            _ if scalar.implicit => (implicit(&scalar.value), TypedBy::Text),
            _ => (Tag::Str, TypedBy::Style),
        };
        let content = Content::Scalar(scalar.value);
        let id = self.node(content, tag, scalar.node.anchor, mark)?;
        let node = &mut self.graph.nodes[id];
        (node.size, node.typed_by) = (1, typed_by);
        self.attach(id);
        Ok(())
    }

    fn node(
        &mut self,
        content: Content<'t>,
        tag: Tag,
        anchor: Option<&'t str>,
        mark: Mark,
    ) -> Result<NodeId, Error> {
        let id = self.graph.nodes.len();
        if let Some(name) = anchor {
            if let Some(&first) = self.anchors.get(name) {
                let (first, name) = (self.graph.nodes[first].mark, name.to_owned());
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

    fn alias(&mut self, name: &str, mark: Mark) -> Result<(), Error> {
        let Some(&id) = self.anchors.get(name) else {
            let name = name.to_owned();
            return Err(Error::new(ErrorKind::UndefinedAlias { name }, mark));
        };
        if self.graph.nodes[id].size == 0 {
            if self.merges_into_itself(id) {
                return Ok(());
            }
            let name = name.to_owned();
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
        let merging = |open: &OpenNode| {
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
        content: Content<'t>,
        tag: Tag,
        anchor: Option<&'t str>,
        mark: Mark,
    ) -> Result<NodeId, Error> {
        let size_before = self.size;
        let id = self.node(content, tag, anchor, mark)?;
        self.open.push(OpenNode {
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

fn collection_tag(tag: Option<&str>, default: Tag) -> Tag {
    match tag {
        Some(tag) if tag != "!" => Tag::explicit(tag),
        _ => default,
    }
}
