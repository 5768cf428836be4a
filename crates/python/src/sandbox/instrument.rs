//! Makes Python code spend steps: its syntax tree is rewritten before it is compiled.
//!
//! Every pass through a loop or a comprehension and every call of a function begins with a call of [`TICK`]. That
//! ends what runs without end where it stands, and at the same place on every machine. It is no wall.

use std::cell::{Cell, RefCell};

use ruff_text_size::{Ranged, TextRange};
use rustpython_vm::compiler::ast::visitor::transformer::{self, Transformer};
use rustpython_vm::compiler::ast::{
    Arguments, AtomicNodeIndex, BoolOp, Comprehension, Expr, ExprBinOp, ExprBoolOp, ExprCall,
    ExprContext, ExprName, ExprNoneLiteral, ExprUnaryOp, Identifier, ModModule, Stmt, StmtExpr,
    UnaryOp,
};

/// The function that spends a step: a name that no source can spell by chance.
pub(crate) const TICK: &str = "<tick>";

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
    rewriter.too_deep.into_inner().map_or(Ok(()), Err)
}

#[derive(Default)]
struct Rewriter {
    too_deep: RefCell<Option<TooDeep>>,
    depth: Cell<usize>,
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
            transformer::walk_stmt(self, stmt);
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
                        values: vec![tick(range), body],
                    });
                }
                Expr::ListComp(each) => generators(&mut each.generators),
                Expr::SetComp(each) => generators(&mut each.generators),
                Expr::DictComp(each) => generators(&mut each.generators),
                Expr::Generator(each) => generators(&mut each.generators),
                _ => {}
            }
        });
    }
}

/// Put a step before statements, after a docstring.
fn prepend(body: &mut Vec<Stmt>) {
    let range = body.first().map_or(TextRange::default(), Ranged::range);
    let at = usize::from(body.first().is_some_and(is_docstring));
    let value = Box::new(tick(range));
    body.insert(
        at,
        Stmt::Expr(StmtExpr {
            node_index: AtomicNodeIndex::NONE,
            range,
            value,
        }),
    );
}

/// Put a step before the conditions of a comprehension.
fn generators(generators: &mut [Comprehension]) {
    for generator in generators {
        let range = generator.iter.range();
        let step = Expr::UnaryOp(ExprUnaryOp {
            node_index: AtomicNodeIndex::NONE,
            range,
            op: UnaryOp::Not,
            operand: Box::new(tick(range)),
        });
        generator.ifs.insert(0, step);
    }
}

/// A call of [`TICK`], which returns `None`.
fn tick(range: TextRange) -> Expr {
    let name = ExprName {
        node_index: AtomicNodeIndex::NONE,
        range,
        id: Identifier::new(TICK, range).id,
        ctx: ExprContext::Load,
    };
    Expr::Call(ExprCall {
        node_index: AtomicNodeIndex::NONE,
        range,
        func: Box::new(Expr::Name(name)),
        arguments: Arguments {
            range,
            node_index: AtomicNodeIndex::NONE,
            args: Box::default(),
            keywords: Box::default(),
        },
    })
}

fn is_docstring(stmt: &Stmt) -> bool {
    matches!(stmt, Stmt::Expr(StmtExpr { value, .. }) if value.is_string_literal_expr())
}

fn none(range: TextRange) -> Expr {
    Expr::NoneLiteral(ExprNoneLiteral {
        node_index: AtomicNodeIndex::NONE,
        range,
    })
}
