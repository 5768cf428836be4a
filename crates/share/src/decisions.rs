//! The decision tree of a shared formula: questions as nodes, answers as edges, results as leaves.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use foldhash::fast::RandomState;

use crate::question::{HashedAnswer, InternedQuestion};
use crate::recorder::RecordedRead;

/// The questions of all recorded runs with their answers, and the result at the end of each path. Threads share the
/// tree.
///
/// Most walks change nothing. So a walk takes one read lock, and the tree stops counting hits and misses once the
/// counts no longer decide anything.
pub(crate) struct DecisionTree<T> {
    tree: RwLock<Tree<T>>,
    max_bytes: usize,
    hits: AtomicUsize,
    misses: AtomicUsize,
}

struct Tree<T> {
    /// The first node is the question that every run starts with.
    nodes: Vec<Node<T>>,
    bytes: usize,
    /// How often the tree was emptied. A walk that releases the lock compares this number afterwards.
    generation: usize,
}

struct Node<T> {
    question: Arc<InternedQuestion>,
    /// The layer whose template asks the question.
    layer: Option<Arc<str>>,
    by_answer: HashMap<HashedAnswer, Next<T>, RandomState>,
    /// For a question about files: the same edges by the paths that an answer was computed from, which are cheaper
    /// to compute than the answer.
    by_paths: HashMap<HashedAnswer, Next<T>, RandomState>,
    /// How often a walk found its answer already here, counted up to [`MANY_DISTINCT`].
    repeated: AtomicUsize,
    /// True if the answers differ so much between minions that the tree keeps none of them.
    closed: bool,
}

enum Next<T> {
    Node(usize),
    Leaf(Arc<T>),
}

/// The end of a walk through the tree.
pub(crate) enum Walk<T> {
    /// A result, with those answers on the way that contain the text of a layer.
    Leaf(Arc<T>, Vec<HashedAnswer>),
    /// The tree has no edge for one of the answers.
    Unknown,
    /// Minions answer one of the questions so differently that recording the run would not help others.
    NotShared,
}

/// After this many misses, the tree gives up if there are few hits: recording a run takes half as long as the run
/// itself.
const MIN_MISSES: usize = 1024;

/// Distinct answers after which a question counts as different for every minion, provided that hardly any answer was
/// repeated.
const MIN_DISTINCT: usize = 128;
/// The same limit for a question asked by the template of a layer, because the formula can render that layer for
/// each minion instead.
const MIN_DISTINCT_IN_LAYER: usize = 64;
/// The same limit if some answers were repeated, but few.
const MANY_DISTINCT: usize = 512;
/// Limit on the entries of [`Node::by_paths`].
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
    fn new(question: Arc<InternedQuestion>, layer: Option<Arc<str>>) -> Self {
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

    fn next(
        &self,
        ask: &impl Fn(&InternedQuestion) -> HashedAnswer,
    ) -> (Option<&Next<T>>, HashedAnswer) {
        if let Some(paths) = self.question.question.paths() {
            let paths = ask(paths);
            if let Some(next) = self.by_paths.get(&paths) {
                return (Some(next), paths);
            }
        }
        let answer = ask(&self.question);
        (self.by_answer.get(&answer), answer)
    }

    fn note_repeated(&self) {
        if self.repeated.load(Ordering::Relaxed) < MANY_DISTINCT {
            self.repeated.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn are_all_different(&self) -> bool {
        let (answers, repeated) = (self.by_answer.len(), self.repeated.load(Ordering::Relaxed));
        let min = if self.layer.is_some() {
            MIN_DISTINCT_IN_LAYER
        } else {
            MIN_DISTINCT
        };
        (answers >= min && repeated < 2)
            || (answers >= MANY_DISTINCT && repeated < MANY_DISTINCT.min(answers / 8))
    }

    fn close(&mut self) {
        *self = Node {
            closed: true,
            ..Node::new(self.question.clone(), self.layer.clone())
        };
    }
}

impl<T> DecisionTree<T> {
    /// An empty tree. `first` is the question that every run starts with; `max_bytes` limits the memory,
    /// approximately.
    pub fn new(first: Arc<InternedQuestion>, max_bytes: usize) -> Self {
        DecisionTree {
            tree: RwLock::new(Tree {
                nodes: vec![Node::new(first, None)],
                bytes: 0,
                generation: 0,
            }),
            max_bytes,
            hits: AtomicUsize::new(0),
            misses: AtomicUsize::new(0),
        }
    }

    /// Walk from the root along the answers that `ask` returns.
    pub fn follow(&self, ask: impl Fn(&InternedQuestion) -> HashedAnswer) -> Walk<T> {
        let (hits, misses) = (
            self.hits.load(Ordering::Relaxed),
            self.misses.load(Ordering::Relaxed),
        );
        if misses > MIN_MISSES && hits < misses / 4 {
            return Walk::NotShared;
        }
        // Nothing panics while it holds the lock for writing and the tree is incomplete, so a poisoned lock is
        // usable.
        let read = || self.tree.read().unwrap_or_else(PoisonError::into_inner);
        let mut tree = read();
        let (mut at, mut rendered) = (0, Vec::new());
        while let Some(mut node) = tree.nodes.get(at) {
            let (next, answer) = if node.question.question.runs_templates() {
                // Rendering a template can take long and can use this formula again, so release the lock.
                let (question, generation) = (node.question.clone(), tree.generation);
                drop(tree);
                let answer = ask(&question);
                tree = read();
                node = match tree.nodes.get(at) {
                    Some(node) if tree.generation == generation => node,
                    _ => return Walk::Unknown,
                };
                (node.by_answer.get(&answer), answer)
            } else {
                node.next(&ask)
            };
            let Some(next) = next else {
                if node.closed {
                    return Walk::NotShared;
                }
                self.misses.fetch_add(1, Ordering::Relaxed);
                return Walk::Unknown;
            };
            node.note_repeated();
            if answer.rendered_layer().is_some() {
                rendered.push(answer);
            }
            match next {
                Next::Node(next) => at = *next,
                Next::Leaf(result) => {
                    if hits < misses + MIN_MISSES {
                        self.hits.fetch_add(1, Ordering::Relaxed);
                    }
                    return Walk::Leaf(result.clone(), rendered);
                }
            }
        }
        Walk::Unknown
    }

    /// Add a result at the end of its recorded questions and answers.
    ///
    /// Returns a layer if this call finds that each minion answers the questions of its template differently.
    pub fn keep(&self, steps: Vec<RecordedRead>, result: &Arc<T>, size: usize) -> Option<Arc<str>> {
        let mut tree = self.tree.write().unwrap_or_else(PoisonError::into_inner);
        let Tree { nodes, bytes, .. } = &mut *tree;
        let mut steps = steps.into_iter().peekable();
        let (mut at, mut size, mut different) = (0, size, None);
        while let Some(RecordedRead {
            question,
            answer,
            paths,
            ..
        }) = steps.next()
        {
            let fresh = nodes.len();
            let node = nodes.get_mut(at)?;
            // Equal answers lead to the same next question. If they did not, the run depends on something that was
            // not recorded.
            if node.question != question {
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
            size += answer.size();
            let new = match steps.peek() {
                None => Next::Leaf(result.clone()),
                Some(_) => Next::Node(fresh),
            };
            let next = node.by_answer.entry(answer).or_insert(new).clone();
            if let Some(paths) = paths.filter(|_| node.by_paths.len() < MAX_PATHS) {
                size += paths.size();
                node.by_paths.insert(paths, next.clone());
            }
            match (next, steps.peek()) {
                (Next::Node(next), Some(step)) => {
                    if next == fresh {
                        nodes.push(Node::new(step.question.clone(), step.layer.clone()));
                    }
                    at = next;
                }
                _ => break,
            }
        }
        *bytes = bytes.saturating_add(size);
        if *bytes > self.max_bytes {
            // Emptying the whole tree is simple, and happens rarely.
            tree.forget();
        }
        different
    }

    /// Remove all results and counts.
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
