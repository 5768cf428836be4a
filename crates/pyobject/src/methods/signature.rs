//! Reading the arguments of builtin methods, with CPython's words for what is wrong with them.

use mapstack_value::Str;

use crate::Interpreter;
use crate::limits::{Error, Result};
use crate::object::{CallArgs, Obj, as_index};

/// A call of a builtin method that has not looked at its arguments yet.
pub struct Call<'a> {
    /// The receiver's type.
    pub owner: &'a str,
    /// The method.
    pub name: &'a str,
    pub args: CallArgs,
}

impl Call<'_> {
    /// No parameters.
    pub fn none(self) -> Result<()> {
        self.refuse_named()?;
        match self.args.positional.len() {
            0 => Ok(()),
            n => Err(Error::type_error(format!(
                "{}.{}() takes no arguments ({n} given)",
                self.owner, self.name
            ))),
        }
    }

    /// One positional parameter.
    pub fn one(mut self) -> Result<Obj> {
        self.refuse_named()?;
        let given = self.args.positional.len();
        match self.args.positional.pop() {
            Some(only) if given == 1 => Ok(only),
            _ => Err(Error::type_error(format!(
                "{}.{}() takes exactly one argument ({given} given)",
                self.owner, self.name
            ))),
        }
    }

    /// Up to `N` positional parameters, of which the first `required` must be given.
    pub fn positional<const N: usize>(self, required: usize) -> Result<[Option<Obj>; N]> {
        self.refuse_named()?;
        let given = self.args.positional.len();
        if (required..=N).contains(&given) {
            return Ok(spread(self.args.positional));
        }
        let (bound, limit) = if given < required {
            ("at least ", required)
        } else {
            ("at most ", N)
        };
        let bound = if required == N { "" } else { bound };
        let message = format!(
            "{} expected {bound}{limit} argument{}, got {given}",
            self.name,
            plural(limit)
        );
        Err(Error::type_error(message))
    }

    /// As [`positional`](Self::positional), in the words of CPython's older functions.
    pub fn parsed<const N: usize>(self, required: usize) -> Result<[Option<Obj>; N]> {
        if !self.args.named.is_empty() {
            return Err(Error::type_error(format!(
                "{}() takes no keyword arguments",
                self.name
            )));
        }
        let given = self.args.positional.len();
        if (required..=N).contains(&given) {
            return Ok(spread(self.args.positional));
        }
        let (bound, limit) = if given < required {
            ("at least", required)
        } else {
            ("at most", N)
        };
        let message = format!(
            "{}() takes {bound} {limit} argument{} ({given} given)",
            self.name,
            plural(limit)
        );
        Err(Error::type_error(message))
    }

    /// Parameters with names, of which the first `required` must be given.
    pub fn keywords<const N: usize>(
        self,
        names: [&str; N],
        required: usize,
    ) -> Result<[Option<Obj>; N]> {
        let (positional, named) = (self.args.positional.len(), self.args.named.len());
        if positional + named > N {
            let kind = if positional == 0 { "keyword " } else { "" };
            return Err(Error::type_error(format!(
                "{}() takes at most {N} {kind}argument{} ({} given)",
                self.name,
                plural(N),
                positional + named
            )));
        }
        let mut slots: [Option<Obj>; N] = spread(self.args.positional);
        for (name, value) in self.args.named {
            let Some(i) = names.iter().position(|known| **known == *name) else {
                let message = format!(
                    "'{name}' is an invalid keyword argument for {}()",
                    self.name
                );
                return Err(Error::type_error(message)
                    .with_help(crate::suggest::for_argument(&name, &names)));
            };
            if slots[i].replace(value).is_some() {
                let place = i + 1;
                return Err(Error::type_error(format!(
                    "argument for {}() given by name ('{name}') and position ({place})",
                    self.name
                )));
            }
        }
        if let Some(missing) = slots[..required].iter().position(Option::is_none) {
            let (name, place) = (names[missing], missing + 1);
            return Err(Error::type_error(format!(
                "{}() missing required argument '{name}' (pos {place})",
                self.name
            )));
        }
        Ok(slots)
    }

    fn refuse_named(&self) -> Result<()> {
        if self.args.named.is_empty() {
            return Ok(());
        }
        Err(Error::type_error(format!(
            "{}.{}() takes no keyword arguments",
            self.owner, self.name
        )))
    }
}

/// The items in an array of slots; those beyond the end are empty.
pub fn spread<const N: usize>(items: Vec<Obj>) -> [Option<Obj>; N] {
    let mut slots = [const { None }; N];
    for (slot, item) in slots.iter_mut().zip(items) {
        *slot = Some(item);
    }
    slots
}

fn plural(n: usize) -> &'static str {
    if n == 1 { "" } else { "s" }
}

/// An argument that must be text; `wrong` words the complaint about another type's name.
pub fn text(object: &Obj, wrong: impl FnOnce(&str) -> String) -> Result<Str> {
    match object {
        Obj::Str(s) | Obj::Markup(s) => Ok(s.clone()),
        Obj::Undefined(u) => Err(u.error()),
        other => Err(Error::type_error(wrong(other.type_name()))),
    }
}

/// An argument that must be an integer of the machine's size.
pub fn integer(object: &Obj) -> Result<i64> {
    match (object, as_index(object)) {
        (Obj::Undefined(u), _) => Err(u.error()),
        (_, Some(i)) => i.to_i64().ok_or_else(|| {
            Error::python(
                "OverflowError",
                "Python int too large to convert to C ssize_t",
            )
        }),
        (other, None) => {
            let message = format!(
                "'{}' object cannot be interpreted as an integer",
                other.type_name()
            );
            Err(Error::type_error(message))
        }
    }
}

/// An optional integer.
pub fn integer_or(object: Option<Obj>, default: i64) -> Result<i64> {
    object.map_or(Ok(default), |object| integer(&object))
}

/// An optional flag.
pub fn flag_or(object: Option<Obj>, default: bool) -> Result<bool> {
    object.map_or(Ok(default), |object| object.truthy())
}

/// A slice of `len` items given by optional bounds, as Python cuts it; `None` when it begins after
/// its end.
pub fn bounds(
    len: usize,
    start: Option<&Obj>,
    end: Option<&Obj>,
    none_allowed: bool,
) -> Result<Option<(usize, usize)>> {
    let (start, end) = (
        bound(len, start, 0, none_allowed)?,
        bound(len, end, len, none_allowed)?,
    );
    let end = end.min(len);
    Ok((start <= end).then_some((start, end)))
}

fn bound(len: usize, given: Option<&Obj>, default: usize, none_allowed: bool) -> Result<usize> {
    let Some(object) = given else {
        return Ok(default);
    };
    match (object, as_index(object)) {
        (Obj::None, _) if none_allowed => Ok(default),
        (Obj::Undefined(u), _) => Err(u.error()),
        (_, Some(i)) => {
            let huge = if i.is_negative() { i64::MIN } else { i64::MAX };
            let i = i.to_i64().unwrap_or(huge);
            let from_start = if i < 0 {
                i.saturating_add_unsigned(len as u64).max(0)
            } else {
                i
            };
            Ok(usize::try_from(from_start).unwrap_or(usize::MAX))
        }
        (_, None) => {
            let or_none = if none_allowed { "or None " } else { "" };
            Err(Error::type_error(format!(
                "slice indices must be integers {or_none}or have an __index__ method"
            )))
        }
    }
}

/// The largest number of times; a negative number means no limit.
pub fn at_most(count: Option<Obj>) -> Result<usize> {
    Ok(usize::try_from(integer_or(count, -1)?).unwrap_or(usize::MAX))
}

/// A separator, which cannot be empty.
pub fn not_empty<T: AsRef<str>>(separator: T) -> Result<T> {
    if separator.as_ref().is_empty() {
        return Err(Error::value_error("empty separator"));
    }
    Ok(separator)
}

/// The items that `join` was given.
pub fn joinable(vm: &dyn Interpreter, items: &Obj) -> Result<Vec<Obj>> {
    items.collect(vm).map_err(|error| match items {
        Obj::None | Obj::Bool(_) | Obj::Int(_) | Obj::Float(_) => {
            Error::type_error("can only join an iterable")
        }
        _ => error,
    })
}
