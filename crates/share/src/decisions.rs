//! A tree of questions and answers, with results as its leaves.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use foldhash::fast::RandomState;

use crate::question::{Posed, Told};
use crate::recorder::Step;

/// What runs asked and were answered, and what came of it; shared by threads.
///
/// Nearly all look at it and change nothing: one lock is taken for a walk, and counts are written only as
/// long as they can matter.
pub(crate) struct Decisions<T> {
    tree: RwLock<Tree<T>>,
    most_bytes: usize,
    hits: AtomicUsize,
    misses: AtomicUsize,
}

struct Tree<T> {
    /// The first is what every run asks first.
    nodes: Vec<Node<T>>,
    bytes: usize,
    /// How often it was begun anew.
    generation: usize,
}

struct Node<T> {
    question: Arc<Posed>,
    /// The layer whose template asks it.
    layer: Option<Arc<str>>,
    by_answer: HashMap<Told, Next<T>, RandomState>,
    /// The same by the paths that lead to an answer, of a question for files: they are known sooner.
    by_paths: HashMap<Told, Next<T>, RandomState>,
    /// How often an answer was one that was given before, up to a number that says enough.
    repeated: AtomicUsize,
    /// Whether answers are so different that keeping them is no use.
    closed: bool,
}

enum Next<T> {
    Node(usize),
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
/// Paths that are kept for one question.
const MAX_PATHS: usize = 1024;

impl<T> Clone for Next<T> {
    fn clone(&self) -> Self {
        match self {
            Next::Node(node) => Next::Node(*node),
            Next::Leaf(result) => Next::Leaf(result.clone()),
        }
    }
}

impl<T> Node<T> {
    fn new(question: Arc<Posed>, layer: Option<Arc<str>>) -> Self {
        let (by_answer, by_paths) = (HashMap::default(), HashMap::default());
        Node {
            question,
            layer,
            by_answer,
            by_paths,
            repeated: AtomicUsize::new(0),
            closed: false,
        }
    }

    fn next(&self, ask: &impl Fn(&Posed) -> Told) -> (Option<&Next<T>>, Told) {
        if let Some(paths) = self.question.question.paths() {
            let paths = ask(paths);
            if let Some(next) = self.by_paths.get(&paths) {
                return (Some(next), paths);
            }
        }
        let told = ask(&self.question);
        (self.by_answer.get(&told), told)
    }

    fn note_repeated(&self) {
        if self.repeated.load(Ordering::Relaxed) < MANY {
            self.repeated.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn are_all_different(&self) -> bool {
        let (answers, repeated) = (self.by_answer.len(), self.repeated.load(Ordering::Relaxed));
        let some = if self.layer.is_some() {
            SOME_IN_LAYER
        } else {
            SOME
        };
        (answers >= some && repeated < 2) || (answers >= MANY && repeated < MANY.min(answers / 8))
    }

    fn close(&mut self) {
        *self = Node {
            closed: true,
            ..Node::new(self.question.clone(), self.layer.clone())
        };
    }
}

impl<T> Decisions<T> {
    /// No results yet; `first` is what every run asks first, and `most_bytes` about how much may be kept.
    pub fn new(first: Arc<Posed>, most_bytes: usize) -> Self {
        Decisions {
            tree: RwLock::new(Tree {
                nodes: vec![Node::new(first, None)],
                bytes: 0,
                generation: 0,
            }),
            most_bytes,
            hits: AtomicUsize::new(0),
            misses: AtomicUsize::new(0),
        }
    }

    /// Follow answers as far as they lead.
    pub fn follow(&self, ask: impl Fn(&Posed) -> Told) -> Led<T> {
        let (hits, misses) = (
            self.hits.load(Ordering::Relaxed),
            self.misses.load(Ordering::Relaxed),
        );
        if misses > MISSES && hits < misses / 4 {
            return Led::Apart;
        }
        // A panic elsewhere leaves nothing half-written here.
        let read = || self.tree.read().unwrap_or_else(PoisonError::into_inner);
        let mut tree = read();
        let (mut at, mut printed) = (0, Vec::new());
        while let Some(mut node) = tree.nodes.get(at) {
            let (next, told) = if node.question.question.runs_templates() {
                // That can take long, and do anything.
                let (question, generation) = (node.question.clone(), tree.generation);
                drop(tree);
                let told = ask(&question);
                tree = read();
                node = match tree.nodes.get(at) {
                    Some(node) if tree.generation == generation => node,
                    _ => return Led::Nowhere,
                };
                (node.by_answer.get(&told), told)
            } else {
                node.next(&ask)
            };
            let Some(next) = next else {
                if node.closed {
                    return Led::Apart;
                }
                self.misses.fetch_add(1, Ordering::Relaxed);
                return Led::Nowhere;
            };
            node.note_repeated();
            if told.print().is_some() {
                printed.push(told);
            }
            match next {
                Next::Node(next) => at = *next,
                Next::Leaf(result) => {
                    if hits < misses + MISSES {
                        self.hits.fetch_add(1, Ordering::Relaxed);
                    }
                    return Led::To(result.clone(), printed);
                }
            }
        }
        Led::Nowhere
    }

    /// Keep a result under the answers that lead to it. The first question is the one every run asks.
    ///
    /// Returns the layer that everybody was found to answer differently about, if this is when.
    pub fn keep(&self, steps: Vec<Step>, result: &Arc<T>, size: usize) -> Option<Arc<str>> {
        let mut tree = self.tree.write().unwrap_or_else(PoisonError::into_inner);
        let Tree { nodes, bytes, .. } = &mut *tree;
        let mut steps = steps.into_iter().peekable();
        let (mut at, mut size, mut different) = (0, size, None);
        while let Some(Step {
            posed, told, paths, ..
        }) = steps.next()
        {
            let fresh = nodes.len();
            let node = nodes.get_mut(at)?;
            // The same answers make every run ask the same next; if not, something is not a function of them.
            if node.question != posed {
                return None;
            }
            if node.closed {
                break;
            }
            if node.are_all_different() {
                node.close();
                different = node.layer.clone();
                break;
            }
            size += told.size();
            let new = match steps.peek() {
                None => Next::Leaf(result.clone()),
                Some(_) => Next::Node(fresh),
            };
            let next = node.by_answer.entry(told).or_insert(new).clone();
            if let Some(paths) = paths.filter(|_| node.by_paths.len() < MAX_PATHS) {
                size += paths.size();
                node.by_paths.insert(paths, next.clone());
            }
            match (next, steps.peek()) {
                (Next::Node(next), Some(step)) => {
                    if next == fresh {
                        nodes.push(Node::new(step.posed.clone(), step.layer.clone()));
                    }
                    at = next;
                }
                _ => break,
            }
        }
        *bytes = bytes.saturating_add(size);
        if *bytes > self.most_bytes {
            // Starting over is simple, and rare enough.
            tree.forget();
        }
        different
    }

    /// Start over.
    pub fn forget(&self) {
        self.tree
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .forget();
        self.hits.store(0, Ordering::Relaxed);
        self.misses.store(0, Ordering::Relaxed);
    }
}

impl<T> Tree<T> {
    fn forget(&mut self) {
        self.nodes.truncate(1);
        if let Some(first) = self.nodes.first_mut() {
            *first = Node::new(first.question.clone(), None);
        }
        self.bytes = 0;
        self.generation += 1;
    }
}
