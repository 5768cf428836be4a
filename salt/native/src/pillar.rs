//! External pillars, one by one, as a live master calls them.

use mapstack::Changes;
use mapstack_pillar::{Compiler, ExtPillars};
use pyo3::prelude::*;

use crate::convert::{from_python, to_python};
use crate::engine::{Changed, changes, over_callers, with_cause};
use crate::errors::{exception, texts};
use crate::facts::Facts;
use crate::frame::work_for;

/// An external pillar with its arguments, and what was parsed of its files. Minions and threads share it.
#[pyclass(frozen, module = "mapstack")]
pub(crate) struct ExtPillar {
    compiler: Compiler,
    engine: mapstack::Engine,
}

/// Data or an exception, and changes of the pillar.
type Given<'py> = (
    Option<Bound<'py, PyAny>>,
    Option<PyErr>,
    Option<Changed<'py>>,
);

#[pymethods]
impl ExtPillar {
    /// `arguments` are what stands behind the name in `ext_pillar`; `version` is the version of Salt to follow.
    #[new]
    #[pyo3(signature = (name, arguments, version=None))]
    fn new(name: &str, arguments: &Bound<'_, PyAny>, version: Option<&str>) -> PyResult<Self> {
        let arguments = from_python("arguments", arguments)?;
        // Salt reads whatever the configuration names.
        let pillars = ExtPillars::new()
            .with_named(name, arguments)
            .with_directory("/");
        Ok(ExtPillar {
            compiler: Compiler::new(pillars),
            engine: over_callers(version)?,
        })
    }

    /// What it returns for a minion, or the exception that it ends in, and what it changed in place in the pillar so far,
    /// which is that of the facts.
    #[pyo3(signature = (facts, caller=None))]
    fn give<'py>(
        &self,
        py: Python<'py>,
        facts: &Facts,
        caller: Option<Py<PyAny>>,
    ) -> PyResult<Given<'py>> {
        let (given, raised) = work_for(py, caller, || {
            let run = self.compiler.run(&self.engine, &facts.minion);
            let given = run.give();
            (given, texts(&run.warnings()))
        })?;
        let (data, pillar) = given;
        let changed = changes(py, Changes::between(&facts.minion.pillar, &pillar))?;
        Ok(match data {
            Ok(data) => (Some(to_python(py, &data)?), None, changed),
            Err(e) => (
                None,
                Some(with_cause(py, exception(py, &e), raised)),
                changed,
            ),
        })
    }
}
