//! Parses rendered texts that differ only in printed words once.

use std::sync::Arc;

use mapstack_value::Value;
use mapstack_yaml::{Error, Skeleton};

use crate::by_text::ByText;
use crate::text::Text;

/// Skeletons of rendered texts. The key is the text with letters in place of the words that expressions printed.
pub(crate) struct SkeletonCache {
    known: ByText<CachedSkeleton>,
    parse: Parse,
}

/// Parses a text with this many holes.
type Parse = fn(&str, usize) -> Option<Skeleton>;

#[derive(Clone)]
enum CachedSkeleton {
    /// The text occurred once. Most texts never occur again.
    Once,
    /// The parsed text with holes for words.
    Skeleton(Arc<Skeleton>),
    /// The text cannot be parsed independently of the words.
    Nothing,
}

/// Limit on the total size of the texts; the parsed values take about ten times as much memory.
const MAX_BYTES: usize = 4 << 20;

impl SkeletonCache {
    pub fn new(parse: Parse) -> Self {
        let known = ByText::new(MAX_BYTES);
        SkeletonCache { known, parse }
    }

    /// Parse a text as YAML.
    ///
    /// # Errors
    /// As [`mapstack_yaml::load`].
    pub fn load(&self, text: &Text<'_>) -> Result<Value, Error> {
        self.fill(text)
            .map_or_else(|| mapstack_yaml::load(text.as_str()), Ok)
    }

    /// The data of a text, if texts that differ from it only in words were seen before.
    pub fn fill(&self, text: &Text<'_>) -> Option<Value> {
        let (common, words) = text.without_words();
        if words.is_empty() {
            return None;
        }
        self.skeleton(&common, words.len())?.fill(&words)
    }

    /// The skeleton of a text that occurred before.
    fn skeleton(&self, common: &str, holes: usize) -> Option<Arc<Skeleton>> {
        let learnt = match self.known.get(common) {
            Some(CachedSkeleton::Skeleton(skeleton)) => return Some(skeleton),
            Some(CachedSkeleton::Nothing) => return None,
            Some(CachedSkeleton::Once) => (self.parse)(common, holes)
                .map_or(CachedSkeleton::Nothing, |skeleton| {
                    CachedSkeleton::Skeleton(skeleton.into())
                }),
            None => CachedSkeleton::Once,
        };
        self.known.put(common, learnt.clone());
        match learnt {
            CachedSkeleton::Skeleton(skeleton) => Some(skeleton),
            CachedSkeleton::Once | CachedSkeleton::Nothing => None,
        }
    }
}
