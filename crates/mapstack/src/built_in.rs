//! The built-in functions of a run: those of [`mapstack_functions`], and those that need the engine.

use mapstack_diagnostic::nearest;
use mapstack_pyobject::{CallArgs, Obj, Result};
use mapstack_salt_jinja::Vm;

use crate::run::Run;

/// A function that needs the engine.
pub(crate) type EngineFunction = fn(&Run<'_>, &Vm<'_>, CallArgs) -> Result<Obj>;

/// The functions of a module by their full names.
pub(crate) type RunTable = &'static [(&'static str, EngineFunction)];

/// A function of a run: `salt['module.name'](args)`.
#[derive(Clone, Copy)]
pub(crate) enum RunFunction {
    Own(EngineFunction),
    Plain(mapstack_functions::ContextFunction),
}

impl RunFunction {
    pub fn call(self, run: &Run<'_>, vm: &Vm<'_>, args: CallArgs) -> Result<Obj> {
        match self {
            RunFunction::Own(function) => function(run, vm, args),
            RunFunction::Plain(function) => function(run, vm, args),
        }
    }
}

/// The built-in functions: these tables, and the tables of [`mapstack_functions`].
#[derive(Clone, Copy)]
pub(crate) struct BuiltIn(pub &'static [RunTable]);

impl BuiltIn {
    pub fn all(self) -> impl Iterator<Item = (&'static str, RunFunction)> {
        let plain = mapstack_functions::TABLES.iter().copied().flatten();
        let own = self.0.iter().copied().flatten();
        plain
            .map(|(name, function)| (*name, RunFunction::Plain(*function)))
            .chain(own.map(|(name, function)| (*name, RunFunction::Own(*function))))
    }

    /// The function with this name.
    pub fn find(self, name: &str) -> Option<RunFunction> {
        self.all()
            .find(|(known, _)| *known == name)
            .map(|(_, function)| function)
    }

    /// True if any function of a module exists.
    pub fn has_module(self, module: &str) -> bool {
        self.all()
            .any(|(name, _)| name.split_once('.').is_some_and(|(m, _)| m == module))
    }

    /// The function with the most similar name.
    pub fn similar(self, name: &str) -> Option<&'static str> {
        nearest(name, self.all().map(|(known, _)| known))
    }

    /// Advice for a call of a function that does not exist.
    pub fn help(self, name: &str) -> String {
        match self.similar(name) {
            Some(near) => format!("did you mean salt['{near}']?"),
            None => {
                let module = name.split('.').next().unwrap_or(name);
                let siblings: Vec<&str> = self
                    .all()
                    .map(|(n, _)| n)
                    .filter(|n| n.split('.').next() == Some(module))
                    .collect();
                if siblings.is_empty() {
                    format!(
                        "no function of the module '{module}' is built in: it would need the minion itself"
                    )
                } else {
                    format!("built in from that module: {}", siblings.join(", "))
                }
            }
        }
    }
}
