//! Expressions.

use std::sync::Arc;

use crate::syntax::ast::{CompareOp, Expr, ExprKind};
use mapstack_pyobject::{
    DictRef, Entries, Obj, Result, TemplatePlace, Undefined, binary, compare, hash_key, methods,
    negate, positive, slice, spend, text_of,
};
use mapstack_value::{Str, Value};

use super::{LEVELS, place, position, with_stack};
use crate::blocks::SelfObject;
use crate::loops::measure;
use crate::scope::{Frame, Local};
use crate::taint::Taint;
use crate::tracer::Evaluated;
use crate::vm::Vm;

/// A literal with more entries than this is made entry by entry.
const SHORT_DICT: usize = 15;

fn put(dict: &mut Entries, entries: &mut Vec<(Obj, Obj)>) -> Result<()> {
    for (key, value) in entries.drain(..) {
        dict.insert(hash_key(&key)?, value);
    }
    Ok(())
}

impl Vm<'_> {
    /// Evaluate an expression.
    pub(crate) fn eval(&self, expr: &Expr, frame: &Frame) -> Result<Obj> {
        self.burn(1)?;
        if self.is_observed() {
            return self.eval_observed(expr, frame);
        }
        match &expr.kind {
            ExprKind::Const(value) => return Ok(constant(value)),
            ExprKind::Name(name) => return Ok(self.lookup(name, frame)),
            _ => {}
        }
        match self.eval_deeper(expr, frame) {
            Ok(value) => {
                if self.missed.borrow().is_some() {
                    self.report_missed(|| place(frame, expr.span));
                }
                Ok(value)
            }
            Err(e) => Err(self.located(e, frame, expr)),
        }
    }

    /// Evaluate the operands of an expression and the expression, with enough stack for them.
    fn eval_deeper(&self, expr: &Expr, frame: &Frame) -> Result<Obj> {
        let levels = self.levels.get();
        self.levels.set(levels.wrapping_add(1));
        let value = if levels.is_multiple_of(LEVELS) {
            with_stack(|| self.eval_kind(expr, frame))
        } else {
            self.eval_kind(expr, frame)
        };
        self.levels.set(levels);
        value
    }

    /// Evaluate an expression whose operands and result are followed.
    fn eval_observed(&self, expr: &Expr, frame: &Frame) -> Result<Obj> {
        let read = self.taint.map(Taint::begin);
        let traced = self.tracer.map(crate::tracer::Tracer::begin);
        let value =
            with_stack(|| self.eval_kind(expr, frame)).map_err(|e| self.located(e, frame, expr))?;
        if self.missed.borrow().is_some() {
            self.report_missed(|| place(frame, expr.span));
        }
        if let (Some(taint), Some(read)) = (self.taint, read) {
            let converts = |filter: &str| self.dialect().converts(filter);
            taint.end(read, expr, &converts, &value);
        }
        self.trace(traced, expr, frame, &value);
        Ok(value)
    }

    /// Report the missing function that an expression asked for.
    #[cold]
    fn report_missed(&self, place: impl FnOnce() -> TemplatePlace) {
        if let Some(function) = self.missed.take() {
            self.host().note_missing_function(&function, Some(place()));
        }
    }

    /// Report the value of an expression to the tracer, if there is one.
    pub(super) fn trace(&self, from: Option<usize>, expr: &Expr, frame: &Frame, value: &Obj) {
        if let (Some(tracer), Some(from)) = (self.tracer, from) {
            let table = match &expr.kind {
                ExprKind::Name(name) => frame.table_of(name),
                _ => None,
            };
            let place = place(frame, expr.span);
            tracer.computed(from, &Evaluated { expr, place, table }, value);
        }
    }

    #[expect(clippy::too_many_lines, reason = "one arm for each kind of expression")]
    fn eval_kind(&self, expr: &Expr, frame: &Frame) -> Result<Obj> {
        match &expr.kind {
            ExprKind::Const(value) => Ok(constant(value)),
            ExprKind::Name(name) => Ok(self.lookup(name, frame)),
            ExprKind::Tuple(items) => self.eval_items(items, frame).map(Obj::tuple),
            ExprKind::List(items) => match self.constant_at(expr, frame)? {
                Some(list) => Ok(list),
                None => self.eval_items(items, frame).map(Obj::list),
            },
            ExprKind::Dict(entries) => match self.constant_at(expr, frame)? {
                Some(dict) => Ok(dict),
                None => self.eval_dict(entries, frame),
            },
            ExprKind::Attr(object, name) => self.eval_attr(object, name, frame),
            ExprKind::Item(object, key) => self.eval_item(object, key, frame),
            ExprKind::Slice {
                object,
                start,
                stop,
                step,
            } => self.eval_slice(object, [start, stop, step], frame),
            ExprKind::Call { .. } => self.eval_call(expr, frame, None),
            ExprKind::Filter { input, .. } => {
                let input = self.eval_given(input, frame)?;
                self.eval_filter(expr, input, frame)
            }
            ExprKind::Test { .. } => self.eval_test(expr, frame).map(Obj::Bool),
            ExprKind::Binary(op, a, b) => {
                let (x, y) = (self.eval(a, frame)?, self.eval(b, frame)?);
                binary(self, *op, &x, &y).map_err(|e| self.blame(e, frame, &[(&x, a), (&y, b)]))
            }
            ExprKind::Neg(x) => negate(&self.eval(x, frame)?),
            ExprKind::Pos(x) => positive(&self.eval(x, frame)?),
            ExprKind::Not(x) => Ok(Obj::Bool(!self.eval(x, frame)?.truthy()?)),
            ExprKind::And(a, b) => {
                let a = self.eval(a, frame)?;
                if a.truthy()? {
                    self.eval(b, frame)
                } else {
                    Ok(a)
                }
            }
            ExprKind::Or(a, b) => {
                let a = self.eval(a, frame)?;
                if a.truthy()? {
                    Ok(a)
                } else {
                    self.eval(b, frame)
                }
            }
            ExprKind::Compare(first, rest) => self.eval_comparison(first, rest, frame),
            ExprKind::Concat(parts) => self.eval_concat(parts, frame),
            ExprKind::Cond {
                test,
                then,
                otherwise,
            } => {
                if self.test(test, frame)? {
                    return self.eval(then, frame);
                }
                match otherwise {
                    Some(otherwise) => self.eval(otherwise, frame),
                    None => Ok(self.no_else(expr, frame)),
                }
            }
        }
    }

    fn eval_attr(&self, object: &Expr, name: &Str, frame: &Frame) -> Result<Obj> {
        let value = self.eval(object, frame)?;
        self.get_attr(&value, name)
            .map_err(|e| self.blame(e, frame, &[(&value, object)]))
    }

    fn eval_item(&self, object: &Expr, key: &Expr, frame: &Frame) -> Result<Obj> {
        let value = self.eval(object, frame)?;
        let index = self.eval(key, frame)?;
        self.get_key(&value, &index)
            .map_err(|e| self.blame(e, frame, &[(&value, object), (&index, key)]))
    }

    #[inline(never)]
    fn eval_slice(
        &self,
        object: &Expr,
        [start, stop, step]: [&Option<Box<Expr>>; 3],
        frame: &Frame,
    ) -> Result<Obj> {
        let object = self.eval(object, frame)?;
        let start = self.eval_given(start, frame)?;
        let stop = self.eval_given(stop, frame)?;
        let step = self.eval_given(step, frame)?;
        slice(self, &object, &start, &stop, &step)
    }

    /// An optional expression; `None` if it is left out.
    fn eval_given(&self, expr: &Option<Box<Expr>>, frame: &Frame) -> Result<Obj> {
        match expr {
            Some(expr) => self.eval(expr, frame),
            None => Ok(Obj::None),
        }
    }

    #[inline(never)]
    fn eval_dict(&self, entries: &[(Expr, Expr)], frame: &Frame) -> Result<Obj> {
        self.pay(2 + entries.len(), 0)?;
        let mut dict = Entries::default();
        let mut waiting = Vec::new();
        for (key, value) in entries {
            waiting.push((self.eval(key, frame)?, self.eval(value, frame)?));
            // Python puts entries into a short dict when it has computed all of them.
            if entries.len() > SHORT_DICT {
                put(&mut dict, &mut waiting)?;
            }
        }
        put(&mut dict, &mut waiting)?;
        Ok(Obj::Dict(DictRef::new(dict)))
    }

    #[inline(never)]
    fn eval_comparison(
        &self,
        first: &Expr,
        rest: &[(CompareOp, Expr)],
        frame: &Frame,
    ) -> Result<Obj> {
        let (mut left, mut before) = (self.eval(first, frame)?, first);
        for (op, operand) in rest {
            let right = self.eval(operand, frame)?;
            let verdict = compare(self, *op, &left, &right)
                .map_err(|e| self.blame(e, frame, &[(&left, before), (&right, operand)]))?;
            if !verdict {
                return Ok(Obj::Bool(false));
            }
            (left, before) = (right, operand);
        }
        Ok(Obj::Bool(true))
    }

    /// Every operand is computed before the first is printed, which decides which of two errors is met.
    #[inline(never)]
    fn eval_concat(&self, parts: &[Expr], frame: &Frame) -> Result<Obj> {
        let values = self.eval_all(parts, frame)?;
        let mut text = String::with_capacity(16 * parts.len());
        for (part, value) in parts.iter().zip(&values) {
            self.read_all(&[value])?;
            match value {
                Obj::Str(part) => {
                    spend(part.len() / 16)?;
                    text.push_str(part);
                }
                value => {
                    measure(self, value)?;
                    let printed = text_of(value);
                    text.push_str(&printed.map_err(|e| self.blame(e, frame, &[(value, part)]))?);
                }
            }
            methods::limit::size(self, text.len())?;
        }
        self.made(Obj::from(text))
    }

    pub(super) fn eval_all(&self, items: &[Expr], frame: &Frame) -> Result<Vec<Obj>> {
        let mut objects = Vec::with_capacity(items.len());
        for item in items {
            objects.push(self.eval(item, frame)?);
        }
        Ok(objects)
    }

    /// The items of a new container.
    fn eval_items(&self, items: &[Expr], frame: &Frame) -> Result<Vec<Obj>> {
        self.pay(1 + items.len(), 0)?;
        let items = self.eval_all(items, frame)?;
        items.iter().try_for_each(|item| measure(self, item))?;
        Ok(items)
    }

    pub(super) fn lookup(&self, name: &Str, frame: &Frame) -> Obj {
        match frame.local(name) {
            Local::Bound(found) => return found,
            Local::Unset => return Undefined::name(name, self.strict()).into(),
            Local::Elsewhere => {}
        }
        if let Some(found) = frame.in_context(name) {
            return found;
        }
        // If a template sets it, it is a variable like others.
        match &**name == "self" && !frame.template.sets_self {
            true => Obj::native(SelfObject(frame.plain_block())),
            false => Undefined::name(name, self.strict()).into(),
        }
    }

    /// A list or dict that is made of literals alone, as a new object over the same data.
    ///
    /// Nothing of it is followed, so not where something follows how values move. It costs what evaluating it costs;
    /// when that is more than what is left, it is evaluated, and the error has the place where the steps end.
    fn constant_at(&self, expr: &Expr, frame: &Frame) -> Result<Option<Obj>> {
        let known = frame.template.constants.get(&expr.span.start);
        let Some(constant) = known.filter(|_| !self.is_observed()) else {
            return Ok(None);
        };
        if !self.affords(constant.objects, constant.steps) {
            return Ok(None);
        }
        self.pay(constant.objects, 0)?;
        self.burn(constant.steps)?;
        Ok(Some(Obj::from(constant.value.clone())))
    }

    /// The result of an inline `if` without `else`: in Jinja2 a lenient undefined even in strict environments. Such
    /// expressions are often in loops, so it is made once.
    #[inline(never)]
    fn no_else(&self, expr: &Expr, frame: &Frame) -> Obj {
        let key = (Arc::as_ptr(&frame.template), expr.span.start, expr.span.end);
        let mut made = self.no_else.borrow_mut();
        let (_, undefined) = made.entry(key).or_insert_with(|| {
            let at = position(frame, expr.span);
            let message = format!(
                "the inline if-expression on {at} evaluated to false and no else section was defined."
            );
            (frame.template.clone(), Undefined::hint(message, false).into())
        });
        undefined.clone()
    }
}

/// A literal as an object.
fn constant(value: &Value) -> Obj {
    match value {
        Value::Str(text) => Obj::Str(text.clone()),
        Value::Int(int) => Obj::Int(int.clone()),
        other => Obj::from(other.clone()),
    }
}
