//! Texts that occur again and again, such as the keys of facts.

use std::collections::HashSet;

use foldhash::fast::RandomState;

use crate::Str;

/// So many texts are remembered at most: the keys of minions' facts are some hundreds.
const MAX_TEXTS: usize = 1024;

/// Longer texts are not remembered, being rarely the same.
const MAX_BYTES: usize = 48;

/// Texts that were seen. All are forgotten when there are too many, which those that are seen all the
/// time survive by being seen again.
#[derive(Default)]
pub(crate) struct Texts(HashSet<Str, RandomState>);

impl Texts {
    /// The text, shared if it was seen lately.
    pub fn get(&mut self, text: &str) -> Str {
        if text.len() > MAX_BYTES {
            return text.into();
        }
        if let Some(known) = self.0.get(text) {
            return known.clone();
        }
        if self.0.len() >= MAX_TEXTS {
            self.0.clear();
        }
        let text = Str::from(text);
        self.0.insert(text.clone());
        text
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn short_texts_are_shared_while_they_are_remembered() {
        let mut texts = Texts::default();
        let first = texts.get("os_family");
        assert!(Arc::ptr_eq(&first, &texts.get("os_family")));
        let long = "x".repeat(MAX_BYTES + 1);
        assert!(!Arc::ptr_eq(&texts.get(&long), &texts.get(&long)));
        for n in 0..10 * MAX_TEXTS {
            assert_eq!(*texts.get(&n.to_string()), *n.to_string());
            assert_eq!(texts.get("os_family"), first);
            assert!(texts.0.len() <= MAX_TEXTS);
        }
    }
}
