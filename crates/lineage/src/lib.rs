//! The origin of each value, for runs of the crate `mapstack`.
//!
//! The crate does not know about command lines, output formats, fleets, or how results are shared.
//!
#![doc = include_str!("../README.md")]
//!
//! | you want | look at |
//! |---|---|
//! | where values come from | [`Explain::explain`], [`Lineage`] |
//! | where the values of a pillar come from | [`explain_pillar`] |
//! | where the arguments of states come from | [`explain_states`] |
//! | where the lines of a managed file come from | [`explain_file`] |
//! | both, for many questions about one minion | [`StatesExplainer`] |
//! | one value's place and history | [`Lineage::at`], [`Ancestry`], [`ValuePosition`] |
//! | all values | [`Lineage::visit`] |
//! | the layers and the reason for each | [`Lineage::layers`], [`Layer`] |
//! | why a file is not part of the data | [`Explain::why_not`], [`WhyNot`], of many files [`Explain::sought`] |
//! | which values are secret | [`Lineage::secret_paths`] |

mod bounds;
mod explain;
mod flow;
mod in_config;
mod layers;
mod of_pillar;
mod pillar;
mod placed;
mod source;
mod states;
mod tracker;
mod tree;
mod why_not;

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use mapstack::secrets::Policy;
use mapstack_diagnostic::Place;
use mapstack_minion::{FactPlace, FactPlaces, Part};
use mapstack_value::{Key, Str, Value};
use mapstack_yaml::Mark;

pub use bounds::MAX_VALUES;
pub use explain::Explain;
pub use layers::{Layer, LayerKind, LayerMerge, MatchedValue, Reason};
pub use mapstack::hooks::StrategyOrigin;
pub use pillar::explain_pillar;
pub use source::LayerText;
pub use states::{
    ExplainedStates, FileLines, RequisiteOrigin, StateOrigin, StatesExplainer, explain_file,
    explain_states,
};
pub use tree::HistoryStep;
pub use why_not::{AlternativeSource, SoughtFiles, WhyNot};

use flow::{PrintedTexts, SERVED, Tag, TracerFindings};
use tracker::{LayerTexts, Tracker};
use tree::{At, Claim, Node};

/// The layer that set each value of one run's data, and the values that it replaced.
#[derive(Debug)]
pub struct Lineage {
    layers: Vec<Layer>,
    texts: LayerTexts,
    data: Value,
    /// The recorded steps of the run. The first query replays them to make the tree.
    notes: Mutex<Option<Tracker>>,
    tree: OnceLock<Node>,
    facts: FactPlaces,
    /// The origins of the values of the minion's pillar, if it was compiled.
    pillar: Option<Arc<Lineage>>,
    /// Texts that are secret: those of the pillar, and those that templates made of them.
    secrets: HashSet<Str>,
    /// The policy for secret facts.
    policy: Policy,
    /// True if this is what a `map.jinja` exports.
    is_map: bool,
    /// The printed text of tags in a map's templates.
    printed: PrintedTexts,
    /// The places on disk of files of a map, by their paths on the file server.
    shown: HashMap<String, String>,
}

/// The origin and history of one value.
#[derive(Debug, Clone)]
pub struct Ancestry {
    /// The value.
    pub value: Value,
    /// The layer that set the value, as an index into [`layers`](Lineage::layers). For a mapping to which several
    /// layers contributed, this is the first of them.
    pub layer: usize,
    /// The position in the layer.
    pub spot: ValuePosition,
    /// The position of the key, if the value is an entry of a mapping.
    pub key: Option<ValuePosition>,
    /// The positions of the values from which a template computed this one, as far as they are known.
    pub inputs: Vec<ValuePosition>,
    /// The values that tags of a template printed here, each with its own origin, as far as they are known.
    pub printed: Vec<Ancestry>,
    /// Earlier and rejected values, the oldest first.
    pub past: Vec<Ancestor>,
}

/// An earlier value, or one that a merge rejected.
#[derive(Debug, Clone)]
pub struct Ancestor {
    /// The value.
    pub value: Value,
    /// The layer that set it.
    pub layer: usize,
    /// The position in that layer.
    pub spot: ValuePosition,
    /// The layer that replaced, changed or rejected it.
    pub by: usize,
    /// The effect of that layer on it.
    pub how: HistoryStep,
}

/// The position of a value or a key.
#[derive(Debug, Clone, PartialEq)]
pub enum ValuePosition {
    /// In a file.
    File {
        /// The file and the range of bytes.
        place: Place,
        /// True if a template computed the value. Then the place is the expression or statement that did.
        computed: bool,
        /// True if a template made the value from a secret.
        secret: bool,
    },
    /// At a path of the minion's facts.
    Fact {
        /// The part of the facts; `None` if the value was merged from several parts.
        part: Option<Part>,
        /// The path of the value.
        path: Vec<Key>,
        /// The position in the file that the facts were read from, if known.
        place: Option<FactPlace>,
        /// True if it is secret: where a policy masks the pillar, what may be from there.
        secret: bool,
    },
    /// Not in a file: an argument of the function, or its default.
    Argument,
    /// Not known.
    Unknown,
}

impl Ancestry {
    /// The origins of what the value was made of: of one that tags printed or a template computed, those of the parts, as
    /// far as they are known; or else its own. Parts that are values come with them.
    ///
    /// ```
    /// use mapstack::{Engine, loader::MemoryFiles, minion::{Minion, Part}, value::Key};
    /// use mapstack_lineage::explain_states;
    /// use mapstack_states::{Gatherer, TopOptions, RequestedStates};
    /// let files = MemoryFiles::new()
    ///     .file("base", "top.sls", "base: {'*': [web]}")
    ///     .file("base", "web.sls", "motd:\n  test.nop:\n    - name: of {{ grains.id }}\n");
    /// let engine = Engine::new(files);
    /// let minion = Minion::new("web1").complete();
    /// let high = Gatherer::new(&engine, TopOptions::default()).high(&minion, RequestedStates::Highstate);
    /// let settled = high.settled(&minion).unwrap();
    /// let explained = explain_states(&engine, &minion, &high, settled, &[]);
    /// let name = explained.lineage.at(&["motd", "test.nop", "name"].map(Key::from)).unwrap();
    /// assert_eq!(name.spot.to_string(), "web.sls:3:13");
    /// assert_eq!(name.sources()[0].1.to_string(), "grains:id (the minion's id)");
    /// ```
    #[must_use]
    pub fn sources(&self) -> Vec<(Option<&Value>, &ValuePosition)> {
        let mut all = Vec::new();
        self.add_sources(&mut all);
        all
    }

    fn add_sources<'a>(&'a self, all: &mut Vec<(Option<&'a Value>, &'a ValuePosition)>) {
        for printed in &self.printed {
            printed.add_sources(all);
        }
        all.extend(self.inputs.iter().map(|input| (None, input)));
        if self.printed.is_empty() && self.inputs.is_empty() {
            all.push((Some(&self.value), &self.spot));
        }
    }
}

impl ValuePosition {
    /// True if the value must be masked wherever it is shown, because it is a secret of the facts or a template made it
    /// from one.
    #[must_use]
    pub fn is_secret(&self) -> bool {
        matches!(
            self,
            ValuePosition::Fact { secret: true, .. } | ValuePosition::File { secret: true, .. }
        )
    }
}

impl fmt::Display for ValuePosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ValuePosition::File { place, .. } => write!(f, "{place}"),
            ValuePosition::Fact {
                part, path, place, ..
            } => {
                f.write_str(part.map_or("config", Part::name))?;
                path.iter().try_for_each(|key| write!(f, ":{key}"))?;
                place
                    .as_ref()
                    .map_or(Ok(()), |place| write!(f, " ({place})"))
            }
            ValuePosition::Argument => f.write_str("argument"),
            ValuePosition::Unknown => f.write_str("not known"),
        }
    }
}

/// The values that reports do not show.
pub(crate) struct Secrets {
    /// The texts that templates computed from secrets.
    pub texts: Vec<Str>,
    /// The names of keys whose values are secret.
    pub policy: Policy,
}

impl Lineage {
    pub(crate) fn new(
        mut tracker: Tracker,
        data: Value,
        facts: FactPlaces,
        secrets: Secrets,
    ) -> Self {
        let (layers, texts) = tracker.take_layers();
        let (notes, texts_of_secrets) = (
            Mutex::new(Some(tracker)),
            secrets.texts.into_iter().collect(),
        );
        Lineage {
            layers,
            texts,
            data,
            notes,
            tree: OnceLock::new(),
            facts,
            pillar: None,
            secrets: texts_of_secrets,
            policy: secrets.policy,
            is_map: false,
            printed: PrintedTexts::default(),
            shown: HashMap::new(),
        }
    }

    /// The lineage of what a `map.jinja` exports.
    pub(crate) fn of_map(
        traced: TracerFindings,
        data: Value,
        facts: FactPlaces,
        secrets: Secrets,
    ) -> Self {
        let tree = OnceLock::new();
        tree.get_or_init(|| traced.node);
        Lineage {
            layers: traced.layers,
            texts: traced.texts,
            data,
            notes: Mutex::new(None),
            tree,
            facts,
            pillar: None,
            secrets: secrets.texts.into_iter().collect(),
            policy: secrets.policy,
            is_map: true,
            printed: traced.printed,
            shown: HashMap::new(),
        }
    }

    /// Replace the paths of a map's files on the file server by their places on disk.
    pub(crate) fn with_shown(mut self, on_disk: &dyn Fn(&str) -> String) -> Self {
        for layer in &mut self.layers {
            if let LayerKind::File { path, shown } = &mut layer.kind
                && *shown == format!("{SERVED}{path}")
            {
                *shown = on_disk(path);
            }
        }
        let mut paths = BTreeSet::new();
        self.root().each_file(&mut |file| {
            if !paths.contains(file) {
                paths.insert(file.to_owned());
            }
        });
        let served = paths
            .into_iter()
            .filter_map(|file| Some((file.clone(), on_disk(file.strip_prefix(SERVED)?))));
        self.shown = served.collect();
        self
    }

    /// Know where the values of the minion's pillar come from, as [`explain_pillar`] says it of a compile: positions of
    /// such facts are then those in the files of the pillar.
    #[must_use]
    pub fn with_pillar(mut self, pillar: impl Into<Arc<Lineage>>) -> Self {
        self.pillar = Some(pillar.into());
        self
    }

    /// The origins of the values of the minion's pillar, if they are [known](Lineage::with_pillar).
    #[must_use]
    pub fn pillar(&self) -> Option<&Lineage> {
        self.pillar.as_deref()
    }

    /// The text of a layer as this minion reads it, if the layer is a file.
    #[must_use]
    pub fn text(&self, layer: usize) -> Option<&Arc<LayerText>> {
        self.texts.get(&layer)
    }

    /// True if another run surely took the same layers of the same files to the same data. The places of facts in files of
    /// minions can differ. After a query, and where templates took part, the answer is `false`.
    ///
    /// ```
    /// use mapstack::{DataOptions, Engine, loader::MemoryFiles, minion::Minion};
    /// use mapstack_lineage::Explain;
    /// let files = MemoryFiles::new()
    ///     .file("base", "f/parameters/defaults.yaml", "values: {port: 22}")
    ///     .file("base", "f/parameters/os/Arch.yaml", "values: {port: 22}");
    /// let engine = Engine::new(files);
    /// let of = |os: &str| {
    ///     let minion = Minion::parse(format!("grains: {{os: {os}}}").as_bytes(), "m").unwrap().complete();
    ///     engine.run(&minion).explain("f", &DataOptions::default()).unwrap().1
    /// };
    /// assert!(of("Debian").is_same(&of("Ubuntu")) && !of("Debian").is_same(&of("Arch")));
    /// ```
    #[must_use]
    pub fn is_same(&self, other: &Lineage) -> bool {
        if self.is_map || other.is_map || self.pillar.is_some() || other.pillar.is_some() {
            return false;
        }
        if self.layers != other.layers || !self.data.is_same(&other.data) {
            return false;
        }
        let notes = (self.notes.lock(), other.notes.try_lock());
        match notes {
            (Ok(one), Ok(other)) => match (&*one, &*other) {
                (Some(one), Some(other)) => one.is_same(other),
                _ => false,
            },
            _ => false,
        }
    }

    fn root(&self) -> &Node {
        self.tree.get_or_init(|| {
            let notes = self
                .notes
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .take();
            notes.unwrap_or_default().into_tree()
        })
    }

    /// The layers in the order of merging.
    #[must_use]
    pub fn layers(&self) -> &[Layer] {
        &self.layers
    }

    /// The layers that can have a part in the data before a layer. Those of a `map.jinja` have no order.
    #[must_use]
    pub fn layers_before(&self, layer: usize) -> &[Layer] {
        match self.is_map {
            true => &self.layers,
            false => self.layers.get(..layer).unwrap_or(&self.layers),
        }
    }

    /// The origin of the value at a path of keys and, for lists, indices.
    #[must_use]
    pub fn at(&self, path: &[Key]) -> Option<Ancestry> {
        let (node, value, key) = self.inside(path)?;
        Some(self.ancestry(&node, value, key.as_ref()))
    }

    /// The origin of the key at the end of a path, as that of a value.
    #[must_use]
    pub fn key_at(&self, path: &[Key]) -> Option<Ancestry> {
        let (_, _, key) = self.inside(path)?;
        let value = path.last()?.to_value();
        Some(self.ancestry(&Node::whole(key?), &value, None))
    }

    /// Visit every value with its path and origin, from the root down, in the order of keys.
    pub fn visit(&self, visit: &mut dyn FnMut(&[Key], &Ancestry)) {
        self.visit_below(&[], visit);
    }

    /// Visit the value at a path, and every value in it, with its whole path and origin, in the order of keys. A
    /// path without a value is skipped.
    pub fn visit_below(&self, path: &[Key], visit: &mut dyn FnMut(&[Key], &Ancestry)) {
        if let Some((node, value, key)) = self.inside(path) {
            self.walk(&mut path.to_vec(), &node, value, key.as_ref(), visit);
        }
    }

    fn walk(
        &self,
        path: &mut Vec<Key>,
        node: &Node,
        value: &Value,
        key: Option<&Claim>,
        visit: &mut dyn FnMut(&[Key], &Ancestry),
    ) {
        visit(path, &self.ancestry(node, value, key));
        let mut step = |step: Key, inside: &Value| {
            let Some(child) = node.child_here(&step) else {
                return;
            };
            let key = node.key_of(&step);
            path.push(step);
            self.walk(path, &child, inside, key.as_ref(), visit);
            path.pop();
        };
        match value {
            Value::Map(map) => map
                .iter()
                .for_each(|(key, inside)| step(key.clone(), inside)),
            Value::List(items) => items
                .iter()
                .enumerate()
                .for_each(|(index, item)| step(Key::of_index(index), item)),
            _ => {}
        }
    }

    /// The node, the value and the key's claim at a path.
    fn inside(&self, path: &[Key]) -> Option<(Cow<'_, Node>, &Value, Option<Claim>)> {
        let (mut node, mut value, mut key) = (Cow::Borrowed(self.root()), &self.data, None);
        for step in path {
            value = tree::entry(value, step)?.1;
            key = node.key_of(step);
            node = Cow::Owned(node.child(step)?);
        }
        Some((node, value, key))
    }

    fn ancestry(&self, node: &Node, value: &Value, key: Option<&Claim>) -> Ancestry {
        let place = |claim: &Claim, value: &Value| self.marked(claim, value);
        let (layer, spot) = node.claim().map_or((0, ValuePosition::Argument), |claim| {
            (claim.layer, place(claim, value))
        });
        let ancestor = |past: &tree::PastValue| Ancestor {
            value: past.claim.value.clone(),
            layer: past.claim.layer,
            spot: place(&past.claim, &past.claim.value),
            by: past.by,
            how: past.how,
        };
        let all: Vec<Ancestor> = node.past.iter().map(ancestor).collect();
        let past = all.iter().enumerate().filter(|(index, past)| {
            let next = all.get(index + 1);
            let (next, its) = next.map_or((value, &spot), |next| (&next.value, &next.spot));
            // Merging the last layer again changes nothing, and neither does replacing a value by a copy.
            let is_copy = past.how == HistoryStep::Replaced && past.spot == *its;
            !(past.value.is_same(next) && (past.by == past.layer || is_copy))
        });
        let past = past.map(|(_, past)| past.clone()).collect();
        let inputs = node.claim().map(|claim| self.inputs(&claim.at));
        let printed = node.claim().map(|claim| self.printed(&claim.at));
        Ancestry {
            value: value.clone(),
            layer,
            spot,
            key: key.map(|key| self.spot(&key.at)),
            inputs: inputs.unwrap_or_default(),
            printed: printed.unwrap_or_default(),
            past,
        }
    }

    /// The position of a claim. If it is not the exact position of the value, as after a change by a statement, the
    /// value counts as secret if its text is one of the secret texts.
    fn marked(&self, claim: &Claim, value: &Value) -> ValuePosition {
        let knows = || match value {
            Value::Str(text) => self.secrets.contains(text),
            Value::Int(_) | Value::Float(_) => self.secrets.contains(&Str::from(value.to_string())),
            _ => false,
        };
        match self.spot(&claim.at) {
            ValuePosition::File {
                place,
                computed,
                secret: false,
            } if claim.at.is_near() => ValuePosition::File {
                place,
                computed,
                secret: knows(),
            },
            spot => spot,
        }
    }

    /// The secret texts of this minion, including those that templates made of others.
    pub fn secret_texts(&self) -> impl Iterator<Item = &str> {
        self.secrets.iter().map(|text| &**text)
    }

    /// The paths of secret scalars at or below a path: those from the pillar, and those that a template made from a
    /// secret. The paths start at the root.
    #[must_use]
    pub fn secret_paths(&self, below: &[Key]) -> HashSet<Vec<Key>> {
        let mut paths = HashSet::new();
        self.visit(&mut |path, known| {
            if path.starts_with(below) && known.spot.is_secret() {
                paths.insert(path.to_vec());
            }
        });
        paths
    }

    fn fact(&self, part: Option<Part>, path: &[Key], place: Option<FactPlace>) -> ValuePosition {
        let may_be_of_pillar = matches!(part, Some(Part::Pillar) | None);
        let secret = match self.policy.masks_pillar() {
            true => may_be_of_pillar,
            false => self.policy.is_secret_path(path),
        };
        ValuePosition::Fact {
            part,
            path: path.to_vec(),
            place,
            secret,
        }
    }

    /// The origin of a fact in the pillar that was compiled.
    fn in_pillar(&self, part: Option<Part>, path: &[Key]) -> Option<Ancestry> {
        self.pillar()
            .filter(|_| part == Some(Part::Pillar))?
            .at(path)
    }

    /// The positions of what a template computed a value from.
    fn inputs(&self, at: &At) -> Vec<ValuePosition> {
        let printed;
        let inputs = match at {
            At::Computed(_, inputs) => &inputs[..],
            At::Text(text, marks) => match text.spot(marks.mark()) {
                (place, true) => {
                    printed = self.printed.get(&Tag::new(&place.source, place.start));
                    printed.map_or(&[][..], |inputs| &inputs[..])
                }
                _ => &[],
            },
            At::Printed(_, from) => {
                let claims = from.iter().filter_map(Node::claim);
                let computed = claims.filter(|claim| matches!(claim.at, At::Computed(..)));
                return computed.flat_map(|claim| self.inputs(&claim.at)).collect();
            }
            _ => &[],
        };
        let inputs = inputs.iter().map(|input| self.spot(input));
        inputs
            .filter(|spot| *spot != ValuePosition::Unknown)
            .collect()
    }

    /// The origins of what tags printed at a position.
    fn printed(&self, at: &At) -> Vec<Ancestry> {
        let At::Printed(_, from) = at else {
            return Vec::new();
        };
        let is_known = |claim: &&Claim| !matches!(claim.at, At::Computed(..) | At::Unknown);
        let known = from.iter().filter_map(|node| {
            let claim = node.claim().filter(is_known)?;
            Some(self.ancestry(node, &claim.value, None))
        });
        known.collect()
    }

    /// The position of a claim, with the place on disk of its file.
    fn spot(&self, at: &At) -> ValuePosition {
        match self.served_spot(at) {
            ValuePosition::File {
                mut place,
                computed,
                secret,
            } => {
                if let Some(shown) = self.shown.get(&place.file) {
                    place.file.clone_from(shown);
                }
                ValuePosition::File {
                    place,
                    computed,
                    secret,
                }
            }
            spot => spot,
        }
    }

    fn served_spot(&self, at: &At) -> ValuePosition {
        match at {
            At::Text(text, marks) => in_text(text, marks.mark()),
            At::Mark(text, mark) => in_text(text, *mark),
            At::Literal(place) => ValuePosition::File {
                place: (**place).clone(),
                computed: false,
                secret: false,
            },
            At::Unknown => ValuePosition::Unknown,
            At::Statement(place) | At::Computed(place, _) => ValuePosition::File {
                place: (**place).clone(),
                computed: true,
                secret: false,
            },
            At::Fact(part, path) => {
                let in_pillar = self.in_pillar(*part, path).map(|known| known.spot);
                let place = file_of(in_pillar).or_else(|| self.facts.find(*part, path));
                self.fact(*part, path, place)
            }
            At::FactKey(part, path) => {
                let in_pillar = self.in_pillar(*part, path).and_then(|known| known.key);
                let place = file_of(in_pillar).or_else(|| self.facts.find_key(*part, path));
                self.fact(*part, path, place)
            }
            At::Below(inside) | At::Somewhere(inside) | At::Printed(inside, _) => {
                self.served_spot(inside)
            }
            At::Merged(node) => match node.claim() {
                Some(claim) => self.served_spot(&claim.at),
                None => ValuePosition::Unknown,
            },
            At::Nowhere => ValuePosition::Argument,
        }
    }
}

/// A position in a file, as that of a fact.
fn file_of(spot: Option<ValuePosition>) -> Option<FactPlace> {
    let ValuePosition::File { place, .. } = spot? else {
        return None;
    };
    let small = |number: usize| u32::try_from(number).ok();
    let mark = small(place.line())
        .zip(small(place.column()))
        .map(|(line, column)| Mark { line, column });
    let file = place.file;
    Some(FactPlace::File(mapstack_minion::DocumentPlace {
        file,
        mark,
    }))
}

fn in_text(text: &LayerText, mark: Mark) -> ValuePosition {
    let (place, computed) = text.spot(mark);
    ValuePosition::File {
        place,
        computed,
        secret: text.is_secret(mark),
    }
}
