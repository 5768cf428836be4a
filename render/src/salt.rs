//! The `salt` object of a template: `salt['mod.fn'](…)` and `salt.mod.fn(…)`.

use mapstack_value::Str;

use crate::error::Result;
use crate::jinja::Vm;
use crate::jinja::charge::Named;
use crate::object::{CallArgs, Obj, Object, Undefined, required};

/// The `salt` variable. What it can call is up to the render's [`Host`](crate::jinja::Host).
pub fn salt_object() -> Obj {
    Obj::native(Functions)
}

/// Call a function for a template of another language than Jinja.
///
/// # Errors
/// There is no such function, or what it raises.
pub(crate) fn call_by_name(vm: &Vm<'_>, name: &str, args: CallArgs) -> Result<Obj> {
    let host = vm.host();
    if host.has_function(name) {
        return host.call_function(vm, name, args);
    }
    Err(host.unanswered(name, &args).unwrap_or_else(|| {
        let error = crate::Error::new(
            crate::ErrorKind::Nested,
            format!("there is no function '{name}'"),
        );
        match host.missing_function_help(name) {
            Some(help) => error.with_help(help),
            None => error,
        }
    }))
}

/// Whether an object is the `salt` variable.
pub(crate) fn is_salt(object: &Obj) -> bool {
    object.type_name() == TYPE_NAME
}

/// What the reference's object is called, as errors about missing functions name it.
const TYPE_NAME: &str = "salt.utils.templates.AliasedLoader";

struct Functions;

impl Functions {
    fn function(vm: &Vm<'_>, name: &str) -> Option<Obj> {
        vm.host()
            .has_function(name)
            .then(|| Obj::native(Function(name.into())))
    }
}

impl Object for Functions {
    fn type_name(&self) -> &'static str {
        TYPE_NAME
    }

    fn item(&self, vm: &Vm<'_>, key: &Obj) -> Result<Option<Obj>> {
        let Some(name) = key.as_str() else {
            return Ok(None);
        };
        if let Some(function) = Self::function(vm, name) {
            return Ok(Some(function));
        }
        // `salt['get']` is the method, as on any mapping.
        if !name.contains('.') {
            return Ok(None);
        }
        Ok(Some(
            Undefined::function(vm, &salt_object(), name, name).into(),
        ))
    }

    fn contains(&self, vm: &Vm<'_>, needle: &Obj) -> Option<Result<bool>> {
        Some(Ok(needle
            .as_str()
            .is_some_and(|name| vm.host().has_function(name))))
    }

    fn attr(&self, vm: &Vm<'_>, name: &str) -> Option<Obj> {
        match name {
            "get" => Some(Obj::native(Get)),
            name if vm.host().has_module(name) => Some(Obj::native(Module(name.into()))),
            name => Some(Undefined::module(vm, &salt_object(), name).into()),
        }
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

    fn call(&self, vm: &Vm<'_>, args: CallArgs) -> Result<Obj> {
        let [name, default] = args.bind("get", ["key", "default"])?;
        let name = required(name, "get", "key")?;
        let found = name.as_str().and_then(|name| Functions::function(vm, name));
        Ok(found.or(default).unwrap_or_default())
    }
}

/// `salt.mod`, on the way to `salt.mod.fn`.
struct Module(Str);

impl Object for Module {
    fn type_name(&self) -> &'static str {
        "salt.loader.lazy.LoadedMod"
    }

    fn attr(&self, vm: &Vm<'_>, name: &str) -> Option<Obj> {
        let full = format!("{}.{name}", self.0);
        Functions::function(vm, &full).or_else(|| {
            let object = Obj::native(Module(self.0.clone()));
            Some(Undefined::function(vm, &object, name, &full).into())
        })
    }
}

/// A function, ready to be called.
struct Function(Str);

impl Object for Function {
    fn type_name(&self) -> &'static str {
        "function"
    }

    fn repr(&self) -> Result<String> {
        Ok(format!("<function {}>", self.0))
    }

    fn callable(&self) -> bool {
        true
    }

    fn call(&self, vm: &Vm<'_>, args: CallArgs) -> Result<Obj> {
        vm.charged(Named::Function, &self.0, None, &args)?;
        vm.made(vm.host().call_function(vm, &self.0, args)?)
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

    fn call(&self, vm: &Vm<'_>, mut args: CallArgs) -> Result<Obj> {
        let named = args.named.iter().position(|(name, _)| **name == *"data");
        let data = match named {
            Some(at) if args.positional.is_empty() => args.named.remove(at).1,
            _ if args.positional.is_empty() => required(None, "traverse_dict_and_list", "data")?,
            _ => args.positional.remove(0),
        };
        crate::filters::traverse(vm, data, args)
    }
}
