//! The budget of the command: the time and the memory of everything that it does.
//!
//! Stages look at it between pieces of work and stop with what they have. A guard ends a command that goes far beyond,
//! in work that does not look.

use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use mapstack::loader::processes::started_by;
use mapstack::secrets::Secrets;
use mapstack::{Refusal, RunBudget, RunLimits, SpentResource};
use mapstack_report::message::{Level, Renderer, rendered};
use mapstack_report::words::some;

use crate::console::Failure;
use crate::inputs::flags::LimitFlags;

/// The budget of the command. All engines that [`engine`](crate::inputs::engine) makes draw from it.
pub static RUN: RunBudget = RunBudget::new();

/// The time between two looks of the guard.
const LOOK: Duration = Duration::from_millis(50);

/// The number of works that the message of the guard names.
const NAMED: usize = 3;

/// Grant the command what flags say. `nothing_done` is the exit status where the guard ends it before any work was done.
pub fn begin(given: LimitFlags, nothing_done: u8) {
    let granted = given.of_run();
    if granted == RunLimits::default() {
        return;
    }
    RUN.grant(granted);
    thread::spawn(move || {
        loop {
            thread::sleep(LOOK);
            RUN.holds(held().unwrap_or_default());
            if let Some(spent) = RUN.overdrawn() {
                eprintln!("{}", ended(spent, &RUN.at_work()));
                let status = if RUN.done() == 0 { nothing_done } else { 1 };
                std::process::exit(status.into());
            }
        }
    });
}

/// The bytes of memory that the command and the programs that it started hold, where the system says that: on Linux. The
/// allocator counts by thread, and to count for all of them would slow down each allocation.
fn held() -> Option<usize> {
    let own = std::process::id();
    // A copy of the command that does not run its program yet shares its memory.
    let others = started_by(own)
        .into_iter()
        .filter(|one| program(*one) != program(own));
    Some(held_by(own)? + others.filter_map(held_by).sum::<usize>())
}

fn program(process: u32) -> Option<PathBuf> {
    std::fs::read_link(format!("/proc/{process}/exe")).ok()
}

fn held_by(process: u32) -> Option<usize> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("RssAnon:"))?;
    let kib: usize = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1 << 10)
}

/// The outcome of a verb; a failure where it left something out because the budget was used up.
///
/// # Errors
/// The failure of the verb, or that it left something out.
pub fn whole(outcome: Result<(), Failure>, nothing_done: u8) -> Result<(), Failure> {
    let is_said = matches!(
        outcome,
        Err(Failure::Data(_) | Failure::Usage(_) | Failure::Output(_) | Failure::Incomplete { .. })
    );
    match RUN.refusal() {
        Some(refusal) if !is_said => {
            let Refusal {
                spent,
                at_work,
                done,
            } = refusal;
            Err(Failure::Incomplete {
                message: format!("{spent}: {} ({})", got_to(&at_work), spent.help()),
                status: if done == 0 { nothing_done } else { 1 },
            })
        }
        _ => outcome,
    }
}

/// The message of a command that is ended.
fn ended(spent: SpentResource, at_work: &[String]) -> String {
    let error = mapstack::Error::new(mapstack::ErrorKind::Limit, spent.to_string())
        .note(got_to(at_work))
        .help(spent.help());
    let diagnostic = Secrets::without_digests().redact(error.diagnostic());
    rendered(&Renderer::plain(), &diagnostic, Level::ERROR, None, false)
}

/// A note that names the work under way and says that the rest is missing.
fn got_to(at_work: &[String]) -> String {
    let named: Vec<&str> = at_work.iter().map(String::as_str).collect();
    match named.is_empty() {
        true => "not everything was looked at".to_owned(),
        false => format!(
            "it got to {}; nothing after that was looked at",
            some(&named, NAMED)
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn memory_is_measured() {
        let before = held().unwrap();
        let bytes = vec![1_u8; 64 << 20];
        assert!(held().unwrap() > before + bytes.len() / 2);
    }

    #[test]
    fn the_guard_says_what_was_under_way() {
        let works: Vec<String> = (0..5).map(|n| format!("web{n}: f/init.sls")).collect();
        let said = ended(SpentResource::Time(Duration::from_secs(3)), &works);
        for part in [
            "error: the run takes more than 3 s",
            "web0: f/init.sls, web1: f/init.sls, web2: f/init.sls and 2 more",
            "allow more time with",
        ] {
            assert!(said.contains(part), "{said}");
        }
        assert!(ended(SpentResource::Memory(1 << 20), &[]).contains("not everything"));
    }
}
