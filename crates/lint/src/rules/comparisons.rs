//! Slips in the names of systems that templates compare a grain with, or look up by a grain.

use mapstack::Place;
use mapstack::value::Value;
use mapstack_salt_jinja::ast::{CompareOp, Expr, ExprKind, StmtKind, Target};

use super::spelling::{keys, literal_grain};
use crate::Rule;
use crate::finding::Finding;
use crate::names::{GrainNames, NameMistake};
use crate::subject::FormulaSubject;
use crate::templates::LocatedTemplate;

pub(crate) fn check(subject: &FormulaSubject<'_>) -> Vec<Finding> {
    let names = GrainNames::of(subject.runs.iter().map(|run| run.minion));
    let mut findings = Vec::new();
    for parsed in subject.templates.all() {
        for e in parsed.expressions() {
            match &e.kind {
                ExprKind::Compare(first, rest) => {
                    if let [(op, second)] = &**rest {
                        findings.extend(compared(parsed, &names, first, *op, second));
                    }
                }
                ExprKind::Item(table, key) => {
                    findings.extend(looked_up(subject, parsed, &names, table, key));
                }
                ExprKind::Call { callee, args } => {
                    if let (ExprKind::Attr(table, method), Some(key)) =
                        (&callee.kind, args.positional.first())
                        && **method == *"get"
                    {
                        findings.extend(looked_up(subject, parsed, &names, table, key));
                    }
                }
                _ => {}
            }
        }
    }
    findings
}

/// A grain in an expression.
struct Grain {
    name: String,
    /// True if a filter or method changes the case of its value.
    is_folded: bool,
}

impl Grain {
    /// The mistake in a name that the grain never has.
    fn never(&self, names: &GrainNames, name: &str) -> Option<NameMistake> {
        let never = names.never(&self.name, name)?;
        let is_same = |near: &String| near.to_lowercase() == name.to_lowercase();
        let is_case = self.is_folded && never.near.as_ref().is_some_and(is_same);
        (!is_case).then_some(never)
    }

    fn finding(&self, place: Place, name: &str, never: &NameMistake) -> Option<Finding> {
        let message = format!("{} is never '{name}'", self.name);
        Some(Finding::new(Rule::MisspeltName, place, message).help(never.help()?))
    }
}

/// The largest number of variables between a grain and its comparison.
const VARIABLES: usize = 2;

/// The grain that an expression reads, through at most `variables` variables.
fn grain_of(parsed: &LocatedTemplate, e: &Expr, variables: usize) -> Option<Grain> {
    if let Some(name) = literal_grain(e) {
        return Some(Grain {
            name,
            is_folded: false,
        });
    }
    let changed = |input: &Expr, how: &str| {
        let is_case = CASES.contains(&how);
        let grain = grain_of(parsed, input, variables)?;
        (is_case || SAME.contains(&how)).then_some(Grain {
            is_folded: grain.is_folded || is_case,
            ..grain
        })
    };
    match &e.kind {
        ExprKind::Filter {
            input: Some(input),
            name,
            ..
        } => changed(input, name),
        ExprKind::Call { callee, .. } => match &callee.kind {
            ExprKind::Attr(object, method) => changed(object, method),
            _ => None,
        },
        ExprKind::Name(name) => grain_of(parsed, set_to(parsed, name)?, variables.checked_sub(1)?),
        _ => None,
    }
}

/// Filters and methods that change the case of a text.
const CASES: [&str; 4] = ["lower", "upper", "title", "capitalize"];

/// Filters that do not change a text.
const SAME: [&str; 3] = ["default", "d", "string"];

/// The value of a variable that a single `set` binds.
fn set_to<'p>(parsed: &'p LocatedTemplate, name: &str) -> Option<&'p Expr> {
    let mut sets = parsed
        .statements()
        .into_iter()
        .filter_map(|stmt| match &stmt.kind {
            StmtKind::Set {
                target: Target::Name(target),
                value,
            } if **target == *name => Some(value),
            _ => None,
        });
    sets.next().filter(|_| parsed.binds(name) == 1)
}

/// Findings for names in a comparison that the grain never has.
fn compared(
    parsed: &LocatedTemplate,
    names: &GrainNames,
    first: &Expr,
    op: CompareOp,
    second: &Expr,
) -> Vec<Finding> {
    let grain = |e: &Expr| grain_of(parsed, e, VARIABLES);
    let sides = match op {
        CompareOp::Eq | CompareOp::Ne => grain(first)
            .map(|grain| (grain, second))
            .or_else(|| grain(second).map(|grain| (grain, first))),
        CompareOp::In | CompareOp::NotIn => grain(first).map(|grain| (grain, second)),
        _ => None,
    };
    let Some((grain, other)) = sides else {
        return Vec::new();
    };
    let is_list = matches!(op, CompareOp::In | CompareOp::NotIn);
    let texts = match is_list {
        false => text(parsed, other).into_iter().collect(),
        true => listed(parsed, other),
    };
    let judged: Vec<_> = texts
        .into_iter()
        .map(|(name, place)| (grain.never(names, &name), name, place))
        .collect();
    // In a list, a value of another grain is harmless if the list also has a value of this grain.
    let has_right = is_list && judged.iter().any(|(never, ..)| never.is_none());
    let of_name = |(never, name, place): (Option<NameMistake>, String, Place)| {
        let never = never.filter(|never| never.other.is_none() || !has_right)?;
        grain.finding(place, &name, &never)
    };
    judged.into_iter().filter_map(of_name).collect()
}

fn text(parsed: &LocatedTemplate, e: &Expr) -> Option<(String, Place)> {
    match &e.kind {
        ExprKind::Const(Value::Str(text)) => Some((text.to_string(), parsed.place(e.span))),
        _ => None,
    }
}

/// The texts of a list, written in place or set as a variable.
fn listed(parsed: &LocatedTemplate, e: &Expr) -> Vec<(String, Place)> {
    let list = match &e.kind {
        ExprKind::Name(name) => set_to(parsed, name),
        _ => Some(e),
    };
    match list.map(|e| &e.kind) {
        Some(ExprKind::List(items) | ExprKind::Tuple(items)) => {
            items.iter().filter_map(|item| text(parsed, item)).collect()
        }
        _ => Vec::new(),
    }
}

/// The keys of a table that the grain it is looked up by never has.
fn looked_up(
    subject: &FormulaSubject<'_>,
    parsed: &LocatedTemplate,
    names: &GrainNames,
    table: &Expr,
    key: &Expr,
) -> Vec<Finding> {
    let Some(grain) = grain_of(parsed, key, VARIABLES) else {
        return Vec::new();
    };
    let of_key = |(name, place): (String, Place)| {
        let never = grain.never(names, &name).filter(|_| name != "default")?;
        grain.finding(place, &name, &never)
    };
    keys(subject, parsed, table)
        .into_iter()
        .filter_map(of_key)
        .collect()
}
