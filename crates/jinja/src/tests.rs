//! Tests: the names after `is`.
#![expect(
    clippy::needless_pass_by_value,
    reason = "every test has the signature of `Test`"
)]

use mapstack_pyobject::{
    CallArgs, Error, Obj, Result, as_index, binary, compare, contains, len, to_str,
};

use crate::dialect::Tests;
use crate::filters::call::{FilterFunction, builtin_of_one, callable_name, inner, method, plain};
use crate::syntax::ast::{BinaryOp, CompareOp};
use crate::vm::Vm;

pub(crate) const TABLE: Tests = &[
    ("!=", |vm, x, args| {
        comparison(vm, x, args, "ne", CompareOp::Ne)
    }),
    ("<", |vm, x, args| {
        comparison(vm, x, args, "lt", CompareOp::Lt)
    }),
    ("<=", |vm, x, args| {
        comparison(vm, x, args, "le", CompareOp::Le)
    }),
    ("==", |vm, x, args| {
        comparison(vm, x, args, "eq", CompareOp::Eq)
    }),
    (">", |vm, x, args| {
        comparison(vm, x, args, "gt", CompareOp::Gt)
    }),
    (">=", |vm, x, args| {
        comparison(vm, x, args, "ge", CompareOp::Ge)
    }),
    ("boolean", |_, x, args| {
        is(
            plain("test_boolean", "value"),
            args,
            matches!(x, Obj::Bool(_)),
        )
    }),
    ("callable", |_, x, args| {
        builtin_of_one("callable", &args).map(|()| is_callable(x))
    }),
    ("defined", |_, x, args| {
        is(
            plain("test_defined", "value"),
            args,
            !matches!(x, Obj::Undefined(_)),
        )
    }),
    ("divisibleby", divisible_by),
    ("eq", |vm, x, args| {
        comparison(vm, x, args, "eq", CompareOp::Eq)
    }),
    ("equalto", |vm, x, args| {
        comparison(vm, x, args, "eq", CompareOp::Eq)
    }),
    ("escaped", |_, x, args| {
        is(
            plain("test_escaped", "value"),
            args,
            matches!(x, Obj::Markup(_)),
        )
    }),
    ("even", |vm, x, args| {
        remainder(vm, x, args, plain("test_even", "value"), 0)
    }),
    ("false", |_, x, args| {
        is(
            plain("test_false", "value"),
            args,
            matches!(x, Obj::Bool(false)),
        )
    }),
    ("filter", |vm, x, args| {
        known(x, args, inner("test_filter", "value"), |name| {
            vm.dialect().builtins().filter(name).is_some()
        })
    }),
    ("float", |_, x, args| {
        is(
            plain("test_float", "value"),
            args,
            matches!(x, Obj::Float(_)),
        )
    }),
    ("ge", |vm, x, args| {
        comparison(vm, x, args, "ge", CompareOp::Ge)
    }),
    ("greaterthan", |vm, x, args| {
        comparison(vm, x, args, "gt", CompareOp::Gt)
    }),
    ("gt", |vm, x, args| {
        comparison(vm, x, args, "gt", CompareOp::Gt)
    }),
    ("in", is_in),
    ("integer", |_, x, args| {
        is(
            plain("test_integer", "value"),
            args,
            matches!(x, Obj::Int(_)),
        )
    }),
    ("iterable", is_iterable),
    ("le", |vm, x, args| {
        comparison(vm, x, args, "le", CompareOp::Le)
    }),
    ("lessthan", |vm, x, args| {
        comparison(vm, x, args, "lt", CompareOp::Lt)
    }),
    ("lower", |vm, x, args| {
        cased(vm, x, args, plain("test_lower", "value"), "islower")
    }),
    ("lt", |vm, x, args| {
        comparison(vm, x, args, "lt", CompareOp::Lt)
    }),
    ("mapping", |_, x, args| {
        is(
            plain("test_mapping", "value"),
            args,
            matches!(x, Obj::Dict(_)),
        )
    }),
    ("ne", |vm, x, args| {
        comparison(vm, x, args, "ne", CompareOp::Ne)
    }),
    ("none", |_, x, args| {
        is(plain("test_none", "value"), args, x.is_none())
    }),
    ("number", |_, x, args| {
        is(
            plain("test_number", "value"),
            args,
            as_index(x).is_some() || matches!(x, Obj::Float(_)),
        )
    }),
    ("odd", |vm, x, args| {
        remainder(vm, x, args, plain("test_odd", "value"), 1)
    }),
    ("sameas", same_as),
    ("sequence", is_sequence),
    ("string", |_, x, args| {
        is(plain("test_string", "value"), args, x.as_str().is_some())
    }),
    ("test", |vm, x, args| {
        known(x, args, inner("test_test", "value"), |name| {
            vm.dialect().builtins().test(name).is_some()
        })
    }),
    ("true", |_, x, args| {
        is(
            plain("test_true", "value"),
            args,
            matches!(x, Obj::Bool(true)),
        )
    }),
    ("undefined", |_, x, args| {
        is(
            plain("test_undefined", "value"),
            args,
            matches!(x, Obj::Undefined(_)),
        )
    }),
    ("upper", |vm, x, args| {
        cased(vm, x, args, plain("test_upper", "value"), "isupper")
    }),
];

/// A test without arguments.
fn is(function: FilterFunction, args: CallArgs, verdict: bool) -> Result<bool> {
    function.alone(args).map(|()| verdict)
}

/// A function of Python's `operator` module.
fn comparison(vm: &Vm<'_>, x: &Obj, args: CallArgs, name: &str, op: CompareOp) -> Result<bool> {
    if !args.named.is_empty() {
        return Err(Error::type_error(format!(
            "_operator.{name}() takes no keyword arguments"
        )));
    }
    match &args.positional[..] {
        [other] => compare(vm, op, x, other),
        more => Err(Error::type_error(format!(
            "{name} expected 2 arguments, got {}",
            more.len() + 1
        ))),
    }
}

fn same_as(_: &Vm<'_>, x: &Obj, args: CallArgs) -> Result<bool> {
    let [other] = plain("test_sameas", "value").bind(args, 1, ["other"])?;
    Ok(x.is_same(&other.unwrap_or_default()))
}

fn is_in(vm: &Vm<'_>, x: &Obj, args: CallArgs) -> Result<bool> {
    let [haystack] = plain("test_in", "value").bind(args, 1, ["seq"])?;
    contains(vm, &haystack.unwrap_or_default(), x)
}

fn divisible_by(vm: &Vm<'_>, x: &Obj, args: CallArgs) -> Result<bool> {
    let [divisor] = plain("test_divisibleby", "value").bind(args, 1, ["num"])?;
    let rest = binary(vm, BinaryOp::Mod, x, &divisor.unwrap_or_default())?;
    compare(vm, CompareOp::Eq, &rest, &Obj::from(0))
}

fn remainder(
    vm: &Vm<'_>,
    x: &Obj,
    args: CallArgs,
    function: FilterFunction,
    wanted: i64,
) -> Result<bool> {
    function.alone(args)?;
    let rest = binary(vm, BinaryOp::Mod, x, &Obj::from(2))?;
    compare(vm, CompareOp::Eq, &rest, &Obj::from(wanted))
}

fn cased(
    vm: &Vm<'_>,
    x: &Obj,
    args: CallArgs,
    function: FilterFunction,
    name: &str,
) -> Result<bool> {
    function.alone(args)?;
    method(vm, &Obj::from(to_str(x)?), name, [])?.truthy()
}

fn known(
    x: &Obj,
    args: CallArgs,
    function: FilterFunction,
    exists: impl Fn(&str) -> bool,
) -> Result<bool> {
    function.alone(args)?;
    Ok(callable_name(x)?.is_some_and(|name| exists(&name)))
}

fn is_callable(x: &Obj) -> bool {
    match x {
        Obj::Native(native) => native.callable(),
        // Jinja2's undefined objects have a `__call__`, which fails.
        Obj::Undefined(_) => true,
        _ => false,
    }
}

fn is_iterable(_: &Vm<'_>, x: &Obj, args: CallArgs) -> Result<bool> {
    plain("test_iterable", "value").alone(args)?;
    match x.iter() {
        Ok(_) => Ok(true),
        Err(e) if e.kind == mapstack_pyobject::ErrorKind::Python("TypeError") => Ok(false),
        Err(e) => Err(e),
    }
}

fn is_sequence(_: &Vm<'_>, x: &Obj, args: CallArgs) -> Result<bool> {
    plain("test_sequence", "value").alone(args)?;
    Ok(match x {
        Obj::Undefined(u) => !u.strict,
        Obj::Set(_) => false,
        // Some have a length, and nothing that an index gives.
        Obj::Native(native) => {
            let name = native.type_name();
            native.len().is_some() && !name.starts_with("dict_") && name != "LoopContext"
        }
        other => len(other).is_ok(),
    })
}
