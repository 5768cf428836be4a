//! Makes the printing of data spend steps for what the text repeats.
//!
//! A list that holds a list twice, which holds a list twice, and so on, is small and prints as a text that doubles
//! with each level. The printing itself is native code and spends nothing. So where code turns a value into text, a
//! call of [`UNFOLD`] goes around the value. It spends a step for each part that the text repeats: nothing at all
//! for data that shares nothing.

use std::collections::HashMap;

use ruff_text_size::Ranged;
use rustpython_vm::builtins::{PyDict, PyFrozenSet, PyList, PySet, PyTuple};
use rustpython_vm::compiler::ast::visitor::transformer::{self, Transformer};
use rustpython_vm::compiler::ast::{Expr, InterpolatedStringElement, ModModule, Operator};
use rustpython_vm::{AsObject, PyObject, PyObjectRef};

use super::instrument;

/// The function that spends the steps and returns its argument: a name that no source can spell by chance.
pub(crate) const UNFOLD: &str = "<unfold>";

/// Functions that print their arguments.
const PRINTING_FUNCTIONS: [&str; 4] = ["str", "repr", "ascii", "format"];
/// Methods, and functions of modules, that print their arguments.
const PRINTING_METHODS: [&str; 5] = ["format", "dumps", "pformat", "repr", "str"];

/// Deeper data ends in a `RecursionError` before much is printed.
const MAX_DEPTH: usize = 1000;

/// Put the calls into a module.
pub(crate) fn module(module: &mut ModModule) {
    for stmt in &mut module.body {
        Rewriter.visit_stmt(stmt);
    }
}

struct Rewriter;

impl Transformer for Rewriter {
    fn visit_expr(&self, expr: &mut Expr) {
        transformer::walk_expr(self, expr);
        match expr {
            Expr::Call(call) if prints(&call.func) => {
                call.arguments.args.iter_mut().for_each(wrap);
                let keywords = call.arguments.keywords.iter_mut();
                keywords.for_each(|keyword| wrap(&mut keyword.value));
            }
            // `'%s' % value`; a number there is only one more call.
            Expr::BinOp(operation) if operation.op == Operator::Mod => wrap(&mut operation.right),
            _ => {}
        }
    }

    fn visit_interpolated_string_element(&self, element: &mut InterpolatedStringElement) {
        transformer::walk_interpolated_string_element(self, element);
        if let InterpolatedStringElement::Interpolation(printed) = element {
            wrap(&mut printed.expression);
        }
    }
}

fn prints(function: &Expr) -> bool {
    match function {
        Expr::Name(name) => PRINTING_FUNCTIONS.contains(&name.id.as_str()),
        Expr::Attribute(attribute) => PRINTING_METHODS.contains(&attribute.attr.as_str()),
        _ => false,
    }
}

fn wrap(expr: &mut Expr) {
    let range = expr.range();
    match expr {
        // `*arguments` stays where it is; its value is a sequence of what is printed.
        Expr::Starred(starred) => wrap(&mut starred.value),
        _ if expr.is_literal_expr() || expr.is_f_string_expr() => {}
        _ => {
            let value = std::mem::replace(expr, instrument::none(range));
            *expr = instrument::call(UNFOLD, range, vec![value]);
        }
    }
}

/// The number of parts of a value that its text repeats: the unfolded ones, less those there are.
pub(crate) fn repeated(value: &PyObject) -> u64 {
    let mut counter = Counter::default();
    let unfolded = counter.count(value, 0);
    unfolded.saturating_sub(counter.distinct)
}

#[derive(Default)]
struct Counter {
    /// The unfolded size of each container, by its address; `None` while it is being counted.
    known: HashMap<usize, Option<u64>>,
    distinct: u64,
}

impl Counter {
    fn count(&mut self, value: &PyObject, depth: usize) -> u64 {
        let Some(parts) = parts(value) else {
            self.distinct = self.distinct.saturating_add(1);
            return 1;
        };
        let id = value.get_id();
        match self.known.get(&id) {
            Some(Some(count)) => return *count,
            // It holds itself, which is printed as three dots.
            Some(None) => return 1,
            None if depth > MAX_DEPTH => return 1,
            None => {}
        }
        self.known.insert(id, None);
        self.distinct = self.distinct.saturating_add(1);
        let count = parts.iter().fold(1_u64, |sum, part| {
            sum.saturating_add(self.count(part, depth + 1))
        });
        self.known.insert(id, Some(count));
        count
    }
}

/// The contents of a container; `None` for other values.
fn parts(value: &PyObject) -> Option<Vec<PyObjectRef>> {
    if let Some(list) = value.downcast_ref::<PyList>() {
        Some(list.borrow_vec().to_vec())
    } else if let Some(tuple) = value.downcast_ref::<PyTuple>() {
        Some(tuple.to_vec())
    } else if let Some(dict) = value.downcast_ref::<PyDict>() {
        Some(
            dict.into_iter()
                .flat_map(|(key, value)| [key, value])
                .collect(),
        )
    } else if let Some(set) = value.downcast_ref::<PySet>() {
        Some(set.elements())
    } else {
        value
            .downcast_ref::<PyFrozenSet>()
            .map(|set| set.elements())
    }
}
