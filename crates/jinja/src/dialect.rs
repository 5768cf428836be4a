//! The parts of a dialect that Jinja2 lacks or does in another way.

use std::rc::Rc;
use std::sync::Arc;

use crate::syntax::{Syntax, Tag};
use foldhash::fast::FixedState;
use indexmap::IndexMap;
use mapstack_pyobject::{CallArgs, Error, ErrorKind, Obj, OperandReads, Result, to_str};
use mapstack_value::{Str, quote_str};

use super::named::{self, Conversion, NamedFunction};
use super::output::SourceMap;
use super::scope::ScopeChain;
use super::vm::Vm;

/// A filter: `input|name(args)`.
pub type Filter = fn(&Vm<'_>, Obj, CallArgs) -> Result<Obj>;

/// A test: `input is name(args)`.
pub type Test = fn(&Vm<'_>, &Obj, CallArgs) -> Result<bool>;

/// Filters with their names.
pub type Filters = &'static [(&'static str, Filter)];

/// Tests with their names.
pub type Tests = &'static [(&'static str, Test)];

type ByName<T> = IndexMap<&'static str, T, FixedState>;

/// The filters, tests and globals of a dialect.
///
/// If a name is given twice, the later entry replaces the earlier one.
///
/// ```
/// use mapstack_jinja::{Dialect, Filter, Jinja2, Builtins, globals};
///
/// let own: [(&str, Filter); 2] = [("same", |_, x, _| Ok(x)), ("upper", |_, x, _| Ok(x))];
/// let jinja2 = Jinja2.builtins();
/// let builtins = Builtins::new(jinja2.filters().chain(own), jinja2.tests(), globals::builtins);
/// assert!(builtins.filter("same").is_some() && builtins.test("defined").is_some());
/// assert_eq!(builtins.filters().count(), jinja2.filters().count() + 1);
/// assert_eq!(builtins.filters().last().unwrap().0, "upper");
/// ```
#[derive(Debug)]
pub struct Builtins {
    filters: ByName<Filter>,
    tests: ByName<Test>,
    globals: fn() -> Rc<ScopeChain>,
}

impl Builtins {
    /// Filters and tests. `globals` makes the names that every template has.
    pub fn new(
        filters: impl IntoIterator<Item = (&'static str, Filter)>,
        tests: impl IntoIterator<Item = (&'static str, Test)>,
        globals: fn() -> Rc<ScopeChain>,
    ) -> Self {
        Builtins {
            filters: by_name(filters),
            tests: by_name(tests),
            globals,
        }
    }

    /// The filter of a name.
    #[must_use]
    pub fn filter(&self, name: &str) -> Option<Filter> {
        self.filters.get(name).copied()
    }

    /// All filters, in order. "Did you mean" suggests the first of several names that are equally close.
    pub fn filters(&self) -> impl Iterator<Item = (&'static str, Filter)> + use<'_> {
        self.filters.iter().map(|(name, filter)| (*name, *filter))
    }

    /// The test of a name.
    #[must_use]
    pub fn test(&self, name: &str) -> Option<Test> {
        self.tests.get(name).copied()
    }

    /// All tests, in order.
    pub fn tests(&self) -> impl Iterator<Item = (&'static str, Test)> + use<'_> {
        self.tests.iter().map(|(name, test)| (*name, *test))
    }

    /// The names that every template has.
    #[must_use]
    pub fn globals(&self) -> Rc<ScopeChain> {
        (self.globals)()
    }
}

fn by_name<T>(all: impl IntoIterator<Item = (&'static str, T)>) -> ByName<T> {
    let mut named = ByName::default();
    for (name, item) in all {
        named.shift_remove(name);
        named.insert(name, item);
    }
    named
}

/// The environment a template is written for. Every method but the first two has Jinja2's own answer, so that a
/// dialect says only what is different.
///
/// ```
/// use mapstack_jinja::{Dialect, Filter, Jinja2, Builtins, NoHost, Request, globals, render};
/// use mapstack_pyobject::{Obj, to_str};
/// use std::sync::LazyLock;
///
/// struct Shouting;
///
/// const SHOUT: (&str, Filter) = ("shout", |_, x, _| Ok(Obj::from(to_str(&x)?.to_uppercase() + "!")));
///
/// impl Dialect for Shouting {
///     fn name(&self) -> &'static str {
///         "shouting"
///     }
///
///     fn builtins(&self) -> &'static Builtins {
///         static BUILTINS: LazyLock<Builtins> = LazyLock::new(|| {
///             let own = Jinja2.builtins();
///             Builtins::new(own.filters().chain([SHOUT]), own.tests(), globals::builtins)
///         });
///         &BUILTINS
///     }
/// }
///
/// let template = "{{ 'hey'|shout|lower }}";
/// assert_eq!(render(Request::new(&Shouting, template, &NoHost)).unwrap().text, "hey!");
/// let error = render(Request::new(&Jinja2, template, &NoHost)).unwrap_err();
/// assert_eq!(error.message, "No filter named 'shout'.");
/// ```
pub trait Dialect: Sync {
    /// Its name. Caches keep parsed templates of different dialects apart by it.
    fn name(&self) -> &'static str;

    /// Its filters, tests and globals.
    fn builtins(&self) -> &'static Builtins;

    /// The tags of the dialect, in addition to those of the language.
    fn tags(&self) -> &'static [Tag] {
        &[]
    }

    /// True if attributes that belong to Python's internals, such as `__class__`, are undefined, as in a
    /// `SandboxedEnvironment`. Otherwise they are an error, since they do not exist here.
    fn is_sandboxed(&self) -> bool {
        false
    }

    /// True if the newline at the end of a template's source is always printed, regardless of the syntax options.
    fn keeps_final_newline(&self) -> bool {
        false
    }

    /// Look at a source before it is parsed: it may set syntax options for itself. Problems with them are reported
    /// to `warn`.
    fn prepare(&self, _source: &mut Arc<str>, _syntax: &mut Syntax, _warn: &dyn Fn(&str)) {}

    /// Find a template by the name that a tag gave: its path, and its source.
    ///
    /// In Jinja2 names are paths from one directory (`FileSystemLoader.get_source`).
    ///
    /// # Errors
    /// The template does not exist, or cannot be read.
    fn load(&self, vm: &Vm<'_>, name: &Str) -> Result<(Str, Arc<str>)> {
        load_below(vm, name, "the templates' directory")
    }

    /// The text that `{{ x }}` prints if it is not escaped, and is neither text nor a boolean nor an integer that fits 64
    /// bits.
    ///
    /// # Errors
    /// The exception of the object's `str()`.
    fn print(&self, object: &Obj) -> Result<String> {
        to_str(object)
    }

    /// Read what the body of a [`Load`](crate::syntax::TagForm::Load) tag printed, or a template that an
    /// [`ImportData`](crate::syntax::TagForm::ImportData) tag named. `map` says where the text came from, so
    /// that an error can point there.
    ///
    /// # Errors
    /// The text is not in the format.
    fn read(&self, _: &Vm<'_>, tag: &str, _text: &Obj, _map: &SourceMap) -> Result<Obj> {
        let message = format!("the tag {} reads nothing", quote_str(tag));
        Err(Error::new(ErrorKind::Syntax, message))
    }

    /// Advice about an imported template that [`read`](Self::read) refused.
    fn about_import(&self, _tag: &str, _file: &str) -> Option<String> {
        None
    }

    /// The part of its operands that an operation reads, which is paid for before it runs.
    fn reads(&self, kind: NamedFunction, name: &str) -> OperandReads {
        named::reads(kind, name)
    }

    /// The conversion of a filter that makes text of data or data of text: each part of its output is part of its input.
    fn converts(&self, filter: &str) -> Option<Conversion> {
        named::converts(filter)
    }
}

/// Find a template by its path from a single directory, which messages call `root`.
///
/// # Errors
/// The template does not exist, or cannot be read.
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
