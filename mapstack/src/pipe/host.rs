//! Where templates of a pipe load other templates from.

use std::sync::Arc;

use mapstack_loader::SaltPath;
use mapstack_render::jinja::{Host, Vm};
use mapstack_render::{CallArgs, Error, ErrorKind, Obj, Result};
use mapstack_value::Str;

use crate::engine::Run;
use crate::host::RunHost;

/// A run as seen by templates that are loaded from a saltenv of their own.
pub(crate) struct SaltenvHost<'h, 'r, 'e> {
    pub inner: RunHost<'r, 'e>,
    pub run: &'r Run<'e>,
    pub saltenv: &'h Str,
}

impl Host for SaltenvHost<'_, '_, '_> {
    fn template(&self, path: &str) -> Result<Option<Arc<str>>> {
        if *self.saltenv == self.run.saltenv {
            return self.inner.template(path);
        }
        let failed = |e: crate::Error| Error::new(ErrorKind::TemplateNotFound, e.to_string());
        match self.run.fetch_from(&SaltPath::from_relative(path), self.saltenv).map_err(failed)? {
            Some(file) => Ok(Some(file.text().map_err(failed)?.into())),
            None => Ok(None),
        }
    }

    fn has_function(&self, name: &str) -> bool {
        self.inner.has_function(name)
    }

    fn has_module(&self, module: &str) -> bool {
        self.inner.has_module(module)
    }

    fn call_function(&self, vm: &Vm<'_>, name: &str, args: CallArgs) -> Result<Obj> {
        self.inner.call_function(vm, name, args)
    }

    fn missing_function_help(&self, name: &str) -> Option<String> {
        self.inner.missing_function_help(name)
    }

    fn unanswered(&self, name: &str, args: &CallArgs) -> Option<Box<Error>> {
        self.inner.unanswered(name, args)
    }

    fn host_filter(&self, vm: &Vm<'_>, name: &str, args: CallArgs, refusal: Box<Error>) -> Result<Obj> {
        self.inner.host_filter(vm, name, args, refusal)
    }

    fn log(&self, level: &str, message: &str) {
        self.inner.log(level, message);
    }
}
