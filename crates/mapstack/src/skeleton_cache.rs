//! Parses rendered texts that differ only in printed words once.

use std::sync::Arc;

use mapstack_value::Value;
use mapstack_yaml::{Error, Skeleton};

use crate::by_text::ByText;
use crate::text::Text;

/// Skeletons of rendered texts. The key is the text with letters in place of the words that expressions printed.
pub(crate) struct SkeletonCache(ByText<Known>);

#[derive(Clone)]
enum Known {
    /// The text occurred once. Most texts never occur again.
    Once,
    /// The parsed text with holes for words.
    Skeleton(Arc<Skeleton>),
    /// The text cannot be parsed independently of the words.
    Nothing,
}

/// Limit on the total size of the texts; the parsed values take about ten times as much memory.
const MAX_BYTES: usize = 4 << 20;

impl Default for SkeletonCache {
    fn default() -> Self {
        SkeletonCache(ByText::new(MAX_BYTES))
    }
}

impl SkeletonCache {
    /// Parse a text as YAML.
    ///
    /// # Errors
    /// As [`mapstack_yaml::load`].
    pub fn load(&self, text: &Text<'_>) -> Result<Value, Error> {
        let (common, words) = text.without_words();
        let known = (!words.is_empty())
            .then(|| self.skeleton(&common, words.len()))
            .flatten();
        known
            .and_then(|skeleton| skeleton.fill(&words))
            .map_or_else(|| mapstack_yaml::load(text.as_str()), Ok)
    }

    /// The skeleton of a text that occurred before.
    fn skeleton(&self, common: &str, holes: usize) -> Option<Arc<Skeleton>> {
        let learnt = match self.0.get(common) {
            Some(Known::Skeleton(skeleton)) => return Some(skeleton),
            Some(Known::Nothing) => return None,
            Some(Known::Once) => Skeleton::parse(common, holes)
                .map_or(Known::Nothing, |skeleton| Known::Skeleton(skeleton.into())),
            None => Known::Once,
        };
        self.0.put(common, learnt.clone());
        match learnt {
            Known::Skeleton(skeleton) => Some(skeleton),
            Known::Once | Known::Nothing => None,
        }
    }
}
