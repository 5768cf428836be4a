//! `test.*`: functions that prove a call works.

use mapstack_pyobject::{CallArgs, Error, ErrorKind, Obj, Result, required};
use mapstack_salt_jinja::{
    Vm,
    python::{filter, repr},
};
use mapstack_value::{Key, MapKind, Str};

use super::{ModuleTable, text, truth_or};
use crate::Context;

pub(super) const TABLE: ModuleTable = &[
    ("test.arg", |_, _, args| {
        let CallArgs { positional, named } = args;
        Ok(pair(Obj::tuple(positional), mapping(named)))
    }),
    ("test.arg_clean", |_, _, args| {
        let CallArgs { positional, named } = args;
        let named = named
            .into_iter()
            .filter(|(name, _)| !name.starts_with("__"))
            .collect();
        Ok(pair(Obj::tuple(positional), mapping(named)))
    }),
    ("test.arg_repr", |_, _, args| {
        let CallArgs { positional, named } = args;
        Ok(pair(
            Obj::from(repr(&Obj::tuple(positional))?),
            Obj::from(repr(&mapping(named))?),
        ))
    }),
    ("test.arg_type", |_, _, args| {
        let kind = |value: &Obj| {
            let module = match value {
                Obj::Undefined(_) => "jinja2.runtime.",
                Obj::Dict(dict) if dict.kind() == MapKind::Ordered => "collections.",
                _ => "",
            };
            Obj::from(format!("<class '{module}{}'>", value.type_name()))
        };
        let positional = args.positional.iter().map(kind).collect::<Vec<_>>();
        let named = args
            .named
            .iter()
            .map(|(name, value)| (name.clone(), kind(value)))
            .collect();
        Ok(pair(Obj::list(positional), mapping(named)))
    }),
    ("test.assertion", |_, _, args| {
        let [assertion] = args.bind("test.assertion", ["assertion"])?;
        if required(assertion, "test.assertion", "assertion")?.truthy()? {
            return Ok(Obj::None);
        }
        Err(Error::python(
            "AssertionError",
            "the assertion does not hold",
        ))
    }),
    ("test.attr_call", |run, vm, args| {
        let [] = args.bind("test.attr_call", [])?;
        call(run, vm, "grains.items", CallArgs::default())
    }),
    ("test.conf_test", |run, vm, args| {
        let [] = args.bind("test.conf_test", [])?;
        call(
            run,
            vm,
            "config.option",
            CallArgs::positional([Obj::from("test.foo")]),
        )
    }),
    ("test.cross_test", |run, vm, args| {
        let [function, args] = args.bind("test.cross_test", ["func", "args"])?;
        let function = text(
            &required(function, "test.cross_test", "func")?,
            "test.cross_test",
            "func",
        )?;
        let args = match args {
            None | Some(Obj::None) => Vec::new(),
            Some(args) => args.collect(vm)?,
        };
        call(run, vm, &function, CallArgs::positional(args))
    }),
    ("test.echo", |_, _, args| {
        let [text] = args.bind("test.echo", ["text"])?;
        required(text, "test.echo", "text")
    }),
    ("test.exception", |_, _, args| {
        let [message] = args.bind("test.exception", ["message"])?;
        let message = message.map_or_else(
            || Ok("Test Exception".into()),
            |m| mapstack_salt_jinja::python::to_str(&m),
        )?;
        Err(Error::python("Exception", message))
    }),
    ("test.false", |_, _, args| {
        let [] = args.bind("test.false", [])?;
        Ok(Obj::Bool(false))
    }),
    ("test.get_opts", |run, _, args| {
        let [] = args.bind("test.get_opts", [])?;
        Ok(run.opts())
    }),
    ("test.kwarg", |_, _, args| {
        let CallArgs { positional, named } = args;
        let [] = CallArgs::positional(positional).bind("test.kwarg", [])?;
        Ok(mapping(named))
    }),
    ("test.opts_pkg", |run, _, args| {
        let [] = args.bind("test.opts_pkg", [])?;
        run.opts().to_value().map(Obj::from)
    }),
    ("test.outputter", |_, _, args| {
        let [data] = args.bind("test.outputter", ["data"])?;
        required(data, "test.outputter", "data")
    }),
    ("test.ping", yes),
    ("test.rand_str", random_hash),
    ("test.random_hash", random_hash),
    ("test.raise_exception", raise_exception),
    ("test.retcode", |_, _, args| {
        let [_code] = args.bind("test.retcode", ["code"])?;
        Ok(Obj::Bool(true))
    }),
    ("test.true", yes),
    ("test.try", |run, vm, args| {
        let (own, named): (Vec<_>, Vec<_>) = args
            .named
            .into_iter()
            .partition(|(name, _)| **name == *"module" || **name == *"return_try_exception");
        let [function, shown] = CallArgs {
            positional: args.positional,
            named: own,
        }
        .bind("test.try", ["module", "return_try_exception"])?;
        let function = required(function, "test.try", "module")?;
        let function = if matches!(function, Obj::Undefined(_)) {
            "".into()
        } else {
            text(&function, "test.try", "module")?
        };
        match call(
            run,
            vm,
            &function,
            CallArgs {
                positional: Vec::new(),
                named,
            },
        ) {
            // A limit is for the whole run.
            Err(e) if e.kind == ErrorKind::Limit => Err(e),
            Err(e) if truth_or(shown, false)? => Ok(Obj::from(e.message)),
            Err(_) => Ok(Obj::None),
            done => done,
        }
    }),
    ("test.tty", |_, _, _| {
        Ok(Obj::from("ERROR: This function has been moved to cmd.tty"))
    }),
    ("test.version", |_, _, args| {
        let [] = args.bind("test.version", [])?;
        Ok(Obj::from(mapstack_minion::builtin::salt_version()))
    }),
];

fn yes(_: &dyn Context, _: &Vm<'_>, args: CallArgs) -> Result<Obj> {
    let [] = args.bind("test.ping", [])?;
    Ok(Obj::Bool(true))
}

fn pair(args: Obj, kwargs: Obj) -> Obj {
    Obj::dict([("args".into(), args), ("kwargs".into(), kwargs)])
}

fn mapping(named: Vec<(Str, Obj)>) -> Obj {
    Obj::dict(
        named
            .into_iter()
            .map(|(name, value)| (Key::from(&*name), value)),
    )
}

/// Call another function by its name.
fn call(run: &dyn Context, vm: &Vm<'_>, name: &str, args: CallArgs) -> Result<Obj> {
    // One that calls itself would do so until the stack ends.
    if matches!(name, "test.try" | "test.cross_test") {
        return Err(Error::value_error(format!(
            "{name}() cannot be called by a function of its kind"
        )));
    }
    run.call(vm, name, args).unwrap_or_else(|| {
        Err(Error::python("KeyError", format!("'{name}'")).with_help(run.help(name)))
    })
}

fn random_hash(run: &dyn Context, vm: &Vm<'_>, args: CallArgs) -> Result<Obj> {
    let [size, kind] = args.bind("test.random_hash", ["size", "hash_type"])?;
    let size = size.unwrap_or_else(|| Obj::from(9_999_999_999_i64));
    let kind = match kind {
        Some(kind) if kind.truthy()? => kind,
        _ => Obj::from(run.option("hash_type")),
    };
    filter(vm, "random_hash", size, CallArgs::positional([kind]))
}

/// Python's exceptions that consist only of their message. Others are not distinguished here.
const EXCEPTIONS: &[&str] = &[
    "ArithmeticError",
    "AssertionError",
    "AttributeError",
    "BufferError",
    "EOFError",
    "Exception",
    "ImportError",
    "IndexError",
    "KeyError",
    "LookupError",
    "MemoryError",
    "NameError",
    "NotImplementedError",
    "OSError",
    "OverflowError",
    "RecursionError",
    "ReferenceError",
    "RuntimeError",
    "StopIteration",
    "SyntaxError",
    "SystemError",
    "TypeError",
    "ValueError",
    "Warning",
    "ZeroDivisionError",
];

fn raise_exception(_: &dyn Context, _: &Vm<'_>, args: CallArgs) -> Result<Obj> {
    let mut args = args.positional.into_iter();
    let name = text(
        &required(args.next(), "test.raise_exception", "name")?,
        "test.raise_exception",
        "name",
    )?;
    let message = args.next().map_or_else(
        || Ok(String::new()),
        |m| mapstack_salt_jinja::python::to_str(&m),
    )?;
    match name.strip_prefix("salt.exceptions.") {
        Some("CommandExecutionError" | "SaltInvocationError") => Err(super::refused(message)),
        Some("SaltException") => Err(Error::python("SaltException", message)),
        None => match EXCEPTIONS.iter().find(|known| ***known == *name) {
            Some(known) => Err(Error::python(known, message)),
            None => Ok(Obj::Bool(false)),
        },
        Some(_) => Ok(Obj::Bool(false)),
    }
}
