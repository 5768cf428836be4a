//! Texts that know the source they came from.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use mapstack_diagnostic::{Error, ErrorKind, Place};
use mapstack_render::jinja::{Origin, SourceMap};
use mapstack_value::json::JsonError;
use mapstack_yaml::{Mark, Mould};

use crate::file::File;

/// A text to be read as YAML, which knows the source it came from.
#[derive(Clone)]
pub struct Text<'f> {
    pub(crate) file: Cow<'f, File>,
    pub(crate) text: Cow<'f, str>,
    /// One map for each template stage that made it, the first stage first.
    pub(crate) maps: Vec<SourceMap>,
    /// What places show of the file, made once for all of them.
    pub(crate) source: OnceLock<Arc<str>>,
}

impl fmt::Debug for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Text").field(&self.file.shown).finish()
    }
}

impl<'f> Text<'f> {
    /// A file as it is.
    pub fn plain(file: &'f File, text: &'f str) -> Self {
        Text {
            file: Cow::Borrowed(file),
            text: Cow::Borrowed(text),
            maps: Vec::new(),
            source: OnceLock::new(),
        }
    }

    /// A text that no place of the file stands for.
    pub(crate) fn made(file: &'f File, text: String) -> Self {
        Text {
            file: Cow::Borrowed(file),
            text: Cow::Owned(text),
            maps: vec![SourceMap::default()],
            source: OnceLock::new(),
        }
    }

    /// What the next template stage needs: where the text came from, and the text.
    pub(crate) fn into_source(self) -> (Vec<SourceMap>, Arc<str>) {
        (self.maps, self.text.into())
    }

    /// What a template printed.
    pub fn rendered(file: &'f File, text: String, map: SourceMap) -> Self {
        Text {
            file: Cow::Borrowed(file),
            text: Cow::Owned(text),
            maps: vec![map],
            source: OnceLock::new(),
        }
    }

    /// The same, for keeping.
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

    /// The file, as a person would open it.
    pub fn shown(&self) -> &str {
        &self.file.shown
    }

    /// Whether a byte of the text is not literally in the file.
    pub fn is_computed(&self, offset: usize) -> bool {
        self.is_rendered()
            && self
                .locate(offset)
                .is_none_or(|(_, origin)| origin.is_computed())
    }

    /// Whether an expression printed a byte as the text of a value, and not as data written out.
    pub fn is_text_of_value(&self, offset: usize) -> bool {
        self.locate(offset)
            .is_some_and(|(_, origin)| origin == Origin::Text)
    }

    /// Where expressions of the last template stage printed something, in order.
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

    /// A text with letters in place of the words that expressions printed, and the words.
    #[must_use]
    pub fn without_words(&self) -> (Cow<'_, str>, Vec<&str>) {
        let whole = self.as_str();
        let (mut common, mut words, mut done) = (String::new(), Vec::new(), 0);
        for range in self.printed() {
            // The last line's break belongs to nothing else than what was printed last.
            let printed = whole
                .get(range.clone())
                .map(|printed| printed.trim_end_matches('\n'));
            let Some(word) = printed.filter(|word| Mould::takes(word)) else {
                continue;
            };
            let Some(hole) = Mould::hole(words.len()) else {
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

    /// The bytes that the last template stage is known to have made of secrets, in order.
    pub fn secret(&self) -> &[Range<usize>] {
        self.maps.last().map_or(&[], SourceMap::secret)
    }

    /// Whether a template made it.
    #[must_use]
    pub fn is_rendered(&self) -> bool {
        !self.maps.is_empty()
    }

    /// The place in the source behind a byte of the text.
    pub fn place(&self, offset: usize) -> Place {
        match self.locate(offset) {
            Some((place, _)) => {
                let file = match &place.template {
                    Some(name) if **name != *self.file.path => format!("salt://{name}"),
                    _ => self.file.shown.clone(),
                };
                Place {
                    file,
                    source: place.source,
                    start: place.span.start as usize,
                    end: place.span.end as usize,
                }
            }
            // Nothing was printed there: the file as a whole is what is wrong.
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

    /// The file's own text.
    fn source(&self) -> Arc<str> {
        let source = self.source.get_or_init(|| match self.is_rendered() {
            true => self.file.text().unwrap_or_default().into(),
            false => (&*self.text).into(),
        });
        source.clone()
    }

    /// The source behind a byte of the text, through every stage.
    pub(crate) fn locate(&self, offset: usize) -> Option<(mapstack_render::Place, Origin)> {
        let mut found: Option<(mapstack_render::Place, Origin)> = None;
        let mut at = offset;
        for map in self.maps.iter().rev() {
            let (place, origin) = map.locate(at)?;
            let is_own = place.template.as_deref() == Some(&*self.file.path);
            at = place.span.start as usize;
            // The stage that ran last knows best what it printed.
            let origin = match &found {
                Some((_, later)) if later.is_computed() => *later,
                _ => origin,
            };
            found = Some((place, origin));
            // What another file printed is not in the text that this stage read.
            if !is_own {
                break;
            }
        }
        found
    }

    /// The place in the source behind a mark.
    #[must_use]
    pub fn place_of_mark(&self, mark: Mark) -> Place {
        self.place(mark.offset(&self.text))
    }

    /// A YAML error, told in the source that produced the text.
    pub fn yaml_error(&self, e: &mapstack_yaml::Error) -> Error {
        let error = Error::new(ErrorKind::Yaml, e.kind().to_string()).caused_by(e.kind().clone());
        let Some(mark) = e.mark() else {
            return error.at(Some(self.place(0)));
        };
        self.placed(error, mark.line as usize, mark.offset(&self.text))
    }

    /// A JSON error, told in the source; `start` is where the JSON begins in the text.
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

    /// An error at a byte of the text, told in the source.
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
