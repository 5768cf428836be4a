//! The places at which a template binds a name, so that the name does not mean what templates are given under it.

use std::ops::Range;

use super::ast::{Macro, Stmt, StmtKind, Target, Template};

/// The parts of a template's source in which a name is one that the template itself binds: by `set`, an import, a loop,
/// `with`, a macro or its parameters. They are in the order of the source, and may overlap.
///
/// ```
/// use mapstack_jinja::syntax::{Syntax, bound, parse};
/// let text = "{{ salt.a.b }}{% from 'map.jinja' import salt %}{{ salt.c }}";
/// let template = parse(text, None, &Syntax::default(), &[]).unwrap();
/// let parts = bound(&template, "salt");
/// let is_bound = |at: usize| parts.iter().any(|part| part.contains(&(at as u32)));
/// assert!(!is_bound(text.find("salt.a").unwrap()) && is_bound(text.find("salt.c").unwrap()));
/// ```
#[must_use]
pub fn bound(template: &Template, name: &str) -> Vec<Range<u32>> {
    let end = u32::try_from(template.source.len()).unwrap_or(u32::MAX);
    let mut scopes = Scopes {
        name,
        found: Vec::new(),
    };
    scopes.body(&template.body, end, end);
    scopes.found.sort_by_key(|part| part.start);
    scopes.found
}

struct Scopes<'n> {
    name: &'n str,
    found: Vec<Range<u32>>,
}

impl Scopes<'_> {
    fn binds(&self, target: &Target) -> bool {
        match target {
            Target::Name(name) => **name == *self.name,
            Target::Tuple(targets) => targets.iter().any(|target| self.binds(target)),
            Target::Attribute(..) => false,
        }
    }

    fn bind(&mut self, start: u32, end: u32) {
        if start < end {
            self.found.push(start..end);
        }
    }

    /// Statements that end before `limit`, in a scope that ends at `end`.
    fn body(&mut self, body: &[Stmt], limit: u32, end: u32) {
        for (index, stmt) in body.iter().enumerate() {
            let behind = body.get(index + 1).map_or(limit, |next| next.span.start);
            if self.is_binding(stmt) {
                self.bind(behind, end);
            }
            self.inside(stmt, behind, end);
        }
    }

    /// True if a statement binds the name for those behind it.
    fn is_binding(&self, stmt: &Stmt) -> bool {
        match &stmt.kind {
            StmtKind::Set { target, .. }
            | StmtKind::SetBlock { target, .. }
            | StmtKind::Load { target, .. }
            | StmtKind::ImportData { target, .. } => self.binds(target),
            StmtKind::Import { target, .. } => **target == *self.name,
            StmtKind::FromImport { names, .. } => {
                names.iter().any(|(_, here)| **here == *self.name)
            }
            StmtKind::Macro(m) => *m.name == *self.name,
            _ => false,
        }
    }

    /// The contents of a statement.
    fn inside(&mut self, stmt: &Stmt, behind: u32, end: u32) {
        match &stmt.kind {
            // The only statement whose body is not a scope.
            StmtKind::If { arms, otherwise } => {
                for (index, (_, body)) in arms.iter().enumerate() {
                    let next = arms.get(index + 1).map(|(condition, _)| condition.span);
                    let next = next.or_else(|| otherwise.first().map(|stmt| stmt.span));
                    self.body(body, next.map_or(behind, |span| span.start), end);
                }
                self.body(otherwise, behind, end);
            }
            StmtKind::For(f) => {
                let over = f.otherwise.first().map_or(behind, |stmt| stmt.span.start);
                if self.binds(&f.target) {
                    self.bind(f.iter.span.end, over);
                }
                self.body(&f.body, over, over);
                self.body(&f.otherwise, behind, behind);
            }
            StmtKind::Macro(m) | StmtKind::CallBlock { caller: m, .. } => self.function(m, behind),
            StmtKind::With { bindings, body } => {
                let start = body.first().map_or(behind, |stmt| stmt.span.start);
                if bindings.iter().any(|(target, _)| self.binds(target)) {
                    self.bind(start, behind);
                }
                self.body(body, behind, behind);
            }
            StmtKind::Block(block) => self.body(&block.body, behind, behind),
            StmtKind::FilterBlock { body, .. }
            | StmtKind::SetBlock { body, .. }
            | StmtKind::Autoescape { body, .. }
            | StmtKind::Load { body, .. } => self.body(body, behind, behind),
            StmtKind::Labelled { body, .. } => self.body(body, behind, end),
            _ => {}
        }
    }

    fn function(&mut self, m: &Macro, behind: u32) {
        let start = m.body.first().map_or(behind, |stmt| stmt.span.start);
        if m.params.iter().any(|param| *param.name == *self.name) {
            self.bind(start, behind);
        }
        self.body(&m.body, behind, behind);
    }
}
