//! The structure of data-source files, and errors for files with another structure.

use std::sync::OnceLock;

use mapstack_diagnostic::{Error, ErrorKind, Place, nearest};
use mapstack_merge::Aliases;
use mapstack_value::{Map, Value};
use mapstack_yaml::{Limits, Mark, Marks, load_marked};

use crate::text::Text;

/// The keys that a data-source file can have.
pub const LAYER_KEYS: [&str; 3] = ["values", "strategy", "merge_lists"];

/// The content of a data-source file.
#[derive(Debug)]
pub(crate) struct LayerFile {
    /// `values`; a file without them contributes nothing.
    pub values: Option<Value>,
    pub strategy: Option<Value>,
    pub merge_lists: Option<Value>,
    /// The mappings that `values` has at several places.
    pub aliases: Aliases,
    /// The positions of all parts, computed on first use.
    marks: OnceLock<Positions>,
}

/// The positions of the parts of a data source.
#[derive(Debug, Default)]
pub(crate) struct Positions {
    pub values: Marks,
    pub strategy: Option<Mark>,
}

impl LayerFile {
    /// The content of a mapping; `None` if it has other keys.
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
            aliases: Aliases::default(),
            marks: OnceLock::new(),
        })
    }

    /// Note the mappings that anchors put at several places.
    pub fn with_aliases(mut self) -> Self {
        self.aliases = self.values.as_ref().map(Aliases::of).unwrap_or_default();
        self
    }

    /// Set the positions, if they are known from parsing.
    pub fn with_marks(mut self, map: &Map, marks: &Marks) -> Self {
        self.marks = Positions::of(map, marks).into();
        self
    }

    /// The positions of all parts in the text of the file.
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

impl Text<'_> {
    pub(crate) fn wrong_key(&self, map: &Map) -> Error {
        let wrong = map
            .keys()
            .find(|k| !k.as_str().is_some_and(|k| LAYER_KEYS.contains(&k)));
        let name = wrong.map(ToString::to_string).unwrap_or_default();
        let place = wrong.and_then(|key| self.place_of_key(map.index_of(key)?));
        let message = format!(
            "'{name}' is not a key of a data source: only values, strategy and merge_lists are"
        );
        let error = Error::new(ErrorKind::DataSource, message).at(place);
        match nearest(&name, LAYER_KEYS) {
            Some(near) => error.help(format!("did you mean '{near}'?")),
            None => error.help("configuration goes below `values:`"),
        }
    }

    pub(crate) fn not_a_mapping(&self, value: &Value) -> Error {
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

    /// The place of the document's content, after comments and markers.
    fn place_of_root(&self) -> Place {
        let loaded = load_marked(self.as_str(), &Limits::default());
        match loaded {
            Ok((value, marks)) if !value.is_none() => self.place_of_mark(marks.mark()),
            _ => self.place(0),
        }
    }

    /// The place of the value of a top-level key.
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
