//! The command's side: it starts the program, gives it jobs and answers its questions.

mod bridge;
mod chunk;
mod compiled;
mod failure;
mod find;
mod host;
#[cfg(all(unix, test))]
mod hostile;
mod interpreter;
mod lost;
pub mod mako;
mod memory;
#[cfg(any(not(unix), test))]
mod once;
mod plan;
mod policy;
#[cfg(unix)]
mod process;
mod replay;
mod session;
mod tree;

use crate::protocol::{Job, ModuleJob};
use mapstack_pyobject::{Error, ErrorKind, Result};
use mapstack_value::{Str, Value};

pub use crate::protocol::{
    FunctionAnswer, FunctionFiles, FunctionJob, Loader, RenderJob, TemplateSource,
};
pub(crate) use bridge::alone;
pub use bridge::run_as;
pub use chunk::Chunk;
pub use host::{Host, Limits, NoHost};
pub use interpreter::Interpreter;
#[cfg(not(unix))]
use once::{Process, Session};
pub use policy::{SandboxReport, require_walls, walls};
#[cfg(unix)]
use process::{Process, Session};
pub(crate) use session::SessionOutcome;
pub use tree::{ModuleHost, TreeCall, call_tree, render_by_tree};

/// A request to run code as Salt's `py` renderer does.
pub struct Request<'a> {
    /// The module's source.
    pub source: &'a str,
    /// The name in errors.
    pub name: Option<Str>,
    /// The module's globals besides `__salt__` and `salt`, set after it ran and before `run()` is called.
    pub variables: Vec<(Str, Value)>,
    /// The files and functions that it can reach.
    pub host: &'a dyn Host,
    /// Bounds.
    pub limits: Limits,
}

impl<'a> Request<'a> {
    /// A request without variables.
    #[must_use]
    pub fn new(source: &'a str, host: &'a dyn Host) -> Self {
        Request {
            source,
            name: None,
            variables: Vec::new(),
            host,
            limits: Limits::default(),
        }
    }
}

/// Run a module and return what its `run()` returns (`salt.renderers.py.render`).
///
/// # Errors
/// The module's syntax is wrong, it or `run()` raises, a limit is reached, or the result is not data.
pub fn run(request: &Request<'_>) -> Result<Value> {
    let job = ModuleJob {
        source: request.source.into(),
        name: request.name.clone(),
        variables: request.variables.clone(),
        changed: Vec::new(),
        is_pure: false,
        compiled: None,
    };
    match alone(request.host, &request.limits, Job::Module(job))? {
        SessionOutcome::Value { value, .. } => Ok(value),
        SessionOutcome::Failed { error, .. } => Err(error),
        SessionOutcome::Text { .. } | SessionOutcome::Function { .. } => Err(Error::new(
            ErrorKind::Nested,
            "the interpreter answered another question",
        )),
    }
}
