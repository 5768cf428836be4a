//! Following a run: what it tells the [`Tracker`], if anybody asked where values come from.

use std::cell::RefMut;

use mapstack_diagnostic::Result;
use mapstack_merge::{MergeError, Options, merge};
use mapstack_minion::FactPlaces;
use mapstack_render::jinja::Edit;
use mapstack_value::{Key, Value};

use crate::engine::Run;
use crate::file::File;
use crate::lineage::{At, Because, Layer, LayerKind, Lineage, Merged, Tracker};
use crate::options::DataOptions;
use crate::text::Text;

impl Run<'_> {
    /// `map.data`, and where each value comes from.
    ///
    /// # Errors
    /// As [`data`](Run::data).
    pub fn explain(&self, tpldir: &str, options: &DataOptions) -> Result<(Value, Lineage)> {
        self.follow_secrets();
        self.tracker.replace(Some(Tracker::new()));
        let data = self.data(tpldir, options);
        let tracker = self.tracker.take().unwrap_or_default();
        let facts = FactPlaces::new(&self.facts.all());
        let secrets = self.secret_texts();
        data.map(|data| (data.clone(), Lineage::new(tracker, data, facts, secrets)))
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
        if options.compares_values() {
            self.blanks.look();
        }
        let described = self.is_tracked().then(describe);
        let (Some((layer, at)), Some(mut tracker)) = (described, self.tracker()) else {
            return merge(base, overlay, options, &mut ());
        };
        tracker.merged(layer, at, overlay, options);
        drop(tracker);
        merge(base, overlay, options, &mut ())
    }
}

impl Run<'_> {
    /// A layer of the work at hand.
    pub(crate) fn layer(
        &self,
        kind: LayerKind,
        because: Vec<Because>,
        merged: Option<Merged>,
    ) -> Layer {
        Layer {
            stage: self.stage.get(),
            definition: self.definition.borrow().clone(),
            kind,
            because,
            merged,
        }
    }

    /// Where a part of the data so far stands.
    pub(crate) fn tracked_at(&self, path: &[Key]) -> At {
        self.tracker()
            .map_or(At::Nowhere, |mut tracker| tracker.whereabouts(path))
    }

    /// Tell who follows what a template changed in place.
    pub(crate) fn track_edits(&self, file: &File, values: (&Value, &Value), edits: Vec<Edit>) {
        let Some(mut tracker) = self.tracker() else {
            return;
        };
        let place = |edit: Edit| (self.place_in_template(edit.place, file), edit.after);
        let whole = Text::plain(file, file.text().unwrap_or_default()).place(0);
        let layer = self.layer(
            LayerKind::Edits {
                shown: file.shown.clone(),
            },
            Vec::new(),
            None,
        );
        tracker.edited(layer, values, edits.into_iter().map(place).collect(), whole);
    }
}
