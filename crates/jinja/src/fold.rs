//! Constants, which Jinja2 computes when it compiles a template: expressions that are made of literals alone.
//!
//! A constant's value is the one that the expression has when it runs, so only failing matters. Most failures are
//! caught, and the expression runs unchanged. Not caught are undefined values that `and`, `or`, `~` or an inline `if`
//! ask for their truth or text, and keys that no dict can have: the template does not compile, whether it would ever
//! come to that expression or not (`jinja2.nodes`: the `as_const` of each class). The whole of `{{ … }}` is computed
//! before its parts are looked at; if it has a value, they are not looked at.

use std::cell::Cell;
use std::sync::Arc;

use crate::syntax::ast::{Expr, ExprKind, Span, Stmt, StmtKind, Template};
use mapstack_pyobject::{Error, ErrorKind, Obj, Result, lookup_key, text_of};

use super::dialect::Dialect;
use super::host::NoHost;
use super::interpret::{place, with_stack};
use super::named::reads_context;
use super::scope::{Context, Frame};
use super::vm::{Request, Vm};

/// Steps for the constants of a template. What takes more is left to the run.
const FUEL: u64 = 1_000_000;

/// Looks at the expressions of a template for constants that cannot be computed.
pub(super) struct Folding<'t> {
    template: &'t Arc<Template>,
    dialect: &'t dyn Dialect,
    strict: bool,
    fuel: Cell<u64>,
    /// The expression of the last `{{ … }}`, and whether it is a constant, once that is known.
    printed: Option<(&'t Expr, Option<bool>)>,
    /// The outermost expression around the present one that is computed if it can be, unless that was done.
    root: Option<&'t Expr>,
    /// Its span.
    within: Span,
}

impl<'t> Folding<'t> {
    pub fn new(template: &'t Arc<Template>, dialect: &'t dyn Dialect, strict: bool) -> Self {
        Folding {
            template,
            dialect,
            strict,
            fuel: Cell::new(FUEL),
            printed: None,
            root: None,
            within: Span::default(),
        }
    }

    /// Look at a statement, before its expressions.
    pub fn enter(&mut self, stmt: &'t Stmt) {
        if let StmtKind::Output(printed) = &stmt.kind {
            self.printed = Some((printed, None));
        }
    }

    /// Look at an expression. Those around it come before it.
    pub fn meet(&mut self, expr: &'t Expr) -> Result<()> {
        if !is_inside(expr, self.within) && expr.is_folded() {
            self.root = Some(expr);
            self.within = expr.span;
        }
        let Some(root) = self.root.take_if(|_| expr.folds_with_risk()) else {
            return Ok(());
        };
        match self.run(|vm, frame| vm.optimize(root, frame)) {
            Err(e) if e.kind != ErrorKind::Limit && !self.is_left_out(root) => {
                let mut refused = Error::new(ErrorKind::Syntax, e.message).with_help(
                    "Jinja2 computes literals when it compiles a template, also where they are never used",
                );
                refused.place = e.place;
                Err(refused)
            }
            _ => Ok(()),
        }
    }

    /// True if Jinja2 never looks at an expression, because what is printed around it is a constant.
    pub fn is_left_out(&mut self, expr: &Expr) -> bool {
        let Some((printed, known)) = self.printed.filter(|(e, _)| is_inside(expr, e.span)) else {
            return false;
        };
        let compute = || {
            let value = self.run(|vm, frame| vm.constant(printed, frame));
            matches!(value, Ok(Some(value)) if text_of(&value).is_ok())
        };
        let is_constant = known.unwrap_or_else(compute);
        self.printed = Some((printed, Some(is_constant)));
        is_constant
    }

    fn run<T>(&self, compute: impl FnOnce(&Vm<'_>, &Frame) -> Result<T>) -> Result<T> {
        let mut request = Request::new(self.dialect, "", &NoHost);
        request.strict = self.strict;
        request.fuel = Some(&self.fuel);
        let vm = Vm::new(&request);
        let context = Context::new(self.template, vm.globals_now());
        compute(&vm, &Frame::root(self.template.clone(), context))
    }
}

fn is_inside(expr: &Expr, span: Span) -> bool {
    span.start <= expr.span.start && expr.span.end <= span.end
}

impl Vm<'_> {
    /// Compute the operands of an expression, and then the expression, whatever of it would be used.
    fn optimize(&self, expr: &Expr, frame: &Frame) -> Result<()> {
        expr.try_each_operand(&mut |operand| with_stack(|| self.optimize(operand, frame)))?;
        self.constant(expr, frame).map(drop)
    }

    /// The value of an expression that uses literals alone (`as_const`). Errors are those that are not caught.
    fn constant(&self, expr: &Expr, frame: &Frame) -> Result<Option<Obj>> {
        self.burn(1)?;
        let constant = |expr: &Expr| with_stack(|| self.constant(expr, frame));
        let truth = |expr: &Expr| -> Result<Option<(bool, Obj)>> {
            let Some(value) = constant(expr)? else {
                return Ok(None);
            };
            let truth = value
                .truthy()
                .map_err(|e| e.at(|| place(frame, expr.span)))?;
            Ok(Some((truth, value)))
        };
        match &expr.kind {
            ExprKind::Call { .. } | ExprKind::Name(_) | ExprKind::Filter { input: None, .. } => {
                return Ok(None);
            }
            ExprKind::Filter { name, .. } if reads_context(name) => return Ok(None),
            ExprKind::And(left, right) | ExprKind::Or(left, right) => {
                return match truth(left)? {
                    Some((is_true, _)) if is_true == matches!(expr.kind, ExprKind::And(..)) => {
                        constant(right)
                    }
                    left => Ok(left.map(|(_, value)| value)),
                };
            }
            ExprKind::Cond {
                test,
                then,
                otherwise,
            } => {
                return match (truth(test)?, otherwise) {
                    (Some((true, _)), _) => constant(then),
                    (Some((false, _)), Some(otherwise)) => constant(otherwise),
                    _ => Ok(None),
                };
            }
            ExprKind::Dict(entries) => {
                // It is made entry by entry: what comes after one that cannot be made does not matter.
                for (key, value) in entries {
                    let (Some(key), Some(_)) = (constant(key)?, constant(value)?) else {
                        return Ok(None);
                    };
                    lookup_key(&key).map_err(|e| e.at(|| place(frame, expr.span)))?;
                }
                return Ok(self.eval(expr, frame).ok());
            }
            _ => {}
        }
        let constant = self.operands_are_constant(expr, frame)?;
        Ok(constant.then(|| self.eval(expr, frame).ok()).flatten())
    }

    fn operands_are_constant(&self, expr: &Expr, frame: &Frame) -> Result<bool> {
        let is_text = matches!(expr.kind, ExprKind::Concat(_));
        let mut are_constant = true;
        expr.try_each_operand(&mut |operand| {
            if !are_constant {
                return Ok(());
            }
            let value = with_stack(|| self.constant(operand, frame))?;
            are_constant = value.is_some();
            if let Some(value) = value.filter(|_| is_text) {
                text_of(&value).map_err(|e| e.at(|| place(frame, operand.span)))?;
            }
            Ok::<(), Box<Error>>(())
        })?;
        Ok(are_constant)
    }
}
