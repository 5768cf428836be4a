//! The steps by which a pillar was made, so that others can say where its values come from.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;

use crate::classes::{ClassFile, Origins, SetPlaces};
use mapstack::{File, Text, parted_aliases};
use mapstack_diagnostic::{Diagnostic, Place};
use mapstack_merge::{Aliases, MergeError, Options, Strategy, merge};
use mapstack_value::{Key, Map, Value};

use crate::config::ExtPillar;
use crate::trace::StackEvent;

/// The number of a part of a pillar: the index of the step that made it.
pub type PartId = usize;

/// A step in the making of a pillar, which makes a part of it.
#[derive(Debug, Clone)]
pub enum RecipeStep {
    /// A layer as it is.
    Layer(Box<PillarLayer>),
    /// A part below keys.
    Below {
        /// The part.
        inside: PartId,
        /// The keys.
        path: Vec<Key>,
    },
    /// A part merged over another.
    Merge {
        /// The earlier part.
        base: PartId,
        /// The part over it.
        layer: PartId,
        /// The options of the merge.
        options: Options,
        /// True if an option of the master says so.
        is_option: bool,
    },
    /// A part merged over another by the strategies that it names itself, as stacked files are.
    Stack {
        /// The earlier part.
        base: PartId,
        /// The part over it.
        layer: PartId,
    },
    /// A part whose values have places in the data of files.
    Placed {
        /// The part.
        whole: PartId,
        /// The files, by their numbers in the origin.
        files: Vec<PartId>,
        /// The places.
        origin: Box<SetPlaces>,
    },
    /// Values of a part in place of those of another, which are not merged.
    Put {
        /// The earlier part.
        base: PartId,
        /// The part with the new values.
        layer: PartId,
        /// The keys of these.
        keys: Vec<Key>,
    },
    /// A part whose data has another form: the keys come in another order, or the values are as they are sent.
    Form {
        /// The part.
        inside: PartId,
        /// The same data in that form.
        value: Value,
    },
}

/// A layer that adds values to a pillar.
#[derive(Debug, Clone)]
pub enum PillarLayer {
    /// An sls, without what it includes.
    Sls {
        /// Its name.
        sls: String,
        /// The environment.
        saltenv: String,
        /// Its file.
        file: File,
        /// The rendered data, with `include`.
        value: Value,
        /// The text that was read as YAML, if it was.
        text: Option<Text<'static>>,
        /// The way to it: the sls that includes it, the one that includes that, …, the entry of a top file.
        reached: Vec<SlsReason>,
    },
    /// The data of an external pillar.
    External {
        /// Its name.
        name: String,
        /// The place in the configuration that names it.
        place: Option<Place>,
        /// The file that the data comes from, if it is known: each file is a layer.
        file: Option<ExternalFile>,
        /// The data.
        value: Value,
    },
    /// The values that override the pillar, by the command that asks for it.
    Override(Value),
    /// The master's options, which `pillar_opts` adds.
    Options(Value),
    /// The values that templates changed in place, and anything else of which nothing more is known.
    Unknown(Value),
}

/// A file of an external pillar, such as that of a class or a stacked one.
#[derive(Debug, Clone)]
pub struct ExternalFile {
    /// The external pillar's name for it, if it has names besides paths.
    pub name: Option<String>,
    /// Its path.
    pub path: String,
    /// The text that was read as YAML.
    pub text: Option<Text<'static>>,
    /// The key of the text whose value is the data; otherwise it is the whole text.
    pub below: Option<&'static str>,
}

/// A reason why a minion gets an sls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SlsReason {
    /// Another sls includes it.
    Include(String),
    /// A top file names it.
    Top {
        /// The environment.
        saltenv: Key,
        /// The name or pattern in the top file.
        sls: String,
    },
}

/// The effect of a stacked file.
#[derive(Debug, Clone)]
pub(crate) struct StackedFile {
    pub path: String,
    /// The text that was read as YAML, or the template that changed the stack.
    pub text: Text<'static>,
    /// The data that was merged, below these keys; otherwise its template changed the stack in place.
    pub merged: Option<(Map, Vec<Key>)>,
    /// The stack at that time.
    pub stack: Value,
}

/// The result of an external pillar that follows from files and options.
#[derive(Debug, Default)]
pub(crate) struct OwnPillarResult {
    /// The data.
    pub data: Value,
    /// The parts that its files added, if it knows them.
    pub parts: ExternalParts,
}

impl From<Value> for OwnPillarResult {
    fn from(data: Value) -> Self {
        OwnPillarResult {
            data,
            parts: ExternalParts::Unknown,
        }
    }
}

/// The parts of an external pillar's data, as far as they are known.
#[derive(Debug, Default)]
pub(crate) enum ExternalParts {
    #[default]
    Unknown,
    /// The data of files, and the places in it that set the values.
    Placed(Vec<(ExternalFile, Value)>, Origins),
    /// The effects of files, in order.
    Stacked(Vec<StackedFile>),
}

impl ExternalParts {
    /// The classes and nodes of an external pillar, in the order of their merge.
    pub fn classes<'p>(&'p self, external: &'p str) -> impl Iterator<Item = StackEvent> + 'p {
        let files = match self {
            ExternalParts::Placed(files, _) => files.as_slice(),
            _ => &[],
        };
        files.iter().map(move |(file, _)| StackEvent::Class {
            external: external.into(),
            name: file.name.clone().unwrap_or_default(),
            path: file.path.clone(),
        })
    }

    /// The values that classes set, below a key of the texts that were read.
    pub fn of_classes(
        origins: &Origins,
        mut read: HashMap<String, (Text<'static>, Value)>,
        below: &'static str,
    ) -> Self {
        let file = |file: &ClassFile| {
            let read = read.remove(&file.path);
            let data = read
                .as_ref()
                .and_then(|(_, data)| data.as_map()?.get(below));
            let data = data.cloned().unwrap_or_else(Value::map);
            let file = ExternalFile {
                name: Some(file.name.clone()),
                path: file.path.clone(),
                text: read.map(|(text, _)| text),
                below: Some(below),
            };
            (file, data)
        };
        match &*origins.files {
            [] => ExternalParts::Unknown,
            files => ExternalParts::Placed(files.iter().map(file).collect(), origins.clone()),
        }
    }
}

/// Mappings are merged by their keys; everything else is replaced.
fn by_keys() -> Options {
    Strategy::Recurse.into()
}

/// The parts of a value that places set.
fn set_by(origin: &SetPlaces, value: &Value) -> Option<Value> {
    if origin.turns.iter().any(|(_, turn)| turn.is_set()) {
        return Some(value.clone());
    }
    let set = value.as_map()?.iter().filter_map(|(key, value)| {
        let inside = origin.inside.get(key)?;
        Some((key.clone(), set_by(inside, value)?))
    });
    let set: Map = set.collect();
    (!set.is_empty()).then(|| set.into())
}

/// The new and different parts of a mapping.
fn difference(before: &Map, now: &Map) -> Map {
    let changed = now.iter().filter_map(|(key, value)| {
        let changed = match (before.get(key), value) {
            (Some(old), new) if old.repr() == new.repr() => return None,
            (Some(Value::Map(old)), Value::Map(new)) => difference(old, new).into(),
            _ => value.clone(),
        };
        Some((key.clone(), changed))
    });
    changed.collect()
}

/// A part of a pillar, with how it was made.
#[derive(Debug, Clone)]
pub(crate) struct PillarPart {
    pub value: Value,
    pub id: PartId,
}

impl Default for PillarPart {
    fn default() -> Self {
        PillarPart {
            value: Value::map(),
            id: EMPTY,
        }
    }
}

/// The part that every recipe begins with: nothing.
const EMPTY: PartId = 0;

/// The steps of one compile, if they are wanted.
#[derive(Debug)]
pub(crate) struct Recipe {
    pub wanted: bool,
    /// The mappings that sls have at several places by YAML anchors.
    aliases: RefCell<Aliases>,
    warnings: RefCell<Vec<Diagnostic>>,
    steps: RefCell<Vec<RecipeStep>>,
    result: Cell<PartId>,
}

impl Recipe {
    pub fn new(wanted: bool) -> Self {
        let nothing = RecipeStep::Layer(Box::new(PillarLayer::Unknown(Value::map())));
        Recipe {
            wanted,
            aliases: RefCell::default(),
            warnings: RefCell::default(),
            steps: RefCell::new(vec![nothing]),
            result: Cell::new(EMPTY),
        }
    }

    /// Note a step; the part that it makes.
    pub fn add(&self, step: impl FnOnce() -> RecipeStep) -> PartId {
        if !self.wanted {
            return EMPTY;
        }
        let step = step();
        let mut steps = self.steps.borrow_mut();
        steps.push(step);
        steps.len() - 1
    }

    /// A layer as a part; an empty one adds nothing.
    pub fn layer(&self, value: Value, layer: impl FnOnce(Value) -> PillarLayer) -> PillarPart {
        let is_empty = value.as_map().is_some_and(Map::is_empty);
        let id = match is_empty {
            true => EMPTY,
            false => self.add(|| RecipeStep::Layer(Box::new(layer(value.clone())))),
        };
        PillarPart { value, id }
    }

    /// Note the mappings that a freshly loaded sls has at several places.
    pub fn add_aliases(&self, sls: &Value) {
        self.aliases.borrow_mut().add(&Aliases::of(sls));
    }

    /// The warnings.
    pub fn take_warnings(&self) -> Vec<Diagnostic> {
        self.warnings.take()
    }

    /// Merge a part over another. `origin` is what the part is called in a warning.
    pub fn merge(
        &self,
        base: PillarPart,
        layer: &PillarPart,
        options: &Options,
        origin: &str,
    ) -> Result<PillarPart, MergeError> {
        self.warn_of_aliases(&base, layer, options, || origin.into());
        self.merge_values(base, layer, options)
    }

    /// Warn where a part changes one place of a mapping that an earlier sls has at several places.
    pub fn warn_of_aliases(
        &self,
        base: &PillarPart,
        layer: &PillarPart,
        options: &Options,
        origin: impl Fn() -> String,
    ) {
        let aliases = self.aliases.borrow();
        let parted = aliases.parted(&base.value, &layer.value, options);
        let warnings = parted
            .iter()
            .map(|parted| parted_aliases(parted, &origin()));
        self.warnings.borrow_mut().extend(warnings);
    }

    /// Merge a part over another, without warnings.
    pub fn merge_values(
        &self,
        base: PillarPart,
        layer: &PillarPart,
        options: &Options,
    ) -> Result<PillarPart, MergeError> {
        self.merge_as(base, layer, options, true)
    }

    fn merge_as(
        &self,
        base: PillarPart,
        layer: &PillarPart,
        options: &Options,
        is_option: bool,
    ) -> Result<PillarPart, MergeError> {
        let id = self.add(|| RecipeStep::Merge {
            base: base.id,
            layer: layer.id,
            options: options.clone(),
            is_option,
        });
        let value = merge(base.value, &layer.value, options)?;
        Ok(PillarPart { value, id })
    }

    /// Note the data of an external pillar, with the parts that its files added, and the pillar so far, which it may have
    /// changed in place.
    pub fn external(
        &self,
        one: Option<&ExtPillar>,
        mut before: PillarPart,
        now: &Value,
        OwnPillarResult { data, parts }: OwnPillarResult,
    ) -> (PillarPart, PillarPart) {
        let layer = |file: Option<ExternalFile>| {
            move |value| PillarLayer::External {
                name: one.map(|one| one.name.clone()).unwrap_or_default(),
                place: one.and_then(|one| one.place.clone()),
                file,
                value,
            }
        };
        let made = match (parts, data.as_map()) {
            (ExternalParts::Placed(files, origins), Some(_)) if self.wanted => {
                let file = |(file, data)| self.layer(data, layer(Some(file))).id;
                let files: Vec<PartId> = files.into_iter().map(file).collect();
                let placed = |value: Value, origin: SetPlaces| {
                    let id = self.add(|| RecipeStep::Placed {
                        whole: self.layer(value.clone(), layer(None)).id,
                        files: files.clone(),
                        origin: Box::new(origin),
                    });
                    PillarPart { value, id }
                };
                if let Some(value) = set_by(&origins.in_place, now) {
                    let set = placed(value, origins.in_place);
                    let merged = self.merge_as(before.clone(), &set, &by_keys(), false);
                    before = merged.unwrap_or(before);
                }
                placed(data, origins.root)
            }
            (ExternalParts::Stacked(files), Some(_)) if self.wanted => {
                let made = files.into_iter().fold(PillarPart::default(), |made, file| {
                    self.stacked(made, file, layer)
                });
                self.changed(made, &data, layer(None))
            }
            _ => self.layer(data, layer(None)),
        };
        (self.changed(before, now, layer(None)), made)
    }

    /// A stack after one more file.
    fn stacked<L: FnOnce(Value) -> PillarLayer>(
        &self,
        before: PillarPart,
        file: StackedFile,
        layer: impl Fn(Option<ExternalFile>) -> L,
    ) -> PillarPart {
        let layer = layer(Some(ExternalFile {
            name: None,
            path: file.path,
            text: Some(file.text),
            below: None,
        }));
        let Some((merged, graft)) = file.merged else {
            return self.changed(before, &file.stack, layer);
        };
        let own = self.layer(merged.into(), layer).id;
        let own = match graft.is_empty() {
            true => own,
            false => self.add(|| RecipeStep::Below {
                inside: own,
                path: graft,
            }),
        };
        let id = self.add(|| RecipeStep::Stack {
            base: before.id,
            layer: own,
        });
        PillarPart {
            value: file.stack,
            id,
        }
    }

    /// A part that something changed in place: what differs is a layer over it.
    pub fn changed(
        &self,
        before: PillarPart,
        now: &Value,
        layer: impl FnOnce(Value) -> PillarLayer,
    ) -> PillarPart {
        if before.value.is_same(now) {
            return before;
        }
        let value = now.clone();
        let made = self.wanted.then(|| {
            let difference = difference(before.value.as_map()?, now.as_map()?);
            let layer = self.layer(difference.into(), layer);
            self.merge_as(before, &layer, &by_keys(), false).ok()
        });
        match made.flatten() {
            Some(made) if made.value.repr() == now.repr() => PillarPart { value, ..made },
            _ => self.layer(value, PillarLayer::Unknown),
        }
    }

    /// The same data in another form.
    pub fn in_form(&self, made: &PillarPart, value: Value) -> PillarPart {
        let id = self.add(|| RecipeStep::Form {
            inside: made.id,
            value: value.clone(),
        });
        PillarPart { value, id }
    }

    /// Python's `dict.update`.
    pub fn update(&self, base: PillarPart, layer: &PillarPart) -> PillarPart {
        self.put(base, layer, |_, _| true)
    }

    /// The values of the keys that both have, from the layer.
    pub fn replaced(&self, base: PillarPart, layer: &PillarPart) -> PillarPart {
        self.put(base, layer, Map::contains_key)
    }

    fn put(
        &self,
        base: PillarPart,
        layer: &PillarPart,
        is_match: fn(&Map, &Key) -> bool,
    ) -> PillarPart {
        let Value::Map(mut map) = base.value else {
            return base;
        };
        let entries = layer.value.as_map().into_iter().flatten();
        let entries: Vec<_> = entries.filter(|(key, _)| is_match(&map, key)).collect();
        map.extend(
            entries
                .iter()
                .map(|(key, value)| ((*key).clone(), (*value).clone())),
        );
        let id = self.add(|| RecipeStep::Put {
            base: base.id,
            layer: layer.id,
            keys: entries.iter().map(|(key, _)| (*key).clone()).collect(),
        });
        PillarPart {
            value: map.into(),
            id,
        }
    }

    /// The pillar that was made.
    pub fn ends_with(&self, made: &PillarPart) {
        self.result.set(made.id);
    }

    pub fn taken(&self, shown: impl FnOnce() -> HashMap<String, String>) -> Option<PillarRecipe> {
        self.wanted.then(|| PillarRecipe {
            shown: shown(),
            steps: self.steps.take(),
            result: self.result.get(),
        })
    }
}

/// The steps by which a pillar was made.
#[derive(Debug, Clone)]
pub struct PillarRecipe {
    /// The steps; each one uses parts of earlier ones.
    pub steps: Vec<RecipeStep>,
    /// The part that is the pillar.
    pub result: PartId,
    /// Paths of the pillar's files as a user would open them, by their paths in the pillar.
    pub shown: HashMap<String, String>,
}
