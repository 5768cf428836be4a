//! Results that minions share whose sls render to the same.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::render::{GotSls, MinionRenders, SlsFile};

/// Results by the renders of their sls. The renders so far decide which sls is rendered next, so they lead step by step
/// to a result.
pub(crate) struct SharedByRenders<T>(Mutex<SharedTree<T>>);

struct SharedTree<T> {
    /// The first step, by the sls of top files and the options.
    starts: HashMap<String, usize>,
    steps: Vec<Step<T>>,
    /// The next step, by a step and the address of the render of its sls. Results hold their renders, so no address is
    /// used again while it is a key.
    next: HashMap<(usize, usize), usize>,
    size: usize,
}

enum Step<T> {
    /// The sls to render.
    Render(Arc<SlsFile>),
    Done(Arc<T>),
}

/// The approximate number of bytes of results that are kept; beyond it, all are dropped.
const KEPT: usize = 48 << 20;

impl<T> SharedByRenders<T> {
    fn known(&self) -> MutexGuard<'_, SharedTree<T>> {
        // Nothing panics while it holds the lock.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The result that another minion with the same renders has.
    pub fn find(&self, start: &str, renders: &mut MinionRenders<'_, '_>) -> Option<Arc<T>> {
        let (mut at, mut step) = {
            let known = self.known();
            let at = *known.starts.get(start)?;
            (at, known.steps.get(at)?.clone())
        };
        let mut kept = Vec::new();
        loop {
            let sls = match step {
                Step::Done(done) => return Some(done),
                Step::Render(sls) => sls,
            };
            let rendered = renders.rendered(&sls);
            let known = self.known();
            // Another thread may have dropped the steps since.
            at = *known.next.get(&(at, Arc::as_ptr(&rendered) as usize))?;
            step = known.steps.get(at)?.clone();
            kept.push(rendered);
        }
    }

    /// Keep a result and its approximate size in bytes, by the sls that lead to it. The result must hold their renders.
    pub fn keep(&self, start: String, sls: &[GotSls], done: &Arc<T>, size: usize) {
        let mut known = self.known();
        let size = size + start.len();
        if known.size + size > KEPT {
            *known = SharedTree::default();
        }
        known.size += size;
        known.add(start, sls, done);
    }
}

impl<T> SharedTree<T> {
    fn step(&mut self, step: Step<T>) -> usize {
        self.steps.push(step);
        self.steps.len() - 1
    }

    fn add(&mut self, start: String, all: &[GotSls], done: &Arc<T>) {
        let step_of = |sls: Option<&GotSls>| match sls {
            Some(sls) => Step::Render(Arc::new(sls.into())),
            None => Step::Done(done.clone()),
        };
        let mut at = match self.starts.get(&start) {
            Some(at) => *at,
            None => {
                let at = self.step(step_of(all.first()));
                self.starts.insert(start, at);
                at
            }
        };
        for (index, sls) in all.iter().enumerate() {
            let key = (at, Arc::as_ptr(&sls.rendered) as usize);
            at = match self.next.get(&key) {
                Some(next) => *next,
                None => {
                    let next = self.step(step_of(all.get(index + 1)));
                    self.next.insert(key, next);
                    next
                }
            };
        }
    }
}

impl<T> Default for SharedByRenders<T> {
    fn default() -> Self {
        SharedByRenders(Mutex::default())
    }
}

impl<T> Default for SharedTree<T> {
    fn default() -> Self {
        SharedTree {
            starts: HashMap::new(),
            steps: Vec::new(),
            next: HashMap::new(),
            size: 0,
        }
    }
}

impl<T> Clone for Step<T> {
    fn clone(&self) -> Self {
        match self {
            Step::Render(sls) => Step::Render(sls.clone()),
            Step::Done(done) => Step::Done(done.clone()),
        }
    }
}
