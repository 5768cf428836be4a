//! Work side by side, results in order.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::Scope;
use std::time::Duration;

use mapstack::{Error, ErrorKind};

use crate::Pace;

/// The time that a result can be there before it is noticed, while those after it take long.
const UNNOTICED: Duration = Duration::from_millis(5);

/// Do some work for every item on the threads of a scope. Results come in the order of the items,
/// whichever thread made them, and no more than a [window](Pace) of them is kept.
///
/// A thread takes the next item when it finishes one, so no thread waits while there is work.
/// Work that panics is an item without a result, `Err` with what it said. Dropping the iterator ends
/// the work: threads finish the current item.
///
/// Results of quick work are handed over some at a time. One that is done is not kept back for those
/// after it: it comes within some milliseconds, however long they take.
///
/// ```
/// use mapstack_fleet::{Pace, ordered};
/// let squares: Vec<u64> = std::thread::scope(|scope| {
///     ordered(scope, 0..1000_u64, Pace::threads(4), |n| n * n).map(|result| result.unwrap()).collect()
/// });
/// assert_eq!(squares[..4], [0, 1, 4, 9]);
/// ```
pub fn ordered<'scope, I, T, F>(
    scope: &'scope Scope<'scope, '_>,
    items: I,
    pace: Pace,
    work: F,
) -> OrderedResults<T>
where
    I: Iterator + Send + 'scope,
    I::Item: Send,
    T: Send + 'scope,
    F: Fn(I::Item) -> T + Send + Sync + 'scope,
{
    let pace = Pace {
        threads: pace.threads.max(1),
        window: pace.window.max(1),
    };
    let shared = Arc::new(Queue {
        pace,
        state: Mutex::new(QueueState {
            slots: VecDeque::new(),
            ready: 0,
            first: 0,
            taken: 0,
            end: None,
            needs_result: false,
            needs_room: false,
        }),
        stopped: AtomicBool::new(false),
        made: Condvar::new(),
        room: Condvar::new(),
    });
    let source = Arc::new(Mutex::new(Source {
        items: Some(items),
        next: 0,
        limit: pace.window,
    }));
    let work = Arc::new(work);
    for _ in 0..pace.threads {
        let (shared, source, work) = (shared.clone(), source.clone(), work.clone());
        scope.spawn(move || {
            while let Some((index, item)) = next(&shared, &source) {
                let result = catch_unwind(AssertUnwindSafe(|| work(item)))
                    .map_err(|panic| panic_of(&*panic));
                shared.put(index, result);
            }
        });
    }
    OrderedResults {
        shared,
        at_hand: VecDeque::new(),
    }
}

/// Results of [`ordered`], in order.
#[derive(Debug)]
pub struct OrderedResults<T> {
    shared: Arc<Queue<T>>,
    /// Results that were handed over. They count as taken when the last of them is.
    at_hand: VecDeque<Result<T, Panic>>,
}

impl<T> Iterator for OrderedResults<T> {
    type Item = Result<T, Panic>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.at_hand.is_empty() && !self.shared.hand_over(&mut self.at_hand) {
            return None;
        }
        let result = self.at_hand.pop_front();
        if self.at_hand.is_empty() {
            self.shared.all_taken();
        }
        result
    }
}

impl<T> Drop for OrderedResults<T> {
    fn drop(&mut self) {
        // Threads that wait for room check it while they hold the lock.
        let _state = lock(&self.shared.state);
        self.shared.stopped.store(true, Ordering::SeqCst);
        self.shared.room.notify_all();
    }
}

/// Work that panicked: a fault of the program, not of the item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Panic(pub String);

#[derive(Debug)]
struct Queue<T> {
    pace: Pace,
    state: Mutex<QueueState<T>>,
    /// No more results are wanted.
    stopped: AtomicBool,
    /// Results are ready, or the items have ended.
    made: Condvar,
    /// Results were taken, or no more are wanted.
    room: Condvar,
}

#[derive(Debug)]
struct QueueState<T> {
    /// Results by their index, from `first`; `None` where one is still being made.
    slots: VecDeque<Option<Result<T, Panic>>>,
    /// The number of the first slots that have their result.
    ready: usize,
    /// The index of the result that is handed over next.
    first: usize,
    /// The number of results that were taken for good, where the window begins.
    taken: usize,
    /// The number of items, once that is known.
    end: Option<usize>,
    /// The receiver sleeps until there is a result, and has to be woken.
    needs_result: bool,
    /// A worker sleeps until there is room.
    needs_room: bool,
}

struct Source<I> {
    /// `None` after the last one.
    items: Option<I>,
    next: usize,
    /// The index before which there is known to be room.
    limit: usize,
}

/// The next item and its index, once there is room for its result.
fn next<T, I: Iterator>(shared: &Queue<T>, source: &Mutex<Source<I>>) -> Option<(usize, I::Item)> {
    let mut source = lock(source);
    if source.next >= source.limit {
        source.limit = shared.wait_for_room(source.next);
    }
    let stopped = shared.stopped.load(Ordering::SeqCst);
    // An iterator that panics has no more items.
    let item = if stopped {
        None
    } else {
        catch_unwind(AssertUnwindSafe(|| source.items.as_mut()?.next()))
            .ok()
            .flatten()
    };
    match item {
        Some(item) => {
            let index = source.next;
            source.next += 1;
            Some((index, item))
        }
        None => {
            source.items = None;
            shared.end(source.next);
            None
        }
    }
}

impl<T> Queue<T> {
    /// Wait until an item can be begun, or is not wanted. Returns the index before which there is
    /// room.
    ///
    /// A thread that waits here holds the source, and the others wait for that: results before are made by
    /// threads that hold nothing.
    fn wait_for_room(&self, index: usize) -> usize {
        let mut state = lock(&self.state);
        if index >= state.taken.saturating_add(self.pace.window) {
            self.wake_for_result(&mut state);
            // Not for one item only, since the next would wait again.
            let end = index.saturating_add(self.pace.at_once());
            while !self.stopped.load(Ordering::SeqCst)
                && end > state.taken.saturating_add(self.pace.window)
            {
                state.needs_room = true;
                state = self
                    .room
                    .wait(state)
                    .unwrap_or_else(PoisonError::into_inner);
            }
            state.needs_room = false;
        }
        state.taken.saturating_add(self.pace.window)
    }

    fn put(&self, index: usize, result: Result<T, Panic>) {
        let mut state = lock(&self.state);
        let at = index.saturating_sub(state.first);
        while state.slots.len() <= at {
            state.slots.push_back(None);
        }
        if let Some(slot) = state.slots.get_mut(at) {
            *slot = Some(result);
        }
        while let Some(Some(_)) = state.slots.get(state.ready) {
            state.ready += 1;
        }
        let is_last = state
            .end
            .is_some_and(|end| state.first + state.ready >= end);
        if state.ready >= self.pace.at_once() || is_last {
            self.wake_for_result(&mut state);
        }
    }

    /// The items have ended.
    fn end(&self, count: usize) {
        let mut state = lock(&self.state);
        state.end = Some(count);
        self.wake_for_result(&mut state);
    }

    /// Waking is a system call even if no thread sleeps.
    fn wake_for_result(&self, state: &mut QueueState<T>) {
        if std::mem::take(&mut state.needs_result) {
            self.made.notify_all();
        }
    }

    /// Wait for results and take some. Returns false after the last one.
    fn hand_over(&self, results: &mut VecDeque<Result<T, Panic>>) -> bool {
        let mut state = lock(&self.state);
        while state.ready == 0 {
            if state.end.is_some_and(|end| state.first >= end) {
                return false;
            }
            state.needs_result = true;
            // A few results wake no receiver, and the thread that made them may be busy with the next one for long.
            state = self
                .made
                .wait_timeout(state, UNNOTICED)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
        state.needs_result = false;
        let count = state.ready.min(self.pace.at_once());
        results.extend(state.slots.drain(..count).flatten());
        state.ready -= count;
        state.first += count;
        true
    }

    /// The results that were handed over have been taken.
    fn all_taken(&self) {
        let mut state = lock(&self.state);
        state.taken = state.first;
        // A thread that wakes up checks whether the room is enough.
        if state.needs_room {
            self.room.notify_all();
        }
    }
}

/// The message of a panic.
fn panic_of(panic: &(dyn std::any::Any + Send)) -> Panic {
    let text = panic.downcast_ref::<&str>().map(ToString::to_string);
    Panic(
        text.or_else(|| panic.downcast_ref::<String>().cloned())
            .unwrap_or_else(|| "no message".into()),
    )
}

/// A panic elsewhere leaves nothing half-written here.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl From<Panic> for Error {
    fn from(Panic(message): Panic) -> Self {
        Error::new(
            ErrorKind::Unsupported,
            format!("this is a fault of mapstack: {message}"),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;
    use std::sync::mpsc;
    use std::thread::scope;

    #[test]
    fn results_come_in_order_whatever_takes_long() {
        for threads in [1, 2, 7] {
            let slow_first = |n: u64| {
                std::thread::sleep(Duration::from_micros(if n.is_multiple_of(10) {
                    300
                } else {
                    1
                }));
                n
            };
            let all: Vec<u64> = scope(|s| {
                ordered(s, 0..500, Pace { threads, window: 9 }, slow_first)
                    .map(Result::unwrap)
                    .collect()
            });
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
            for _ in ordered(
                s,
                0..300,
                Pace {
                    threads: 4,
                    window: 5,
                },
                work,
            ) {
                std::thread::sleep(Duration::from_micros(50));
                taken.fetch_add(1, Ordering::SeqCst);
            }
        });
        // The one that is being taken counts as taken a moment later.
        assert!((1..=6).contains(&most.load(Ordering::SeqCst)), "{most:?}");
    }

    #[test]
    fn a_result_waits_for_none_after_it() {
        for threads in [1, 3] {
            let (shown, all_shown) = mpsc::channel();
            let all_shown = Mutex::new(all_shown);
            scope(|s| {
                // The last item is done when all before it were shown.
                let work = |n| {
                    if n == 99 {
                        (0..99).for_each(|n| assert_eq!(lock(&all_shown).recv(), Ok(n)));
                    }
                    n
                };
                for n in ordered(s, 0..100, Pace::threads(threads), work).map(Result::unwrap) {
                    shown.send(n).unwrap();
                }
            });
        }
    }

    #[test]
    fn every_thread_has_an_item_where_there_are_few() {
        let all_begun = std::sync::Barrier::new(8);
        let results = scope(|s| {
            let work = |n| {
                all_begun.wait();
                n
            };
            ordered(s, 0..8, Pace::threads(8), work)
                .map(Result::unwrap)
                .collect::<Vec<_>>()
        });
        assert_eq!(results, (0..8).collect::<Vec<_>>());
    }

    #[test]
    fn no_window_is_too_narrow_or_too_wide() {
        for (threads, window) in [(1, 1), (4, 1), (4, 3), (2, 40), (3, 300), (1, usize::MAX)] {
            let results = scope(|s| {
                ordered(s, 0..2_000, Pace { threads, window }, |n| n)
                    .map(Result::unwrap)
                    .collect::<Vec<_>>()
            });
            assert_eq!(results, (0..2_000).collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_panic_is_one_result_and_ends_nothing() {
        let results: Vec<Result<u32, Panic>> = scope(|s| {
            let work = |n| if n == 3 { panic!("at {n}") } else { n };
            ordered(s, 0..6, Pace::threads(2), work).collect()
        });
        assert_eq!(results.iter().filter(|r| r.is_ok()).count(), 5);
        assert_eq!(results[3], Err(Panic("at 3".into())));
    }

    #[test]
    fn who_takes_no_more_ends_the_work() {
        let done = AtomicUsize::new(0);
        scope(|s| {
            let work = |_| done.fetch_add(1, Ordering::SeqCst);
            let mut results = ordered(
                s,
                0..1_000_000_usize,
                Pace {
                    threads: 3,
                    window: 8,
                },
                work,
            );
            assert!(results.next().is_some() && results.next().is_some());
        });
        assert!(done.load(Ordering::SeqCst) <= 11, "{done:?}");
    }

    #[test]
    fn an_iterator_that_panics_has_no_more_items() {
        let items = (0..).map(|n| if n == 4 { panic!("no more") } else { n });
        let results: Vec<u32> = scope(|s| {
            ordered(s, items, Pace::threads(3), |n| n)
                .map(Result::unwrap)
                .collect()
        });
        assert_eq!(results, [0, 1, 2, 3]);
    }

    #[test]
    fn nothing_has_no_items() {
        let results =
            scope(|s| ordered(s, std::iter::empty::<u8>(), Pace::threads(2), |n| n).count());
        assert_eq!(results, 0);
    }
}
