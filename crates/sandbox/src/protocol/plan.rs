//! Templates that only look at what they are given: what they print, for the command to print itself.

use mapstack_value::{Str, Value};

use crate::protocol::codec::{DecodeError, Message, Reader, Writer};
use crate::protocol::outcome::Span;

/// The output of a template that does nothing but look up and compare what it is given.
///
/// It has no calls but those of [`METHODS`], and changes nothing. Where evaluating it fails in any way, the template
/// itself has to be rendered: only Python reports how Python fails.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TemplatePlan {
    /// The names that have to be given; they are the first variables.
    pub given: Vec<Str>,
    /// The number of variables. Those that are not given get their values from [`PlanStep::For`].
    pub variables: usize,
    /// The steps, in order.
    pub steps: Vec<PlanStep>,
}

/// A step of a [`TemplatePlan`].
#[derive(Debug, Clone, PartialEq)]
pub enum PlanStep {
    /// Print a value as `str()` has it.
    Print {
        /// The value to print.
        what: LookupExpr,
        /// The part of the template that prints it.
        span: Span,
        /// True if the text is literally in the template.
        exact: bool,
    },
    /// Do the one or the other.
    If {
        /// The condition.
        test: LookupExpr,
        /// The steps if it is true.
        then: Vec<PlanStep>,
        /// The steps if it is not.
        otherwise: Vec<PlanStep>,
    },
    /// Do something for each item.
    For {
        /// The number of the variable that is the item.
        variable: usize,
        /// The value with the items.
        items: LookupExpr,
        /// The steps for each.
        body: Vec<PlanStep>,
    },
}

/// An expression that looks at what is given.
#[derive(Debug, Clone, PartialEq)]
pub enum LookupExpr {
    /// A literal.
    Value(Value),
    /// The number of a variable.
    Variable(usize),
    /// `of[key]`.
    Item(Box<[LookupExpr; 2]>),
    /// `of[start:stop]`, with `None` for an end that is left out.
    Slice(Box<[LookupExpr; 3]>),
    /// `of.method(…)`: one of [`METHODS`].
    Call {
        /// The value with the method.
        of: Box<LookupExpr>,
        /// The number of the method in [`METHODS`].
        method: usize,
        /// The arguments.
        arguments: Vec<LookupExpr>,
    },
    /// `a == b` and its kin.
    Compare(Comparison, Box<[LookupExpr; 2]>),
    /// `a is None`.
    IsNone(Box<LookupExpr>),
    /// `not a`.
    Not(Box<LookupExpr>),
    /// `a and b and …`.
    And(Vec<LookupExpr>),
    /// `a or b or …`.
    Or(Vec<LookupExpr>),
    /// `a if test else b`: test, a, b.
    Choice(Box<[LookupExpr; 3]>),
    /// `a + b`.
    Sum(Box<[LookupExpr; 2]>),
}

/// An operator that compares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
    /// `in`
    In,
    /// `not in`
    NotIn,
}

const COMPARISONS: [Comparison; 8] = [
    Comparison::Equal,
    Comparison::NotEqual,
    Comparison::Less,
    Comparison::LessOrEqual,
    Comparison::Greater,
    Comparison::GreaterOrEqual,
    Comparison::In,
    Comparison::NotIn,
];

/// The methods of data that a plan can call. None changes anything, or makes much of little.
pub const METHODS: [&str; 16] = [
    "capitalize",
    "endswith",
    "get",
    "join",
    "lower",
    "lstrip",
    "partition",
    "replace",
    "rpartition",
    "rsplit",
    "rstrip",
    "split",
    "startswith",
    "strip",
    "title",
    "upper",
];

/// The deepest nesting of steps and expressions.
pub const MAX_PLAN_DEPTH: usize = 64;
/// The most variables.
pub const MAX_PLAN_VARIABLES: usize = 1000;

impl Message for TemplatePlan {
    fn write(&self, out: &mut Writer) {
        crate::protocol::job::write_texts(&self.given, out);
        out.uint(self.variables as u64);
        write_steps(&self.steps, out);
    }

    fn read(input: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let given = input.list(Reader::shared)?;
        let variables: usize = input.uint()?;
        if variables < given.len() || variables > MAX_PLAN_VARIABLES {
            return Err(input.error("a plan cannot have so many variables"));
        }
        Ok(TemplatePlan {
            given,
            variables,
            steps: read_steps(input, variables, MAX_PLAN_DEPTH)?,
        })
    }
}

/// The byte before each kind of step and expression.
mod tag {
    pub(super) const PRINT: u64 = 0;
    pub(super) const IF: u64 = 1;
    pub(super) const FOR: u64 = 2;

    pub(super) const VALUE: u64 = 0;
    pub(super) const VARIABLE: u64 = 1;
    pub(super) const ITEM: u64 = 2;
    pub(super) const SLICE: u64 = 3;
    pub(super) const CALL: u64 = 4;
    pub(super) const COMPARE: u64 = 5;
    pub(super) const IS_NONE: u64 = 6;
    pub(super) const NOT: u64 = 7;
    pub(super) const AND: u64 = 8;
    pub(super) const OR: u64 = 9;
    pub(super) const CHOICE: u64 = 10;
    pub(super) const SUM: u64 = 11;
}

fn write_steps(steps: &[PlanStep], out: &mut Writer) {
    out.count(steps.len());
    for step in steps {
        match step {
            PlanStep::Print { what, span, exact } => {
                out.uint(tag::PRINT);
                write_look(what, out);
                span.write(out);
                out.flag(*exact);
            }
            PlanStep::If {
                test,
                then,
                otherwise,
            } => {
                out.uint(tag::IF);
                write_look(test, out);
                write_steps(then, out);
                write_steps(otherwise, out);
            }
            PlanStep::For {
                variable,
                items,
                body,
            } => {
                out.uint(tag::FOR);
                out.uint(*variable as u64);
                write_look(items, out);
                write_steps(body, out);
            }
        }
    }
}

fn read_steps(
    input: &mut Reader<'_>,
    variables: usize,
    depth: usize,
) -> Result<Vec<PlanStep>, DecodeError> {
    let depth = deeper(input, depth)?;
    input.list(|input| match input.uint()? {
        tag::PRINT => Ok(PlanStep::Print {
            what: read_look(input, variables, depth)?,
            span: Span::read(input)?,
            exact: input.flag()?,
        }),
        tag::IF => Ok(PlanStep::If {
            test: read_look(input, variables, depth)?,
            then: read_steps(input, variables, depth)?,
            otherwise: read_steps(input, variables, depth)?,
        }),
        tag::FOR => Ok(PlanStep::For {
            variable: below(input, variables)?,
            items: read_look(input, variables, depth)?,
            body: read_steps(input, variables, depth)?,
        }),
        _ => Err(input.error("this is not a step")),
    })
}

fn write_look(look: &LookupExpr, out: &mut Writer) {
    match look {
        LookupExpr::Value(value) => {
            out.uint(tag::VALUE);
            value.write(out);
        }
        LookupExpr::Variable(number) => {
            out.uint(tag::VARIABLE);
            out.uint(*number as u64);
        }
        LookupExpr::Item(parts) => write_looks(tag::ITEM, &parts[..], out),
        LookupExpr::Slice(parts) => write_looks(tag::SLICE, &parts[..], out),
        LookupExpr::Call {
            of,
            method,
            arguments,
        } => {
            out.uint(tag::CALL);
            write_look(of, out);
            out.uint(*method as u64);
            out.count(arguments.len());
            arguments.iter().for_each(|look| write_look(look, out));
        }
        LookupExpr::Compare(comparison, parts) => {
            out.uint(tag::COMPARE);
            out.uint(*comparison as u64);
            parts.iter().for_each(|look| write_look(look, out));
        }
        LookupExpr::IsNone(of) => write_looks(tag::IS_NONE, std::slice::from_ref(&**of), out),
        LookupExpr::Not(of) => write_looks(tag::NOT, std::slice::from_ref(&**of), out),
        LookupExpr::And(parts) => {
            out.uint(tag::AND);
            out.count(parts.len());
            parts.iter().for_each(|look| write_look(look, out));
        }
        LookupExpr::Or(parts) => {
            out.uint(tag::OR);
            out.count(parts.len());
            parts.iter().for_each(|look| write_look(look, out));
        }
        LookupExpr::Choice(parts) => write_looks(tag::CHOICE, &parts[..], out),
        LookupExpr::Sum(parts) => write_looks(tag::SUM, &parts[..], out),
    }
}

fn write_looks(tag: u64, looks: &[LookupExpr], out: &mut Writer) {
    out.uint(tag);
    looks.iter().for_each(|look| write_look(look, out));
}

fn read_look(
    input: &mut Reader<'_>,
    variables: usize,
    depth: usize,
) -> Result<LookupExpr, DecodeError> {
    let depth = deeper(input, depth)?;
    let one = |input: &mut Reader<'_>| read_look(input, variables, depth);
    let two = |input: &mut Reader<'_>| Ok(Box::new([one(input)?, one(input)?]));
    let three = |input: &mut Reader<'_>| Ok(Box::new([one(input)?, one(input)?, one(input)?]));
    Ok(match input.uint()? {
        tag::VALUE => LookupExpr::Value(Value::read(input)?),
        tag::VARIABLE => LookupExpr::Variable(below(input, variables)?),
        tag::ITEM => LookupExpr::Item(two(input)?),
        tag::SLICE => LookupExpr::Slice(three(input)?),
        tag::CALL => LookupExpr::Call {
            of: Box::new(one(input)?),
            method: below(input, METHODS.len())?,
            arguments: input.list(one)?,
        },
        tag::COMPARE => {
            let comparison = COMPARISONS[below(input, COMPARISONS.len())?];
            LookupExpr::Compare(comparison, two(input)?)
        }
        tag::IS_NONE => LookupExpr::IsNone(Box::new(one(input)?)),
        tag::NOT => LookupExpr::Not(Box::new(one(input)?)),
        tag::AND => LookupExpr::And(input.list(one)?),
        tag::OR => LookupExpr::Or(input.list(one)?),
        tag::CHOICE => LookupExpr::Choice(three(input)?),
        tag::SUM => LookupExpr::Sum(two(input)?),
        _ => return Err(input.error("this is not an expression")),
    })
}

/// A level further down, of which there are only so many.
fn deeper(input: &Reader<'_>, depth: usize) -> Result<usize, DecodeError> {
    depth
        .checked_sub(1)
        .ok_or_else(|| input.error("the plan is nested too deeply"))
}

/// A number below a limit.
fn below(input: &mut Reader<'_>, limit: usize) -> Result<usize, DecodeError> {
    let number: usize = input.uint()?;
    match number < limit {
        true => Ok(number),
        false => Err(input.error("the number is too large")),
    }
}
