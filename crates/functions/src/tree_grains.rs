//! Grains that modules of the tree compute: `salt://_grains/*.py`.
//!
//! Salt calls each public function of each file, in order, and merges the dicts over the grains so far (Salt:
//! `salt.loader.grains`). A function that raises is left out, with a message in the log.

use mapstack_diagnostic::{Diagnostic, ErrorKind, Means, Result};
use mapstack_merge::{Options, Strategy, merge};
use mapstack_minion::{Minion, platforms::Platform};
use mapstack_pyobject::ErrorKind as RenderErrorKind;
use mapstack_salt_jinja::{Vm, expr_match};
use mapstack_sandbox::{FunctionAnswer, FunctionJob, Loader};
use mapstack_value::{Key, Map, Str, Value, text_for_bytes};

use crate::Functions;
use crate::calls::{Call, CallError};
use crate::tree::{ModuleTree, TreeContext, module_of, perform};

/// A minion's grains with those that the tree computes.
#[derive(Debug, Default)]
pub struct TreeGrains {
    /// All grains.
    pub grains: Map,
    /// The files that computed some, by the names of the grains.
    pub computed: Vec<(Key, Str)>,
    /// Warnings about facts that were not computed.
    pub warnings: Vec<Diagnostic>,
}

/// Compute the grains of a minion of a platform by the modules of the tree. What the minion has besides the platform's is set by
/// its configuration, and stays. A function that needs the machine, or a file that does not load, is a warning that
/// names it, and so are files that cannot be listed. `stubs` answer for functions, by the name `grains.MODULE.FUNCTION`.
#[must_use]
pub fn tree_grains(
    run: &dyn TreeContext,
    vm: &Vm<'_>,
    minion: &Minion,
    platform: &Platform,
    stubs: &dyn Functions,
) -> TreeGrains {
    let own = platform.minion().grains;
    let (mut core, mut set) = (Map::new(), Map::new());
    for (name, value) in &minion.grains {
        // The name is a grain that Salt computes.
        let is_core = own.get(name) == Some(value) || name.as_str() == Some("id");
        let part = if is_core { &mut core } else { &mut set };
        part.insert(name.clone(), value.clone());
    }
    let mut work = GrainsWork {
        run,
        vm,
        minion,
        set: &set,
        stubs,
        made: TreeGrains {
            grains: core,
            ..TreeGrains::default()
        },
    };
    match files(run) {
        Ok(files) => {
            let mut files = files.iter();
            // If one file cannot be run at all, others cannot either.
            let _ = files.all(|(stem, path)| work.file(stem, path));
        }
        Err(error) => {
            let message = format!("the grains of the tree are not computed: {error}");
            work.warn(message, None);
        }
    }
    let mut made = work.made;
    if let Some(Value::Map(grains)) = text_for_bytes(&made.grains.clone().into()) {
        made.grains = grains;
    }
    for (name, value) in set {
        made.computed.retain(|(computed, _)| *computed != name);
        made.grains.insert(name, value);
    }
    made
}

/// The files, in the order in which Salt loads what was copied to a minion, by the names of the modules. `core` is first.
fn files(run: &dyn TreeContext) -> Result<Vec<(String, String)>> {
    let directory = format!("{}/", Loader::Grains.directory());
    let mut files: Vec<(String, String)> = Vec::new();
    for env in run.module_envs(true) {
        for path in run.module_files(&env, &directory)? {
            let name = path.strip_prefix(&*directory).and_then(module_of);
            if let Some(stem) = name
                && files.iter().all(|(known, _)| *known != stem)
            {
                files.push((stem.to_owned(), path.clone()));
            }
        }
    }
    files.sort_by(|(a, _), (b, _)| (a != "core", a).cmp(&(b != "core", b)));
    Ok(files)
}

struct GrainsWork<'w> {
    run: &'w dyn TreeContext,
    vm: &'w Vm<'w>,
    minion: &'w Minion,
    /// The grains that the minion's configuration sets.
    set: &'w Map,
    stubs: &'w dyn Functions,
    made: TreeGrains,
}

impl GrainsWork<'_> {
    /// The grains of a file; false if no other file can be run either.
    fn file(&mut self, stem: &str, path: &str) -> bool {
        let names = match self.ask(stem, None) {
            Ok(FunctionAnswer::Names(names)) => names,
            Ok(FunctionAnswer::Missing(why)) => {
                let why = why.unwrap_or_else(|| format!("salt://{path} does not load"));
                self.warn(format!("{why}; its grains are left out"), None);
                return true;
            }
            Ok(FunctionAnswer::Value(_) | FunctionAnswer::Text(_)) => return true,
            Err(error) if error.kind == RenderErrorKind::Absent => {
                let message = format!(
                    "the grains of salt://{path} and other files are not computed: {}",
                    error.message
                );
                self.warn(message, error.help.clone());
                return false;
            }
            Err(error) => {
                let message = format!(
                    "the grains of salt://{path} are not computed: {}",
                    error.message
                );
                self.warn(message, None);
                return true;
            }
        };
        names
            .iter()
            .for_each(|name| self.function(stem, path, name));
        true
    }

    /// The grains of a function.
    fn function(&mut self, stem: &str, path: &str, function: &Str) {
        let name = format!("{stem}.{function}");
        let answer = match self.stubbed(&name) {
            Some(answer) => answer.map_err(|e| e.to_string()),
            None => match self.ask(stem, Some(function)) {
                Ok(FunctionAnswer::Value(value)) => Ok(value),
                Ok(_) => return,
                // The function needs what does not exist, or took too long: nothing is known about its grains.
                Err(error)
                    if matches!(
                        error.kind,
                        RenderErrorKind::Undefined | RenderErrorKind::Limit
                    ) =>
                {
                    let message = format!(
                        "the grains of {name}() in salt://{path} are not computed: {}",
                        error.message
                    );
                    let help = format!(
                        "put `grains.{name}: {{return: {{NAME: VALUE}}}}` in a file for {}, with the grains that it returns",
                        Means::Stub
                    );
                    return self.warn(message, Some(help));
                }
                Err(error) => Err(error.message.clone()),
            },
        };
        match answer {
            Ok(Value::Map(grains)) => self.add(path, &grains),
            Ok(_) => {}
            Err(message) => {
                let message = format!(
                    "the grains of {name}() in salt://{path} are left out, as in Salt: {message}"
                );
                self.warn(message, None);
            }
        }
    }

    /// Merge what a function returned over the grains so far.
    fn add(&mut self, path: &str, returned: &Map) {
        let option = |name: &str| self.minion.opts.get(name);
        let blocked = option("grains_blacklist")
            .and_then(Value::as_list)
            .unwrap_or_default();
        let is_free = |(name, _): &(&Key, &Value)| {
            let is_blocked = |block: &Value| expr_match(&name.to_string(), &block.to_string());
            !blocked.iter().any(is_blocked)
        };
        let free = returned.iter().filter(is_free);
        let grains: Map = free
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        let made = &mut self.made;
        for name in grains.keys() {
            made.computed.retain(|(computed, _)| computed != name);
            made.computed.push((name.clone(), path.into()));
        }
        if option("grains_deep_merge") == Some(&Value::Bool(true)) {
            let options = Options {
                strategy: Strategy::Recurse,
                ..Options::default()
            };
            // Two mappings are always united.
            let merged = merge(made.grains.clone().into(), &grains.into(), &options);
            if let Ok(Value::Map(merged)) = merged {
                made.grains = merged;
            }
        } else {
            made.grains.extend(grains);
        }
    }

    fn ask(
        &self,
        stem: &str,
        function: Option<&Str>,
    ) -> std::result::Result<FunctionAnswer, Box<mapstack_pyobject::Error>> {
        let job = FunctionJob {
            loader: Loader::Grains,
            module: stem.into(),
            function: function.cloned(),
            arguments: Vec::new(),
            // The grains so far are requested by functions that take them: others answer alike for all minions.
            keywords: Vec::new(),
        };
        let files = ModuleTree::with_grains(self.run, self.set, &self.made.grains);
        perform(&files, self.vm, job).map(|(answer, _)| answer)
    }

    /// The answer that was written down for a function.
    fn stubbed(&self, name: &str) -> Option<std::result::Result<Value, CallError>> {
        let call = Call {
            minion: self.minion.id().to_string().into(),
            ..Call::new(format!("grains.{name}"))
        };
        self.stubs.call(&call)
    }

    fn warn(&mut self, message: String, help: Option<String>) {
        let warning = Diagnostic::warning(ErrorKind::Facts, message);
        self.made.warnings.push(match help {
            Some(help) => warning.with_help(help),
            None => warning,
        });
    }
}
