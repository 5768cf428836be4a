//! Calls of functions, macros, methods, filters and tests.

use crate::syntax::ast::{Args, Expr, ExprKind};
use mapstack_pyobject::{CallArgs, Error, ErrorKind, Obj, Object, Result, Undefined, methods};
use mapstack_value::{Str, quote_str};

use super::{name_span, own, place, through};
use crate::dialect::{Filter, Test};
use crate::globals;
use crate::host_function::HostFunction;
use crate::loops::measure;
use crate::macros::MacroObject;
use crate::named::NamedFunction;
use crate::scope::Frame;
use crate::suggest;
use crate::taint::Taint;
use crate::vm::Vm;

impl Vm<'_> {
    #[inline]
    pub(super) fn eval_args(&self, args: &Args, frame: &Frame) -> Result<CallArgs> {
        if args.are_none() {
            return Ok(CallArgs::default());
        }
        self.eval_given_args(args, frame)
    }

    fn eval_given_args(&self, args: &Args, frame: &Frame) -> Result<CallArgs> {
        let mut positional = self.eval_all(&args.positional, frame)?;
        // As in Python, this comes before keywords, wherever it is written.
        if let Some(star) = &args.star {
            let more = self.eval(star, frame)?;
            let more = more.collect(self).map_err(|e| match &more {
                Obj::Int(_) | Obj::Float(_) | Obj::Bool(_) | Obj::None => {
                    let what = more.type_name();
                    let message = format!("Value after * must be an iterable, not {what}");
                    Error::type_error(message)
                }
                _ => e,
            })?;
            positional.extend(more);
        }
        let mut named = Vec::with_capacity(args.named.len());
        for (name, value) in &args.named {
            named.push((name.clone(), self.eval(value, frame)?));
        }
        if let Some(star_star) = &args.star_star {
            let Obj::Dict(dict) = self.eval(star_star, frame)? else {
                return Err(Error::type_error("argument after ** must be a mapping"));
            };
            for (key, value) in dict.entries() {
                let Some(name) = key.as_str() else {
                    return Err(Error::type_error("keywords must be strings"));
                };
                if named.iter().any(|(n, _)| **n == *name) {
                    return Err(Error::type_error(format!(
                        "got multiple values for keyword argument '{name}'"
                    )));
                }
                named.push((name.into(), value));
            }
        }
        Ok(CallArgs { positional, named })
    }

    pub(super) fn eval_call(&self, expr: &Expr, frame: &Frame, caller: Option<Obj>) -> Result<Obj> {
        let ExprKind::Call { callee, args } = &expr.kind else {
            return self.eval(expr, frame);
        };
        let with_caller = |mut args: CallArgs| {
            args.named.extend(caller.map(|c| (Str::from("caller"), c)));
            args
        };
        // A method is called without making an object for it.
        if let ExprKind::Attr(object, name) = &callee.kind {
            let object = self.eval(object, frame)?;
            if methods::has(&object, name) {
                let args = with_caller(self.eval_args(args, frame)?);
                return methods::call(self, &object, name, args);
            }
            if let Obj::Undefined(u) = &object
                && let Some(function) = u.function_in_module(name)
            {
                let args = with_caller(self.eval_args(args, frame)?);
                return Err(self
                    .host()
                    .unanswered(&function, &args)
                    .unwrap_or_else(|| u.error()));
            }
            let callee = self.get_attr(&object, name)?;
            let args = with_caller(self.eval_args(args, frame)?);
            return self
                .call(&callee, args)
                .map_err(|e| self.in_call(e, expr, frame));
        }
        let function = self.eval(callee, frame)?;
        let args = with_caller(self.eval_args(args, frame)?);
        let result = self.call(&function, args);
        result.map_err(|e| self.blame(self.in_call(e, expr, frame), frame, &[(&function, callee)]))
    }

    /// Add the call to an error from inside a macro.
    fn in_call(&self, error: Box<Error>, expr: &Expr, frame: &Frame) -> Box<Error> {
        if error.place.is_some() {
            through("called from here", error, frame, expr.span)
        } else {
            error
        }
    }

    /// Call an object.
    ///
    /// # Errors
    /// The exception of the call, or a `TypeError` if it cannot be called.
    pub fn call(&self, callee: &Obj, args: CallArgs) -> Result<Obj> {
        match callee {
            Obj::Native(native) => self.call_native(&**native, args),
            Obj::Undefined(u) => Err(call_of_undefined(self, u, &args)),
            other => Err(Error::type_error(format!(
                "'{}' object is not callable",
                other.type_name()
            ))),
        }
    }

    /// Call an object that is not plain data. Those that are called often do not take the detour through a job.
    fn call_native(&self, native: &dyn Object, args: CallArgs) -> Result<Obj> {
        let Some(known) = native.as_any() else {
            return native.call(self, args);
        };
        if let Some(function) = known.downcast_ref::<HostFunction>() {
            function.call_in(self, args)
        } else if let Some(function) = known.downcast_ref::<globals::RustFunction>() {
            function.call_in(self, args)
        } else if let Some(macro_) = known.downcast_ref::<MacroObject>() {
            macro_.call_in(self, args)
        } else {
            native.call(self, args)
        }
    }

    pub(super) fn eval_filter(&self, expr: &Expr, input: Obj, frame: &Frame) -> Result<Obj> {
        let ExprKind::Filter { name, args, .. } = &expr.kind else {
            return Ok(input);
        };
        let args = self.eval_args(args, frame)?;
        match self
            .known_filters
            .get(name, |name| self.dialect().builtins().filter(name))
        {
            Some(filter) => self.run_filter(filter, name, input, args),
            None => Err(at_name(self.no_filter(name), expr, frame)),
        }
    }

    /// Apply a chain of filters whose innermost input is what a block printed.
    pub(super) fn eval_filter_chain(
        &self,
        expr: &Expr,
        captured: Obj,
        frame: &Frame,
    ) -> Result<Obj> {
        let ExprKind::Filter { input, .. } = &expr.kind else {
            return self.eval(expr, frame);
        };
        let input = match input {
            Some(inner) => self.eval_filter_chain(inner, captured, frame)?,
            None => captured,
        };
        let read = self.taint.map(Taint::begin);
        if let Some(taint) = self.taint {
            taint.reads(&input);
        }
        let traced = self.tracer.map(crate::tracer::Tracer::begin);
        if let Some(tracer) = self.tracer {
            tracer.reads(&input);
        }
        let value = self
            .eval_filter(expr, input, frame)
            .map_err(|e| e.at(|| place(frame, own(frame, expr))))?;
        if let (Some(taint), Some(read)) = (self.taint, read) {
            let converts = |filter: &str| self.dialect().converts(filter);
            taint.end(read, expr, &converts, &value);
        }
        self.trace(traced, expr, frame, &value);
        Ok(value)
    }

    /// `input|name(args)`.
    ///
    /// # Errors
    /// The exception of the filter, or an unknown name.
    pub fn apply_filter(&self, name: &str, input: Obj, args: CallArgs) -> Result<Obj> {
        match self.dialect().builtins().filter(name) {
            Some(filter) => self.run_filter(filter, name, input, args),
            None => Err(self.no_filter(name)),
        }
    }

    fn run_filter(&self, filter: Filter, name: &str, input: Obj, args: CallArgs) -> Result<Obj> {
        measure(self, &input)?;
        self.charged(NamedFunction::Filter, name, Some(&input), &args)?;
        let missing = missing_function(&input);
        let output = self.made(filter(self, input, args)?)?;
        missing
            .iter()
            .for_each(|name| self.note_missing_function(name));
        Ok(output)
    }

    /// `input is name(args)` in a template.
    pub(super) fn eval_test(&self, expr: &Expr, frame: &Frame) -> Result<bool> {
        let ExprKind::Test { input, name, args } = &expr.kind else {
            return self.eval(expr, frame)?.truthy();
        };
        let input = self.eval(input, frame)?;
        let args = self.eval_args(args, frame)?;
        match self
            .known_tests
            .get(name, |name| self.dialect().builtins().test(name))
        {
            Some(test) => self.run_test(test, name, &input, args),
            None => Err(at_name(self.no_test(name), expr, frame)),
        }
    }

    /// `input is name(args)`.
    ///
    /// # Errors
    /// The exception of the test, or an unknown name.
    pub fn apply_test(&self, name: &str, input: &Obj, args: CallArgs) -> Result<bool> {
        match self.dialect().builtins().test(name) {
            Some(test) => self.run_test(test, name, input, args),
            None => Err(self.no_test(name)),
        }
    }

    fn run_test(&self, test: Test, name: &str, input: &Obj, args: CallArgs) -> Result<bool> {
        self.charged(NamedFunction::Test, name, Some(input), &args)?;
        let verdict = test(self, input, args)?;
        missing_function(input)
            .iter()
            .for_each(|name| self.note_missing_function(name));
        self.settle(0).map(|()| verdict)
    }

    fn no_filter(&self, name: &str) -> Box<Error> {
        let message = format!("No filter named {} found.", quote_str(name));
        let mut error = Error::new(ErrorKind::Syntax, message);
        error.help = suggest::for_filter(self.dialect(), name);
        error
    }

    fn no_test(&self, name: &str) -> Box<Error> {
        let message = format!("No test named {} found.", quote_str(name));
        let mut error = Error::new(ErrorKind::Syntax, message);
        error.help = suggest::for_test(self.dialect(), name);
        error
    }
}

/// An error about the name of a filter or test, with its place.
fn at_name(error: Box<Error>, expr: &Expr, frame: &Frame) -> Box<Error> {
    let span = name_span(&frame.template.source, expr).unwrap_or(expr.span);
    error.at(|| place(frame, span))
}

/// The function of an undefined value.
fn missing_function(value: &Obj) -> Option<Str> {
    match value {
        Obj::Undefined(undefined) => undefined.function.clone(),
        _ => None,
    }
}

/// The error of calling something undefined. The host may say more about a missing function.
fn call_of_undefined(vm: &Vm<'_>, missing: &Undefined, args: &CallArgs) -> Box<Error> {
    let function = missing.function.as_ref().filter(|name| name.contains('.'));
    function
        .and_then(|name| vm.host().unanswered(name, args))
        .unwrap_or_else(|| missing.error())
}
