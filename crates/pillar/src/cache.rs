//! The cache that many minions share: files, their content, and the result of the first layers of a stack.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::classes::reclass::Memo;
use foldhash::fast::RandomState;
use mapstack::ByText;
use mapstack_value::{Map, Value, weight};

use crate::items::DataFileItem;

/// Kept by the engine for all runs.
pub(crate) struct StackCache {
    /// The data of texts: templates print the same for many minions.
    pub documents: ByText<Value>,
    /// The items of config files, by their texts.
    pub listed: ByText<Arc<[DataFileItem]>>,
    pub merged: MergeCache,
    /// The answers to inventory queries of reclass.
    pub inventories: Memo,
}

/// The results of merging two mappings, by their storage. Only for mappings that many minions have, which are kept, so
/// that no other takes their place.
#[derive(Debug)]
pub(crate) struct MergeCache {
    known: Mutex<MergedParts>,
    /// The base of every first merge: one mapping, so that equal first parts of two pillars are known to be the same.
    empty: Map,
    max_bytes: usize,
}

#[derive(Debug, Default)]
struct MergedParts {
    results: HashMap<(usize, usize), Map, RandomState>,
    known: HashMap<usize, Map, RandomState>,
    bytes: usize,
}

/// The most text whose data is kept: it takes some ten times as much.
const MAX_BYTES: usize = 8 << 20;
/// The most text of config files.
const MAX_LISTED: usize = 1 << 20;
/// The most bytes that merged layers may take, approximately.
const MAX_MERGED: usize = 32 << 20;
/// The most bytes that answers to inventory queries may take, approximately.
const MAX_INVENTORIES: usize = 32 << 20;

impl StackCache {
    /// The data of a text.
    pub fn document(
        &self,
        text: &str,
        load: impl FnOnce() -> Result<Value, mapstack_yaml::Error>,
    ) -> Result<Value, mapstack_yaml::Error> {
        if let Some(known) = self.documents.get(text) {
            return Ok(known);
        }
        let value = load()?;
        self.documents.put(text, value.clone());
        Ok(value)
    }
}

impl Default for StackCache {
    fn default() -> Self {
        StackCache {
            documents: ByText::new(MAX_BYTES),
            listed: ByText::new(MAX_LISTED),
            merged: MergeCache::default(),
            inventories: Memo::with_memory(MAX_INVENTORIES),
        }
    }
}

impl Default for MergeCache {
    fn default() -> Self {
        MergeCache::new(MAX_MERGED)
    }
}

impl MergeCache {
    /// Nothing is known yet. What is kept takes approximately this many bytes at most.
    pub fn new(max_bytes: usize) -> Self {
        MergeCache {
            known: Mutex::default(),
            empty: Map::new(),
            max_bytes,
        }
    }

    /// The empty mapping that merges begin with.
    pub fn empty(&self) -> Map {
        self.empty.clone()
    }

    /// Count a mapping among those that many minions have.
    pub fn adopt(&self, map: Map) {
        let mut merged = lock(&self.known);
        if merged.known.contains_key(&map.address()) {
            return;
        }
        merged.bytes += 256;
        if merged.bytes > self.max_bytes {
            *merged = MergedParts::default();
        }
        merged.known.insert(map.address(), map);
    }

    /// The known result of an overlay over a base.
    pub fn merged(&self, base: &Map, overlay: &Map) -> Option<Map> {
        let merged = lock(&self.known);
        let found = merged.results.get(&(base.address(), overlay.address()));
        found.cloned()
    }

    /// True if other minions can come by the same two.
    pub fn wants(&self, base: &Map, overlay: &Map) -> bool {
        self.has_both(&lock(&self.known), base, overlay)
    }

    fn has_both(&self, merged: &MergedParts, base: &Map, overlay: &Map) -> bool {
        let is_known = |map: &Map| merged.known.contains_key(&map.address());
        (base.ptr_eq(&self.empty) || is_known(base)) && is_known(overlay)
    }

    /// Keep the result of merging an overlay over a base, if other minions can have the same two.
    pub fn keep(&self, base: &Map, overlay: &Map, result: &Map) {
        let mut merged = lock(&self.known);
        // Under the same lock: what another thread has dropped meanwhile may give its address to something else.
        if !self.has_both(&merged, base, overlay) {
            return;
        }
        // Nested mappings that the overlay does not touch are shared with the base.
        merged.bytes += 256 + 64 * result.len() + 96 * weight(&Value::Map(overlay.clone()));
        if merged.bytes > self.max_bytes {
            *merged = MergedParts::default();
            return;
        }
        merged.known.insert(result.address(), result.clone());
        let key = (base.address(), overlay.address());
        merged.results.insert(key, result.clone());
    }
}

/// A panic elsewhere leaves nothing half-written here.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Kept values are frozen and shared between threads.
const _: fn() = || {
    fn shared<T: Send + Sync>() {}
    shared::<Arc<StackCache>>();
};
