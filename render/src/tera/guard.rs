//! Rewriting a template so that it reports its position and the size of its output.
//!
//! Tera's tree has no positions. Its nodes are in the order of the source's tags, so walking
//! both side by side gives each node its place; before each node goes a call that names it.

use std::collections::{HashMap, HashSet};

use tera::Template;
use tera::ast::{Expr, ExprVal, Forloop, FunctionCall, If, LogicExpr, LogicOperator, Node, WS};

use super::bounded::{AT, EACH, ENTER, JOIN, KEEP, LEAVE, PRINT};
use super::scan::{Token, TokenKind, keyword};
use super::span;
use mapstack_salt_jinja::ast::Span;

/// A place in one of the files of a render.
#[derive(Debug, Clone, Copy)]
pub(super) struct NodePlace {
    pub file: usize,
    pub span: Span,
    /// True if it is literal text.
    pub literal: bool,
}

/// Another template that one needs.
#[derive(Debug, Clone)]
pub(super) struct NeededTemplate {
    pub name: String,
    pub place: NodePlace,
    /// True if it must be there before anything runs.
    pub required: bool,
}

/// Rewrites the templates of a render.
#[derive(Debug, Default)]
pub(super) struct Guard {
    /// Every place by its number.
    pub places: Vec<NodePlace>,
    /// The variables that may be looked at.
    pub names: HashSet<String>,
    pub needed: Vec<NeededTemplate>,
}

/// A template cannot be rewritten.
pub(super) struct Refused {
    pub message: String,
    pub place: usize,
}

type Result<T, E = Refused> = std::result::Result<T, E>;

impl Guard {
    /// Rewrite a template in place.
    ///
    /// # Errors
    /// A number that the engine cannot hold.
    pub fn rewrite(
        &mut self,
        template: &mut Template,
        source: &str,
        tokens: &[Token],
        file: usize,
    ) -> Result<()> {
        let mut walk = GuardWalk {
            guard: self,
            source,
            tokens,
            next: 0,
            file,
        };
        let whole = walk.place(0..0, false);
        let nodes = std::mem::take(&mut template.ast);
        template.ast = walk.body(nodes, Some(whole))?;
        template.blocks.clear();
        collect_blocks(&template.ast, &mut template.blocks);
        for node in &template.ast {
            if let Node::MacroDefinition(_, definition, _) = node {
                template
                    .macros
                    .insert(definition.name.clone(), definition.clone());
            }
        }
        Ok(())
    }
}

/// The blocks that can be overridden: those at the top, and those inside them.
fn collect_blocks(nodes: &[Node], blocks: &mut HashMap<String, tera::ast::Block>) {
    for node in nodes {
        if let Node::Block(_, block, _) = node {
            blocks.insert(block.name.clone(), block.clone());
            collect_blocks(&block.body, blocks);
        }
    }
}

struct GuardWalk<'g, 's> {
    guard: &'g mut Guard,
    source: &'s str,
    tokens: &'s [Token],
    next: usize,
    file: usize,
}

impl GuardWalk<'_, '_> {
    fn place(&mut self, range: std::ops::Range<usize>, literal: bool) -> usize {
        self.guard.places.push(NodePlace {
            file: self.file,
            span: span(range.start, range.end),
            literal,
        });
        self.guard.places.len() - 1
    }

    /// The place of the next tag that is not a comment.
    fn tag(&mut self) -> usize {
        while let Some(token) = self.tokens.get(self.next) {
            self.next += 1;
            if matches!(token.kind, TokenKind::Output | TokenKind::Tag) {
                return self.place(token.range.clone(), false);
            }
        }
        self.place(self.source.len()..self.source.len(), false)
    }

    /// Go past the tag that closes a block.
    fn close(&mut self) {
        while let Some(token) = self.tokens.get(self.next) {
            self.next += 1;
            let is_end = token.kind == TokenKind::Tag
                && keyword(&self.source[token.range.clone()]).starts_with("end");
            if is_end {
                return;
            }
        }
    }

    /// The place of a literal text, which may have lost blanks at its ends.
    fn text(&mut self, text: &str) -> usize {
        let ahead = self.tokens.iter().enumerate().skip(self.next);
        for (index, token) in ahead {
            match token.kind {
                TokenKind::Comment => {}
                TokenKind::Output | TokenKind::Tag => break,
                TokenKind::Text => {
                    if let Some(found) = self.source[token.range.clone()].find(text) {
                        let start = token.range.start + found;
                        self.next = index + 1;
                        return self.place(start..start + text.len(), true);
                    }
                }
            }
        }
        let here = self
            .tokens
            .get(self.next)
            .map_or(self.source.len(), |token| token.range.start);
        self.place(here..here, false)
    }

    /// Nodes with a call before each. A body that is called from elsewhere says so.
    fn body(&mut self, nodes: Vec<Node>, called: Option<usize>) -> Result<Vec<Node>> {
        let mut out = Vec::with_capacity(nodes.len() * 2 + 2);
        if let Some(place) = called {
            out.push(call(ENTER, []));
            out.push(at(place, 0));
        }
        for node in nodes {
            self.node(node, &mut out)?;
        }
        if called.is_some() {
            out.push(call(LEAVE, []));
        }
        Ok(out)
    }

    #[expect(clippy::too_many_lines, reason = "one arm for each kind of node")]
    fn node(&mut self, node: Node, out: &mut Vec<Node>) -> Result<()> {
        let literal = match &node {
            Node::Text(text) | Node::Raw(_, text, _) => text.len(),
            _ => 0,
        };
        let (place, node) = match node {
            Node::Comment(..) => return Ok(()),
            Node::Text(text) => (self.text(&text), Node::Text(text)),
            Node::Raw(left, text, right) => {
                self.tag();
                let place = self.text(&text);
                self.close();
                (place, Node::Raw(left, text, right))
            }
            Node::VariableBlock(ws, mut expr) => {
                let place = self.tag();
                self.value(&mut expr, place)?;
                expr.filters.push(filter(PRINT));
                (place, Node::VariableBlock(ws, expr))
            }
            Node::Set(ws, mut set) => {
                let place = self.tag();
                self.value(&mut set.value, place)?;
                (place, Node::Set(ws, set))
            }
            Node::Extends(ws, name) => (self.required(&name), Node::Extends(ws, name)),
            Node::ImportMacro(ws, name, namespace) => {
                (self.required(&name), Node::ImportMacro(ws, name, namespace))
            }
            Node::Include(ws, names, ignore_missing) => {
                let place = self.tag();
                for name in &names {
                    self.need(name, place, false);
                }
                (place, Node::Include(ws, names, ignore_missing))
            }
            Node::MacroDefinition(left, mut definition, right) => {
                let place = self.tag();
                definition.body = self.body(definition.body, Some(place))?;
                self.close();
                (place, Node::MacroDefinition(left, definition, right))
            }
            Node::FilterSection(left, mut section, right) => {
                let place = self.tag();
                self.call(&mut section.filter, place)?;
                section.body = self.body(section.body, None)?;
                self.close();
                (place, Node::FilterSection(left, section, right))
            }
            Node::Block(left, mut block, right) => {
                let place = self.tag();
                block.body = self.body(block.body, None)?;
                self.close();
                (place, Node::Block(left, block, right))
            }
            Node::Forloop(left, mut forloop, right) => (
                self.for_loop(&mut forloop)?,
                Node::Forloop(left, forloop, right),
            ),
            Node::If(mut branches, ws) => (self.branches(&mut branches)?, Node::If(branches, ws)),
            node @ (Node::Super | Node::Break(_) | Node::Continue(_)) => (self.tag(), node),
        };
        out.push(at(place, literal));
        out.push(node);
        Ok(())
    }

    /// A tag that needs another template before anything runs.
    fn required(&mut self, name: &str) -> usize {
        let place = self.tag();
        self.need(name, place, true);
        place
    }

    fn for_loop(&mut self, forloop: &mut Forloop) -> Result<usize> {
        let place = self.tag();
        self.value(&mut forloop.container, place)?;
        forloop.container.filters.push(filter(EACH));
        forloop.body = self.body(std::mem::take(&mut forloop.body), None)?;
        if let Some(body) = forloop.empty_body.take() {
            self.tag();
            forloop.empty_body = Some(self.body(body, None)?);
        }
        self.close();
        Ok(place)
    }

    fn branches(&mut self, branches: &mut If) -> Result<usize> {
        let mut first = None;
        for (_, condition, body) in &mut branches.conditions {
            let place = self.tag();
            self.condition(condition, place)?;
            if first.is_some() {
                name_first(condition, place);
            }
            first = first.or(Some(place));
            *body = self.body(std::mem::take(body), None)?;
        }
        if let Some((_, body)) = &mut branches.otherwise {
            self.tag();
            *body = self.body(std::mem::take(body), None)?;
        }
        self.close();
        Ok(first.unwrap_or_default())
    }

    fn need(&mut self, name: &str, place: usize, required: bool) {
        if let Some(place) = self.guard.places.get(place).copied() {
            self.guard.needed.push(NeededTemplate {
                name: name.into(),
                place,
                required,
            });
        }
    }

    /// An expression whose value is kept, passed on or printed.
    fn value(&mut self, expr: &mut Expr, place: usize) -> Result<()> {
        self.parts(expr, place)?;
        let is_literal = matches!(
            expr.val,
            ExprVal::Int(_) | ExprVal::Float(_) | ExprVal::Bool(_) | ExprVal::String(_)
        );
        if !is_literal {
            expr.filters.push(filter(KEEP));
        }
        Ok(())
    }

    /// An expression that is only tested.
    fn condition(&mut self, expr: &mut Expr, place: usize) -> Result<()> {
        let is_text = matches!(expr.val, ExprVal::StringConcat(_));
        self.parts(expr, place)?;
        if is_text && let ExprVal::FunctionCall(_) = &expr.val {
            // Only a truth value may be without an operator; a text counts as true unless it is empty.
            let text = Expr {
                negated: false,
                ..expr.clone()
            };
            let empty = Expr::new(ExprVal::String(String::new()));
            expr.filters.clear();
            expr.val = logic(text, LogicOperator::NotEq, empty);
        }
        Ok(())
    }

    fn logic(&mut self, logic: &mut LogicExpr, place: usize) -> Result<()> {
        use LogicOperator::{Gt, Gte, Lt, Lte};
        if matches!(logic.operator, Gt | Gte | Lt | Lte) {
            no_macro(&logic.lhs, place)?;
            no_macro(&logic.rhs, place)?;
        }
        let is_truth = matches!(logic.operator, LogicOperator::And | LogicOperator::Or);
        for side in [&mut logic.lhs, &mut logic.rhs] {
            if is_truth {
                self.condition(side, place)?;
            } else {
                self.parts(side, place)?;
            }
        }
        Ok(())
    }

    fn parts(&mut self, expr: &mut Expr, place: usize) -> Result<()> {
        match &mut expr.val {
            ExprVal::Ident(ident) => self.mention(ident),
            ExprVal::Float(number) if !number.is_finite() => {
                return Err(Refused {
                    message: "a number is too large".into(),
                    place,
                });
            }
            ExprVal::String(_) | ExprVal::Int(_) | ExprVal::Float(_) | ExprVal::Bool(_) => {}
            ExprVal::Math(math) => {
                for side in [&mut math.lhs, &mut math.rhs] {
                    no_macro(side, place)?;
                    self.parts(side, place)?;
                }
            }
            ExprVal::Logic(logic) => self.logic(logic, place)?,
            ExprVal::In(inside) => {
                self.parts(&mut inside.lhs, place)?;
                self.parts(&mut inside.rhs, place)?;
            }
            ExprVal::Test(test) => {
                self.mention(&test.ident);
                test.args
                    .iter_mut()
                    .try_for_each(|arg| self.value(arg, place))?;
            }
            ExprVal::MacroCall(call) => call
                .args
                .values_mut()
                .try_for_each(|arg| self.value(arg, place))?,
            ExprVal::FunctionCall(call) => self.call(call, place)?,
            ExprVal::Array(items) => items
                .iter_mut()
                .try_for_each(|item| self.value(item, place))?,
            ExprVal::StringConcat(concat) => {
                let mut args = HashMap::new();
                for (index, part) in std::mem::take(&mut concat.values).into_iter().enumerate() {
                    let mut part = Expr::new(part);
                    self.value(&mut part, place)?;
                    args.insert(format!("{index:06}"), part);
                }
                expr.val = ExprVal::FunctionCall(FunctionCall {
                    name: JOIN.into(),
                    args,
                });
            }
        }
        expr.filters
            .iter_mut()
            .try_for_each(|filter| self.call(filter, place))
    }

    fn call(&mut self, call: &mut FunctionCall, place: usize) -> Result<()> {
        call.args
            .values_mut()
            .try_for_each(|arg| self.value(arg, place))
    }

    /// Every name in a path such as `a.b[c.d]`; that some are keys does no harm.
    fn mention(&mut self, path: &str) {
        let names = path
            .split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
            .filter(|name| !name.is_empty());
        self.guard.names.extend(names.map(String::from));
    }
}

/// A call that prints nothing.
fn call<const N: usize>(name: &str, args: [(&str, usize); N]) -> Node {
    Node::VariableBlock(WS::default(), function(name, args))
}

fn function<const N: usize>(name: &str, args: [(&str, usize); N]) -> Expr {
    let int = |n: usize| Expr::new(ExprVal::Int(i64::try_from(n).unwrap_or(i64::MAX)));
    let args = args
        .into_iter()
        .map(|(name, n)| (name.to_string(), int(n)))
        .collect();
    Expr::new(ExprVal::FunctionCall(FunctionCall {
        name: name.into(),
        args,
    }))
}

/// Names a place, and the bytes of literal text that it prints.
fn at(place: usize, text: usize) -> Node {
    call(AT, [("n", place), ("text", text)])
}

/// Name a place before a condition is looked at.
fn name_first(condition: &mut Expr, place: usize) {
    let named = function(AT, [("n", place), ("test", 0)]);
    let inner = condition.clone();
    *condition = Expr::new(logic(named, LogicOperator::And, inner));
}

/// Refuse what a macro prints where a number is needed: it is text, and the engine breaks off in the middle of it.
fn no_macro(side: &Expr, place: usize) -> Result<()> {
    match &side.val {
        ExprVal::MacroCall(call) => {
            let message = format!(
                "the macro `{}` gives text, which cannot be calculated with or ordered",
                call.name
            );
            Err(Refused { message, place })
        }
        _ => Ok(()),
    }
}

fn logic(lhs: Expr, operator: LogicOperator, rhs: Expr) -> ExprVal {
    ExprVal::Logic(LogicExpr {
        lhs: Box::new(lhs),
        rhs: Box::new(rhs),
        operator,
    })
}

fn filter(name: &str) -> FunctionCall {
    FunctionCall {
        name: name.into(),
        args: HashMap::new(),
    }
}
