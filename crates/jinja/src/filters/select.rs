//! Filters that apply other filters and tests to each item.

use std::rc::Rc;

use mapstack_pyobject::{CallArgs, Error, Iter, Obj, Result};
use mapstack_value::Str;

use super::call::{callable_name, generator, misuse, quoted};
use super::sequence::{Getter, attribute_getter};
use crate::dialect::{Filter, Filters, Test};
use crate::suggest;
use crate::vm::Vm;

pub(super) const TABLE: Filters = &[
    ("map", map),
    ("reject", |_, x, args| chosen(x, args, false, false)),
    ("rejectattr", |_, x, args| chosen(x, args, false, true)),
    ("select", |_, x, args| chosen(x, args, true, false)),
    ("selectattr", |_, x, args| chosen(x, args, true, true)),
];

/// The work of `map` on an item.
enum Mapper {
    Attribute(Getter, Option<Obj>),
    Filter(Filter, CallArgs),
}

impl Mapper {
    fn new(vm: &Vm<'_>, mut args: CallArgs) -> Result<Self> {
        let attribute = args
            .named
            .iter()
            .position(|(name, _)| **name == *"attribute");
        if let Some(i) = attribute.filter(|_| args.positional.is_empty()) {
            let (_, attribute) = args.named.remove(i);
            let default = args
                .named
                .iter()
                .position(|(name, _)| **name == *"default")
                .map(|i| args.named.remove(i).1);
            if let Some((name, _)) = args.named.first() {
                let name = mapstack_value::quote_str(name);
                return Err(misuse(format!("Unexpected keyword argument {name}")));
            }
            return Ok(Mapper::Attribute(
                attribute_getter(Some(&attribute)),
                default.filter(|d| !d.is_none()),
            ));
        }
        if args.positional.is_empty() {
            return Err(misuse("map requires a filter argument"));
        }
        let name = args.positional.remove(0);
        let text = callable_name(&name)?;
        let known = |text: &Str| vm.dialect().builtins().filter(text);
        match text.as_ref().and_then(known) {
            Some(filter) => Ok(Mapper::Filter(filter, args)),
            None => {
                let near = text.and_then(|text| suggest::for_filter(vm.dialect(), &text));
                Err(unknown("filter", &name, near))
            }
        }
    }

    fn apply(&self, vm: &Vm<'_>, item: Obj) -> Result<Obj> {
        match self {
            Mapper::Attribute(getter, default) => getter.get(vm, item, default.as_ref()),
            Mapper::Filter(filter, args) => filter(vm, item, args.clone()),
        }
    }
}

/// The error of a name that no filter or test has.
fn unknown(what: &str, name: &Obj, help: Option<String>) -> Box<Error> {
    let mut error = misuse(format!("No {what} named {}.", quoted(name)));
    error.help = help;
    error
}

/// A generator's input and what it does with each item, made when the first item is requested.
enum GeneratorState<T> {
    New,
    Running(Iter, Rc<T>),
    Finished,
}

impl<T> GeneratorState<T> {
    fn start(
        &mut self,
        input: &Obj,
        make: impl FnOnce() -> Result<T>,
    ) -> Result<Option<(Iter, Rc<T>)>> {
        if let GeneratorState::New = self {
            *self = GeneratorState::Finished;
            if input.truthy()? {
                let work = make()?;
                *self = GeneratorState::Running(input.iter()?, Rc::new(work));
            }
        }
        Ok(match self {
            GeneratorState::Running(items, work) => Some((items.clone(), work.clone())),
            _ => None,
        })
    }
}

fn map(_: &Vm<'_>, x: Obj, args: CallArgs) -> Result<Obj> {
    let mut state = GeneratorState::New;
    let mut args = Some(args);
    generator("sync_do_map", &x.clone(), move |vm| {
        let made = state.start(&x, || Mapper::new(vm, args.take().unwrap_or_default()))?;
        let Some((items, mapper)) = made else {
            return Ok(None);
        };
        items
            .next(vm)?
            .map(|item| mapper.apply(vm, item))
            .transpose()
    })
}

/// The condition of `select`, `reject` and their variants.
struct Chooser {
    getter: Getter,
    test: Option<(Test, CallArgs)>,
    keep: bool,
}

impl Chooser {
    fn new(vm: &Vm<'_>, mut args: CallArgs, keep: bool, by_attribute: bool) -> Result<Self> {
        let mut getter = attribute_getter(None);
        if by_attribute {
            if args.positional.is_empty() {
                return Err(misuse("Missing parameter for attribute name"));
            }
            getter = attribute_getter(Some(&args.positional.remove(0)));
        }
        if args.positional.is_empty() {
            return Ok(Chooser {
                getter,
                test: None,
                keep,
            });
        }
        let name = args.positional.remove(0);
        let text = callable_name(&name)?;
        let known = |text: &Str| vm.dialect().builtins().test(text);
        match text.as_ref().and_then(known) {
            Some(test) => Ok(Chooser {
                getter,
                test: Some((test, args)),
                keep,
            }),
            None => {
                let near = text.and_then(|text| suggest::for_test(vm.dialect(), &text));
                Err(unknown("test", &name, near))
            }
        }
    }

    fn wants(&self, vm: &Vm<'_>, item: &Obj) -> Result<bool> {
        let subject = self.getter.get(vm, item.clone(), None)?;
        let verdict = match &self.test {
            Some((test, args)) => test(vm, &subject, args.clone())?,
            None => subject.truthy()?,
        };
        Ok(verdict == self.keep)
    }
}

fn chosen(x: Obj, args: CallArgs, keep: bool, by_attribute: bool) -> Result<Obj> {
    let mut state = GeneratorState::New;
    let mut args = Some(args);
    generator("select_or_reject", &x.clone(), move |vm| {
        let made = state.start(&x, || {
            Chooser::new(vm, args.take().unwrap_or_default(), keep, by_attribute)
        })?;
        let Some((items, chooser)) = made else {
            return Ok(None);
        };
        while let Some(item) = items.next(vm)? {
            if chooser.wants(vm, &item)? {
                return Ok(Some(item));
            }
        }
        Ok(None)
    })
}
