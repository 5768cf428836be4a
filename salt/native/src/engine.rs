//! The engine, and its answers.

use std::path::Path;

use mapstack::minion::{SaltVersion, UnknownVersion};
use mapstack::value::Map;
use mapstack::{Changes, DataOptions, JinjaText, Run, StackOptions, TofsOptions};
use mapstack_salt_config::fileserver;
use pyo3::exceptions::{PyException, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::convert::{Foreign, Reader, from_python, key, map_to_python, to_python};
use crate::errors::{exception, of_template, texts, without_lock};
use crate::facts::Facts;
use crate::files::ClientFiles;
use crate::frame::work_for;
use crate::live::Live;
use crate::questions;

/// A file server and what was parsed of its files. Minions and threads share it.
#[pyclass(frozen, module = "mapstack")]
pub(crate) struct Engine {
    engine: mapstack::Engine,
    warnings: Vec<String>,
    /// Whether the files are in directories that are read here.
    is_local: bool,
}

#[pymethods]
impl Engine {
    /// An engine over the directories that a minion's or master's options name. Without `functions`, it calls none of
    /// Salt. `version` is the version of Salt to follow, such as 3006.9; by default the latest.
    #[staticmethod]
    #[pyo3(signature = (opts, functions=true, version=None))]
    fn local(opts: &Bound<'_, PyDict>, functions: bool, version: Option<&str>) -> PyResult<Self> {
        let py = opts.py();
        let version = followed(version)?;
        // Options of file servers are data.
        let opts = Reader::new("opts", Foreign::LeftOut(&mut Vec::new())).map(opts)?;
        // Only repositories on other machines have mirrors, and git is not built in.
        let configured = fileserver::open(&opts, Path::new("")).map_err(|e| exception(py, &e))?;
        let engine = mapstack::Engine::new(configured.files).with_salt_version(version);
        Ok(Engine {
            engine: match functions {
                true => engine.with_functions(Live),
                false => engine,
            },
            warnings: texts(&configured.warnings),
            is_local: true,
        })
    }

    /// An engine over the files that its callers fetch.
    #[staticmethod]
    #[pyo3(signature = (version=None))]
    fn remote(version: Option<&str>) -> PyResult<Self> {
        Ok(Engine {
            engine: over_callers(version)?,
            warnings: Vec::new(),
            is_local: false,
        })
    }

    /// What there is to say about the options that name the files.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.warnings.clone()
    }

    /// `map.data`: the configuration of a formula.
    #[pyo3(signature = (facts, tpldir, caller=None, saltenv=None, **kwargs))]
    fn data<'py>(
        &self,
        py: Python<'py>,
        facts: &Facts,
        tpldir: &str,
        caller: Option<Py<PyAny>>,
        saltenv: Option<&str>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let options = DataOptions::from_kwargs(&keywords(kwargs)?);
        let options = options.map_err(|e| exception(py, &e))?;
        let data = self.run(py, facts, caller, saltenv, |run| run.data(tpldir, &options))?;
        to_python(py, &data)
    }

    /// `map.stack`: the layers of some definitions.
    #[pyo3(signature = (facts, tpldir, sources, caller=None, saltenv=None, **kwargs))]
    #[allow(clippy::too_many_arguments)]
    fn stack<'py>(
        &self,
        py: Python<'py>,
        facts: &Facts,
        tpldir: &str,
        sources: &Bound<'py, PyAny>,
        caller: Option<Py<PyAny>>,
        saltenv: Option<&str>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let options = StackOptions::from_kwargs(&keywords(kwargs)?);
        let options = options.map_err(|e| exception(py, &e))?;
        let sources = from_python("sources", sources)?;
        let data = self.run(py, facts, caller, saltenv, |run| {
            run.stack(tpldir, &sources, &options)
        })?;
        to_python(py, &data)
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

    /// Where each value of a formula's configuration at or below a path comes from.
    #[pyo3(signature = (facts, formula, path, caller=None, saltenv="base"))]
    fn explain<'py>(
        &self,
        py: Python<'py>,
        facts: &Facts,
        formula: &str,
        path: &Bound<'py, PyList>,
        caller: Option<Py<PyAny>>,
        saltenv: &str,
    ) -> PyResult<Bound<'py, PyAny>> {
        let path = path.iter().map(|step| key(&step));
        let path = path.collect::<PyResult<Vec<_>>>()?;
        let explained = self.run(py, facts, caller, Some(saltenv), |run| {
            questions::explain(run, formula, saltenv, &path)
        })?;
        to_python(py, &explained)
    }

    /// What a formula's configuration looks for.
    #[pyo3(signature = (facts, formula, caller=None, saltenv="base"))]
    fn sources<'py>(
        &self,
        py: Python<'py>,
        facts: &Facts,
        formula: &str,
        caller: Option<Py<PyAny>>,
        saltenv: &str,
    ) -> PyResult<Bound<'py, PyAny>> {
        let sources = self.run(py, facts, caller, Some(saltenv), |run| {
            questions::sources(run, formula, saltenv)
        })?;
        to_python(py, &sources)
    }

    /// What is wrong with a formula, on every platform that is built in. No function of Salt is called. Only engines
    /// over directories can say: the work is done on several threads, and files are fetched on the caller's alone.
    #[pyo3(signature = (formula, saltenv="base"))]
    fn lint<'py>(
        &self,
        py: Python<'py>,
        formula: &str,
        saltenv: &str,
    ) -> PyResult<Bound<'py, PyAny>> {
        if !self.is_local {
            let message = "only files in directories can be checked";
            return Err(PyValueError::new_err(message));
        }
        let findings = without_lock(py, || questions::lint(&self.engine, formula, saltenv))?;
        let findings = findings.map_err(|e| exception(py, &e))?;
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
    ) -> PyResult<Rendered<'py>> {
        let variables = Reader::new("variables", Foreign::Refused).map(variables)?;
        let template = JinjaText { source, variables };
        let (printed, raised) =
            self.attempt(py, facts, caller, saltenv, |run| run.jinja_text(&template))?;
        let printed = printed.map_err(|e| with_cause(py, of_template(py, &e), raised))?;
        let (grains, pillar) = (changes(py, printed.grains)?, changes(py, printed.pillar)?);
        Ok((printed.text, grains, pillar))
    }
}

/// An engine over the files and functions of its callers.
pub(crate) fn over_callers(version: Option<&str>) -> PyResult<mapstack::Engine> {
    let engine = mapstack::Engine::new(ClientFiles).with_functions(Live);
    Ok(engine.with_salt_version(followed(version)?))
}

/// The version of Salt with this name; the latest, without a name.
fn followed(version: Option<&str>) -> PyResult<SaltVersion> {
    let version = version.map(str::parse).transpose();
    let version = version.map_err(|e: UnknownVersion| PyValueError::new_err(e.to_string()))?;
    Ok(version.unwrap_or_default())
}

/// What a template prints, and its changes of the grains and the pillar.
type Rendered<'py> = (String, Option<Changed<'py>>, Option<Changed<'py>>);

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

/// An exception with what a function raised as its cause; what ends the program goes on as it is.
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
