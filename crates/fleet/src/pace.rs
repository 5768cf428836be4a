//! The number of threads that work, and how far they are ahead.

/// The amount of work that is done side by side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    /// The number of threads.
    pub threads: usize,
    /// The number of items that may be begun and not yet taken, which bounds the memory.
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
        Pace {
            threads,
            window: threads.saturating_mul(AHEAD),
        }
    }

    /// The number of results that are handed over at once. Waking a thread costs as much as the work for some
    /// items, so it is not done for each; a small window is one that is watched closely.
    pub(crate) fn at_once(self) -> usize {
        (self.window / PARTS).clamp(1, AT_ONCE)
    }
}

/// Items that each thread may be ahead: enough for one that takes as long as hundreds of others.
const AHEAD: usize = 256;

/// Results that are handed over at once at most, where the window allows.
const AT_ONCE: usize = 32;

/// A window has room for this many times what is handed over at once.
const PARTS: usize = 8;

impl Default for Pace {
    /// As many threads as the machine runs at once.
    fn default() -> Self {
        Pace::threads(std::thread::available_parallelism().map_or(1, usize::from))
    }
}
