//! Data-source files: rendering, reading, and their shape.

use std::sync::{Arc, OnceLock};

use mapstack_diagnostic::nearest;
use mapstack_value::{Map, Value};
use mapstack_yaml::{Limits, Lines, Mark, Marks, load_marked};

use crate::engine::Run;
use crate::file::File;
use crate::lineage::SecretLeaves;
use crate::render::Stage;
use crate::text::Text;
use mapstack_diagnostic::{Error, ErrorKind, Place, Result};

/// The content of a data-source file.
#[derive(Debug)]
pub(crate) struct LayerFile {
    /// `values`; absent ones contribute nothing.
    pub values: Option<Value>,
    pub strategy: Option<Value>,
    pub merge_lists: Option<Value>,
    /// Where everything stands in the text, once somebody has asked.
    marks: OnceLock<Positions>,
}

/// Where the parts of a data source stand.
#[derive(Debug, Default)]
pub(crate) struct Positions {
    pub values: Marks,
    pub strategy: Option<Mark>,
}

impl LayerFile {
    /// The content that a mapping says; `None` if it has other keys.
    pub fn of(map: &Map) -> Option<Self> {
        let known =
            |key: &mapstack_value::Key| key.as_str().is_some_and(|k| LAYER_KEYS.contains(&k));
        if !map.keys().all(known) {
            return None;
        }
        let given = |key| map.get(key).filter(|v| !v.is_none()).cloned();
        Some(LayerFile {
            values: map.get("values").cloned(),
            strategy: given("strategy"),
            merge_lists: given("merge_lists"),
            marks: OnceLock::new(),
        })
    }

    /// Where everything stands in the text that the file was read from.
    pub fn positions(&self, text: &str) -> &Positions {
        self.marks
            .get_or_init(|| match load_marked(text, &Limits::default()) {
                Ok((Value::Map(map), marks)) => Positions::of(&map, &marks),
                _ => Positions::default(),
            })
    }
}

impl Positions {
    fn of(map: &Map, marks: &Marks) -> Self {
        let child = |key: &str| map.index_of(key).and_then(|index| marks.child(index));
        Positions {
            values: child("values").cloned().unwrap_or_default(),
            strategy: child("strategy").map(Marks::mark),
        }
    }
}

/// The variables of a data-source file besides the minion's.
pub(crate) struct Variables<'v> {
    pub tpldir: &'v str,
    pub tplroot: &'v str,
    pub custom_data: &'v Value,
}

impl Run<'_> {
    /// Render and read a data-source file. Its template may change `stack` in place.
    pub(crate) fn load_layer<'f>(
        &self,
        file: &'f File,
        variables: &Variables<'_>,
        stack: &mut Value,
    ) -> Result<(Arc<LayerFile>, Text<'f>)> {
        let source = file.text()?;
        if !self.has_template_marks(source) {
            let text = Text::plain(file, source);
            let layer = self.engine.parsed_layer(source, || self.parse(&text))?;
            self.note_secrets(layer.values.as_ref());
            return Ok((layer, text));
        }
        if let Some(recorder) = self.facts.recorder()
            && self.is_layer_of_formula()
            && let Some(layer) = recorder.printed(self, file, variables, stack)
        {
            return Ok((layer.into(), Text::made(file, String::new())));
        }
        let stage = Stage::Layer {
            tpldir: variables.tpldir,
            tplroot: variables.tplroot,
            custom_data: variables.custom_data,
        };
        let mut render = || self.render(file, &source.into(), &stage, stack);
        let text = match self.facts.recorder() {
            Some(recorder) if self.is_layer_of_formula() => {
                recorder.in_layer(&file.path, render)?
            }
            _ => render()?,
        };
        let layer = self
            .engine
            .parsed_layer(text.as_str(), || self.parse(&text))?;
        self.note_printed_secrets(&layer, &text);
        Ok((layer, text))
    }

    /// What a layer has that is secret: under names that say so, and where its template printed a secret.
    fn note_printed_secrets(&self, layer: &LayerFile, text: &Text<'_>) {
        let Some(taint) = self.taint.get() else {
            return;
        };
        self.note_secrets(layer.values.as_ref());
        if text.secret().is_empty() {
            return;
        }
        let Ok((whole, marks)) = load_marked(text.as_str(), &Limits::default()) else {
            return;
        };
        let lines = Lines::of(text.as_str());
        let offset = |mark| lines.offset(text.as_str(), mark);
        let leaves = SecretLeaves::of(&whole, &marks, text.secret(), offset);
        leaves.visit(&whole, &marks, &mut |leaf| taint.add(leaf));
    }
}

/// The keys a data-source file can have.
pub const LAYER_KEYS: [&str; 3] = ["values", "strategy", "merge_lists"];

impl Run<'_> {
    fn parse(&self, text: &Text<'_>) -> Result<LayerFile> {
        let loaded = match self.is_tracked() {
            true => load_marked(text.as_str(), &mapstack_render::yaml_limits(&self.limits))
                .map(|(value, marks)| (value, Some(marks))),
            false => self.engine.moulds.load(text).map(|value| (value, None)),
        };
        let (value, marks) = loaded.map_err(|e| text.yaml_error(&e))?;
        let Value::Map(map) = &value else {
            return Err(text.not_a_mapping(&value));
        };
        let mut layer = LayerFile::of(map).ok_or_else(|| text.wrong_key(map))?;
        layer.marks = marks
            .map(|marks| Positions::of(map, &marks).into())
            .unwrap_or_default();
        Ok(layer)
    }
}

impl Text<'_> {
    fn wrong_key(&self, map: &Map) -> Error {
        let wrong = map
            .keys()
            .find(|k| !k.as_str().is_some_and(|k| LAYER_KEYS.contains(&k)));
        let name = wrong.map(ToString::to_string).unwrap_or_default();
        let place = wrong.and_then(|key| self.place_of_key(map.index_of(key)?));
        let message = format!(
            "'{name}' is no key of a data source: only values, strategy and merge_lists are"
        );
        let error = Error::new(ErrorKind::DataSource, message).at(place);
        match nearest(&name, LAYER_KEYS) {
            Some(near) => error.help(format!("did you mean '{near}'?")),
            None => error.help("configuration goes below `values:`"),
        }
    }

    fn not_a_mapping(&self, value: &Value) -> Error {
        let what = match value {
            Value::None if self.is_rendered() => "is empty after its template ran".to_string(),
            Value::None => "is empty".to_string(),
            other => format!("holds {}", other.kind().described()),
        };
        Error::new(
            ErrorKind::DataSource,
            format!("the data source {what}; it must be a mapping with `values:`"),
        )
        .at(Some(self.place_of_root()))
        .help("write `values: {}` for a source without values, or delete the file")
    }

    /// The place of the document, behind comments and markers.
    fn place_of_root(&self) -> Place {
        let loaded = load_marked(self.as_str(), &Limits::default());
        match loaded {
            Ok((value, marks)) if !value.is_none() => self.place_of_mark(marks.mark()),
            _ => self.place(0),
        }
    }

    /// The place of a top-level key's value.
    pub(crate) fn place_of_value(&self, key: &str) -> Option<Place> {
        let (value, marks) = load_marked(self.as_str(), &Limits::default()).ok()?;
        let index = value.as_map()?.index_of(key)?;
        Some(self.place_of_mark(marks.child(index)?.mark()))
    }

    fn place_of_key(&self, index: usize) -> Option<Place> {
        let (_, marks) = load_marked(self.as_str(), &Limits::default()).ok()?;
        Some(self.place_of_mark(marks.key(index)?))
    }
}
