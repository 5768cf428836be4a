//! The decision tree of a shared formula: questions as nodes, answers as edges, results as leaves.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use foldhash::fast::RandomState;

use super::question::{HashedAnswer, InternedQuestion};
use super::recorder::RecordedRead;

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
}

struct Node<T> {
    question: Arc<InternedQuestion>,
    by_answer: HashMap<HashedAnswer, Next<T>, RandomState>,
    /// For a question about files: the same edges by the paths that an answer was computed from, which are cheaper
    /// to compute than the answer.
    by_paths: HashMap<HashedAnswer, Next<T>, RandomState>,
    /// The number of walks that found their answer already here, counted up to [`MANY_DISTINCT`].
    repeated: AtomicUsize,
    /// True if the answers differ so much between minions that the tree keeps none of them.
    closed: bool,
}

enum Next<T> {
    Node(usize),
    Leaf(Arc<T>),
}

/// The end of a walk through the tree.
pub(crate) enum DecisionWalk<T> {
    /// A result.
    Leaf(Arc<T>),
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
    fn new(question: Arc<InternedQuestion>) -> Self {
        let (by_answer, by_paths) = (HashMap::default(), HashMap::default());
        Node {
            question,
            by_answer,
            by_paths,
            repeated: AtomicUsize::new(0),
            closed: false,
        }
    }

    fn next(&self, ask: &impl Fn(&InternedQuestion) -> HashedAnswer) -> Option<&Next<T>> {
        let of_paths = self.question.question.paths();
        of_paths
            .and_then(|paths| self.by_paths.get(&ask(paths)))
            .or_else(|| self.by_answer.get(&ask(&self.question)))
    }

    fn note_repeated(&self) {
        if self.repeated.load(Ordering::Relaxed) < MANY_DISTINCT {
            self.repeated.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn are_all_different(&self) -> bool {
        let (answers, repeated) = (self.by_answer.len(), self.repeated.load(Ordering::Relaxed));
        (answers >= MIN_DISTINCT && repeated < 2)
            || (answers >= MANY_DISTINCT && repeated < MANY_DISTINCT.min(answers / 8))
    }

    fn close(&mut self) {
        *self = Node {
            closed: true,
            ..Node::new(self.question.clone())
        };
    }
}

impl<T> DecisionTree<T> {
    /// An empty tree. `first` is the question that every run starts with; `max_bytes` limits the memory,
    /// approximately.
    pub fn new(first: Arc<InternedQuestion>, max_bytes: usize) -> Self {
        DecisionTree {
            tree: RwLock::new(Tree {
                nodes: vec![Node::new(first)],
                bytes: 0,
            }),
            max_bytes,
            hits: AtomicUsize::new(0),
            misses: AtomicUsize::new(0),
        }
    }

    /// Walk from the root along the answers that `ask` returns.
    pub fn follow(&self, ask: impl Fn(&InternedQuestion) -> HashedAnswer) -> DecisionWalk<T> {
        let (hits, misses) = (
            self.hits.load(Ordering::Relaxed),
            self.misses.load(Ordering::Relaxed),
        );
        if misses > MIN_MISSES && hits < misses / 4 {
            return DecisionWalk::NotShared;
        }
        // Nothing panics while it holds the lock for writing and the tree is incomplete, so a poisoned lock is
        // usable.
        let tree = self.tree.read().unwrap_or_else(PoisonError::into_inner);
        let mut at = 0;
        while let Some(node) = tree.nodes.get(at) {
            let Some(next) = node.next(&ask) else {
                if node.closed {
                    return DecisionWalk::NotShared;
                }
                self.misses.fetch_add(1, Ordering::Relaxed);
                return DecisionWalk::Unknown;
            };
            node.note_repeated();
            match next {
                Next::Node(next) => at = *next,
                Next::Leaf(result) => {
                    if hits < misses + MIN_MISSES {
                        self.hits.fetch_add(1, Ordering::Relaxed);
                    }
                    return DecisionWalk::Leaf(result.clone());
                }
            }
        }
        DecisionWalk::Unknown
    }

    /// Add a result at the end of its recorded questions and answers.
    pub fn keep(&self, steps: Vec<RecordedRead>, result: &Arc<T>, size: usize) {
        let mut tree = self.tree.write().unwrap_or_else(PoisonError::into_inner);
        let Tree { nodes, bytes, .. } = &mut *tree;
        let mut steps = steps.into_iter().peekable();
        let (mut at, mut size) = (0, size);
        while let Some(RecordedRead {
            question,
            answer,
            paths,
        }) = steps.next()
        {
            let fresh = nodes.len();
            let Some(node) = nodes.get_mut(at) else {
                return;
            };
            // Equal answers lead to the same next question. If they did not, the run depends on something that was
            // not recorded.
            if node.question != question {
                return;
            }
            if node.closed {
                break;
            }
            if node.are_all_different() {
                node.close();
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
                        nodes.push(Node::new(step.question.clone()));
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
    }
}

impl<T> Tree<T> {
    fn forget(&mut self) {
        self.nodes.truncate(1);
        if let Some(first) = self.nodes.first_mut() {
            *first = Node::new(first.question.clone());
        }
        self.bytes = 0;
    }
}
