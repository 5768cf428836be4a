//! The progress of a fetch.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use gix::progress::{Id, MessageLevel, Step, StepShared, UNKNOWN, Unit};

/// How far a fetch is; clones look at the same one.
///
/// ```
/// use mapstack_loader::git::Progress;
/// assert_eq!(Progress::default().now(), None);
/// ```
#[derive(Debug, Clone, Default)]
pub struct Progress(Arc<Mutex<Option<Task>>>);

/// What is being done, how much of it is, and of how much if that is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FetchStage {
    /// What is being done.
    pub name: String,
    /// How much of it.
    pub done: usize,
    /// Of how much.
    pub total: Option<usize>,
}

#[derive(Debug, Clone)]
struct Task {
    name: String,
    done: StepShared,
    total: Option<Step>,
}

impl Progress {
    /// What is being done now.
    #[must_use]
    pub fn now(&self) -> Option<FetchStage> {
        let task = self
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()?;
        Some(FetchStage {
            name: task.name,
            done: task.done.load(Ordering::Relaxed),
            total: task.total,
        })
    }

    pub(super) fn node(&self) -> Node {
        Node {
            shown: self.clone(),
            name: String::new(),
            done: Arc::new(AtomicUsize::new(0)),
            total: None,
        }
    }
}

/// One of the fetch's tasks; the last one that began is shown.
pub(super) struct Node {
    shown: Progress,
    name: String,
    done: StepShared,
    total: Option<Step>,
}

impl Node {
    fn show(&self) {
        let task = Task {
            name: self.name.clone(),
            done: self.done.clone(),
            total: self.total,
        };
        *self.shown.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(task);
    }
}

impl gix::Count for Node {
    fn set(&self, step: Step) {
        self.done.store(step, Ordering::Relaxed);
    }

    fn step(&self) -> Step {
        self.done.load(Ordering::Relaxed)
    }

    fn inc_by(&self, step: Step) {
        self.done.fetch_add(step, Ordering::Relaxed);
    }

    fn counter(&self) -> StepShared {
        self.done.clone()
    }
}

impl gix::Progress for Node {
    fn init(&mut self, max: Option<Step>, _unit: Option<Unit>) {
        self.total = max;
        self.show();
    }

    fn set_name(&mut self, name: String) {
        self.name = name;
        self.show();
    }

    fn name(&self) -> Option<String> {
        Some(self.name.clone())
    }

    fn id(&self) -> Id {
        UNKNOWN
    }

    fn message(&self, _level: MessageLevel, _message: String) {}
}

impl gix::NestedProgress for Node {
    type SubProgress = Node;

    fn add_child(&mut self, name: impl Into<String>) -> Node {
        Node {
            name: name.into(),
            ..self.shown.node()
        }
    }

    fn add_child_with_id(&mut self, name: impl Into<String>, _id: Id) -> Node {
        self.add_child(name)
    }
}
