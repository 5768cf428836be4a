//! The progress of a fetch.

use std::sync::{Arc, Mutex, PoisonError};

/// The progress of a fetch; clones look at the same one.
///
/// ```
/// use mapstack_salt_config::gitfs::Progress;
/// assert_eq!(Progress::default().now(), None);
/// ```
#[derive(Debug, Clone, Default)]
pub struct Progress(Arc<Mutex<Option<FetchStage>>>);

/// A stage of a fetch: its name, how much is done, and of how much if that is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FetchStage {
    /// The name of the stage.
    pub name: String,
    /// The amount that is done.
    pub done: usize,
    /// Of how much.
    pub total: Option<usize>,
}

impl FetchStage {
    /// The stage in a line of git's progress, such as `Receiving objects:  45% (90/200), 1.20 MiB`.
    fn of_line(line: &str) -> Option<Self> {
        let (name, rest) = line.split_once(": ")?;
        // The server's own lines have its name before theirs.
        let (name, rest) = match name {
            "remote" => rest.split_once(": ")?,
            _ => (name, rest),
        };
        let number = |digits: &str| digits.trim().parse().ok();
        let (done, total) = match rest.split_once('(') {
            Some((percent, parts)) if percent.trim_end().ends_with('%') => {
                let (done, total) = parts.split_once(')')?.0.split_once('/')?;
                (number(done)?, Some(number(total)?))
            }
            _ => (number(rest.split(',').next()?)?, None),
        };
        Some(FetchStage {
            name: name.into(),
            done,
            total,
        })
    }
}

impl Progress {
    /// The current stage.
    #[must_use]
    pub fn now(&self) -> Option<FetchStage> {
        self.stage().clone()
    }

    /// Take a line of git's; whether it is one of progress.
    pub(super) fn takes(&self, line: &str) -> bool {
        let stage = FetchStage::of_line(line);
        let is_progress = stage.is_some();
        if is_progress {
            *self.stage() = stage;
        }
        is_progress
    }

    fn stage(&self) -> std::sync::MutexGuard<'_, Option<FetchStage>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_progress_are_told_from_others() {
        for (line, expected) in [
            (
                "Receiving objects:  45% (90/200), 1.20 MiB | 2.00 MiB/s",
                Some(("Receiving objects", 90, Some(200))),
            ),
            (
                "remote: Counting objects: 100% (3/3), done.",
                Some(("Counting objects", 3, Some(3))),
            ),
            (
                "remote: Enumerating objects: 7, done.",
                Some(("Enumerating objects", 7, None)),
            ),
            ("remote: Please log in", None),
            ("fatal: unable to access 'https://example.org/a': x", None),
            ("remote: Total 3 (delta 0), reused 0 (delta 0)", None),
        ] {
            let stage = FetchStage::of_line(line);
            let stage = stage.as_ref().map(|s| (s.name.as_str(), s.done, s.total));
            assert_eq!(stage, expected, "{line}");
        }
    }
}
