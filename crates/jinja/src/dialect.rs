//! What a dialect of Jinja2 adds to the language or does in its own way.

use std::rc::Rc;
use std::sync::Arc;

use mapstack_jinja_syntax::{Syntax, Tag};
use mapstack_pyobject::{Error, ErrorKind, Obj, Reads, Result, to_str};
use mapstack_value::{Str, quote_str};

use super::charge::{self, Named};
use super::filters::{self, Filter};
use super::globals;
use super::output::SourceMap;
use super::scope::Layer;
use super::tests::{self, Test};
use super::vm::Vm;

/// The environment a template is written for. Every method has Jinja2's own answer, so that a dialect says only what
/// is different.
///
/// ```
/// use mapstack_jinja::{Dialect, Filter, Jinja2, NoHost, Request, filters, render};
/// use mapstack_pyobject::{Obj, to_str};
///
/// struct Shouting;
///
/// impl Dialect for Shouting {
///     fn name(&self) -> &'static str {
///         "shouting"
///     }
///
///     fn filter(&self, name: &str) -> Option<Filter> {
///         match name {
///             "shout" => Some(|_, x, _| Ok(Obj::from(to_str(&x)?.to_uppercase() + "!"))),
///             _ => filters::find(name),
///         }
///     }
/// }
///
/// let template = "{{ 'hey'|shout|lower }}";
/// assert_eq!(render(Request::new(&Shouting, template, &NoHost)).unwrap().text, "hey!");
/// let error = render(Request::new(&Jinja2, template, &NoHost)).unwrap_err();
/// assert_eq!(error.message, "No filter named 'shout'.");
/// ```
pub trait Dialect: Sync {
    /// Its name, by which parsed templates of several dialects are told apart.
    fn name(&self) -> &'static str;

    /// The tags there are beside those of the language.
    fn tags(&self) -> &'static [Tag] {
        &[]
    }

    /// The filter of a name.
    fn filter(&self, name: &str) -> Option<Filter> {
        filters::find(name)
    }

    /// The names of all filters.
    fn filter_names(&self) -> Vec<&'static str> {
        filters::names()
    }

    /// The test of a name.
    fn test(&self, name: &str) -> Option<Test> {
        tests::find(name)
    }

    /// The names of all tests.
    fn test_names(&self) -> Vec<&'static str> {
        tests::names()
    }

    /// The names that every template has.
    fn globals(&self) -> Rc<Layer> {
        globals::builtins()
    }

    /// Whether attributes that are Python's insides are undefined, as in a `SandboxedEnvironment`. Otherwise they are
    /// an error: there is nothing to show in their place.
    fn is_sandboxed(&self) -> bool {
        false
    }

    /// Whether the newline that ends a template's source is printed, whatever the syntax says.
    fn keeps_final_newline(&self) -> bool {
        false
    }

    /// Look at a source before it is parsed: it may set options of the syntax for itself. What is wrong with them is
    /// given to `warn`.
    fn prepare(&self, _source: &mut Arc<str>, _syntax: &mut Syntax, _warn: &dyn Fn(&str)) {}

    /// Find a template by the name that a tag gave: its path, and its source.
    ///
    /// Jinja2's way are paths from one directory (`FileSystemLoader.get_source`).
    ///
    /// # Errors
    /// There is no such template, or it cannot be read.
    fn load(&self, vm: &Vm<'_>, name: &Str) -> Result<(Str, Arc<str>)> {
        load_below(vm, name, "the templates' directory")
    }

    /// What `{{ x }}` prints where it is not escaped.
    ///
    /// # Errors
    /// What `str()` of the object raises.
    fn print(&self, object: &Obj) -> Result<String> {
        to_str(object)
    }

    /// Read what the body of a [`Load`](mapstack_jinja_syntax::Form::Load) tag printed, or a template that an
    /// [`ImportData`](mapstack_jinja_syntax::Form::ImportData) tag named. `map` says where the text came from, so
    /// that an error can point there.
    ///
    /// # Errors
    /// The text is not in the format.
    fn read(&self, _: &Vm<'_>, tag: &str, _text: &Obj, _map: &SourceMap) -> Result<Obj> {
        let message = format!("the tag {} reads nothing", quote_str(tag));
        Err(Error::new(ErrorKind::Syntax, message))
    }

    /// What to do about an imported template that [`read`](Self::read) refused.
    fn about_import(&self, _tag: &str, _file: &str) -> Option<String> {
        None
    }

    /// What an operation reads of its operands, which is paid for before it runs.
    fn reads(&self, kind: Named, name: &str) -> Reads {
        charge::reads(kind, name)
    }

    /// Whether a filter writes its input as text in which the parts of it still stand, as `tojson` does.
    fn writes_data(&self, filter: &str) -> bool {
        filters::writes_data(filter)
    }
}

/// Jinja2 as it comes, without extensions.
#[derive(Debug, Clone, Copy, Default)]
pub struct Jinja2;

impl Dialect for Jinja2 {
    fn name(&self) -> &'static str {
        "jinja2"
    }
}

/// Find a template by its path from the one directory there is, which messages call `root`.
///
/// # Errors
/// There is no such template, or it cannot be read.
pub fn load_below(vm: &Vm<'_>, name: &Str, root: &str) -> Result<(Str, Arc<str>)> {
    if name.split('/').any(|part| part == "..") {
        let outside = Error::new(ErrorKind::TemplateNotFound, &**name);
        return Err(outside.with_help(format!("templates are loaded from {root}, without `..`")));
    }
    let parts: Vec<&str> = name
        .split('/')
        .filter(|part| !matches!(*part, "" | "."))
        .collect();
    let path = parts.join("/");
    let Some(source) = vm.host().template(&path)? else {
        let missing = Error::new(
            ErrorKind::TemplateNotFound,
            format!("{} not found in search path", quote_str(name)),
        );
        return Err(missing.with_help(format!("paths start from {root}")));
    };
    Ok((path.into(), source))
}
