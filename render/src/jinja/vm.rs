//! One render: what it may reach, what it may spend, and the templates it has loaded.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::ops::Deref;
use std::rc::Rc;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use foldhash::fast::RandomState;
use mapstack_pyobject::{Budget, CallArgs, Error, ErrorKind, Interpreter, Obj, Place, Result};
use mapstack_value::Str;

use super::ast::Template;
use super::module::Module;
use super::output::{Output, SourceMap};
use super::scope::{Context, Frame, Layer, Names};
use super::taint::Taint;
use super::watch::Watch;
use super::{Dialect, Limits, Syntax, check, job, parser};

/// What a template can reach outside itself. The caller of a render provides it.
pub trait Host {
    /// The source of another template, by its path from the root of the file server; `None` if
    /// there is no such file.
    ///
    /// # Errors
    /// The file exists and cannot be read.
    fn template(&self, path: &str) -> Result<Option<Arc<str>>>;

    /// Whether `salt[name]` exists.
    fn has_function(&self, name: &str) -> bool;

    /// Whether `salt.module` exists, that is, any function of that module.
    fn has_module(&self, module: &str) -> bool;

    /// Call `salt[name](…)`.
    ///
    /// # Errors
    /// What the function raises.
    fn call_function(&self, vm: &Vm<'_>, name: &str, args: CallArgs) -> Result<Obj>;

    /// What to do about a function that does not exist.
    fn missing_function_help(&self, _name: &str) -> Option<String> {
        None
    }

    /// The error about a call of a function that does not exist, where more can be said of it than
    /// that. A template meets it where the reference's `salt[name]` is undefined.
    fn unanswered(&self, _name: &str, _args: &CallArgs) -> Option<Box<Error>> {
        None
    }

    /// Apply a filter that looks at the machine; its input is the first argument.
    ///
    /// # Errors
    /// What the filter raises; `refusal`, perhaps with advice, where templates must not do this.
    fn host_filter(
        &self,
        _vm: &Vm<'_>,
        _name: &str,
        _args: CallArgs,
        refusal: Box<Error>,
    ) -> Result<Obj> {
        Err(refusal)
    }

    /// Hand on something the reference would log.
    fn log(&self, level: &str, message: &str);
}

/// A host with no files and no functions.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoHost;

impl Host for NoHost {
    fn template(&self, _: &str) -> Result<Option<Arc<str>>> {
        Ok(None)
    }

    fn has_function(&self, _: &str) -> bool {
        false
    }

    fn has_module(&self, _: &str) -> bool {
        false
    }

    fn call_function(&self, _: &Vm<'_>, name: &str, _: CallArgs) -> Result<Obj> {
        Err(Error::new(
            ErrorKind::Salt,
            format!("'{name}' is not available."),
        ))
    }

    fn log(&self, _: &str, _: &str) {}
}

/// Parsed templates by source, shared between renders and threads.
#[derive(Debug, Default)]
pub struct TemplateCache(Mutex<HashMap<Arc<str>, Vec<CachedTemplate>, RandomState>>);

/// One reading of a source: the same text can stand in files of several names.
#[derive(Debug)]
struct CachedTemplate {
    syntax: Syntax,
    template: Arc<Template>,
}

impl TemplateCache {
    fn parse(
        &self,
        name: Option<&Str>,
        source: &Arc<str>,
        syntax: &Syntax,
    ) -> Result<Arc<Template>> {
        let is_it = |c: &&CachedTemplate| c.template.name.as_ref() == name && c.syntax == *syntax;
        if let Some(known) = self.lock().get(source)
            && let Some(found) = known.iter().find(is_it)
        {
            return Ok(found.template.clone());
        }
        let template = parse_checked(name, source, syntax)?;
        let cached = CachedTemplate {
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

/// Read a template as a render would, without running it: with its `#jinja2:` header, and refused
/// if it names a filter or test that does not exist.
///
/// # Errors
/// What Jinja refuses when it compiles the template, with the place in the source.
///
/// ```
/// use mapstack_render::jinja::{Syntax, compile};
/// let e = compile(None, "a\n{{ x|uper }}".into(), &Syntax::default()).unwrap_err();
/// assert_eq!(e.to_string(), "Jinja syntax error: No filter named 'uper'.");
/// assert_eq!(e.help.as_deref(), Some("did you mean 'upper'?"));
/// ```
pub fn compile(name: Option<&Str>, mut source: Arc<str>, syntax: &Syntax) -> Result<Arc<Template>> {
    let mut syntax = syntax.clone();
    if syntax.dialect == Dialect::Salt {
        super::header::apply(&mut source, &mut syntax, &|_| {});
    }
    parse_checked(name, &source, &syntax)
}

fn parse_checked(name: Option<&Str>, source: &str, syntax: &Syntax) -> Result<Arc<Template>> {
    let template = parser::parse(source, name.map(|n| &**n), syntax).map_err(|e| {
        let place = Place {
            template: e.name.clone(),
            source: e.source.clone(),
            span: e.span,
        };
        let mut error = Error::new(ErrorKind::Syntax, e.message);
        error.help = e.help;
        error.at(|| place)
    })?;
    check::check(&template, syntax.dialect)?;
    Ok(Arc::new(template))
}

/// Everything that one render needs.
pub struct Request<'r> {
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
/// As Salt does, a final newline of the source is kept, `\r\n` becomes `\n`, and a `#jinja2: {…}`
/// first line sets options for this template alone. [`Dialect::Stack`] has neither of the two.
///
/// # Errors
/// Whatever the template raises, with the place in the source.
///
/// ```
/// use mapstack_render::jinja::{NoHost, Request, render};
/// let request = Request::new("{{ [1, 2]|join(',') }}", &NoHost);
/// assert_eq!(render(request).unwrap().text, "1,2");
/// ```
pub fn render(mut request: Request<'_>) -> Result<Rendered> {
    let warn = |problem: &str| request.host.log("warning", problem);
    let salted = request.syntax.dialect == Dialect::Salt;
    if salted {
        super::header::apply(&mut request.source, &mut request.syntax, &warn);
    }
    let ends_in_newline = salted && request.source.ends_with('\n');
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
    /// A request with Salt's settings: strict, default syntax and limits, no variables.
    pub fn new(source: impl Into<Arc<str>>, host: &'r dyn Host) -> Self {
        Request {
            source: source.into(),
            name: None,
            variables: Names::default(),
            locals: Names::default(),
            syntax: Syntax::default(),
            strict: true,
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
    host: &'r dyn Host,
    cache: Option<&'r TemplateCache>,
    syntax: Syntax,
    strict: bool,
    budget: Budget<'r>,
    pub(super) autoescape: Cell<bool>,
    /// Builtins under the render's variables: what templates loaded without context see.
    globals: Rc<Layer>,
    /// `tpldir`, `tplfile` and `tpldot` of the template loaded last.
    place: RefCell<Names>,
    loaded: RefCell<HashMap<Str, Arc<Template>>>,
    /// Contexts and scopes that hold a macro which holds them: taken apart when the render ends.
    cyclic: RefCell<Vec<Frame>>,
    modules: RefCell<HashMap<Str, Rc<Module>>>,
    pub(super) watch: Option<&'r Watch>,
    pub(super) taint: Option<&'r Taint>,
}

impl<'r> Vm<'r> {
    /// The state before anything has run.
    pub(crate) fn new(request: &Request<'r>) -> Self {
        let globals = Layer::over(
            request.variables.clone(),
            Some(request.syntax.dialect.globals()),
        );
        Vm {
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
            place: RefCell::default(),
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

    /// Which filters, tests and globals there are.
    pub(crate) fn dialect(&self) -> Dialect {
        self.syntax.dialect
    }

    /// Whether printed text is escaped for HTML here (`{% autoescape true %}`).
    pub(crate) fn autoescape(&self) -> bool {
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
    pub(crate) fn variables(&self) -> Names {
        self.globals.flatten()
    }

    /// Remember a frame that is about to hold a macro defined in it.
    pub(super) fn holds_itself(&self, frame: &Frame) {
        self.cyclic.borrow_mut().push(frame.clone());
    }

    /// The globals a template loaded now would see.
    pub(super) fn globals_now(&self) -> Rc<Layer> {
        let place = self.place.borrow();
        if place.is_empty() {
            self.globals.clone()
        } else {
            Layer::over(place.clone(), Some(self.globals.clone()))
        }
    }

    pub(super) fn parse(&self, name: Option<&Str>, source: &Arc<str>) -> Result<Arc<Template>> {
        self.parse_as(name, source, &self.syntax)
    }

    fn parse_as(
        &self,
        name: Option<&Str>,
        source: &Arc<str>,
        syntax: &Syntax,
    ) -> Result<Arc<Template>> {
        match self.cache {
            Some(cache) => cache.parse(name, source, syntax),
            None => parse_checked(name, source, syntax),
        }
    }

    /// Load a template by the name a tag gave.
    ///
    /// `./x` and `../x` start from the `tpldir` global, everything else from the file server's
    /// root (Salt: `SaltCacheLoader.get_source`).
    pub(super) fn load(&self, name: &Str) -> Result<Arc<Template>> {
        if let Some(found) = self.loaded.borrow().get(name) {
            return Ok(found.clone());
        }
        let not_found = || Error::new(ErrorKind::TemplateNotFound, &**name);
        if self.dialect() == Dialect::Stack {
            return self.load_below_root(name);
        }
        let relative = matches!(name.split('/').next(), Some("." | ".."));
        let path = if relative {
            self.resolve_relative(name).ok_or_else(not_found)?
        } else {
            name.to_string()
        };
        // The reference does this before it looks for the file, so a miss moves `tpldir`, too.
        self.remember_place(name, &path, relative);
        let Some(source) = self.host.template(&path)? else {
            return Err(not_found().with_help(format!("no file salt://{path} on the file server")));
        };
        let template = self.parse(Some(&Str::from(path)), &source)?;
        self.loaded
            .borrow_mut()
            .insert(name.clone(), template.clone());
        Ok(template)
    }

    /// Load a template by its path from the one directory there is (Jinja2:
    /// `FileSystemLoader.get_source`).
    fn load_below_root(&self, name: &Str) -> Result<Arc<Template>> {
        if name.split('/').any(|part| part == "..") {
            let outside = Error::new(ErrorKind::TemplateNotFound, &**name);
            return Err(outside.with_help(
                "templates are loaded from the directory of the config file, without `..`",
            ));
        }
        let parts: Vec<&str> = name
            .split('/')
            .filter(|part| !matches!(*part, "" | "."))
            .collect();
        let Some(source) = self.host.template(&parts.join("/"))? else {
            let quoted = mapstack_value::quote_str(name);
            let missing = Error::new(
                ErrorKind::TemplateNotFound,
                format!("{quoted} not found in search path"),
            );
            return Err(missing.with_help("paths start from the directory of the config file"));
        };
        let template = self.parse(Some(&parts.join("/").into()), &source)?;
        self.loaded
            .borrow_mut()
            .insert(name.clone(), template.clone());
        Ok(template)
    }

    fn resolve_relative(&self, name: &str) -> Option<String> {
        let tpldir = self.globals_now().get("tpldir")?.as_str()?.clone();
        let mut parts: Vec<&str> = Vec::new();
        for part in tpldir.split('/').chain(name.split('/')) {
            match part {
                "" | "." => {}
                ".." if matches!(parts.last(), Some(&last) if last != "..") => {
                    parts.pop();
                }
                part => parts.push(part),
            }
        }
        if parts.first() == Some(&"..") {
            self.host.log(
                "warning",
                &format!("Discarded template path '{name}': it leaves salt://"),
            );
            return None;
        }
        Some(parts.join("/"))
    }

    /// Loading a template changes the globals `tpldir`, `tplfile` and `tpldot`.
    fn remember_place(&self, name: &Str, path: &str, relative: bool) {
        let own_dir = path.rsplit_once('/').map_or("", |(dir, _)| dir);
        let dir = match self.globals_now().get("tpldir").and_then(Obj::as_str) {
            Some(current) if relative => current.to_string(),
            _ => own_dir.to_string(),
        };
        let file = if relative { &**name } else { path };
        let mut place = self.place.borrow_mut();
        place.insert("tplfile".into(), Obj::from(file));
        place.insert(
            "tpldir".into(),
            Obj::from(if dir.is_empty() { "." } else { &*dir }),
        );
        place.insert("tpldot".into(), Obj::from(dir.replace('/', ".")));
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
