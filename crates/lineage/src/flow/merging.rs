//! Repeats a merge on the origins of both sides.

use mapstack_merge::{Change, ItemOrigin, Observer, Options, Trail, merge_observed, stack};
use mapstack_value::{Key, Map, Value};

use crate::tree::{Claim, HistoryStep, Node};

/// The origins of the result of a merge.
pub(crate) fn merged(
    base: &Value,
    root: Node,
    overlay: &Value,
    origins: &Node,
    options: &Options,
) -> Node {
    // The function did the same merge, and reports only those that succeed.
    over(base.clone(), root, overlay, origins, options).1
}

/// The result of a merge, if it succeeds, and its origins. A base that nothing else holds is not copied.
pub(crate) fn over(
    base: Value,
    mut root: Node,
    overlay: &Value,
    origins: &Node,
    options: &Options,
) -> (Option<Value>, Node) {
    let mut merging = Merging {
        root: &mut root,
        overlay: origins,
    };
    let value = merge_observed(base, overlay, options, &mut merging);
    (value.ok(), root)
}

/// A stack after one more file, by the strategies that the file names, and its origins.
pub(crate) fn stacked(base: Value, mut root: Node, overlay: &Map, origins: &Node) -> (Value, Node) {
    let Value::Map(mut stack) = base else {
        return (base, root);
    };
    let mut merging = Merging {
        root: &mut root,
        overlay: origins,
    };
    // A failing merge of the reference keeps what it merged so far.
    let _ = stack::merge_into_observed(&mut stack, overlay, &mut merging);
    (stack.into(), root)
}

struct Merging<'m> {
    root: &'m mut Node,
    overlay: &'m Node,
}

impl Merging<'_> {
    /// Put the overlay's value at a path.
    fn take_over(&mut self, path: &[Key]) {
        let Some((last, above)) = path.split_last() else {
            *self.root = self.overlay.clone();
            return;
        };
        let Some(parent) = self.overlay.follow(above) else {
            return;
        };
        let node = parent.child(last).unwrap_or_default();
        let key = parent.key_of(last);
        self.root.follow_mut(above).put(last, node, key);
    }

    /// The layer of the overlay's value at a path.
    fn layer(&self, path: &[Key]) -> usize {
        let claim = |node: &Node| node.claim().map(|claim| claim.layer);
        let here = self.overlay.follow(path);
        here.as_ref()
            .and_then(claim)
            .or_else(|| claim(self.overlay))
            .unwrap_or_default()
    }
}

impl Observer for Merging<'_> {
    fn changed(&mut self, at: &Trail<'_>, change: Change<'_>) {
        let path = at.to_path().0;
        match change {
            Change::Added { .. } | Change::Replaced { .. } => self.take_over(&path),
            Change::Kept { rejected, .. } => {
                let theirs = self.overlay.follow(&path);
                let claim = theirs.and_then(|node| node.claim().cloned());
                let by = self.layer(&path);
                if let Some(claim) = claim.map(|claim| claim.over(rejected)) {
                    self.root.follow_mut(&path).reject(claim, by);
                }
            }
            // No strategy of `slsutil.merge` drops values in a way that changes the result.
            Change::Dropped { .. } => {}
            Change::Joined { origins, .. } => {
                let theirs = self.overlay.follow(&path).unwrap_or_default();
                let by = self.layer(&path);
                let node = match path[..] {
                    [] => &mut *self.root,
                    _ => self.root.follow_mut(&path),
                };
                // The items keep their own histories; those of the lists are theirs.
                let (ours, theirs) = (node.clone().without_past(), theirs.without_past());
                let item = |origin: &ItemOrigin| match origin {
                    ItemOrigin::Base(index) => ours.child(&Key::of_index(*index)),
                    ItemOrigin::Overlay(index) => theirs.child(&Key::of_index(*index)),
                };
                let items = origins.iter().map(item).map(Option::unwrap_or_default);
                let items = items.collect();
                node.become_list(items, by, HistoryStep::Joined);
            }
            Change::Paired { old, new } => {
                let theirs = self.overlay.follow(&path).unwrap_or_default();
                let by = self.layer(&path);
                let node = self.root.follow_mut(&path);
                let ours = node.clone().without_past();
                if let Some(claim) = ours.claim() {
                    let pair: Value = [old.clone(), new.clone()].into_iter().collect();
                    let owner = Claim {
                        value: pair,
                        ..claim.clone()
                    };
                    node.become_list(vec![ours, theirs], by, HistoryStep::Paired);
                    node.own(owner);
                }
            }
            Change::Removed { .. } => {
                if let Some((last, above)) = path.split_last() {
                    let by = self.layer(&path);
                    self.root.follow_mut(above).remove(last, by);
                }
            }
        }
    }
}
