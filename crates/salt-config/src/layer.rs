//! The options that files set, and how one file's options come over another's.

use std::collections::HashMap;

use mapstack_merge::{Options, Strategy, merge};
use mapstack_value::{Key, Map, Value};

use super::file::{ConfFile, OptionPlace};

/// Options and where they were set.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct OptionLayer {
    pub options: Map,
    settings: HashMap<Key, Vec<OptionPlace>>,
}

impl From<ConfFile> for OptionLayer {
    fn from(file: ConfFile) -> Self {
        let settings = file
            .options
            .keys()
            .cloned()
            .zip(file.settings.into_iter().map(|one| vec![one]))
            .collect();
        OptionLayer {
            options: file.options,
            settings,
        }
    }
}

impl OptionLayer {
    /// The settings of an option: one place, or several whose values were merged.
    pub fn settings(&self, name: &Key) -> &[OptionPlace] {
        self.settings.get(name).map_or(&[], Vec::as_slice)
    }

    /// Let another layer's options replace these (Python: `dict.update`).
    pub fn update(&mut self, other: OptionLayer) {
        self.options.extend(
            other
                .options
                .iter()
                .map(|(key, value)| (key.clone(), value.clone())),
        );
        self.settings.extend(other.settings);
    }

    /// Merge another layer into this one: mappings at any depth, lists one after the other without what was there
    /// (Salt: `dictupdate.update(self, other, True, True)`).
    pub fn merge(&mut self, other: OptionLayer) {
        self.add_schedule(&other);
        for (key, settings) in other.settings {
            let joined = matches!(
                (self.options.get(&key), other.options.get(&key)),
                (Some(Value::Map(_)), Some(Value::Map(_)))
                    | (Some(Value::List(_)), Some(Value::List(_)))
            );
            let mine = self.settings.entry(key).or_default();
            if !joined {
                mine.clear();
            }
            mine.extend(settings);
        }
        let options = Options {
            strategy: Strategy::Recurse,
            merge_lists: true,
        };
        // Two mappings always merge.
        if let Ok(Value::Map(merged)) = merge(
            std::mem::take(&mut self.options).into(),
            &other.options.into(),
            &options,
        ) {
            self.options = merged;
        }
    }

    /// Jobs of the schedule replace those of their name as a whole.
    fn add_schedule(&mut self, other: &OptionLayer) {
        if let (Some(Value::Map(jobs)), Some(Value::Map(new))) = (
            self.options.get_mut("schedule"),
            other.options.get("schedule"),
        ) {
            jobs.extend(new.iter().map(|(key, value)| (key.clone(), value.clone())));
        }
    }
}
