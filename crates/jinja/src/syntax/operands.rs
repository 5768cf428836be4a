//! The operands of an expression.

use super::ast::{Args, Expr, ExprKind};

impl Expr {
    /// Visit the operands of an expression in the order of Jinja2's nodes: in that of the source, but the condition of
    /// an inline `if` comes first. Operands of operands are left to the visitor.
    ///
    /// # Errors
    /// The first error of `visit`.
    ///
    /// ```
    /// use mapstack_jinja::syntax::ast::{ExprKind, StmtKind};
    /// use mapstack_jinja::syntax::{Syntax, parse};
    /// let template = parse("{{ f(a, b=c.d) }}", None, &Syntax::default(), &[]).unwrap();
    /// let StmtKind::Output(call) = &template.body[0].kind else { panic!() };
    /// let mut names = Vec::new();
    /// let visited: Result<(), ()> = call.try_each_operand(&mut |operand| {
    ///     names.push(operand.kind.class_name());
    ///     Ok(())
    /// });
    /// assert_eq!((visited, names), (Ok(()), vec!["name", "name", "getattr"]));
    /// ```
    pub fn try_each_operand<'t, E>(
        &'t self,
        visit: &mut impl FnMut(&'t Expr) -> Result<(), E>,
    ) -> Result<(), E> {
        match &self.kind {
            ExprKind::Const(_) | ExprKind::Name(_) => Ok(()),
            ExprKind::Tuple(items) | ExprKind::List(items) | ExprKind::Concat(items) => {
                items.iter().try_for_each(visit)
            }
            ExprKind::Dict(entries) => entries
                .iter()
                .flat_map(|(key, value)| [key, value])
                .try_for_each(visit),
            ExprKind::Attr(inner, _)
            | ExprKind::Neg(inner)
            | ExprKind::Pos(inner)
            | ExprKind::Not(inner) => visit(inner),
            ExprKind::Item(left, right)
            | ExprKind::Binary(_, left, right)
            | ExprKind::And(left, right)
            | ExprKind::Or(left, right) => {
                visit(left)?;
                visit(right)
            }
            ExprKind::Slice {
                object,
                start,
                stop,
                step,
            } => {
                visit(object)?;
                given([start, stop, step]).try_for_each(visit)
            }
            ExprKind::Call { callee, args } => {
                visit(callee)?;
                args.try_each(visit)
            }
            ExprKind::Filter { input, args, .. } => {
                given([input]).try_for_each(&mut *visit)?;
                args.try_each(visit)
            }
            ExprKind::Test { input, args, .. } => {
                visit(input)?;
                args.try_each(visit)
            }
            ExprKind::Compare(first, rest) => {
                visit(first)?;
                rest.iter().map(|(_, operand)| operand).try_for_each(visit)
            }
            ExprKind::Cond {
                test,
                then,
                otherwise,
            } => {
                visit(test)?;
                visit(then)?;
                given([otherwise]).try_for_each(visit)
            }
        }
    }
}

impl Args {
    /// True if nothing is given.
    ///
    /// ```
    /// assert!(mapstack_jinja::syntax::ast::Args::default().are_none());
    /// ```
    #[must_use]
    #[inline]
    pub fn are_none(&self) -> bool {
        self.positional.is_empty()
            && self.named.is_empty()
            && self.star.is_none()
            && self.star_star.is_none()
    }

    fn try_each<'t, E>(
        &'t self,
        visit: &mut impl FnMut(&'t Expr) -> Result<(), E>,
    ) -> Result<(), E> {
        self.positional.iter().try_for_each(&mut *visit)?;
        self.named
            .iter()
            .map(|(_, value)| value)
            .try_for_each(&mut *visit)?;
        given([&self.star, &self.star_star]).try_for_each(visit)
    }
}

/// Those of some expressions that were not left out.
fn given<const N: usize>(exprs: [&Option<Box<Expr>>; N]) -> impl Iterator<Item = &Expr> {
    exprs.into_iter().filter_map(|expr| expr.as_deref())
}
