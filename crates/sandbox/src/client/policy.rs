//! The parts of the sandbox that are required.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::protocol::{Hello, SandboxPart};
use mapstack_diagnostic::Means;
use mapstack_pyobject::{Error, ErrorKind, Result};

use super::{Interpreter, find, interpreter};

static STRICT: AtomicBool = AtomicBool::new(false);

/// From now on, refuse to run Python if a part of its sandbox could not be set up.
///
/// It holds for the whole program, as the programs that run Python are shared by all that it does.
pub fn require_walls() {
    STRICT.store(true, Ordering::Relaxed);
}

/// The program that runs Python, and the parts of its sandbox.
#[derive(Debug, Clone)]
pub struct SandboxReport {
    /// The path of the program.
    pub program: std::path::PathBuf,
    /// Its version.
    pub release: String,
    /// Each part, and the reason why it could not be set up, if so.
    pub walls: Vec<(String, Option<String>)>,
}

/// Report the parts of Python's sandbox on this machine. It starts the program.
///
/// # Errors
/// The program was not found, or does not start.
///
/// ```no_run
/// for (wall, missing) in mapstack_sandbox::walls().unwrap().walls {
///     println!("{wall}: {}", missing.as_deref().unwrap_or("active"));
/// }
/// ```
pub fn walls() -> Result<SandboxReport> {
    let path = find::find()?;
    let program = interpreter::program(&Interpreter::new(), false)?;
    let Hello { release, walls } = program.process.hello.clone();
    program.keep();
    Ok(SandboxReport {
        program: path,
        release,
        walls: walls
            .into_iter()
            .map(|wall| (wall.name, wall.missing))
            .collect(),
    })
}

/// Refuse a program without a full sandbox where one is required.
pub(super) fn check(hello: &Hello) -> Result<()> {
    let missing = |wall: &SandboxPart| {
        wall.missing
            .as_ref()
            .map(|why| format!("{} is missing: {why}", wall.name))
    };
    match hello.walls.iter().find_map(missing) {
        Some(missing) if STRICT.load(Ordering::Relaxed) => {
            let error = Error::new(
                ErrorKind::Security,
                format!("the sandbox around Python is not complete: {missing}"),
            );
            Err(error.with_help(format!(
                "without {}, templates run in the sandbox that this system allows",
                Means::StrictSandbox
            )))
        }
        _ => Ok(()),
    }
}
