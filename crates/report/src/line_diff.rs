//! Lines that stay, go and come between two texts, found in bounded time.

use std::collections::HashMap;
use std::fmt::Write;

use similar::udiff::UnifiedHunkHeader;
use similar::{Algorithm, ChangeTag, DiffOp, capture_diff_slices, group_diff_ops};

/// The lines around a change of a patch.
const CONTEXT: usize = 3;

/// Texts with fewer lines together are always compared line by line.
const SMALL: usize = 4_000;

/// The most lines, times the lines that differ. Comparing takes time by both.
const MOST: usize = 40_000_000;

/// The steps from some lines to others. Where texts are long and differ much, all between their common beginning and
/// their common end is replaced as a whole.
pub(crate) fn steps(before: &[&str], after: &[&str]) -> Vec<DiffOp> {
    let begin = same(before.iter().zip(after));
    let (old, new) = (&before[begin..], &after[begin..]);
    let end = same(old.iter().rev().zip(new.iter().rev()));
    let (old, new) = (&old[..old.len() - end], &new[..new.len() - end]);
    let lines = old.len() + new.len();
    if lines <= SMALL || lines.saturating_mul(lines - 2 * anchors(old, new)) <= MOST {
        return capture_diff_slices(Algorithm::Myers, before, after);
    }
    let equal = |old_index, new_index, len| DiffOp::Equal {
        old_index,
        new_index,
        len,
    };
    let (old_len, new_len) = (old.len(), new.len());
    let (old_index, new_index) = (begin, begin);
    let middle = match (old_len, new_len) {
        (0, _) => DiffOp::Insert {
            old_index,
            new_index,
            new_len,
        },
        (_, 0) => DiffOp::Delete {
            old_index,
            old_len,
            new_index,
        },
        _ => DiffOp::Replace {
            old_index,
            old_len,
            new_index,
            new_len,
        },
    };
    let steps = [
        equal(0, 0, begin),
        middle,
        equal(begin + old_len, begin + new_len, end),
    ];
    let is_some = |step: &DiffOp| !step.old_range().is_empty() || !step.new_range().is_empty();
    steps.into_iter().filter(is_some).collect()
}

/// The number of pairs at the start that are equal.
fn same<'l>(pairs: impl Iterator<Item = (&'l &'l str, &'l &'l str)>) -> usize {
    pairs.take_while(|(old, new)| old == new).count()
}

/// The length of the longest sequence of lines that both have in this order, among those that are unique in each.
fn anchors(old: &[&str], new: &[&str]) -> usize {
    let (before, after) = (unique(old), unique(new));
    // The last places of the shortest sequences of each length.
    let mut ends: Vec<usize> = Vec::new();
    for (at, line) in old.iter().enumerate() {
        let is_unique = before.get(*line).is_some_and(|known| *known == Some(at));
        let Some(place) = after.get(*line).copied().flatten().filter(|_| is_unique) else {
            continue;
        };
        match ends.partition_point(|end| *end < place) {
            length if length == ends.len() => ends.push(place),
            length => ends[length] = place,
        }
    }
    ends.len()
}

/// The place of each line; nothing for one that is there more than once.
fn unique<'l>(lines: &[&'l str]) -> HashMap<&'l str, Option<usize>> {
    let mut places = HashMap::new();
    for (at, line) in lines.iter().enumerate() {
        let place = places.entry(*line).or_insert(Some(at));
        *place = place.filter(|known| *known == at);
    }
    places
}

/// The patch from a text to another, as `diff -u` prints it; nothing if they are the same.
pub(crate) fn patch(before: &str, after: &str, from: &str, to: &str) -> String {
    let [old, new] = [before, after].map(|text| text.split_inclusive('\n').collect::<Vec<_>>());
    let hunks = group_diff_ops(steps(&old, &new), CONTEXT);
    let hunks: Vec<_> = hunks.iter().filter(|hunk| !hunk.is_empty()).collect();
    if hunks.is_empty() || before == after {
        return String::new();
    }
    let mut text = format!("--- {from}\n+++ {to}\n");
    for hunk in hunks {
        // Writing to text does not fail.
        let _ = writeln!(text, "{}", UnifiedHunkHeader::new(hunk));
        for change in hunk.iter().flat_map(|step| step.iter_changes(&old, &new)) {
            text.push(match change.tag() {
                ChangeTag::Equal => ' ',
                ChangeTag::Delete => '-',
                ChangeTag::Insert => '+',
            });
            text.push_str(change.value());
            if !change.value().ends_with('\n') {
                text.push_str("\n\\ No newline at end of file\n");
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use similar::TextDiff;

    use super::*;

    fn numbered(lines: usize, line: impl Fn(usize) -> usize) -> String {
        (0..lines).map(|at| format!("{}\n", line(at))).collect()
    }

    #[test]
    fn patches_are_those_of_the_library() {
        let long = numbered(3_000, |at| at);
        let texts = [
            "",
            "a",
            "a\n",
            "a\nb\n",
            "b\na",
            "a\nb\nc\nd\ne\nf\ng\nh\ni\n",
            "x\nb\nc\nd\ne\nf\ng\nh\ny",
            &long,
            &long.replace("\n1500\n", "\nx\ny\n"),
            &(long.clone() + "z"),
        ];
        for before in texts {
            for after in texts {
                let diff = TextDiff::from_lines(before, after);
                let expected = diff.unified_diff().header("a/x", "b/x").to_string();
                assert_eq!(patch(before, after, "a/x", "b/x"), expected);
            }
        }
    }

    #[test]
    fn long_texts_that_differ_much_are_replaced_between_what_is_common() {
        let shuffled =
            |by: usize| "first\n".to_owned() + &numbered(20_011, |at| at * by % 20_011) + "last";
        let (before, after) = (shuffled(7_919), shuffled(10_007));
        let [old, new] = [&before, &after].map(|text| text.lines().collect::<Vec<_>>());
        let found = steps(&old, &new);
        assert_eq!(found.len(), 3, "{found:?}");
        // "first" and the 0 after it stay.
        assert_eq!(
            (found[0].old_range(), found[2].old_range().len()),
            (0..2, 1)
        );
        assert_eq!(steps(&old, &old).len(), 1);
        let none: [&str; 0] = [];
        assert_eq!((steps(&old, &none).len(), steps(&none, &old).len()), (1, 1));
    }

    #[test]
    fn long_texts_with_few_changes_are_compared_line_by_line() {
        let before = numbered(50_000, |at| at);
        let after = before
            .replace("\n100\n", "\nx\n")
            .replace("\n49000\n", "\n");
        let patch = patch(&before, &after, "a", "b");
        assert_eq!(patch.matches("@@ -").count(), 2, "{patch}");
        assert!(
            patch.contains("-100\n+x\n") && patch.contains("-49000\n"),
            "{patch}"
        );
    }
}
