//! Texts with source maps.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use mapstack_diagnostic::{Error, ErrorKind, Place};
use mapstack_salt_jinja::{OutputOrigin, SourceMap};
use mapstack_value::json::JsonError;
use mapstack_yaml::{Mark, Skeleton};

use crate::file::File;

/// A place of the renderer in a file that is shown by this name.
pub(crate) fn in_file(place: mapstack_pyobject::TemplatePlace, file: String) -> Place {
    Place {
        file,
        start: place.span.start as usize,
        end: place.span.end as usize,
        source: place.source,
    }
}

/// A text to be parsed, with source maps that lead back to its file.
#[derive(Clone)]
pub struct Text<'f> {
    pub(crate) file: Cow<'f, File>,
    pub(crate) text: Cow<'f, str>,
    /// The source map of each template stage, the first stage first.
    pub(crate) maps: Vec<SourceMap>,
    /// The text of the file, shared by all places.
    pub(crate) source: OnceLock<Arc<str>>,
}

impl fmt::Debug for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Text").field(&self.file.shown).finish()
    }
}

impl<'f> Text<'f> {
    pub(crate) fn new(file: &'f File, text: Cow<'f, str>, maps: Vec<SourceMap>) -> Self {
        Text {
            file: Cow::Borrowed(file),
            text,
            maps,
            source: OnceLock::new(),
        }
    }

    /// The unchanged text of a file.
    pub fn plain(file: &'f File, text: &'f str) -> Self {
        Text::new(file, Cow::Borrowed(text), Vec::new())
    }

    /// A text whose bytes have no place in the file.
    pub(crate) fn made(file: &'f File, text: String) -> Self {
        Text::rendered(file, text, SourceMap::default())
    }

    /// The source maps and the text, for the next template stage.
    pub(crate) fn into_source(self) -> (Vec<SourceMap>, Arc<str>) {
        (self.maps, self.text.into())
    }

    /// The output of a template.
    pub fn rendered(file: &'f File, text: String, map: SourceMap) -> Self {
        Text::new(file, Cow::Owned(text), vec![map])
    }

    /// Convert to an owned text.
    pub fn into_owned(self) -> Text<'static> {
        let file = Cow::Owned(self.file.into_owned());
        Text {
            file,
            text: Cow::Owned(self.text.into_owned()),
            maps: self.maps,
            source: self.source,
        }
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// True if the YAML may name one mapping at several places. Without an anchor and an alias it does not.
    #[must_use]
    pub fn may_have_aliases(&self) -> bool {
        self.text.contains('&') && self.text.contains('*')
    }

    /// The file's path, as a user would open it.
    pub fn shown(&self) -> &str {
        &self.file.shown
    }

    /// True if a byte of the text was computed, instead of copied from the file.
    pub fn is_computed(&self, offset: usize) -> bool {
        self.is_rendered()
            && self
                .locate(offset)
                .is_none_or(|(_, origin)| origin.is_computed())
    }

    /// True if a byte is the text of a value that an expression printed. Output of filters such as `json` does not
    /// count.
    pub fn is_text_of_value(&self, offset: usize) -> bool {
        self.locate(offset)
            .is_some_and(|(_, origin)| origin == OutputOrigin::Text)
    }

    /// The ranges that expressions of the last template stage printed, in order.
    fn printed(&self) -> impl Iterator<Item = Range<usize>> {
        let runs = || self.maps.last().into_iter().flat_map(SourceMap::runs);
        let ends = runs()
            .map(|(start, _)| start)
            .skip(1)
            .chain([self.text.len()]);
        runs()
            .zip(ends)
            .filter(|((_, origin), _)| origin.is_computed())
            .map(|((start, _), end)| start..end)
    }

    /// The text with letters in place of the words that expressions printed, and the words.
    #[must_use]
    pub fn without_words(&self) -> (Cow<'_, str>, Vec<&str>) {
        let whole = self.as_str();
        let (mut common, mut words, mut done) = (String::new(), Vec::new(), 0);
        for range in self.printed() {
            // The final line break belongs to the template, but counts as printed by the last expression.
            let printed = whole
                .get(range.clone())
                .map(|printed| printed.trim_end_matches('\n'));
            let Some(word) = printed.filter(|word| Skeleton::accepts(word)) else {
                continue;
            };
            let Some(hole) = Skeleton::hole(words.len()) else {
                break;
            };
            if common.is_empty() {
                common.reserve(whole.len() + 64);
            }
            common.push_str(&whole[done..range.start]);
            common.push(hole);
            words.push(word);
            done = range.start + word.len();
        }
        if words.is_empty() {
            return (whole.into(), words);
        }
        common.push_str(&whole[done..]);
        (common.into(), words)
    }

    /// The start of each part of the text that has one origin.
    pub fn run_starts(&self) -> impl Iterator<Item = usize> {
        let runs = self.maps.last().into_iter().flat_map(SourceMap::runs);
        runs.map(|(start, _)| start)
    }

    /// The bytes that the last template stage made from secrets, in order.
    pub fn secret(&self) -> &[Range<usize>] {
        self.maps.last().map_or(&[], SourceMap::secret)
    }

    /// True if the text is the output of a template.
    #[must_use]
    pub fn is_rendered(&self) -> bool {
        !self.maps.is_empty()
    }

    /// The place in the source for a byte of the text.
    pub fn place(&self, offset: usize) -> Place {
        match self.locate(offset) {
            Some((place, _)) => {
                let file = match &place.template {
                    Some(name) if **name != *self.file.path => format!("salt://{name}"),
                    _ => self.file.shown.clone(),
                };
                in_file(place, file)
            }
            // Nothing was printed at this offset, so the place is the file as a whole.
            None if self.is_rendered() => Place {
                file: self.file.shown.clone(),
                source: self.source(),
                start: 0,
                end: 0,
            },
            None => Place {
                file: self.file.shown.clone(),
                source: self.source(),
                start: offset,
                end: offset,
            },
        }
    }

    /// The text of the file.
    fn source(&self) -> Arc<str> {
        let source = self.source.get_or_init(|| match self.is_rendered() {
            true => self.file.text().unwrap_or_default().into(),
            false => (&*self.text).into(),
        });
        source.clone()
    }

    /// The place in the source for a byte of the text, traced through all stages.
    pub(crate) fn locate(
        &self,
        offset: usize,
    ) -> Option<(mapstack_pyobject::TemplatePlace, OutputOrigin)> {
        let mut found: Option<(mapstack_pyobject::TemplatePlace, OutputOrigin)> = None;
        let mut at = offset;
        for map in self.maps.iter().rev() {
            let (place, origin) = map.locate(at)?;
            let is_own = place.template.as_deref() == Some(&*self.file.path);
            at = place.span.start as usize;
            // The last stage that computed the byte decides its origin.
            let origin = match &found {
                Some((_, later)) if later.is_computed() => *later,
                _ => origin,
            };
            found = Some((place, origin));
            // The output of another file is not part of the text that earlier stages read.
            if !is_own {
                break;
            }
        }
        found
    }

    /// The place in the source for a mark.
    #[must_use]
    pub fn place_of_mark(&self, mark: Mark) -> Place {
        self.place(mark.offset(&self.text))
    }

    /// Convert a YAML error, with its place in the source.
    pub fn yaml_error(&self, e: &mapstack_yaml::Error) -> Error {
        let message = e.kind().with_lines(|mark| self.line_of(mark));
        let error = Error::new(ErrorKind::Yaml, message).caused_by(e.kind().clone());
        let Some(mark) = e.mark() else {
            return error.at(Some(self.place(0)));
        };
        self.placed(error, mark.line as usize, mark.offset(&self.text))
    }

    /// The line of a mark in the source, in the words of a message.
    fn line_of(&self, mark: Mark) -> String {
        let place = self.place_of_mark(mark);
        match place.file == self.file.shown {
            true => format!("on line {}", place.line()),
            false => format!("in {}:{}", place.file, place.line()),
        }
    }

    /// Convert a JSON error, with its place in the source. `start` is the offset of the JSON in the text.
    pub(crate) fn json_error(&self, e: &JsonError, start: usize) -> Error {
        let JsonError::Syntax {
            message,
            line,
            column,
        } = e
        else {
            return Error::new(ErrorKind::Json, e.to_string()).at(Some(self.place(start)));
        };
        let number = |n: &usize| u32::try_from(*n).unwrap_or(u32::MAX);
        let json = self.text.get(start..).unwrap_or_default();
        let at = start
            + Mark {
                line: number(line),
                column: number(column),
            }
            .offset(json);
        let lines_before = self
            .text
            .get(..start)
            .unwrap_or_default()
            .matches('\n')
            .count();
        self.placed(
            Error::new(ErrorKind::Json, format!("this is not JSON: {message}")),
            line + lines_before,
            at,
        )
    }

    /// Convert a TOML error, with its place in the source.
    pub(crate) fn toml_error(&self, e: &mapstack_functions::formats::toml::ReadError) -> Error {
        let before = self.text.get(..e.at).unwrap_or_default();
        let error = Error::new(ErrorKind::Toml, format!("this is not TOML: {e}"));
        self.placed(error, 1 + before.matches('\n').count(), e.at)
    }

    /// Add the place in the source, and the line of the rendered text, to an error.
    fn placed(&self, error: Error, line: usize, at: usize) -> Error {
        let error = error.at(Some(self.place(at)));
        match self.locate(at) {
            None => error,
            Some((_, origin)) => {
                let shown = self
                    .text
                    .lines()
                    .nth(line.saturating_sub(1))
                    .unwrap_or_default();
                let how = if origin.is_computed() {
                    ", printed by the expression above"
                } else {
                    ""
                };
                error.note(format!("line {line} of the rendered text{how}: {shown}"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_share_the_text_that_they_show() {
        let file = File {
            path: "f/a.yaml".into(),
            shown: "r/f/a.yaml".into(),
            bytes: Arc::from(&b"a: 1\nb: 2\n"[..]),
        };
        let plain = Text::plain(&file, file.text().unwrap());
        let made = Text::made(&file, "a: 1\n".into());
        for text in [plain, made] {
            let [first, second] = [0, 3].map(|offset| text.place(offset).source);
            assert!(Arc::ptr_eq(&first, &second));
            assert_eq!(&*first, "a: 1\nb: 2\n");
        }
    }
}
