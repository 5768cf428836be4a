//! One render: what it may reach, what it may spend, and the templates it has loaded.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::ops::Deref;
use std::rc::Rc;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use foldhash::fast::RandomState;
use mapstack_pyobject::{
    Budget, CallArgs, Error, ErrorKind, Interpreter, Limits, Obj, Place, Result,
};
use mapstack_value::Str;

use super::dialect::Dialect;
use super::host::Host;
use super::module::Module;
use super::output::{Output, SourceMap};
use super::scope::{Context, Frame, Layer, Names};
use super::taint::Taint;
use super::watch::Watch;
use super::{check, job};
use mapstack_jinja_syntax::ast::Template;
use mapstack_jinja_syntax::{Syntax, parse};

/// Parsed templates by source, shared between renders and threads.
#[derive(Debug, Default)]
pub struct TemplateCache(Mutex<HashMap<Arc<str>, Vec<CachedTemplate>, RandomState>>);

/// One reading of a source: the same text can stand in files of several names.
#[derive(Debug)]
struct CachedTemplate {
    dialect: &'static str,
    syntax: Syntax,
    template: Arc<Template>,
}

impl TemplateCache {
    fn parse(
        &self,
        dialect: &dyn Dialect,
        name: Option<&Str>,
        source: &Arc<str>,
        syntax: &Syntax,
    ) -> Result<Arc<Template>> {
        let is_it = |c: &&CachedTemplate| {
            c.template.name.as_ref() == name && c.dialect == dialect.name() && c.syntax == *syntax
        };
        if let Some(known) = self.lock().get(source)
            && let Some(found) = known.iter().find(is_it)
        {
            return Ok(found.template.clone());
        }
        let template = parse_checked(dialect, name, source, syntax)?;
        let cached = CachedTemplate {
            dialect: dialect.name(),
            syntax: syntax.clone(),
            template: template.clone(),
        };
        self.lock().entry(source.clone()).or_default().push(cached);
        Ok(template)
    }

    /// A panic elsewhere leaves nothing half-written here.
    fn lock(&self) -> MutexGuard<'_, HashMap<Arc<str>, Vec<CachedTemplate>, RandomState>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Read a template as a render would, without running it: prepared by the dialect, and refused if it
/// names a filter or test that does not exist.
///
/// # Errors
/// What Jinja refuses when it compiles the template, with the place in the source.
///
/// ```
/// use mapstack_jinja::{Jinja2, Syntax, compile};
/// let e = compile(&Jinja2, None, "a\n{{ x|uper }}".into(), &Syntax::default()).unwrap_err();
/// assert_eq!(e.to_string(), "Jinja syntax error: No filter named 'uper'.");
/// assert_eq!(e.help.as_deref(), Some("did you mean 'upper'?"));
/// ```
pub fn compile(
    dialect: &dyn Dialect,
    name: Option<&Str>,
    mut source: Arc<str>,
    syntax: &Syntax,
) -> Result<Arc<Template>> {
    let mut syntax = syntax.clone();
    dialect.prepare(&mut source, &mut syntax, &|_| {});
    parse_checked(dialect, name, &source, &syntax)
}

fn parse_checked(
    dialect: &dyn Dialect,
    name: Option<&Str>,
    source: &str,
    syntax: &Syntax,
) -> Result<Arc<Template>> {
    let template = parse(source, name.map(|n| &**n), syntax, dialect.tags()).map_err(|e| {
        let place = Place {
            template: e.name.clone(),
            source: e.source.clone(),
            span: e.span,
        };
        let mut error = Error::new(ErrorKind::Syntax, e.message);
        error.help = e.help;
        error.at(|| place)
    })?;
    check::check(&template, dialect)?;
    Ok(Arc::new(template))
}

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
    /// Whether undefined values are errors.
    pub strict: bool,
    /// What it may spend.
    pub limits: Limits,
    /// What it can reach.
    pub host: &'r dyn Host,
    /// Parsed templates kept from earlier renders.
    pub cache: Option<&'r TemplateCache>,
    /// Steps to spend together with other renders; `limits.fuel` alone counts without it.
    pub fuel: Option<&'r Cell<u64>>,
    /// An object whose changes are told apart by statement.
    pub watch: Option<&'r Watch>,
    /// What is secret, and what becomes of it.
    pub taint: Option<&'r Taint>,
}

/// The result of a render.
#[derive(Debug)]
pub struct Rendered {
    /// What was printed.
    pub text: String,
    /// Where it came from.
    pub map: SourceMap,
    /// What the template's top level has bound, in order.
    pub exports: Names,
}

/// Render a template.
///
/// # Errors
/// Whatever the template raises, with the place in the source.
///
/// ```
/// use mapstack_jinja::{Jinja2, NoHost, Request, render};
/// let request = Request::new(&Jinja2, "{{ [1, 2]|join(',') }}", &NoHost);
/// assert_eq!(render(request).unwrap().text, "1,2");
/// ```
pub fn render(mut request: Request<'_>) -> Result<Rendered> {
    let warn = |problem: &str| request.host.log("warning", problem);
    let dialect = request.dialect;
    dialect.prepare(&mut request.source, &mut request.syntax, &warn);
    let ends_in_newline = dialect.keeps_final_newline() && request.source.ends_with('\n');
    let vm = Vm::new(&request);
    let template = vm.parse_as(request.name.as_ref(), &request.source, &request.syntax)?;
    let given = match std::mem::take(&mut request.locals) {
        none if none.is_empty() => vm.globals_now(),
        locals => {
            let mut variables = std::mem::take(&mut request.variables);
            variables.extend(locals);
            Layer::over(variables, Some(vm.globals_now()))
        }
    };
    let context = Context::new(&template, given);
    let mut out = Output::mapped(vm.budget.limits().output);
    vm.run_template(&Frame::root(template, context.clone()), &mut out)?;
    let (mut text, map) = out.finish();
    if ends_in_newline {
        text.push('\n');
    }
    let exports = context.vars.borrow().clone();
    Ok(Rendered { text, map, exports })
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
            watch: None,
            taint: None,
        }
    }
}

/// The state of one render. Objects reach it through their methods' `vm` argument.
///
/// It is the [`Budget`] of the render, too: `vm.burn(1)`.
pub struct Vm<'r> {
    dialect: &'r dyn Dialect,
    host: &'r dyn Host,
    cache: Option<&'r TemplateCache>,
    syntax: Syntax,
    strict: bool,
    budget: Budget<'r>,
    pub(super) autoescape: Cell<bool>,
    /// Builtins under the render's variables: what templates loaded without context see.
    globals: Rc<Layer>,
    /// Globals that loading templates has set.
    set: RefCell<Names>,
    loaded: RefCell<HashMap<Str, Arc<Template>>>,
    /// Contexts and scopes that hold a macro which holds them: taken apart when the render ends.
    cyclic: RefCell<Vec<Frame>>,
    modules: RefCell<HashMap<Str, Rc<Module>>>,
    pub(super) watch: Option<&'r Watch>,
    pub(super) taint: Option<&'r Taint>,
}

impl<'r> Vm<'r> {
    /// The state before anything has run.
    pub fn new(request: &Request<'r>) -> Self {
        let globals = Layer::over(request.variables.clone(), Some(request.dialect.globals()));
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
            globals,
            set: RefCell::default(),
            loaded: RefCell::default(),
            cyclic: RefCell::default(),
            modules: RefCell::default(),
            watch: request.watch,
            taint: request.taint,
        }
    }

    /// What the template can reach.
    pub fn host(&self) -> &dyn Host {
        self.host
    }

    /// Whether undefined values are errors.
    pub fn strict(&self) -> bool {
        self.strict
    }

    /// The environment that templates are written for.
    #[inline]
    pub fn dialect(&self) -> &'r dyn Dialect {
        self.dialect
    }

    /// Whether printed text is escaped for HTML here (`{% autoescape true %}`).
    pub fn autoescape(&self) -> bool {
        self.autoescape.get()
    }

    /// What ends a line of literal text.
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

    /// Remember a frame that is about to hold a macro defined in it.
    pub(super) fn holds_itself(&self, frame: &Frame) {
        self.cyclic.borrow_mut().push(frame.clone());
    }

    /// The globals a template loaded now would see.
    pub(super) fn globals_now(&self) -> Rc<Layer> {
        let set = self.set.borrow();
        if set.is_empty() {
            self.globals.clone()
        } else {
            Layer::over(set.clone(), Some(self.globals.clone()))
        }
    }

    fn parse(&self, name: Option<&Str>, source: &Arc<str>) -> Result<Arc<Template>> {
        self.parse_as(name, source, &self.syntax)
    }

    fn parse_as(
        &self,
        name: Option<&Str>,
        source: &Arc<str>,
        syntax: &Syntax,
    ) -> Result<Arc<Template>> {
        match self.cache {
            Some(cache) => cache.parse(self.dialect, name, source, syntax),
            None => parse_checked(self.dialect, name, source, syntax),
        }
    }

    /// Load a template by the name a tag gave, once per render.
    pub(super) fn load(&self, name: &Str) -> Result<Arc<Template>> {
        if let Some(found) = self.loaded.borrow().get(name) {
            return Ok(found.clone());
        }
        let (path, source) = self.dialect.load(self, name)?;
        let template = self.parse(Some(&path), &source)?;
        self.loaded
            .borrow_mut()
            .insert(name.clone(), template.clone());
        Ok(template)
    }

    /// The module of a template imported without context; made once per render.
    pub(super) fn shared_module(&self, name: &Str, template: &Arc<Template>) -> Result<Rc<Module>> {
        if let Some(found) = self.modules.borrow().get(name) {
            return Ok(found.clone());
        }
        let module = self.make_module(template, self.globals_now())?;
        self.modules
            .borrow_mut()
            .insert(name.clone(), module.clone());
        Ok(module)
    }

    /// Run a template for what it binds.
    pub(super) fn make_module(
        &self,
        template: &Arc<Template>,
        given: Rc<Layer>,
    ) -> Result<Rc<Module>> {
        let context = Context::new(template, given);
        let mut out = Output::mapped(self.budget.limits().output);
        self.run_template(&Frame::root(template.clone(), context.clone()), &mut out)?;
        let (body, map) = out.finish();
        Ok(Rc::new(Module {
            name: template.name.clone(),
            context,
            body,
            map,
        }))
    }
}

impl<'r> Deref for Vm<'r> {
    type Target = Budget<'r>;

    fn deref(&self) -> &Budget<'r> {
        &self.budget
    }
}

impl Interpreter for Vm<'_> {
    fn budget(&self) -> &Budget<'_> {
        &self.budget
    }

    fn strict(&self) -> bool {
        self.strict
    }

    fn call(&self, callee: &Obj, args: CallArgs) -> Result<Obj> {
        Vm::call(self, callee, args)
    }

    fn get_attr(&self, object: &Obj, name: &Str) -> Result<Obj> {
        Vm::get_attr(self, object, name)
    }

    fn get_key(&self, object: &Obj, key: &Obj) -> Result<Obj> {
        Vm::get_key(self, object, key)
    }

    fn run(&self, job: &mut dyn Any) -> Result<Option<Obj>> {
        job::run(self, job)
    }
}

impl Drop for Vm<'_> {
    /// A macro and the scope it was defined in hold each other, and would never be freed.
    fn drop(&mut self) {
        for frame in self.cyclic.get_mut().drain(..) {
            match &frame.scope {
                Some(scope) => scope.clear(),
                None => frame.context.vars.borrow_mut().clear(),
            }
        }
    }
}
