//! The sources of values as layers: files, templates and facts.

use mapstack::trace::DataStage;
use mapstack_pyobject::spend;
use mapstack_value::{Str, Value};

use crate::layers::{Layer, LayerKind, MatchedValue};

/// The number of sources that are compared in one step.
const LAYERS_PER_STEP: usize = 16;

/// The sources that values came from so far.
#[derive(Debug, Default)]
pub(super) struct Sources(Vec<Layer>);

impl Sources {
    /// The number of a source.
    fn number(&mut self, layer: Layer) -> usize {
        let _ = spend(self.0.len() / LAYERS_PER_STEP);
        match self.0.iter().position(|known| *known == layer) {
            Some(number) => number,
            None => {
                self.0.push(layer);
                self.0.len() - 1
            }
        }
    }

    /// A file or template, by its path on the file server.
    pub fn file(&mut self, path: &str) -> usize {
        self.number(layer(LayerKind::File {
            path: path.into(),
            shown: shown(path),
        }))
    }

    /// Facts that a matcher finds.
    pub fn fact(&mut self, matcher: String, found: Value) -> usize {
        self.number(Layer {
            because: vec![MatchedValue { matcher, found }],
            ..layer(LayerKind::Value)
        })
    }

    /// Values of unknown origin.
    pub fn unknown(&mut self) -> usize {
        self.number(layer(LayerKind::Unknown))
    }

    /// The same source, chosen because of a fact.
    pub fn picked(&mut self, number: usize, because: &MatchedValue) -> usize {
        let Some(source) = self.0.get(number) else {
            return number;
        };
        let counts = matches!(source.kind, LayerKind::File { .. });
        if !counts || source.because.contains(because) {
            return number;
        }
        let mut source = source.clone();
        source.because.push(because.clone());
        self.number(source)
    }

    /// Add the layers of a fold; returns the number of the first.
    pub fn add(&mut self, layers: Vec<Layer>) -> usize {
        let first = self.0.len();
        self.0.extend(layers);
        first
    }

    /// All sources in the order in which the template met them.
    pub fn into_layers(self) -> Vec<Layer> {
        self.0
    }
}

fn layer(kind: LayerKind) -> Layer {
    Layer {
        stage: DataStage::Layers,
        definition: None::<Str>,
        kind,
        because: Vec::new(),
        merged: None,
    }
}

/// A path on the file server, until the place on disk is known.
pub(super) fn shown(path: &str) -> String {
    format!("{SERVED}{path}")
}

/// The beginning of a path on the file server.
pub(crate) const SERVED: &str = "salt://";
