//! The lines of a managed file: each with its place, its state, and the values of its expressions.

use mapstack::value::{Key, Value};
use mapstack_lineage::{Ancestry, FileLines};

use super::ExplainReport;
use super::blame::{aligned, described};
use super::history::StyledLine;
use crate::terminal::Styled;

/// The key of the text of a line.
const TEXT: &str = "text";

/// The path of the text of a line, or of all that is known about it.
#[must_use]
pub fn line_path(lines: &FileLines, number: u64) -> Vec<Key> {
    let number = i64::try_from(number).unwrap_or(i64::MAX);
    vec![Key::from(&*lines.path), Key::from(number)]
}

impl ExplainReport<'_> {
    /// For people: a line, its state, its place, and each expression that printed a part of it.
    pub fn file_line(&self, lines: &FileLines, number: u64) -> Styled {
        let mut text = Styled::default();
        let path = line_path(lines, number);
        let of_text = [&path[..], &[TEXT.into()]].concat();
        let Some(known) = self.at(&of_text) else {
            return text;
        };
        let shown = self.line(&of_text, &known);
        text.plain(&format!("{}:{number}: {shown}\n\n", lines.path));
        for state in &lines.explained.states {
            self.head(state, &mut text);
        }
        text.plain("\n");
        let own = Ancestry {
            printed: Vec::new(),
            inputs: Vec::new(),
            ..known
        };
        let mut all = self.origins(&of_text, &own);
        for (path, known) in self.expressions(&path) {
            let source = path.last().map(ToString::to_string).unwrap_or_default();
            let source = self.secrets.shown_key(&source).into_owned();
            all.extend([StyledLine::default(), StyledLine::of(format!("{source}:"))]);
            all.extend(self.origins(&path, &known));
        }
        all.iter().for_each(|line| line.add_to(&mut text));
        text
    }

    /// The expressions on a line.
    fn expressions(&self, line: &[Key]) -> Vec<(Vec<Key>, Ancestry)> {
        let mut all = Vec::new();
        self.lineage.visit_below(line, &mut |path, known| {
            let is_one = path.len() == line.len() + 1;
            if is_one && path.last().and_then(Key::as_str) != Some(TEXT) {
                all.push((path.to_vec(), known.clone()));
            }
        });
        all
    }

    fn line(&self, path: &[Key], known: &Ancestry) -> String {
        match &*self.now(path, &known.value) {
            Value::Str(text) => text.to_string(),
            other => other.to_string(),
        }
    }

    /// For people: all lines, each with its origin.
    pub fn file(&self, lines: &FileLines) -> Styled {
        let mut rows = Vec::new();
        let below = [Key::from(&*lines.path)];
        self.lineage.visit_below(&below, &mut |path, known| {
            let is_line = matches!(path, [_, Key::Int(_), last] if last.as_str() == Some(TEXT));
            if is_line {
                rows.push((self.line(path, known), described(known)));
            }
        });
        let mut text = Styled::default();
        for state in &lines.explained.states {
            self.head(state, &mut text);
        }
        text.plain("\n");
        text.append(&aligned(
            rows.into_iter().map(|(line, origin)| (line, Some(origin))),
        ));
        text
    }
}
