//! The names that a body hides until it sets them.
//!
//! Jinja2 compiles each body with local names to a Python function or block in which a name is one local
//! variable. A name that a body sets, and that nothing outside of it has, starts without a value: a read in
//! a loop, a macro or another inner body before it is set finds it undefined, even where a variable of that name was
//! given to the template.
//!
//! ```text
//! {% for x in [1] %}{{ port }}{% endfor %}{% set port = 80 %}
//! ```
//!
//! prints nothing whatever `port` was. A name that the body itself reads first, or that only some branches of an `if`
//! set, starts with what it is in the bodies around, or else with the given value.
//!
//! The rules are those of `jinja2.idtracking`: the outer body is looked through as a whole before the bodies in it.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::convert::Infallible;

use foldhash::fast::RandomState;
use mapstack_value::Str;

use crate::syntax::ast::{Block, Expr, ExprKind, For, Macro, Stmt, StmtKind, Target, Template};
use crate::syntax::visit::{Node, visit};

/// For each body that hides names, by the byte where it starts: the names that something reads before it sets them.
pub(crate) fn unset_names(body: &[Stmt], blocks: &[impl AsRef<Block>]) -> BTreeMap<u32, Vec<Str>> {
    let mut unset = BTreeMap::new();
    let mut root = BodyNames::inside(None);
    root.parameter("self");
    root.body(body);
    root.finish(body, &mut unset);
    for block in blocks {
        let body = &block.as_ref().body;
        let mut names = BodyNames::inside(None);
        names.parameter("self");
        names.parameter("super");
        names.body(body);
        names.finish(body, &mut unset);
    }
    unset
}

/// True if a template without blocks sets `self` before it reads it. Jinja2 gives a template its blocks under that name
/// where it finds the name read first (Jinja2: `find_undeclared`).
pub(crate) fn sets_self(template: &Template) -> bool {
    let mut is_set = None;
    let names_self = |target: &Target| match target {
        Target::Name(name) => &**name == "self",
        Target::Tuple(targets) => targets
            .iter()
            .any(|target| matches!(target, Target::Name(name) if &**name == "self")),
        Target::Attribute(..) => false,
    };
    let found: Result<(), ()> = visit(template, &mut |node, _| {
        is_set = match node {
            Node::Expr(expr) => {
                matches!(&expr.kind, ExprKind::Name(name) if &**name == "self").then_some(false)
            }
            Node::Stmt(stmt) => {
                let sets = match &stmt.kind {
                    StmtKind::Set { target, .. } | StmtKind::SetBlock { target, .. } => {
                        names_self(target)
                    }
                    StmtKind::For(each) => names_self(&each.target),
                    StmtKind::With { bindings, .. } => {
                        bindings.iter().any(|(target, _)| names_self(target))
                    }
                    _ => false,
                };
                sets.then_some(true)
            }
        };
        match is_set {
            None => Ok(()),
            Some(_) => Err(()),
        }
    });
    found.is_err() && is_set == Some(true) && template.blocks.is_empty()
}

/// True if a statement sets a name of the body around it. Only such names can be hidden.
pub(crate) fn sets_names(kind: &StmtKind) -> bool {
    matches!(
        kind,
        StmtKind::Macro(_)
            | StmtKind::Set { .. }
            | StmtKind::SetBlock { .. }
            | StmtKind::Import { .. }
            | StmtKind::FromImport { .. }
            | StmtKind::Load { .. }
            | StmtKind::ImportData { .. }
    )
}

/// The value of a body's name at its start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum InitialValue {
    /// An argument, or what a loop binds.
    Parameter,
    /// The variable of the context.
    Context,
    /// The value in the body around.
    Outer,
    /// Nothing.
    Unset,
}

#[derive(Debug, Clone, Copy)]
struct Name {
    start: InitialValue,
    is_set: bool,
}

/// The names of one body.
struct BodyNames<'t, 'o> {
    outer: Option<&'o BodyNames<'t, 'o>>,
    known: HashMap<&'t str, Name, RandomState>,
    /// The names that the open branches changed, with their former states.
    changed: Vec<(&'t str, Option<Name>)>,
    branches: usize,
    /// The number of statements examined.
    time: usize,
    /// When a name was set, also if only in some branches.
    set_at: HashMap<&'t str, usize, RandomState>,
    /// Names that were read, and may not have been set before.
    early: HashSet<&'t str, RandomState>,
    /// The bodies inside, with the time at which each is reached.
    inner: Vec<(usize, Inner<'t>)>,
}

/// A body inside another one, with local names.
#[derive(Clone, Copy)]
enum Inner<'t> {
    Loop(&'t For),
    /// The `if` of a loop.
    Test(&'t For, &'t Expr),
    Macro(&'t Macro),
    With(&'t [(Target, Expr)], &'t [Stmt]),
    Body(&'t [Stmt], Option<&'t Expr>),
}

impl<'t, 'o> BodyNames<'t, 'o> {
    fn inside(outer: Option<&'o BodyNames<'t, 'o>>) -> Self {
        BodyNames {
            outer,
            known: HashMap::default(),
            changed: Vec::new(),
            branches: 0,
            time: 0,
            set_at: HashMap::default(),
            early: HashSet::default(),
            inner: Vec::new(),
        }
    }

    /// Look through the bodies inside, note which names are hidden here, and return the names that are read from
    /// around this body before they are set in it.
    fn finish(
        mut self,
        body: &[Stmt],
        unset: &mut BTreeMap<u32, Vec<Str>>,
    ) -> HashSet<&'t str, RandomState> {
        for (time, inner) in std::mem::take(&mut self.inner) {
            for name in self.look_into(inner, unset) {
                let was_set = self.set_at.get(name).is_some_and(|set| *set < time);
                if !was_set || self.start(name) == Some(InitialValue::Outer) {
                    self.early.insert(name);
                }
            }
        }
        let hidden = self
            .early
            .iter()
            .filter(|n| self.start(n) == Some(InitialValue::Unset));
        let mut hidden: Vec<Str> = hidden.map(|name| Str::from(*name)).collect();
        if let (Some(first), false) = (body.first(), hidden.is_empty()) {
            hidden.sort();
            unset.insert(first.span.start, hidden);
        }
        let mut early = std::mem::take(&mut self.early);
        early.retain(|name| matches!(self.start(name), None | Some(InitialValue::Outer)));
        early
    }

    /// The start value of a name of this body.
    fn start(&self, name: &str) -> Option<InitialValue> {
        self.known.get(name).map(|name| name.start)
    }

    fn look_into(
        &self,
        inner: Inner<'t>,
        unset: &mut BTreeMap<u32, Vec<Str>>,
    ) -> HashSet<&'t str, RandomState> {
        let mut names = BodyNames::inside(Some(self));
        let body: &[Stmt] = match inner {
            Inner::Loop(node) => {
                names.looped(node);
                &node.body
            }
            Inner::Test(node, test) => {
                names.target(&node.target, BodyNames::parameter);
                names.expr(test);
                &[]
            }
            Inner::Macro(node) => {
                node.params.iter().for_each(|p| names.parameter(&p.name));
                names.exprs(node.params.iter().filter_map(|p| p.default.as_ref()));
                &node.body
            }
            Inner::With(bindings, body) => {
                bindings
                    .iter()
                    .for_each(|(target, _)| names.target(target, BodyNames::parameter));
                body
            }
            Inner::Body(body, _) => body,
        };
        names.body(body);
        if let Inner::Body(_, Some(filter)) = inner {
            names.expr(filter);
        }
        names.finish(body, unset)
    }

    fn looped(&mut self, node: &'t For) {
        if node.uses_loop {
            self.parameter("loop");
        }
        self.target(&node.target, Self::parameter);
    }

    // ---- one name ----

    fn find(&self, name: &str) -> Option<Name> {
        let mut names = Some(self);
        while let Some(here) = names {
            if let Some(found) = here.known.get(name) {
                return Some(*found);
            }
            names = here.outer;
        }
        None
    }

    /// The start value of a name that this body sets, but does not hide.
    fn given(&self, name: &str) -> InitialValue {
        match self.outer.and_then(|outer| outer.find(name)) {
            Some(_) => InitialValue::Outer,
            None => InitialValue::Context,
        }
    }

    fn put(&mut self, text: &'t str, name: Name) {
        let before = self.known.insert(text, name);
        if self.branches > 0 {
            self.changed.push((text, before));
        }
        if name.is_set && self.branches == 0 {
            self.set_at.entry(text).or_insert(self.time);
        }
    }

    fn parameter(&mut self, text: &'t str) {
        let start = InitialValue::Parameter;
        self.put(
            text,
            Name {
                start,
                is_set: true,
            },
        );
    }

    fn read(&mut self, text: &'t str) {
        let known = self.known.get(text);
        // A name that only some branches of an `if` set may still have its outer value.
        if known.is_none_or(|name| !name.is_set || name.start == InitialValue::Outer) {
            self.early.insert(text);
        }
        if known.is_none() && self.given(text) == InitialValue::Context {
            let start = InitialValue::Context;
            self.put(
                text,
                Name {
                    start,
                    is_set: false,
                },
            );
        }
    }

    fn set(&mut self, text: &'t str) {
        let start = match self.known.get(text) {
            Some(known) => known.start,
            None if self.given(text) == InitialValue::Outer => InitialValue::Outer,
            None => InitialValue::Unset,
        };
        self.put(
            text,
            Name {
                start,
                is_set: true,
            },
        );
    }

    /// Bind each name of a target in a way; the object of an attribute is read.
    fn target(&mut self, target: &'t Target, bind: fn(&mut Self, &'t str)) {
        match target {
            Target::Name(name) => bind(self, name),
            Target::Tuple(targets) => targets.iter().for_each(|t| self.target(t, bind)),
            Target::Attribute(name, _) => self.read(name),
        }
    }

    // ---- statements, in the order in which Jinja2 looks at their parts ----

    fn body(&mut self, body: &'t [Stmt]) {
        body.iter().for_each(|stmt| self.stmt(&stmt.kind));
    }

    fn open(&mut self, inner: Inner<'t>) {
        self.inner.push((self.time, inner));
    }

    #[expect(clippy::too_many_lines, reason = "one arm for each kind of statement")]
    fn stmt(&mut self, kind: &'t StmtKind) {
        self.time += 1;
        match kind {
            StmtKind::Text(_) | StmtKind::Break | StmtKind::Continue | StmtKind::Block(_) => {}
            StmtKind::Output(expr) | StmtKind::Do(expr) | StmtKind::Extends(expr) => {
                self.expr(expr);
            }
            StmtKind::For(node) => self.for_loop(node),
            StmtKind::If { arms, otherwise } => self.choice(arms, otherwise),
            StmtKind::Macro(node) => {
                self.set(&node.name);
                self.open(Inner::Macro(node));
            }
            StmtKind::CallBlock { call, caller } => {
                self.expr(call);
                self.open(Inner::Macro(caller));
            }
            StmtKind::FilterBlock { filter, body } => {
                self.expr(filter);
                self.open(Inner::Body(body, Some(filter)));
            }
            StmtKind::Set { target, value } => {
                self.expr(value);
                self.target(target, Self::set);
            }
            StmtKind::SetBlock {
                target,
                filter,
                body,
            } => {
                self.open(Inner::Body(body, filter.as_ref()));
                self.target(target, Self::set);
            }
            StmtKind::With { bindings, body } => {
                self.exprs(bindings.iter().map(|(_, value)| value));
                self.open(Inner::With(bindings, body));
            }
            StmtKind::Include { template, .. } => self.expr(template),
            StmtKind::Import {
                template, target, ..
            } => {
                self.expr(template);
                self.set(target);
            }
            StmtKind::FromImport {
                template, names, ..
            } => {
                self.expr(template);
                names.iter().for_each(|(_, here)| self.set(here));
            }
            StmtKind::Load { target, body, .. } => {
                self.open(Inner::Body(body, None));
                self.target(target, Self::set);
            }
            StmtKind::ImportData {
                template, target, ..
            } => {
                self.expr(template);
                self.target(target, Self::set);
            }
            StmtKind::Autoescape { enabled, body } => {
                self.open(Inner::Body(body, Some(enabled)));
            }
            StmtKind::Labelled { label, body, .. } => {
                self.expr(label);
                self.body(body);
            }
        }
    }

    fn for_loop(&mut self, node: &'t For) {
        self.expr(&node.iter);
        self.open(Inner::Loop(node));
        self.open(Inner::Body(&node.otherwise, None));
        if let Some(test) = &node.filter {
            self.open(Inner::Test(node, test));
        }
    }

    /// An `if` has three branches to Jinja2: its body, all of its `elif`s one after another, and its `else`.
    fn choice(&mut self, arms: &'t [(Expr, Vec<Stmt>)], otherwise: &'t [Stmt]) {
        let Some(((test, body), elifs)) = arms.split_first() else {
            return;
        };
        self.expr(test);
        let branches = [
            self.branch(|names| names.body(body)),
            self.branch(|names| {
                for (test, body) in elifs {
                    names.expr(test);
                    let branch = names.branch(|names| names.body(body));
                    names.join([branch]);
                }
            }),
            self.branch(|names| names.body(otherwise)),
        ];
        self.join(branches);
    }

    /// Look through a branch, take back what it changed, and return that.
    fn branch(&mut self, look: impl FnOnce(&mut Self)) -> Branch<'t> {
        let mark = self.changed.len();
        self.branches += 1;
        look(self);
        self.branches -= 1;
        let mut branch = Branch::default();
        for (text, before) in self.changed.split_off(mark).into_iter().rev() {
            let after = match before {
                Some(before) => self.known.insert(text, before),
                None => self.known.remove(text),
            };
            // The change that is taken back first is the last one.
            if let Some(after) = after {
                branch.entry(text).or_insert(after);
            }
        }
        branch
    }

    /// Join branches: a name that one of them sets starts with its given value.
    fn join<const N: usize>(&mut self, branches: [Branch<'t>; N]) {
        for (text, name) in branches.into_iter().flatten() {
            let known = self.known.get(text).copied();
            let start = match known {
                Some(known) if known.is_set => known.start,
                _ if name.is_set => self.given(text),
                _ => name.start,
            };
            let is_set = name.is_set || known.is_some_and(|known| known.is_set);
            self.put(text, Name { start, is_set });
        }
    }

    fn exprs(&mut self, exprs: impl IntoIterator<Item = &'t Expr>) {
        exprs.into_iter().for_each(|expr| self.expr(expr));
    }

    fn expr(&mut self, expr: &'t Expr) {
        if let ExprKind::Name(name) = &expr.kind {
            self.read(name);
        }
        let Ok(()) = expr.try_each_operand(&mut |operand| {
            self.expr(operand);
            Ok::<(), Infallible>(())
        });
    }
}

/// The names that a branch of an `if` changed.
type Branch<'t> = HashMap<&'t str, Name, RandomState>;
