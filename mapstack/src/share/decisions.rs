//! A tree of questions and answers, with results as its leaves.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use foldhash::fast::RandomState;

use super::Posed;
use super::question::Told;
use super::recorder::Step;

/// What runs asked and were answered, and what came of it; shared by threads.
pub(crate) struct Decisions<T> {
    first: Arc<Node<T>>,
    bytes: AtomicUsize,
    most_bytes: usize,
    hits: AtomicUsize,
    misses: AtomicUsize,
}

struct Node<T> {
    question: Arc<Posed>,
    /// The layer whose template asks it.
    layer: Option<Arc<str>>,
    edges: Mutex<Edges<T>>,
}

struct Edges<T> {
    by_answer: HashMap<Told, Next<T>, RandomState>,
    /// How often an answer was one that was given before.
    repeated: usize,
    /// Whether answers are so different that keeping them is no use.
    closed: bool,
}

enum Next<T> {
    Node(Arc<Node<T>>),
    Leaf(Arc<T>),
}

/// Where a minion's answers lead.
pub(crate) enum Led<T> {
    /// To a result, past answers that say what layers print.
    To(Arc<T>, Vec<Told>),
    /// Nowhere yet.
    Nowhere,
    /// To a question that everybody answers differently.
    Apart,
}

/// Minions with no result to share after which it matters that few others had one: writing down what a run
/// asks takes half as long as the run.
const MISSES: usize = 1024;

/// Answers after which a question counts as one that everybody answers differently: some, if hardly any
/// was given twice, and many, if few were.
const SOME: usize = 128;
/// The same for a question of a layer's template, which can be asked what it prints instead.
const SOME_IN_LAYER: usize = 64;
const MANY: usize = 512;

impl<T> Node<T> {
    fn new(question: Arc<Posed>, layer: Option<Arc<str>>) -> Arc<Self> {
        let edges = Edges { by_answer: HashMap::default(), repeated: 0, closed: false };
        Arc::new(Node { question, layer, edges: Mutex::new(edges) })
    }

    /// A panic elsewhere leaves nothing half-written here.
    fn edges(&self) -> MutexGuard<'_, Edges<T>> {
        self.edges.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Edges<T> {
    fn are_all_different(&self, is_of_layer: bool) -> bool {
        let answers = self.by_answer.len();
        let some = if is_of_layer { SOME_IN_LAYER } else { SOME };
        (answers >= some && self.repeated < 2) || (answers >= MANY && self.repeated < answers / 8)
    }
}

impl<T> Decisions<T> {
    /// No results yet; `first` is what every run asks first, and `most_bytes` about how much may be kept.
    pub fn new(first: Arc<Posed>, most_bytes: usize) -> Self {
        Decisions {
            first: Node::new(first, None),
            bytes: AtomicUsize::new(0),
            most_bytes,
            hits: AtomicUsize::new(0),
            misses: AtomicUsize::new(0),
        }
    }

    /// Follow answers as far as they lead.
    pub fn follow(&self, ask: impl Fn(&Posed) -> Told) -> Led<T> {
        let misses = self.misses.load(Ordering::Relaxed);
        if misses > MISSES && self.hits.load(Ordering::Relaxed) < misses / 4 {
            return Led::Apart;
        }
        let mut node = self.first.clone();
        let mut printed = Vec::new();
        loop {
            let answer = ask(&node.question);
            let mut edges = node.edges();
            let next = match edges.by_answer.get(&answer) {
                None if edges.closed => return Led::Apart,
                None => {
                    self.misses.fetch_add(1, Ordering::Relaxed);
                    return Led::Nowhere;
                }
                Some(Next::Leaf(result)) => Ok(result.clone()),
                Some(Next::Node(next)) => Err(next.clone()),
            };
            edges.repeated = edges.repeated.saturating_add(1);
            drop(edges);
            match next {
                Ok(result) => {
                    self.hits.fetch_add(1, Ordering::Relaxed);
                    if answer.print().is_some() {
                        printed.push(answer);
                    }
                    return Led::To(result, printed);
                }
                Err(next) => {
                    if answer.print().is_some() {
                        printed.push(answer);
                    }
                    node = next;
                }
            }
        }
    }

    /// Keep a result under the answers that lead to it. The first question is the one every run asks.
    ///
    /// Returns the layer that everybody was found to answer differently about, if this is when.
    pub fn keep(&self, steps: Vec<Step>, result: &Arc<T>, size: usize) -> Option<Arc<str>> {
        let mut node = self.first.clone();
        let mut steps = steps.into_iter().peekable();
        let mut size = size;
        let mut different = None;
        while let Some(Step { posed, told, .. }) = steps.next() {
            // The same answers make every run ask the same next; if not, something is not a function of them.
            if node.question != posed {
                return None;
            }
            let mut edges = node.edges();
            if edges.closed {
                break;
            }
            if edges.are_all_different(node.layer.is_some()) {
                *edges = Edges { by_answer: HashMap::default(), repeated: 0, closed: true };
                different = node.layer.clone();
                break;
            }
            size += told.size();
            let next = match steps.peek() {
                None => {
                    edges.by_answer.entry(told).or_insert_with(|| Next::Leaf(result.clone()));
                    break;
                }
                Some(Step { posed, layer, .. }) => {
                    let fresh = || Next::Node(Node::new(posed.clone(), layer.clone()));
                    match edges.by_answer.entry(told).or_insert_with(fresh) {
                        Next::Node(next) => next.clone(),
                        Next::Leaf(_) => return None,
                    }
                }
            };
            drop(edges);
            node = next;
        }
        if self.bytes.fetch_add(size, Ordering::Relaxed).saturating_add(size) > self.most_bytes {
            // Starting over is simple, and rare enough.
            self.forget();
        }
        different
    }

    /// Start over.
    pub fn forget(&self) {
        let mut edges = self.first.edges();
        edges.by_answer.clear();
        self.bytes.store(0, Ordering::Relaxed);
        self.hits.store(0, Ordering::Relaxed);
        self.misses.store(0, Ordering::Relaxed);
    }
}
