//! A minion's facts, converted once.

use mapstack::minion::{Minion, Part};
use mapstack::value::{Map, Value};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::convert::{Foreign, Reader, entries};

/// A minion's grains, pillar and options.
#[pyclass(frozen, module = "mapstack")]
pub(crate) struct Facts {
    pub(crate) minion: Minion,
    left_out: Vec<String>,
}

#[pymethods]
impl Facts {
    #[new]
    #[pyo3(signature = (grains, pillar, opts, id=None))]
    fn new(
        grains: &Bound<'_, PyDict>,
        pillar: &Bound<'_, PyDict>,
        opts: &Bound<'_, PyDict>,
        id: Option<&str>,
    ) -> PyResult<Self> {
        let mut left_out = Vec::new();
        let mut read = |name: &str, dict: &Bound<'_, PyDict>| {
            Reader::new(name, Foreign::LeftOut(&mut left_out)).map(dict)
        };
        let (grains_map, pillar_map) = (read("grains", grains)?, read("pillar", pillar)?);
        // Salt keeps the same two dicts among the options.
        let known = [
            (grains, Value::Map(grains_map.clone())),
            (pillar, Value::Map(pillar_map.clone())),
        ];
        let options = options(opts, &known, &mut left_out)?;
        let id = id.map(Value::from).or_else(|| options.get("id").cloned());
        let minion = Minion::new(id.unwrap_or_default())
            .with(Part::Grains, grains_map)
            .with(Part::Pillar, pillar_map)
            .with(Part::Opts, options);
        Ok(Facts { minion, left_out })
    }

    /// The paths of what is not data, and is missing here.
    #[getter]
    fn left_out(&self) -> Vec<String> {
        self.left_out.clone()
    }
}

fn options(
    opts: &Bound<'_, PyDict>,
    known: &[(&Bound<'_, PyDict>, Value)],
    left_out: &mut Vec<String>,
) -> PyResult<Map> {
    let mut options = Map::with_capacity(opts.len());
    for pair in entries(opts)? {
        let (name, option) = pair?;
        let name: String = match name.extract() {
            Ok(name) => name,
            Err(_) => continue,
        };
        let same = known.iter().find(|(dict, _)| option.is(*dict));
        let value = match same {
            Some((_, value)) => Some(value.clone()),
            None => {
                let path = format!("opts:{name}");
                Reader::new(&path, Foreign::LeftOut(left_out)).value(&option)?
            }
        };
        if let Some(value) = value {
            options.insert(name, value);
        }
    }
    Ok(options)
}
