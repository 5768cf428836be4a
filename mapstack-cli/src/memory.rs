//! How much memory this thread holds, as the allocator counts it.
//!
//! jemalloc counts for each thread what it allocates and frees, at no cost of its own. A template runs on one thread,
//! so a minion is not blamed for what others do at the same time. Where jemalloc cannot be built, memory is not measured,
//! and only the steps that templates pay bound them.

use mapstack::MemoryLimit;

/// The limit of so many bytes, where they can be counted.
pub fn limit(bytes: usize) -> Option<MemoryLimit> {
    counted::is_available().then(|| MemoryLimit::new(bytes, counted::held))
}

#[cfg(not(target_env = "msvc"))]
mod counted {
    use tikv_jemalloc_ctl::thread::{ThreadLocal, allocatedp, deallocatedp};

    #[global_allocator]
    static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

    thread_local! {
        /// Bytes that the thread has allocated so far, and those that it has freed.
        static COUNTERS: Option<(ThreadLocal<u64>, ThreadLocal<u64>)> =
            allocatedp::read().ok().zip(deallocatedp::read().ok());
    }

    /// What a thread has freed of others' memory must not make the count negative.
    const ZERO: u64 = 1 << 62;

    pub fn is_available() -> bool {
        COUNTERS.with(Option::is_some)
    }

    /// What the thread holds, from some point on: only differences mean anything.
    pub fn held() -> usize {
        let count = COUNTERS.with(|counters| {
            counters.as_ref().map_or(0, |(allocated, freed)| {
                allocated.get().wrapping_sub(freed.get())
            })
        });
        usize::try_from(count.wrapping_add(ZERO)).unwrap_or(usize::MAX)
    }
}

#[cfg(target_env = "msvc")]
mod counted {
    pub fn is_available() -> bool {
        false
    }

    pub fn held() -> usize {
        0
    }
}

#[cfg(test)]
mod tests {
    use super::counted::held;

    #[cfg(not(target_env = "msvc"))]
    #[test]
    fn what_this_thread_holds_is_counted() {
        let before = held();
        let bytes = vec![1_u8; 1 << 20];
        let other = std::thread::spawn(|| vec![2_u8; 1 << 24].len())
            .join()
            .unwrap();
        let more = held() - before;
        assert!(
            (1 << 20..2 << 20).contains(&more),
            "{more} {}",
            bytes.len() + other
        );
        drop(bytes);
        assert!(held() - before < 1 << 16);
    }
}
