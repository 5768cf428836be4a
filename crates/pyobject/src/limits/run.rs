//! The budget of a whole run: what all files, templates and minions of a command may take together.

use std::collections::HashSet;
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::ThreadId;
use std::time::{Duration, Instant};

use mapstack_diagnostic::Means;

use crate::limits::bounds::shown;
use crate::limits::error::{Error, Result};

/// Time and memory of a whole run. Templates draw from it beside their own limits, and so does all work between them.
///
/// Nothing is limited before [`grant`](Self::grant).
///
/// ```
/// use std::time::Duration;
/// use mapstack_pyobject::limits::{RunLimits, RunBudget};
/// static RUN: RunBudget = RunBudget::new();
/// assert!(RUN.spent().is_none());
/// RUN.grant(RunLimits { time: Some(Duration::ZERO), memory: None });
/// assert_eq!(RUN.spent().unwrap().to_string(), "the run takes more than 0 s");
/// ```
#[derive(Debug)]
pub struct RunBudget {
    clock: Mutex<Clock>,
    /// The bytes that the process holds, as far as that was said.
    held: AtomicUsize,
    busy: Mutex<Vec<WorkUnderWay>>,
    refusal: Mutex<Option<Refusal>>,
    begun: AtomicUsize,
    done: AtomicUsize,
}

/// The limits of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RunLimits {
    /// The time.
    pub time: Option<Duration>,
    /// Bytes that the process may hold.
    pub memory: Option<usize>,
}

/// The time between two looks at memory that is used up, and the number of looks.
const LOOK: Duration = Duration::from_millis(50);
const LOOKS: usize = 10;

/// The memory that each of several works at once can have, in bytes, however many there are.
const LEAST: usize = 64 << 20;

/// Work that is under way.
#[derive(Debug)]
struct WorkUnderWay {
    number: usize,
    thread: ThreadId,
    subject: String,
    at: String,
}

#[derive(Debug, Clone, Copy)]
struct Clock {
    granted: RunLimits,
    from: Option<Instant>,
    /// When it was stopped.
    stopped: Option<Instant>,
}

impl Clock {
    fn passed(&self) -> Duration {
        let now = self.stopped.unwrap_or_else(Instant::now);
        self.from
            .map_or(Duration::ZERO, |from| now.saturating_duration_since(from))
    }
}

/// The first time that work stopped because the budget was used up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The limit that was exceeded.
    pub spent: SpentResource,
    /// The work [under way](RunBudget::at_work) then.
    pub at_work: Vec<String>,
    /// The number of works that were done before.
    pub done: usize,
}

/// The resource that a run has used up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpentResource {
    /// This time.
    Time(Duration),
    /// This many bytes.
    Memory(usize),
}

impl RunBudget {
    /// A budget without limits.
    #[must_use]
    #[expect(clippy::new_without_default, reason = "it is for statics")]
    pub const fn new() -> Self {
        let clock = Clock {
            granted: RunLimits {
                time: None,
                memory: None,
            },
            from: None,
            stopped: None,
        };
        RunBudget {
            clock: Mutex::new(clock),
            held: AtomicUsize::new(0),
            busy: Mutex::new(Vec::new()),
            refusal: Mutex::new(None),
            begun: AtomicUsize::new(0),
            done: AtomicUsize::new(0),
        }
    }

    /// Limit the run from now on. Time that has passed before does not count.
    pub fn grant(&self, granted: RunLimits) {
        *lock(&self.clock) = Clock {
            granted,
            from: Some(Instant::now()),
            stopped: None,
        };
    }

    /// Count the time from now, with the same limits.
    pub fn renew(&self) {
        lock(&self.clock).from = Some(Instant::now());
        lock(&self.refusal).take();
    }

    /// Take note of how many bytes the process holds.
    pub fn holds(&self, bytes: usize) {
        self.held.store(bytes, Ordering::Relaxed);
    }

    /// Wait for others, such as the reader of the output, which does not count as time of the run.
    pub fn wait<T>(&self, wait: impl FnOnce() -> T) -> T {
        lock(&self.clock).stopped = Some(Instant::now());
        let result = wait();
        let mut clock = lock(&self.clock);
        let waited = clock.stopped.take().map(|since| since.elapsed());
        clock.from = clock.from.map(|from| from + waited.unwrap_or_default());
        result
    }

    /// The limit that is exceeded. Who asks stops then, which the run [remembers](Self::refusal).
    #[must_use]
    pub fn spent(&self) -> Option<SpentResource> {
        let spent = self.exceeded_for_long()?;
        lock(&self.refusal).get_or_insert_with(|| Refusal {
            spent,
            at_work: self.at_work(),
            done: self.done(),
        });
        Some(spent)
    }

    /// The first time that work stopped because the budget was used up, if that happened.
    ///
    /// ```
    /// use std::time::Duration;
    /// use mapstack_pyobject::limits::{RunLimits, RunBudget};
    /// static RUN: RunBudget = RunBudget::new();
    /// RUN.grant(RunLimits { time: Some(Duration::ZERO), memory: None });
    /// assert!(RUN.refusal().is_none());
    /// assert!(RUN.check().is_err() && RUN.refusal().is_some());
    /// ```
    #[must_use]
    pub fn refusal(&self) -> Option<Refusal> {
        lock(&self.refusal).clone()
    }

    /// The limit that is exceeded by far: work that looks at the budget would have ended before.
    #[must_use]
    pub fn overdrawn(&self) -> Option<SpentResource> {
        self.spent_with(
            |time| time + time / 8 + Duration::from_secs(2),
            |bytes| bytes.saturating_add(slack(bytes)),
        )
    }

    fn spent_with(
        &self,
        time: impl Fn(Duration) -> Duration,
        memory: impl Fn(usize) -> usize,
    ) -> Option<SpentResource> {
        let clock = *lock(&self.clock);
        let granted = clock.granted;
        if let Some(most) = granted.time.filter(|most| clock.passed() >= time(*most)) {
            return Some(SpentResource::Time(most));
        }
        let held = self.held.load(Ordering::Relaxed);
        let most = granted.memory.filter(|most| held > memory(*most))?;
        Some(SpentResource::Memory(most))
    }

    /// The time that is left, if it is limited.
    #[must_use]
    pub fn time_left(&self) -> Option<Duration> {
        let clock = *lock(&self.clock);
        Some(clock.granted.time?.saturating_sub(clock.passed()))
    }

    /// Check that the run may go on.
    ///
    /// # Errors
    /// A limit error when time or memory is used up.
    pub fn check(&self) -> Result<()> {
        self.spent().map_or(Ok(()), |spent| Err(spent.into()))
    }

    /// Check that a work that holds this many bytes may go on. Of works on several threads each has an equal part of the
    /// memory, or 64 MiB if that is more. Where the run has no memory left, those stop that hold more than half of
    /// their part, or less the further the run is beyond, and the others go on.
    ///
    /// ```
    /// use mapstack_pyobject::limits::{RunLimits, RunBudget};
    /// static RUN: RunBudget = RunBudget::new();
    /// RUN.grant(RunLimits { memory: Some(200 << 20), time: None });
    /// let works = ["web1", "web2"].map(|minion| std::thread::spawn(move || RUN.busy_with(minion)).join().unwrap());
    /// assert!(RUN.check_one(90 << 20).is_ok());
    /// let error = RUN.check_one(101 << 20).unwrap_err();
    /// assert_eq!(error.message, "the run has 200 MiB of memory for 2 works at once, and one takes more than its part");
    /// RUN.holds(201 << 20);
    /// assert!(RUN.check_one(20 << 20).is_ok() && RUN.check_one(90 << 20).is_err());
    /// // The rest of the run goes on.
    /// assert!(RUN.refusal().is_none());
    /// ```
    ///
    /// # Errors
    /// A limit error when the time is used up, or the memory by this work.
    pub fn check_one(&self, holds: usize) -> Result<()> {
        let exceeded = self.exceeded();
        match exceeded {
            None if holds <= LEAST => return Ok(()),
            Some(SpentResource::Time(_)) => return self.check(),
            _ => {}
        }
        let (Some(most), works) = (lock(&self.clock).granted.memory, self.works_at_once()) else {
            return Ok(());
        };
        let part = (most / works.max(1)).max(LEAST);
        let allowed = match exceeded {
            _ if works < 2 => return self.check(),
            None => part,
            Some(_) => part / 32 * self.room_left(most).max(1),
        };
        if holds <= allowed {
            return Ok(());
        }
        let message = format!(
            "the run has {} of memory for {works} works at once, and one takes more than its part",
            shown(most)
        );
        Err(Error::limit(message).with_help(SpentResource::Memory(most).help()))
    }

    /// The room between the memory of the run and its end, in sixteenths.
    fn room_left(&self, most: usize) -> usize {
        let over = self.held.load(Ordering::Relaxed).saturating_sub(most);
        slack(most).saturating_sub(2 * over) / (slack(most) / 16)
    }

    /// The memory that another process can have for a work under way, if memory is limited. What the work held before
    /// is not always free, so it is half of its part, and less where the run has no memory left.
    ///
    /// ```
    /// use mapstack_pyobject::limits::{RunLimits, RunBudget};
    /// static RUN: RunBudget = RunBudget::new();
    /// RUN.grant(RunLimits { memory: Some(800 << 20), time: None });
    /// let works = ["web1", "web2"].map(|minion| std::thread::spawn(move || RUN.busy_with(minion)).join().unwrap());
    /// assert_eq!(RUN.for_a_process(), Some(200 << 20));
    /// RUN.holds(801 << 20);
    /// assert_eq!(RUN.for_a_process(), Some(50 << 20));
    /// ```
    #[must_use]
    pub fn for_a_process(&self) -> Option<usize> {
        let most = lock(&self.clock).granted.memory?;
        match (self.works_at_once(), self.exceeded()) {
            (0 | 1, _) => Some(most),
            (works, None) => Some((most / works).max(LEAST) / 2),
            (works, Some(_)) => Some((most / works).max(LEAST) / 8),
        }
    }

    /// The number of threads with work under way.
    fn works_at_once(&self) -> usize {
        let busy = lock(&self.busy);
        let threads: HashSet<ThreadId> = busy.iter().map(|work| work.thread).collect();
        threads.len()
    }

    /// The limit that is exceeded, for a while if it is the memory: of works at once, those that take most of it
    /// are about to stop.
    fn exceeded_for_long(&self) -> Option<SpentResource> {
        let mut looks = 0;
        loop {
            let spent = self.exceeded()?;
            let is_final = matches!(spent, SpentResource::Time(_)) || self.works_at_once() < 2;
            if is_final || looks == LOOKS || lock(&self.refusal).is_some() {
                return Some(spent);
            }
            std::thread::sleep(LOOK);
            looks += 1;
        }
    }

    fn exceeded(&self) -> Option<SpentResource> {
        self.spent_with(|time| time, |bytes| bytes)
    }

    /// Say what is being worked on, until the result is dropped.
    ///
    /// ```
    /// use mapstack_pyobject::limits::RunBudget;
    /// static RUN: RunBudget = RunBudget::new();
    /// let busy = RUN.busy_with("web1");
    /// busy.at("users/init.sls");
    /// assert_eq!(RUN.at_work(), ["web1: users/init.sls"]);
    /// drop(busy);
    /// assert_eq!((RUN.at_work().len(), RUN.done()), (0, 1));
    /// ```
    pub fn busy_with(&self, subject: impl Into<String>) -> RunningWork<'_> {
        let number = self.begun.fetch_add(1, Ordering::Relaxed);
        let work = WorkUnderWay {
            number,
            thread: std::thread::current().id(),
            subject: subject.into(),
            at: String::new(),
        };
        lock(&self.busy).push(work);
        RunningWork { run: self, number }
    }

    /// The work under way: the minion that it is for, and the last file that was read. A run inside another one is for
    /// the same minion, which is named once.
    #[must_use]
    pub fn at_work(&self) -> Vec<String> {
        let busy = lock(&self.busy);
        let mut works: Vec<(&str, &str)> = Vec::new();
        for WorkUnderWay { subject, at, .. } in busy.iter() {
            match works.iter_mut().find(|(known, _)| known == subject) {
                // The innermost run knows best.
                Some((_, known)) if !at.is_empty() => *known = at,
                Some(_) => {}
                None => works.push((subject, at)),
            }
        }
        let shown = |(subject, at): &(&str, &str)| match at.is_empty() {
            true => (*subject).to_owned(),
            false => format!("{subject}: {at}"),
        };
        works.iter().map(shown).collect()
    }

    /// The number of works that are done.
    #[must_use]
    pub fn done(&self) -> usize {
        self.done.load(Ordering::Relaxed)
    }
}

/// Work of a run that is under way.
#[derive(Debug)]
pub struct RunningWork<'r> {
    run: &'r RunBudget,
    number: usize,
}

impl RunningWork<'_> {
    /// Say which file was read last.
    pub fn at(&self, file: &str) {
        let mut busy = lock(&self.run.busy);
        if let Some(work) = busy.iter_mut().find(|work| work.number == self.number) {
            work.at.clear();
            work.at.push_str(file);
        }
    }
}

impl Drop for RunningWork<'_> {
    fn drop(&mut self) {
        lock(&self.run.busy).retain(|work| work.number != self.number);
        self.run.done.fetch_add(1, Ordering::Relaxed);
    }
}

/// The bytes beyond its memory with which a run ends.
fn slack(most: usize) -> usize {
    (most / 4).max(128 << 20)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl SpentResource {
    /// The advice.
    #[must_use]
    pub fn help(&self) -> String {
        match self {
            SpentResource::Time(_) => format!("allow more time with {}", Means::MaxTime),
            SpentResource::Memory(_) => format!("allow more memory with {}", Means::MaxMemory),
        }
    }
}

impl fmt::Display for SpentResource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SpentResource::Time(time) => write!(f, "the run takes more than {} s", time.as_secs()),
            SpentResource::Memory(bytes) => {
                write!(f, "the run takes more than {} of memory", shown(*bytes))
            }
        }
    }
}

impl From<SpentResource> for Box<Error> {
    fn from(spent: SpentResource) -> Self {
        Error::limit(spent.to_string()).with_help(spent.help())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_that_of_the_process() {
        static RUN: RunBudget = RunBudget::new();
        let granted = |mib: usize| RunLimits {
            memory: Some(mib << 20),
            time: None,
        };
        RUN.holds(5 << 20);
        RUN.grant(granted(6));
        assert_eq!(RUN.spent(), None);
        RUN.grant(granted(4));
        assert_eq!(RUN.spent(), Some(SpentResource::Memory(4 << 20)));
        assert_eq!(RUN.overdrawn(), None);
        let error = RUN.check().unwrap_err();
        assert_eq!(error.message, "the run takes more than 4 MiB of memory");
        RUN.holds(140 << 20);
        assert_eq!(RUN.overdrawn(), Some(SpentResource::Memory(4 << 20)));
    }

    #[test]
    fn a_minion_with_several_runs_is_named_once() {
        static RUN: RunBudget = RunBudget::new();
        let works: Vec<RunningWork<'_>> = ["web1", "web1", "web2", "web1"]
            .map(|minion| RUN.busy_with(minion))
            .into();
        assert_eq!(RUN.at_work(), ["web1", "web2"]);
        works[1].at("top.sls");
        works[0].at("f/init.sls");
        assert_eq!(RUN.at_work(), ["web1: top.sls", "web2"]);
    }

    #[test]
    fn time_counts_from_the_last_renewal_and_without_waits() {
        static RUN: RunBudget = RunBudget::new();
        let time = Duration::from_millis(200);
        RUN.grant(RunLimits {
            time: Some(time),
            memory: None,
        });
        RUN.wait(|| {
            std::thread::sleep(time);
            assert_eq!(RUN.spent(), None);
        });
        assert_eq!(RUN.spent(), None);
        std::thread::sleep(time);
        assert!(RUN.spent().is_some() && RUN.overdrawn().is_none());
        RUN.renew();
        assert_eq!(RUN.spent(), None);
        assert!(RUN.time_left().is_some());
    }
}
