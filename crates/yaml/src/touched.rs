//! Finds the scalars of a text that ranges of its bytes touch, such as those in which a template printed a secret.

use std::collections::HashSet;
use std::ops::Range;

use crate::mark::{Mark, Marks};
use mapstack_value::Value;

/// The starts of scalars that ranges of bytes touch. A scalar extends to the next value or key, so it does not matter
/// how YAML reads the bytes.
///
/// ```
/// use mapstack_yaml::{Limits, Lines, TouchedScalars, load_marked};
/// let text = "a: 1\nb: [two, three]\n";
/// let (value, marks) = load_marked(text, &Limits::default()).unwrap();
/// let (lines, at) = (Lines::of(text), text.find("wo").unwrap());
/// let touched = TouchedScalars::of(&value, &marks, &[at..at + 1], |mark| lines.offset(text, mark));
/// let mut seen = Vec::new();
/// touched.visit(&value, &marks, &mut |scalar| seen.push(scalar.repr()));
/// assert_eq!(seen, ["'two'"]);
/// ```
#[derive(Debug, Default)]
pub struct TouchedScalars(HashSet<Mark>);

impl TouchedScalars {
    /// Find the scalars that the ranges touch. `ranges` are in order; `offset` converts marks to offsets.
    pub fn of(
        value: &Value,
        marks: &Marks,
        ranges: &[Range<usize>],
        offset: impl Fn(Mark) -> usize,
    ) -> Self {
        let mut starts = Vec::new();
        walk(value, marks, &mut |mark, leaf| {
            starts.push((offset(mark), mark, leaf.is_some()));
        });
        starts.sort_by_key(|(start, ..)| *start);
        let mut leaves = HashSet::new();
        for (at, (start, mark, is_leaf)) in starts.iter().enumerate() {
            let next = starts
                .get(at + 1..)
                .into_iter()
                .flatten()
                .map(|(next, ..)| *next)
                .find(|next| next > start);
            let end = next.unwrap_or(usize::MAX);
            let first = ranges.partition_point(|range| range.end <= *start);
            if *is_leaf && ranges.get(first).is_some_and(|range| range.start < end) {
                leaves.insert(*mark);
            }
        }
        TouchedScalars(leaves)
    }

    /// True if a range touches the scalar at a mark.
    pub fn has(&self, mark: Mark) -> bool {
        self.0.contains(&mark)
    }

    /// Visit all scalars that the ranges touch.
    pub fn visit(&self, value: &Value, marks: &Marks, visit: &mut dyn FnMut(&Value)) {
        walk(value, marks, &mut |mark, leaf| {
            if let Some(leaf) = leaf.filter(|_| self.has(mark)) {
                visit(leaf);
            }
        });
    }
}

/// Visit the marks of keys and containers, and those of scalars with the scalar.
fn walk(value: &Value, marks: &Marks, visit: &mut dyn FnMut(Mark, Option<&Value>)) {
    let inside: Vec<&Value> = match value {
        Value::Map(map) => map.values().collect(),
        Value::List(items) => items.iter().collect(),
        Value::Tuple(items) => items.iter().collect(),
        scalar => return visit(marks.mark(), Some(scalar)),
    };
    for (index, value) in inside.into_iter().enumerate() {
        if let Some(key) = marks.key(index) {
            visit(key, None);
        }
        if let Some(marks) = marks.child(index) {
            walk(value, marks, visit);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Limits, Lines, load_marked};

    #[test]
    fn a_scalar_is_touched_wherever_in_it_the_bytes_are() {
        for (text, secret, leaves) in [
            ("a: 1\nb: xSECRETy\nc: 2", "SECRET", "'xSECRETy'"),
            ("a: \"x\\\n  SECRET\"\nc: 2", "SECRET", "'xSECRET'"),
            ("a: |\n  x\n  SECRET\nc: 2", "SECRET", "'x\\nSECRET\\n'"),
            ("[1, 2876, 3]", "87", "2876"),
            ("{a: 1, SECRET: 2}", "SECRET", ""),
            ("a: 1", "a: 1", "1"),
        ] {
            let (value, marks) = load_marked(text, &Limits::default()).unwrap();
            let (start, lines) = (text.find(secret).unwrap(), Lines::of(text));
            let range = start..start + secret.len();
            let found = TouchedScalars::of(&value, &marks, std::slice::from_ref(&range), |m| {
                lines.offset(text, m)
            });
            let mut seen = Vec::new();
            found.visit(&value, &marks, &mut |leaf| seen.push(leaf.repr()));
            assert_eq!(seen.join(" "), leaves, "{text}");
        }
    }
}
