//! The texts that layers stand in, and places in them.

use std::fmt;
use std::sync::{Arc, OnceLock};

use mapstack::Text;
use mapstack::secrets::SecretLeaves;
use mapstack_diagnostic::Place;
use mapstack_yaml::{Limits, Lines, Mark, load_marked};

use crate::tree::At;

/// The text of a layer, which knows the file and the template it came from.
pub struct LayerText {
    text: Text<'static>,
    /// Where each line starts.
    lines: OnceLock<Lines>,
    /// Which scalars a template made of secrets.
    secret: OnceLock<SecretLeaves>,
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
        }
    }

    /// All of it, with the positions of everything inside; of nothing if it is no YAML.
    pub(crate) fn whole(self) -> At {
        let marks = load_marked(self.text.as_str(), &Limits::default())
            .map(|(_, marks)| marks)
            .unwrap_or_default();
        At::Text(Arc::new(self), marks)
    }

    /// The text that was read as YAML: the file's own, or what its template printed.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.text.as_str()
    }

    /// Whether a template printed it.
    #[must_use]
    pub fn is_rendered(&self) -> bool {
        self.text.is_rendered()
    }

    /// The place behind a mark, and whether the text at it was computed by a template.
    #[must_use]
    pub fn spot(&self, mark: Mark) -> (Place, bool) {
        let offset = self.offset(mark);
        (self.text.place(offset), self.text.is_computed(offset))
    }

    /// Whether a template made the scalar at a mark of a secret.
    #[must_use]
    pub fn is_secret(&self, mark: Mark) -> bool {
        let ranges = self.text.secret();
        let leaves = || match load_marked(self.text.as_str(), &Limits::default()) {
            Ok((value, marks)) => {
                SecretLeaves::of(&value, &marks, ranges, |mark| self.offset(mark))
            }
            Err(_) => SecretLeaves::default(),
        };
        !ranges.is_empty() && self.secret.get_or_init(leaves).has(mark)
    }

    /// Whether one expression printed all of these bytes, and printed text: of what YAML makes of it,
    /// nobody was asked. Data that a filter such as `json` wrote out is no text.
    #[must_use]
    pub fn is_text_of_value(&self, bytes: std::ops::Range<usize>) -> bool {
        let (Some(last), text) = (bytes.end.checked_sub(1), &self.text) else {
            return false;
        };
        text.is_text_of_value(bytes.start) && text.place(bytes.start) == text.place(last)
    }

    /// The byte at a mark.
    #[must_use]
    pub fn offset(&self, mark: Mark) -> usize {
        let text = self.text.as_str();
        self.lines
            .get_or_init(|| Lines::of(text))
            .offset(text, mark)
    }
}
