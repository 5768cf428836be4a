//! The texts of layers, and positions in them.

use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use mapstack::Text;
use mapstack_diagnostic::Place;
use mapstack_value::Value;
use mapstack_yaml::{
    Limits, Lines, Mark, TouchedScalars, load_aggregating, load_marked, load_rendered,
};

use crate::tree::At;

/// The text of a layer, with the file and the template that it came from.
pub struct LayerText {
    text: Text<'static>,
    /// The offset of each line.
    lines: OnceLock<Lines>,
    /// The scalars that a template made from secrets.
    secret: OnceLock<TouchedScalars>,
    /// The files that parts of it come from: every value of the text asks for them.
    files: OnceLock<BTreeSet<String>>,
    /// True if it is no YAML: a line of it is secret as a whole.
    is_lines: bool,
}

impl fmt::Debug for LayerText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text.shown())
    }
}

impl LayerText {
    pub(crate) fn new(text: Text<'static>) -> Self {
        LayerText {
            text,
            lines: OnceLock::new(),
            secret: OnceLock::new(),
            files: OnceLock::new(),
            is_lines: false,
        }
    }

    /// A text that is read line by line.
    pub(crate) fn of_lines(text: Text<'static>) -> Self {
        LayerText {
            is_lines: true,
            ..LayerText::new(text)
        }
    }

    /// True if two texts are the same file as it is. The output of a template is never the same as another: a source map
    /// can differ where the text does not.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        let is_plain = !self.is_rendered() && !other.is_rendered();
        is_plain && self.text.shown() == other.text.shown() && self.as_str() == other.as_str()
    }

    /// The position of the whole text, with the positions of everything inside; without the latter if the text is
    /// not valid YAML.
    pub(crate) fn whole(self) -> At {
        let marks = load_marked(self.text.as_str(), &Limits::default())
            .map(|(_, marks)| marks)
            .unwrap_or_default();
        At::Text(Arc::new(self), marks)
    }

    /// The positions of an sls in the text that was read, if the data is what was read there.
    pub(crate) fn marked(text: &Text<'static>, value: &Value) -> Option<At> {
        let readers = [load_rendered, load_aggregating];
        let loaded = readers
            .into_iter()
            .filter_map(|read| read(text.as_str(), &Limits::default()).ok())
            .find(|loaded| loaded.value.is_same(value))?;
        Some(At::Text(
            Arc::new(LayerText::new(text.clone())),
            loaded.marks,
        ))
    }

    /// The text that YAML parsed: the file itself, or the output of its template.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.text.as_str()
    }

    /// Name the files that parts of the text come from.
    pub(crate) fn each_file(&self, name: &mut dyn FnMut(&str)) {
        let files = self.files.get_or_init(|| {
            let starts = self.text.run_starts();
            let mut files: BTreeSet<String> =
                starts.map(|start| self.text.place(start).file).collect();
            files.insert(self.text.shown().to_owned());
            files
        });
        files.iter().for_each(|file| name(file));
    }

    /// True if the text is the output of a template.
    #[must_use]
    pub fn is_rendered(&self) -> bool {
        self.text.is_rendered()
    }

    /// The place of a mark in the source file, and whether a template computed the text there.
    #[must_use]
    pub fn spot(&self, mark: Mark) -> (Place, bool) {
        let offset = self.offset(mark);
        (self.text.place(offset), self.text.is_computed(offset))
    }

    /// True if a template made the scalar at a mark from a secret.
    #[must_use]
    pub fn is_secret(&self, mark: Mark) -> bool {
        let ranges = self.text.secret();
        if self.is_lines {
            let start = self.offset(Mark { column: 1, ..mark });
            let length = self.as_str()[start..].find('\n');
            let end = length.map_or(self.as_str().len(), |length| start + length);
            return ranges
                .iter()
                .any(|range| range.start < end && range.end > start);
        }
        let leaves = || match load_marked(self.text.as_str(), &Limits::default()) {
            Ok((value, marks)) => {
                TouchedScalars::of(&value, &marks, ranges, |mark| self.offset(mark))
            }
            Err(_) => TouchedScalars::default(),
        };
        !ranges.is_empty() && self.secret.get_or_init(leaves).has(mark)
    }

    /// True if a single expression printed all of these bytes as plain text, however YAML then reads it. The output
    /// of a filter such as `json` does not count as plain text.
    #[must_use]
    pub fn is_text_of_value(&self, bytes: std::ops::Range<usize>) -> bool {
        let (Some(last), text) = (bytes.end.checked_sub(1), &self.text) else {
            return false;
        };
        text.is_text_of_value(bytes.start) && text.place(bytes.start) == text.place(last)
    }

    /// The ranges that expressions printed, each with its place.
    pub(crate) fn printed(&self) -> Vec<(Range<usize>, Place)> {
        let starts: Vec<usize> = self.text.run_starts().collect();
        let ends = starts.iter().copied().skip(1);
        let ends = ends.chain([self.text.as_str().len()]);
        let runs = starts.iter().copied().zip(ends);
        let printed = runs.filter(|(start, _)| self.text.is_computed(*start));
        printed
            .map(|(start, end)| (start..end, self.text.place(start)))
            .collect()
    }

    /// The byte offset of a mark.
    #[must_use]
    pub fn offset(&self, mark: Mark) -> usize {
        let text = self.text.as_str();
        self.lines
            .get_or_init(|| Lines::of(text))
            .offset(text, mark)
    }
}
