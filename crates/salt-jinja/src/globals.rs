//! The names that every template of Salt has (Salt: `JinjaGlobal`, `render_jinja_tmpl`).

use std::rc::Rc;

use mapstack_jinja::globals::{Call, RustFunction, dict};
use mapstack_jinja::{Names, ScopeChain, Vm};
use mapstack_pyobject::{CallArgs, Error, ErrorKind, Obj, Result, required, to_str};
use mapstack_value::{MapKind, Str};

/// Jinja2's globals and Salt's additions.
pub(crate) fn builtins() -> Rc<ScopeChain> {
    thread_local! {
        // Functions without state, so every render on a thread can share them.
        static BUILTINS: Rc<ScopeChain> = ScopeChain::over(names(), None);
    }
    BUILTINS.with(Rc::clone)
}

/// All names, in the order in which `show_full_context` has them.
fn names() -> Names {
    let own = mapstack_jinja::globals::builtins();
    let mut names = Names::default();
    for (name, object) in own.flatten() {
        let is_dict = *name == *"dict";
        names.insert(name, object);
        if is_dict {
            names.insert("odict".into(), RustFunction::object("odict", odict));
        }
    }
    let added = ADDED
        .iter()
        .map(|(name, call)| (Str::from(*name), RustFunction::object(name, *call)));
    names.extend(added);
    names
}

const ADDED: &[(&str, Call)] = &[
    ("raise", raise),
    ("show_full_context", show_full_context),
    ("ifelse", ifelse),
];

fn odict(vm: &Vm<'_>, args: CallArgs) -> Result<Obj> {
    dict(vm, args, MapKind::Ordered)
}

fn raise(_: &Vm<'_>, args: CallArgs) -> Result<Obj> {
    let [message] = args.bind("raise", ["msg"])?;
    Err(Error::new(
        ErrorKind::Raised,
        to_str(&required(message, "jinja_raise", "msg")?)?,
    ))
}

/// Every variable of the render, the globals among them.
fn show_full_context(vm: &Vm<'_>, args: CallArgs) -> Result<Obj> {
    let [] = args.only_positional("show_full_context", 0)?;
    Ok(Obj::dict(
        vm.variables()
            .into_iter()
            .map(|(name, value)| (name.into(), value)),
    ))
}

/// In the reference this needs a module context that templates do not have.
fn ifelse(_: &Vm<'_>, _: CallArgs) -> Result<Obj> {
    Err(Error::python(
        "KeyError",
        "'match.filter_by' is not available to ifelse() inside a template",
    )
    .with_help("use an inline if: {{ a if condition else b }}"))
}
