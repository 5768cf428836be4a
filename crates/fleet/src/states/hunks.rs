//! The parts of two texts that differ, by lines.

use std::ops::Range;

use similar::{DiffOp, TextDiff};

/// The numbers of lines of the earlier and of the later text that take the place of each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Hunk(pub [Range<usize>; 2]);

/// Texts of more lines are not compared.
const MAX_LINES: usize = 20_000;

/// The lines that go and come.
pub(super) fn hunks([old, new]: [&str; 2]) -> Vec<Hunk> {
    let lines = |text: &'_ str| text.split('\n').count();
    if lines(old).max(lines(new)) > MAX_LINES {
        return Vec::new();
    }
    let [before, after]: [Vec<&str>; 2] = [old, new].map(|text| text.split('\n').collect());
    let diff = TextDiff::from_slices(&before, &after);
    let changed = diff.ops().iter().filter_map(|op| match op {
        DiffOp::Equal { .. } => None,
        op => Some(Hunk([op.old_range(), op.new_range()])),
    });
    changed.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_take_the_place_of_others_are_one_part() {
        let found = hunks(["a\nb\nc\n", "a\nx\ny\nc\nd\n"]);
        assert_eq!(found, [Hunk([1..2, 1..3]), Hunk([3..3, 4..5])]);
        assert_eq!(hunks(["a\n", "a\n"]), []);
    }
}
