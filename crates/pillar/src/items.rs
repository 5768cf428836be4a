//! The items of a rendered config file.

use mapstack_value::Value;
use mapstack_yaml::{Limits, Marks};

use super::StackKind;
use mapstack::Text;
use mapstack_diagnostic::{Error, ErrorKind, Result};

/// The name of a data file, or a pattern.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct DataFileItem {
    pub name: String,
    /// The offset in the rendered text.
    pub start: usize,
}

/// The items of a config file: those of a YAML list, else its lines (Salt: `_parse_stack_cfg`).
pub(crate) fn items(text: &Text<'_>, kind: StackKind) -> Result<Vec<DataFileItem>> {
    let whole = text.as_str();
    let Ok((Value::List(listed), marks)) = mapstack_yaml::load_marked(whole, &Limits::default())
    else {
        return Ok(lines(whole)
            .map(|(start, line)| DataFileItem {
                name: line.into(),
                start,
            })
            .collect());
    };
    let item = |(i, item): (usize, &Value)| {
        let start = marks
            .child(i)
            .map_or(0, |child| Marks::mark(child).offset(whole));
        match item {
            Value::Str(name) => Ok(DataFileItem {
                name: name.to_string(),
                start,
            }),
            other => {
                let what = other.kind().described();
                let message = format!(
                    "a data file of {} is named by text, not by {what}",
                    kind.title()
                );
                let error = Error::new(ErrorKind::Options, message).at(Some(text.place(start)));
                Err(error.help("put the name in quotes"))
            }
        }
    };
    listed.iter().enumerate().map(item).collect()
}

/// Lines without what ends them, and where they start (Python: `str.splitlines`).
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut start = 0;
    std::iter::from_fn(move || {
        let rest = text.get(start..).filter(|rest| !rest.is_empty())?;
        let end = rest.find(ENDS_OF_LINES);
        let line = &rest[..end.unwrap_or(rest.len())];
        let after = &rest[line.len()..];
        let break_len = match after.starts_with("\r\n") {
            true => 2,
            false => after.chars().next().map_or(0, char::len_utf8),
        };
        let found = (start, line);
        start += line.len() + break_len;
        Some(found)
    })
}

const ENDS_OF_LINES: &[char] = &[
    '\n', '\r', '\u{b}', '\u{c}', '\u{1c}', '\u{1d}', '\u{1e}', '\u{85}', '\u{2028}', '\u{2029}',
];

#[cfg(test)]
mod tests {
    use super::lines;

    #[test]
    fn lines_end_where_python_s_do() {
        for (text, expected) in [
            ("", vec![]),
            ("a", vec![(0, "a")]),
            ("a\n", vec![(0, "a")]),
            ("a\n\nb", vec![(0, "a"), (2, ""), (3, "b")]),
            ("a\r\nb\rc", vec![(0, "a"), (3, "b"), (5, "c")]),
            ("\n", vec![(0, "")]),
            ("a\u{2028}b\u{85}c", vec![(0, "a"), (4, "b"), (7, "c")]),
            ("a\tb \u{b} c", vec![(0, "a\tb "), (5, " c")]),
        ] {
            assert_eq!(lines(text).collect::<Vec<_>>(), expected, "{text:?}");
        }
    }
}
