//! A minion's facts, converted once.

use std::sync::Arc;

use mapstack::minion::{Minion, Part as FactPart};
use mapstack::value::Value;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::known::{Converted, ConvertedDict};

/// A minion's grains, pillar and options.
#[pyclass(frozen, module = "mapstack")]
pub(crate) struct Facts {
    pub(crate) minion: Minion,
    grains: Arc<Converted>,
    pillar: Arc<Converted>,
    opts: Arc<Converted>,
}

#[pymethods]
impl Facts {
    /// `like` are earlier facts: what did not change since is not converted again.
    #[new]
    #[pyo3(signature = (grains, pillar, opts, id=None, like=None))]
    fn new(
        grains: &Bound<'_, PyDict>,
        pillar: &Bound<'_, PyDict>,
        opts: &Bound<'_, PyDict>,
        id: Option<&str>,
        like: Option<&Facts>,
    ) -> PyResult<Self> {
        let of = |name, dict: &Bound<'_, PyDict>, before| Converted::of(name, dict, &[], before);
        let own_grains = of("grains", grains, like.map(|like| &like.grains))?;
        let own_pillar = of("pillar", pillar, like.map(|like| &like.pillar))?;
        // Salt keeps the same two dicts among the options.
        let parts = [(grains, &own_grains), (pillar, &own_pillar)];
        let parts = parts.map(|(dict, converted)| ConvertedDict { dict, converted });
        let own_opts = Converted::of("opts", opts, &parts, like.map(|like| &like.opts))?;
        let id = id.map(Value::from);
        let id = id.or_else(|| own_opts.map.get("id").cloned());
        let minion = Minion::new(id.unwrap_or_default())
            .with(FactPart::Grains, own_grains.map.clone())
            .with(FactPart::Pillar, own_pillar.map.clone())
            .with(FactPart::Opts, own_opts.map.clone());
        Ok(Facts {
            minion,
            grains: own_grains,
            pillar: own_pillar,
            opts: own_opts,
        })
    }

    /// The paths of what is not data, and is missing here.
    #[getter]
    fn left_out(&self) -> Vec<String> {
        let parts = [&self.grains, &self.pillar, &self.opts];
        let paths = parts.into_iter().flat_map(|part| part.left_out());
        paths.cloned().collect()
    }
}
