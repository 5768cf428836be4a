//! The origins of the lines of a file: the place of each line, and what expressions printed into it.

use std::ops::Range;
use std::sync::Arc;

use mapstack::Text;
use mapstack_diagnostic::Place;
use mapstack_value::{Key, Map, Str, Value};
use mapstack_yaml::Mark;

use super::prints::Run;
use super::{TracerFindings, TracerState, ValueTracer};
use crate::bounds::MAX_VALUES;
use crate::source::LayerText;
use crate::tree::{At, Claim, Node};

/// The key of the text of a line.
const TEXT: &str = "text";

/// An expression that printed a part of a line.
pub(crate) struct Printing {
    /// Its source.
    pub source: String,
    pub value: Value,
    pub node: Node,
}

/// The lines of a file: the text of each, and the values of the expressions on it, with their origins.
#[derive(Default)]
pub(crate) struct TracedLines {
    data: Map,
    nodes: Vec<(Key, Node)>,
}

impl TracedLines {
    /// Add the next line, which has this claim.
    pub fn add(&mut self, text: &Claim, printed: Vec<Printing>) {
        let near = text.at.nearby();
        let (mut data, mut nodes) = (Map::new(), Vec::new());
        let mut add = |key: Key, value: Value, node: Node| {
            data.insert(key.clone(), value);
            nodes.push((key, node));
        };
        add(TEXT.into(), text.value.clone(), Node::whole(text.clone()));
        for (number, one) in (1..).zip(printed) {
            let key = match number {
                1 => one.source,
                _ if one.source.is_empty() => number.to_string(),
                _ => one.source,
            };
            add(Key::from(key), one.value, one.node);
        }
        let data = Value::Map(data);
        let mut node = Node::whole(Claim {
            value: data.clone(),
            at: near,
            layer: text.layer,
        });
        for (key, inside) in nodes {
            node.set(&key, inside, None);
        }
        let number = Key::from(i64::try_from(self.nodes.len() + 1).unwrap_or(i64::MAX));
        self.data.insert(number.clone(), data);
        self.nodes.push((number, node));
    }

    /// All lines as data, and its origins.
    pub fn finish(self, owner: &Claim) -> (Value, Node) {
        let data = Value::Map(self.data);
        let mut node = Node::whole(owner.over(&data));
        for (number, inside) in self.nodes {
            node.set(&number, inside, None);
        }
        (data, node)
    }

    pub fn is_full(&self) -> bool {
        self.nodes.len() >= MAX_VALUES / 4
    }
}

impl ValueTracer {
    /// The lines of a text that a template printed, or of a file as it is, with their origins.
    pub fn of_lines(&self, path: &str, text: &Text<'static>) -> (Value, TracerFindings) {
        let text = Arc::new(LayerText::of_lines(text.clone()));
        let (data, node) = {
            let state = &mut *self.state.borrow_mut();
            state.lines(path, &text)
        };
        let traced = self.finish(&data, |_| node);
        (data, traced)
    }
}

impl TracerState {
    fn lines(&mut self, path: &str, text: &Arc<LayerText>) -> (Value, Node) {
        let layer = self.sources.file(path);
        let prints = self.prints.take().unwrap_or_default();
        let runs = prints.in_text(text);
        let places = text.printed();
        let of_text = OfText { layer, text };
        let mut lines = TracedLines::default();
        for (line, range) in line_ranges(text.as_str()).enumerate() {
            if lines.is_full() {
                break;
            }
            let begin = runs.partition_point(|run| run.range.end <= range.start);
            let on_line = runs.iter().zip(&places).skip(begin);
            let on_line = on_line.take_while(|(run, _)| run.range.start < range.end);
            let printed =
                on_line.map(|(run, (_, place))| of_text.printing(run, place, line, &range));
            let printed: Vec<Printing> = printed.collect();
            lines.add(&of_text.claim(line, &range, &runs[begin..]), printed);
        }
        let owner = of_text.claim(0, &(0..0), &[]);
        lines.finish(&owner)
    }
}

/// The text of a layer.
struct OfText<'t> {
    layer: usize,
    text: &'t Arc<LayerText>,
}

impl OfText<'_> {
    /// The claim on a line: the place of its first byte that no expression printed.
    fn claim(&self, line: usize, range: &Range<usize>, runs: &[Run]) -> Claim {
        let mut start = range.start;
        let mut nodes = Vec::new();
        for run in runs.iter().take_while(|run| run.range.start < range.end) {
            if run.range.contains(&start) && run.range.end < range.end {
                start = run.range.end;
            }
            nodes.extend(run.nodes(range));
        }
        let claim = Claim {
            layer: self.layer,
            value: self.text.as_str()[range.clone()].into(),
            at: At::Mark(self.text.clone(), self.mark(line, range.start..start)),
        };
        claim.printed(nodes)
    }

    /// The mark after a part of a line.
    fn mark(&self, line: usize, before: Range<usize>) -> Mark {
        let small = |number: usize| u32::try_from(number + 1).unwrap_or(u32::MAX);
        let text = self.text.as_str().get(before);
        Mark {
            line: small(line),
            column: small(text.map_or(0, |text| text.chars().count())),
        }
    }

    /// The text that an expression printed into a line.
    fn printing(&self, run: &Run, place: &Place, line: usize, range: &Range<usize>) -> Printing {
        let source = source_of(place);
        let mut pieces = run.within(range);
        let single = match (pieces.next(), pieces.next()) {
            (Some(piece), None) => piece.node.as_ref().zip(Some(piece.is_whole())),
            _ => None,
        };
        let own = single.and_then(|(node, is_whole)| Some((node, node.claim()?, is_whole)));
        if let Some((node, claim, true)) = own {
            return Printing {
                source,
                value: claim.value.clone(),
                node: node.clone(),
            };
        }
        let inside = run.range.start.max(range.start)..run.range.end.min(range.end);
        let text = self.text.as_str().get(inside.clone());
        let value: Value = text.unwrap_or_default().into();
        let mark = || self.mark(line, range.start..inside.start);
        // What is computed of parts is not computed of all that the expression reads.
        let (layer, at) = match own.map(|(_, claim, _)| (claim.layer, &claim.at)) {
            Some((layer, At::Computed(place, _))) => (layer, At::Statement(place.clone())),
            _ => (self.layer, At::Mark(self.text.clone(), mark())),
        };
        let claim = Claim {
            layer,
            value: value.clone(),
            at,
        };
        Printing {
            source,
            value,
            node: Node::whole(claim.printed(run.nodes(range))),
        }
    }
}

/// The longest source of an expression that is shown.
const SHOWN: usize = 80;

/// The source of an expression on one line, without braces.
pub(crate) fn source_of(place: &Place) -> String {
    let source = place.source.get(place.start..place.end).unwrap_or_default();
    let inner = source.trim_start_matches("{{").trim_end_matches("}}");
    let inner = inner.trim_matches('-').trim();
    let words: Vec<&str> = inner.split_whitespace().collect();
    let text = words.join(" ");
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// The ranges of the lines of a text, without their ends.
pub(crate) fn line_ranges(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut start = 0;
    text.split_inclusive('\n').map(move |line| {
        let from = start;
        start += line.len();
        from..from + line.trim_end_matches('\n').trim_end_matches('\r').len()
    })
}

/// The values of variables that a template gets, with their origins.
pub(crate) type TemplateVariables = Vec<(Str, Value, Node)>;
