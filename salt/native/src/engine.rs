//! The engine, and its answers.

use std::path::Path;

use mapstack::minion::{SaltVersion, UnknownVersion};
use mapstack::value::{Key, Map, Path as KeyPath, Value};
use mapstack::{
    Changes, DataOptions, JinjaText, MapOptions, Run, StackOptions, TemplateOptions, TofsOptions,
};
use mapstack_lineage::{Explain as _, Lineage};
use mapstack_salt_config::fileserver;
use pyo3::exceptions::{PyException, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::convert::{ForeignObjects, Reader, from_python, key, map_to_python, to_python};
use crate::errors::{exception, of_template, texts, without_lock};
use crate::facts::Facts;
use crate::files::ClientFiles;
use crate::frame::work_for;
use crate::live::CallerProxy;
use crate::pillar::{self, MinionRequest};
use crate::questions;
use crate::relay::relayed;

/// A file server and what was parsed of its files. Minions and threads share it.
#[pyclass(frozen, module = "mapstack")]
pub(crate) struct Engine {
    engine: mapstack::Engine,
    version: SaltVersion,
    warnings: Vec<String>,
    /// The options that name directories; `None` if its callers fetch the files.
    options: Option<Map>,
}

#[pymethods]
impl Engine {
    /// An engine over the directories that a minion's or master's options name. `version` is the version of Salt to
    /// follow, such as 3006.9; by default the latest.
    #[staticmethod]
    #[pyo3(signature = (opts, version=None))]
    fn local(opts: &Bound<'_, PyDict>, version: Option<&str>) -> PyResult<Self> {
        let py = opts.py();
        let version = followed(version)?;
        // Options of file servers are data.
        let opts = Reader::new("opts", ForeignObjects::LeftOut(&mut Vec::new())).map(opts)?;
        // Only repositories on other machines have mirrors, and git is not built in.
        let configured = fileserver::open(&opts, Path::new("")).map_err(|e| exception(py, &e))?;
        let engine = mapstack::Engine::new(configured.files).with_functions(CallerProxy);
        Ok(Engine {
            engine: engine.with_salt_version(version),
            version,
            warnings: texts(&configured.warnings),
            options: Some(opts),
        })
    }

    /// An engine over the files that its callers fetch.
    #[staticmethod]
    #[pyo3(signature = (version=None))]
    fn remote(version: Option<&str>) -> PyResult<Self> {
        Ok(Engine {
            engine: over_callers(version)?,
            version: followed(version)?,
            warnings: Vec::new(),
            options: None,
        })
    }

    /// The messages about the options that name the files.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.warnings.clone()
    }

    /// `map.data`: the configuration of a formula.
    ///
    /// `hide` is called with each dict or list of the result that is a piece of the pillar, and returns what takes its place.
    #[pyo3(signature = (facts, tpldir, caller=None, saltenv=None, hide=None, **kwargs))]
    #[allow(clippy::too_many_arguments)]
    fn data<'py>(
        &self,
        py: Python<'py>,
        facts: &Facts,
        tpldir: &str,
        caller: Option<Py<PyAny>>,
        saltenv: Option<&str>,
        hide: Option<&Bound<'py, PyAny>>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let options = DataOptions::from_kwargs(&keywords(kwargs)?);
        let options = options.map_err(|e| exception(py, &e))?;
        let hides = hide.is_some();
        let merged = self.run(py, facts, caller, saltenv, |run| match hides {
            true => run
                .explain(tpldir, &options)
                .map(|made| with_pieces(run, made)),
            false => run.data(tpldir, &options).map(without_pieces),
        })?;
        hidden(py, &merged, hide)
    }

    /// `map.stack`: the layers of some definitions.
    #[pyo3(signature = (facts, tpldir, sources, caller=None, saltenv=None, hide=None, **kwargs))]
    #[allow(clippy::too_many_arguments)]
    fn stack<'py>(
        &self,
        py: Python<'py>,
        facts: &Facts,
        tpldir: &str,
        sources: &Bound<'py, PyAny>,
        caller: Option<Py<PyAny>>,
        saltenv: Option<&str>,
        hide: Option<&Bound<'py, PyAny>>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let options = StackOptions::from_kwargs(&keywords(kwargs)?);
        let options = options.map_err(|e| exception(py, &e))?;
        let sources = from_python("sources", sources)?;
        let hides = hide.is_some();
        let merged = self.run(py, facts, caller, saltenv, |run| match hides {
            true => {
                let explained = run.explain_stack(tpldir, &sources, &options);
                explained.map(|made| with_pieces(run, made))
            }
            false => run.stack(tpldir, &sources, &options).map(without_pieces),
        })?;
        hidden(py, &merged, hide)
    }

    /// `map.tofs`: the candidates for a managed file.
    #[pyo3(signature = (facts, tpldir, source_files, caller=None, saltenv=None, **kwargs))]
    #[allow(clippy::too_many_arguments)]
    fn tofs<'py>(
        &self,
        py: Python<'py>,
        facts: &Facts,
        tpldir: &str,
        source_files: &Bound<'py, PyAny>,
        caller: Option<Py<PyAny>>,
        saltenv: Option<&str>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyList>> {
        let options = TofsOptions::from_kwargs(&keywords(kwargs)?);
        let options = options.map_err(|e| exception(py, &e))?;
        let files = from_python("source_files", source_files)?;
        let paths = self.run(py, facts, caller, saltenv, |run| {
            run.tofs(tpldir, &files, &options)
        })?;
        PyList::new(py, paths)
    }

    /// The variable that a formula's `map.jinja` exports.
    #[pyo3(signature = (facts, formula, template=None, variable=None, caller=None, saltenv=None))]
    #[allow(clippy::too_many_arguments)]
    fn map<'py>(
        &self,
        py: Python<'py>,
        facts: &Facts,
        formula: &str,
        template: Option<String>,
        variable: Option<String>,
        caller: Option<Py<PyAny>>,
        saltenv: Option<&str>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let options = MapOptions { template, variable };
        let exported = self.run(py, facts, caller, saltenv, |run| run.map(formula, &options))?;
        to_python(py, &exported.value)
    }

    /// The text of a file: of an sls what its templates print, of any other what `file.managed` writes.
    #[pyo3(signature = (
        facts, path, template=None, context=None, defaults=None, name=None, caller=None, saltenv=None
    ))]
    #[allow(clippy::too_many_arguments)]
    fn render(
        &self,
        py: Python<'_>,
        facts: &Facts,
        path: &str,
        template: Option<String>,
        context: Option<&Bound<'_, PyDict>>,
        defaults: Option<&Bound<'_, PyDict>>,
        name: Option<String>,
        caller: Option<Py<PyAny>>,
        saltenv: Option<&str>,
    ) -> PyResult<String> {
        if template.is_none() && mapstack::is_sls(path) {
            if context.is_some() || defaults.is_some() || name.is_some() {
                let message = "context, defaults and name are for managed files; an sls has none of them, \
                               unless `template` makes it one";
                return Err(PyValueError::new_err(message));
            }
            return self.run(py, facts, caller, saltenv, |run| run.sls_text(path));
        }
        let variables = |of: &str, given: Option<&Bound<'_, PyDict>>| {
            let given = given.map(|given| Reader::new(of, ForeignObjects::Refused).map(given));
            Ok::<_, PyErr>(given.transpose()?.unwrap_or_default())
        };
        let options = TemplateOptions {
            engine: template,
            name,
            context: variables("context", context)?,
            defaults: variables("defaults", defaults)?,
        };
        self.run(py, facts, caller, saltenv, |run| {
            run.template(path, &options)
        })
    }

    /// The states of an sls.
    #[pyo3(signature = (facts, path, caller=None, saltenv=None))]
    fn sls<'py>(
        &self,
        py: Python<'py>,
        facts: &Facts,
        path: &str,
        caller: Option<Py<PyAny>>,
        saltenv: Option<&str>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let states = self.run(py, facts, caller, saltenv, |run| run.sls(path))?;
        to_python(py, &states)
    }

    /// The pillar that a master with the engine's options compiles for a minion. Its errors are in its list `_errors`.
    #[pyo3(signature = (facts, caller=None, saltenv=None, pillarenv=None, pillar_override=None))]
    fn pillar<'py>(
        &self,
        py: Python<'py>,
        facts: &Facts,
        caller: Option<Py<PyAny>>,
        saltenv: Option<String>,
        pillarenv: Option<String>,
        pillar_override: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let Some(options) = &self.options else {
            let message =
                "only an engine over directories has the options that name the pillar's files";
            return Err(PyValueError::new_err(message));
        };
        let given = pillar_override
            .map(|given| Reader::new("pillar_override", ForeignObjects::Refused).map(given));
        let asked = MinionRequest {
            saltenv,
            pillarenv,
            pillar_override: given.transpose()?.unwrap_or_default(),
        };
        let (engine, minion) = (&self.engine, &facts.minion);
        let (made, raised) = work_for(py, caller, || {
            pillar::compile(engine, options, minion, asked)
        })?;
        let data = made.map_err(|e| with_cause(py, exception(py, &e), raised))?;
        map_to_python(py, &data)
    }

    /// The origin of each value of a formula's configuration at or below a path, as the command `explain` prints it.
    #[pyo3(signature = (facts, formula, path, caller=None, saltenv=None))]
    fn explain<'py>(
        &self,
        py: Python<'py>,
        facts: &Facts,
        formula: &str,
        path: &Bound<'py, PyList>,
        caller: Option<Py<PyAny>>,
        saltenv: Option<&str>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let path = path.iter().map(|step| key(&step));
        let path = path.collect::<PyResult<KeyPath>>()?;
        let explained = self.run(py, facts, caller, saltenv, |run| {
            questions::explain(run, formula, &path)
        })?;
        to_python(py, &explained)
    }

    /// The files that a formula's configuration looks for, as the command `sources` prints them.
    #[pyo3(signature = (facts, formula, caller=None, saltenv=None))]
    fn sources<'py>(
        &self,
        py: Python<'py>,
        facts: &Facts,
        formula: &str,
        caller: Option<Py<PyAny>>,
        saltenv: Option<&str>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let sources = self.run(py, facts, caller, saltenv, |run| {
            questions::sources(run, formula)
        })?;
        to_python(py, &sources)
    }

    /// The mistakes in a formula, on every built-in platform, as the command `lint` prints them. No function
    /// of Salt is called: the caller is asked only for files, on its own thread.
    #[pyo3(signature = (formula, saltenv="base", caller=None))]
    fn lint<'py>(
        &self,
        py: Python<'py>,
        formula: &str,
        saltenv: &str,
        caller: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let version = self.version;
        let lint = |engine: mapstack::Engine| {
            questions::lint(&engine.with_salt_version(version), formula, saltenv)
        };
        let (findings, raised) = match &self.options {
            Some(options) => {
                let findings = without_lock(py, || {
                    let configured = fileserver::open(options, Path::new(""))?;
                    lint(mapstack::Engine::new(configured.files))
                });
                (findings?, None)
            }
            None if caller.is_none() => {
                let message = "an engine over files that its callers fetch needs a caller";
                return Err(PyValueError::new_err(message));
            }
            None => work_for(py, caller, || {
                let findings = relayed(|files| lint(mapstack::Engine::new(files)));
                (findings, Vec::new())
            })?,
        };
        let findings = findings.map_err(|e| with_cause(py, exception(py, &e), raised))?;
        to_python(py, &findings)
    }

    /// A template in Salt's Jinja, as text: what it prints, and its changes of the grains and the pillar.
    #[pyo3(signature = (facts, source, variables, caller=None, saltenv=None))]
    #[allow(clippy::too_many_arguments)]
    fn jinja<'py>(
        &self,
        py: Python<'py>,
        facts: &Facts,
        source: &str,
        variables: &Bound<'py, PyDict>,
        caller: Option<Py<PyAny>>,
        saltenv: Option<&str>,
    ) -> PyResult<EngineOutput<'py>> {
        let variables = Reader::new("variables", ForeignObjects::Refused).map(variables)?;
        let template = JinjaText { source, variables };
        let (printed, raised) =
            self.attempt(py, facts, caller, saltenv, |run| run.jinja_text(&template))?;
        let printed = printed.map_err(|e| with_cause(py, of_template(py, &e), raised))?;
        let (grains, pillar) = (changes(py, printed.grains)?, changes(py, printed.pillar)?);
        Ok((printed.text, grains, pillar))
    }
}

/// The merged layers, and the paths of the pieces of the pillar in them.
type MergedLayers = (Value, Vec<Vec<Key>>);

fn with_pieces(run: &Run<'_>, (data, lineage): (Value, Lineage)) -> MergedLayers {
    let pieces = lineage.pieces_of_pillar(&run.minion().pillar);
    (data, pieces)
}

fn without_pieces(data: Value) -> MergedLayers {
    (data, Vec::new())
}

/// The object of a value in which `hide` has replaced the pieces of the pillar.
fn hidden<'py>(
    py: Python<'py>,
    (data, pieces): &MergedLayers,
    hide: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let object = to_python(py, data)?;
    let Some(hide) = hide else {
        return Ok(object);
    };
    for piece in pieces {
        let Some((last, above)) = piece.split_last() else {
            return hide.call1((object,));
        };
        let mut container = object.clone();
        for step in above {
            container = container.get_item(step_of(&container, step)?)?;
        }
        let step = step_of(&container, last)?;
        container.set_item(&step, hide.call1((container.get_item(&step)?,))?)?;
    }
    Ok(object)
}

/// A step of a path: a key of a dict, or the index of a list.
fn step_of<'py>(container: &Bound<'py, PyAny>, step: &Key) -> PyResult<Bound<'py, PyAny>> {
    let py = container.py();
    match container.is_instance_of::<PyDict>() {
        true => to_python(py, &step.to_value()),
        false => {
            let index: usize = step.to_string().parse()?;
            Ok(index.into_pyobject(py)?.into_any())
        }
    }
}

/// An engine over the files and functions of its callers.
pub(crate) fn over_callers(version: Option<&str>) -> PyResult<mapstack::Engine> {
    let engine = mapstack::Engine::new(ClientFiles).with_functions(CallerProxy);
    Ok(engine.with_salt_version(followed(version)?))
}

/// The version of Salt with this name; the latest, without a name.
fn followed(version: Option<&str>) -> PyResult<SaltVersion> {
    let version = version.map(str::parse).transpose();
    let version = version.map_err(|e: UnknownVersion| PyValueError::new_err(e.to_string()))?;
    Ok(version.unwrap_or_default())
}

/// The output of a template, and its changes of the grains and the pillar.
type EngineOutput<'py> = (String, Option<Changed<'py>>, Option<Changed<'py>>);

/// The entries of a dict that were set, and the keys that are gone.
pub(crate) type Changed<'py> = (Bound<'py, PyDict>, Vec<Bound<'py, PyAny>>);

pub(crate) fn changes(py: Python<'_>, changes: Changes) -> PyResult<Option<Changed<'_>>> {
    if changes == Changes::default() {
        return Ok(None);
    }
    let gone = changes
        .gone
        .iter()
        .map(|key| to_python(py, &key.to_value()));
    Ok(Some((
        map_to_python(py, &changes.set)?,
        gone.collect::<PyResult<_>>()?,
    )))
}

impl Engine {
    /// Work with a run of the minion, without the interpreter's lock, for a caller.
    pub(crate) fn run<T: Send>(
        &self,
        py: Python<'_>,
        facts: &Facts,
        caller: Option<Py<PyAny>>,
        saltenv: Option<&str>,
        work: impl FnOnce(&Run<'_>) -> mapstack::Result<T> + Send,
    ) -> PyResult<T> {
        let (result, raised) = self.attempt(py, facts, caller, saltenv, work)?;
        result.map_err(|error| with_cause(py, exception(py, &error), raised))
    }

    /// The same, with the exception that a function raised last.
    fn attempt<T: Send>(
        &self,
        py: Python<'_>,
        facts: &Facts,
        caller: Option<Py<PyAny>>,
        saltenv: Option<&str>,
        work: impl FnOnce(&Run<'_>) -> T + Send,
    ) -> PyResult<(T, Option<PyErr>)> {
        let (engine, minion) = (&self.engine, &facts.minion);
        work_for(py, caller, move || {
            let run = match saltenv {
                Some(saltenv) => engine.run(minion).with_saltenv(saltenv),
                None => engine.run(minion),
            };
            let result = work(&run);
            (result, texts(&run.warnings()))
        })
    }
}

/// An exception whose cause is the exception of a function; one that ends the program is passed on.
pub(crate) fn with_cause(py: Python<'_>, exception: PyErr, raised: Option<PyErr>) -> PyErr {
    match raised {
        None => exception,
        Some(raised) if !raised.is_instance_of::<PyException>(py) => raised,
        Some(raised) => {
            exception.set_cause(py, Some(raised));
            exception
        }
    }
}

/// The arguments of a function that are not its own, as Salt passes them on.
fn keywords(kwargs: Option<&Bound<'_, PyDict>>) -> PyResult<Map> {
    let mut map = Map::new();
    for (name, argument) in kwargs.into_iter().flatten() {
        let name: String = name.extract()?;
        let value = from_python(&name, &argument)?;
        map.insert(name, value);
    }
    Ok(map)
}
