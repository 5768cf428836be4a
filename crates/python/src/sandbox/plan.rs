//! The output of a template that only looks at what it is given, for the command to print without an interpreter.
//!
//! The plan is read from the syntax tree that is compiled, so it is of exactly what would run. Only code that was
//! proven [pure](super::purity) has one: such code cannot mean anything else by the names of the frame around it.

use mapstack_sandbox::protocol::{
    Comparison, LookupExpr, MAX_PLAN_DEPTH, MAX_PLAN_VARIABLES, METHODS, PlanStep, Span,
    TemplatePlan,
};
use mapstack_value::{Str, Value};
use rustpython_vm::compiler::ast::{
    BoolOp, CmpOp, ElifElseClause, Expr, ExprCall, ExprCompare, ModModule, Number, Operator, Stmt,
    StmtAssign, StmtFunctionDef, StmtIf, UnaryOp,
};

use super::instrument;

/// The plan of a pure template, if it has one. `marks` are those of its module.
pub(super) fn of(tree: &ModModule, marks: &[(Span, bool)]) -> Option<TemplatePlan> {
    let mut body = None;
    for stmt in &tree.body {
        match stmt {
            Stmt::FunctionDef(function) if body.is_none() => body = Some(function),
            Stmt::Assign(assign) if matches!(target(assign)?, "_exports" | "_mk_arguments") => {}
            stmt if is_frame(stmt) => {}
            _ => return None,
        }
    }
    let function = body.filter(|function| is_plain_body(function))?;
    let mut planner = Planner {
        names: Vec::new(),
        given: 0,
        marks,
    };
    let mut steps = Vec::new();
    for stmt in &function.body {
        if let Stmt::Try(attempt) = stmt {
            steps = planner.frame(&attempt.body)?;
        } else if !is_frame(stmt) {
            return None;
        }
    }
    if planner.names.len() > MAX_PLAN_VARIABLES {
        return None;
    }
    Some(TemplatePlan {
        given: planner.names[..planner.given]
            .iter()
            .map(|name| Str::from(*name))
            .collect(),
        variables: planner.names.len(),
        steps,
    })
}

/// `def render_body(context, **pageargs):`, the template's own body, without declared arguments.
fn is_plain_body(function: &StmtFunctionDef) -> bool {
    let parameters = &function.parameters;
    let is = |name: &str, other: &str| name == other;
    is(function.name.as_str(), "render_body")
        && parameters.len() == 2
        && parameters.args.len() == 1
        && parameters
            .kwarg
            .as_ref()
            .is_some_and(|rest| is(rest.name.as_str(), "pageargs"))
}

/// True if a statement is of the frame around a template's own, and neither prints nor binds anything.
fn is_frame(stmt: &Stmt) -> bool {
    match stmt {
        Stmt::Pass(_) => true,
        Stmt::Expr(stmt) => matches!(
            called(&stmt.value),
            Some((name, _)) if matches!(name, instrument::TICK | instrument::NOTE)
        ),
        Stmt::Assign(assign) => {
            matches!(
                target(assign),
                Some("_mk_caller" | "_mk_locals" | "__M_writer")
            )
        }
        // A branch without effect, which only keeps the compiler quick.
        Stmt::If(branch) => matches!(
            &*branch.test,
            Expr::Name(name) if name.id.as_str() == "__M_writer"
        ),
        _ => false,
    }
}

/// The one name that is assigned to.
fn target(assign: &StmtAssign) -> Option<&str> {
    match &assign.targets[..] {
        [Expr::Name(name)] => Some(name.id.as_str()),
        _ => None,
    }
}

/// A call of a function by its name, without keywords.
fn called(expr: &Expr) -> Option<(&str, &[Expr])> {
    match expr {
        Expr::Call(call) if call.arguments.keywords.is_empty() => match &*call.func {
            Expr::Name(name) => Some((name.id.as_str(), &call.arguments.args)),
            _ => None,
        },
        _ => None,
    }
}

/// A call of a method, or a function of a module, without keywords.
fn called_of(call: &ExprCall) -> Option<(&Expr, &str, &[Expr])> {
    match &*call.func {
        Expr::Attribute(function) if call.arguments.keywords.is_empty() => Some((
            &function.value,
            function.attr.as_str(),
            &call.arguments.args,
        )),
        _ => None,
    }
}

/// A function of Mako's runtime.
fn called_of_frame<'t>(expr: &'t Expr, function: &str) -> Option<&'t [Expr]> {
    let Expr::Call(call) = expr else { return None };
    match called_of(call)? {
        (Expr::Name(name), attr, arguments) if name.id.as_str() == "_mk" && attr == function => {
            Some(arguments)
        }
        _ => None,
    }
}

struct Planner<'t> {
    /// The names of variables. Those that are given come first.
    names: Vec<&'t str>,
    given: usize,
    marks: &'t [(Span, bool)],
}

impl<'t> Planner<'t> {
    /// The body of the template: first it binds names, then it prints.
    fn frame(&mut self, body: &'t [Stmt]) -> Option<Vec<PlanStep>> {
        // The frame returns at the end; what returns elsewhere is the template's own.
        let Some((Stmt::Return(_), body)) = body.split_last() else {
            return None;
        };
        let binds = |stmt: &&Stmt| match stmt {
            Stmt::Assign(assign) if called_of_frame(&assign.value, "look_up").is_some() => true,
            stmt => is_frame(stmt),
        };
        let bound = body.iter().take_while(binds).count();
        let (binding, printing) = body.split_at(bound);
        for stmt in binding {
            if let Stmt::Assign(assign) = stmt
                && let Some(arguments) = called_of_frame(&assign.value, "look_up")
            {
                let (name, [_, Expr::StringLiteral(known), Expr::NoneLiteral(_), _]) =
                    (target(assign)?, arguments)
                else {
                    return None;
                };
                if known.value.to_str() != name {
                    return None;
                }
                self.names.push(name);
            }
        }
        self.given = self.names.len();
        self.steps(printing, MAX_PLAN_DEPTH)
    }

    fn steps(&mut self, stmts: &'t [Stmt], depth: usize) -> Option<Vec<PlanStep>> {
        let depth = depth.checked_sub(1)?;
        let mut steps = Vec::new();
        for stmt in stmts.iter().filter(|stmt| !is_frame(stmt)) {
            steps.push(match stmt {
                Stmt::Expr(stmt) => self.print(&stmt.value, depth)?,
                Stmt::If(branch) => self.branch(branch, depth)?,
                Stmt::For(each) if each.orelse.is_empty() && !each.is_async => {
                    let Expr::Name(item) = &*each.target else {
                        return None;
                    };
                    let items = self.look(&each.iter, depth)?;
                    PlanStep::For {
                        variable: self.bind(item.id.as_str()),
                        items,
                        body: self.steps(&each.body, depth)?,
                    }
                }
                _ => return None,
            });
        }
        Some(steps)
    }

    fn bind(&mut self, name: &'t str) -> usize {
        self.variable(name).unwrap_or_else(|| {
            self.names.push(name);
            self.names.len() - 1
        })
    }

    fn variable(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|known| *known == name)
    }

    /// `__M_writer('text', _mk_at+1)`, or `__M_writer(_mk.text(value), _mk_at+1)`.
    fn print(&self, expr: &Expr, depth: usize) -> Option<PlanStep> {
        let ("__M_writer", [what, Expr::BinOp(mark)]) = called(expr)? else {
            return None;
        };
        let Expr::NumberLiteral(number) = &*mark.right else {
            return None;
        };
        let number = usize::try_from(int(&number.value)?).ok()?;
        let &(span, exact) = self.marks.get(number)?;
        let what = match called_of_frame(what, "text") {
            Some([value]) => self.look(value, depth)?,
            // Without this filter Mako prints no other values than text.
            _ if what.is_string_literal_expr() => self.look(what, depth)?,
            _ => return None,
        };
        Some(PlanStep::Print { what, span, exact })
    }

    fn branch(&mut self, branch: &'t StmtIf, depth: usize) -> Option<PlanStep> {
        Some(PlanStep::If {
            test: self.look(&branch.test, depth)?,
            then: self.steps(&branch.body, depth)?,
            otherwise: self.otherwise(&branch.elif_else_clauses, depth)?,
        })
    }

    /// The steps if the condition before is not true. Each `elif` is a level further down.
    fn otherwise(&mut self, clauses: &'t [ElifElseClause], depth: usize) -> Option<Vec<PlanStep>> {
        let Some((clause, rest)) = clauses.split_first() else {
            return Some(Vec::new());
        };
        let Some(test) = &clause.test else {
            return self.steps(&clause.body, depth);
        };
        let depth = depth.checked_sub(1)?;
        Some(vec![PlanStep::If {
            test: self.look(test, depth)?,
            then: self.steps(&clause.body, depth)?,
            otherwise: self.otherwise(rest, depth)?,
        }])
    }

    fn look(&self, expr: &Expr, depth: usize) -> Option<LookupExpr> {
        let depth = depth.checked_sub(1)?;
        let look = |expr: &Expr| self.look(expr, depth);
        let all = |exprs: &[Expr]| exprs.iter().map(look).collect::<Option<Vec<_>>>();
        Some(match expr {
            Expr::NoneLiteral(_) => LookupExpr::Value(Value::None),
            Expr::BooleanLiteral(literal) => LookupExpr::Value(literal.value.into()),
            Expr::NumberLiteral(literal) => LookupExpr::Value(int(&literal.value)?.into()),
            Expr::StringLiteral(literal) => LookupExpr::Value(text(literal.value.to_str())?),
            Expr::Name(name) => LookupExpr::Variable(self.variable(name.id.as_str())?),
            Expr::Subscript(item) => match &*item.slice {
                Expr::Slice(slice) if slice.step.is_none() => {
                    let end = |end: &Option<Box<Expr>>| match end {
                        Some(end) => look(end),
                        None => Some(LookupExpr::Value(Value::None)),
                    };
                    let (start, stop) = (end(&slice.lower)?, end(&slice.upper)?);
                    LookupExpr::Slice(Box::new([look(&item.value)?, start, stop]))
                }
                Expr::Slice(_) => return None,
                key => LookupExpr::Item(Box::new([look(&item.value)?, look(key)?])),
            },
            Expr::Call(call) => {
                let (of, method, arguments) = called_of(call)?;
                LookupExpr::Call {
                    of: Box::new(look(of)?),
                    method: METHODS.iter().position(|known| *known == method)?,
                    arguments: all(arguments)?,
                }
            }
            Expr::Compare(compare) => self.compare(compare, depth)?,
            Expr::UnaryOp(unary) => match (unary.op, &*unary.operand) {
                (UnaryOp::Not, operand) => LookupExpr::Not(Box::new(look(operand)?)),
                (UnaryOp::USub, Expr::NumberLiteral(literal)) => {
                    LookupExpr::Value(int(&literal.value)?.checked_neg()?.into())
                }
                _ => return None,
            },
            Expr::BoolOp(all_or_any) => match all_or_any.op {
                BoolOp::And => LookupExpr::And(all(&all_or_any.values)?),
                BoolOp::Or => LookupExpr::Or(all(&all_or_any.values)?),
            },
            Expr::If(choice) => LookupExpr::Choice(Box::new([
                look(&choice.test)?,
                look(&choice.body)?,
                look(&choice.orelse)?,
            ])),
            Expr::BinOp(sum) if sum.op == Operator::Add => {
                LookupExpr::Sum(Box::new([look(&sum.left)?, look(&sum.right)?]))
            }
            _ => return None,
        })
    }

    fn compare(&self, compare: &ExprCompare, depth: usize) -> Option<LookupExpr> {
        let ([op], [right]) = (&compare.ops[..], &compare.comparators[..]) else {
            return None;
        };
        let left = self.look(&compare.left, depth)?;
        let comparison = match op {
            CmpOp::Eq => Comparison::Equal,
            CmpOp::NotEq => Comparison::NotEqual,
            CmpOp::Lt => Comparison::Less,
            CmpOp::LtE => Comparison::LessOrEqual,
            CmpOp::Gt => Comparison::Greater,
            CmpOp::GtE => Comparison::GreaterOrEqual,
            CmpOp::In => Comparison::In,
            CmpOp::NotIn => Comparison::NotIn,
            CmpOp::Is | CmpOp::IsNot if right.is_none_literal_expr() => {
                let is_none = LookupExpr::IsNone(Box::new(left));
                return Some(match op {
                    CmpOp::Is => is_none,
                    _ => LookupExpr::Not(Box::new(is_none)),
                });
            }
            CmpOp::Is | CmpOp::IsNot => return None,
        };
        Some(LookupExpr::Compare(
            comparison,
            Box::new([left, self.look(right, depth)?]),
        ))
    }
}

fn int(number: &Number) -> Option<i64> {
    match number {
        Number::Int(int) => int.as_i64(),
        Number::Float(_) | Number::Complex { .. } => None,
    }
}

/// A literal text. The tree has this character for each that is not Unicode, too.
fn text(literal: &str) -> Option<Value> {
    (!literal.contains('\u{fffd}')).then(|| Value::from(literal))
}
