//! Texts that templates read as data, and data that they write as text.

use std::collections::HashMap;
use std::sync::Arc;

use foldhash::fast::RandomState;
use mapstack::{File, Text};
use mapstack_pyobject::TemplatePlace;
use mapstack_salt_jinja::SourceMap;
use mapstack_value::{Extent, Key, Str, Value};
use mapstack_yaml::{Limits, Lines, Marks, load_marked};

use super::sources::shown;
use crate::bounds::MAX_VALUES;
use crate::source::LayerText;
use crate::tree::{At, Claim, Node};

/// Data that was written as text, by the text without surrounding space, in the order in which it was written.
#[derive(Default)]
pub(super) struct Dumps(HashMap<Str, Vec<(Value, Node)>, RandomState>);

/// The number of equal texts that are told apart.
const MAX_EQUAL: usize = 1_000;

impl Dumps {
    /// Data was written as this text.
    pub fn insert(&mut self, text: &str, data: Value, node: Node) {
        if is_full(&data) {
            let known = self.0.entry(text.trim().into()).or_default();
            if known.len() >= MAX_EQUAL {
                known.clear();
            }
            known.push((data, node));
        }
    }

    /// The origins of data that was read from a text, if the text is data that was written before.
    pub fn find(&self, text: &str, read: &Value) -> Option<Node> {
        self.nth(text, read, None)
    }

    /// The same for one of several equal texts; the last one, if its position is unknown.
    fn nth(&self, text: &str, read: &Value, place: Option<(usize, usize)>) -> Option<Node> {
        let known = self.0.get(text.trim())?;
        let own = place.filter(|(_, count)| *count == known.len());
        let (data, node) = match own {
            Some((number, _)) => known.get(number)?,
            None => known.last()?,
        };
        // The order of keys can differ, as when JSON is written sorted.
        (data == read).then(|| node.clone())
    }
}

/// The number of times that each of some texts occurs, and that it occurred so far.
struct Occurrences<'t>(HashMap<&'t str, (usize, usize)>);

impl<'t> Occurrences<'t> {
    fn of(pieces: impl Iterator<Item = &'t str>) -> Self {
        let mut counts = HashMap::new();
        for piece in pieces {
            counts.entry(piece.trim()).or_insert((0, 0)).1 += 1;
        }
        Occurrences(counts)
    }

    /// The number of the next occurrence of a text, from 0, and the number of all.
    fn next(&mut self, piece: &str) -> Option<(usize, usize)> {
        let (next, count) = self.0.get_mut(piece.trim())?;
        *next += 1;
        Some((*next - 1, *count))
    }
}

fn is_full(data: &Value) -> bool {
    match data {
        Value::Map(map) => !map.is_empty(),
        Value::List(items) => !items.is_empty(),
        _ => false,
    }
}

/// A text that a tag reads as data.
pub(super) struct Document<'d> {
    /// The path of the template or file that has most of the text.
    pub path: Str,
    pub text: &'d str,
    pub map: Option<&'d SourceMap>,
}

impl<'d> Document<'d> {
    /// The text that a template printed.
    pub fn printed(tag: &TemplatePlace, text: &'d str, map: &'d SourceMap) -> Self {
        let mut share: HashMap<Option<Str>, usize> = HashMap::new();
        for (start, end) in runs(map, text.len()) {
            if let Some((place, origin)) = map.locate(start)
                && !origin.is_computed()
            {
                *share.entry(place.template).or_default() += end - start;
            }
        }
        let most = share.into_iter().max_by_key(|(_, bytes)| *bytes);
        let path = most.and_then(|(path, _)| path).or(tag.template.clone());
        Document {
            path: path.unwrap_or_default(),
            text,
            map: Some(map),
        }
    }

    /// The origins of the data that was read from the text.
    pub fn node(&self, layer: usize, data: &Value, dumps: &Dumps) -> Node {
        let file = File {
            path: self.path.to_string(),
            shown: shown(&self.path),
            bytes: self.text.as_bytes().into(),
        };
        let text = match self.map {
            Some(map) => Text::rendered(&file, self.text.into(), map.clone()),
            None => Text::plain(&file, self.text),
        };
        let source = Arc::new(LayerText::new(text.into_owned()));
        let whole = |at| {
            Node::whole(Claim {
                layer,
                value: data.clone(),
                at,
            })
        };
        let Ok((_, marks)) = load_marked(self.text, &Limits::default()) else {
            return whole(At::Unknown);
        };
        let mut node = whole(At::Text(source, marks.clone()));
        if let Some(map) = self.map
            && Extent::of(data).values <= MAX_VALUES
        {
            let is_computed = |start: &usize| {
                let located = map.locate(*start);
                located.is_some_and(|(_, origin)| origin.is_computed())
            };
            let runs = runs(map, self.text.len()).into_iter();
            let printed = runs.filter(|(start, _)| is_computed(start));
            dumps.put(self.text, printed, &mut node, data, &marks);
        }
        node
    }
}

impl Dumps {
    /// If a text contains data that was written before, in one of the ranges that were printed, its parts keep their
    /// origins.
    pub fn put(
        &self,
        text: &str,
        printed: impl Iterator<Item = (usize, usize)>,
        node: &mut Node,
        data: &Value,
        marks: &Marks,
    ) {
        let lines = Lines::of(text);
        let printed: Vec<(usize, usize)> = printed.collect();
        let pieces = printed
            .iter()
            .filter_map(|(start, end)| text.get(*start..*end));
        let mut occurrences = Occurrences::of(pieces);
        for (start, end) in printed {
            let Some(piece) = text.get(start..end) else {
                continue;
            };
            let place = occurrences.next(piece);
            let begin = start + piece.len() - piece.trim_start().len();
            let at = |marks: &Marks| lines.offset(text, marks.mark());
            let mut path = Vec::new();
            if let Some(inside) = find(data, marks, begin, &at, &mut path)
                && let Some(dump) = self.nth(piece, inside, place)
            {
                match path.split_last() {
                    None => *node = dump,
                    Some((last, above)) => {
                        let key = node.follow(above).and_then(|above| above.key_of(last));
                        node.place(&path, dump, key);
                    }
                }
            }
        }
    }
}

/// The outermost container that begins at an offset.
fn find<'v>(
    data: &'v Value,
    marks: &Marks,
    begin: usize,
    at: &dyn Fn(&Marks) -> usize,
    path: &mut Vec<Key>,
) -> Option<&'v Value> {
    if !is_full(data) {
        return None;
    }
    if at(marks) == begin {
        return Some(data);
    }
    let steps: Vec<(Key, &Value)> = match data {
        Value::Map(map) => map
            .iter()
            .map(|(key, value)| (key.clone(), value))
            .collect(),
        Value::List(items) => items
            .iter()
            .enumerate()
            .map(|(index, item)| (Key::of_index(index), item))
            .collect(),
        _ => Vec::new(),
    };
    for (index, (step, value)) in steps.into_iter().enumerate() {
        let Some(inside) = marks.child(index) else {
            continue;
        };
        path.push(step);
        if let Some(found) = find(value, inside, begin, at, path) {
            return Some(found);
        }
        path.pop();
    }
    None
}

/// The ranges of a text that have one origin each.
fn runs(map: &SourceMap, length: usize) -> Vec<(usize, usize)> {
    let starts: Vec<usize> = map.runs().map(|(start, _)| start).collect();
    let ends = starts.iter().copied().skip(1).chain([length]);
    starts.iter().copied().zip(ends).collect()
}
