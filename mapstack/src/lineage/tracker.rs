//! Following a run: layers as they come, and the tree beside the data.

use std::cell::RefMut;
use std::collections::BTreeMap;
use std::sync::Arc;

use mapstack_merge::{MergeError, Options, merge};
use mapstack_minion::FactPlaces;
use mapstack_render::jinja::Edit;
use mapstack_value::{Key, Map, Value};

use super::tree::Merging;
use super::{At, Because, Claim, Layer, LayerKind, LayerText, Lineage, Merged, Node};
use crate::diagnostic::{Place, Result};
use crate::engine::Run;
use crate::files::File;
use crate::options::DataOptions;
use crate::render::Text;

/// The texts of layers that have one.
pub(crate) type Texts = BTreeMap<usize, Arc<LayerText>>;

/// What is known so far of a run's data.
#[derive(Debug)]
pub(crate) struct Tracker {
    layers: Vec<Layer>,
    texts: Texts,
    root: Node,
}

impl Default for Tracker {
    fn default() -> Self {
        Tracker { layers: Vec::new(), texts: Texts::new(), root: nothing() }
    }
}

/// Nobody has said anything.
fn nothing() -> Node {
    Node::whole(Claim { layer: 0, value: Value::map(), at: At::Nowhere })
}

impl Run<'_> {
    /// `map.data`, and where each value comes from.
    ///
    /// # Errors
    /// As [`data`](Run::data).
    pub fn explain(&self, tpldir: &str, options: &DataOptions) -> Result<(Value, Lineage)> {
        self.tracker.replace(Some(Tracker::default()));
        let data = self.data(tpldir, options);
        let tracker = self.tracker.take().unwrap_or_default();
        let facts = FactPlaces::new(&self.facts.borrow());
        data.map(|data| (data.clone(), Lineage::new(tracker, data, facts)))
    }

    /// What follows the outermost call. What templates make of others is theirs.
    pub(crate) fn tracker(&self) -> Option<RefMut<'_, Tracker>> {
        if self.depth.get() != 1 {
            return None;
        }
        RefMut::filter_map(self.tracker.borrow_mut(), Option::as_mut).ok()
    }

    /// Whether anybody follows what a layer does.
    pub(crate) fn is_tracked(&self) -> bool {
        self.tracker().is_some()
    }

    /// Merge a layer. What it is is only asked where somebody follows.
    pub(crate) fn merge_layer(
        &self,
        base: Value,
        overlay: &Value,
        options: &Options,
        describe: impl FnOnce() -> (Layer, At),
    ) -> Result<Value, MergeError> {
        let described = self.is_tracked().then(describe);
        let (Some((layer, at)), Some(mut tracker)) = (described, self.tracker()) else {
            return merge(base, overlay, options, &mut ());
        };
        let layer = tracker.add(layer);
        if let At::Text(text, _) = &at {
            tracker.texts.insert(layer, text.clone());
        }
        let overlay = Claim { layer, value: overlay.clone(), at };
        merge(base, &overlay.value, options, &mut Merging { root: &mut tracker.root, overlay: &overlay })
    }
}

impl Tracker {
    fn add(&mut self, layer: Layer) -> usize {
        self.layers.push(layer);
        self.layers.len() - 1
    }

    /// A fold begins with this.
    pub fn begin(&mut self, layer: impl FnOnce() -> Layer, first: &Value) {
        let is_empty = first.as_map().is_some_and(Map::is_empty);
        let layer = if is_empty { 0 } else { self.add(layer()) };
        self.root = Node::whole(Claim { layer, value: first.clone(), at: At::Nowhere });
    }

    /// What is known of the fold that ended.
    pub fn take(&mut self) -> Node {
        std::mem::replace(&mut self.root, nothing())
    }

    /// Put what is known of another fold under a key.
    pub fn set_entry(&mut self, key: &str, node: Node) {
        self.root.set_entry(&Key::from(key), node);
    }

    /// A template changed the data in place, statement by statement, until it was `now`. `whole` is
    /// the template, for what no statement is known to have done.
    pub fn edited(&mut self, layer: Layer, (before, now): (&Value, &Value), edits: Vec<(Place, Value)>, whole: Place) {
        if edits.is_empty() && before.is_same(now) {
            return;
        }
        let layer = self.add(layer);
        let (mut last, mut at) = (before.clone(), Arc::new(whole));
        for (statement, after) in edits {
            at = Arc::new(statement);
            self.root.edit(&last, &Claim { layer, value: after.clone(), at: At::Statement(at.clone()) });
            last = after;
        }
        self.root.edit(&last, &Claim { layer, value: now.clone(), at: At::Statement(at) });
    }

    /// The function itself changed the data of a fold that ended.
    pub fn adjusted(&mut self, node: &mut Node, layer: Layer, before: &Value, now: &Value) {
        if !before.is_same(now) {
            let by = Claim { layer: self.add(layer), value: now.clone(), at: At::Nowhere };
            node.edit(before, &by);
        }
    }

    pub fn finish(self) -> (Vec<Layer>, Texts, Node) {
        (self.layers, self.texts, self.root)
    }

    /// Where data that the stack itself has stands.
    pub fn whereabouts(&self, path: &[Key]) -> At {
        let node = path.iter().try_fold(self.root.clone(), |node, step| node.child(step));
        node.and_then(|node| node.claim().map(|claim| claim.at.clone())).unwrap_or(At::Nowhere)
    }
}

impl Run<'_> {
    /// A layer of the work at hand.
    pub(crate) fn layer(&self, kind: LayerKind, because: Vec<Because>, merged: Option<Merged>) -> Layer {
        Layer { stage: self.stage.get(), definition: self.definition.borrow().clone(), kind, because, merged }
    }

    /// Where a part of the data so far stands.
    pub(crate) fn tracked_at(&self, path: &[Key]) -> At {
        self.tracker().map_or(At::Nowhere, |tracker| tracker.whereabouts(path))
    }

    /// Tell who follows what a template changed in place.
    pub(crate) fn track_edits(&self, file: &File, values: (&Value, &Value), edits: Vec<Edit>) {
        let Some(mut tracker) = self.tracker() else { return };
        let place = |edit: Edit| (self.place_in_template(edit.place, file), edit.after);
        let whole = Text::plain(file, file.text().unwrap_or_default()).place(0);
        let layer = self.layer(LayerKind::Edits { shown: file.shown.clone() }, Vec::new(), None);
        tracker.edited(layer, values, edits.into_iter().map(place).collect(), whole);
    }
}
