//! The origins of the values of an sls: of its own text, and of what its tags printed into it.

use std::ops::Range;
use std::sync::Arc;

use mapstack::RenderedSls;
use mapstack_diagnostic::Place;
use mapstack_value::{Extent, Key, Value};

use super::prints::Run;
use super::{TracerFindings, TracerState, ValueTracer};
use crate::bounds::MAX_VALUES;
use crate::source::LayerText;
use crate::tree::{At, Claim, Node};

impl ValueTracer {
    /// The origins of the values of an sls that was rendered. What is not read from a text has the place of the file.
    pub fn of_sls(&self, path: &str, rendered: &RenderedSls, whole: Place) -> TracerFindings {
        let value = &rendered.value;
        self.finish(value, |state| {
            let layer = state.sources.file(path);
            let text = rendered.text.as_ref();
            let at = text.and_then(|text| LayerText::marked(text, value));
            let claim = Claim {
                layer,
                value: value.clone(),
                at: at.unwrap_or_else(|| At::Statement(Arc::new(whole))),
            };
            state.printed_over(claim)
        })
    }
}

impl TracerState {
    /// The origins of the values of a text, including those that tags printed.
    fn printed_over(&mut self, claim: Claim) -> Node {
        let At::Text(text, marks) = claim.at.clone() else {
            return Node::whole(claim);
        };
        let data = claim.value.clone();
        if Extent::of(&data).values > MAX_VALUES {
            return Node::whole(claim);
        }
        let prints = self.prints.take().unwrap_or_default();
        let runs = Runs {
            text: &text,
            runs: prints.in_text(&text),
        };
        let mut node = runs.over(claim, text.as_str().len());
        let ranges = runs.runs.iter().map(|run| (run.range.start, run.range.end));
        self.dumps
            .put(text.as_str(), ranges, &mut node, &data, &marks);
        node
    }
}

/// The ranges of a text that tags printed, in order.
struct Runs<'r> {
    text: &'r Arc<LayerText>,
    runs: Vec<Run>,
}

impl Runs<'_> {
    /// The ranges that begin in another.
    fn inside(&self, range: &Range<usize>) -> &[Run] {
        let before = |end: usize| self.runs.partition_point(|run| run.range.start < end);
        let first = before(range.start);
        // A run goes on where it began before.
        let first = match first.checked_sub(1) {
            Some(last) if self.runs[last].range.end > range.start => last,
            _ => first,
        };
        self.runs.get(first..before(range.end)).unwrap_or_default()
    }

    fn printed(&self, claim: Claim, range: Range<usize>) -> Claim {
        let from = self.inside(&range).iter();
        let from = from.flat_map(|run| run.nodes(&range));
        claim.printed(from.collect())
    }

    /// The origins of a value that ends before an offset.
    fn over(&self, claim: Claim, end: usize) -> Node {
        let At::Text(_, marks) = &claim.at else {
            return Node::whole(claim);
        };
        let offset = |marks: &mapstack_yaml::Marks| self.text.offset(marks.mark());
        let start = offset(marks);
        if self.inside(&(start..end)).is_empty() {
            return Node::whole(claim);
        }
        let ends = |index: usize, of: &dyn Fn(usize) -> Option<usize>| {
            let next = of(index + 1).filter(|next| marks.child(index).map(&offset) < Some(*next));
            next.unwrap_or(end)
        };
        match claim.value.clone() {
            Value::Map(map) => {
                let key_at = |index| Some(self.text.offset(marks.key(index)?));
                let mut node = Node::whole(claim.clone());
                for (index, key) in map.keys().enumerate() {
                    let Some(child) = claim.child(key) else {
                        continue;
                    };
                    let own = key_at(index).zip(marks.child(index).map(offset));
                    let at = claim.key(key).map(|claim| match own {
                        Some((from, to)) => self.printed(claim, from..to),
                        None => claim,
                    });
                    node.set(key, self.over(child, ends(index, &key_at)), at);
                }
                node
            }
            Value::List(items) => {
                let item_at = |index| marks.child(index).map(offset);
                let item = |index| {
                    let child = claim.child(&Key::of_index(index));
                    child.map(|child| self.over(child, ends(index, &item_at)))
                };
                let nodes = (0..items.len()).map(|index| item(index).unwrap_or_default());
                Node::list(claim.clone(), nodes.collect())
            }
            _ => Node::whole(self.printed(claim, start..self.end_of_scalar(start, end))),
        }
    }

    /// The end of a scalar that ends before an offset: a plain one has a line.
    fn end_of_scalar(&self, start: usize, end: usize) -> usize {
        let text = self.text.as_str().get(start..end).unwrap_or_default();
        let is_plain = !text.starts_with(['|', '>', '\'', '"']);
        let line = text.find('\n').filter(|_| is_plain);
        line.map_or(end, |length| start + length)
    }
}
