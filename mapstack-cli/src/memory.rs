//! The memory that this thread holds, as the allocator counts it.
//!
//! The allocator is the system's, or jemalloc with the feature of that name, behind counters for each thread. A template
//! runs on one thread, so a minion is not blamed for what others do at the same time.

use alloc_metrics::{MetricAlloc, thread_metrics};
use mapstack::MemoryLimit;

#[cfg(not(feature = "jemalloc"))]
#[global_allocator]
static ALLOCATOR: MetricAlloc<std::alloc::System> = MetricAlloc::new(std::alloc::System);

#[cfg(feature = "jemalloc")]
#[global_allocator]
static ALLOCATOR: MetricAlloc<tikv_jemallocator::Jemalloc> =
    MetricAlloc::new(tikv_jemallocator::Jemalloc);

/// The limit of so many bytes.
pub fn limit(bytes: usize) -> MemoryLimit {
    MemoryLimit::new(bytes, held)
}

/// Memory of others that a thread has freed must not make the count negative.
const ZERO: usize = 1 << (usize::BITS - 2);

/// The memory that the thread holds, from some point on: only differences mean anything.
fn held() -> usize {
    ZERO.wrapping_add_signed(thread_metrics().allocated_bytes)
}

#[cfg(test)]
mod tests {
    use super::held;

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
