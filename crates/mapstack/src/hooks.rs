//! What watches a run, or remembers it for others.
//!
//! A run does its work and calls [`Hooks`] on the way: at each look at a fact, around each source, at each layer,
//! merge and edit. Whoever wants to know where values come from, or which facts a result depends on, implements the
//! methods that it needs. The run knows nothing about them, and where there are none it does nothing for them: what a
//! hook is given is only made for a hook.
//!
//! ```
//! use std::{cell::RefCell, rc::Rc};
//! use mapstack::{DataOptions, Engine, hooks::{FactLook, Hooks}, loader::MemoryFiles, minion::Minion};
//!
//! /// The grains that matchers look up.
//! #[derive(Default)]
//! struct Queries(RefCell<Vec<String>>);
//!
//! impl Hooks for Queries {
//!     fn fact_read(&self, look: FactLook<'_>) {
//!         if let FactLook::Find { query, .. } = look {
//!             self.0.borrow_mut().push(query.to_owned());
//!         }
//!     }
//! }
//!
//! let engine = Engine::new(MemoryFiles::new());
//! let minion = Minion::parse(b"{id: web1, grains: {os: Debian}}", "web1.yaml").unwrap().complete();
//! let queries = Rc::new(Queries::default());
//! engine.run_with_hooks(&minion, queries.clone()).data("users", &DataOptions::default()).unwrap();
//! assert!(queries.0.borrow().contains(&"os".to_owned()));
//! ```

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use mapstack_diagnostic::Place;
use mapstack_matcher::{Definition, Matcher};
use mapstack_merge::Options;
use mapstack_minion::{ConfigGet, Minion, Part, PillarGet};
use mapstack_render::Reader;
use mapstack_value::{Key, Str, Value};
use mapstack_yaml::Marks;

use crate::file::File;
use crate::text::Text;
use crate::trace::{FileRead, Stage};

/// What watches a run. Each method is called where its name says, and does nothing unless it is implemented.
///
/// The methods that speak of values (from [`follows_values`](Hooks::follows_values) on) are only called for the
/// outermost call of a run: what templates ask for by further calls belongs to those calls.
pub trait Hooks {
    /// A look at the minion's facts that is not one by a template into an object.
    fn fact_read(&self, _look: FactLook<'_>) {}

    /// Who is to be told of each look that templates take into grains, pillar or options.
    fn fact_reader(&self, _part: Part) -> Option<Rc<dyn Reader>> {
        None
    }

    /// A template changed the facts: from now on look-ups see something else than the minion that was given.
    fn facts_changed(&self) {}

    /// A definition is about to be evaluated to the paths of files. Whether the hook knows by itself which facts that
    /// takes, and which of the files are there. If so, [`after_paths`](Hooks::after_paths) follows, and the run's
    /// record does not have the files that are missing.
    fn before_paths(&self, _source: &SourcePaths<'_>) -> bool {
        false
    }

    /// That is done. Returns directories that the run's record is to have as listed.
    fn after_paths<'s>(&self, _source: &SourcePaths<'s>, _succeeded: bool) -> Vec<&'s String> {
        Vec::new()
    }

    /// Something looks at the values of the data merged so far.
    fn data_read(&self) {}

    /// Who is to be told of each look that a template takes into the data merged so far.
    fn data_reader(&self) -> Option<Rc<dyn Reader>> {
        None
    }

    /// What is to be taken for the content of a layer of the formula, so that its template is not run.
    fn layer_content(&self, _template: &LayerTemplate<'_>, _data: &Value) -> Option<LayerContent> {
        None
    }

    /// The template of a layer of the formula is about to run.
    fn before_template(&self, _path: &str) {}

    /// It is done.
    fn after_template(&self) {}

    /// Whether to follow where values come from. Without that none of the methods below is called.
    fn follows_values(&self) -> bool {
        false
    }

    /// A fold begins, with this data.
    fn fold_begins(&self, _moment: Moment, _data: &Value) {}

    /// A source is about to be evaluated.
    fn source_begins(&self) {}

    /// A matcher of the source found something.
    fn matcher_found(&self, _matcher: &Matcher, _found: &Value) {}

    /// The source took something out of the data, which is this now.
    fn data_reduced(&self, _data: &Value) {}

    /// A layer is about to be merged over the data.
    fn merging(&self, _moment: Moment, _layer: &MergedLayer<'_>) {}

    /// The fold of the meta configuration is over, and that of the layers follows. The run itself has changed what
    /// came of it from one value to another.
    fn fold_ends(&self, _moment: Moment, _before: &Value, _now: &Value) {}

    /// What came of the fold before stands under a key now.
    fn fold_is_under(&self, _key: &str) {}

    /// A template changed the data in place.
    fn edited(&self, _moment: Moment, _edits: Edits<'_>) {}
}

/// A look at a minion's facts.
#[derive(Debug)]
pub enum FactLook<'l> {
    /// At all there are.
    All,
    /// At the name.
    Id,
    /// Whether there is an entry.
    Has(Part, Key),
    /// At an entry and all below it.
    Whole(Part, Key),
    /// At what a path of text leads to, as matchers look it up.
    Find {
        /// In which facts.
        part: Part,
        /// The path.
        query: &'l str,
        /// What its steps are split by.
        delimiter: &'l str,
    },
    /// By `pillar.get`.
    Pillar(&'l Value, &'l PillarGet),
    /// By `config.get`.
    Config(&'l Value, &'l ConfigGet),
    /// At an option.
    Option(&'l str),
}

/// Which part of the work is done.
#[derive(Debug, Clone)]
pub struct Moment {
    /// The part of `map.data`.
    pub stage: Stage,
    /// The source definition as written, if one is being applied.
    pub definition: Option<Str>,
}

/// A definition that leads to files.
#[derive(Debug, Clone, Copy)]
pub struct SourcePaths<'s> {
    /// The definition.
    pub definition: &'s Definition,
    /// The directories below which its paths are looked for.
    pub directories: &'s [String],
    /// The merge strategy of `config.get`.
    pub config_get_strategy: &'s Value,
    /// The part of `map.data`.
    pub stage: Stage,
    /// The formula, if its own layers are applied and not those of one that a template asks for.
    pub formula: Option<&'s str>,
}

/// The template of a layer, and the variables it has besides those of every template.
#[derive(Debug, Clone, Copy)]
pub struct LayerTemplate<'t> {
    /// The file.
    pub file: &'t File,
    /// The formula's directory, as it was given.
    pub tpldir: &'t str,
    /// Its first component.
    pub tplroot: &'t str,
    /// The caller's data.
    pub custom_data: &'t Value,
}

/// The content of a layer that comes from a hook.
#[derive(Debug)]
pub struct LayerContent {
    /// A mapping with the [keys of a layer](crate::LAYER_KEYS).
    pub content: Value,
    /// The files that were looked at for it.
    pub reads: Arc<[FileRead]>,
}

/// A layer at the moment it is merged.
#[derive(Debug)]
pub struct MergedLayer<'l> {
    /// What it is.
    pub kind: MergedKind<'l>,
    /// The minion's facts at that moment.
    pub facts: &'l Minion,
    /// What is merged.
    pub values: &'l Value,
    /// How.
    pub options: &'l Options,
    /// Who chose that.
    pub chosen: Chosen,
}

/// What a layer is.
#[derive(Debug)]
pub enum MergedKind<'l> {
    /// A data-source file.
    File {
        /// The file.
        file: &'l File,
        /// What its template printed, or what it says.
        text: &'l Text<'l>,
        /// Where its values stand in that.
        marks: &'l Marks,
    },
    /// A value that a definition leads to.
    Value {
        /// The definition.
        definition: &'l Definition,
        /// The merge strategy of `config.get`.
        config_get_strategy: &'l Value,
    },
    /// What a template after the last layer printed.
    Printed {
        /// The file.
        file: &'l File,
        /// What it printed.
        text: &'l Text<'l>,
    },
}

/// Who chose a strategy.
#[derive(Debug, Clone, PartialEq)]
pub enum Chosen {
    /// The layer itself, here if it is a file.
    Layer(Option<Place>),
    /// The formula's meta configuration, or the caller's arguments.
    Default,
    /// Nobody: it is what holds where nothing is said.
    BuiltIn,
}

/// What a template changed in place.
#[derive(Debug)]
pub struct Edits<'e> {
    /// The file.
    pub file: &'e File,
    /// The data before.
    pub before: &'e Value,
    /// The data as it is now.
    pub now: &'e Value,
    /// The statements that changed something, each with the data after it.
    pub statements: Vec<(Place, Value)>,
    /// The template as a whole, for what no statement is known to have done.
    pub whole: Place,
}

/// The place for the hooks of a run, which its parts share.
#[derive(Clone, Default)]
pub(crate) struct Slot<'e>(Rc<RefCell<Option<Rc<dyn Hooks + 'e>>>>);

impl<'e> Slot<'e> {
    /// The hooks, if there are any.
    pub fn get(&self) -> Option<Rc<dyn Hooks + 'e>> {
        self.0.borrow().clone()
    }

    /// Put hooks there; returns those that were.
    pub fn replace(&self, hooks: Option<Rc<dyn Hooks + 'e>>) -> Option<Rc<dyn Hooks + 'e>> {
        self.0.replace(hooks)
    }
}
