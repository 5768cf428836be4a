//! The texts that the tags of a template printed, in order.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use foldhash::fast::RandomState;
use mapstack_render::{Obj, TemplatePlace, python};
use mapstack_value::Str;

use crate::source::LayerText;
use crate::tree::{At, Claim, Node};

/// The source of a tag and its offset.
type Tag = (Arc<str>, usize);

/// The number of prints of a tag among which the one that is meant is looked for.
const MAX_SKIPPED: usize = 1_000;

/// The texts that each tag printed. One in a loop or a macro prints several times.
#[derive(Default)]
pub(super) struct Prints {
    by_tag: HashMap<Tag, Vec<Print>, RandomState>,
    /// The texts that tags of macros printed, and that are not known yet to be part of another tag's text.
    of_macros: Vec<(Str, Node)>,
}

/// The number of prints of macros among which the parts of a text are looked for.
const MAX_PARTS: usize = 1_000;

struct Print {
    text: Str,
    node: Option<Node>,
}

impl Prints {
    /// A tag printed a value.
    pub fn add(&mut self, by: &TemplatePlace, value: &Obj, node: Option<Node>) {
        let text = match value {
            Obj::Str(text) | Obj::Markup(text) => text.clone(),
            other => match python::to_str(other) {
                Ok(text) => text.into(),
                Err(_) => return,
            },
        };
        if !text.is_empty() {
            let node = self.with_parts(&text, node);
            if let Some(node) = node.as_ref().filter(|_| is_in_macro(by)) {
                self.of_macros.push((text.clone(), node.clone()));
            }
            let tag = (by.source.clone(), by.span.start as usize);
            let prints = self.by_tag.entry(tag).or_default();
            prints.push(Print { text, node });
        }
    }

    /// The origins of a text that is computed, with those of its parts that tags of macros printed before.
    fn with_parts(&mut self, text: &str, node: Option<Node>) -> Option<Node> {
        let (mut left, mut parts) = (text, Vec::new());
        while parts.len() < MAX_PARTS {
            let last = self.of_macros.last();
            let Some(at) = last.and_then(|(part, _)| left.rfind(&**part)) else {
                break;
            };
            left = &left[..at];
            parts.extend(self.of_macros.pop().map(|(_, node)| node));
        }
        let node = node?;
        let is_computed = |claim: &&Claim| matches!(claim.at, At::Computed(..) | At::Unknown);
        let Some(claim) = node
            .claim()
            .filter(is_computed)
            .filter(|_| !parts.is_empty())
        else {
            return Some(node);
        };
        let mut flat = Vec::new();
        parts
            .iter()
            .rev()
            .for_each(|node| node.printed_parts(&mut flat));
        Some(Node::whole(claim.clone().printed(flat)))
    }

    /// The ranges of a text that tags printed, with the origins of what they printed there.
    pub fn in_text(&self, text: &LayerText) -> Vec<(Range<usize>, Vec<Node>)> {
        let mut next: HashMap<Tag, usize, RandomState> = HashMap::default();
        let found = text.printed().into_iter().map(|(range, place)| {
            let tag = (place.source.clone(), place.start);
            let piece = text.as_str().get(range.clone()).unwrap_or_default();
            let prints = self.by_tag.get(&tag).map_or(&[][..], Vec::as_slice);
            let from = next.entry(tag).or_default();
            let meant = (*from..prints.len()).take(MAX_SKIPPED);
            let meant = meant.filter_map(|at| Some((at, printed(piece, &prints[at..])?)));
            let nodes = match meant.take(1).next() {
                Some((at, count)) => {
                    *from = at + count;
                    prints[at..*from]
                        .iter()
                        .filter_map(|print| print.node.clone())
                }
                .collect(),
                None => Vec::new(),
            };
            (range, nodes)
        });
        found.collect()
    }
}

/// True if a tag is in a macro, or in a block that is passed to one.
fn is_in_macro(by: &TemplatePlace) -> bool {
    let before = by.source.get(..by.span.start as usize).unwrap_or_default();
    let begins = [" macro ", "-macro ", "{%macro ", " call "];
    let begin = begins.iter().filter_map(|word| before.rfind(word)).max();
    let end = ["endmacro", "endcall"]
        .iter()
        .filter_map(|word| before.rfind(word))
        .max();
    begin.is_some_and(|begin| end.is_none_or(|end| end < begin))
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
