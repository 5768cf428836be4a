//! The answers to calls of `salt['…']` that are not built in, and the limits of templates.

use std::path::Path;

use super::absent::Absent;
use mapstack::loader::FileServer;
use mapstack::{Deadline, Engine, Error, ErrorKind, Limits, MemoryLimit, Stubs};

use crate::budget::RUN;
use crate::host::mine::Mine;
use crate::host::{Host, Permissions, SaltCall};
use crate::inputs::InputError;
use crate::inputs::flags::{Functions, LimitFlags};
use crate::inputs::read::text_file;

/// Makes a limit of so many bytes.
pub type MemoryOf = fn(usize) -> MemoryLimit;

/// The limits of templates.
fn limits(given: LimitFlags, memory: MemoryOf) -> Limits {
    let (time, bytes) = given.of_minion();
    Limits {
        time: time.map(Deadline::after),
        memory: bytes.map(memory),
        run: Some(&RUN),
        ..Limits::default()
    }
}

/// An engine for files, with the answers, the limits and the permissions that flags ask for.
///
/// # Errors
/// Answers that cannot be read, and permissions and commands that do not exist.
pub fn engine(
    files: impl FileServer + 'static,
    given: &Functions,
    memory: MemoryOf,
) -> Result<Engine, InputError> {
    let mut stubs = Stubs::default();
    for file in &given.stub {
        let (text, name) = text_file(file)?;
        stubs = stubs.or(Stubs::parse(&text, &name)?);
    }
    let permissions =
        Permissions::parse(&given.allow).map_err(|e| InputError::Usage(format!("--allow: {e}")))?;
    // Without permissions it answers no call, and names the permission that a call needs.
    let engine = Engine::new(Absent::new(files, &given.absent))
        .with_limits(limits(given.limits, memory))
        .with_policy(given.policy.clone())
        .with_stubs(stubs)
        .with_deployed(given.deployed.clone())
        .with_salt_version(given.versions()[1])
        .with_functions(Host::new(permissions));
    let engine = match &given.mine {
        None => engine,
        Some(directory) => engine.with_functions(mine(directory)?),
    };
    Ok(match &given.salt_call {
        None => engine,
        Some(command) => {
            let bridge = SaltCall::new(command);
            engine.with_functions(
                bridge.map_err(|e| InputError::Usage(format!("--salt-call '{command}': {e}")))?,
            )
        }
    })
}

/// The mine in a master's cache.
fn mine(directory: &Path) -> Result<Mine, InputError> {
    let refused = |problem: &str| {
        let message = format!("the mine in {}: {problem}", directory.display());
        Error::new(ErrorKind::File, message)
    };
    let mine = Mine::open(directory).map_err(|e| refused(&e.to_string()))?;
    let mine = mine.ok_or_else(|| refused("this is not a master's cache with minions"));
    mine.map_err(|e| e.help("name the option cachedir of the master").into())
}
