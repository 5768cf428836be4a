//! Formulas that compute their configuration in a `map.jinja`.

use mapstack_render::jinja::Names;
use mapstack_render::{Obj, nearest};
use mapstack_value::{Str, Value};

use crate::diagnostic::{Error, ErrorKind, Result};
use crate::engine::Run;
use crate::files::File;
use crate::render::{Job, Language};

/// Which template to run and what to take from it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MapOptions {
    /// The template's path below the formula's folder; `map.jinja` if not given.
    pub template: Option<String>,
    /// The variable to take; if not given, the one that the formula itself uses.
    pub variable: Option<String>,
}

/// A variable of a template.
#[derive(Debug, Clone, PartialEq)]
pub struct Exported {
    /// Its name.
    pub variable: Str,
    /// Its value.
    pub value: Value,
}

impl Run<'_> {
    /// Run a formula's `map.jinja` as its `init.sls` would import it, and take a variable from it.
    ///
    /// Without a name it is `mapdata`, as in template-formula; or else the name that the formula's
    /// own templates import most often; or else the name of the formula; or else the only mapping.
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
    /// There is no such template, it fails, or it has no such variable.
    pub fn map(&self, formula: &str, options: &MapOptions) -> Result<Exported> {
        let formula = formula.trim_end_matches('/');
        let path = format!("{formula}/{}", options.template.as_deref().unwrap_or("map.jinja"));
        let file = self.fetch_file(&path)?.ok_or_else(|| self.no_map(formula, &path))?;
        let exports = self.exports(&file, formula)?;
        let variable = match &options.variable {
            Some(name) => Str::from(name.as_str()),
            None => self.exported_variable(formula, &path, &exports)?,
        };
        let Some(value) = exports.get(&variable) else {
            let error = Error::new(ErrorKind::Lookup, format!("{} sets no variable '{variable}'", file.shown));
            return Err(error.help(match nearest(&variable, exports.keys().map(|name| &**name)) {
                Some(near) => format!("did you mean '{near}'?"),
                None => sets(&exports),
            }));
        };
        let value = value.to_value().map_err(|e| {
            let what = value.type_name();
            let error =
                Error::new(ErrorKind::Lookup, format!("'{variable}' of {} is no data but a {what}", file.shown));
            error.note(e.to_string()).help(sets(&exports))
        })?;
        Ok(Exported { variable, value })
    }

    /// What the top level of a template sets, where the formula's `init.sls` imports it with context.
    fn exports(&self, file: &File, formula: &str) -> Result<Names> {
        let root = file.shown.strip_suffix(&*file.path).unwrap_or_default();
        let (variables, syntax) =
            self.sls_environment(&format!("{root}{formula}/init.sls"), &formula.replace('/', "."));
        let job = Job { language: Language::Jinja, variables, syntax: &syntax, saltenv: &self.saltenv };
        let (_, mut exports) = self.run_template_for_names(file, &file.text()?.into(), job, Vec::new())?;
        // Jinja keeps these to the template.
        exports.retain(|name, _| !name.starts_with('_'));
        Ok(exports)
    }

    /// The variable that a formula means by its map, if it is not told.
    fn exported_variable(&self, formula: &str, path: &str, exports: &Names) -> Result<Str> {
        let is_data = |name: &str| exports.get(name).is_some_and(|value| value.to_value().is_ok());
        if is_data("mapdata") {
            return Ok("mapdata".into());
        }
        let survey = self.engine.survey(formula, &self.saltenv)?;
        let imported = |name: &str| {
            let from_here = |i: &&crate::ImportSite| i.template.as_deref() == Some(path) && &*i.name == name;
            survey.imports.iter().filter(from_here).count()
        };
        let own_name = formula.rsplit('/').next().unwrap_or(formula).replace('-', "_");
        let candidates = exports.keys().filter(|name| is_data(name));
        // Of names that are imported equally often, the formula's own, or the one set first.
        let best = candidates.map(|name| (imported(name), **name == *own_name, name)).rev().max_by_key(|c| (c.0, c.1));
        if let Some((uses, is_own, name)) = best
            && (uses > 0 || is_own)
        {
            return Ok(name.clone());
        }
        let mut mappings = exports.iter().filter(|(_, value)| matches!(value, Obj::Dict(_)));
        match (mappings.next(), mappings.next()) {
            (Some((name, _)), None) => Ok(name.clone()),
            _ => {
                let message = format!("no template of {formula} tells which variable of {path} is its configuration");
                Err(Error::new(ErrorKind::Lookup, message).help(sets(exports)))
            }
        }
    }

    /// What to do where there is no `map.jinja`.
    fn no_map(&self, formula: &str, path: &str) -> Error {
        let error = Error::new(ErrorKind::File, format!("there is no salt://{path}"));
        let listed = self.list_files(&self.saltenv, &format!("{formula}/")).unwrap_or_default();
        let is_map = |file: &&String| file.ends_with("map.jinja");
        let others: Vec<&str> =
            listed.iter().filter(is_map).filter_map(|f| f.strip_prefix(formula)?.strip_prefix('/')).collect();
        match (listed.is_empty(), others.is_empty()) {
            (true, _) => error.help("no file lies below that folder: check its name and the roots"),
            (false, true) => error.help("the formula has no map.jinja; if it has parameter files, ask for its data"),
            (false, false) => error.help(format!("there is {}; name one as the template", others.join(", "))),
        }
    }
}

/// What a template sets, for a person who looks for a name.
fn sets(exports: &Names) -> String {
    let names: Vec<&str> = exports.keys().map(|name| &**name).collect();
    if names.is_empty() { "it sets nothing".into() } else { format!("it sets {}", names.join(", ")) }
}
