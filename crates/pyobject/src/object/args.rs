//! Arguments of a call, and binding them to parameters as Python does.

use mapstack_value::Str;

use super::Obj;
use crate::limits::{Error, Result};

/// The arguments of one call.
#[derive(Debug, Clone, Default)]
pub struct CallArgs {
    /// Positional arguments.
    pub positional: Vec<Obj>,
    /// Named arguments in order.
    pub named: Vec<(Str, Obj)>,
}

impl CallArgs {
    /// Only positional arguments.
    pub fn positional(args: impl Into<Vec<Obj>>) -> Self {
        CallArgs {
            positional: args.into(),
            named: Vec::new(),
        }
    }

    /// All of them, positional ones first.
    pub fn objects(&self) -> impl Iterator<Item = &Obj> {
        self.positional
            .iter()
            .chain(self.named.iter().map(|(_, object)| object))
    }

    /// Put one argument in front (the value of a filter, `self` of a method).
    #[must_use]
    pub fn with_first(mut self, first: Obj) -> Self {
        self.positional.insert(0, first);
        self
    }

    /// Bind to parameter names: `None` where an argument was not given.
    ///
    /// # Errors
    /// Python's `TypeError`s for too many, repeated and unknown arguments.
    pub fn bind<const N: usize>(
        self,
        function: &str,
        names: [&str; N],
    ) -> Result<[Option<Obj>; N]> {
        let given = self.positional.len();
        if given > N {
            return Err(too_many(function, N, given));
        }
        let mut bound: [Option<Obj>; N] = std::array::from_fn(|_| None);
        for (slot, value) in bound.iter_mut().zip(self.positional) {
            *slot = Some(value);
        }
        for (name, value) in self.named {
            let Some(i) = names.iter().position(|n| **n == *name) else {
                let error = Error::type_error(format!(
                    "{function}() got an unexpected keyword argument '{name}'"
                ));
                return Err(error.with_help(crate::suggest::for_argument(&name, &names)));
            };
            if bound[i].replace(value).is_some() {
                return Err(Error::type_error(format!(
                    "{function}() got multiple values for argument '{name}'"
                )));
            }
        }
        Ok(bound)
    }

    /// Bind positional-only parameters, of which the first `required` must be given.
    ///
    /// # Errors
    /// Python's `TypeError`s for named, missing and extra arguments.
    pub fn only_positional<const N: usize>(
        self,
        function: &str,
        required: usize,
    ) -> Result<[Option<Obj>; N]> {
        if let Some((name, _)) = self.named.first() {
            return Err(Error::type_error(format!(
                "{function}() takes no keyword arguments (got '{name}')"
            )));
        }
        let given = self.positional.len();
        if given > N {
            return Err(too_many(function, N, given));
        }
        if given < required {
            return Err(Error::type_error(format!(
                "{function} expected at least {required} argument{}, got {given}",
                plural(required)
            )));
        }
        let mut bound: [Option<Obj>; N] = std::array::from_fn(|_| None);
        for (slot, value) in bound.iter_mut().zip(self.positional) {
            *slot = Some(value);
        }
        Ok(bound)
    }
}

/// An argument without which the call makes no sense.
///
/// # Errors
/// Python's `TypeError` naming the parameter.
pub fn required(argument: Option<Obj>, function: &str, name: &str) -> Result<Obj> {
    argument.ok_or_else(|| {
        Error::type_error(format!(
            "{function}() missing 1 required positional argument: '{name}'"
        ))
    })
}

fn too_many(function: &str, takes: usize, given: usize) -> Box<Error> {
    let was = if given == 1 { "was" } else { "were" };
    Error::type_error(format!(
        "{function}() takes {takes} positional argument{} but {given} {was} given",
        plural(takes)
    ))
}

fn plural(n: usize) -> &'static str {
    if n == 1 { "" } else { "s" }
}
