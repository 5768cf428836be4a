//! Managed files: templates without a pipe, as `file.managed` renders them.

use std::sync::Arc;

use mapstack_diagnostic::nearest;
use mapstack_loader::{LoadError, SaltPath};
use mapstack_render::Obj;
use mapstack_value::{Map, Str};

use crate::engine::Run;
use crate::file::File;
use crate::render::{Job, Language};
use mapstack_diagnostic::{Error, ErrorKind, Result};

/// The arguments of [`Run::template`] besides the file, named as in `file.managed`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TemplateOptions {
    /// The template engine, `template:` in a state; `jinja` by default.
    pub engine: Option<String>,
    /// The path of the managed file, which is the variable `name`.
    pub name: Option<String>,
    /// Variables that override all others.
    pub context: Map,
    /// Variables that `context` overrides.
    pub defaults: Map,
}

/// Engines of the reference that are not built in.
const ABSENT: [&str; 3] = ["wempy", "genshi", "cheetah"];

/// Engines that depend on a feature of the build.
const OPTIONAL: [&str; 1] = ["tera"];

/// The engine with this name in `template:` or `post_map_template`; `None` if the name is unknown.
///
/// # Errors
/// The reference has this engine, but this crate does not.
pub(crate) fn engine(name: &str, shown: &str) -> Result<Option<Language>> {
    match name {
        "jinja" => Ok(Some(Language::Jinja)),
        #[cfg(feature = "tera")]
        "tera" => Ok(Some(Language::Tera)),
        "mako" => Ok(Some(Language::Mako)),
        "py" => Ok(Some(Language::Py)),
        name if ABSENT.contains(&name) || OPTIONAL.contains(&name) => {
            let message = format!("{shown}: the template engine '{name}' is not built in");
            Err(Error::new(ErrorKind::Unsupported, message))
        }
        _ => Ok(None),
    }
}

impl Run<'_> {
    /// The text of a managed file (Salt: `file.managed` with `template:`, `cp.get_template`).
    ///
    /// `path` is the path on the file server, with or without `salt://`. It can end in `?saltenv=` and the name of
    /// another saltenv. A `#!` line is part of the text.
    ///
    /// ```
    /// use mapstack::{Engine, TemplateOptions, loader::MemoryFiles, minion::Minion};
    /// let files = MemoryFiles::new().file("base", "motd", "{{ grains.id }}: {{ text }}\n");
    /// let engine = Engine::new(files);
    /// let context = [("text", "be kind")].into_iter().collect();
    /// let options = TemplateOptions { context, ..TemplateOptions::default() };
    /// let text = engine.run(&Minion::new("web1").complete()).template("salt://motd", &options).unwrap();
    /// assert_eq!(text, "web1: be kind\n");
    /// ```
    ///
    /// # Errors
    /// The file does not exist, the engine is not available, or the template fails.
    pub fn template(&self, path: &str, options: &TemplateOptions) -> Result<String> {
        let (file, saltenv) = self.wanted_file(path)?;
        let name = options.engine.as_deref().unwrap_or("jinja");
        let known =
            engine(name, &file.shown).map_err(|e| e.help("write the template in jinja or tera"))?;
        let Some(language) = known else {
            let error = Error::new(
                ErrorKind::Options,
                format!("unknown template engine '{name}'"),
            );
            return Err(match nearest(name, ["jinja", "tera", "mako", "py"]) {
                Some(near) => error.help(format!("did you mean '{near}'?")),
                None => error.help("there are jinja, mako, py and tera"),
            });
        };
        let mut variables = self.common_variables(&saltenv);
        for unset in ["user", "group", "mode", "attrs"] {
            variables.insert(unset.into(), Obj::None);
        }
        variables.insert("source".into(), Obj::from(format!("salt://{}", file.path)));
        if let Some(name) = &options.name {
            variables.insert("name".into(), Obj::from(name.as_str()));
        }
        let given = options.defaults.iter().chain(&options.context);
        if language.takes_context_as_one() {
            let context: Map = given
                .map(|(name, value)| (name.clone(), value.clone()))
                .collect();
            variables.insert("context".into(), Obj::from(context));
        } else {
            variables.extend(
                given.map(|(name, value)| (Str::from(name.to_string()), Obj::from(value.clone()))),
            );
        }
        let source: Arc<str> = file.text()?.into();
        let job = Job {
            language,
            variables,
            syntax: &self.syntax,
            saltenv: &saltenv,
            edit_log: None,
        };
        let text = self.run_template(&file, &source, job, Vec::new())?;
        Ok(match language {
            Language::Py => text.as_str().to_owned(),
            _ => self.with_line_ends(text.as_str()),
        })
    }

    /// The file that a caller named, with its saltenv.
    pub(super) fn wanted_file(&self, path: &str) -> Result<(File, Str)> {
        let asked = match path.contains("://") {
            true => SaltPath::parse(path)
                .map_err(|e| Error::new(ErrorKind::Options, format!("{path}: {e}")))?,
            false => SaltPath::from_relative(path),
        };
        let saltenv = asked
            .saltenv()
            .map_or_else(|| self.saltenv.clone(), Str::from);
        match self.fetch_from(&asked, &saltenv)? {
            Some(file) => Ok((file, saltenv)),
            None => Err(self.missing_file(&asked, &saltenv)),
        }
    }

    fn missing_file(&self, asked: &SaltPath, saltenv: &Str) -> Error {
        let path = asked.to_string();
        let missing = LoadError::Missing {
            path: path.clone(),
            saltenv: saltenv.to_string(),
        };
        let error = Error::new(ErrorKind::File, missing.to_string()).caused_by(missing);
        let listed = self.list_files(saltenv, "").unwrap_or_default();
        let init = format!("{path}/init.sls");
        let near = if listed.contains(&init) {
            Some(init)
        } else {
            nearest(&path, &listed).map(String::from)
        };
        match near {
            Some(near) => error.help(format!("did you mean salt://{near}?")),
            None => error,
        }
    }
}
