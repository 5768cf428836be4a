//! YAML whose repeated keys are joined (`salt.serializers.yamlex`).
//!
//! The reference builds plain lists and `!!map` last, but joins repeated keys at once and by copying: what it copies
//! before it is built stays empty. So values are objects in a heap here, as Python's are, and become data at the end.

mod heap;

use std::collections::VecDeque;

use mapstack_value::{Int, Key, Value};

use self::heap::{Heap, HeapObject, MappingKind, ObjectId, PlacedValue};
use crate::compose::{Content, Graph, NodeId, ROOT, TypedBy, compose};
use crate::error::excerpt;
use crate::resolve::{Tag, implicit};
use crate::{Error, ErrorKind, Limits, Loaded, scalar, timestamp};

const AGGREGATE: &str = "!aggregate";
const RESET: &str = "!reset";

/// Read a text with one document as Salt's renderer `yamlex` does.
///
/// A key that is repeated gives the last value. Values tagged `!aggregate` are joined instead: mappings by their keys,
/// and lists by the items that are new. A scalar with the tag is a list of one. `!reset` before a key starts over.
/// Mappings are `OrderedDict`s, or [aggregates](mapstack_value::MapKind::Aggregate), which merge strategy `aggregate`
/// joins as well. Dates are the text that Python prints for them.
///
/// ```
/// use mapstack_yaml::{Limits, load_aggregating};
/// let text = "a: !aggregate x\na: !aggregate [y, x]\nb: 1\nb: 2\n!reset a: !aggregate z\n";
/// let value = load_aggregating(text, &Limits::default()).unwrap().value;
/// assert_eq!(value.with_map_kind(Default::default()).repr(), "{'a': ['z'], 'b': 2}");
/// ```
///
/// # Errors
/// [`Error`], where Salt raises one too, and for texts beyond the limits or with recursive anchors.
pub fn load_aggregating(text: &str, limits: &Limits) -> Result<Loaded, Error> {
    let graph = compose(text, limits)?;
    if graph.nodes.is_empty() {
        return Ok(Loaded::default());
    }
    let mut loader = Loader {
        known: vec![None; graph.nodes.len()],
        graph,
        heap: Heap::new(limits.max_nodes),
        waiting: VecDeque::new(),
        is_deep: false,
    };
    let root = loader.object(ROOT, false)?;
    while let Some((id, object)) = loader.waiting.pop_front() {
        loader.fill(id, object)?;
    }
    let (value, marks) = loader.heap.data(root);
    Ok(Loaded {
        value,
        marks,
        shared: loader.graph.shared,
    })
}

struct Loader<'t> {
    graph: Graph<'t>,
    heap: Heap,
    /// The objects that nodes became.
    known: Vec<Option<ObjectId>>,
    /// Collections that are empty as yet.
    waiting: VecDeque<(NodeId, ObjectId)>,
    /// True if collections are filled at once.
    is_deep: bool,
}

impl Loader<'_> {
    /// The object of a node (`BaseConstructor.construct_object`).
    fn object(&mut self, id: NodeId, deep: bool) -> Result<ObjectId, Error> {
        if let Some(object) = self.known[id] {
            return Ok(object);
        }
        let was_deep = self.is_deep;
        self.is_deep |= deep;
        let object = match &self.graph.nodes[id].tag {
            Tag::Unknown(tag) if **tag == *AGGREGATE => self.aggregate(id)?,
            Tag::Unknown(tag) if **tag == *RESET => {
                let (tag, deep) = self.untagged(id);
                self.copied(id, &tag, deep)?
            }
            Tag::Map if self.graph.nodes[id].typed_by == TypedBy::Text => {
                self.mapping(id, false)?
            }
            tag => {
                let tag = tag.clone();
                self.constructed(id, &tag)?
            }
        };
        self.known[id] = Some(object);
        self.is_deep = was_deep;
        Ok(object)
    }

    /// The value of a node with one of YAML's standard tags.
    fn constructed(&mut self, id: NodeId, tag: &Tag) -> Result<ObjectId, Error> {
        let empty = match tag {
            Tag::Omap => return self.mapping(id, false),
            Tag::Map => HeapObject::Map(MappingKind::Plain, Default::default()),
            Tag::Set => HeapObject::Set(Default::default()),
            Tag::Seq | Tag::Pairs => HeapObject::List(Vec::new(), false),
            _ => return self.scalar(id, tag),
        };
        let object = self.heap.add(empty, self.graph.nodes[id].mark);
        if self.is_deep {
            self.fill(id, object)?;
        } else {
            self.waiting.push_back((id, object));
        }
        Ok(object)
    }

    /// The value of a node under the tag that it has without `!aggregate` and `!reset`, and whether all of it is made at
    /// once (`resolve_sls_tag`).
    fn untagged(&self, id: NodeId) -> (Tag, bool) {
        match &self.graph.nodes[id].content {
            // Quotes do not count here.
            Content::Scalar(text) => (implicit(text), false),
            Content::Sequence(_) => (Tag::Seq, true),
            Content::Mapping(_) => (Tag::Omap, true),
        }
    }

    /// The object of a copy of a node with another tag.
    fn copied(&mut self, id: NodeId, tag: &Tag, deep: bool) -> Result<ObjectId, Error> {
        let was_deep = self.is_deep;
        self.is_deep |= deep;
        let object = match tag {
            Tag::Omap => self.mapping(id, true),
            tag => self.constructed(id, tag),
        };
        self.is_deep = was_deep;
        object
    }

    fn aggregate(&mut self, id: NodeId) -> Result<ObjectId, Error> {
        let (tag, deep) = self.untagged(id);
        let object = self.copied(id, &tag, deep)?;
        let item = match self.heap.item(object) {
            HeapObject::Map(_, entries) => HeapObject::Map(MappingKind::Aggregate, entries.clone()),
            HeapObject::List(items, _) => HeapObject::List(items.clone(), true),
            HeapObject::Scalar(Value::None) => HeapObject::List(Vec::new(), true),
            _ => HeapObject::List(vec![object], true),
        };
        Ok(self.heap.add(item, self.graph.nodes[id].mark))
    }

    fn scalar(&mut self, id: NodeId, tag: &Tag) -> Result<ObjectId, Error> {
        let node = &self.graph.nodes[id];
        let fail = |kind| Error::new(kind, node.mark);
        if let Tag::Unknown(tag) = tag {
            return Err(fail(ErrorKind::UnknownTag {
                tag: tag.to_string(),
            }));
        }
        let Content::Scalar(text) = &node.content else {
            return Err(self.wrong_node(id, tag, "a scalar"));
        };
        let value = match tag {
            Tag::Int => integer(text).map(Value::Int).ok_or_else(|| {
                fail(ErrorKind::BadInt {
                    text: excerpt(text),
                })
            })?,
            Tag::Timestamp if implicit(text) == Tag::Timestamp => {
                timestamp::printed(text).map(Value::from).ok_or_else(|| {
                    fail(ErrorKind::BadTimestamp {
                        text: excerpt(text),
                    })
                })?
            }
            Tag::Timestamp => {
                return Err(fail(ErrorKind::BadTimestamp {
                    text: excerpt(text),
                }));
            }
            tag => match scalar::construct(tag, text) {
                Some(value) => value.map_err(fail)?,
                None => return Err(self.wrong_node(id, tag, "a collection")),
            },
        };
        let mark = node.mark;
        Ok(self.heap.add(HeapObject::Scalar(value), mark))
    }

    fn wrong_node(&self, id: NodeId, tag: &Tag, expected: &'static str) -> Error {
        let node = &self.graph.nodes[id];
        let kind = ErrorKind::WrongNode {
            tag: tag.written(),
            expected,
            found: node.content.described(),
        };
        Error::new(kind, node.mark)
    }

    /// A mapping that joins the values of repeated keys (`construct_yaml_omap`).
    fn mapping(&mut self, id: NodeId, is_copy: bool) -> Result<ObjectId, Error> {
        let pairs = self.flattened(id, &Tag::Omap, is_copy)?;
        let object = self.heap.add(
            HeapObject::Map(MappingKind::Ordered, Default::default()),
            self.graph.nodes[id].mark,
        );
        for (key_id, value_id) in pairs {
            let is_reset =
                matches!(&self.graph.nodes[key_id].tag, Tag::Unknown(tag) if **tag == *RESET);
            if matches!(&self.graph.nodes[key_id].tag, Tag::Unknown(tag) if **tag == *AGGREGATE) {
                self.graph.nodes[value_id].tag = Tag::Unknown(AGGREGATE.into());
                self.graph.nodes[key_id].tag = self.untagged(key_id).0;
            }
            let key = self.key(key_id)?;
            let value = self.object(value_id, false)?;
            let mark = self.graph.nodes[key_id].mark;
            let known = match self.heap.item(object) {
                HeapObject::Map(_, entries) => entries.get(&key).map(|entry| entry.object),
                _ => None,
            };
            let value = match known {
                Some(known) if !is_reset => self.heap.joined(known, value, mark)?,
                _ => value,
            };
            self.heap.insert(
                object,
                key,
                PlacedValue {
                    object: value,
                    mark,
                },
            );
        }
        Ok(object)
    }

    fn key(&mut self, id: NodeId) -> Result<Key, Error> {
        let object = self.object(id, false)?;
        let mark = self.graph.nodes[id].mark;
        self.heap
            .key(object)
            .map_err(|kind| match self.graph.nodes[id].double_brace {
                true => Error::new(ErrorKind::TemplateExpression, mark),
                false => Error::new(ErrorKind::UnhashableKey { kind }, mark),
            })
    }

    /// The entries of a mapping, behind those that `<<` brings in (`SafeConstructor.flatten_mapping`). A copy of a node
    /// takes its `<<` away from it.
    fn flattened(
        &mut self,
        id: NodeId,
        tag: &Tag,
        is_copy: bool,
    ) -> Result<Vec<(NodeId, NodeId)>, Error> {
        let Content::Mapping(pairs) = &self.graph.nodes[id].content else {
            return Err(self.wrong_node(id, tag, "a mapping"));
        };
        let is_key = |key: &NodeId, tag: &Tag| self.graph.nodes[*key].tag == *tag;
        let (sources, own): (Vec<_>, Vec<_>) =
            pairs.iter().partition(|(key, _)| is_key(key, &Tag::Merge));
        let plain: Vec<NodeId> = own.iter().map(|(key, _)| *key).collect();
        for key in plain {
            if self.graph.nodes[key].tag == Tag::Value {
                self.graph.nodes[key].tag = Tag::Str;
            }
        }
        if sources.is_empty() {
            return Ok(own);
        }
        self.graph.nodes[id].content = Content::Mapping(own.clone());
        let mut all = Vec::new();
        for (_, source) in sources {
            let mappings = match &self.graph.nodes[source].content {
                Content::Mapping(_) => vec![source],
                Content::Sequence(items) => items.clone(),
                Content::Scalar(_) => return Err(self.not_mergeable(source)),
            };
            let mut merged = Vec::new();
            for mapping in mappings {
                if !matches!(self.graph.nodes[mapping].content, Content::Mapping(_)) {
                    return Err(self.not_mergeable(mapping));
                }
                merged.push(self.flattened(mapping, tag, false)?);
            }
            all.extend(merged.into_iter().rev().flatten());
        }
        all.extend(own);
        if !is_copy {
            self.graph.nodes[id].content = Content::Mapping(all.clone());
        }
        Ok(all)
    }

    fn not_mergeable(&self, id: NodeId) -> Error {
        let node = &self.graph.nodes[id];
        let found = node.content.described();
        Error::new(ErrorKind::NotMergeable { found }, node.mark)
    }

    /// Fill a collection whose turn it is.
    fn fill(&mut self, id: NodeId, object: ObjectId) -> Result<(), Error> {
        match self.heap.item(object) {
            HeapObject::Map(..) | HeapObject::Set(..) => {
                let tag = match self.heap.item(object) {
                    HeapObject::Set(..) => Tag::Set,
                    _ => Tag::Map,
                };
                for (key_id, value_id) in self.flattened(id, &tag, false)? {
                    let key = self.key(key_id)?;
                    let value = self.object(value_id, false)?;
                    let mark = self.graph.nodes[key_id].mark;
                    self.heap.insert(
                        object,
                        key,
                        PlacedValue {
                            object: value,
                            mark,
                        },
                    );
                }
                Ok(())
            }
            _ => self.fill_list(id, object),
        }
    }

    fn fill_list(&mut self, id: NodeId, object: ObjectId) -> Result<(), Error> {
        let node = &self.graph.nodes[id];
        let (tag, mark) = (node.tag.clone(), node.mark);
        let Content::Sequence(items) = &node.content else {
            return Err(self.wrong_node(id, &tag, "a list"));
        };
        for item in items.clone() {
            let made = if tag == Tag::Pairs {
                let pair = match &self.graph.nodes[item].content {
                    Content::Mapping(pairs) => pairs.as_slice(),
                    _ => &[],
                };
                let [(key, value)] = *pair else {
                    return Err(self.wrong_node(
                        id,
                        &tag,
                        "a list of mappings with one entry each",
                    ));
                };
                let pair = [self.object(key, false)?, self.object(value, false)?];
                self.heap.add(HeapObject::Pair(pair), mark)
            } else {
                self.object(item, false)?
            };
            self.heap.push(object, made);
        }
        Ok(())
    }
}

/// Python's `int` of the text, without leading zeros (`construct_sls_int`). Bases and groups of sixty are errors.
fn integer(text: &str) -> Option<Int> {
    let text = scalar::without_leading_zeros(text).trim();
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let is_spaced = digits.starts_with('_') || digits.ends_with('_') || digits.contains("__");
    if is_spaced || !digits.bytes().all(|b| b.is_ascii_digit() || b == b'_') {
        return None;
    }
    let digits = digits.replace('_', "");
    if digits.len() > scalar::MAX_DECIMAL_DIGITS {
        return None;
    }
    let number = Int::from_str_radix(&digits, 10)?;
    Some(if text.starts_with('-') {
        number.neg()
    } else {
        number
    })
}
