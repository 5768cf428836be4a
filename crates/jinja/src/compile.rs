//! From a template's text to its tree.

use std::sync::Arc;

use crate::syntax::ast::Template;
use crate::syntax::{Syntax, parse};
use mapstack_pyobject::{Error, ErrorKind, Result, TemplatePlace};
use mapstack_value::Str;

use super::check::check;
use super::dialect::Dialect;
use super::vm::Vm;

/// Read a template as a render would, without running it: prepared by the dialect, and refused if it
/// names a filter or test that does not exist. `strict` says whether undefined values are errors.
///
/// # Errors
/// An error of Jinja's compiler, with the place in the source.
///
/// ```
/// use mapstack_jinja::{Jinja2, Syntax, compile};
/// let e = compile(&Jinja2, None, "a\n{{ x|uper }}".into(), &Syntax::default(), true).unwrap_err();
/// assert_eq!(e.to_string(), "Jinja syntax error: No filter named 'uper'.");
/// assert_eq!(e.help.as_deref(), Some("did you mean 'upper'?"));
/// ```
pub fn compile(
    dialect: &dyn Dialect,
    name: Option<&Str>,
    mut source: Arc<str>,
    syntax: &Syntax,
    strict: bool,
) -> Result<Arc<Template>> {
    let mut syntax = syntax.clone();
    dialect.prepare(&mut source, &mut syntax, &|_| {});
    parse_checked(dialect, name, &source, &syntax, strict)
}

fn parse_checked(
    dialect: &dyn Dialect,
    name: Option<&Str>,
    source: &str,
    syntax: &Syntax,
    strict: bool,
) -> Result<Arc<Template>> {
    let template = parse(source, name.map(|n| &**n), syntax, dialect.tags()).map_err(|e| {
        let place = TemplatePlace {
            template: e.name.clone(),
            source: e.source.clone(),
            span: e.span,
        };
        let mut error = Error::new(ErrorKind::Syntax, e.message);
        error.help = e.help;
        error.at(|| place)
    })?;
    let template = Arc::new(template);
    check(&template, dialect, strict)?;
    Ok(template)
}

impl Vm<'_> {
    /// Read a template as [`compile`] does, unless it was read before.
    pub(super) fn parse_as(
        &self,
        name: Option<&Str>,
        source: &Arc<str>,
        syntax: &Syntax,
    ) -> Result<Arc<Template>> {
        let dialect = self.dialect();
        let parse = || parse_checked(dialect, name, source, syntax, self.strict());
        match self.cache {
            Some(cache) => {
                cache.get_or_parse((dialect.name(), self.strict()), name, source, syntax, parse)
            }
            None => parse(),
        }
    }
}
