//! What templates of a run can reach: the file server and `salt[...]` functions.

use std::sync::Arc;

use mapstack_render::jinja::{Host, Vm};
use mapstack_render::{CallArgs, Error, ErrorKind, Obj, Result};

use crate::diagnostic::{Diagnostic, ErrorKind as Kind};
use crate::engine::Run;
use crate::functions;

/// A run as its templates see it.
pub(crate) struct RunHost<'r, 'e>(pub &'r Run<'e>);

impl Host for RunHost<'_, '_> {
    fn template(&self, path: &str) -> Result<Option<Arc<str>>> {
        let failed = |e: crate::Error| Error::new(ErrorKind::TemplateNotFound, e.to_string());
        match self.0.fetch_template(path).map_err(failed)? {
            Some(file) => Ok(Some(file.text().map_err(failed)?.into())),
            None => Ok(None),
        }
    }

    fn has_function(&self, name: &str) -> bool {
        functions::find(name).is_some()
    }

    fn has_module(&self, module: &str) -> bool {
        functions::has_module(module)
    }

    fn call_function(&self, vm: &Vm<'_>, name: &str, args: CallArgs) -> Result<Obj> {
        match functions::find(name) {
            Some(function) => function(self.0, vm, args),
            None => Err(Error::new(ErrorKind::Salt, format!("'{name}' is not available."))),
        }
    }

    fn missing_function_help(&self, name: &str) -> Option<String> {
        Some(functions::help(name))
    }

    fn log(&self, level: &str, message: &str) {
        if matches!(level, "warning" | "error" | "critical") {
            self.0.warn(Diagnostic::warning(Kind::Template, message));
        }
    }
}
