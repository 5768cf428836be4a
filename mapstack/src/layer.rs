//! Data-source files: rendering, reading, and their shape.

use std::sync::Arc;

use mapstack_render::nearest;
use mapstack_value::{Map, Value};

use crate::diagnostic::{Error, ErrorKind, Place, Result};
use crate::engine::Run;
use crate::files::File;
use crate::render::{Stage, Text};

/// The content of a data-source file.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct LayerFile {
    /// `values`; absent ones contribute nothing.
    pub values: Option<Value>,
    pub strategy: Option<Value>,
    pub merge_lists: Option<Value>,
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
            return Ok((self.engine.parsed_layer(source, || parse(&text))?, text));
        }
        let stage =
            Stage::Layer { tpldir: variables.tpldir, tplroot: variables.tplroot, custom_data: variables.custom_data };
        let text = self.render(file, &source.into(), &stage, stack)?;
        Ok((self.engine.parsed_layer(text.as_str(), || parse(&text))?, text))
    }
}

const KEYS: [&str; 3] = ["values", "strategy", "merge_lists"];

fn parse(text: &Text<'_>) -> Result<LayerFile> {
    let value = mapstack_yaml::load(text.as_str()).map_err(|e| text.yaml_error(&e))?;
    match &value {
        Value::Map(map) => shape(map).ok_or_else(|| text.wrong_key(map)),
        other => Err(text.not_a_mapping(other)),
    }
}

fn shape(map: &Map) -> Option<LayerFile> {
    let known = |key: &mapstack_value::Key| key.as_str().is_some_and(|k| KEYS.contains(&k));
    if !map.keys().all(known) {
        return None;
    }
    let given = |key| map.get(key).filter(|v| !v.is_none()).cloned();
    Some(LayerFile {
        values: map.get("values").cloned(),
        strategy: given("strategy"),
        merge_lists: given("merge_lists"),
    })
}

impl Text<'_> {
    fn wrong_key(&self, map: &Map) -> Error {
        let wrong = map.keys().find(|k| !k.as_str().is_some_and(|k| KEYS.contains(&k)));
        let name = wrong.map(ToString::to_string).unwrap_or_default();
        let place = wrong.and_then(|key| self.place_of_key(map.index_of(key)?));
        let message = format!("'{name}' is no key of a data source: only values, strategy and merge_lists are");
        let error = Error::new(ErrorKind::DataSource, message).at(place);
        match nearest(&name, KEYS) {
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
        Error::new(ErrorKind::DataSource, format!("the data source {what}; it must be a mapping with `values:`"))
            .at(Some(self.place_of_root()))
            .help("write `values: {}` for a source without values, or delete the file")
    }

    /// The place of the document, behind comments and markers.
    fn place_of_root(&self) -> Place {
        let loaded = mapstack_yaml::load_marked(self.as_str(), &mapstack_yaml::Limits::default());
        match loaded {
            Ok((value, marks)) if !value.is_none() => self.place_of_mark(marks.mark()),
            _ => self.place(0),
        }
    }

    /// The place of a top-level key's value.
    pub(crate) fn place_of_value(&self, key: &str) -> Option<Place> {
        let (value, marks) = mapstack_yaml::load_marked(self.as_str(), &mapstack_yaml::Limits::default()).ok()?;
        let index = value.as_map()?.index_of(key)?;
        Some(self.place_of_mark(marks.child(index)?.mark()))
    }

    fn place_of_key(&self, index: usize) -> Option<Place> {
        let (_, marks) = mapstack_yaml::load_marked(self.as_str(), &mapstack_yaml::Limits::default()).ok()?;
        Some(self.place_of_mark(marks.key(index)?))
    }
}
