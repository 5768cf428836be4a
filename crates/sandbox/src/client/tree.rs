//! Functions of the modules that a tree ships, such as `salt://_modules/*.py`.

use crate::protocol::{FunctionAnswer, FunctionFiles, FunctionJob, Job, Loader, RenderJob};
use mapstack_pyobject::{Error, ErrorKind, Result};
use mapstack_value::{Str, Value};

use super::bridge::{Bridge, limits};
use super::{Host, Interpreter, SessionOutcome, TemplateSource, session};
use mapstack_salt_jinja::{Request, Vm};

/// The questions of a tree's modules besides functions.
pub trait ModuleHost {
    /// The files that may have a function, by its full name.
    ///
    /// # Errors
    /// A file cannot be read.
    fn find(&self, loader: Loader, name: &str) -> Result<FunctionFiles>;

    /// Facts by the name that modules have for them, such as `__grains__`.
    ///
    /// # Errors
    /// They are not data.
    fn fact(&self, name: &str) -> Result<Value>;

    /// A module is about to call a function that is not the tree's.
    fn called(&self, name: &str);

    /// A file that code imports by its URI; `None` if there is none.
    ///
    /// # Errors
    /// It cannot be read.
    fn file(&self, uri: &str) -> Result<Option<TemplateSource>>;
}

/// A call of a function of a tree's modules, or a render by Python.
pub struct TreeCall<'c, J> {
    /// The job, and its input.
    pub job: J,
    /// The source of its modules.
    pub tree: &'c dyn ModuleHost,
    /// The bounds. Only the limits and the fuel of the request apply.
    pub bounds: &'c Request<'c>,
    /// The interpreter. It shares a session with nothing.
    pub interpreter: &'c Interpreter,
}

/// Call a function of a tree's modules in the sandbox: the outcome, and the positional arguments that it changed
/// in place, by their numbers. Functions that it calls are those of `vm`.
///
/// # Errors
/// The function raises, a limit is reached, or it needs what the sandbox does not have; the last is of the kind
/// [`ErrorKind::Undefined`], as for a call that nothing answers.
pub fn call_tree(
    vm: &Vm<'_>,
    call: TreeCall<'_, FunctionJob>,
) -> Result<(FunctionAnswer, Vec<(usize, Value)>)> {
    perform(vm, call, Job::Function)
}

/// Render by `pyobjects` or a renderer of a tree, in the sandbox. Functions that it calls are those of `vm`.
///
/// # Errors
/// As [`call_tree`].
pub fn render_by_tree(vm: &Vm<'_>, call: TreeCall<'_, RenderJob>) -> Result<FunctionAnswer> {
    perform(vm, call, Job::Render).map(|(answer, _)| answer)
}

fn perform<J>(
    vm: &Vm<'_>,
    call: TreeCall<'_, J>,
    job_of: fn(J) -> Job,
) -> Result<(FunctionAnswer, Vec<(usize, Value)>)> {
    let TreeCall {
        job,
        tree,
        bounds,
        interpreter,
    } = call;
    let host = TreeHost {
        bridge: Bridge::without_templates(vm),
        tree,
    };
    match session::perform(interpreter, &host, &limits(bounds), &job_of(job))? {
        SessionOutcome::Function { answer, changed } => Ok((answer, changed)),
        SessionOutcome::Failed { error, .. } => Err(error),
        SessionOutcome::Value { .. } | SessionOutcome::Text { .. } => Err(Error::new(
            ErrorKind::Nested,
            "the interpreter answered another question",
        )),
    }
}

/// A render whose functions modules of a tree call.
struct TreeHost<'h> {
    bridge: Bridge<'h>,
    tree: &'h dyn ModuleHost,
}

impl Host for TreeHost<'_> {
    fn template(&self, uri: &str) -> Result<Option<TemplateSource>> {
        self.tree.file(uri)
    }

    fn has_function(&self, name: &str) -> bool {
        self.bridge.has_function(name)
    }

    fn has_module(&self, module: &str) -> bool {
        self.bridge.has_module(module)
    }

    fn machine(&self, path: &str) -> Result<Value> {
        self.bridge.machine(path)
    }

    fn call(
        &self,
        name: &str,
        arguments: Vec<Value>,
        keywords: Vec<(Str, Value)>,
    ) -> Result<Value> {
        self.tree.called(name);
        self.bridge.call(name, arguments, keywords)
    }

    fn find(&self, loader: Loader, name: &str) -> Result<FunctionFiles> {
        self.tree.find(loader, name)
    }

    fn fact(&self, name: &str) -> Result<Value> {
        self.tree.fact(name)
    }
}
