//! The limits of a render: steps, time, memory, output and depth.

use std::fmt;
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
    /// The work that is limited.
    pub spender: Spender,
}

/// The work that limits are for, as messages name it.
///
/// ```
/// use mapstack_pyobject::{Budget, limits::{Limits, Spender}};
/// let limits = Limits { fuel: 10, ..Limits::default() }.of(Spender::StateCompiler);
/// let error = Budget::new(limits, None).burn(11).unwrap_err();
/// assert_eq!(error.message, "the state compiler ran for more than 10 steps");
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Spender {
    /// A template.
    #[default]
    Template,
    /// The compiler of states, which makes low data.
    StateCompiler,
}

impl Spender {
    /// The usual cause of too many steps.
    pub(super) fn cause_of_steps(self) -> &'static str {
        match self {
            Spender::Template => "a loop that does not end",
            Spender::StateCompiler => "names and requisites that multiply",
        }
    }

    /// The usual cause of too much time.
    fn cause_of_time(self) -> &'static str {
        match self {
            Spender::Template => "a loop over too much data",
            Spender::StateCompiler => self.cause_of_steps(),
        }
    }

    /// The usual cause of too much memory.
    fn cause_of_memory(self) -> &'static str {
        match self {
            Spender::Template => "a loop that collects too much data",
            Spender::StateCompiler => self.cause_of_steps(),
        }
    }
}

impl fmt::Display for Spender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Spender::Template => "the template",
            Spender::StateCompiler => "the state compiler",
        })
    }
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
            spender: Spender::Template,
        }
    }
}

impl Limits {
    /// The same limits for other work.
    #[must_use]
    pub fn of(self, spender: Spender) -> Self {
        Limits { spender, ..self }
    }

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
        let (memory, spender) = (self.memory, self.spender);
        if let Some(run) = self.run {
            let taken = memory.map(|memory| memory.taken().saturating_add(more));
            taken.map_or_else(|| run.check(), |taken| run.check_one(taken))?;
        }
        self.time.map_or(Ok(()), |time| time.check(spender))?;
        memory.map_or(Ok(()), |memory| memory.check(more, spender))
    }

    /// The bytes of memory that are left for work in another process, if they are limited: of works at once, each
    /// has its part of the run's memory.
    #[must_use]
    pub fn memory_left(&self) -> Option<usize> {
        let part = self.run.and_then(RunBudget::for_a_process);
        let left = self.memory.map(|memory| memory.left());
        part.into_iter().chain(left).min()
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

    fn check(&self, spender: Spender) -> Result<()> {
        if !self.left().is_zero() {
            return Ok(());
        }
        Err(
            Error::limit(format!("{spender} ran for more than {:?}", self.allowed)).with_help(
                format!(
                    "look for {}, or allow more time with {}",
                    spender.cause_of_time(),
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
        self.most.saturating_sub(self.taken())
    }

    fn taken(&self) -> usize {
        (self.held)().saturating_sub(self.before.unwrap_or_default())
    }

    fn check(&self, more: usize, spender: Spender) -> Result<()> {
        let left = self.left();
        if left > 0 && more <= left {
            return Ok(());
        }
        Err(Error::limit(format!(
            "{spender} takes more than {} of memory",
            shown(self.most)
        ))
        .with_help(format!(
            "look for {}, or allow more memory with {}",
            spender.cause_of_memory(),
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
