//! What many minions share: files, what is in them, and what the first layers of a stack amount to.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use foldhash::fast::RandomState;
use mapstack_loader::KeptFiles;
use mapstack_value::{Map, Value};

/// Kept by the engine for all runs.
#[derive(Debug, Default)]
pub(crate) struct StackCache {
    pub files: KeptFiles,
    documents: Mutex<Documents>,
    merged: Mutex<Merged>,
    /// Where every stack begins, so that the first layers of two stacks are known to be the same.
    empty: Map,
}

/// What texts say, by the text: templates print the same for many minions.
#[derive(Debug, Default)]
struct Documents {
    by_text: HashMap<Box<str>, Value, RandomState>,
    bytes: usize,
}

/// What two values amount to, by their storage. Both are kept, so that no other takes their place.
#[derive(Debug, Default)]
struct Merged {
    results: HashMap<(usize, usize), Entry, RandomState>,
    known: HashSet<usize, RandomState>,
}

#[derive(Debug)]
struct Entry {
    _base: Map,
    _overlay: Map,
    result: Map,
}

/// The most text whose data is kept: it takes some ten times as much.
const MAX_BYTES: usize = 8 << 20;
/// The most layers whose results are kept.
const MAX_RESULTS: usize = 2_000;

impl StackCache {
    /// The empty stack.
    pub fn empty(&self) -> Value {
        Value::Map(self.empty.clone())
    }

    /// What a text says.
    pub fn document(
        &self,
        text: &str,
        load: impl FnOnce() -> Result<Value, mapstack_yaml::Error>,
    ) -> Result<Value, mapstack_yaml::Error> {
        if let Some(found) = lock(&self.documents).by_text.get(text) {
            return Ok(found.clone());
        }
        let value = load()?;
        let mut documents = lock(&self.documents);
        documents.bytes += text.len();
        if documents.bytes > MAX_BYTES {
            *documents = Documents {
                bytes: text.len(),
                ..Documents::default()
            };
        }
        documents.by_text.insert(text.into(), value.clone());
        Ok(value)
    }

    /// What an overlay over a base is known to amount to.
    pub fn merged(&self, base: &Map, overlay: &Map) -> Option<Map> {
        let merged = lock(&self.merged);
        merged
            .results
            .get(&(base.address(), overlay.address()))
            .map(|entry| entry.result.clone())
    }

    /// Keep what an overlay over a base amounts to, if other minions can come by the same base.
    pub fn keep(&self, base: Map, overlay: Map, result: &Map) {
        let mut merged = lock(&self.merged);
        if !base.ptr_eq(&self.empty) && !merged.known.contains(&base.address()) {
            return;
        }
        if merged.results.len() >= MAX_RESULTS {
            *merged = Merged::default();
            if !base.ptr_eq(&self.empty) {
                return;
            }
        }
        merged.known.insert(result.address());
        let key = (base.address(), overlay.address());
        merged.results.insert(
            key,
            Entry {
                _base: base,
                _overlay: overlay,
                result: result.clone(),
            },
        );
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
