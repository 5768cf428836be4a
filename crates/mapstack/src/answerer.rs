//! The sources of answers to the calls of templates.

use std::fmt;

use crate::survey::Survey;
use mapstack_loader::{Fetched, SaltPath};

use crate::engine::Engine;
use mapstack_diagnostic::{Error, Result};
use mapstack_functions::{Call, Functions};

/// The part that answers the calls of a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Answerer {
    /// A stub, at least for some arguments.
    Stub,
    /// The engine itself.
    BuiltIn,
    /// A module of the tree, in `salt://_modules`, at least if it has what it needs.
    Tree,
    /// Functions added with [`Engine::with_functions`].
    Outside,
    /// Nothing: a call is an error.
    Unanswered,
}

impl fmt::Display for Answerer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Answerer::Stub => "answered by a stub",
            Answerer::BuiltIn => "built in",
            Answerer::Tree => "answered by a module of the tree",
            Answerer::Outside => "answered from outside",
            Answerer::Unanswered => "not answered",
        })
    }
}

/// The beginning of errors about a function that Salt may have.
const UNANSWERED: &str = "nothing answers salt['";

/// The words of an error about a file of another machine.
pub const NOT_FETCHED: &str = "nothing is fetched by ";

/// The function that nothing answers, as an error says: where no template names it at the call, as code in Python and
/// variables do not.
///
/// ```
/// use mapstack::{Error, ErrorKind, unanswered_by};
/// let error = Error::new(ErrorKind::Undefined, "Python: salt['a.b'] is undefined: nothing answers salt['a.b'](1)");
/// assert_eq!(unanswered_by(&error), Some("a.b"));
/// assert_eq!(unanswered_by(&error.help("did you mean salt['a.c']?")), None);
/// ```
#[must_use]
pub fn unanswered_by(error: &Error) -> Option<&str> {
    let diagnostic = error.diagnostic();
    let (_, rest) = diagnostic.message.split_once(UNANSWERED)?;
    let (name, _) = rest.split_once("']")?;
    let is_slip = |help: &str| help.starts_with("did you mean");
    (!diagnostic.help.as_deref().is_some_and(is_slip)).then_some(name)
}

impl Engine {
    /// The part that answers calls of `salt[name]`, or uses of a filter that inspects the machine.
    ///
    /// ```
    /// use mapstack::{Answerer, Engine, loader::MemoryFiles};
    /// let engine = Engine::new(MemoryFiles::new());
    /// assert_eq!(engine.answerer("grains.get"), Answerer::BuiltIn);
    /// assert_eq!(engine.answerer("state.apply"), Answerer::Unanswered);
    /// ```
    #[must_use]
    pub fn answerer(&self, name: &str) -> Answerer {
        if self.stubs.has(name) {
            Answerer::Stub
        } else if self.built_in.find(name).is_some() {
            Answerer::BuiltIn
        } else if self.functions.iter().any(|functions| functions.has(name)) {
            Answerer::Outside
        } else if self.ships_module_of(name) {
            Answerer::Tree
        } else {
            Answerer::Unanswered
        }
    }

    /// True if a saltenv has a file with the name of a function's module.
    fn ships_module_of(&self, name: &str) -> bool {
        let Some((module, _)) = name.split_once('.') else {
            return false;
        };
        let paths = [
            format!("_modules/{module}.py"),
            format!("_modules/{module}/__init__.py"),
        ];
        let is_served = |env: &String| {
            paths.iter().any(|path| {
                let asked = SaltPath::from_relative(path);
                matches!(self.fetch(&asked, env), Ok(Fetched::Found { .. }))
            })
        };
        self.files.envs().iter().any(is_served)
    }

    /// Advice for users: how to get answers to calls of a function. It comes from the functions added to the engine.
    #[must_use]
    pub fn advice(&self, name: &str) -> Option<String> {
        let call = Call::new(name);
        self.functions
            .iter()
            .find_map(|functions| functions.advice(&call))
    }

    /// Read the templates of a formula without running them.
    ///
    /// The survey includes templates outside the formula's directory if their names consist of literals, `tplroot`
    /// and `tpldir`.
    ///
    /// # Errors
    /// The file server cannot list or read the files. Errors in templates are in [`Survey::errors`].
    ///
    /// ```
    /// use mapstack::{Engine, loader::MemoryFiles};
    /// let files = MemoryFiles::new().file("base", "web/init.sls", "{{ salt['grains.get']('os') }}");
    /// let survey = Engine::new(files).survey("web", "base").unwrap();
    /// assert_eq!(survey.calls[0].function.as_deref(), Some("grains.get"));
    /// assert_eq!(survey.calls[0].place.to_string(), "web/init.sls:1:4");
    /// ```
    pub fn survey(&self, formula: &str, saltenv: &str) -> Result<Survey> {
        let prefix = match formula.trim_end_matches('/') {
            "" => String::new(),
            formula => format!("{formula}/"),
        };
        self.survey_of(self.list(saltenv, &prefix)?, saltenv)
    }

    /// The survey of some files, by their paths on the file server.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn survey_files(&self, paths: Vec<String>, saltenv: &str) -> Result<Survey> {
        self.survey_of(paths, saltenv)
    }

    /// The survey of files that were listed.
    pub(crate) fn survey_of(&self, listed: Vec<String>, saltenv: &str) -> Result<Survey> {
        Survey::of(listed, |path| {
            let fetched = self.fetch(&SaltPath::from_relative(path), saltenv)?;
            Ok(match fetched {
                Fetched::Found { on_disk, bytes } => Some((on_disk.display().to_string(), bytes)),
                _ => None,
            })
        })
    }
}
