//! The texts that the tags of a template printed, in order.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use foldhash::fast::RandomState;
use mapstack_render::{Obj, TemplatePlace, python};
use mapstack_value::Str;

use crate::source::LayerText;
use crate::tree::Node;

/// The source of a tag and its offset.
type Tag = (Arc<str>, usize);

/// The number of prints of a tag among which the one that is meant is looked for.
const MAX_SKIPPED: usize = 1_000;

/// The texts that each tag printed. One in a loop or a macro prints several times.
#[derive(Default)]
pub(super) struct Prints(HashMap<Tag, Vec<Print>, RandomState>);

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
            let tag = (by.source.clone(), by.span.start as usize);
            self.0.entry(tag).or_default().push(Print { text, node });
        }
    }

    /// The ranges of a text that tags printed, with the origins of what they printed there.
    pub fn in_text(&self, text: &LayerText) -> Vec<(Range<usize>, Vec<Node>)> {
        let mut next: HashMap<Tag, usize, RandomState> = HashMap::default();
        let found = text.printed().into_iter().map(|(range, place)| {
            let tag = (place.source.clone(), place.start);
            let piece = text.as_str().get(range.clone()).unwrap_or_default();
            let prints = self.0.get(&tag).map_or(&[][..], Vec::as_slice);
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
