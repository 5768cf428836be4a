//! Values by their paths as an outline: openings, values and ends.

use serde::Serialize;

use crate::page::ValueRow;

/// A line of the outline.
#[derive(Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum OutlineLine<'r> {
    /// Something with values in it begins.
    Open {
        key: &'r str,
        /// The number of values in it.
        count: usize,
    },
    /// A value, by its place among the rows.
    Leaf { key: &'r str, row: usize },
    /// The end of the last opening.
    Close,
}

/// The outline of rows. Rows with a common beginning follow each other.
pub fn outline(rows: &[ValueRow]) -> Vec<OutlineLine<'_>> {
    let mut lines = Vec::new();
    // The open entries: their keys, and their lines.
    let mut open: Vec<(&str, usize)> = Vec::new();
    for (row, ValueRow { path, .. }) in rows.iter().enumerate() {
        let (last, above) = path
            .split_last()
            .map_or(("", &[][..]), |(last, above)| (last.as_str(), above));
        let common = open
            .iter()
            .zip(above)
            .take_while(|((key, _), own)| key == own)
            .count();
        for _ in common..open.len() {
            lines.push(OutlineLine::Close);
        }
        open.truncate(common);
        for key in above.iter().skip(common) {
            open.push((key, lines.len()));
            lines.push(OutlineLine::Open { key, count: 0 });
        }
        for (_, at) in &open {
            if let Some(OutlineLine::Open { count, .. }) = lines.get_mut(*at) {
                *count += 1;
            }
        }
        lines.push(OutlineLine::Leaf { key: last, row });
    }
    lines.extend(open.iter().map(|_| OutlineLine::Close));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_that_opens_closes_around_what_is_in_it() {
        let row = |path: &str| ValueRow {
            path: path.split(':').map(Into::into).collect(),
            ..ValueRow::default()
        };
        let rows = ["a:b:c", "a:b:d", "a:e", "f", "g:h"].map(row);
        let shown: Vec<String> = outline(&rows)
            .iter()
            .map(|line| match line {
                OutlineLine::Open { key, count } => format!("{key}({count}"),
                OutlineLine::Leaf { key, row } => format!("{key}={row}"),
                OutlineLine::Close => ")".into(),
            })
            .collect();
        assert_eq!(shown.join(" "), "a(3 b(2 c=0 d=1 ) e=2 ) f=3 g(1 h=4 )");
        assert_eq!(
            outline(&[ValueRow::default()]),
            [OutlineLine::Leaf { key: "", row: 0 }]
        );
    }
}
