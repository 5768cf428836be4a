//! The languages of templates behind one trait.

use mapstack_pyobject::{Obj, Result};
use mapstack_salt_jinja::{NoHost, RenderResult, Request};
use mapstack_sandbox::{Interpreter, mako};
use mapstack_value::Map;

/// A language of templates.
///
/// ```
/// use mapstack_render::{Jinja, Language};
/// use mapstack_value::Map;
///
/// let variables = Map::from_iter([("name", "web1")]);
/// assert_eq!(Jinja.print("{{ name|upper }}", &variables).unwrap(), "WEB1");
/// ```
pub trait Language {
    /// The name of Salt's renderer for it.
    fn name(&self) -> &'static str;

    /// Render a template. What it prints comes with a map from output to source.
    ///
    /// # Errors
    /// The template is wrong or fails, or a limit is reached. Errors carry the place in the template.
    fn render(&self, request: Request<'_>) -> Result<RenderResult>;

    /// Render a text with variables alone, with the default limits.
    ///
    /// # Errors
    /// As [`render`](Self::render).
    fn print(&self, source: &str, variables: &Map) -> Result<String> {
        let mut request = mapstack_salt_jinja::request(source, &NoHost);
        let variable = |(name, value): (&mapstack_value::Key, &mapstack_value::Value)| {
            Some((name.as_str()?.into(), Obj::from(value.clone())))
        };
        request.variables = variables.iter().filter_map(variable).collect();
        Ok(self.render(request)?.text)
    }
}

/// Jinja, in the dialect of the request.
#[derive(Debug, Clone, Copy, Default)]
pub struct Jinja;

impl Language for Jinja {
    fn name(&self) -> &'static str {
        "jinja"
    }

    fn render(&self, request: Request<'_>) -> Result<RenderResult> {
        mapstack_salt_jinja::render(request)
    }
}

/// Mako as Salt's renderer runs it. Templates that have to be interpreted share the interpreter, which is started for
/// the first of them.
#[derive(Default)]
pub struct Mako(Interpreter);

impl Language for Mako {
    fn name(&self) -> &'static str {
        "mako"
    }

    fn render(&self, request: Request<'_>) -> Result<RenderResult> {
        mako::render_as(&request, mako::MakoOptions::salt(), None, &[], &self.0)
            .map(|(rendered, _)| rendered)
    }
}

/// Tera, which Salt does not have.
#[cfg(feature = "tera")]
#[derive(Debug, Clone, Copy, Default)]
pub struct Tera;

#[cfg(feature = "tera")]
impl Language for Tera {
    fn name(&self) -> &'static str {
        "tera"
    }

    fn render(&self, request: Request<'_>) -> Result<RenderResult> {
        crate::tera::render(&request)
    }
}
