//! A tree of questions and answers, with results as its leaves.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use foldhash::fast::RandomState;

use super::Posed;
use super::question::Told;

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
    /// To a result.
    To(Arc<T>),
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
const MANY: usize = 512;

impl<T> Node<T> {
    fn new(question: Arc<Posed>) -> Arc<Self> {
        let edges = Edges { by_answer: HashMap::default(), repeated: 0, closed: false };
        Arc::new(Node { question, edges: Mutex::new(edges) })
    }

    /// A panic elsewhere leaves nothing half-written here.
    fn edges(&self) -> MutexGuard<'_, Edges<T>> {
        self.edges.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Edges<T> {
    fn are_all_different(&self) -> bool {
        let answers = self.by_answer.len();
        (answers >= SOME && self.repeated < 2) || (answers >= MANY && self.repeated < answers / 8)
    }
}

impl<T> Decisions<T> {
    /// No results yet; `first` is what every run asks first, and `most_bytes` about how much may be kept.
    pub fn new(first: Arc<Posed>, most_bytes: usize) -> Self {
        Decisions {
            first: Node::new(first),
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
                    return Led::To(result);
                }
                Err(next) => node = next,
            }
        }
    }

    /// Keep a result under the answers that lead to it. The first question is the one every run asks.
    pub fn keep(&self, asked: Vec<(Arc<Posed>, Told)>, result: &Arc<T>, size: usize) {
        let mut node = self.first.clone();
        let mut asked = asked.into_iter().peekable();
        let mut size = size;
        while let Some((question, answer)) = asked.next() {
            // The same answers make every run ask the same next; if not, something is not a function of them.
            if node.question != question {
                return;
            }
            let mut edges = node.edges();
            if edges.closed {
                break;
            }
            if edges.are_all_different() {
                *edges = Edges { by_answer: HashMap::default(), repeated: 0, closed: true };
                break;
            }
            size += answer.size();
            let next = match asked.peek() {
                None => {
                    edges.by_answer.entry(answer).or_insert_with(|| Next::Leaf(result.clone()));
                    break;
                }
                Some((question, _)) => {
                    let fresh = || Next::Node(Node::new(question.clone()));
                    match edges.by_answer.entry(answer).or_insert_with(fresh) {
                        Next::Node(next) => next.clone(),
                        Next::Leaf(_) => return,
                    }
                }
            };
            drop(edges);
            node = next;
        }
        if self.bytes.fetch_add(size, Ordering::Relaxed).saturating_add(size) > self.most_bytes {
            // Starting over is simple, and rare enough.
            let mut edges = self.first.edges();
            edges.by_answer.clear();
            self.bytes.store(0, Ordering::Relaxed);
        }
    }
}
