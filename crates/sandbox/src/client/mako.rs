//! Mako as Salt's `mako` renderer and MakoStack speak it.
//!
//! A template is compiled to a module of Python, as Mako does it, and run by the program that
//! [the crate](crate) describes, inside its sandbox and within its limits.
//!
//! ```no_run
//! use mapstack_sandbox::mako::{Request, render};
//! use mapstack_sandbox::NoHost;
//! use mapstack_value::Value;
//!
//! let mut request = Request::new("% for name in names:\n${loop.index}: ${name | h}\n% endfor\n", &NoHost);
//! request.variables.push(("names".into(), Value::from_iter(["a", "<b>"])));
//! assert_eq!(render(request).unwrap().text, "0: a\n1: &lt;b&gt;\n");
//! ```

use std::sync::Arc;

use crate::protocol::{Job, TemplateJob};
use mapstack_pyobject::{Error, ErrorKind, Result, TemplatePlace};
use mapstack_value::{Str, Value};

use crate::client::{Host, Limits, SessionOutcome, alone};

pub use crate::client::Chunk;
pub use crate::client::bridge::{attempt_as, render_as};
pub use crate::protocol::Lookup;

/// The options for reading a template.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MakoOptions {
    /// Names without a value are an error at the start, not when they are printed (`strict_undefined`).
    pub strict: bool,
    /// The reading of URIs of further templates.
    pub lookup: Lookup,
}

impl MakoOptions {
    /// The options that `salt.utils.templates.render_mako_tmpl` sets.
    #[must_use]
    pub fn salt() -> Self {
        MakoOptions {
            strict: true,
            lookup: Lookup::Salt,
        }
    }

    /// The options that MakoStack sets: the defaults of Mako, so a name without a value can be tested, but not printed.
    #[must_use]
    pub fn stack() -> Self {
        MakoOptions {
            strict: false,
            lookup: Lookup::Stock,
        }
    }
}

/// A template to render.
pub struct Request<'a> {
    /// Its text.
    pub source: Arc<str>,
    /// The name in errors.
    pub name: Option<Str>,
    /// Its URI, which those of further templates are relative to.
    pub uri: Option<Str>,
    /// The options for reading it.
    pub options: MakoOptions,
    /// The names it is given.
    pub variables: Vec<(Str, Value)>,
    /// The names under which it finds the minion's functions, such as `salt` or `__salt__`.
    pub functions: Vec<Str>,
    /// The variables whose values are read back after the render, where the template changed them in place.
    pub changed: Vec<Str>,
    /// The files and functions that it can reach.
    pub host: &'a dyn Host,
    /// Bounds.
    pub limits: Limits,
}

impl<'a> Request<'a> {
    /// A request without variables, read as Salt does.
    #[must_use]
    pub fn new(source: impl Into<Arc<str>>, host: &'a dyn Host) -> Self {
        Request {
            source: source.into(),
            name: None,
            uri: None,
            options: MakoOptions::salt(),
            variables: Vec::new(),
            functions: Vec::new(),
            changed: Vec::new(),
            host,
            limits: Limits::default(),
        }
    }
}

/// A template rendered.
#[derive(Debug)]
pub struct MakoOutput {
    /// The text.
    pub text: String,
    /// Those of the variables to be read back that have changed, as they are now.
    pub changed: Vec<(Str, Value)>,
    /// The pieces of output and their origins, in order.
    pub map: Vec<Chunk>,
}

impl MakoOutput {
    /// The place in a template behind a byte of the output.
    #[must_use]
    pub fn locate(&self, offset: usize) -> Option<TemplatePlace> {
        let after = self.map.partition_point(|chunk| chunk.start <= offset);
        let chunk = self.map.get(after.checked_sub(1)?)?;
        let mut span = chunk.span;
        if chunk.exact {
            let into = u32::try_from(offset - chunk.start).unwrap_or(u32::MAX);
            span.start = span.start.saturating_add(into).min(span.end);
        }
        Some(TemplatePlace {
            template: chunk.name.clone(),
            source: chunk.source.clone(),
            span,
        })
    }
}

/// Render a template.
///
/// # Errors
/// The template's syntax is wrong, its code raises, it asks for what the sandbox refuses, or a limit is
/// reached. Errors carry the place in the template and the way there.
pub fn render(request: Request<'_>) -> Result<MakoOutput> {
    let job = TemplateJob {
        source: request.source,
        name: request.name,
        uri: request.uri,
        strict: request.options.strict,
        lookup: request.options.lookup,
        variables: request.variables,
        functions: request.functions,
        changed: request.changed,
        is_pure: false,
        compiled: None,
    };
    match alone(request.host, &request.limits, Job::Template(job))? {
        SessionOutcome::Text {
            text,
            chunks,
            changed,
        } => Ok(MakoOutput {
            text,
            changed,
            map: chunks,
        }),
        SessionOutcome::Failed { error, .. } => Err(error),
        SessionOutcome::Value { .. } | SessionOutcome::Function { .. } => Err(Error::new(
            ErrorKind::Nested,
            "the interpreter answered another question",
        )),
    }
}
