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

use mapstack_jinja_syntax::ast::{Block, Stmt, Template};

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
    /// Names that the top level hides until it binds them. Blocks do not see that.
    unset: RefCell<Vec<Str>>,
    /// What was given from outside.
    pub given: Rc<Layer>,
    /// For each block, its definitions from the most derived template to the base.
    blocks: Rc<RefCell<Blocks>>,
    /// The name `self` prints.
    pub name: Option<Str>,
    /// Where the scoped block stands that has this context to itself.
    around: Option<Box<Frame>>,
}

type Blocks = HashMap<Str, Vec<BlockSource>, RandomState>;

impl Context {
    /// A context for a template over given names.
    pub fn new(template: &Arc<Template>, given: Rc<Layer>) -> Rc<Self> {
        let context = Context {
            vars: RefCell::default(),
            unset: RefCell::default(),
            given,
            blocks: Rc::default(),
            name: template.name.clone(),
            around: None,
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

/// Names bound inside a loop, a macro or a `with`.
#[derive(Default)]
pub struct Scope {
    names: RefCell<Vec<(Str, Slot)>>,
    outer: Option<Rc<Scope>>,
    /// Whether this is the outermost scope of a block.
    is_block: bool,
}

/// What a scope knows of a name.
#[derive(Clone, Default)]
enum Slot {
    Bound(Obj),
    /// The name is hidden until it is bound.
    Unset,
    /// The last round of a loop has bound it.
    #[default]
    Empty,
}

/// Where a name was found.
pub enum Local {
    Bound(Obj),
    /// A scope hides the name, and has not bound it.
    Unset,
    /// No scope knows the name.
    Elsewhere,
}

impl Scope {
    /// Forget every name.
    pub fn clear(&self) {
        self.names.borrow_mut().clear();
    }

    fn get(&self, name: &str) -> Local {
        let mut scope = Some(self);
        while let Some(here) = scope {
            match here.own(name) {
                Slot::Bound(found) => return Local::Bound(found),
                Slot::Unset => return Local::Unset,
                Slot::Empty => scope = here.outer.as_deref(),
            }
        }
        Local::Elsewhere
    }

    /// What is known here itself.
    fn own(&self, name: &str) -> Slot {
        let names = self.names.borrow();
        let found = names.iter().find(|(known, _)| same(known, name));
        found.map(|(_, slot)| slot.clone()).unwrap_or_default()
    }

    fn set(&self, name: &Str, slot: Slot) {
        let mut names = self.names.borrow_mut();
        match names.iter_mut().find(|(known, _)| same(known, name)) {
            Some((_, known)) => *known = slot,
            None => names.push((name.clone(), slot)),
        }
    }

    fn is_in_block(&self) -> bool {
        self.is_block || self.outer.as_deref().is_some_and(Scope::is_in_block)
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

    /// A new scope inside this one, for names alone.
    #[must_use]
    pub fn inner(&self) -> Self {
        self.scoped(false)
    }

    /// A new scope inside this one, for a body.
    #[must_use]
    pub fn inside(&self, body: &[Stmt]) -> Self {
        let inner = self.scoped(false);
        inner.hide(body);
        inner
    }

    /// The place of a block that sees the variables around it. They are what its context was given, as
    /// blocks inside it see them, too.
    #[must_use]
    pub fn scoped_block(&self) -> Self {
        let around = &self.context;
        let context = Context {
            vars: RefCell::default(),
            unset: RefCell::default(),
            given: self.visible(),
            blocks: around.blocks.clone(),
            name: around.name.clone(),
            around: Some(Box::new(self.clone())),
        };
        Frame {
            context: Rc::new(context),
            ..self.plain_block()
        }
    }

    /// The place of a block that sees the variables of the template's top level.
    #[must_use]
    pub fn plain_block(&self) -> Self {
        Frame {
            scope: None,
            ..self.detached()
        }
    }

    /// The scope of a block's body, which stands in another template perhaps.
    #[must_use]
    pub fn block(&self, template: Arc<Template>, block: &Block) -> Self {
        let inner = Frame {
            template,
            ..self.detached().scoped(true)
        };
        inner.hide(&block.body);
        inner
    }

    fn scoped(&self, is_block: bool) -> Self {
        let scope = Rc::new(Scope {
            names: RefCell::default(),
            outer: self.scope.clone(),
            is_block,
        });
        Frame {
            scope: Some(scope),
            ..self.clone()
        }
    }

    /// Hide the names that a body hides when it starts. Its scope is new.
    pub fn hide(&self, body: &[Stmt]) {
        let names = self.template.unset_at_start(body);
        match &self.scope {
            Some(scope) => names.iter().for_each(|name| scope.set(name, Slot::Unset)),
            None => *self.context.unset.borrow_mut() = names.to_vec(),
        }
    }

    /// Forget the names of the scope, unless something else holds it.
    pub fn forget(&mut self) -> bool {
        let Some(scope) = self.scope.as_mut().and_then(Rc::get_mut) else {
            return false;
        };
        for (_, slot) in scope.names.get_mut() {
            *slot = Slot::Empty;
        }
        true
    }

    /// Look a name up in the context only.
    pub fn in_context(&self, name: &str) -> Option<Obj> {
        if self.is_unset(name) {
            return None;
        }
        match self.normalised(name) {
            Cow::Borrowed(name) => self.context.get(name),
            Cow::Owned(normalised) => self
                .context
                .get(&normalised)
                .or_else(|| self.context.get(name)),
        }
    }

    /// Whether the top level hides a name.
    fn is_unset(&self, name: &str) -> bool {
        let unset = self.context.unset.borrow();
        unset.iter().any(|hidden| &**hidden == name)
            && !self.scope.as_ref().is_some_and(|scope| scope.is_in_block())
    }

    /// Look a name up in the scopes only.
    pub fn local(&self, name: &str) -> Local {
        let Some(scope) = &self.scope else {
            return Local::Elsewhere;
        };
        match self.normalised(name) {
            Cow::Borrowed(name) => scope.get(name),
            Cow::Owned(normalised) => match scope.get(&normalised) {
                Local::Elsewhere => scope.get(name),
                found => found,
            },
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
            if matches!(here.own(&name), Slot::Bound(_)) {
                return Some(Rc::as_ptr(here) as usize);
            }
            scope = here.outer.as_ref();
        }
        if self.context.vars.borrow().contains_key(&*name) {
            return Some(self.context.table());
        }
        self.context.around.as_ref()?.table_of(&name)
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
            Some(scope) => scope.set(name, Slot::Bound(value)),
            None => {
                self.context
                    .unset
                    .borrow_mut()
                    .retain(|unset| unset != name);
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
            let bound = |(name, slot)| match slot {
                Slot::Bound(value) => Some((name, value)),
                Slot::Unset | Slot::Empty => None,
            };
            let names = names.filter_map(bound).collect();
            layer = Layer::over(names, Some(layer));
        }
        layer
    }
}
