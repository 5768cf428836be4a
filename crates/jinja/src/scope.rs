//! The names of a running template.
//!
//! A template has a [`Context`]: the variables given to it, and those that its top level has bound so far
//! (which is what importers see). Loops, macros and `with` open [`Scope`]s above it. A name is
//! looked up from the innermost scope outwards, then in the context.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use foldhash::fast::RandomState;
use indexmap::IndexMap;
use mapstack_pyobject::Obj;
use mapstack_value::Str;
use mapstack_value::pytext::classes::normalised;

use crate::syntax::ast::{Block, Stmt, Template};

use super::tracer;

/// Named objects in order.
pub type Names = IndexMap<Str, Obj, RandomState>;

/// A chain of name tables, read from the front to the back.
#[derive(Debug, Default)]
pub struct ScopeChain {
    names: LayerTable,
    below: Option<Rc<ScopeChain>>,
}

/// The names of a layer.
#[derive(Debug)]
enum LayerTable {
    Many(Rc<Names>),
    /// So few that comparing them takes less than hashing; of equal ones the last counts.
    Few(Vec<(Str, Obj)>),
}

impl Default for LayerTable {
    fn default() -> Self {
        LayerTable::Few(Vec::new())
    }
}

impl LayerTable {
    /// More names than this are hashed.
    const FEW: usize = 8;

    fn get(&self, name: &str) -> Option<&Obj> {
        match self {
            LayerTable::Many(names) => names.get(name),
            LayerTable::Few(names) => {
                let found = names.iter().rfind(|(known, _)| same(known, name));
                found.map(|(_, object)| object)
            }
        }
    }

    fn iter(&self) -> impl Iterator<Item = (&Str, &Obj)> {
        let (many, few) = match self {
            LayerTable::Many(names) => (Some(names.iter()), None),
            LayerTable::Few(names) => (
                None,
                Some(names.iter().map(|(name, object)| (name, object))),
            ),
        };
        many.into_iter().flatten().chain(few.into_iter().flatten())
    }
}

impl From<Vec<(Str, Obj)>> for LayerTable {
    fn from(names: Vec<(Str, Obj)>) -> Self {
        if names.len() <= Self::FEW {
            LayerTable::Few(names)
        } else {
            LayerTable::Many(Rc::new(names.into_iter().collect()))
        }
    }
}

impl ScopeChain {
    /// A table over another.
    pub fn over(names: Names, below: Option<Rc<ScopeChain>>) -> Rc<Self> {
        Self::sharing(Rc::new(names), below)
    }

    fn sharing(names: Rc<Names>, below: Option<Rc<ScopeChain>>) -> Rc<Self> {
        let names = LayerTable::Many(names);
        Rc::new(ScopeChain { names, below })
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
            .map(ScopeChain::flatten)
            .unwrap_or_default();
        all.extend(self.names.iter().map(|(k, v)| (k.clone(), v.clone())));
        all
    }
}

/// A block together with the template whose source has it.
pub type BlockSource = (Arc<Template>, Arc<Block>);

/// One run of one template.
pub struct Context {
    /// The names that the top level has bound, if any; shared with readers of this state.
    vars: RefCell<Option<Rc<Names>>>,
    /// Names that were found here, as long as nothing else is bound to them.
    found: RefCell<ContextNames>,
    /// Names that the top level hides until it binds them. Blocks do not see that.
    unset: RefCell<Vec<Str>>,
    /// The layer that was given from outside.
    pub given: Rc<ScopeChain>,
    /// For each block, its definitions from the most derived template to the base.
    blocks: Rc<RefCell<Blocks>>,
    /// The name `self` prints.
    pub name: Option<Str>,
    /// The frame around the scoped block that has this context to itself.
    around: Option<Box<Frame>>,
}

type Blocks = HashMap<Str, Vec<BlockSource>, RandomState>;

impl Context {
    /// A context for a template over given names.
    pub fn new(template: &Arc<Template>, given: Rc<ScopeChain>) -> Rc<Self> {
        let context = Context {
            vars: RefCell::default(),
            found: RefCell::default(),
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
    pub fn table(&self) -> tracer::Table {
        std::ptr::from_ref(self) as usize
    }

    /// The names that the top level has bound, as they are now.
    pub fn vars(&self) -> Rc<Names> {
        self.vars.borrow().clone().unwrap_or_default()
    }

    /// The value that the top level has bound to a name.
    pub fn var(&self, name: &str) -> Option<Obj> {
        self.vars.borrow().as_ref()?.get(name).cloned()
    }

    /// Forget what the top level has bound.
    pub fn clear(&self) {
        *self.vars.borrow_mut() = None;
        *self.found.borrow_mut() = ContextNames::default();
    }

    fn bind(&self, name: &Str, value: Obj) {
        self.found.borrow_mut().forget(name);
        self.unset.borrow_mut().retain(|unset| unset != name);
        let mut vars = self.vars.borrow_mut();
        Rc::make_mut(vars.get_or_insert_default()).insert(name.clone(), value);
    }

    fn get(&self, name: &str) -> Option<Obj> {
        self.var(name).or_else(|| self.given.get(name).cloned())
    }

    /// The same for a name of a template, whose occurrences share their text.
    fn get_shared(&self, name: &Str) -> Option<Obj> {
        if let Some(found) = self.found.borrow().get(name) {
            return Some(found);
        }
        let found = self.get(name)?;
        self.found.borrow_mut().put(name, &found);
        Some(found)
    }
}

/// Names that were found in a context. A look-up compares addresses, and no text.
#[derive(Default)]
struct ContextNames {
    names: Vec<(Str, Obj)>,
    /// The number of look-ups that found no name here.
    missed: usize,
}

impl ContextNames {
    /// In many contexts only a few names are looked up, once each. Nothing is kept of those.
    const FIRST: usize = 6;
    /// So many names are kept.
    const MOST: usize = 12;
    /// So many look-ups of other names later they give way.
    const PATIENCE: usize = 32;

    fn get(&self, name: &Str) -> Option<Obj> {
        let found = self
            .names
            .iter()
            .find(|(known, _)| Arc::ptr_eq(known, name));
        found.map(|(_, object)| object.clone())
    }

    fn put(&mut self, name: &Str, object: &Obj) {
        self.missed += 1;
        if self.missed <= Self::FIRST {
            return;
        }
        if self.names.len() == Self::MOST {
            if !self.missed.is_multiple_of(Self::PATIENCE) {
                return;
            }
            self.names.clear();
        }
        self.names.push((name.clone(), object.clone()));
    }

    /// Something else is bound to a name, which another template may have written.
    fn forget(&mut self, name: &str) {
        self.names.retain(|(known, _)| !same(known, name));
    }
}

/// Names bound inside a loop, a macro or a `with`.
#[derive(Default)]
pub struct Scope {
    names: RefCell<Vec<(Str, Slot)>>,
    outer: Option<Rc<Scope>>,
    /// True if this is the outermost scope of a block.
    is_block: bool,
    /// True if a name of it may have another copy of its text than the same name elsewhere in the template.
    has_copies: Cell<bool>,
}

/// The state of a name in a scope.
enum Slot {
    Bound(Obj),
    /// The name is hidden until it is bound.
    Unset,
    /// The last round of a loop has bound it.
    Empty,
}

/// The place of a name that was found.
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

    /// Look a name up by a function that finds it in the names of one scope.
    #[inline]
    fn get(&self, find: impl Fn(&Scope, &[(Str, Slot)]) -> Option<usize>) -> Local {
        let mut scope = Some(self);
        while let Some(here) = scope {
            let names = here.names.borrow();
            match find(here, &names).map(|at| &names[at].1) {
                Some(Slot::Bound(found)) => return Local::Bound(found.clone()),
                Some(Slot::Unset) => return Local::Unset,
                Some(Slot::Empty) | None => scope = here.outer.as_deref(),
            }
        }
        Local::Elsewhere
    }

    /// The position of a name that shares its text with its other occurrences in the template.
    #[inline]
    fn position(&self, names: &[(Str, Slot)], name: &Str) -> Option<usize> {
        let at = names.iter().position(|(known, _)| Arc::ptr_eq(known, name));
        if at.is_some() || !self.has_copies.get() {
            return at;
        }
        names.iter().position(|(known, _)| known == name)
    }

    /// True if a name is bound here itself.
    fn binds(&self, name: &str) -> bool {
        let names = self.names.borrow();
        let mut bound = names
            .iter()
            .filter(|(_, slot)| matches!(slot, Slot::Bound(_)));
        bound.any(|(known, _)| same(known, name))
    }

    fn set(&self, name: &Str, slot: Slot) {
        let mut names = self.names.borrow_mut();
        match self.position(&names, name) {
            Some(at) => names[at].1 = slot,
            None => {
                debug_assert!(names.iter().all(|(known, _)| known != name), "{name}");
                names.push((name.clone(), slot));
            }
        }
    }

    /// Set a name with a separate copy of its text.
    fn set_copy(&self, name: &Str, slot: Slot) {
        self.has_copies.set(true);
        self.set(name, slot);
    }

    /// Everything that is bound in this scope and around it, outer names first.
    fn bound(&self, into: &mut Vec<(Str, Obj)>) {
        if let Some(outer) = &self.outer {
            outer.bound(into);
        }
        for (name, slot) in &*self.names.borrow() {
            if let Slot::Bound(value) = slot {
                into.push((name.clone(), value.clone()));
            }
        }
    }

    fn is_in_block(&self) -> bool {
        self.is_block || self.outer.as_deref().is_some_and(Scope::is_in_block)
    }
}

/// True if two names are one. Those of one template share their text.
#[inline]
fn same(a: &str, b: &str) -> bool {
    std::ptr::eq(a, b)
        || (a.len() == b.len() && a.as_bytes().first() == b.as_bytes().first() && a == b)
}

/// The code of a template outside of its blocks and macros. It prints until it extends another
/// template, and then runs without printing.
#[derive(Default)]
pub struct Root {
    parent: RefCell<Option<Arc<Template>>>,
}

/// The position of the interpreter: the template, the context and the scope.
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

    /// True if the output here is dropped, as the root extends another template.
    pub fn is_silent(&self) -> bool {
        self.root
            .as_ref()
            .is_some_and(|root| root.parent.borrow().is_some())
    }

    /// True if this is the root itself, or a branch of an `if` in it.
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
            found: RefCell::default(),
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

    /// The scope of a block's body, which may be in another template.
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
            has_copies: Cell::new(!self.template.is_ascii),
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
            Some(scope) => {
                let hide = |name| scope.set_copy(name, Slot::Unset);
                names.iter().for_each(hide);
            }
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
    pub fn in_context(&self, name: &Str) -> Option<Obj> {
        if self.is_unset(name) {
            return None;
        }
        match self.normalised(name) {
            Cow::Borrowed(_) => self.context.get_shared(name),
            Cow::Owned(normalised) => self
                .context
                .get(&normalised)
                .or_else(|| self.context.get(name)),
        }
    }

    /// True if the top level hides a name.
    fn is_unset(&self, name: &str) -> bool {
        let unset = self.context.unset.borrow();
        !unset.is_empty()
            && unset.iter().any(|hidden| &**hidden == name)
            && !self.scope.as_ref().is_some_and(|scope| scope.is_in_block())
    }

    /// Look a name up in the scopes only.
    #[inline]
    pub fn local(&self, name: &Str) -> Local {
        let Some(scope) = &self.scope else {
            return Local::Elsewhere;
        };
        let by_text =
            |name: &str| scope.get(|_, names| names.iter().position(|(known, _)| **known == *name));
        match self.normalised(name) {
            Cow::Borrowed(_) => scope.get(|scope, names| scope.position(names, name)),
            Cow::Owned(normalised) => match by_text(&normalised) {
                Local::Elsewhere => by_text(name),
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
    pub fn table(&self) -> tracer::Table {
        match &self.scope {
            Some(scope) => Rc::as_ptr(scope) as usize,
            None => self.context.table(),
        }
    }

    /// The table in which a look-up finds a name; `None` if the name was given from outside or is not bound.
    pub fn table_of(&self, name: &str) -> Option<tracer::Table> {
        let name = normalised(name);
        let mut scope = self.scope.as_ref();
        while let Some(here) = scope {
            if here.binds(&name) {
                return Some(Rc::as_ptr(here) as usize);
            }
            scope = here.outer.as_ref();
        }
        if self.context.var(&name).is_some() {
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

    /// Bind a name that the language gives.
    pub fn set_own(&self, name: &'static str, value: Obj) {
        match &self.scope {
            Some(scope) => scope.set_copy(&name.into(), Slot::Bound(value)),
            None => self.context.bind(&name.into(), value),
        }
    }

    fn bind(&self, name: &Str, value: Obj) {
        match &self.scope {
            Some(scope) => scope.set(name, Slot::Bound(value)),
            None => self.context.bind(name, value),
        }
    }

    /// Everything visible here, as one layer for a template run "with context".
    pub fn visible(&self) -> Rc<ScopeChain> {
        let given = self.context.given.clone();
        let layer = match &*self.context.vars.borrow() {
            Some(vars) => ScopeChain::sharing(vars.clone(), Some(given)),
            None => given,
        };
        let Some(scope) = &self.scope else {
            return layer;
        };
        let mut bound = Vec::new();
        scope.bound(&mut bound);
        Rc::new(ScopeChain {
            names: bound.into(),
            below: Some(layer),
        })
    }
}
