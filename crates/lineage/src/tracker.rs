//! Records the steps of a run, and replays them into a tree of origins.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use mapstack::hooks::{Edits, Hooks, MergedKind, MergedLayer, Moment, ValueHooks};
use mapstack_diagnostic::Place;
use mapstack_matcher::{Definition, Matcher, MatcherKind};
use mapstack_merge::{Options, merge_observed};
use mapstack_minion::{ConfigGet, Minion, Part};
use mapstack_value::{Key, Map, Path, Value};

use crate::in_config::in_config;
use crate::layers::{Layer, LayerKind, LayerMerge, MatchedValue};
use crate::source::LayerText;
use crate::tree::{At, Claim, Merging, Node};

/// The texts of layers by index. Not all layers have one.
pub(crate) type LayerTexts = BTreeMap<usize, Arc<LayerText>>;

/// The recorded steps of a run, and the tree made from them.
///
/// During the run, the tracker only records steps. When a query needs the tree, the tracker repeats the merges and
/// observes them.
#[derive(Debug, Default)]
pub(crate) struct Tracker {
    layers: Vec<Layer>,
    texts: LayerTexts,
    steps: Vec<DataChange>,
    tree: ReplayedTree,
    /// True once steps were replayed.
    is_replayed: bool,
    /// The values that the matchers of the current source have found.
    because: Vec<MatchedValue>,
}

/// The hooks that record a run in a tracker.
#[derive(Debug)]
pub(crate) struct Follower(RefCell<Tracker>);

/// A step that changed the data.
#[derive(Debug)]
enum DataChange {
    /// A fold began with this value.
    Begin(Claim),
    /// A layer was merged over the data.
    Merge(Claim, Options),
    /// The run replaced the data without a change of origins.
    Now(Value),
    /// A template changed the data, one statement after the other.
    Edits {
        layer: usize,
        before: Value,
        now: Value,
        statements: Vec<(Place, Value)>,
        whole: Place,
    },
    /// A fold ended, and another follows. The function itself may have changed the result, which the claim
    /// describes.
    PutAside(Option<(Value, Claim)>),
    /// The result that was put aside was inserted under a key.
    PutUnder(Key),
}

impl DataChange {
    /// True if another run took the same step.
    fn is_same(&self, other: &DataChange) -> bool {
        match (self, other) {
            (DataChange::Begin(one), DataChange::Begin(other)) => one.is_repeated(other),
            (DataChange::Merge(one, options), DataChange::Merge(other, others)) => {
                options == others && one.is_repeated(other)
            }
            (DataChange::Now(one), DataChange::Now(other)) => one.is_same(other),
            (DataChange::PutAside(None), DataChange::PutAside(None)) => true,
            (
                DataChange::PutAside(Some((one, by))),
                DataChange::PutAside(Some((other, others))),
            ) => one.is_same(other) && by.is_repeated(others),
            (DataChange::PutUnder(one), DataChange::PutUnder(other)) => one == other,
            // A template can make the same change by other statements.
            _ => false,
        }
    }
}

/// The tree after the steps replayed so far.
#[derive(Debug)]
struct ReplayedTree {
    root: Node,
    data: Value,
    aside: Option<Node>,
}

impl Default for ReplayedTree {
    fn default() -> Self {
        ReplayedTree {
            root: no_origin(),
            data: Value::map(),
            aside: None,
        }
    }
}

/// The tree of an empty mapping without origin.
fn no_origin() -> Node {
    Node::whole(Claim {
        layer: 0,
        value: Value::map(),
        at: At::Nowhere,
    })
}

impl ReplayedTree {
    fn apply(&mut self, step: DataChange) {
        match step {
            DataChange::Begin(claim) => {
                self.data = claim.value.clone();
                self.root = Node::whole(claim);
            }
            DataChange::Merge(overlay, options) => {
                let (base, root) = (std::mem::take(&mut self.data), &mut self.root);
                // The run did the same merge without an error, so this one succeeds.
                self.data = merge_observed(
                    base,
                    &overlay.value,
                    &options,
                    &mut Merging {
                        root,
                        overlay: &overlay,
                    },
                )
                .unwrap_or_default();
            }
            DataChange::Now(data) => self.data = data,
            DataChange::Edits {
                layer,
                before,
                now,
                statements,
                whole,
            } => {
                let claim = |value: &Value, at: &Arc<Place>| Claim {
                    layer,
                    value: value.clone(),
                    at: At::Statement(at.clone()),
                };
                let (mut last, mut at) = (before, Arc::new(whole));
                for (statement, after) in statements {
                    at = Arc::new(statement);
                    self.root.edit(&last, &claim(&after, &at));
                    last = after;
                }
                self.root.edit(&last, &claim(&now, &at));
                self.data = now;
            }
            DataChange::PutAside(adjusted) => {
                let mut node = std::mem::replace(&mut self.root, no_origin());
                if let Some((before, by)) = adjusted {
                    node.edit(&before, &by);
                }
                self.aside = Some(node);
            }
            DataChange::PutUnder(key) => {
                if let Some(node) = self.aside.take() {
                    self.root.set_entry(&key, node);
                }
            }
        }
    }
}

impl Follower {
    /// A follower with capacity for a typical formula.
    pub fn new() -> Self {
        Follower(RefCell::new(Tracker {
            layers: Vec::with_capacity(16),
            steps: Vec::with_capacity(16),
            ..Tracker::default()
        }))
    }

    /// Take the tracker with the steps recorded so far.
    pub fn take(&self) -> Tracker {
        self.0.take()
    }
}

impl Hooks for Follower {
    fn values(&self) -> Option<&dyn ValueHooks> {
        Some(self)
    }
}

impl ValueHooks for Follower {
    fn fold_begins(&self, moment: Moment, first: &Value) {
        let mut tracker = self.0.borrow_mut();
        let is_empty = first.as_map().is_some_and(Map::is_empty);
        let layer = if is_empty {
            0
        } else {
            tracker.add(Layer::unmerged(moment, LayerKind::Arguments))
        };
        tracker.steps.push(DataChange::Begin(Claim {
            layer,
            value: first.clone(),
            at: At::Nowhere,
        }));
    }

    fn source_begins(&self) {
        self.0.borrow_mut().because.clear();
    }

    fn matcher_found(&self, matcher: &Matcher, found: &Value) {
        self.0.borrow_mut().because.push(MatchedValue {
            matcher: matcher.to_string(),
            found: found.clone(),
        });
    }

    fn data_reduced(&self, data: &Value) {
        self.0
            .borrow_mut()
            .steps
            .push(DataChange::Now(data.clone()));
    }

    fn merging(&self, moment: Moment, layer: &MergedLayer<'_>) {
        self.0.borrow_mut().merged(moment, layer);
    }

    fn fold_ends(&self, moment: Moment, before: &Value, now: &Value) {
        let mut tracker = self.0.borrow_mut();
        let adjusted = (!before.is_same(now)).then(|| {
            (
                before.clone(),
                Claim {
                    layer: tracker.add(Layer::unmerged(moment, LayerKind::Arguments)),
                    value: now.clone(),
                    at: At::Nowhere,
                },
            )
        });
        tracker.steps.push(DataChange::PutAside(adjusted));
    }

    fn fold_is_under(&self, key: &str) {
        let step = DataChange::PutUnder(Key::from(key));
        self.0.borrow_mut().steps.push(step);
    }

    fn edited(&self, moment: Moment, edits: Edits<'_>) {
        if edits.statements.is_empty() && edits.before.is_same(edits.now) {
            return;
        }
        let mut tracker = self.0.borrow_mut();
        let shown = edits.file.shown.clone();
        let layer = tracker.add(Layer::unmerged(moment, LayerKind::Edits { shown }));
        tracker.steps.push(DataChange::Edits {
            layer,
            before: edits.before.clone(),
            now: edits.now.clone(),
            statements: edits.statements,
            whole: edits.whole,
        });
    }
}

impl Tracker {
    fn add(&mut self, layer: Layer) -> usize {
        self.layers.push(layer);
        self.layers.len() - 1
    }

    fn merged(&mut self, moment: Moment, layer: &MergedLayer<'_>) {
        let (kind, because, at) = match layer.kind {
            MergedKind::File { file, text, marks } => {
                let kind = LayerKind::File {
                    path: file.path.clone(),
                    shown: file.shown.clone(),
                };
                let source = LayerText::new(text.clone().into_owned());
                let at = At::Text(Arc::new(source), marks.clone());
                (kind, self.because.clone(), at)
            }
            MergedKind::Value {
                definition,
                config_get_strategy,
            } => {
                let at = self.whereabouts(definition, config_get_strategy, layer.facts);
                (LayerKind::Value, self.because.clone(), at)
            }
            MergedKind::Printed { file, text } => {
                let shown = file.shown.clone();
                let at = LayerText::new(text.clone().into_owned()).whole();
                (LayerKind::Edits { shown }, Vec::new(), at)
            }
        };
        self.add_merged(
            Layer {
                because,
                merged: Some(LayerMerge::new(layer.options, layer.chosen.clone())),
                ..Layer::unmerged(moment, kind)
            },
            at,
            layer,
        );
    }

    fn add_merged(&mut self, layer: Layer, at: At, merged: &MergedLayer<'_>) {
        let layer = self.add(layer);
        if let At::Text(text, _) = &at {
            self.texts.insert(layer, text.clone());
        }
        let claim = Claim {
            layer,
            value: merged.values.clone(),
            at,
        };
        self.steps
            .push(DataChange::Merge(claim, merged.options.clone()));
    }

    /// The position of a value that a definition of raw data finds.
    fn whereabouts(
        &mut self,
        definition: &Definition,
        config_get_strategy: &Value,
        facts: &Minion,
    ) -> At {
        let Some((first, rest)) = definition.matchers().split_first() else {
            return At::Nowhere;
        };
        let Ok(path) = Path::split(first.query(), first.delimiter()) else {
            return At::Nowhere;
        };
        let path: Vec<Key> = path.steps().iter().map(|step| step.0.clone()).collect();
        let at = match first.kind() {
            MatcherKind::Grains => At::Fact(Some(Part::Grains), path),
            MatcherKind::Pillar => At::Fact(Some(Part::Pillar), path),
            MatcherKind::Config => {
                let query = ConfigGet {
                    merge: config_get_strategy.clone(),
                    ..ConfigGet::default()
                };
                in_config(facts, &path, &query)
            }
            MatcherKind::MapData => self.in_data(&path),
            MatcherKind::CustomData | MatcherKind::Static => At::Nowhere,
        };
        let at = if first.has_sub() {
            At::Below(Box::new(at))
        } else {
            at
        };
        // Further matchers select parts, which can come from several positions inside.
        if rest.is_empty() {
            at
        } else {
            At::Somewhere(Box::new(at))
        }
    }

    /// True if another run took the same steps, none of which was replayed.
    pub fn is_same(&self, other: &Tracker) -> bool {
        let steps = || self.steps.iter().zip(&other.steps);
        let is_recorded = |tracker: &Tracker| !tracker.is_replayed;
        is_recorded(self)
            && is_recorded(other)
            && self.steps.len() == other.steps.len()
            && steps().all(|(one, other)| one.is_same(other))
    }

    /// Take the layers and their texts. The tree does not need them.
    pub fn take_layers(&mut self) -> (Vec<Layer>, LayerTexts) {
        (
            std::mem::take(&mut self.layers),
            std::mem::take(&mut self.texts),
        )
    }

    /// Replay all steps and return the tree.
    pub fn into_tree(mut self) -> Node {
        self.go_through();
        self.tree.root
    }

    fn go_through(&mut self) {
        self.is_replayed = true;
        let steps = std::mem::take(&mut self.steps);
        steps.into_iter().for_each(|step| self.tree.apply(step));
    }

    /// The position of a value in the data merged so far.
    fn in_data(&mut self, path: &[Key]) -> At {
        self.go_through();
        let node = path
            .iter()
            .try_fold(self.tree.root.clone(), |node, step| node.child(step));
        node.and_then(|node| node.claim().map(|claim| claim.at.clone()))
            .unwrap_or(At::Nowhere)
    }
}
