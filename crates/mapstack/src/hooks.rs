//! Hooks: an interface for code that observes a run.
//!
//! A run calls the methods of [`Hooks`] whenever it reads a fact, evaluates a source, merges a layer or edits the
//! data. Code that records where values come from, or which facts a result depends on, implements the methods it
//! needs. An observer of values implements [`ValueHooks`] as well. The run does not know its observers. Without hooks it
//! does no extra work: it makes the arguments of a hook only if there is one.
//!
//! ```
//! use std::{cell::RefCell, rc::Rc};
//! use mapstack::{DataOptions, Engine, hooks::{FactLookup, Hooks}, loader::MemoryFiles, minion::Minion};
//!
//! /// The grains that matchers look up.
//! #[derive(Default)]
//! struct Queries(RefCell<Vec<String>>);
//!
//! impl Hooks for Queries {
//!     fn fact_read(&self, look: FactLookup<'_>) {
//!         if let FactLookup::Find { query, .. } = look {
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

use mapstack_diagnostic::Place;
use mapstack_functions::Flow;
use mapstack_matcher::{Definition, Matcher};
use mapstack_merge::Options;
use mapstack_minion::{ConfigGet, Minion, Part, PillarGet};
use mapstack_pyobject::{Obj, Reader};
use mapstack_salt_jinja::Tracer;
use mapstack_value::{Key, Str, Value};
use mapstack_yaml::Marks;

use crate::file::File;
use crate::text::Text;
use crate::trace::DataStage;

/// Observes what a run reads. The name of each method says when the run calls it. By default a method does nothing.
pub trait Hooks {
    /// The run reads a fact, other than by an access of a template to a dict.
    fn fact_read(&self, _look: FactLookup<'_>) {}

    /// An observer for the accesses of templates to the dict of grains, pillar or options.
    fn fact_reader(&self, _part: Part) -> Option<Rc<dyn Reader>> {
        None
    }

    /// A template changed the facts. From now on, look-ups see facts that the given minion does not have.
    fn facts_changed(&self) {}

    /// The run is about to evaluate a definition to the paths of files. Returns whether the hook records by itself
    /// which facts the definition reads and which of the files exist. If so, the run calls
    /// [`after_paths`](Hooks::after_paths), and does not record missing files.
    fn before_paths(&self, _source: &SourcePaths<'_>) -> bool {
        false
    }

    /// The run has evaluated the definition. Returns the directories that the run should record as listed.
    fn after_paths<'s>(&self, _source: &SourcePaths<'s>, _succeeded: bool) -> Vec<&'s String> {
        Vec::new()
    }

    /// The observer of values, if there is one.
    fn values(&self) -> Option<&dyn ValueHooks> {
        None
    }
}

/// Observes the values of a run: the folds, the layers, and what templates do with them. By default a method does
/// nothing.
///
/// The run reports only the values of its outermost call, not those of nested calls, which templates make.
pub trait ValueHooks {
    /// A fold begins with this data.
    fn fold_begins(&self, _moment: Moment, _data: &Value) {}

    /// A source is about to be evaluated.
    fn source_begins(&self) {}

    /// A matcher of the source found a value.
    fn matcher_found(&self, _matcher: &Matcher, _found: &Value) {}

    /// The source removed values from the data, which is now this.
    fn data_reduced(&self, _data: &Value) {}

    /// A layer is about to be merged over the data.
    fn merging(&self, _moment: Moment, _layer: &MergedLayer<'_>) {}

    /// The fold of the meta configuration has ended, and the fold of the layers follows. The run itself changed the
    /// result from `before` to `now`.
    fn fold_ends(&self, _moment: Moment, _before: &Value, _now: &Value) {}

    /// The result of the earlier fold is now under a key of the data.
    fn fold_is_under(&self, _key: &str) {}

    /// The observer of the template that computes a formula's map.
    fn tracer(&self) -> Option<&dyn Tracer> {
        None
    }

    /// This template exports the formula's configuration: as an object of the template, and as data.
    fn exported(&self, _object: &Obj, _data: &Value) {}

    /// A function that this template calls moved values.
    fn flowed(&self, _flow: Flow<'_>) {}

    /// A template changed the data in place.
    fn edited(&self, _moment: Moment, _edits: Edits<'_>) {}
}

/// The observer of the template that computes a formula's map.
pub(crate) fn tracer<'h>(hooks: &'h (dyn Hooks + '_)) -> Option<&'h dyn Tracer> {
    hooks.values().and_then(ValueHooks::tracer)
}

/// A read of a minion's facts.
#[derive(Debug)]
pub enum FactLookup<'l> {
    /// All facts.
    All,
    /// The id.
    Id,
    /// The question if an entry exists.
    Has(Part, Key),
    /// An entry and everything below it.
    Whole(Part, Key),
    /// The value at a path given as text, as matchers look it up.
    Find {
        /// The part of the facts.
        part: Part,
        /// The path.
        query: &'l str,
        /// The delimiter of its steps.
        delimiter: &'l str,
    },
    /// A call of `pillar.get`.
    Pillar(&'l Value, &'l PillarGet),
    /// A call of `config.get`.
    Config(&'l Value, &'l ConfigGet),
    /// An option.
    Option(&'l str),
}

/// The current part of the work.
#[derive(Debug, Clone)]
pub struct Moment {
    /// The part of `map.data`.
    pub stage: DataStage,
    /// The source definition as written, if one is being applied.
    pub definition: Option<Str>,
}

/// A definition that leads to files, with its context.
#[derive(Debug, Clone, Copy)]
pub struct SourcePaths<'s> {
    /// The definition.
    pub definition: &'s Definition,
    /// The directories that contain its paths.
    pub directories: &'s [String],
    /// The merge strategy of `config.get`.
    pub config_get_strategy: &'s Value,
    /// The part of `map.data`.
    pub stage: DataStage,
    /// The formula, unless the layers are those of a nested call.
    pub formula: Option<&'s str>,
}

/// The template of a layer, with the variables that only templates of layers have.
#[derive(Debug, Clone, Copy)]
pub struct LayerTemplate<'t> {
    /// The file.
    pub file: &'t File,
    /// The formula's directory as given by the caller.
    pub tpldir: &'t str,
    /// The first component of that directory.
    pub tplroot: &'t str,
    /// The custom data of the caller.
    pub custom_data: &'t Value,
}

/// A layer that is about to be merged.
#[derive(Debug)]
pub struct MergedLayer<'l> {
    /// The kind of layer.
    pub kind: MergedKind<'l>,
    /// The minion's facts at this time.
    pub facts: &'l Minion,
    /// The values of the layer.
    pub values: &'l Value,
    /// The options of the merge.
    pub options: &'l Options,
    /// The place that the strategy comes from.
    pub chosen: StrategyOrigin,
}

/// The kind of a layer.
#[derive(Debug)]
pub enum MergedKind<'l> {
    /// A data-source file.
    File {
        /// The file.
        file: &'l File,
        /// The text that was parsed: the content of the file, or the output of its template.
        text: &'l Text<'l>,
        /// The positions of the values in the text.
        marks: &'l Marks,
    },
    /// A value that a definition found.
    Value {
        /// The definition.
        definition: &'l Definition,
        /// The merge strategy of `config.get`.
        config_get_strategy: &'l Value,
    },
    /// The output of a template after the last layer.
    Printed {
        /// The file.
        file: &'l File,
        /// The output.
        text: &'l Text<'l>,
    },
}

/// The place that a merge strategy comes from.
#[derive(Debug, Clone, PartialEq)]
pub enum StrategyOrigin {
    /// The layer itself; its place if the layer is a file.
    Layer(Option<Place>),
    /// The formula's meta configuration, or the caller's arguments.
    Default,
    /// The master's options.
    Option,
    /// No place sets a strategy, so the built-in default applies.
    BuiltIn,
}

/// The changes that a template made in place.
#[derive(Debug)]
pub struct Edits<'e> {
    /// The file.
    pub file: &'e File,
    /// The data before the template.
    pub before: &'e Value,
    /// The data after the template.
    pub now: &'e Value,
    /// The statements that changed the data, each with the data after it.
    pub statements: Vec<(Place, Value)>,
    /// The template as a whole, for changes that cannot be attributed to a statement.
    pub whole: Place,
}

/// Shared access to the hooks of a run.
#[derive(Clone, Default)]
pub(crate) struct Slot<'e>(Rc<RefCell<Option<Rc<dyn Hooks + 'e>>>>);

impl<'e> Slot<'e> {
    /// The hooks, if there are any.
    pub fn get(&self) -> Option<Rc<dyn Hooks + 'e>> {
        self.0.borrow().clone()
    }

    /// Replace the hooks; returns the previous ones.
    pub fn replace(&self, hooks: Option<Rc<dyn Hooks + 'e>>) -> Option<Rc<dyn Hooks + 'e>> {
        self.0.replace(hooks)
    }
}
