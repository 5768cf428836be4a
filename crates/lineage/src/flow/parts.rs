//! The parts of a text that is made of others, each with its origins.

use std::ops::Range;
use std::sync::Arc;

use mapstack_value::{Key, Value};
use mapstack_yaml::{Limits, Lines, Marks, load_marked};

use crate::tree::Node;

/// The parts of a text, in order.
pub(super) type TextParts = Arc<[TextPart]>;

/// A part of a text.
#[derive(Clone)]
pub(super) struct TextPart {
    pub range: Range<usize>,
    pub node: Node,
}

impl TextPart {
    /// All of a text.
    pub fn whole(text: &str, node: Node) -> Self {
        TextPart {
            range: 0..text.len(),
            node,
        }
    }

    /// The part in a longer text, in which its text begins at an offset.
    pub fn shifted(&self, start: usize) -> Self {
        TextPart {
            range: start + self.range.start..start + self.range.end,
            node: self.node.clone(),
        }
    }
}

/// The parts of a text that an operation inserted into another one, at an offset, and the end of the
/// insertion: as it was, without its ends, or with something before its lines. `None` if it does not exist.
pub(super) fn moved(
    text: &str,
    parts: &[TextPart],
    to: &str,
    from: usize,
) -> Option<(Vec<TextPart>, usize)> {
    let rest = to.get(from..)?;
    if let Some(at) = rest.find(text) {
        let start = from + at;
        let parts = parts.iter().map(|part| part.shifted(start)).collect();
        return Some((parts, start + text.len()));
    }
    if rest.is_empty() {
        return None;
    }
    if let Some(before) = text.find(rest) {
        let clip = |offset: usize| offset.saturating_sub(before).min(rest.len()) + from;
        let clipped = parts.iter().map(|part| TextPart {
            range: clip(part.range.start)..clip(part.range.end),
            node: part.node.clone(),
        });
        let inside = clipped.filter(|part| !part.range.is_empty());
        return Some((inside.collect(), to.len()));
    }
    let lines = indented(text, rest)?;
    let place = |offset: usize| {
        let line = lines.partition_point(|(begin, _)| *begin <= offset);
        let (begin, new) = lines[line.saturating_sub(1)];
        from + new + (offset - begin)
    };
    let parts = parts.iter().map(|part| TextPart {
        range: place(part.range.start)..place(part.range.end),
        node: part.node.clone(),
    });
    Some((parts.collect(), to.len()))
}

/// The offsets at which the lines of a text begin in it, and in one that has something before each of them.
fn indented(text: &str, to: &str) -> Option<Vec<(usize, usize)>> {
    if text.matches('\n').count() != to.matches('\n').count() {
        return None;
    }
    let (mut before, mut after) = (0, 0);
    let pairs = text.split('\n').zip(to.split('\n')).map(|(old, new)| {
        let places = new
            .ends_with(old)
            .then(|| (before, after + new.len() - old.len()));
        before += old.len() + 1;
        after += new.len() + 1;
        places
    });
    pairs.collect()
}

/// The parts of a text of several lines that data was written as: its keys and scalars.
pub(super) fn of_dump(text: &str, node: &Node) -> Vec<TextPart> {
    let mut parts = Vec::new();
    if text.trim_end().contains('\n')
        && let Ok((value, marks)) = load_marked(text, &Limits::default())
    {
        let dump = Dump {
            text,
            lines: Lines::of(text),
        };
        dump.add(node, &value, &marks, &mut parts);
    }
    parts
}

/// A text that data was written as.
struct Dump<'d> {
    text: &'d str,
    lines: Lines,
}

impl Dump<'_> {
    fn add(&self, node: &Node, value: &Value, marks: &Marks, parts: &mut Vec<TextPart>) {
        let inside = |index: usize, step: &Key, value: &Value, parts: &mut Vec<TextPart>| {
            if let Some(marks) = marks.child(index)
                && let Some(child) = node.child(step)
            {
                self.add(&child, value, marks, parts);
            }
        };
        match value {
            Value::Map(map) => {
                for (index, (key, value)) in map.iter().enumerate() {
                    if let Some(mark) = marks.key(index)
                        && let Some(claim) = node.key_of(key)
                    {
                        parts.push(self.part(mark, &claim.value, Node::whole(claim.clone())));
                    }
                    inside(index, key, value, parts);
                }
            }
            Value::List(items) => {
                for (index, value) in items.iter().enumerate() {
                    inside(index, &Key::of_index(index), value, parts);
                }
            }
            scalar => {
                let is_it = node
                    .claim()
                    .is_some_and(|claim| claim.value.is_same(scalar));
                if is_it {
                    parts.push(self.part(marks.mark(), scalar, node.clone()));
                }
            }
        }
    }

    /// The part of a scalar that begins at a mark: the rest of its line, or as many lines as it has.
    fn part(&self, mark: mapstack_yaml::Mark, value: &Value, node: Node) -> TextPart {
        let start = self.lines.offset(self.text, mark);
        let rest = self.text.get(start..).unwrap_or_default();
        let count = value.as_str().map_or(0, |text| text.matches('\n').count());
        let length: usize = rest
            .split_inclusive('\n')
            .take(1 + count)
            .map(str::len)
            .sum();
        let end = start + rest.get(..length).unwrap_or_default().trim_end().len();
        TextPart {
            range: start..end,
            node,
        }
    }
}
