//! Managed files: templates without a pipe, as `file.managed` renders them.

use std::sync::Arc;

use mapstack_diagnostic::nearest;
use mapstack_loader::{LoadError, SaltPath};
use mapstack_pyobject::Obj;
use mapstack_value::{Key, Map, Str, Value};

use crate::file::File;
use crate::render::{Job, Language};
use crate::run::Run;
use crate::text::Text;
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

/// A template that a state of a managed file renders, without its text.
#[derive(Debug, Clone, PartialEq)]
pub struct ManagedTemplate<'t> {
    /// The template engine: `template:` in the state.
    pub engine: &'t str,
    /// The variables that come from the state: `name`, `source`, arguments that the function does not know.
    pub variables: Map,
    /// The variables that override all others.
    pub context: Map,
}

/// The engine of a name.
fn known_engine(name: &str, shown: &str) -> Result<Language> {
    let known = engine(name, shown).map_err(|e| e.help("write the template in jinja or tera"))?;
    known.ok_or_else(|| {
        let error = Error::new(
            ErrorKind::Options,
            format!("unknown template engine '{name}'"),
        );
        match nearest(name, ["jinja", "tera", "mako", "py"]) {
            Some(near) => error.help(format!("did you mean '{near}'?")),
            None => error.help("there are jinja, mako, py and tera"),
        }
    })
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
        let unset = ["user", "group", "mode", "attrs"].map(|name| (name, Value::None));
        let mut variables = Map::from_iter(unset);
        variables.insert("source", format!("salt://{}", file.path));
        if let Some(name) = &options.name {
            variables.insert("name", name.as_str());
        }
        let given = options.defaults.iter().chain(&options.context);
        let template = ManagedTemplate {
            engine: options.engine.as_deref().unwrap_or("jinja"),
            variables,
            context: given
                .map(|(name, value)| (name.clone(), value.clone()))
                .collect(),
        };
        self.rendered(&file, &template, &saltenv)
    }

    /// The text of a template as a state of a managed file renders it, in the run's saltenv (Salt: `get_managed`,
    /// `apply_template_on_contents`). The file need not be one of the file server.
    ///
    /// # Errors
    /// The engine is not available, or the template fails.
    pub fn managed_text(&self, file: &File, template: &ManagedTemplate<'_>) -> Result<String> {
        self.rendered(file, template, &self.saltenv)
    }

    /// The same with the places of the text, traced if hooks do so.
    ///
    /// # Errors
    /// As [`managed_text`](Self::managed_text).
    pub fn traced_managed_text(
        &self,
        file: &File,
        template: &ManagedTemplate<'_>,
    ) -> Result<Text<'static>> {
        // Calls of `map.data` in the template are nested, as in a map.
        self.nested("a managed file was asked for", "ask for it alone", || {
            self.traced(|| self.run_managed(file, template, &self.saltenv))
        })
        .map(|(text, _)| text.into_owned())
    }

    /// The file behind a URL of the file server; nothing if none is served.
    ///
    /// # Errors
    /// The URL is not one of the file server, or the file cannot be read.
    pub fn served_file(&self, url: &str) -> Result<Option<File>> {
        let asked = SaltPath::parse(url)
            .map_err(|e| Error::new(ErrorKind::Options, format!("{url}: {e}")))?;
        let saltenv = asked.saltenv().unwrap_or(&self.saltenv);
        self.fetch_from(&asked, saltenv)
    }

    fn rendered(
        &self,
        file: &File,
        template: &ManagedTemplate<'_>,
        saltenv: &Str,
    ) -> Result<String> {
        let (text, language) = self.run_managed(file, template, saltenv)?;
        Ok(match language {
            Language::Py => text.as_str().to_owned(),
            _ => self.with_line_ends(text.as_str()),
        })
    }

    fn run_managed<'f>(
        &self,
        file: &'f File,
        template: &ManagedTemplate<'_>,
        saltenv: &Str,
    ) -> Result<(Text<'f>, Language)> {
        let language = known_engine(template.engine, &file.shown)?;
        let mut variables = self.common_variables(saltenv);
        let entries = |entries: &Map| -> Vec<(Str, Obj)> {
            let entry = |(name, value): (&Key, &Value)| {
                (Str::from(name.to_string()), Obj::from(value.clone()))
            };
            entries.iter().map(entry).collect()
        };
        variables.extend(entries(&template.variables));
        let mut syntax = self.jinja.syntax.clone();
        if language.takes_context_as_one() {
            variables.insert("context".into(), Obj::from(template.context.clone()));
        } else {
            variables.extend(entries(&template.context));
            if let Some(sls) = variables.get("sls").and_then(Obj::as_str).cloned() {
                for (name, value) in self.sls_variables("", &sls) {
                    variables.entry(name).or_insert(value);
                }
                if !sls.is_empty() {
                    syntax = self.sls_syntax();
                }
            }
        }
        let source: Arc<str> = file.text()?.into();
        let job = Job {
            language,
            variables,
            syntax: &syntax,
            saltenv,
            edit_log: None,
        };
        let text = self.run_template(file, &source, job, Vec::new())?;
        Ok((text, language))
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
