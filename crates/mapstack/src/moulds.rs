//! Layers that differ in what their templates printed, read once.

use std::borrow::Cow;
use std::sync::Arc;

use mapstack_value::Value;
use mapstack_yaml::{Error, Mould};

use crate::by_text::ByText;
use crate::text::Text;

/// What was learnt of rendered texts by what they have in common: the text with letters in place of the words
/// that expressions printed.
pub(crate) struct Moulds(ByText<Known>);

#[derive(Clone)]
enum Known {
    /// It was met once, which is all that most texts are.
    Once,
    /// What words can be put into.
    Mould(Arc<Mould>),
    /// There is no such thing for this text.
    Nothing,
}

/// The most text that is kept; what is made of it takes some ten times as much.
const MAX_BYTES: usize = 4 << 20;

impl Default for Moulds {
    fn default() -> Self {
        Moulds(ByText::new(MAX_BYTES))
    }
}

impl Moulds {
    /// Read a text as YAML.
    ///
    /// # Errors
    /// As [`mapstack_yaml::load`].
    pub fn load(&self, text: &Text<'_>) -> Result<Value, Error> {
        let (common, words) = without_words(text);
        let known = (!words.is_empty())
            .then(|| self.mould(&common, words.len()))
            .flatten();
        known
            .and_then(|mould| mould.fill(&words))
            .map_or_else(|| mapstack_yaml::load(text.as_str()), Ok)
    }

    /// The mould of a text that was met before.
    fn mould(&self, common: &str, holes: usize) -> Option<Arc<Mould>> {
        let learnt = match self.0.get(common) {
            Some(Known::Mould(mould)) => return Some(mould),
            Some(Known::Nothing) => return None,
            Some(Known::Once) => Mould::read(common, holes)
                .map_or(Known::Nothing, |mould| Known::Mould(mould.into())),
            None => Known::Once,
        };
        self.0.put(common, learnt.clone());
        match learnt {
            Known::Mould(mould) => Some(mould),
            Known::Once | Known::Nothing => None,
        }
    }
}

/// A text with letters in place of the words that expressions printed, and the words.
pub(crate) fn without_words<'t>(text: &'t Text<'_>) -> (Cow<'t, str>, Vec<&'t str>) {
    let whole = text.as_str();
    let (mut common, mut words, mut done) = (String::new(), Vec::new(), 0);
    for range in text.printed() {
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
