//! Functions of the modules that a tree ships: `salt://_modules/*.py`.
//!
//! Salt copies these files to a minion and loads them before its own: a file with the name of one of Salt's modules
//! replaces it, and a file with another name can take a name by `__virtual__()`. They run in the sandbox of
//! `mapstack-python`; what they import that does not exist makes a call one that nothing answers.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use foldhash::fast::RandomState;
use mapstack_diagnostic::Result;
use mapstack_loader::SaltPath;
use mapstack_pyobject::{CallArgs, Error, ErrorKind, Obj};
use mapstack_salt_jinja::{Limits, Request, Vm, request};
use mapstack_sandbox::{
    FunctionAnswer, FunctionFiles, FunctionJob, Interpreter, Loader, ModuleHost, RenderJob,
    TemplateSource, TreeCall, call_tree, render_by_tree,
};
use mapstack_value::{Map, Str, Value, weight};

use crate::endless::{Endless, name_of};
use crate::is_in_salt;

/// The memory of a run about the tree's modules.
#[derive(Debug, Default)]
pub struct TreeMemo {
    /// Modules without a file of their name.
    absent: RefCell<Vec<Str>>,
    /// The functions of modules that were loaded.
    loaded: RefCell<HashMap<Str, Rc<Loaded>, RandomState>>,
    /// True if the tree has a renderer, by its name; `None` where it says nothing about the name.
    renderers: RefCell<HashMap<Str, Option<bool>, RandomState>>,
    /// True if the tree has any renderers.
    has_renderers: OnceCell<bool>,
    /// True if the tree has any matchers.
    has_matchers: OnceCell<bool>,
    /// Calls inside each other.
    depth: Cell<usize>,
}

impl TreeMemo {
    /// True if the tree has any matchers.
    pub(crate) fn has_matchers(&self, run: &dyn TreeContext) -> bool {
        *self
            .has_matchers
            .get_or_init(|| has_files(run, Loader::Matchers))
    }
}

/// True if the tree has files for a loader.
fn has_files(run: &dyn TreeContext, loader: Loader) -> bool {
    let directory = format!("{}/", loader.directory());
    let envs = run.module_envs(true);
    // A directory that cannot be listed fails where it is searched.
    envs.iter().any(|env| {
        run.module_files(env, &directory)
            .map_or(true, |files| !files.is_empty())
    })
}

/// The result of loading a module.
#[derive(Debug)]
enum Loaded {
    /// It has these functions.
    Names(Vec<Str>),
    /// It does not load, or there is none; why, if something says so.
    Missing(Option<String>),
    /// It needs something that the sandbox does not have, so its functions are not known.
    Unknown,
}

/// A run as the tree's modules see it.
pub trait TreeContext {
    /// The text of a file of a saltenv.
    ///
    /// # Errors
    /// The file cannot be read, or is not text.
    fn module_text(&self, path: &str, saltenv: &str) -> Result<Option<Arc<str>>>;

    /// The files of a saltenv below a directory.
    ///
    /// # Errors
    /// They cannot be listed.
    fn module_files(&self, saltenv: &str, directory: &str) -> Result<Vec<String>>;

    /// The saltenvs whose modules the run sees, the first one first: its own and `base`, and with `all` the others.
    fn module_envs(&self, all: bool) -> Vec<Str>;

    /// A file of the master's option `extension_modules`, by the kind of modules and its name there, as a path and a text.
    ///
    /// # Errors
    /// The file cannot be read, or is not text.
    fn extension(&self, _kind: &str, _file: &str) -> Result<Option<(String, Arc<str>)>> {
        Ok(None)
    }

    /// True if a stub answers calls of a function.
    fn is_stubbed(&self, name: &str) -> bool;

    /// True if the function is built in.
    fn is_built_in(&self, name: &str) -> bool;

    /// True if something else answers, such as the machine.
    fn is_answered_elsewhere(&self, name: &str) -> bool;

    /// Facts by the name that modules have for them, as they are now.
    ///
    /// # Errors
    /// They are not data.
    fn module_fact(&self, name: &str) -> mapstack_pyobject::Result<Value>;

    /// The interpreter of Python.
    fn interpreter(&self) -> &Interpreter;

    /// The limits of the run.
    fn limits(&self) -> Limits;

    /// The memory of the run about modules.
    fn tree_memo(&self) -> &TreeMemo;

    /// The memory of all runs about functions that do not end.
    fn endless(&self) -> &Endless;
}

/// The tree's answer to a call.
#[derive(Debug)]
pub enum TreeAnswer {
    /// The value that the function returns, and true if it can have seen secrets.
    Value(Value, bool),
    /// The tree has the module, and the module does not have the function.
    Missing,
    /// The tree has no such module.
    None,
}

/// The name by which modules ask for their `__opts__`; renderers ask for those of templates, `__opts__`.
pub const OPTS_OF_FUNCTIONS: &str = "__opts__ of functions";

/// The name by which functions of grains ask for the argument `grains`.
const GRAINS_SO_FAR: &str = "grains so far";

/// The most calls of modules inside each other, through templates.
const MAX_DEPTH: usize = 5;
/// Steps that each call costs.
pub(crate) const COST: usize = 1_000;

/// True if the tree may have a function. This runs nothing.
pub fn may_be_in_tree(run: &dyn TreeContext, name: &str) -> bool {
    // An error is met again by the call.
    shipped(run, Loader::Modules, name).map_or(true, |shipped| !shipped.sources.is_empty())
}

/// True if the tree has a function; `None` if it has no module of that name.
pub fn tree_has(run: &dyn TreeContext, vm: &Vm<'_>, name: &str) -> Option<bool> {
    let (module, function) = name.split_once('.')?;
    let has = |loaded: &Loaded| match loaded {
        Loaded::Names(names) => names.iter().any(|known| **known == *function),
        Loaded::Missing(_) => false,
        Loaded::Unknown => true,
    };
    let (first, is_own) = loaded(run, vm, name, module)?;
    if has(&first) {
        return Some(true);
    }
    // Another file may take the name of this one, and have the function.
    let (name, module) = (format!("*{name}"), format!("*{module}"));
    let is_elsewhere =
        is_own && loaded(run, vm, &name, &module).is_some_and(|(other, _)| has(&other));
    (is_elsewhere || is_own).then_some(is_elsewhere)
}

/// Why a module that the tree ships has not loaded, or has no such function, if anything says so.
pub fn why_not_in_tree(run: &dyn TreeContext, name: &str) -> Option<String> {
    let (module, function) = name.split_once('.')?;
    let loaded = run.tree_memo().loaded.borrow().get(module).cloned()?;
    match &*loaded {
        Loaded::Missing(why) => why.clone(),
        Loaded::Names(_) => Some(format!(
            "the tree's module '{module}' has no function '{function}'"
        )),
        Loaded::Unknown => None,
    }
}

/// True if the tree has a module with any function.
pub fn tree_has_module(run: &dyn TreeContext, vm: &Vm<'_>, module: &str) -> bool {
    let found = loaded(run, vm, module, module);
    found.is_some_and(|(loaded, _)| match &*loaded {
        Loaded::Names(names) => !names.is_empty(),
        Loaded::Missing(_) => false,
        Loaded::Unknown => true,
    })
}

/// Let the tree's modules answer a call. Containers that the function changes in place change for the caller.
///
/// # Errors
/// The function raises or reaches a limit. An error of the kind [`ErrorKind::Undefined`] says that the function needs
/// something that does not exist, so the call has no answer.
pub fn tree_call(
    run: &dyn TreeContext,
    vm: &Vm<'_>,
    name: &str,
    args: &CallArgs,
) -> mapstack_pyobject::Result<TreeAnswer> {
    let Some((module, function)) = name.split_once('.') else {
        return Ok(TreeAnswer::None);
    };
    let TreeFunctionFiles { sources, is_own } = shipped(run, Loader::Modules, name)?;
    if sources.is_empty() {
        return Ok(TreeAnswer::None);
    }
    vm.burn(COST)?;
    let arguments: mapstack_pyobject::Result<Vec<Value>> =
        args.positional.iter().map(Obj::to_value).collect();
    let keywords: mapstack_pyobject::Result<Vec<(Str, Value)>> = args
        .named
        .iter()
        .map(|(name, value)| Ok((Str::from(&**name), value.to_value()?)))
        .collect();
    let job = FunctionJob {
        loader: Loader::Modules,
        module: module.into(),
        function: Some(function.into()),
        arguments: arguments?,
        keywords: keywords?,
    };
    let files = ModuleTree::new(run);
    let (answer, changed) = perform(&files, vm, job).map_err(|error| named(name, error))?;
    for (number, value) in changed {
        if let Some(argument) = args.positional.get(number) {
            replace(argument, value)?;
        }
    }
    Ok(match answer {
        FunctionAnswer::Value(value) => {
            vm.burn(weight(&value) / 64)?;
            TreeAnswer::Value(value, files.has_read_secrets.get())
        }
        _ if is_own => TreeAnswer::Missing,
        FunctionAnswer::Missing(_) | FunctionAnswer::Names(_) | FunctionAnswer::Text(_) => {
            TreeAnswer::None
        }
    })
}

/// A question about a renderer that only a render can answer; a run makes one where it is asked.
pub type RendererQuestion<'q> = dyn Fn(&Vm<'_>) -> Option<bool> + 'q;

/// True if the tree has a renderer; `None` where it says nothing about the name, so that Salt's own is meant. Where Salt
/// has one, only a file of that name counts.
pub fn tree_has_renderer(
    run: &dyn TreeContext,
    on_vm: &dyn Fn(&RendererQuestion<'_>) -> Option<bool>,
    name: &str,
    is_in_salt: bool,
) -> Option<bool> {
    let memo = run.tree_memo();
    if !memo
        .has_renderers
        .get_or_init(|| has_files(run, Loader::Renderers))
    {
        return None;
    }
    if let Some(known) = memo.renderers.borrow().get(name) {
        return *known;
    }
    let has = on_vm(&|vm| has_renderer(run, vm, name, is_in_salt));
    memo.renderers.borrow_mut().insert(name.into(), has);
    has
}

fn has_renderer(run: &dyn TreeContext, vm: &Vm<'_>, name: &str, is_in_salt: bool) -> Option<bool> {
    let is_own = match shipped(run, Loader::Renderers, &format!("{name}.render")) {
        Ok(shipped) if shipped.sources.is_empty() || is_in_salt && !shipped.is_own => return None,
        // The render meets the error again.
        Err(_) => return Some(true),
        Ok(shipped) => shipped.is_own,
    };
    let job = FunctionJob {
        loader: Loader::Renderers,
        module: name.into(),
        function: None,
        arguments: Vec::new(),
        keywords: Vec::new(),
    };
    let has = match perform(&ModuleTree::new(run), vm, job) {
        Ok((FunctionAnswer::Names(names), _)) => names.iter().any(|name| **name == *"render"),
        Ok((FunctionAnswer::Missing(_), _)) => false,
        Ok(_) | Err(_) => true,
    };
    // A file of another name that does not have it says nothing.
    (is_own || has).then_some(has)
}

/// Let a renderer of the tree, or Salt's `pyobjects`, render. Returns what it made, and whether it can have seen
/// secrets.
///
/// # Errors
/// The renderer raises, reaches a limit or needs what does not exist; the last is of the kind
/// [`ErrorKind::Undefined`].
pub fn tree_render(
    run: &dyn TreeContext,
    vm: &Vm<'_>,
    job: RenderJob,
) -> mapstack_pyobject::Result<(FunctionAnswer, bool)> {
    vm.burn(COST)?;
    let files = ModuleTree {
        saltenv: job.saltenv.clone(),
        ..ModuleTree::new(run)
    };
    let made = files.deeper(
        |bounds| {
            let call = TreeCall {
                job,
                tree: &files,
                bounds,
                interpreter: run.interpreter(),
            };
            render_by_tree(vm, call)
        },
        vm,
    )?;
    if let FunctionAnswer::Value(value) = &made {
        vm.burn(weight(value) / 64)?;
    }
    Ok((made, files.has_read_secrets.get()))
}

/// An error that says which function has no answer.
fn named(name: &str, mut error: Box<Error>) -> Box<Error> {
    let begins = format!("salt[{}]", mapstack_value::quote_str(name));
    if error.kind == ErrorKind::Undefined && !error.message.starts_with("salt[") {
        error.message = format!("{begins} has no answer: {}", error.message);
    }
    error
}

/// A call of a runner.
#[derive(Debug, Clone, PartialEq)]
pub struct RunnerCall {
    /// The full name of the function.
    pub name: Str,
    /// Positional arguments, as words of a command line.
    pub arguments: Vec<Value>,
    /// Named arguments.
    pub keywords: Map,
    /// The saltenv for runners that ask for one.
    pub saltenv: Value,
}

/// The modules of Salt's own runners, from Salt 3008.3.
const SALT_RUNNERS: &str = "auth batch cache cluster config doc error event fileserver git_pillar http jobs manage match mine net \
                            network pillar pki queue reactor resource salt saltutil sdb ssh state survey test winrepo";

fn is_salts_runner(name: &str) -> bool {
    let module = name.split('.').next().unwrap_or(name);
    SALT_RUNNERS.split_whitespace().any(|known| known == module)
}

/// The runner of Salt that runs functions of a minion on the master.
const CMD: &str = "salt.cmd";

/// True if the tree has any runners. This runs nothing.
pub fn tree_has_runners(run: &dyn TreeContext) -> bool {
    let directory = format!("{}/", Loader::Runners.directory());
    run.module_files("base", &directory)
        .map_or(true, |files| !files.is_empty())
}

/// Let the tree's runners answer a call, as the client of runners on the master does.
///
/// # Errors
/// As [`tree_call`], and for what a runner raises: Salt returns the text of the traceback, which nothing here has.
pub fn tree_runner(
    run: &dyn TreeContext,
    vm: &Vm<'_>,
    call: RunnerCall,
) -> mapstack_pyobject::Result<TreeAnswer> {
    let Some((module, function)) = call.name.split_once('.') else {
        return Ok(TreeAnswer::None);
    };
    let TreeFunctionFiles { sources, is_own } = shipped(run, Loader::Runners, &call.name)?;
    if sources.is_empty() && *call.name != *CMD {
        return Ok(TreeAnswer::None);
    }
    vm.burn(COST)?;
    let mut keywords: Vec<(Str, Value)> = call
        .keywords
        .iter()
        .map(|(name, value)| (name.to_string().into(), value.clone()))
        .collect();
    keywords.push(("__env__".into(), call.saltenv));
    let job = FunctionJob {
        loader: Loader::Runners,
        module: module.into(),
        function: Some(function.into()),
        arguments: call.arguments,
        keywords,
    };
    let files = ModuleTree::new(run);
    let (answer, _) = perform(&files, vm, job)?;
    Ok(match answer {
        FunctionAnswer::Value(value) => {
            vm.burn(weight(&value) / 64)?;
            TreeAnswer::Value(value, files.has_read_secrets.get())
        }
        _ if is_own => TreeAnswer::Missing,
        _ => TreeAnswer::None,
    })
}

/// The functions of a module by the name of the module, or of one of its functions, and whether a file has that name;
/// `None` if the tree has none.
fn loaded(
    run: &dyn TreeContext,
    vm: &Vm<'_>,
    name: &str,
    module: &str,
) -> Option<(Rc<Loaded>, bool)> {
    let is_own = match shipped(run, Loader::Modules, name) {
        Ok(shipped) if shipped.sources.is_empty() => return None,
        // The call meets the error again.
        Err(_) => return Some((Rc::new(Loaded::Unknown), true)),
        Ok(shipped) => shipped.is_own,
    };
    let memo = run.tree_memo();
    if let Some(known) = memo.loaded.borrow().get(module) {
        return Some((known.clone(), is_own));
    }
    let job = FunctionJob {
        loader: Loader::Modules,
        module: module.into(),
        function: None,
        arguments: Vec::new(),
        keywords: Vec::new(),
    };
    let loaded = Rc::new(match perform(&ModuleTree::new(run), vm, job) {
        Ok((FunctionAnswer::Names(names), _)) => Loaded::Names(names),
        Ok((FunctionAnswer::Missing(why), _)) => Loaded::Missing(why),
        Ok((FunctionAnswer::Value(_) | FunctionAnswer::Text(_), _)) | Err(_) => Loaded::Unknown,
    });
    let mut all = memo.loaded.borrow_mut();
    all.insert(module.into(), loaded.clone());
    Some((loaded, is_own))
}

pub(crate) fn perform(
    files: &ModuleTree<'_>,
    vm: &Vm<'_>,
    job: FunctionJob,
) -> mapstack_pyobject::Result<(FunctionAnswer, Vec<(usize, Value)>)> {
    let work = |job, bounds: &Request<'_>| {
        let call = TreeCall {
            job,
            tree: files,
            bounds,
            interpreter: files.run.interpreter(),
        };
        call_tree(vm, call)
    };
    let name = name_of(&job);
    let is_of_grains = job.loader == Loader::Grains;
    let endless = files.run.endless();
    if let Some(error) = endless.known(&job) {
        return Err(error);
    }
    let made = files.deeper(|bounds| work(job, bounds), vm);
    let made = made.and_then(|made| match &made.0 {
        FunctionAnswer::Value(value) if is_of_grains && weight(value) > MOST_OF_GRAINS => Err(
            Error::limit(format!("it returns more than {} MiB", MOST_OF_GRAINS >> 20)),
        ),
        _ => Ok(made),
    });
    // The function is not at fault if the budget of the whole run is used up.
    if files.run.limits().check_run().is_ok() {
        endless.learn(name, &made);
    }
    made
}

/// The size of the grains that one function may return: a minion sends its grains to the master, which holds those of all.
const MOST_OF_GRAINS: usize = 8 << 20;

/// Give a container the content that a function left in it.
fn replace(argument: &Obj, value: Value) -> mapstack_pyobject::Result<()> {
    match (argument, Obj::from(value)) {
        (Obj::Dict(dict), Obj::Dict(new)) => {
            dict.change(|all| *all = new.entries().into_iter().collect());
            Ok(())
        }
        (Obj::List(list), Obj::List(new)) => {
            let items = new.items();
            list.change(|all| *all = items);
            Ok(())
        }
        (other, _) => Err(Error::new(
            ErrorKind::Undefined,
            format!(
                "the function changes its argument in place, and a '{}' cannot be changed from outside",
                other.type_name()
            ),
        )),
    }
}

/// The files of the tree that may have a function.
#[derive(Default)]
pub(crate) struct TreeFunctionFiles {
    /// The likeliest first.
    pub sources: Vec<TemplateSource>,
    /// True if a file has the name of the module. It replaces Salt's module of that name.
    is_own: bool,
}

/// The files of the tree that may have a function, by its full name. A name that ends in a dot is that of a file alone;
/// one that begins with a star is that of files with other names.
pub(crate) fn shipped(
    run: &dyn TreeContext,
    loader: Loader,
    name: &str,
) -> mapstack_pyobject::Result<TreeFunctionFiles> {
    let (name, is_own_file) = match name.strip_prefix('*') {
        Some(name) => (name, false),
        None => (name, true),
    };
    let (module, function) = name.split_once('.').unwrap_or((name, "?"));
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if module.is_empty() || module.starts_with('_') || !module.chars().all(is_name) {
        return Ok(TreeFunctionFiles::default());
    }
    let of_modules = loader == Loader::Modules;
    if of_modules && run.is_stubbed(name) {
        return Ok(TreeFunctionFiles::default());
    }
    let memo = run.tree_memo();
    let is_absent = of_modules && memo.absent.borrow().iter().any(|m| **m == *module);
    let is_built_in = of_modules && run.is_built_in(name);
    if !is_own_file {
        return Ok(TreeFunctionFiles {
            sources: by_virtual_name(run, loader, module, &envs_of(run, loader, true))?,
            is_own: false,
        });
    }
    if is_built_in && is_absent {
        return Ok(TreeFunctionFiles::default());
    }
    // Most saltenvs are those of other minions, so they replace no module of Salt.
    let envs = envs_of(run, loader, !is_built_in);
    for env in &envs {
        if let Some(source) = own_file(run, loader, module, env)? {
            return Ok(TreeFunctionFiles {
                sources: vec![source],
                is_own: true,
            });
        }
    }
    if of_modules && !is_absent {
        memo.absent.borrow_mut().push(module.into());
    }
    if is_built_in || function.is_empty() {
        return Ok(TreeFunctionFiles::default());
    }
    Ok(TreeFunctionFiles {
        sources: by_virtual_name(run, loader, module, &envs)?,
        is_own: false,
    })
}

/// The saltenvs that a loader's files come from; with `all` those of other minions as well.
fn envs_of(run: &dyn TreeContext, loader: Loader, all: bool) -> Vec<Str> {
    match loader {
        // A master copies what runs on it from there.
        Loader::Runners | Loader::Pillar | Loader::Tops => vec!["base".into()],
        _ => run.module_envs(all),
    }
}

/// The file that has the name of a module.
fn own_file(
    run: &dyn TreeContext,
    loader: Loader,
    module: &str,
    env: &Str,
) -> mapstack_pyobject::Result<Option<TemplateSource>> {
    let directory = loader.directory();
    for path in [
        format!("{directory}/{module}.py"),
        format!("{directory}/{module}/__init__.py"),
    ] {
        let text = run.module_text(&path, env).map_err(|e| unreadable(&e))?;
        if let Some(text) = text {
            let name = path.into();
            return Ok(Some(TemplateSource { name, text }));
        }
    }
    if matches!(loader, Loader::Runners | Loader::Pillar | Loader::Tops) {
        let kind = directory.trim_start_matches('_');
        let found = run.extension(kind, &format!("{module}.py"));
        if let Some((path, text)) = found.map_err(|e| unreadable(&e))? {
            let name = path.into();
            return Ok(Some(TemplateSource { name, text }));
        }
    }
    Ok(None)
}

/// Files with other names that may give themselves the name of a module.
fn by_virtual_name(
    run: &dyn TreeContext,
    loader: Loader,
    module: &str,
    envs: &[Str],
) -> mapstack_pyobject::Result<Vec<TemplateSource>> {
    let directory = format!("{}/", loader.directory());
    let quoted = [format!("'{module}'"), format!("\"{module}\"")];
    let mut found: Vec<TemplateSource> = Vec::new();
    for env in envs {
        let mut files = run
            .module_files(env, &directory)
            .map_err(|e| unreadable(&e))?;
        files.sort_unstable();
        for path in files {
            let stem = path.strip_prefix(&*directory).unwrap_or(&path);
            if module_of(stem).is_none() || found.iter().any(|source| *source.name == *path) {
                continue;
            }
            if let Some(text) = run.module_text(&path, env).map_err(|e| unreadable(&e))?
                && text.contains("__virtual")
                && quoted.iter().any(|name| text.contains(&**name))
            {
                let name = Str::from(&*path);
                found.push(TemplateSource { name, text });
            }
        }
    }
    // Salt tries those first whose names contain that of the module.
    found.sort_by_key(|source| !source.name.contains(module));
    Ok(found)
}

/// The module that a file in a directory of modules is, if it is one.
pub(crate) fn module_of(file: &str) -> Option<&str> {
    let stem = file.strip_suffix(".py")?;
    let stem = stem.strip_suffix("/__init__").unwrap_or(stem);
    (!stem.contains('/') && !stem.starts_with('_')).then_some(stem)
}

fn unreadable(error: &mapstack_diagnostic::Error) -> Box<Error> {
    Error::new(ErrorKind::Nested, error.to_string())
}

/// The tree for the modules of one call.
pub(crate) struct ModuleTree<'r> {
    run: &'r dyn TreeContext,
    /// The saltenv that code imports files from.
    saltenv: Str,
    /// The grains that modules see, if not all of the minion's, and those that were computed so far.
    grains: Option<(&'r Map, &'r Map)>,
    has_read_secrets: Cell<bool>,
}

impl<'r> ModuleTree<'r> {
    pub(crate) fn new(run: &'r dyn TreeContext) -> Self {
        ModuleTree {
            run,
            saltenv: Str::default(),
            grains: None,
            has_read_secrets: Cell::new(false),
        }
    }
}

impl<'r> ModuleTree<'r> {
    /// The tree for modules of grains, which see only the grains of a configuration; functions that ask for more get those
    /// that were computed so far.
    pub(crate) fn with_grains(run: &'r dyn TreeContext, set: &'r Map, so_far: &'r Map) -> Self {
        ModuleTree {
            grains: Some((set, so_far)),
            ..ModuleTree::new(run)
        }
    }
}

impl ModuleTree<'_> {
    /// Work in the sandbox, one level deeper.
    fn deeper<T>(
        &self,
        work: impl FnOnce(&Request<'_>) -> mapstack_pyobject::Result<T>,
        vm: &Vm<'_>,
    ) -> mapstack_pyobject::Result<T> {
        let depth = &self.run.tree_memo().depth;
        if depth.get() >= MAX_DEPTH {
            return Err(Error::limit(
                "modules of the tree and templates call each other too deeply",
            ));
        }
        depth.set(depth.get() + 1);
        let bounds = Request {
            limits: self.run.limits(),
            ..request("", vm.host())
        };
        let made = work(&bounds);
        depth.set(depth.get() - 1);
        made
    }
}

impl ModuleHost for ModuleTree<'_> {
    fn find(&self, loader: Loader, name: &str) -> mapstack_pyobject::Result<FunctionFiles> {
        let TreeFunctionFiles { sources, is_own } = shipped(self.run, loader, name)?;
        let is_known = match loader {
            Loader::Modules => {
                self.run.is_stubbed(name)
                    || self.run.is_built_in(name)
                    || self.run.is_answered_elsewhere(name)
                    || is_in_salt(name)
            }
            // Salt has built-in utility modules, which are not here.
            Loader::Utils => !name.ends_with('.'),
            Loader::Runners => is_salts_runner(name),
            _ => false,
        };
        Ok(FunctionFiles {
            // A file of the tree replaces the built-in module of its name.
            is_known: is_known && !is_own,
            sources,
        })
    }

    fn fact(&self, name: &str) -> mapstack_pyobject::Result<Value> {
        match (name, self.grains) {
            ("__grains__", Some((set, _))) => return Ok(set.clone().into()),
            (GRAINS_SO_FAR, Some((_, so_far))) => return Ok(so_far.clone().into()),
            // The facts that `salt.utils.platform` learns from the machine.
            ("__system__", _) => return self.run.module_fact("__grains__"),
            ("__grains__", None) => {}
            _ => self.has_read_secrets.set(true),
        }
        self.run.module_fact(name)
    }

    fn called(&self, _: &str) {
        self.has_read_secrets.set(true);
    }

    fn file(&self, uri: &str) -> mapstack_pyobject::Result<Option<TemplateSource>> {
        let error = |message| Error::new(ErrorKind::Nested, message);
        let asked = SaltPath::parse(uri).map_err(|e| error(format!("{uri}: {e}")))?;
        let saltenv = asked.saltenv().unwrap_or(&self.saltenv);
        let text = self.run.module_text(asked.as_str(), saltenv);
        let text = text.map_err(|e| unreadable(&e))?;
        let name = Str::from(asked.as_str());
        Ok(text.map(|text| TemplateSource { name, text }))
    }
}
