//! The keywords that callers of a pipe give its renderers: further variables, `tmplpath` and `context`.

use mapstack_diagnostic::Result;
use mapstack_pyobject::{DictRef, Obj};
use mapstack_salt_jinja::Names;
use mapstack_value::Key;

use super::{PipeInput, RunningStage};

impl RunningStage<'_, '_> {
    /// Refuse variables whose names are taken.
    pub(super) fn check_names(self) -> Result<()> {
        let mut given = self.source.extra.keys();
        let Some(name) = given.find(|name| self.stage.refuses(name)) else {
            return Ok(());
        };
        let (shown, renderer) = (&self.source.file.shown, &self.stage.name);
        let message =
            format!("{shown}: the renderer '{renderer}' cannot be given the variable '{name}'");
        Err(self
            .error(message)
            .help("it passes its own value under that name: rename the variable"))
    }

    /// The variables of `context`.
    pub(super) fn context(self) -> Result<Names> {
        let odd = |what: &str| {
            let shown = &self.source.file.shown;
            let message = format!("{shown}: `context` must be a mapping of variables, not {what}");
            Err(self.error(message))
        };
        match &self.source.context {
            None => Ok(Names::default()),
            Some(Obj::Dict(given)) => {
                let mut names = Names::default();
                for (key, value) in given.entries() {
                    match key {
                        Key::Str(name) => names.insert(name, value),
                        other => return odd(&format!("one with the key {other:?}")),
                    };
                }
                Ok(names)
            }
            Some(other) => odd(other.type_name()),
        }
    }

    /// The arguments that the renderer is given, if any.
    pub(super) fn argline(self) -> Option<Obj> {
        match &*self.stage.argline {
            "" => self.source.argline.clone(),
            argline => Some(Obj::from(argline)),
        }
    }

    /// The path of the file as templates see it; empty if the caller says that there is none.
    pub(super) fn tmplpath(self) -> Result<String> {
        let given = &self.source.tmplpath;
        match given {
            Obj::Str(path) => Ok(path.to_string()),
            other if !other.truthy().unwrap_or(true) => Ok(String::new()),
            other => {
                let shown = &self.source.file.shown;
                let message = format!("{shown}: `tmplpath` is {}, not text", other.type_name());
                Err(self.error(message))
            }
        }
    }
}

impl PipeInput<'_> {
    /// Take `tmplpath`, `argline` and `context` from the variables: renderers have parameters of these names.
    pub(crate) fn with_variables(mut self, mut variables: Names) -> Self {
        if let Some(path) = variables.shift_remove("tmplpath") {
            self.tmplpath = path;
        }
        self.argline = variables.shift_remove("argline");
        let context = variables.shift_remove("context");
        self.context = context.filter(|context| context.truthy().unwrap_or(true));
        self.extra = variables;
        self
    }
}

/// Variables as a `context`.
pub(crate) fn context_of(variables: Names) -> Obj {
    let entries = variables.into_iter();
    Obj::Dict(DictRef::new(
        entries
            .map(|(name, value)| (Key::Str(name), value))
            .collect(),
    ))
}
