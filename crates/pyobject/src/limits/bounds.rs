//! The limits of a render: steps, time, memory, output and depth.

use std::time::{Duration, Instant};

use mapstack_diagnostic::Means;

use crate::limits::error::{Error, Result};
use crate::limits::run::RunBudget;

/// The limits of a render.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Evaluation steps. Every operation pays by the size of what it reads and makes, one step for 16 bytes of text
    /// or some items of a container.
    pub fuel: u64,
    /// Bytes of output, also of each capture.
    pub output: usize,
    /// Macro calls, includes and imports inside each other.
    pub depth: usize,
    /// The time limit. The clock is read only if there is such a limit.
    pub time: Option<Deadline>,
    /// The memory limit, according to a measuring function.
    pub memory: Option<MemoryLimit>,
    /// The budget of the whole run, which this render and others draw from.
    pub run: Option<&'static RunBudget>,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            fuel: 50_000_000,
            output: 64 << 20,
            depth: 180,
            time: None,
            memory: None,
            run: None,
        }
    }
}

impl Limits {
    /// The same limits, with time and memory counted from now unless they were started before. Renders that share
    /// what they may spend are given limits that were started.
    #[must_use]
    pub fn started(self) -> Self {
        let time = self.time.map(|time| Deadline {
            from: time.from.or_else(|| Some(Instant::now())),
            ..time
        });
        let memory = self.memory.map(|m| MemoryLimit {
            before: m.before.or_else(|| Some((m.held)())),
            ..m
        });
        Limits {
            time,
            memory,
            ..self
        }
    }

    /// The same limits, with time and memory counted from now.
    #[must_use]
    pub fn restarted(self) -> Self {
        let time = self.time.map(|time| Deadline { from: None, ..time });
        let memory = self.memory.map(|memory| MemoryLimit {
            before: None,
            ..memory
        });
        Limits {
            time,
            memory,
            ..self
        }
        .started()
    }

    /// The same limits for work that another thread does: the time is what was left, the memory counts from now.
    #[must_use]
    pub fn on_this_thread(self) -> Self {
        let most = |memory: MemoryLimit| MemoryLimit {
            before: Some((memory.held)()),
            ..memory
        };
        Limits {
            memory: self.memory.map(most),
            ..self
        }
    }

    /// True if the clock or the memory has to be checked.
    pub fn need_checks(&self) -> bool {
        self.time.is_some() || self.memory.is_some() || self.run.is_some()
    }

    /// Look at the clock and at the memory. `more` is how many bytes are about to be allocated.
    ///
    /// # Errors
    /// A limit error when the time is over, or more is held than may be, by this render or by the whole run.
    pub fn check(&self, more: usize) -> Result<()> {
        self.check_run()?;
        self.time.map_or(Ok(()), |time| time.check())?;
        self.memory.map_or(Ok(()), |memory| memory.check(more))
    }

    /// Check that the whole run may go on.
    ///
    /// # Errors
    /// A limit error when its time or memory is used up.
    pub fn check_run(&self) -> Result<()> {
        self.run.map_or(Ok(()), RunBudget::check)
    }
}

/// When a render must be done.
#[derive(Debug, Clone, Copy)]
pub struct Deadline {
    allowed: Duration,
    /// When it began.
    from: Option<Instant>,
}

impl Deadline {
    /// So much time from the start of the render.
    #[must_use]
    pub const fn after(allowed: Duration) -> Self {
        Deadline {
            allowed,
            from: None,
        }
    }

    /// The time that is left.
    #[must_use]
    pub fn left(&self) -> Duration {
        self.from.map_or(self.allowed, |from| {
            self.allowed.saturating_sub(from.elapsed())
        })
    }

    fn check(&self) -> Result<()> {
        if !self.left().is_zero() {
            return Ok(());
        }
        Err(
            Error::limit(format!("the template ran for more than {:?}", self.allowed)).with_help(
                format!(
                    "look for a loop over too much data, or allow more time with {}",
                    Means::MaxTime
                ),
            ),
        )
    }
}

/// The limit of a render's memory.
#[derive(Debug, Clone, Copy)]
pub struct MemoryLimit {
    most: usize,
    held: fn() -> usize,
    /// The memory held when the render began.
    before: Option<usize>,
}

impl MemoryLimit {
    /// So many bytes more than at the start of the render. `held` measures what is held now: by this thread, if
    /// that can be known, so that no run is charged for what another thread does.
    #[must_use]
    pub const fn new(most: usize, held: fn() -> usize) -> Self {
        MemoryLimit {
            most,
            held,
            before: None,
        }
    }

    /// The number of bytes that are left.
    #[must_use]
    pub fn left(&self) -> usize {
        let held = (self.held)().saturating_sub(self.before.unwrap_or_default());
        self.most.saturating_sub(held)
    }

    fn check(&self, more: usize) -> Result<()> {
        let left = self.left();
        if left > 0 && more <= left {
            return Ok(());
        }
        Err(Error::limit(format!(
            "the template takes more than {} of memory",
            shown(self.most)
        ))
        .with_help(format!(
            "look for a loop that collects too much data, or allow more memory with {}",
            Means::MaxMemory
        )))
    }
}

/// Bytes in words.
pub(super) fn shown(bytes: usize) -> String {
    match bytes {
        mib if mib >= 1 << 20 && mib.is_multiple_of(1 << 20) => format!("{} MiB", mib >> 20),
        bytes => format!("{bytes} bytes"),
    }
}
