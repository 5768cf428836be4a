//! Interpreters: which jobs share one.

use std::cell::RefCell;
use std::sync::atomic::{AtomicU64, Ordering};

use mapstack_pyobject::Result;

use super::client::Lost;
use super::{Limits, Process, Session, find, policy};

/// The interpreter of one minion's templates, for as long as its run lasts.
///
/// No other minion's templates have touched it, and none will. Of one minion's templates, those share a process that
/// neither leave anything in an interpreter nor see what is there; each of the others has a process to itself.
///
/// ```no_run
/// use mapstack_render::jinja::{NoHost, request};
/// use mapstack_render::mako::{Options, render_as};
/// use mapstack_render::sandbox::Interpreter;
/// let interpreter = Interpreter::new();
/// for source in ["${1 + 1}", "${'a'.upper()}"] {
///     render_as(&request(source, &NoHost), Options::stack(), None, &[], &interpreter).unwrap();
/// }
/// ```
#[derive(Debug)]
pub struct Interpreter(u64);

impl Interpreter {
    /// An interpreter that nothing has run in. The program is started when the first job needs it.
    #[must_use]
    pub fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Interpreter(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

impl Default for Interpreter {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for Interpreter {
    /// What is left of it ends, so that the next one is prepared meanwhile.
    fn drop(&mut self) {
        // Where the thread is ending, the programs end, too.
        let _ = PROGRAMS.try_with(|programs| {
            for program in programs.borrow_mut().iter_mut() {
                if program.is_shared_by(self) {
                    program.end();
                }
            }
        });
    }
}

/// Of what a job may have, so much of the memory has a process that several jobs share. A job that fails there is done
/// again in a process of its own, which has all of it, so no job fails because of the others.
const SHARE: usize = 2;

/// A program, and the session that is open for further jobs.
pub(super) struct Program {
    pub(super) process: Process,
    shared: Option<Shared>,
    is_usable: bool,
}

struct Shared {
    owner: u64,
    session: Session,
    memory: usize,
}

thread_local! {
    static PROGRAMS: RefCell<Vec<Program>> = const { RefCell::new(Vec::new()) };
}

/// A session for a job, and whether others shared or will share it.
pub(super) struct Opened {
    pub(super) program: Program,
    pub(super) session: Session,
    pub(super) shared: Option<Sharing>,
}

/// Who shares a session.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sharing {
    owner: u64,
    /// What the session may add to the memory.
    pub(super) memory: usize,
}

impl Program {
    fn is_shared_by(&self, interpreter: &Interpreter) -> bool {
        self.shared
            .as_ref()
            .is_some_and(|shared| shared.owner == interpreter.0)
    }

    /// End the session that is open, if there is one.
    fn end(&mut self) {
        if self.shared.take().is_some() {
            self.is_usable = self.process.end();
        }
    }

    /// Keep the program for the next job.
    pub(super) fn keep(self) {
        // Where the thread is ending, the program ends, too.
        let _ = PROGRAMS.try_with(|programs| programs.borrow_mut().push(self));
    }

    pub(super) fn new(process: Process) -> Self {
        Program {
            process,
            shared: None,
            is_usable: true,
        }
    }
}

/// A program that is idle, or a new one, whatever its walls. One whose session is this interpreter's is preferred.
pub(super) fn program(interpreter: &Interpreter) -> Result<Program> {
    let idle = PROGRAMS.with_borrow_mut(|programs| {
        programs.retain(|program| program.is_usable);
        let own = programs
            .iter()
            .position(|program| program.is_shared_by(interpreter));
        let free = || {
            programs
                .iter()
                .rposition(|program| program.shared.is_none())
        };
        let at = own.or_else(free).or(programs.len().checked_sub(1))?;
        Some(programs.swap_remove(at))
    });
    match idle {
        Some(program) => Ok(program),
        None => Process::start(&find::find()?)
            .map(Program::new)
            .map_err(Lost::without_job),
    }
}

/// Open a session in a program with the walls that there must be, or go on with the one that the interpreter's jobs
/// share.
pub(super) fn open(
    interpreter: &Interpreter,
    shares: bool,
    limits: &Limits,
) -> Result<std::result::Result<Opened, (Program, Lost)>> {
    let mut program = program(interpreter)?;
    policy::check(&program.process.hello)?;
    let memory = limits.memory / SHARE;
    if shares && program.is_shared_by(interpreter) {
        // A wall that stands cannot be moved.
        match program.shared.take() {
            Some(shared) if shared.memory <= limits.memory => {
                let sharing = Sharing {
                    owner: shared.owner,
                    memory: shared.memory,
                };
                return Ok(Ok(Opened {
                    program,
                    session: shared.session,
                    shared: Some(sharing),
                }));
            }
            shared => program.shared = shared,
        }
    }
    program.end();
    let shared = shares.then_some(Sharing {
        owner: interpreter.0,
        memory,
    });
    Ok(match program.process.session() {
        Ok(session) => Ok(Opened {
            program,
            session,
            shared,
        }),
        Err(lost) => Err((program, lost)),
    })
}

impl Opened {
    /// The job is done; the session stays open for the next one if it is shared, and ends otherwise.
    pub(super) fn done(self) {
        let Opened {
            mut program,
            session,
            shared,
        } = self;
        match shared {
            Some(Sharing { owner, memory }) => {
                program.shared = Some(Shared {
                    owner,
                    session,
                    memory,
                });
                program.keep();
            }
            None => {
                drop(session);
                if program.process.end() {
                    program.keep();
                }
            }
        }
    }
}
