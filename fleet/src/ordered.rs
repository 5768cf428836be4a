//! Work side by side, results in order.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::Scope;

/// How much is done side by side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    /// How many threads work.
    pub threads: usize,
    /// How many items may be begun and not yet taken: what bounds the memory.
    pub window: usize,
}

impl Pace {
    /// A number of threads, each of which can be some items ahead.
    ///
    /// ```
    /// use mapstack_fleet::Pace;
    /// assert_eq!(Pace::threads(2).threads, 2);
    /// assert_eq!(Pace::threads(0).threads, 1);
    /// ```
    #[must_use]
    pub fn threads(threads: usize) -> Self {
        let threads = threads.max(1);
        Pace { threads, window: threads.saturating_mul(AHEAD) }
    }
}

/// Items that each thread may be ahead: enough for one that takes as long as hundreds of others.
const AHEAD: usize = 256;

impl Default for Pace {
    /// As many threads as the machine runs at once.
    fn default() -> Self {
        Pace::threads(std::thread::available_parallelism().map_or(1, usize::from))
    }
}

/// Do some work for every item on the threads of a scope. Results come in the order of the items,
/// whichever thread made them, and no more than a [window](Pace) of them is kept.
///
/// A thread takes the next item when it is done with one, so that none waits while there is work.
/// Work that panics is an item without a result, `Err` with what it said. Dropping the iterator ends
/// the work: threads finish the item at hand.
///
/// ```
/// use mapstack_fleet::{Pace, ordered};
/// let squares: Vec<u64> = std::thread::scope(|scope| {
///     ordered(scope, 0..1000_u64, Pace::threads(4), |n| n * n).map(|result| result.unwrap()).collect()
/// });
/// assert_eq!(squares[..4], [0, 1, 4, 9]);
/// ```
pub fn ordered<'scope, I, T, F>(scope: &'scope Scope<'scope, '_>, items: I, pace: Pace, work: F) -> Ordered<T>
where
    I: Iterator + Send + 'scope,
    I::Item: Send,
    T: Send + 'scope,
    F: Fn(I::Item) -> T + Send + Sync + 'scope,
{
    let pace = Pace { threads: pace.threads.max(1), window: pace.window.max(1) };
    let shared = Arc::new(Shared {
        state: Mutex::new(State { slots: VecDeque::new(), first: 0, end: None, stopped: false }),
        made: Condvar::new(),
        taken: Condvar::new(),
    });
    let source = Arc::new(Mutex::new(Source { items: Some(items), next: 0 }));
    let work = Arc::new(work);
    for _ in 0..pace.threads {
        let (shared, source, work) = (shared.clone(), source.clone(), work.clone());
        scope.spawn(move || {
            while let Some((index, item)) = next(&shared, &source, pace.window) {
                let result = catch_unwind(AssertUnwindSafe(|| work(item))).map_err(|panic| said(&*panic));
                shared.put(index, result);
            }
        });
    }
    Ordered { shared }
}

/// Results of [`ordered`], in order.
#[derive(Debug)]
pub struct Ordered<T> {
    shared: Arc<Shared<T>>,
}

impl<T> Iterator for Ordered<T> {
    type Item = Result<T, Panicked>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut state = lock(&self.shared.state);
        loop {
            if state.end.is_some_and(|end| state.first >= end) {
                return None;
            }
            if let Some(Some(_)) = state.slots.front() {
                let result = state.slots.pop_front().flatten();
                state.first += 1;
                self.shared.taken.notify_all();
                return result;
            }
            state = self.shared.made.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl<T> Drop for Ordered<T> {
    fn drop(&mut self) {
        lock(&self.shared.state).stopped = true;
        self.shared.taken.notify_all();
    }
}

/// Work that panicked: a fault of the program, not of the item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Panicked(pub String);

#[derive(Debug)]
struct Shared<T> {
    state: Mutex<State<T>>,
    /// A result was made, or there are no more items.
    made: Condvar,
    /// A result was taken, or nobody wants more.
    taken: Condvar,
}

#[derive(Debug)]
struct State<T> {
    /// Results by their index, from `first`; `None` where one is still being made.
    slots: VecDeque<Option<Result<T, Panicked>>>,
    /// The index of the result that is taken next.
    first: usize,
    /// How many items there are, once that is known.
    end: Option<usize>,
    stopped: bool,
}

struct Source<I> {
    /// `None` once there are no more.
    items: Option<I>,
    next: usize,
}

/// The next item and its index, once there is room for its result.
fn next<T, I: Iterator>(shared: &Shared<T>, source: &Mutex<Source<I>>, window: usize) -> Option<(usize, I::Item)> {
    let mut source = lock(source);
    // Whoever holds the source waits for room, and the others for it: results before are made by
    // threads that hold nothing.
    let mut state = lock(&shared.state);
    while !state.stopped && source.next >= state.first.saturating_add(window) {
        state = shared.taken.wait(state).unwrap_or_else(PoisonError::into_inner);
    }
    let stopped = state.stopped;
    drop(state);
    // An iterator that panics has no more items.
    let item =
        if stopped { None } else { catch_unwind(AssertUnwindSafe(|| source.items.as_mut()?.next())).ok().flatten() };
    match item {
        Some(item) => {
            let index = source.next;
            source.next += 1;
            Some((index, item))
        }
        None => {
            source.items = None;
            let mut state = lock(&shared.state);
            state.end = Some(source.next);
            shared.made.notify_all();
            None
        }
    }
}

impl<T> Shared<T> {
    fn put(&self, index: usize, result: Result<T, Panicked>) {
        let mut state = lock(&self.state);
        let at = index.saturating_sub(state.first);
        while state.slots.len() <= at {
            state.slots.push_back(None);
        }
        if let Some(slot) = state.slots.get_mut(at) {
            *slot = Some(result);
        }
        if at == 0 {
            self.made.notify_all();
        }
    }
}

/// What a panic said.
fn said(panic: &(dyn std::any::Any + Send)) -> Panicked {
    let text = panic.downcast_ref::<&str>().map(ToString::to_string);
    Panicked(text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no message".into()))
}

/// A panic elsewhere leaves nothing half-written here.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread::scope;
    use std::time::Duration;

    #[test]
    fn results_come_in_order_whatever_takes_long() {
        for threads in [1, 2, 7] {
            let slow_first = |n: u64| {
                std::thread::sleep(Duration::from_micros(if n.is_multiple_of(10) { 300 } else { 1 }));
                n
            };
            let all: Vec<u64> =
                scope(|s| ordered(s, 0..500, Pace { threads, window: 9 }, slow_first).map(Result::unwrap).collect());
            assert_eq!(all, (0..500).collect::<Vec<_>>());
        }
    }

    #[test]
    fn no_more_than_a_window_is_begun() {
        let (begun, taken) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let most = AtomicUsize::new(0);
        scope(|s| {
            let work = |_| {
                let ahead = begun.fetch_add(1, Ordering::SeqCst) + 1 - taken.load(Ordering::SeqCst);
                most.fetch_max(ahead, Ordering::SeqCst);
            };
            for _ in ordered(s, 0..300, Pace { threads: 4, window: 5 }, work) {
                std::thread::sleep(Duration::from_micros(50));
                taken.fetch_add(1, Ordering::SeqCst);
            }
        });
        // The one that is being taken counts as taken a moment later.
        assert!((1..=6).contains(&most.load(Ordering::SeqCst)), "{most:?}");
    }

    #[test]
    fn a_panic_is_one_result_and_ends_nothing() {
        let results: Vec<Result<u32, Panicked>> = scope(|s| {
            let work = |n| if n == 3 { panic!("at {n}") } else { n };
            ordered(s, 0..6, Pace::threads(2), work).collect()
        });
        assert_eq!(results.iter().filter(|r| r.is_ok()).count(), 5);
        assert_eq!(results[3], Err(Panicked("at 3".into())));
    }

    #[test]
    fn who_takes_no_more_ends_the_work() {
        let done = AtomicUsize::new(0);
        scope(|s| {
            let work = |_| done.fetch_add(1, Ordering::SeqCst);
            let mut results = ordered(s, 0..1_000_000_usize, Pace { threads: 3, window: 8 }, work);
            assert!(results.next().is_some() && results.next().is_some());
        });
        assert!(done.load(Ordering::SeqCst) <= 11, "{done:?}");
    }

    #[test]
    fn an_iterator_that_panics_has_no_more_items() {
        let items = (0..).map(|n| if n == 4 { panic!("no more") } else { n });
        let results: Vec<u32> = scope(|s| ordered(s, items, Pace::threads(3), |n| n).map(Result::unwrap).collect());
        assert_eq!(results, [0, 1, 2, 3]);
    }

    #[test]
    fn nothing_is_no_items() {
        let results = scope(|s| ordered(s, std::iter::empty::<u8>(), Pace::threads(2), |n| n).count());
        assert_eq!(results, 0);
    }
}
