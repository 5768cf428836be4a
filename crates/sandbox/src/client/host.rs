//! The host of code in the sandbox: what it reaches, and what it may take.

use std::time::Duration;

use crate::protocol::{FunctionFiles, Loader, TemplateSource};
use mapstack_pyobject::{Error, ErrorKind, Result};
use mapstack_value::{Str, Value};

/// Access of code to the outside: templates by path, and `salt[...]` functions.
///
/// Its methods are called on the thread that started the render.
pub trait Host {
    /// The source of the template at a URI, and the name that errors give it; `None` if it does not exist.
    ///
    /// # Errors
    /// The template exists and cannot be read, or the URI is one that is refused.
    fn template(&self, uri: &str) -> Result<Option<TemplateSource>>;

    /// True if `salt[name]` exists.
    fn has_function(&self, name: &str) -> bool;

    /// True if `salt.module` exists, that is, any function of that module.
    fn has_module(&self, module: &str) -> bool;

    /// Call `salt[name](…)`.
    ///
    /// # Errors
    /// The exception of the function.
    fn call(&self, name: &str, arguments: Vec<Value>, keywords: Vec<(Str, Value)>)
    -> Result<Value>;

    /// Read an absolute path of the machine: `None` if it is unknown, `False` if nothing is there, the
    /// bytes of a file, or the names in a directory.
    ///
    /// # Errors
    /// It cannot be read.
    fn machine(&self, _path: &str) -> Result<Value> {
        Ok(Value::None)
    }

    /// The modules of the tree that may have a function, by its full name, and whether a minion may have it without them.
    ///
    /// # Errors
    /// A file cannot be read.
    fn find(&self, _loader: Loader, _name: &str) -> Result<FunctionFiles> {
        Ok(FunctionFiles::default())
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
    fn template(&self, _: &str) -> Result<Option<TemplateSource>> {
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
