//! Mako's compiler: a template's text to a module of Python, as Mako 1.4 does it.

mod generate;
mod lexer;
mod names;
mod tags;
mod text;

use std::sync::Arc;

use mapstack_value::Str;

use crate::error::Result;
use crate::sandbox::is_apart;

pub(crate) use generate::Module;

/// The module of Python that a template becomes.
pub(crate) fn generate(name: Option<&Str>, source: &Arc<str>, strict: bool) -> Result<Module> {
    let tree = lexer::read(source).map_err(|failure| failure.into_error(name, source))?;
    let mut module = generate::module(&tree, source, strict)
        .map_err(|failure| failure.into_error(name, source))?;
    module.is_apart = tree.codes().all(is_apart);
    Ok(module)
}
