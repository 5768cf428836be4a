//! Pillars: whole ones, and external pillars one by one, as a live master calls them.

use std::path::Path;
use std::sync::Arc;

use mapstack::minion::Minion;
use mapstack::value::{Map, Value};
use mapstack::{Changes, Result};
use mapstack_pillar::{Compiler, ExtPillars, Master, PillarRequest};
use mapstack_salt_config::{Config, Kind, fileserver};
use pyo3::prelude::*;

use crate::convert::{from_python, to_python};
use crate::engine::{Changed, changes, over_callers, with_cause};
use crate::errors::{exception, texts};
use crate::facts::Facts;
use crate::frame::work_for;

/// The question of a minion, besides its options.
pub(crate) struct MinionRequest {
    pub(crate) saltenv: Option<String>,
    pub(crate) pillarenv: Option<String>,
    pub(crate) pillar_override: Map,
}

/// The pillar of a minion as a master with these options compiles it, and the warnings about it.
pub(crate) fn compile(
    engine: &mapstack::Engine,
    options: &Map,
    minion: &Minion,
    asked: MinionRequest,
) -> (Result<Map>, Vec<String>) {
    let mut all = Config::builtin_master().clone();
    all.extend(options.clone());
    let mut of_pillar = all.clone();
    let roots = all.get("pillar_roots").cloned().unwrap_or_default();
    of_pillar.insert("file_roots", roots);
    of_pillar.insert(
        "fileserver_backend",
        ["roots"].into_iter().collect::<Value>(),
    );
    // Only repositories on other machines have mirrors.
    let files = match fileserver::open(&of_pillar, Path::new("")) {
        Ok(configured) => configured.files,
        Err(error) => return (Err(error), Vec::new()),
    };
    let usual = PillarRequest::of(minion);
    let ask = PillarRequest {
        saltenv: asked.saltenv.map_or(usual.saltenv, Value::from),
        pillarenv: asked.pillarenv.map_or(usual.pillarenv, Value::from),
        pillar_override: asked.pillar_override,
        ..usual
    };
    // Salt reads whatever the configuration names. The master is for one compile, as it does not look at lists of files
    // again.
    let master = Master::new(Config::in_force(all, Kind::Master), Arc::new(files));
    match master.with_directories(["/"]).compile(engine, minion, &ask) {
        Ok(whole) => {
            let mut warnings = texts(&whole.warnings);
            let encrypted = whole.encrypted.iter();
            warnings.extend(encrypted.map(|key| {
                format!("{key} of the pillar is encrypted, and stays so: nothing is decrypted here")
            }));
            (Ok(whole.data), warnings)
        }
        Err(error) => (Err(error), Vec::new()),
    }
}

/// An external pillar with its arguments, and what was parsed of its files. Minions and threads share it.
#[pyclass(frozen, module = "mapstack")]
pub(crate) struct ExtPillar {
    compiler: Compiler,
    engine: mapstack::Engine,
}

/// Data or an exception, and changes of the pillar.
type PillarOutcome<'py> = (
    Option<Bound<'py, PyAny>>,
    Option<PyErr>,
    Option<Changed<'py>>,
);

#[pymethods]
impl ExtPillar {
    /// `arguments` follow the name in `ext_pillar`; `version` is the version of Salt to follow.
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

    /// The data for a minion, or the exception that ends the call, and its changes in place of the pillar so far,
    /// which is that of the facts.
    #[pyo3(signature = (facts, caller=None))]
    fn give<'py>(
        &self,
        py: Python<'py>,
        facts: &Facts,
        caller: Option<Py<PyAny>>,
    ) -> PyResult<PillarOutcome<'py>> {
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
