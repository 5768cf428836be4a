//! Formulas that compute their configuration in `map.jinja`.

use crate::survey::Survey;
use mapstack_diagnostic::nearest;
use mapstack_pyobject::{DictRef, Obj};
use mapstack_salt_jinja::Names;
use mapstack_value::{Key, Map, Str, Value};
use std::collections::HashMap;

use crate::engine::Engine;
use crate::file::File;
use crate::render::{Job, Language};
use crate::run::Run;
use mapstack_diagnostic::{Error, ErrorKind, Result};

/// The template to run, and the variable to return.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MapOptions {
    /// The path of the template in the formula's directory; `map.jinja` by default.
    pub template: Option<String>,
    /// The variable to return; by default the one that the formula itself uses.
    pub variable: Option<String>,
}

/// The form in which the templates of a formula import its map. This is the same for every minion.
#[derive(Debug, Clone, PartialEq)]
pub struct MapForm {
    formula: String,
    path: String,
    with_context: bool,
    /// The number of imports of each name.
    imported: HashMap<Str, usize>,
    /// True if a template imports it as a module, with all its variables.
    as_module: bool,
}

/// A variable that a template sets.
#[derive(Debug, Clone, PartialEq)]
pub struct Exported {
    /// Its name.
    pub variable: Str,
    /// Its value.
    pub value: Value,
}

impl Engine {
    /// Find out how a formula's templates import `map.jinja`, or another template in the formula's directory.
    ///
    /// Callers that run the map for many minions do this once, and then call [`Run::map_of`].
    ///
    /// # Errors
    /// The file server cannot list or read the formula's files.
    pub fn map_form(
        &self,
        formula: &str,
        template: Option<&str>,
        saltenv: &str,
    ) -> Result<MapForm> {
        Ok(MapForm::of(
            &self.survey(formula, saltenv)?,
            formula,
            template,
        ))
    }
}

impl MapForm {
    /// The form in which the templates of a survey import a formula's `map.jinja`, or another template in its
    /// directory.
    ///
    /// ```
    /// use mapstack::{Engine, MapForm, loader::MemoryFiles};
    /// let engine = Engine::new(MemoryFiles::new().file("base", "web/init.sls", "{% from 'web/map.jinja' import a %}"));
    /// let survey = engine.survey("web", "base").unwrap();
    /// assert_eq!(MapForm::of(&survey, "web", None), engine.map_form("web", None, "base").unwrap());
    /// ```
    #[must_use]
    pub fn of(survey: &Survey, formula: &str, template: Option<&str>) -> Self {
        let formula = formula.trim_end_matches('/');
        let path = format!("{formula}/{}", template.unwrap_or("map.jinja"));
        let sites = || {
            survey
                .imports
                .iter()
                .filter(|site| site.template.as_deref() == Some(&*path))
        };
        let mut imported = HashMap::new();
        for name in sites().flat_map(|site| &site.names) {
            *imported.entry(name.clone()).or_insert(0) += 1;
        }
        let with_context = sites().next().is_none() || sites().any(|site| site.with_context);
        let as_module = sites().any(|site| site.module.is_some());
        MapForm {
            formula: formula.into(),
            path,
            with_context,
            imported,
            as_module,
        }
    }
}

impl Run<'_> {
    /// Run a formula's `map.jinja` as if its `init.sls` imported it, and return a variable.
    ///
    /// By default, the variable is `mapdata`, as in template-formula; or else the name that the formula's templates
    /// import most often; or else the name of the formula; or else the only mapping. The template runs without
    /// context if all of the formula's templates import it this way.
    ///
    /// ```
    /// use mapstack::{Engine, MapOptions, loader::MemoryFiles, minion::Minion};
    /// let map = "{% set ntp = salt['grains.filter_by']({'Debian': {'pkg': 'ntpsec'}}) %}";
    /// let engine = Engine::new(MemoryFiles::new().file("base", "ntp/map.jinja", map));
    /// let minion = Minion::parse(b"id: web1\ngrains: {os_family: Debian}\n", "web1.yaml").unwrap().complete();
    /// let exported = engine.run(&minion).map("ntp", &MapOptions::default()).unwrap();
    /// assert_eq!(&*exported.variable, "ntp");
    /// assert_eq!(exported.value.repr(), "{'pkg': 'ntpsec'}");
    /// ```
    ///
    /// # Errors
    /// The template does not exist, it fails, or it has no such variable.
    pub fn map(&self, formula: &str, options: &MapOptions) -> Result<Exported> {
        let form = self
            .engine
            .map_form(formula, options.template.as_deref(), &self.saltenv)?;
        self.map_of(&form, options.variable.as_deref())
    }

    /// Like [`map`](Run::map), for a formula whose form is known.
    ///
    /// # Errors
    /// As [`map`](Run::map).
    pub fn map_of(&self, form: &MapForm, variable: Option<&str>) -> Result<Exported> {
        let file = self.map_file(form)?;
        let exports = self.exports(&file, form)?;
        let variable = match variable {
            Some(name) => Str::from(name),
            None => form.variable(&exports)?,
        };
        let Some(value) = exports.get(&variable) else {
            let error = Error::new(
                ErrorKind::Lookup,
                format!("{} sets no variable '{variable}'", file.shown),
            );
            return Err(error.help(
                match nearest(&variable, exports.keys().map(|name| &**name)) {
                    Some(near) => format!("did you mean '{near}'?"),
                    None => sets(&exports),
                },
            ));
        };
        let object = value;
        let value = object.to_value().map_err(|e| {
            let what = object.type_name();
            let error = Error::new(
                ErrorKind::Lookup,
                format!("'{variable}' of {} is not data but a {what}", file.shown),
            );
            error.note(e.to_string()).help(sets(&exports))
        })?;
        self.report_export(object, &value);
        Ok(Exported { variable, value })
    }

    /// The other variables that templates of the formula import from its map, by their names, as far as they are data.
    pub(crate) fn others_of(&self, form: &MapForm) -> Result<Value> {
        let exports = self.exports(&self.map_file(form)?, form)?;
        let own = form.variable(&exports).ok();
        let is_match = |name: &Str| {
            Some(name) != own.as_ref() && (form.as_module || form.imported.contains_key(name))
        };
        let others = exports.iter().filter(|(name, _)| is_match(name));
        let others = others.filter_map(|(name, object)| {
            let value = object.to_value().ok()?;
            Some((
                (Key::from(name.clone()), object.clone()),
                (name.clone(), value),
            ))
        });
        let (objects, values): (Vec<_>, Map) = others.unzip();
        let object = Obj::Dict(DictRef::new(objects.into_iter().collect()));
        let value = Value::from(values);
        self.report_export(&object, &value);
        Ok(value)
    }

    fn map_file(&self, form: &MapForm) -> Result<File> {
        self.fetch_file(&form.path)?
            .ok_or_else(|| self.no_map(&form.formula, &form.path))
    }

    /// The variables at the top level of a template.
    fn exports(&self, file: &File, form: &MapForm) -> Result<Names> {
        let root = file.shown.strip_suffix(&*file.path).unwrap_or_default();
        let sls = form.formula.replace('/', ".");
        let (mut variables, syntax) =
            self.sls_environment(&format!("{root}{}/init.sls", form.formula), &sls);
        if !form.with_context {
            // Without context, these variables describe the template itself.
            let directory = form
                .path
                .rsplit_once('/')
                .map_or("", |(directory, _)| directory);
            variables.insert("tplpath".into(), Obj::from(&*file.shown));
            variables.insert("tplfile".into(), Obj::from(&*form.path));
            variables.insert("tpldir".into(), Obj::from(directory));
            variables.insert("tpldot".into(), Obj::from(directory.replace('/', ".")));
        }
        let job = Job {
            language: Language::Jinja,
            variables,
            syntax: &syntax,
            saltenv: &self.saltenv,
            edit_log: None,
        };
        let source = file.text()?.into();
        // Calls of `map.data` in the template are nested: their layers are not those of the run's own formula.
        let (_, mut exports) = self.nested(
            "a map.jinja was asked for",
            "a template must not ask for the map that it is part of",
            || self.traced(|| self.run_template_for_names(file, &source, job, Vec::new())),
        )?;
        // Jinja does not export names with an underscore.
        exports.retain(|name, _| !name.starts_with('_'));
        Ok(exports)
    }

    /// The error for a missing map template.
    fn no_map(&self, formula: &str, path: &str) -> Error {
        let error = Error::new(ErrorKind::File, format!("salt://{path} does not exist"));
        let listed = self
            .list_files(&self.saltenv, &format!("{formula}/"))
            .unwrap_or_default();
        let is_map = |file: &&String| file.ends_with("map.jinja");
        let others: Vec<&str> = listed
            .iter()
            .filter(is_map)
            .filter_map(|f| f.strip_prefix(formula)?.strip_prefix('/'))
            .collect();
        match (listed.is_empty(), others.is_empty()) {
            (true, _) => error.help("the folder has no files: check its name and the roots"),
            (false, true) => error
                .help("the formula has no map.jinja; if it has parameter files, ask for its data"),
            (false, false) => error.help(format!(
                "there is {}; name one as the template",
                others.join(", ")
            )),
        }
    }
}

impl MapForm {
    /// True if templates import more than one variable.
    pub(crate) fn has_others(&self) -> bool {
        self.as_module || self.imported.len() > 1
    }

    /// The variable that is probably the formula's configuration.
    fn variable(&self, exports: &Names) -> Result<Str> {
        let is_data = |name: &str| {
            exports
                .get(name)
                .is_some_and(|value| value.to_value().is_ok())
        };
        if is_data("mapdata") {
            return Ok("mapdata".into());
        }
        let own_name = self
            .formula
            .rsplit('/')
            .next()
            .unwrap_or_default()
            .replace('-', "_");
        let candidates = exports.keys().filter(|name| is_data(name));
        let rank = |name: &Str| {
            (
                self.imported.get(name).copied().unwrap_or_default(),
                **name == *own_name,
            )
        };
        // Prefer the name of the formula among names with equally many imports, then the one that is set first.
        if let Some((rank, name)) = candidates
            .map(|name| (rank(name), name))
            .rev()
            .max_by_key(|(rank, _)| *rank)
            && rank > (0, false)
        {
            return Ok(name.clone());
        }
        let mut mappings = exports
            .iter()
            .filter(|(_, value)| matches!(value, Obj::Dict(_)));
        match (mappings.next(), mappings.next()) {
            (Some((name, _)), None) => Ok(name.clone()),
            _ => {
                let Self { formula, path, .. } = self;
                let message = format!(
                    "no template of {formula} shows which variable of {path} is its configuration"
                );
                Err(Error::new(ErrorKind::Lookup, message).help(sets(exports)))
            }
        }
    }
}

/// List the variables of a template, for error messages.
fn sets(exports: &Names) -> String {
    let names: Vec<&str> = exports.keys().map(|name| &**name).collect();
    if names.is_empty() {
        "it sets nothing".into()
    } else {
        format!("it sets {}", names.join(", "))
    }
}
