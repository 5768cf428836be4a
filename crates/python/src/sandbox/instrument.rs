//! Makes Python code spend steps: its syntax tree is rewritten before it is compiled.
//!
//! Every pass through a loop or a comprehension and every call of a function begins with a call of [`TICK`]. That
//! ends endless code where it is, and at the same place on every machine. It is not a security boundary.
//!
//! Before statements that can take long goes a call of [`NOTE`], so that the place is known if the process ends there.
//! Statements in loops have none: the loop has one.

use std::cell::{Cell, RefCell};

use ruff_text_size::{Ranged, TextRange};
use rustpython_vm::compiler::ast::visitor::transformer::{self, Transformer};
use rustpython_vm::compiler::ast::{
    Arguments, AtomicNodeIndex, BoolOp, Comprehension, ExceptHandler, Expr, ExprBinOp, ExprBoolOp,
    ExprCall, ExprContext, ExprName, ExprNoneLiteral, ExprUnaryOp, Identifier, ModModule, Stmt,
    StmtExpr, UnaryOp,
};

/// The function that spends a step: a name that no source can spell by chance.
pub(crate) const TICK: &str = "<tick>";
/// The function that notes a place: another such name.
pub(crate) const NOTE: &str = "<note>";

/// The printing function in the code of Mako templates.
const WRITER: &str = "__M_writer";

/// Deeper trees than people write would exhaust the stack of the compiler behind.
const MAX_DEPTH: usize = 400;
/// Longer sums than people write would, too.
const MAX_CHAIN: usize = 3000;

/// Code that nests too deeply, and where.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TooDeep {
    pub(crate) offset: usize,
}

/// Rewrite a module in place.
pub(crate) fn module(module: &mut ModModule) -> Result<(), TooDeep> {
    let rewriter = Rewriter::default();
    for stmt in &mut module.body {
        rewriter.visit_stmt(stmt);
    }
    annotate(&mut module.body);
    rewriter.too_deep.into_inner().map_or(Ok(()), Err)
}

#[derive(Default)]
struct Rewriter {
    too_deep: RefCell<Option<TooDeep>>,
    depth: Cell<usize>,
    /// True if the body of a loop is walked.
    looping: Cell<bool>,
}

impl Rewriter {
    fn refuse(&self, range: TextRange) {
        self.too_deep.borrow_mut().get_or_insert(TooDeep {
            offset: range.start().to_usize(),
        });
    }

    /// Go a level down, unless there are too many.
    fn deeper(&self, range: TextRange, visit: impl FnOnce()) {
        self.depth.set(self.depth.get() + 1);
        if self.depth.get() > MAX_DEPTH {
            self.refuse(range);
        } else {
            visit();
        }
        self.depth.set(self.depth.get() - 1);
    }

    /// Put a step before the conditions of a comprehension. Each of its loops is inside the one before.
    fn generators(&self, generators: &mut [Comprehension]) {
        if let Some(last) = generators.get(MAX_DEPTH) {
            self.refuse(last.range);
            return;
        }
        for generator in generators {
            let range = generator.iter.range();
            let step = Expr::UnaryOp(ExprUnaryOp {
                node_index: AtomicNodeIndex::NONE,
                range,
                op: UnaryOp::Not,
                operand: Box::new(call(TICK, range, Vec::new())),
            });
            generator.ifs.insert(0, step);
        }
    }

    /// Long sums nest to the left; they are walked in a loop.
    fn chain(&self, mut expr: &mut Expr) {
        let mut links = 0;
        while let Expr::BinOp(ExprBinOp {
            left, right, range, ..
        }) = expr
        {
            links += 1;
            if links > MAX_CHAIN {
                self.refuse(*range);
                return;
            }
            self.visit_expr(right);
            expr = left;
        }
        self.visit_expr(expr);
    }
}

impl Transformer for Rewriter {
    fn visit_stmt(&self, stmt: &mut Stmt) {
        self.deeper(stmt.range(), || {
            let (outer, inner) = match stmt {
                Stmt::FunctionDef(_) => (self.looping.get(), false),
                Stmt::For(_) | Stmt::While(_) => (self.looping.get(), true),
                _ => (self.looping.get(), self.looping.get()),
            };
            self.looping.set(inner);
            transformer::walk_stmt(self, stmt);
            self.looping.set(outer);
            if !inner {
                bodies(stmt).into_iter().for_each(annotate);
            }
            match stmt {
                Stmt::FunctionDef(function) => prepend(&mut function.body),
                Stmt::For(each) => prepend(&mut each.body),
                Stmt::While(each) => prepend(&mut each.body),
                _ => {}
            }
        });
    }

    fn visit_expr(&self, expr: &mut Expr) {
        self.deeper(expr.range(), || {
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
                        values: vec![call(TICK, range, Vec::new()), body],
                    });
                }
                Expr::ListComp(each) => self.generators(&mut each.generators),
                Expr::SetComp(each) => self.generators(&mut each.generators),
                Expr::DictComp(each) => self.generators(&mut each.generators),
                Expr::Generator(each) => self.generators(&mut each.generators),
                _ => {}
            }
        });
    }
}

/// Put a step before statements, after a docstring.
fn prepend(body: &mut Vec<Stmt>) {
    let range = body.first().map_or(TextRange::default(), Ranged::range);
    let at = usize::from(body.first().is_some_and(is_docstring));
    let value = Box::new(call(TICK, range, Vec::new()));
    body.insert(
        at,
        Stmt::Expr(StmtExpr {
            node_index: AtomicNodeIndex::NONE,
            range,
            value,
        }),
    );
}

/// The statements inside a statement that is not a loop.
fn bodies(stmt: &mut Stmt) -> Vec<&mut Vec<Stmt>> {
    match stmt {
        Stmt::FunctionDef(function) => vec![&mut function.body],
        Stmt::ClassDef(class) => vec![&mut class.body],
        Stmt::With(with) => vec![&mut with.body],
        Stmt::If(branch) => {
            let others = branch.elif_else_clauses.iter_mut().map(|it| &mut it.body);
            std::iter::once(&mut branch.body).chain(others).collect()
        }
        Stmt::Match(choice) => choice.cases.iter_mut().map(|it| &mut it.body).collect(),
        Stmt::Try(attempt) => {
            let handlers = attempt.handlers.iter_mut().map(|handler| {
                let ExceptHandler::ExceptHandler(handler) = handler;
                &mut handler.body
            });
            [&mut attempt.body, &mut attempt.orelse]
                .into_iter()
                .chain(handlers)
                .chain([&mut attempt.finalbody])
                .collect()
        }
        _ => Vec::new(),
    }
}

/// Put notes before the statements that can take long.
fn annotate(body: &mut Vec<Stmt>) {
    let mut out = Vec::with_capacity(body.len());
    for stmt in body.drain(..) {
        if can_take_long(&stmt) {
            let range = stmt.range();
            out.push(Stmt::Expr(StmtExpr {
                node_index: AtomicNodeIndex::NONE,
                range,
                value: Box::new(call(NOTE, range, Vec::new())),
            }));
        }
        out.push(stmt);
    }
    *body = out;
}

fn can_take_long(stmt: &Stmt) -> bool {
    match stmt {
        Stmt::Expr(stmt) => !is_quick(&stmt.value) && !prints_literal(&stmt.value),
        Stmt::Return(stmt) => stmt.value.as_deref().is_some_and(|value| !is_quick(value)),
        Stmt::Assign(stmt) => !is_quick(&stmt.value),
        Stmt::AnnAssign(stmt) => stmt.value.as_deref().is_some_and(|value| !is_quick(value)),
        Stmt::If(stmt) => !is_quick(&stmt.test),
        Stmt::AugAssign(_)
        | Stmt::Delete(_)
        | Stmt::Raise(_)
        | Stmt::Assert(_)
        | Stmt::For(_)
        | Stmt::While(_)
        | Stmt::With(_)
        | Stmt::Match(_) => true,
        _ => false,
    }
}

/// True if evaluating an expression runs no other code.
fn is_quick(expr: &Expr) -> bool {
    expr.is_literal_expr() || matches!(expr, Expr::Name(_) | Expr::Lambda(_))
}

/// True if an expression is what prints the text of a template.
fn prints_literal(expr: &Expr) -> bool {
    let Expr::Call(call) = expr else { return false };
    let is_writer = matches!(&*call.func, Expr::Name(name) if name.id.as_str() == WRITER);
    is_writer
        && call
            .arguments
            .args
            .first()
            .is_some_and(Expr::is_literal_expr)
}

/// A call of a function.
pub(super) fn call(function: &str, range: TextRange, args: Vec<Expr>) -> Expr {
    let name = ExprName {
        node_index: AtomicNodeIndex::NONE,
        range,
        id: Identifier::new(function, range).id,
        ctx: ExprContext::Load,
    };
    Expr::Call(ExprCall {
        node_index: AtomicNodeIndex::NONE,
        range,
        func: Box::new(Expr::Name(name)),
        arguments: Arguments {
            range,
            node_index: AtomicNodeIndex::NONE,
            args: args.into(),
            keywords: Box::default(),
        },
    })
}

fn is_docstring(stmt: &Stmt) -> bool {
    matches!(stmt, Stmt::Expr(StmtExpr { value, .. }) if value.is_string_literal_expr())
}

pub(super) fn none(range: TextRange) -> Expr {
    Expr::NoneLiteral(ExprNoneLiteral {
        node_index: AtomicNodeIndex::NONE,
        range,
    })
}
