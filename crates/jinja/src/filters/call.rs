//! The tools of every filter: reading arguments as Python binds them, and making generators.

use mapstack_pyobject::{
    CallArgs, DictPart, Error, Iter, Obj, Result, as_index, dict_iter, for_argument, lookup_key,
    methods, repr, to_str,
};
use mapstack_value::{Int, Str};

use crate::job::Job;
use crate::vm::Vm;

/// The Python function behind a filter or test, as its error messages show it.
#[derive(Debug, Clone, Copy)]
pub struct FilterFunction {
    /// Its qualified name.
    name: &'static str,
    /// The name of the parameter that receives the filter's input.
    input: &'static str,
    /// The number of parameters before that one: `self`, the environment, the context.
    before: usize,
}

/// A function whose first parameter is the input.
pub const fn plain(name: &'static str, input: &'static str) -> FilterFunction {
    FilterFunction {
        name,
        input,
        before: 0,
    }
}

/// A function that receives the environment or `self` before the input.
pub const fn inner(name: &'static str, input: &'static str) -> FilterFunction {
    FilterFunction {
        name,
        input,
        before: 1,
    }
}

impl FilterFunction {
    /// A `TypeError` of the function about its arguments.
    pub fn error(self, what: &str) -> Box<Error> {
        Error::type_error(format!("{}() {what}", self.name))
    }

    /// Bind arguments to the parameters after the input, of which the first `required` have no
    /// default.
    pub fn bind<const N: usize>(
        self,
        args: CallArgs,
        required: usize,
        names: [&str; N],
    ) -> Result<[Option<Obj>; N]> {
        let given = args.positional.len();
        let mut bound = [const { None }; N];
        for (slot, value) in bound.iter_mut().zip(args.positional) {
            *slot = Some(value);
        }
        if args.named.is_empty() && (required..=N).contains(&given) {
            return Ok(bound);
        }
        for (name, value) in args.named {
            if *name == *self.input {
                return Err(self.error(&format!("got multiple values for argument '{name}'")));
            }
            let Some(i) = names.iter().position(|known| **known == *name) else {
                let error = self.error(&format!("got an unexpected keyword argument '{name}'"));
                return Err(error.with_help(for_argument(&name, &names)));
            };
            if bound[i].replace(value).is_some() {
                return Err(self.error(&format!("got multiple values for argument '{name}'")));
            }
        }
        if given > N {
            let most = self.before + 1 + N;
            let least = self.before + 1 + required;
            let takes = if least == most {
                format!("{most} positional argument{}", plural(most))
            } else {
                format!("from {least} to {most} positional arguments")
            };
            return Err(self.error(&format!(
                "takes {takes} but {} were given",
                self.before + 1 + given
            )));
        }
        let missing: Vec<String> = names
            .iter()
            .zip(&bound)
            .take(required)
            .filter(|(_, b)| b.is_none())
            .map(|(n, _)| format!("'{n}'"))
            .collect();
        if !missing.is_empty() {
            return Err(self.missing(&missing));
        }
        Ok(bound)
    }

    /// No arguments but the input.
    pub fn alone(self, args: CallArgs) -> Result<()> {
        self.bind(args, 0, []).map(|[]| ())
    }

    fn missing(self, names: &[String]) -> Box<Error> {
        let list = match names {
            [one] => one.clone(),
            [one, two] => format!("{one} and {two}"),
            [most @ .., last] => format!("{}, and {last}", most.join(", ")),
            [] => String::new(),
        };
        let n = names.len();
        self.error(&format!(
            "missing {n} required positional argument{}: {list}",
            plural(n)
        ))
    }
}

/// The arity check of CPython's builtin functions of one argument.
pub fn builtin_of_one(name: &str, args: &CallArgs) -> Result<()> {
    if !args.named.is_empty() {
        return Err(Error::type_error(format!(
            "{name}() takes no keyword arguments"
        )));
    }
    match args.positional.len() {
        0 => Ok(()),
        more => Err(Error::type_error(format!(
            "{name}() takes exactly one argument ({} given)",
            more + 1
        ))),
    }
}

fn plural(n: usize) -> &'static str {
    if n == 1 { "" } else { "s" }
}

/// `getattr(x, name)` as far as the sandbox shows it: what it hides is undefined, and no item is meant.
pub fn attribute(vm: &Vm<'_>, x: &Obj, name: &Obj) -> Result<Option<Obj>> {
    let Some(name) = name.as_str() else {
        return Err(Error::type_error(format!(
            "attribute name must be string, not '{}'",
            name.type_name()
        )));
    };
    match x {
        Obj::Undefined(u) => Err(u.error()),
        x => vm.own_attr(x, name),
    }
}

/// The truth of an argument.
pub fn flag(argument: Option<Obj>, default: bool) -> Result<bool> {
    argument.map_or(Ok(default), |a| a.truthy())
}

/// `operator.index(x)`, within the machine's size.
pub fn index_of(object: &Obj) -> Result<i64> {
    match (object, as_index(object)) {
        (_, Some(i)) => Ok(clamped(&i)),
        (Obj::Undefined(u), None) => Err(u.error()),
        (other, None) => Err(Error::type_error(format!(
            "'{}' object cannot be interpreted as an integer",
            other.type_name()
        ))),
    }
}

/// The nearest integer of the machine's size.
pub fn clamped(i: &Int) -> i64 {
    i.to_i64()
        .unwrap_or(if i.is_negative() { i64::MIN } else { i64::MAX })
}

/// Text that a function insists on being text.
pub fn text_or(object: &Obj, wrong: impl FnOnce(&str) -> Box<Error>) -> Result<Str> {
    match object {
        Obj::Str(s) | Obj::Markup(s) => Ok(s.clone()),
        Obj::Undefined(u) => Err(u.error()),
        other => Err(wrong(other.type_name())),
    }
}

/// `markupsafe.soft_str`: text stays what it is, everything else becomes its `str()`.
pub fn soft_str(object: &Obj) -> Result<Obj> {
    match object {
        Obj::Str(_) | Obj::Markup(_) => Ok(object.clone()),
        other => to_str(other).map(Obj::from),
    }
}

/// Call a method of a builtin type.
pub fn method(vm: &Vm<'_>, object: &Obj, name: &str, args: impl Into<Vec<Obj>>) -> Result<Obj> {
    methods::call(vm, object, name, CallArgs::positional(args))
}

/// The lack of a method.
pub fn no_attribute(object: &Obj, name: &str) -> Box<Error> {
    match object {
        Obj::Undefined(u) => u.error(),
        // Jinja2's own class says no more.
        Obj::Native(native) if native.type_name() == "Namespace" => {
            Error::python("AttributeError", name)
        }
        other => Error::python(
            "AttributeError",
            format!("'{}' object has no attribute '{name}'", other.type_name()),
        ),
    }
}

/// Jinja2's `FilterArgumentError` and other errors a filter reports about its use.
pub fn misuse(message: impl Into<String>) -> Box<Error> {
    Error::new(mapstack_pyobject::ErrorKind::Syntax, message)
}

/// `repr(x)`, for messages.
pub fn quoted(object: &Obj) -> String {
    repr(object).unwrap_or_else(|_| "?".into())
}

/// The text that `type(x)` prints.
pub fn class_of(object: &Obj) -> String {
    let name = match object {
        Obj::Markup(_) => "markupsafe.Markup",
        Obj::Undefined(_) => return format!("<class 'jinja2.runtime.{}'>", object.type_name()),
        Obj::Dict(d) if d.kind() == mapstack_value::MapKind::Ordered => "collections.OrderedDict",
        other => other.type_name(),
    };
    format!("<class '{name}'>")
}

/// `a, b = x`.
pub fn pair(vm: &Vm<'_>, x: &Obj) -> Result<[Obj; 2]> {
    let items = x.collect(vm).map_err(|e| match x {
        Obj::None | Obj::Bool(_) | Obj::Int(_) | Obj::Float(_) => Error::type_error(format!(
            "cannot unpack non-iterable {} object",
            x.type_name()
        )),
        _ => e,
    })?;
    let got = items.len();
    items.try_into().map_err(|_| {
        Error::value_error(if got < 2 {
            format!("not enough values to unpack (expected 2, got {got})")
        } else {
            "too many values to unpack (expected 2)".to_string()
        })
    })
}

/// An iterator of some Python type over what `from` gives.
pub fn lazy(
    type_name: &'static str,
    from: &Obj,
    next: impl FnMut(&Vm<'_>) -> Result<Option<Obj>> + 'static,
) -> Result<Obj> {
    Iter::new(type_name, Job::new(next))
        .reading(from)
        .map(Obj::Iter)
}

/// A generator of the named function over what `from` gives.
pub fn generator(
    function: &'static str,
    from: &Obj,
    next: impl FnMut(&Vm<'_>) -> Result<Option<Obj>> + 'static,
) -> Result<Obj> {
    Iter::generator(function, Job::new(next))
        .reading(from)
        .map(Obj::Iter)
}

/// Check that this many bytes of text may be made, and charge for the work.
pub fn room(vm: &Vm<'_>, bytes: usize) -> Result<()> {
    methods::limit::text(vm, bytes)
}

/// Check that a text may grow by this many bytes, and charge for these.
pub fn room_for_more(vm: &Vm<'_>, before: usize, more: usize) -> Result<()> {
    methods::limit::growth(vm, before, more)
}

/// The name of a filter or test given as an object.
pub(crate) fn callable_name(name: &Obj) -> Result<Option<Str>> {
    match name {
        Obj::Undefined(u) => Err(u.error()),
        Obj::Str(name) | Obj::Markup(name) => Ok(Some(name.clone())),
        // Not a name; Python looks it up in a dict nevertheless, which needs a hash.
        other => lookup_key(other).map(|_| None),
    }
}

/// The items of a mapping.
#[must_use]
pub fn items_of(x: &Obj) -> Option<Iter> {
    match x {
        Obj::Dict(dict) => Some(dict_iter(dict, DictPart::Items)),
        _ => None,
    }
}
