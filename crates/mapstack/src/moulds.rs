//! Layers that differ in what their templates printed, read once.

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
        let (common, words) = text.without_words();
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
