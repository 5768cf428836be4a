//! Python in a sandbox: what runs Mako templates and Python modules.
//!
//! The interpreter is a program of its own, `mapstack-python`, behind walls of the operating system. It is started
//! when the first template needs it. Each minion's templates have processes that no other minion's run in, see
//! [`Interpreter`]. They reach the outside through a [`Host`] alone.
//!
//! ```no_run
//! use mapstack_render::sandbox::{NoHost, Request, run};
//! let result = run(&Request::new("def run():\n    return {'sum': 1 + 2}\n", &NoHost)).unwrap();
//! assert_eq!(result.repr(), "{'sum': 3}");
//! ```

pub(crate) mod bridge;
mod client;
mod compiled;
mod failure;
mod find;
#[cfg(all(unix, test))]
mod hostile;
mod interpreter;
#[cfg(any(not(unix), test))]
mod once;
mod plan;
mod policy;
#[cfg(unix)]
mod process;
mod replay;
mod tree;

use std::time::Duration;

use mapstack_pyobject::{Error, ErrorKind, Result};
use mapstack_python_protocol::{Job, ModuleJob};
use mapstack_value::{Str, Value};

pub(crate) use bridge::alone;
pub use bridge::run_as;
pub(crate) use client::SessionOutcome;
pub use interpreter::Interpreter;
pub use mapstack_python_protocol::{Found, FunctionAnswer, FunctionJob, Loader, Source};
#[cfg(not(unix))]
use once::{Process, Session};
pub use policy::{Walls, require_walls, walls};
#[cfg(unix)]
use process::{Process, Session};
pub use tree::{Tree, TreeCall, call_tree};

/// Where code reaches the outside: templates by path, and `salt[...]` functions.
///
/// Its methods are called on the thread that started the render.
pub trait Host {
    /// The source of the template at a URI, and the name that errors give it; `None` if it does not exist.
    ///
    /// # Errors
    /// The template exists and cannot be read, or the URI is one that is refused.
    fn template(&self, uri: &str) -> Result<Option<Source>>;

    /// Whether `salt[name]` exists.
    fn has_function(&self, name: &str) -> bool;

    /// Whether `salt.module` exists, that is, any function of that module.
    fn has_module(&self, module: &str) -> bool;

    /// Call `salt[name](…)`.
    ///
    /// # Errors
    /// What the function raises.
    fn call(&self, name: &str, arguments: Vec<Value>, keywords: Vec<(Str, Value)>)
    -> Result<Value>;

    /// The modules of the tree that may have a function, by its full name. Only such modules ask for others.
    ///
    /// # Errors
    /// A file cannot be read.
    fn find(&self, _loader: Loader, _name: &str) -> Result<Found> {
        Ok(Found::default())
    }

    /// Facts by the name that modules of the tree have for them, such as `__grains__`.
    ///
    /// # Errors
    /// No facts have that name, or they are not data.
    fn fact(&self, name: &str) -> Result<Value> {
        let message = format!("'{name}' is not available");
        Err(Error::new(ErrorKind::Undefined, message))
    }
}

/// A host with no files and no functions.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoHost;

impl Host for NoHost {
    fn template(&self, _: &str) -> Result<Option<Source>> {
        Ok(None)
    }

    fn has_function(&self, _: &str) -> bool {
        false
    }

    fn has_module(&self, _: &str) -> bool {
        false
    }

    fn call(&self, name: &str, _: Vec<Value>, _: Vec<(Str, Value)>) -> Result<Value> {
        Err(Error::new(
            ErrorKind::Salt,
            format!("'{name}' is not available."),
        ))
    }
}

/// Bounds of a run. Each is an error when reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Steps: passes through loops and comprehensions, and calls of functions.
    pub fuel: u64,
    /// Bytes of output, captures included.
    pub output: usize,
    /// Calls inside each other.
    pub depth: usize,
    /// Time, without what the host takes. A backstop: what stops by this bound depends on the machine.
    pub time: Duration,
    /// Bytes of memory, beside what the interpreter itself takes.
    pub memory: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            fuel: 10_000_000,
            output: 64 << 20,
            depth: 900,
            time: Duration::from_secs(30),
            memory: 1 << 30,
        }
    }
}

/// What to run as Salt's `py` renderer does.
pub struct Request<'a> {
    /// The module's source.
    pub source: &'a str,
    /// What errors call it.
    pub name: Option<Str>,
    /// The module's globals besides `__salt__` and `salt`, set after it ran and before `run()` is called.
    pub variables: Vec<(Str, Value)>,
    /// Where it reaches the outside.
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
