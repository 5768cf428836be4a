//! Makes Python code answer to limits: its syntax tree is rewritten before it is compiled.
//!
//! Every loop, comprehension and function spends a step, and everything that can make something large
//! from something small goes through a function that looks first. Those functions have names that no
//! source can spell, so code can neither call nor replace them. Names that lead out of the sandbox
//! (`__globals__`, `__subclasses__`, …) are refused wherever they stand.

use std::cell::{Cell, RefCell};

use ruff_text_size::{Ranged, TextRange};
use rustpython_vm::compiler::ast::token::TokenKind;
use rustpython_vm::compiler::ast::visitor::transformer::{self, Transformer};
use rustpython_vm::compiler::ast::{
    Alias, Arguments, AtomicNodeIndex, BoolOp, Comprehension, Expr, ExprAttribute, ExprBinOp, ExprBoolOp, ExprCall,
    ExprContext, ExprName, ExprNoneLiteral, ExprStringLiteral, ExprTuple, ExprUnaryOp, Identifier,
    InterpolatedStringElement, ModModule, Operator, Pattern, Stmt, StmtAssign, StmtExpr, StmtPass, StringLiteral,
    StringLiteralFlags, StringLiteralValue, UnaryOp,
};
use rustpython_vm::compiler::parser::Parsed;
use unicode_normalization::UnicodeNormalization;

/// Names that lead from data to the interpreter behind it.
const REFUSED: &[&str] = &[
    "__builtins__",
    "__closure__",
    "__code__",
    "__getattribute__",
    "__globals__",
    "__loader__",
    "__match_args__",
    "__prepare__",
    "__self__",
    "__spec__",
    "__subclasses__",
    "ag_code",
    "ag_frame",
    "cell_contents",
    "cr_code",
    "cr_frame",
    "f_back",
    "f_builtins",
    "f_code",
    "f_globals",
    "f_locals",
    "f_trace",
    "gi_code",
    "gi_frame",
    "tb_frame",
];

/// Methods of text, bytes and numbers that can make something large from something small, and the way to
/// the methods of a type.
const WATCHED: &[&str] = &[
    "__add__",
    "__dict__",
    "__format__",
    "__iadd__",
    "__imul__",
    "__lshift__",
    "__mod__",
    "__mul__",
    "__pow__",
    "__rlshift__",
    "__rmul__",
    "__rpow__",
    "center",
    "expandtabs",
    "extend",
    "format",
    "format_map",
    "join",
    "ljust",
    "replace",
    "rjust",
    "to_bytes",
    "translate",
    "zfill",
];

/// Whether a name is refused, be it written in the source or asked for by `getattr`.
pub(crate) fn is_refused(name: &str) -> bool {
    REFUSED.contains(&name)
}

/// Whether an attribute is one that is looked at before it is handed out.
pub(crate) fn is_watched(name: &str) -> bool {
    WATCHED.contains(&name)
}

/// A refused construct: where, and why.
#[derive(Debug, Clone)]
pub(crate) struct Refusal {
    pub(crate) offset: usize,
    pub(crate) message: String,
}

/// The name of a function that rewritten code calls: one that no source can spell.
pub(crate) fn full_name(short: &str) -> String {
    format!("<{short}>")
}

/// Rewrite a module in place.
pub(crate) fn module(parsed: Parsed<ModModule>, source: &str) -> Result<ModModule, Refusal> {
    for token in parsed.tokens() {
        if token.kind() == TokenKind::Name {
            let text = source.get(token.range().start().to_usize()..token.range().end().to_usize()).unwrap_or("");
            let name: String = if text.is_ascii() { text.to_owned() } else { text.nfkc().collect() };
            if is_refused(&name) {
                return Err(Refusal {
                    offset: token.range().start().to_usize(),
                    message: format!("'{name}' is not available to templates: it leads out of the sandbox"),
                });
            }
        }
    }
    let mut module = parsed.into_syntax();
    let rewriter = Rewriter { refusal: RefCell::new(None), class: RefCell::new(Vec::new()), depth: Cell::new(0) };
    rewriter.body(&mut module.body, false);
    match rewriter.refusal.into_inner() {
        Some(refusal) => Err(refusal),
        None => Ok(module),
    }
}

struct Rewriter {
    refusal: RefCell<Option<Refusal>>,
    /// The classes around, for private names.
    class: RefCell<Vec<String>>,
    depth: Cell<usize>,
}

/// Deeper trees than people write would exhaust the stack of the compiler behind.
const MAX_DEPTH: usize = 400;

impl Rewriter {
    fn refuse(&self, range: TextRange, message: impl Into<String>) {
        let mut refusal = self.refusal.borrow_mut();
        if refusal.is_none() {
            *refusal = Some(Refusal { offset: range.start().to_usize(), message: message.into() });
        }
    }

    fn name(&self, short: &str, range: TextRange) -> Expr {
        name(&full_name(short), range, ExprContext::Load)
    }

    fn call(&self, short: &str, arguments: Vec<Expr>, range: TextRange) -> Expr {
        Expr::Call(ExprCall {
            node_index: AtomicNodeIndex::NONE,
            range,
            func: Box::new(self.name(short, range)),
            arguments: Arguments {
                range,
                node_index: AtomicNodeIndex::NONE,
                args: arguments.into_boxed_slice(),
                keywords: Box::default(),
            },
        })
    }

    fn tick(&self, range: TextRange) -> Expr {
        self.call("tick", Vec::new(), range)
    }

    fn tick_statement(&self, range: TextRange) -> Stmt {
        Stmt::Expr(StmtExpr { node_index: AtomicNodeIndex::NONE, range, value: Box::new(self.tick(range)) })
    }

    /// Rewrite statements; `metered` puts a step first, after a docstring.
    fn body(&self, body: &mut Vec<Stmt>, metered: bool) {
        let first = body.first().map_or(TextRange::default(), Ranged::range);
        for stmt in body.iter_mut() {
            self.visit_stmt(stmt);
        }
        if metered {
            let at = usize::from(body.first().is_some_and(is_docstring));
            body.insert(at, self.tick_statement(first));
        }
    }

    fn generators(&self, generators: &mut [Comprehension]) {
        for generator in generators {
            let range = generator.iter.range();
            let step = Expr::UnaryOp(ExprUnaryOp {
                node_index: AtomicNodeIndex::NONE,
                range,
                op: UnaryOp::Not,
                operand: Box::new(self.tick(range)),
            });
            generator.ifs.insert(0, step);
        }
    }

    fn mangled(&self, attr: &str) -> String {
        match self.class.borrow().last() {
            Some(class) if attr.starts_with("__") && !attr.ends_with("__") => {
                format!("_{}{attr}", class.trim_start_matches('_'))
            }
            _ => attr.to_owned(),
        }
    }

    /// `target op= value` as a call that looks at both sides.
    fn augmented(&self, target: &Expr, op: Operator, value: Expr, range: TextRange) -> Option<Stmt> {
        let short = operator_name(op)?;
        let in_place = format!("i{short}");
        let expression =
            |call: Expr| Some(Stmt::Expr(StmtExpr { node_index: AtomicNodeIndex::NONE, range, value: Box::new(call) }));
        match target {
            Expr::Name(target) => {
                let old = name(target.id.as_str(), range, ExprContext::Load);
                Some(Stmt::Assign(StmtAssign {
                    node_index: AtomicNodeIndex::NONE,
                    range,
                    targets: vec![Expr::Name(target.clone())],
                    value: Box::new(self.call(&in_place, vec![old, value], range)),
                }))
            }
            Expr::Attribute(target) => {
                let attr = text(&self.mangled(target.attr.as_str()), range);
                expression(self.call(
                    "iattr",
                    vec![text(&in_place, range), (*target.value).clone(), attr, value],
                    range,
                ))
            }
            Expr::Subscript(target) => {
                let key = self.slice_object((*target.slice).clone());
                expression(self.call("iitem", vec![text(&in_place, range), (*target.value).clone(), key, value], range))
            }
            _ => None,
        }
    }

    /// `a:b:c` as an object that can be an argument.
    fn slice_object(&self, key: Expr) -> Expr {
        match key {
            Expr::Slice(slice) => {
                let range = slice.range;
                let part = |part: Option<Box<Expr>>| part.map_or_else(|| none(range), |part| *part);
                self.call("slice", vec![part(slice.lower), part(slice.upper), part(slice.step)], range)
            }
            key => key,
        }
    }
}

impl Transformer for Rewriter {
    fn visit_stmt(&self, stmt: &mut Stmt) {
        self.depth.set(self.depth.get() + 1);
        if self.depth.get() > MAX_DEPTH {
            self.refuse(stmt.range(), "the code is nested too deeply");
        } else {
            self.statement(stmt);
        }
        self.depth.set(self.depth.get() - 1);
    }

    fn visit_expr(&self, expr: &mut Expr) {
        self.depth.set(self.depth.get() + 1);
        if self.depth.get() > MAX_DEPTH {
            self.refuse(expr.range(), "the expression is nested too deeply");
        } else {
            self.expression(expr);
        }
        self.depth.set(self.depth.get() - 1);
    }

    fn visit_pattern(&self, pattern: &mut Pattern) {
        if let Pattern::MatchClass(class) = pattern
            && !class.arguments.patterns.is_empty()
        {
            self.refuse(class.range, "class patterns with positional parts are not available to templates");
        }
        transformer::walk_pattern(self, pattern);
    }
}

impl Rewriter {
    fn statement(&self, stmt: &mut Stmt) {
        let range = stmt.range();
        match stmt {
            Stmt::FunctionDef(function) => {
                if function.is_async {
                    self.refuse(range, "asynchronous functions are not available to templates");
                }
                for decorator in &mut function.decorator_list {
                    self.visit_decorator(decorator);
                }
                self.visit_parameters(&mut function.parameters);
                if let Some(returns) = &mut function.returns {
                    self.visit_annotation(returns);
                }
                self.body(&mut function.body, true);
            }
            Stmt::ClassDef(class) => {
                self.class.borrow_mut().push(class.name.to_string());
                for decorator in &mut class.decorator_list {
                    self.visit_decorator(decorator);
                }
                if let Some(arguments) = &mut class.arguments {
                    self.visit_arguments(arguments);
                }
                self.body(&mut class.body, false);
                self.class.borrow_mut().pop();
            }
            Stmt::For(each) => {
                self.visit_expr(&mut each.iter);
                self.visit_expr(&mut each.target);
                self.body(&mut each.body, true);
                self.body(&mut each.orelse, false);
            }
            Stmt::While(each) => {
                self.visit_expr(&mut each.test);
                self.body(&mut each.body, true);
                self.body(&mut each.orelse, false);
            }
            Stmt::Import(import) => {
                let (mut targets, mut values) = (Vec::new(), Vec::new());
                for alias in &import.names {
                    let module = alias.name.as_str();
                    let top = module.split('.').next().unwrap_or(module);
                    let bound = alias.asname.as_ref().map_or(top, |name| name.as_str());
                    targets.push(name(bound, range, ExprContext::Store));
                    let short = if alias.asname.is_some() { "importas" } else { "import" };
                    values.push(self.call(short, vec![text(module, range)], range));
                }
                *stmt =
                    assign(tuple(targets, ExprContext::Store, range), tuple(values, ExprContext::Load, range), range);
            }
            Stmt::ImportFrom(import) => {
                let module = import.module.as_ref().map_or("", |name| name.as_str()).to_owned();
                if import.level > 0 {
                    self.refuse(range, "relative imports are not available to templates");
                }
                if module == "__future__" {
                    *stmt = Stmt::Pass(StmtPass { node_index: AtomicNodeIndex::NONE, range });
                } else if import.names.iter().any(|alias| alias.name.as_str() == "*") {
                    let call = self.call("importall", vec![text(&module, range)], range);
                    *stmt = Stmt::Expr(StmtExpr { node_index: AtomicNodeIndex::NONE, range, value: Box::new(call) });
                } else {
                    let mut arguments = vec![text(&module, range)];
                    arguments.extend(import.names.iter().map(|alias| text(alias.name.as_str(), range)));
                    let bound = |alias: &Alias| alias.asname.as_ref().unwrap_or(&alias.name).to_string();
                    let targets = import.names.iter().map(|alias| name(&bound(alias), range, ExprContext::Store));
                    let targets = tuple(targets.collect(), ExprContext::Store, range);
                    *stmt = assign(targets, self.call("importfrom", arguments, range), range);
                }
            }
            Stmt::AugAssign(augmented) => {
                self.visit_expr(&mut augmented.target);
                self.visit_expr(&mut augmented.value);
                let value = (*augmented.value).clone();
                if let Some(call) = self.augmented(&augmented.target, augmented.op, value, range) {
                    *stmt = call;
                }
            }
            Stmt::Assign(assign) => {
                self.visit_expr(&mut assign.value);
                let slices = assign.targets.iter().any(|t| matches!(t, Expr::Subscript(s) if s.slice.is_slice_expr()));
                for target in &mut assign.targets {
                    self.visit_expr(target);
                }
                if slices {
                    let value = std::mem::replace(&mut *assign.value, none(range));
                    *assign.value = self.call("big", vec![value], range);
                }
            }
            other => transformer::walk_stmt(self, other),
        }
    }

    fn expression(&self, expr: &mut Expr) {
        if let Expr::BinOp(_) = expr {
            self.chain(expr);
            return;
        }
        transformer::walk_expr(self, expr);
        let range = expr.range();
        match expr {
            Expr::Lambda(lambda) => {
                let body = std::mem::replace(&mut *lambda.body, none(range));
                *lambda.body = Expr::BoolOp(ExprBoolOp {
                    node_index: AtomicNodeIndex::NONE,
                    range,
                    op: BoolOp::Or,
                    values: vec![self.tick(range), body],
                });
            }
            Expr::ListComp(each) => self.generators(&mut each.generators),
            Expr::SetComp(each) => self.generators(&mut each.generators),
            Expr::DictComp(each) => self.generators(&mut each.generators),
            Expr::Generator(each) => self.generators(&mut each.generators),
            Expr::Attribute(ExprAttribute { value, attr, ctx: ExprContext::Load, .. }) if is_watched(attr.as_str()) => {
                let value = std::mem::replace(&mut **value, none(range));
                let attr = text(attr.as_str(), range);
                *expr = self.call("attr", vec![value, attr], range);
            }
            Expr::FString(each) => {
                for element in each.value.elements() {
                    if let InterpolatedStringElement::Interpolation(element) = element
                        && let Some(spec) = &element.format_spec
                    {
                        self.check_spec(&spec.elements.iter().collect::<Vec<_>>(), range);
                    }
                }
                self.check_size(expr, range);
            }
            Expr::TString(_) => self.refuse(range, "template strings are not available to templates"),
            Expr::Await(_) => self.refuse(range, "'await' is not available to templates"),
            Expr::List(list) if list.ctx.is_load() && list.elts.iter().any(Expr::is_starred_expr) => {
                self.check_size(expr, range);
            }
            Expr::Tuple(tuple) if tuple.ctx.is_load() && tuple.elts.iter().any(Expr::is_starred_expr) => {
                // A bare `*a, *b` in a subscript or `return` is a tuple, too.
                self.check_size(expr, range);
            }
            Expr::Set(set) if set.elts.iter().any(Expr::is_starred_expr) => self.check_size(expr, range),
            Expr::Subscript(subscript) if subscript.ctx.is_load() && subscript.slice.is_slice_expr() => {
                self.check_size(expr, range);
            }
            _ => {}
        }
    }

    fn check_size(&self, expr: &mut Expr, range: TextRange) {
        let value = std::mem::replace(expr, none(range));
        *expr = self.call("big", vec![value], range);
    }

    /// A width in an f-string's format must be short, and written out.
    fn check_spec(&self, elements: &[&InterpolatedStringElement], range: TextRange) {
        for element in elements {
            match element {
                InterpolatedStringElement::Literal(literal) => {
                    if super::guard::spec_is_wide(&literal.value) {
                        self.refuse(range, "the width in a format is too large");
                    }
                }
                InterpolatedStringElement::Interpolation(_) => {
                    self.refuse(range, "a computed format needs format(value, spec) here, which checks its width");
                }
            }
        }
    }

    /// Long sums nest to the left; they are walked in a loop.
    fn chain(&self, expr: &mut Expr) {
        let mut pending = Vec::new();
        let mut current = std::mem::replace(expr, none(TextRange::default()));
        while let Expr::BinOp(ExprBinOp { left, op, right, range, .. }) = current {
            pending.push((op, *right, range));
            current = *left;
        }
        self.visit_expr(&mut current);
        while let Some((op, mut right, range)) = pending.pop() {
            self.visit_expr(&mut right);
            current = match operator_name(op) {
                Some(short) => self.call(short, vec![current, right], range),
                None => Expr::BinOp(ExprBinOp {
                    node_index: AtomicNodeIndex::NONE,
                    range,
                    left: Box::new(current),
                    op,
                    right: Box::new(right),
                }),
            };
        }
        if pending.capacity() > 3000 {
            self.refuse(current.range(), "the expression is nested too deeply");
        }
        *expr = current;
    }
}

/// The operators that can make something large, by the name of what replaces them.
fn operator_name(op: Operator) -> Option<&'static str> {
    match op {
        Operator::Add => Some("add"),
        Operator::Mult => Some("mul"),
        Operator::Pow => Some("pow"),
        Operator::LShift => Some("lshift"),
        Operator::Mod => Some("mod"),
        _ => None,
    }
}

fn is_docstring(stmt: &Stmt) -> bool {
    matches!(stmt, Stmt::Expr(StmtExpr { value, .. }) if value.is_string_literal_expr())
}

fn name(id: &str, range: TextRange, ctx: ExprContext) -> Expr {
    Expr::Name(ExprName { node_index: AtomicNodeIndex::NONE, range, id: Identifier::new(id, range).id, ctx })
}

fn tuple(elts: Vec<Expr>, ctx: ExprContext, range: TextRange) -> Expr {
    Expr::Tuple(ExprTuple { node_index: AtomicNodeIndex::NONE, range, elts, ctx, parenthesized: true })
}

fn assign(target: Expr, value: Expr, range: TextRange) -> Stmt {
    Stmt::Assign(StmtAssign { node_index: AtomicNodeIndex::NONE, range, targets: vec![target], value: Box::new(value) })
}

fn none(range: TextRange) -> Expr {
    Expr::NoneLiteral(ExprNoneLiteral { node_index: AtomicNodeIndex::NONE, range })
}

fn text(value: &str, range: TextRange) -> Expr {
    Expr::StringLiteral(ExprStringLiteral {
        node_index: AtomicNodeIndex::NONE,
        range,
        value: StringLiteralValue::single(StringLiteral {
            range,
            node_index: AtomicNodeIndex::NONE,
            value: value.into(),
            flags: StringLiteralFlags::empty(),
        }),
    })
}
