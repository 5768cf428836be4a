//! What Jinja2 computes when it compiles a template: expressions that are made of literals alone.
//!
//! What comes out is what the expression gives when it runs, so only failing matters. Most failures are caught, and the
//! expression runs as it stands. Not caught are undefined values that `and`, `or`, `~` or an inline `if` ask for their
//! truth or text, and keys that no dict can have: the template does not compile, whether it would ever come to that
//! expression or not (`jinja2.nodes`: the `as_const` of each class).

use std::sync::Arc;

use mapstack_jinja_syntax::ast::{Expr, ExprKind, Span, Template};
use mapstack_pyobject::{Error, ErrorKind, Limits, Obj, Result, text_of};

use super::dialect::Dialect;
use super::host::NoHost;
use super::interpret::{place, roomy};
use super::named::reads_context;
use super::scope::{Context, Frame};
use super::vm::{Request, Vm};

/// Steps for the constants of one expression. What takes more is left to the run.
const FUEL: u64 = 100_000;

/// Looks at the expressions of a template for constants that cannot be computed.
pub(super) struct Folding<'t> {
    template: &'t Arc<Template>,
    dialect: &'t dyn Dialect,
    strict: bool,
    /// The outermost expression around the present one that is computed if it can be, unless that was done.
    root: Option<&'t Expr>,
    /// Where that stands.
    within: Span,
}

impl<'t> Folding<'t> {
    pub fn new(template: &'t Arc<Template>, dialect: &'t dyn Dialect, strict: bool) -> Self {
        Folding {
            template,
            dialect,
            strict,
            root: None,
            within: Span::default(),
        }
    }

    /// Look at an expression. Those around it come before it.
    pub fn meet(&mut self, expr: &'t Expr) -> Result<()> {
        let Span { start, end } = self.within;
        if (expr.span.start < start || expr.span.end > end) && expr.is_folded() {
            self.root = Some(expr);
            self.within = expr.span;
        }
        match self.root.take_if(|_| expr.folds_with_risk()) {
            Some(root) => self.fold(root),
            None => Ok(()),
        }
    }

    fn fold(&self, expr: &Expr) -> Result<()> {
        let mut request = Request::new(self.dialect, "", &NoHost);
        request.strict = self.strict;
        request.limits = Limits {
            fuel: FUEL,
            ..Limits::default()
        };
        let vm = Vm::new(&request);
        let context = Context::new(self.template, vm.globals_now());
        let folded = vm.fold(expr, &Frame::root(self.template.clone(), context));
        match folded {
            Err(e) if e.kind != ErrorKind::Limit => {
                let mut refused = Error::new(ErrorKind::Syntax, e.message).with_help(
                    "Jinja2 computes literals when it compiles a template, also where they are never used",
                );
                refused.place = e.place;
                Err(refused)
            }
            _ => Ok(()),
        }
    }
}

impl Vm<'_> {
    /// The value of an expression that is made of literals, if Jinja2 computes it.
    fn fold(&self, expr: &Expr, frame: &Frame) -> Result<Option<Obj>> {
        self.burn(1)?;
        let mut operands = Vec::new();
        expr.try_each_operand(&mut |operand| {
            let value = roomy(|| self.fold(operand, frame))?;
            operands.push((operand, value));
            Ok::<(), Box<Error>>(())
        })?;
        // What is asked of an operand; an error is not caught.
        let truth = |(operand, value): &(&Expr, Option<Obj>)| match value {
            Some(value) => {
                let truth = value.truthy();
                truth
                    .map(Some)
                    .map_err(|e| e.at(|| place(frame, operand.span)))
            }
            None => Ok(None),
        };
        let value = |at: usize| operands.get(at).and_then(|(_, value)| value.clone());
        Ok(match &expr.kind {
            ExprKind::Call { .. } | ExprKind::Name(_) | ExprKind::Filter { input: None, .. } => {
                None
            }
            ExprKind::Filter { name, .. } if reads_context(name) => None,
            ExprKind::And(..) => truth(&operands[0])?.and_then(|left| value(usize::from(left))),
            ExprKind::Or(..) => truth(&operands[0])?.and_then(|left| value(usize::from(!left))),
            ExprKind::Cond { .. } => {
                truth(&operands[0])?.and_then(|test| value(if test { 1 } else { 2 }))
            }
            ExprKind::Concat(_) => {
                for (operand, value) in &operands {
                    let Some(value) = value else { return Ok(None) };
                    text_of(value).map_err(|e| e.at(|| place(frame, operand.span)))?;
                }
                self.eval(expr, frame).ok()
            }
            _ if operands.iter().any(|(_, value)| value.is_none()) => None,
            ExprKind::Dict(_) => Some(self.eval(expr, frame)?),
            _ => self.eval(expr, frame).ok(),
        })
    }
}
