//! The texts that the tags of a template printed, in order.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use foldhash::fast::RandomState;
use mapstack_pyobject::{Obj, TemplatePlace, spend};
use mapstack_salt_jinja::{SourceMap, python};
use mapstack_value::Str;

use super::parts::{TextPart, TextParts, moved};
use super::{Operand, Tag, is_computed};
use crate::source::LayerText;
use crate::tree::Node;

/// The number of prints of a tag that are searched for a value.
const MAX_SKIPPED: usize = 1_000;

/// The texts that each tag printed. One in a loop or a macro prints several times.
#[derive(Default)]
pub(super) struct TagTexts {
    by_tag: HashMap<Tag, Vec<Print>, RandomState>,
    /// The tags that printed into texts that are not finished, with the number of the print.
    open: Vec<(Tag, usize)>,
    /// The parts of texts that are made of several: those that macros print, for example.
    made: HashMap<Str, Vec<ComposedText>, RandomState>,
}

/// A text that is made of parts.
struct ComposedText {
    text: Str,
    parts: TextParts,
}

/// The number of equal texts that are told apart.
const MAX_EQUAL: usize = 1_000;

struct Print {
    text: Str,
    node: Option<Node>,
    /// The parts of a text that is computed, if they are known.
    parts: Option<TextParts>,
}

/// A range of a text that a tag printed.
pub(super) struct Run {
    pub range: Range<usize>,
    pub pieces: Vec<PrintedPiece>,
}

/// A text that a tag printed at once, in a longer one.
pub(super) struct PrintedPiece {
    range: Range<usize>,
    pub node: Option<Node>,
    parts: Option<Vec<TextPart>>,
}

impl PrintedPiece {
    /// True if its parts are not known apart.
    pub fn is_whole(&self) -> bool {
        self.parts.is_none()
    }

    /// Add the origins of what is in a range.
    pub fn add_nodes(&self, range: &Range<usize>, nodes: &mut Vec<Node>) {
        match &self.parts {
            Some(parts) => {
                let own = parts.iter().filter(|part| overlap(&part.range, range));
                own.for_each(|part| part.node.printed_parts(nodes));
            }
            None => self.node.iter().for_each(|node| nodes.push(node.clone())),
        }
    }
}

impl Run {
    /// The pieces that are in a range.
    pub fn within(&self, range: &Range<usize>) -> impl Iterator<Item = &PrintedPiece> {
        let pieces = self.pieces.iter();
        pieces.filter(|piece| overlap(&piece.range, range))
    }

    /// The origins of what is in a range.
    pub fn nodes(&self, range: &Range<usize>) -> Vec<Node> {
        let mut nodes = Vec::new();
        self.within(range)
            .for_each(|piece| piece.add_nodes(range, &mut nodes));
        nodes
    }
}

/// True if two ranges have a byte in common, or an empty one is inside the other.
fn overlap(one: &Range<usize>, other: &Range<usize>) -> bool {
    let (start, end) = (one.start.max(other.start), one.end.min(other.end));
    start < end || (start == end && other.is_empty() && one.start < start && start < one.end)
}

impl TagTexts {
    /// A tag printed a value.
    pub fn add(&mut self, by: &TemplatePlace, value: &Obj, node: Option<Node>) {
        let text = match value {
            Obj::Str(text) | Obj::Markup(text) => text.clone(),
            other => match python::to_str(other) {
                Ok(text) => text.into(),
                Err(_) => return,
            },
        };
        if text.is_empty() {
            return;
        }
        let is_moved = node
            .as_ref()
            .and_then(Node::claim)
            .is_some_and(|claim| !is_computed(&claim.at));
        let parts = self.made(&text).filter(|_| !is_moved).cloned();
        let tag = Tag::of(by);
        let prints = self.by_tag.entry(tag.clone()).or_default();
        self.open.push((tag, prints.len()));
        prints.push(Print { text, node, parts });
    }

    /// The number of prints that are not part of a finished text.
    pub fn opened(&self) -> usize {
        self.open.len()
    }

    /// A text is finished, of which `map` says what each part was printed by: the prints after a number of them.
    pub fn finished(&mut self, from: usize, text: &Str, map: &SourceMap) {
        let own = self.open.split_off(from.min(self.open.len()));
        let mut own = &own[..];
        let mut parts = Vec::new();
        let starts: Vec<usize> = map.runs().map(|(start, _)| start).collect();
        for (index, start) in starts.iter().enumerate() {
            let end = starts.get(index + 1).copied().unwrap_or(text.len());
            let located = map.locate(*start);
            let Some((place, _)) = located.filter(|(_, origin)| origin.is_computed()) else {
                continue;
            };
            let Some(piece) = text.get(*start..end).filter(|_| spend(1).is_ok()) else {
                continue;
            };
            let is_it = |(tag, number): &(Tag, usize)| {
                tag.start == place.span.start as usize
                    && Arc::ptr_eq(&tag.source, &place.source)
                    && self
                        .print(tag, *number)
                        .is_some_and(|print| *print.text == *piece)
            };
            let Some(at) = own.iter().take(MAX_SKIPPED).position(is_it) else {
                continue;
            };
            if let Some(print) = self.print(&own[at].0, own[at].1) {
                print.add_parts(*start, &mut parts);
            }
            own = &own[at + 1..];
        }
        self.add_made(text, parts);
    }

    fn print(&self, tag: &Tag, number: usize) -> Option<&Print> {
        self.by_tag.get(tag)?.get(number)
    }

    /// A text has these parts.
    pub fn add_made(&mut self, text: &Str, parts: Vec<TextPart>) {
        if text.is_empty() || spend(parts.len()).is_err() {
            return;
        }
        let known = self.made.entry(text.clone()).or_default();
        if known.len() >= MAX_EQUAL {
            known.clear();
        }
        known.retain(|made| !is_it(&made.text, text));
        known.push(ComposedText {
            text: text.clone(),
            parts: parts.into(),
        });
    }

    /// The parts of a text, unless it is one of several equal ones and not known which.
    fn made(&self, text: &Str) -> Option<&TextParts> {
        let all = self.made.get(text)?;
        let own = all.iter().rev().find(|made| is_it(&made.text, text));
        match &all[..] {
            [one] => Some(&one.parts),
            _ => own.map(|made| &made.parts),
        }
    }

    /// An operation made a text of its operands: the parts of those that it left as they are keep their origins.
    pub fn carry(&mut self, operands: &[Operand], value: &Obj) {
        let made = |operand: &Operand| operand.value.as_str().and_then(|text| self.made(text));
        let is_made = |operand: &Operand| made(operand).is_some();
        let Some(to) = value.as_str().filter(|to| !self.has(to)) else {
            return;
        };
        if self.made.is_empty() || !operands.iter().any(is_made) {
            return;
        }
        let (mut parts, mut from) = (Vec::new(), 0);
        for operand in operands {
            let whole;
            let Some(text) = operand.value.as_str() else {
                continue;
            };
            let own: &[TextPart] = match (made(operand), &operand.node) {
                (Some(own), _) => own,
                (None, Some(node)) => {
                    whole = [TextPart::whole(text, node.clone())];
                    &whole
                }
                (None, None) => continue,
            };
            match moved(text, own, to, from) {
                Some((moved, end)) => {
                    parts.extend(moved);
                    from = end;
                }
                None if is_made(operand) => return,
                None => {}
            }
        }
        self.add_made(to, parts);
    }

    /// True if this very text has known parts.
    fn has(&self, text: &Str) -> bool {
        let all = self.made.get(text);
        all.is_some_and(|all| all.iter().any(|made| is_it(&made.text, text)))
    }

    /// The ranges of a text that tags printed, with the origins of what they printed there.
    pub fn in_text(&self, text: &LayerText) -> Vec<Run> {
        let mut next: HashMap<Tag, usize, RandomState> = HashMap::default();
        let found = text.printed().into_iter().map(|(range, place)| {
            let tag = Tag::new(&place.source, place.start);
            let piece = text.as_str().get(range.clone()).unwrap_or_default();
            let prints = self.by_tag.get(&tag).map_or(&[][..], Vec::as_slice);
            let from = next.entry(tag).or_default();
            let meant = (*from..prints.len()).take(MAX_SKIPPED);
            let meant = meant.filter_map(|at| Some((at, printed(piece, &prints[at..])?)));
            let own = match meant.take(1).next() {
                Some((at, count)) => {
                    *from = at + count;
                    &prints[at..*from]
                }
                None => &[],
            };
            let mut start = range.start;
            let pieces = own.iter().map(|print| {
                let begin = start;
                start += print.text.len();
                print.piece(begin)
            });
            Run {
                pieces: pieces.collect(),
                range,
            }
        });
        found.collect()
    }
}

impl Print {
    /// Add the parts of the text, which begins at an offset of another.
    fn add_parts(&self, start: usize, parts: &mut Vec<TextPart>) {
        match (&self.parts, &self.node) {
            (Some(own), _) => parts.extend(own.iter().map(|part| part.shifted(start))),
            (None, Some(node)) => {
                parts.push(TextPart::whole(&self.text, node.clone()).shifted(start));
            }
            (None, None) => {}
        }
    }

    fn piece(&self, start: usize) -> PrintedPiece {
        let shifted = |parts: &TextParts| parts.iter().map(|part| part.shifted(start)).collect();
        PrintedPiece {
            range: start..start + self.text.len(),
            node: self.node.clone(),
            parts: self.parts.as_ref().map(shifted),
        }
    }
}

/// True if two texts are not only equal, but one.
fn is_it(one: &str, other: &str) -> bool {
    std::ptr::eq(one, other)
}

/// The number of prints, from the first on, that make a text. The line break at the end of a template counts as printed.
fn printed(piece: &str, prints: &[Print]) -> Option<usize> {
    let mut left = piece;
    for (count, print) in (1..).zip(prints) {
        left = left.strip_prefix(&*print.text)?;
        if left.is_empty() || left == "\n" {
            return Some(count);
        }
    }
    None
}
