//! Where names live while a template runs.
//!
//! A template has a [`Context`]: what was given to it, and what its top level has bound so far
//! (which is what importers see). Loops, macros and `with` open [`Scope`]s above it. A name is
//! looked up from the innermost scope outwards, then in the context.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use foldhash::fast::RandomState;
use indexmap::IndexMap;
use mapstack_pyobject::Obj;
use mapstack_pytext::classes::normalised;
use mapstack_value::Str;

use mapstack_jinja_syntax::ast::{Block, Template};

use super::tracer::Table;

/// Named objects in order.
pub type Names = IndexMap<Str, Obj, RandomState>;

/// A chain of name tables, read from the front to the back.
#[derive(Debug, Default)]
pub struct Layer {
    names: Names,
    below: Option<Rc<Layer>>,
}

impl Layer {
    /// A table over another.
    pub fn over(names: Names, below: Option<Rc<Layer>>) -> Rc<Self> {
        Rc::new(Layer { names, below })
    }

    /// The object under a name.
    pub fn get(&self, name: &str) -> Option<&Obj> {
        match self.names.get(name) {
            Some(found) => Some(found),
            None => self.below.as_deref()?.get(name),
        }
    }

    /// Every name with its object, the front winning.
    pub fn flatten(&self) -> Names {
        let mut all = self
            .below
            .as_deref()
            .map(Layer::flatten)
            .unwrap_or_default();
        all.extend(self.names.iter().map(|(k, v)| (k.clone(), v.clone())));
        all
    }
}

/// A block together with the template whose source it stands in.
pub type BlockSource = (Arc<Template>, Arc<Block>);

/// One run of one template.
pub struct Context {
    /// What the top level has bound.
    pub vars: RefCell<Names>,
    /// What was given from outside.
    pub given: Rc<Layer>,
    /// For each block, its definitions from the most derived template to the base.
    pub blocks: RefCell<HashMap<Str, Vec<BlockSource>, RandomState>>,
    /// The name `self` prints.
    pub name: Option<Str>,
}

impl Context {
    /// A context for a template over given names.
    pub fn new(template: &Arc<Template>, given: Rc<Layer>) -> Rc<Self> {
        let context = Context {
            vars: RefCell::default(),
            given,
            blocks: RefCell::default(),
            name: template.name.clone(),
        };
        context.add_blocks(template);
        Rc::new(context)
    }

    /// Put a template's blocks behind those already known.
    pub fn add_blocks(&self, template: &Arc<Template>) {
        let mut blocks = self.blocks.borrow_mut();
        for block in &template.blocks {
            blocks
                .entry(block.name.clone())
                .or_default()
                .push((template.clone(), block.clone()));
        }
    }

    /// The definition of a block, `depth` steps towards the base.
    pub fn block(&self, name: &str, depth: usize) -> Option<BlockSource> {
        self.blocks.borrow().get(name)?.get(depth).cloned()
    }

    /// The table of what the top level has bound.
    pub fn table(&self) -> Table {
        std::ptr::from_ref(self) as usize
    }

    fn get(&self, name: &str) -> Option<Obj> {
        if let Some(found) = self.vars.borrow().get(name) {
            return Some(found.clone());
        }
        self.given.get(name).cloned()
    }
}

/// Names bound inside a loop, a macro or a `with`. A name that the last round of a loop has bound keeps its entry, without
/// a value.
#[derive(Default)]
pub struct Scope {
    names: RefCell<Vec<(Str, Option<Obj>)>>,
    outer: Option<Rc<Scope>>,
}

impl Scope {
    /// Forget every name.
    pub fn clear(&self) {
        self.names.borrow_mut().clear();
    }

    fn get(&self, name: &str) -> Option<Obj> {
        let mut scope = Some(self);
        while let Some(here) = scope {
            if let Some(found) = here.own(name) {
                return Some(found);
            }
            scope = here.outer.as_deref();
        }
        None
    }

    /// What is bound here itself.
    fn own(&self, name: &str) -> Option<Obj> {
        let names = self.names.borrow();
        let (_, found) = names.iter().find(|(known, _)| same(known, name))?;
        found.clone()
    }

    fn set(&self, name: &Str, value: Obj) {
        let mut names = self.names.borrow_mut();
        match names.iter_mut().find(|(known, _)| same(known, name)) {
            Some((_, slot)) => *slot = Some(value),
            None => names.push((name.clone(), Some(value))),
        }
    }
}

/// Whether two names are one. Those of one template share their text.
#[inline]
fn same(a: &str, b: &str) -> bool {
    std::ptr::eq(a, b) || a == b
}

/// The code of a template outside of its blocks and macros. It prints until it extends another
/// template, and goes on without printing.
#[derive(Default)]
pub struct Root {
    parent: RefCell<Option<Arc<Template>>>,
}

/// Where the interpreter stands: which template's source, which context, which scope.
#[derive(Clone)]
pub struct Frame {
    /// The template whose source is being run.
    pub template: Arc<Template>,
    /// Its context.
    pub context: Rc<Context>,
    /// The innermost scope; `None` at the top level, whose bindings are exported.
    pub scope: Option<Rc<Scope>>,
    /// The root whose output this is part of; `None` for code whose output goes elsewhere.
    pub root: Option<Rc<Root>>,
}

impl Frame {
    /// The top level of a template.
    pub fn root(template: Arc<Template>, context: Rc<Context>) -> Self {
        Frame {
            template,
            context,
            scope: None,
            root: Some(Rc::default()),
        }
    }

    /// The same place for code that is run for its own output: macros, blocks and captures print in
    /// templates that extend others, too.
    #[must_use]
    pub fn detached(&self) -> Self {
        Frame {
            root: None,
            ..self.clone()
        }
    }

    /// The template that the root has extended so far.
    pub fn parent(&self) -> Option<Arc<Template>> {
        self.root.as_ref()?.parent.borrow().clone()
    }

    /// Whether what stands here is not printed, as the root extends another template.
    pub fn is_silent(&self) -> bool {
        self.root
            .as_ref()
            .is_some_and(|root| root.parent.borrow().is_some())
    }

    /// Whether this is the root itself, or a branch of an `if` in it.
    pub fn is_top_level(&self) -> bool {
        self.scope.is_none() && self.root.is_some()
    }

    /// Note the template that the root extends; `false` if there is one already.
    pub fn extend(&self, parent: Arc<Template>) -> bool {
        let Some(root) = &self.root else { return false };
        root.parent.borrow_mut().replace(parent).is_none()
    }

    /// A new scope inside this one.
    #[must_use]
    pub fn inner(&self) -> Self {
        let scope = Rc::new(Scope {
            names: RefCell::default(),
            outer: self.scope.clone(),
        });
        Frame {
            scope: Some(scope),
            ..self.clone()
        }
    }

    /// Forget the names of the scope, unless something else holds it.
    pub fn forget(&mut self) -> bool {
        let Some(scope) = self.scope.as_mut().and_then(Rc::get_mut) else {
            return false;
        };
        for (_, value) in scope.names.get_mut() {
            *value = None;
        }
        true
    }

    /// Look a name up in the context only.
    pub fn in_context(&self, name: &str) -> Option<Obj> {
        match self.normalised(name) {
            Cow::Borrowed(name) => self.context.get(name),
            Cow::Owned(normalised) => self
                .context
                .get(&normalised)
                .or_else(|| self.context.get(name)),
        }
    }

    /// Look a name up in the scopes only.
    pub fn local(&self, name: &str) -> Option<Obj> {
        let scope = self.scope.as_ref()?;
        match self.normalised(name) {
            Cow::Borrowed(name) => scope.get(name),
            Cow::Owned(normalised) => scope.get(&normalised).or_else(|| scope.get(name)),
        }
    }

    /// A name of the template as Python's compiler reads it.
    #[inline]
    fn normalised<'n>(&self, name: &'n str) -> Cow<'n, str> {
        if self.template.is_ascii {
            Cow::Borrowed(name)
        } else {
            normalised(name)
        }
    }

    /// The table in which a name is bound here.
    pub fn table(&self) -> Table {
        match &self.scope {
            Some(scope) => Rc::as_ptr(scope) as usize,
            None => self.context.table(),
        }
    }

    /// The table in which a look-up finds a name; `None` if the name was given from outside or is not bound.
    pub fn table_of(&self, name: &str) -> Option<Table> {
        let name = normalised(name);
        let mut scope = self.scope.as_ref();
        while let Some(here) = scope {
            if here.own(&name).is_some() {
                return Some(Rc::as_ptr(here) as usize);
            }
            scope = here.outer.as_ref();
        }
        let is_bound = self.context.vars.borrow().contains_key(&*name);
        is_bound.then(|| self.context.table())
    }

    /// Bind a name here, and its normalised form, as Python's compiler does.
    pub fn set(&self, name: &Str, value: Obj) {
        if let Cow::Owned(normalised) = self.normalised(name) {
            self.bind(&normalised.into(), value.clone());
        }
        self.bind(name, value);
    }

    fn bind(&self, name: &Str, value: Obj) {
        match &self.scope {
            Some(scope) => scope.set(name, value),
            None => {
                self.context.vars.borrow_mut().insert(name.clone(), value);
            }
        }
    }

    /// Everything visible here, as one layer for a template run "with context".
    pub fn visible(&self) -> Rc<Layer> {
        let (vars, given) = (self.context.vars.borrow(), self.context.given.clone());
        let mut layer = if vars.is_empty() {
            given
        } else {
            Layer::over(vars.clone(), Some(given))
        };
        let mut scopes = Vec::new();
        let mut scope = self.scope.as_ref();
        while let Some(here) = scope {
            scopes.push(here.clone());
            scope = here.outer.as_ref();
        }
        if !scopes.is_empty() {
            let names = scopes.iter().rev().flat_map(|s| s.names.borrow().clone());
            let names = names.filter_map(|(name, value)| Some((name, value?)));
            let names = names.collect();
            layer = Layer::over(names, Some(layer));
        }
        layer
    }
}
