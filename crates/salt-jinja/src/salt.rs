//! The `salt` object of a template: `salt['mod.fn'](…)` and `salt.mod.fn(…)`.

use mapstack_pyobject::{
    CallArgs, Error, ErrorKind, Interpreter, Obj, Object, Result, Undefined, required,
};
use mapstack_value::Str;

use mapstack_jinja::{HostFunction, Vm, call_in_render, in_render};

/// The `salt` variable. What it can call is up to the render's [`Host`](mapstack_jinja::Host).
pub fn salt_object() -> Obj {
    Obj::native(Functions)
}

/// Call a function for a template that is not written in Jinja.
///
/// # Errors
/// The function does not exist, or what it raises.
pub fn call_by_name(vm: &Vm<'_>, name: &str, args: CallArgs) -> Result<Obj> {
    let host = vm.host();
    if host.has_function(name) {
        return host.call_function(vm, name, args);
    }
    Err(host.unanswered(name, &args).unwrap_or_else(|| {
        let error = Error::new(ErrorKind::Nested, format!("unknown function '{name}'"));
        match host.missing_function_help(name) {
            Some(help) => error.with_help(help),
            None => error,
        }
    }))
}

/// True if an object is the `salt` variable.
#[must_use]
pub fn is_salt(object: &Obj) -> bool {
    object.type_name() == TYPE_NAME
}

/// The type name of the reference's object in errors about missing functions.
const TYPE_NAME: &str = "salt.utils.templates.AliasedLoader";

struct Functions;

impl Functions {
    fn function(vm: &Vm<'_>, name: &str) -> Option<Obj> {
        vm.host()
            .has_function(name)
            .then(|| HostFunction::object(name.into()))
    }

    /// The function for a template that asks whether there is one.
    fn asked(vm: &Vm<'_>, name: &Str) -> Option<Obj> {
        let found = Self::function(vm, name);
        if found.is_none() {
            vm.note_missing_function(name);
        }
        found
    }

    fn missing(vm: &Vm<'_>, object: &Obj, name: &str, full_name: &str) -> Obj {
        Undefined::attr(object, name, vm.strict())
            .with_help(vm.host().missing_function_help(full_name))
            .standing_for(full_name)
            .into()
    }
}

impl Object for Functions {
    fn type_name(&self) -> &'static str {
        TYPE_NAME
    }

    fn item(&self, interpreter: &dyn Interpreter, key: &Obj) -> Result<Option<Obj>> {
        let Some(name) = key.as_str().cloned() else {
            return Ok(None);
        };
        in_render(interpreter, move |vm| {
            if let Some(function) = Self::function(vm, &name) {
                return Ok(Some(function));
            }
            // `salt['get']` is the method, as on any mapping.
            Ok(name
                .contains('.')
                .then(|| Self::missing(vm, &salt_object(), &name, &name)))
        })
    }

    fn contains(&self, interpreter: &dyn Interpreter, needle: &Obj) -> Option<Result<bool>> {
        let Some(name) = needle.as_str().cloned() else {
            return Some(Ok(false));
        };
        let found = in_render(interpreter, move |vm| Ok(Self::asked(vm, &name)));
        Some(found.map(|function| function.is_some()))
    }

    fn attr(&self, interpreter: &dyn Interpreter, name: &str) -> Option<Obj> {
        if name == "get" {
            return Some(Obj::native(Get));
        }
        let name = Str::from(name);
        let found = in_render(interpreter, move |vm| {
            Ok(Some(if vm.host().has_module(&name) {
                Obj::native(Module(name.clone()))
            } else {
                Undefined::attr(&salt_object(), &name, vm.strict())
                    .standing_for(name.clone())
                    .into()
            }))
        });
        found.ok().flatten()
    }
}

/// `salt.get(name, default)`.
struct Get;

impl Object for Get {
    fn type_name(&self) -> &'static str {
        "method"
    }

    fn callable(&self) -> bool {
        true
    }

    fn call(&self, interpreter: &dyn Interpreter, args: CallArgs) -> Result<Obj> {
        let [name, default] = args.bind("get", ["key", "default"])?;
        let name = required(name, "get", "key")?;
        let Some(name) = name.as_str().cloned() else {
            return Ok(default.unwrap_or_default());
        };
        let found = in_render(interpreter, move |vm| Ok(Functions::asked(vm, &name)))?;
        Ok(found.or(default).unwrap_or_default())
    }
}

/// `salt.mod`, on the way to `salt.mod.fn`.
struct Module(Str);

impl Object for Module {
    fn type_name(&self) -> &'static str {
        "salt.loader.lazy.LoadedMod"
    }

    fn attr(&self, interpreter: &dyn Interpreter, name: &str) -> Option<Obj> {
        let (module, name) = (self.0.clone(), Str::from(name));
        let found = in_render(interpreter, move |vm| {
            let full = format!("{module}.{name}");
            Ok(Some(Functions::function(vm, &full).unwrap_or_else(|| {
                let object = Obj::native(Module(module.clone()));
                Functions::missing(vm, &object, &name, &full)
            })))
        });
        found.ok().flatten()
    }
}

/// `salt.utils.data.traverse_dict_and_list` as an object that templates can call.
pub fn traverse_object() -> Obj {
    Obj::native(Traverse)
}

struct Traverse;

impl Object for Traverse {
    fn type_name(&self) -> &'static str {
        "function"
    }

    fn repr(&self) -> Result<String> {
        Ok("<function traverse_dict_and_list>".into())
    }

    fn callable(&self) -> bool {
        true
    }

    fn call(&self, interpreter: &dyn Interpreter, mut args: CallArgs) -> Result<Obj> {
        let named = args.named.iter().position(|(name, _)| **name == *"data");
        let data = match named {
            Some(at) if args.positional.is_empty() => args.named.remove(at).1,
            _ if args.positional.is_empty() => required(None, "traverse_dict_and_list", "data")?,
            _ => args.positional.remove(0),
        };
        call_in_render(interpreter, move |vm| {
            crate::filters::traverse(vm, data, args)
        })
    }
}
