//! The processes that a process has started, where the system says that: on Linux.

/// All processes that one has started, and those that these have started.
///
/// ```
/// assert!(mapstack_loader::processes::started_by(u32::MAX).is_empty());
/// ```
#[must_use]
pub fn started_by(process: u32) -> Vec<u32> {
    let mut all = children(process);
    let mut looked_at = 0;
    while let Some(one) = all.get(looked_at) {
        all.extend(children(*one));
        looked_at += 1;
    }
    all
}

fn children(process: u32) -> Vec<u32> {
    let threads = std::fs::read_dir(format!("/proc/{process}/task"));
    let threads = threads.into_iter().flatten().flatten();
    let started = threads.filter_map(|thread| {
        let started = std::fs::read_to_string(thread.path().join("children")).ok()?;
        let started = started.split_whitespace();
        Some(
            started
                .filter_map(|one| one.parse().ok())
                .collect::<Vec<u32>>(),
        )
    });
    started.flatten().collect()
}
