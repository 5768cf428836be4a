//! Jobs in a process that nothing else is done in.

use std::cell::RefCell;
use std::io::{self, Read, Write};
use std::panic::{self, AssertUnwindSafe};

use mapstack_sandbox::protocol::{
    FailureKind, Hello, JobFailure, JobOutcome, JobUsage, Names, write_frame,
};

use crate::sandbox::Machine;
use crate::walls;

thread_local! {
    /// The message of the last panic.
    static PANIC: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Keep what panics say instead of printing it.
pub(crate) fn quiet_panics() {
    panic::set_hook(Box::new(|info| {
        let text = info
            .payload()
            .downcast_ref::<&str>()
            .map(|text| (*text).to_owned());
        let text = text
            .or_else(|| info.payload().downcast_ref::<String>().cloned())
            .unwrap_or_default();
        PANIC.with_borrow_mut(|panic| *panic = text);
    }));
}

/// Do jobs over a stream, in the final sandbox, until one fails or the command hangs up. The sandbox has the limits of
/// the first job's bounds. The command decides which jobs may be done in one process.
pub(crate) fn serve(machine: &Machine, input: impl Read + 'static, output: impl Write + 'static) {
    let line = machine.line();
    line.open(input, output);
    let mut walls_stand = false;
    while let Some(bounds) = line.bounds() {
        if !walls_stand && let Err(error) = walls::raise_last(&bounds) {
            let failed = broken(&format!("the sandbox could not be set up: {error}"));
            line.done(failed, JobUsage::default());
            return;
        }
        walls_stand = true;
        let Some(job) = line.job() else { return };
        let outcome = panic::catch_unwind(AssertUnwindSafe(|| machine.perform(job, &bounds)));
        let outcome = outcome.unwrap_or_else(|_| broken(&format!("it panicked: {}", PANIC.take())));
        let has_failed = matches!(outcome, JobOutcome::Failed { .. });
        if !line.done(outcome, machine.taken()) || has_failed {
            return;
        }
    }
}

fn broken(why: &str) -> JobOutcome {
    let failure = JobFailure {
        kind: FailureKind::Broken,
        message: format!("the Python interpreter failed: {why}"),
        help: None,
        units: Vec::new(),
        place: None,
        trace: Vec::new(),
    };
    JobOutcome::Failed {
        failure,
        changed: Names::new(),
    }
}

/// Greet, do the jobs of one session over standard input and output, and end. This is how the command uses the program where
/// processes do not fork.
///
/// # Errors
/// The interpreter does not start.
pub fn serve_once() -> io::Result<()> {
    let walls = walls::raise_first();
    let mut output = io::stdout();
    let hello = Hello {
        release: env!("CARGO_PKG_VERSION").to_owned(),
        walls,
    };
    write_frame(&mut output, &hello.to_bytes()).map_err(io::Error::other)?;
    quiet_panics();
    crate::on_large_stack(|| serve(&Machine::new(), io::stdin(), io::stdout()))
}
