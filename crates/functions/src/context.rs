//! The facts, files and calls that functions can ask for.

use std::cell::Ref;
use std::sync::Arc;

use mapstack_diagnostic::{Diagnostic, Result};
use mapstack_loader::{Fetched, SaltPath};
use mapstack_minion::{ConfigGet, Minion, Part, PillarGet, SaltVersion};
use mapstack_pyobject::{CallArgs, Error, Obj};
use mapstack_salt_config::disk::Entry;
use mapstack_salt_jinja::Vm;
use mapstack_value::{Map, Str, Value};

use crate::flow::Flow;

/// The file or directory at an absolute path, in the folder of the checkout for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OnMachine {
    /// A file.
    File {
        /// The path in the checkout.
        on_disk: String,
        /// Its content.
        bytes: Arc<[u8]>,
    },
    /// A directory, with what it contains by name.
    Directory(Vec<Entry>),
    /// Nothing.
    Missing,
}

/// A run of templates as its functions see it.
///
/// Whatever a function can learn of the minion or of files is learnt by one of these methods, so that a run can
/// record what a result depends on.
pub trait Context {
    /// The minion's name.
    fn id(&self) -> Value;

    /// One grain.
    fn grain(&self, key: &str) -> Option<Value>;

    /// True if there is a grain.
    fn has_grain(&self, key: &str) -> bool;

    /// The part of grains or pillar that look-ups can reach whose first step is a text.
    fn below(&self, part: Part, first: &str) -> Map;

    /// All facts: a result that looks at them is this minion's alone.
    fn facts(&self) -> Ref<'_, Minion>;

    /// An option of the minion, `None` if it has none of that name.
    fn option(&self, name: &str) -> Value;

    /// `pillar.get`.
    ///
    /// # Errors
    /// A key that cannot be looked up.
    fn pillar_get(&self, key: &Value, query: &PillarGet) -> Result<Value>;

    /// `config.get`.
    ///
    /// # Errors
    /// A key that cannot be looked up, or values that cannot be merged.
    fn config_get(&self, key: &Value, query: &ConfigGet) -> Result<Option<Value>>;

    /// The grains, as templates see and change them.
    fn grains(&self) -> &Obj;

    /// The pillar, as templates see and change it.
    fn pillar(&self) -> &Obj;

    /// The options, as templates see them.
    fn opts(&self) -> Obj;

    /// The object at a key in live data, its identity kept.
    ///
    /// # Errors
    /// A key or a delimiter that Python refuses.
    fn traverse(
        &self,
        data: &Obj,
        key: &Value,
        delimiter: &str,
    ) -> mapstack_pyobject::Result<Option<Obj>>;

    /// The version of Salt that is followed.
    fn salt_version(&self) -> SaltVersion {
        SaltVersion::default()
    }

    /// The data that targets by pillar look into if it is not the pillar.
    fn pillar_of_targets(&self) -> Option<Value> {
        None
    }

    /// The data that targets by pillar look into if a template asks by a function, and not a top file.
    fn pillar_of_functions(&self) -> Option<Value> {
        self.pillar_of_targets()
    }

    /// True if functions run on a machine that is not the minion's: its master's, which compiles a pillar.
    fn is_elsewhere(&self) -> bool {
        false
    }

    /// The saltenv of the run.
    fn saltenv(&self) -> Str;

    /// The saltenvs of the file server.
    fn envs(&self) -> Vec<String>;

    /// Ask the file server for a file.
    ///
    /// # Errors
    /// It cannot be read.
    fn fetch(&self, path: &SaltPath, saltenv: &str) -> Result<Fetched>;

    /// Ask for a file of the pillar; `None` unless a master's template asks.
    ///
    /// # Errors
    /// It cannot be read.
    fn fetch_of_pillar(&self, _path: &SaltPath, _saltenv: &str) -> Result<Option<Fetched>> {
        Ok(None)
    }

    /// The file or directory at an absolute path; `None` where no folder is deployed there.
    ///
    /// # Errors
    /// It cannot be read, or is a link out of the folders.
    fn on_machine(&self, _path: &str) -> Result<Option<OnMachine>> {
        Ok(None)
    }

    /// The result of a call that nothing answers.
    ///
    /// # Errors
    /// Usually that nothing does, with what to do about it.
    fn unanswered(
        &self,
        _vm: &Vm<'_>,
        name: &str,
        _args: &CallArgs,
    ) -> mapstack_pyobject::Result<Obj> {
        Err(Error::new(
            mapstack_pyobject::ErrorKind::Undefined,
            format!("salt[{}] is undefined", mapstack_value::quote_str(name)),
        ))
    }

    /// The files of a saltenv below a directory.
    ///
    /// # Errors
    /// They cannot be listed.
    fn list(&self, saltenv: &str, directory: &str) -> Result<Vec<String>>;

    /// A file of the run's saltenv: where it lies, and its text.
    ///
    /// # Errors
    /// It cannot be read, or is not text.
    fn text_file(&self, path: &str) -> Result<Option<(String, String)>>;

    /// Pass a warning on to the caller of the template.
    fn warn(&self, warning: Diagnostic);

    /// True if anything observes how functions move values.
    fn is_followed(&self) -> bool {
        false
    }

    /// Report a step that moves values.
    fn flows(&self, _flow: Flow<'_>) {}

    /// Call another function that is built in; `None` for a name that is unknown.
    fn call(
        &self,
        vm: &Vm<'_>,
        name: &str,
        args: CallArgs,
    ) -> Option<mapstack_pyobject::Result<Obj>>;

    /// The advice about a function that does not exist.
    fn help(&self, name: &str) -> String;
}

/// A function: `salt['module.name'](args)`.
pub type ContextFunction = fn(&dyn Context, &Vm<'_>, CallArgs) -> mapstack_pyobject::Result<Obj>;

/// A module's functions with their full names.
pub type ModuleTable = &'static [(&'static str, ContextFunction)];

/// The object at a key in live data; the key is text with delimiters, or its steps.
///
/// # Errors
/// A `TypeError` for a key that is neither, and Python's error for an empty delimiter.
pub(crate) fn look(
    run: &dyn Context,
    data: &Obj,
    key: &Obj,
    delimiter: &str,
) -> mapstack_pyobject::Result<Option<Obj>> {
    let key = match key {
        Obj::Dict(dict) => dict
            .keys()
            .iter()
            .map(mapstack_value::Key::to_value)
            .collect(),
        Obj::None | Obj::Float(_) => {
            return Err(Error::type_error(format!(
                "'{}' object is not iterable",
                key.type_name()
            )));
        }
        key => key.to_value()?,
    };
    run.traverse(data, &key, delimiter)
}
