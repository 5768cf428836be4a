//! The state of one render: what it may reach, what it may spend, and the templates it has loaded.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::ops::Deref;
use std::rc::Rc;
use std::sync::Arc;

use crate::syntax::Syntax;
use crate::syntax::ast::Template;
use foldhash::fast::RandomState;
use mapstack_pyobject::{Budget, CallArgs, Limits, Obj, Result};
use mapstack_value::Str;

use super::cache::TemplateCache;
use super::dialect::{Dialect, Filter, Test};
use super::edit_log::EditLog;
use super::host::Host;
use super::module::Module;
use super::named::{NamedFunction, NamedValues};
use super::scope::{Frame, Names, ScopeChain};
use super::taint::Taint;
use super::tracer::Tracer;

/// Everything that one render needs.
pub struct Request<'r> {
    /// The environment it is written for.
    pub dialect: &'r dyn Dialect,
    /// The template's text.
    pub source: Arc<str>,
    /// The name errors call it by.
    pub name: Option<Str>,
    /// Variables of the render.
    pub variables: Names,
    /// Variables of this template alone: templates that it imports without context lack them.
    pub locals: Names,
    /// Delimiters and whitespace rules.
    pub syntax: Syntax,
    /// True if undefined values are errors.
    pub strict: bool,
    /// The limits.
    pub limits: Limits,
    /// The host.
    pub host: &'r dyn Host,
    /// Parsed templates kept from earlier renders.
    pub cache: Option<&'r TemplateCache>,
    /// Steps to spend together with other renders; `limits.fuel` alone counts without it.
    pub fuel: Option<&'r Cell<u64>>,
    /// The record of statements that change an object.
    pub edit_log: Option<&'r EditLog>,
    /// The secrets. Texts that templates compute from them are added.
    pub taint: Option<&'r Taint>,
    /// An observer of how values move.
    pub tracer: Option<&'r dyn Tracer>,
}

impl<'r> Request<'r> {
    /// A request with Jinja2's settings and default limits, without variables.
    pub fn new(dialect: &'r dyn Dialect, source: impl Into<Arc<str>>, host: &'r dyn Host) -> Self {
        Request {
            dialect,
            source: source.into(),
            name: None,
            variables: Names::default(),
            locals: Names::default(),
            syntax: Syntax::default(),
            strict: false,
            limits: Limits::default(),
            host,
            cache: None,
            fuel: None,
            edit_log: None,
            taint: None,
            tracer: None,
        }
    }
}

/// A value for each name.
type ByName<T> = HashMap<Str, T, RandomState>;

/// The results of inline `if`s without `else`, by the template and the place; the template is kept with it.
type WithoutElse = HashMap<(*const Template, u32, u32), (Arc<Template>, Obj), RandomState>;

/// The state of one render. Objects reach it through their methods' `vm` argument.
///
/// It is the [`Budget`] of the render, too: `vm.burn(1)`.
pub struct Vm<'r> {
    dialect: &'r dyn Dialect,
    host: &'r dyn Host,
    pub(super) cache: Option<&'r TemplateCache>,
    /// The syntax of templates that are loaded by name.
    pub(super) syntax: Syntax,
    strict: bool,
    budget: Budget<'r>,
    pub(super) autoescape: Cell<bool>,
    /// The number of expressions around the current one.
    pub(super) levels: Cell<u32>,
    /// A buffer for the next capture.
    pub(super) spare: Cell<String>,
    /// Builtins under the render's variables: what templates loaded without context see.
    globals: Rc<ScopeChain>,
    /// Globals that loading templates has set.
    set: RefCell<Names>,
    pub(super) loaded: RefCell<ByName<Arc<Template>>>,
    /// Contexts and scopes that contain a macro that refers to them. They are cleared when the render ends.
    cyclic: RefCell<Vec<Frame>>,
    pub(super) modules: RefCell<ByName<Rc<Module>>>,
    pub(super) edit_log: Option<&'r EditLog>,
    pub(super) taint: Option<&'r Taint>,
    pub(super) tracer: Option<&'r dyn Tracer>,
    /// True if an observer follows values.
    is_observed: bool,
    pub(super) no_else: RefCell<WithoutElse>,
    /// Filters and tests that templates have used.
    pub(super) known_filters: NamedValues<Filter>,
    pub(super) known_tests: NamedValues<Test>,
    /// A missing function that the present expression asked for.
    pub(super) missed: RefCell<Option<Str>>,
}

impl<'r> Vm<'r> {
    /// The state before anything has run.
    pub fn new(request: &Request<'r>) -> Self {
        let globals = ScopeChain::over(
            request.variables.clone(),
            Some(request.dialect.builtins().globals()),
        );
        Vm {
            dialect: request.dialect,
            host: request.host,
            cache: request.cache,
            syntax: Syntax {
                has_header: false,
                ..request.syntax.clone()
            },
            strict: request.strict,
            budget: Budget::new(request.limits, request.fuel),
            autoescape: Cell::new(false),
            levels: Cell::new(0),
            spare: Cell::default(),
            globals,
            set: RefCell::default(),
            loaded: RefCell::default(),
            cyclic: RefCell::default(),
            modules: RefCell::default(),
            edit_log: request.edit_log,
            taint: request.taint,
            tracer: request.tracer,
            is_observed: request.taint.is_some() || request.tracer.is_some(),
            no_else: RefCell::default(),
            known_filters: NamedValues::default(),
            known_tests: NamedValues::default(),
            missed: RefCell::default(),
        }
    }

    /// Note that the present expression asked for a function that does not exist. The host hears of
    /// it together with the place of the expression ([`Host::note_missing_function`]).
    pub fn note_missing_function(&self, function: &Str) {
        *self.missed.borrow_mut() = Some(function.clone());
    }

    /// The host of the template.
    pub fn host(&self) -> &dyn Host {
        self.host
    }

    /// True if undefined values are errors.
    pub fn strict(&self) -> bool {
        self.strict
    }

    /// The environment that templates are written for.
    #[inline]
    pub fn dialect(&self) -> &'r dyn Dialect {
        self.dialect
    }

    /// True if printed text is escaped for HTML here (`{% autoescape true %}`).
    pub fn autoescape(&self) -> bool {
        self.autoescape.get()
    }

    /// True if an observer follows values.
    #[inline]
    pub(super) fn is_observed(&self) -> bool {
        self.is_observed
    }

    /// The end of a line of literal text.
    pub(super) fn newline(&self) -> &'static str {
        self.syntax.newline_sequence
    }

    /// A variable of the render.
    pub fn variable(&self, name: &str) -> Option<Obj> {
        self.globals.get(name).cloned()
    }

    /// The variables of the render.
    pub fn variables(&self) -> Names {
        self.globals.flatten()
    }

    /// A global that a template loaded now would see.
    pub fn global(&self, name: &str) -> Option<Obj> {
        let set = self.set.borrow().get(name).cloned();
        set.or_else(|| self.variable(name))
    }

    /// Set a global for the templates that are loaded from now on.
    pub fn set_global(&self, name: &str, object: Obj) {
        self.set.borrow_mut().insert(name.into(), object);
    }

    /// Remember a frame in which a macro is about to be defined.
    pub(super) fn holds_itself(&self, frame: &Frame) {
        self.cyclic.borrow_mut().push(frame.clone());
    }

    /// The globals a template loaded now would see.
    pub(super) fn globals_now(&self) -> Rc<ScopeChain> {
        let set = self.set.borrow();
        if set.is_empty() {
            self.globals.clone()
        } else {
            ScopeChain::over(set.clone(), Some(self.globals.clone()))
        }
    }

    /// Pay for a named operation on an object and arguments, before it runs.
    ///
    /// # Errors
    /// A limit error when it cannot be paid.
    pub fn charged(
        &self,
        kind: NamedFunction,
        name: &str,
        object: Option<&Obj>,
        args: &CallArgs,
    ) -> Result<()> {
        self.charge(|| self.dialect().reads(kind, name), object, args)
    }
}

impl<'r> Deref for Vm<'r> {
    type Target = Budget<'r>;

    fn deref(&self) -> &Budget<'r> {
        &self.budget
    }
}

impl Drop for Vm<'_> {
    /// A macro and the scope it was defined in refer to each other; without this they would never be freed.
    fn drop(&mut self) {
        for frame in self.cyclic.get_mut().drain(..) {
            match &frame.scope {
                Some(scope) => scope.clear(),
                None => frame.context.clear(),
            }
        }
    }
}
