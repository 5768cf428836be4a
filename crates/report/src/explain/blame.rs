//! The data at the left, where each line comes from at the right.

use std::collections::BTreeMap;

use mapstack::value::{Key, Value};
use mapstack::yaml;
use mapstack_lineage::{Ancestry, ValuePosition};

use super::{ExplainReport, is_branch, shown};
use crate::terminal::{ORIGIN, Styled};

/// Wider data has its origins less aligned.
const MAX_WIDTH: usize = 60;

/// Lines with their origins at the right.
pub(super) fn aligned(rows: impl Iterator<Item = (String, Option<String>)>) -> Styled {
    let rows: Vec<(String, Option<String>)> = rows.collect();
    let widths = rows.iter().map(|(line, _)| line.chars().count());
    let width = widths
        .filter(|width| *width <= MAX_WIDTH)
        .max()
        .unwrap_or(0);
    let mut blamed = Styled::default();
    for (line, origin) in &rows {
        blamed.plain(line);
        if let Some(origin) = origin {
            let padding = " ".repeat(width.saturating_sub(line.chars().count()) + 2);
            blamed.plain(&padding);
            blamed.add(ORIGIN, &format!("# {origin}"));
        }
        blamed.plain("\n");
    }
    blamed
}

impl ExplainReport<'_> {
    /// The data at and below a path, with the origin of each scalar on its line.
    pub fn blame(&self, data: &Value, path: &[Key]) -> Styled {
        let mut here = data;
        for step in path {
            here = match here {
                Value::Map(map) => map.get(step),
                Value::List(items) => step
                    .to_string()
                    .parse()
                    .ok()
                    .and_then(|index: usize| items.get(index)),
                _ => None,
            }
            .unwrap_or(&Value::None);
        }
        let (shown, spots) = self.spots(here, path);
        let text = yaml::dump(&shown, &yaml::DumpOptions::output());
        let origins = lines(&text, &shown, &spots);
        let rows = text.lines().enumerate();
        aligned(rows.map(|(number, line)| (line.to_owned(), origins.get(&number).cloned())))
    }

    /// The data without secrets, and the place of each of its scalars.
    fn spots(&self, here: &Value, above: &[Key]) -> (Value, BTreeMap<Vec<usize>, String>) {
        let mut spots = BTreeMap::new();
        self.lineage.visit(&mut |path, known: &Ancestry| {
            let Some(inside) = path.strip_prefix(above) else {
                return;
            };
            let Some(steps) = positions(here, inside) else {
                return;
            };
            if !is_branch(&known.value) {
                spots.insert(steps, described(known));
            }
        });
        (self.now(above, here).into_inner(), spots)
    }
}

/// A path as positions in mappings and lists.
fn positions(value: &Value, path: &[Key]) -> Option<Vec<usize>> {
    let (mut here, mut positions) = (value, Vec::new());
    for step in path {
        let (index, inside) = match here {
            Value::Map(map) => (map.index_of(step)?, map.get(step)?),
            Value::List(items) => {
                let index: usize = step.to_string().parse().ok()?;
                (index, items.get(index)?)
            }
            _ => return None,
        };
        positions.push(index);
        here = inside;
    }
    Some(positions)
}

pub(super) fn described(known: &Ancestry) -> String {
    let spot = match &known.spot {
        spot @ ValuePosition::File { computed: true, .. } if known.printed.is_empty() => {
            format!("{spot} (computed)")
        }
        spot => shown(spot),
    };
    let from = known.printed.iter().map(|printed| shown(&printed.spot));
    let from: Vec<String> = from.collect();
    match &from[..] {
        [] => spot,
        from => format!("{spot}, from {}", from.join(", ")),
    }
}

/// The origins of the lines of printed data: each scalar has one.
fn lines(
    text: &str,
    shown: &Value,
    spots: &BTreeMap<Vec<usize>, String>,
) -> BTreeMap<usize, String> {
    fn walk(
        value: &Value,
        marks: &yaml::Marks,
        at: &mut Vec<usize>,
        spots: &BTreeMap<Vec<usize>, String>,
        lines: &mut BTreeMap<usize, String>,
    ) {
        if let Some(origin) = spots.get(at) {
            lines
                .entry(marks.mark().line as usize - 1)
                .or_insert_with(|| origin.clone());
        }
        let inside: Vec<&Value> = match value {
            Value::Map(map) => map.values().collect(),
            Value::List(items) => items.iter().collect(),
            _ => return,
        };
        for (index, value) in inside.into_iter().enumerate() {
            let Some(marks) = marks.child(index) else {
                continue;
            };
            at.push(index);
            walk(value, marks, at, spots, lines);
            at.pop();
        }
    }
    let mut lines = BTreeMap::new();
    // The printer's text is YAML, and has the value's shape.
    if let Ok((_, marks)) = yaml::load_marked(text, &yaml::Limits::default()) {
        walk(shown, &marks, &mut Vec::new(), spots, &mut lines);
    }
    lines
}
