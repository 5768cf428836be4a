//! Where something stands in a text.

use std::fmt;
use std::sync::Arc;

/// The line and the column, in characters, of a byte of a text; both count from 1.
///
/// A byte behind the text, or inside a character, counts as the text's end.
///
/// ```
/// assert_eq!(mapstack_diagnostic::line_and_column("a\nbé c", 6), (2, 4));
/// ```
#[must_use]
pub fn line_and_column(text: &str, byte: usize) -> (usize, usize) {
    let before = text.get(..byte).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |i| i + 1);
    (
        before.matches('\n').count() + 1,
        before[line_start..].chars().count() + 1,
    )
}

/// A place in a text.
#[derive(Clone, PartialEq)]
pub struct Place {
    /// The file, as a person would open it.
    pub file: String,
    /// Its text.
    pub source: Arc<str>,
    /// First byte concerned.
    pub start: usize,
    /// One past the last byte concerned.
    pub end: usize,
}

impl Place {
    /// A place in a file that is not all text: `at` finds it in what can be read of the bytes.
    ///
    /// ```
    /// let place = mapstack_diagnostic::Place::in_bytes("x", b"a\n\xff", |text| text.find('\u{fffd}').unwrap());
    /// assert_eq!(place.to_string(), "x:2:1");
    /// ```
    pub fn in_bytes(file: &str, bytes: &[u8], at: impl FnOnce(&str) -> usize) -> Self {
        let source: Arc<str> = String::from_utf8_lossy(bytes).into();
        let start = at(&source);
        Place {
            file: file.into(),
            source,
            start,
            end: start,
        }
    }

    /// The line, from 1.
    #[must_use]
    pub fn line(&self) -> usize {
        line_and_column(&self.source, self.start).0
    }

    /// The column in characters, from 1.
    #[must_use]
    pub fn column(&self) -> usize {
        line_and_column(&self.source, self.start).1
    }
}

impl fmt::Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line(), self.column())
    }
}
