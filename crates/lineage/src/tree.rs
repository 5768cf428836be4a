//! A tree beside the data: who set each value, and what was there before.
//!
//! It has as many nodes as layers disagree. Where one layer has the say over everything below a
//! value there is one node, and what stands below is found in that layer's own positions.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use foldhash::fast::RandomState;
use mapstack_diagnostic::Place;
use mapstack_merge::{Change, Observer, Origin, Trail};
use mapstack_minion::Part;
use mapstack_value::{Key, Value, integer_step};
use mapstack_yaml::{Mark, Marks};

use crate::source::LayerText;

/// A layer's say over a value and everything in it.
#[derive(Debug, Clone)]
pub(crate) struct Claim {
    /// The layer's place in the list of layers.
    pub layer: usize,
    pub value: Value,
    pub at: At,
}

/// Where a claim stands.
#[derive(Debug, Clone)]
pub(crate) enum At {
    /// In a text, with the positions of everything inside.
    Text(Arc<LayerText>, Marks),
    /// At one position of a text.
    Mark(Arc<LayerText>, Mark),
    /// At a statement of a template.
    Statement(Arc<Place>),
    /// Under a path of the minion's facts.
    Fact(Option<Part>, Vec<Key>),
    /// At the last key of such a path.
    FactKey(Option<Part>, Vec<Key>),
    /// One key above: the only entry stands there.
    Below(Box<At>),
    /// Somewhere inside: nobody knows where exactly.
    Somewhere(Box<At>),
    /// In no file: an argument.
    Nowhere,
}

impl At {
    /// Whether it is no more than near the value: at a statement, or at something that the value came out of.
    pub fn is_near(&self) -> bool {
        match self {
            At::Statement(_) | At::Mark(..) => true,
            At::Below(inside) | At::Somewhere(inside) => inside.is_near(),
            At::Text(..) | At::Fact(..) | At::FactKey(..) | At::Nowhere => false,
        }
    }

    fn child(&self, index: usize, step: &Key) -> At {
        match self {
            At::Text(text, marks) => match marks.child(index) {
                Some(inside) => At::Text(text.clone(), inside.clone()),
                None => At::Mark(text.clone(), marks.mark()),
            },
            At::Fact(part, path) => At::Fact(*part, path.iter().chain([step]).cloned().collect()),
            At::Below(inside) => (**inside).clone(),
            other => other.clone(),
        }
    }

    fn key(&self, index: usize, step: &Key) -> At {
        match self {
            At::Text(text, marks) => {
                At::Mark(text.clone(), marks.key(index).unwrap_or(marks.mark()))
            }
            other => match other.child(index, step) {
                At::Fact(part, path) => At::FactKey(part, path),
                inside => inside,
            },
        }
    }
}

impl Claim {
    /// The say over an entry or an item.
    fn child(&self, step: &Key) -> Option<Claim> {
        let (index, value) = entry(&self.value, step)?;
        Some(Claim {
            layer: self.layer,
            value: value.clone(),
            at: self.at.child(index, step),
        })
    }

    /// The say over the key of an entry.
    fn key(&self, step: &Key) -> Option<Claim> {
        let Value::Map(map) = &self.value else {
            return None;
        };
        let at = self.at.key(map.index_of(step)?, step);
        Some(Claim {
            layer: self.layer,
            value: step.to_value(),
            at,
        })
    }

    fn follow(&self, path: &[Key]) -> Option<Claim> {
        path.iter()
            .try_fold(self.clone(), |here, step| here.child(step))
    }

    /// The same say, over another value.
    fn over(&self, value: &Value) -> Claim {
        Claim {
            value: value.clone(),
            ..self.clone()
        }
    }
}

/// The entry or item that a step leads to.
pub(crate) fn entry<'v>(value: &'v Value, step: &Key) -> Option<(usize, &'v Value)> {
    let item = |items: &'v [Value]| {
        let index = usize::try_from(integer_step(step)?.to_i64()?).ok()?;
        Some((index, items.get(index)?))
    };
    match value {
        Value::Map(map) => {
            let index = map.index_of(step)?;
            Some((index, map.entry_at(index)?.1))
        }
        Value::List(items) => item(items),
        Value::Tuple(items) => item(items),
        _ => None,
    }
}

/// What is known of a value.
#[derive(Debug, Clone, Default)]
pub(crate) struct Node {
    /// Who has the say over the key it stands under, if that is not whoever has it over the mapping.
    key: Option<Claim>,
    now: Now,
    /// What was there before, the oldest first.
    pub past: Vec<Past>,
}

/// Who has the say at the moment.
#[derive(Debug, Clone, Default)]
struct Now {
    /// Over everything that is not listed; nothing is there any more if nobody has.
    claim: Option<Claim>,
    /// Entries of a mapping over which others have.
    entries: HashMap<Key, Node, RandomState>,
    /// The items of a list from several layers.
    items: Option<Vec<Node>>,
}

/// Something that was there, or should have been.
#[derive(Debug, Clone)]
pub(crate) struct Past {
    /// What it was, and whose.
    pub claim: Claim,
    /// What was known of what is in it, if that went with it.
    inside: Option<Box<Now>>,
    /// The layer that ended it.
    pub by: usize,
    pub how: How,
}

/// How a value ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// Another took its place.
    Replaced,
    /// Its items are among those of a longer list.
    Joined,
    /// It is one of the two items of a list.
    Paired,
    /// It was taken away.
    Removed,
    /// It never came to be: the earlier value stayed.
    Rejected,
    /// A template changed it in place.
    Edited,
}

impl Now {
    fn whole(claim: Claim) -> Self {
        Now {
            claim: Some(claim),
            ..Now::default()
        }
    }

    fn list(claim: Claim, items: Vec<Node>) -> Self {
        Now {
            claim: Some(claim),
            items: Some(items),
            ..Now::default()
        }
    }

    fn child(&self, step: &Key) -> Option<Node> {
        if let Some(items) = &self.items {
            let index = usize::try_from(integer_step(step)?.to_i64()?).ok()?;
            return items.get(index).cloned();
        }
        match self.entries.get(step) {
            Some(node) => Some(node.clone()),
            None => self.claim.as_ref()?.child(step).map(Node::whole),
        }
    }
}

impl Node {
    /// A value that one layer has the say over.
    pub fn whole(claim: Claim) -> Self {
        Node {
            now: Now::whole(claim),
            ..Node::default()
        }
    }

    /// Whose the value is; `None` if there is none any more.
    pub fn claim(&self) -> Option<&Claim> {
        self.now.claim.as_ref()
    }

    /// What is known of an entry or an item, with what replaced values around it had there.
    pub fn child(&self, step: &Key) -> Option<Node> {
        let mut child = self.now.child(step)?;
        let mut past: Vec<Past> = Vec::new();
        for before in &self.past {
            // Lists that became longer or were edited handed their items on.
            let Some(was) = before.inside.as_ref().and_then(|inside| inside.child(step)) else {
                continue;
            };
            past.extend(was.past);
            if let Some(claim) = was.now.claim.clone() {
                past.push(Past {
                    claim,
                    inside: Some(Box::new(was.now)),
                    by: before.by,
                    how: before.how,
                });
            }
        }
        past.append(&mut child.past);
        child.past = past;
        Some(child)
    }

    /// The same, without a copy where nothing around it was replaced.
    pub fn child_here(&self, step: &Key) -> Option<Cow<'_, Node>> {
        let own = match (&self.past[..], &self.now.items) {
            ([], None) => self.now.entries.get(step),
            ([], Some(items)) => integer_step(step)
                .and_then(|index| items.get(usize::try_from(index.to_i64()?).ok()?)),
            _ => None,
        };
        match own {
            Some(own) => Some(Cow::Borrowed(own)),
            None => self.child(step).map(Cow::Owned),
        }
    }

    /// Who has the say over the key of an entry.
    pub fn key_of(&self, step: &Key) -> Option<Claim> {
        let own = self.now.entries.get(step).and_then(|node| node.key.clone());
        own.or_else(|| self.now.claim.as_ref()?.key(step))
    }

    /// What is known of an entry, to be changed.
    fn entry_mut(&mut self, key: &Key) -> &mut Node {
        let Now {
            claim,
            entries,
            items,
        } = &mut self.now;
        *items = None;
        entries.entry(key.clone()).or_insert_with(|| {
            let inside = claim
                .as_ref()
                .and_then(|claim| Some((claim.key(key), claim.child(key)?)));
            inside.map_or_else(Node::default, |(key, inside)| Node {
                key,
                ..Node::whole(inside)
            })
        })
    }

    fn follow_mut(&mut self, path: &[Key]) -> &mut Node {
        path.iter().fold(self, |here, key| here.entry_mut(key))
    }

    /// The items of a list, each with what is known of it.
    fn take_items(&mut self, values: &[Value]) -> Vec<Node> {
        let mut now = std::mem::take(&mut self.now);
        if let Some(items) = now.items.take() {
            return items;
        }
        let of = |(index, value): (usize, &Value)| match (now.child(&index_key(index)), &now.claim)
        {
            (Some(child), _) => child,
            (None, Some(claim)) => Node::whole(claim.over(value)),
            (None, None) => Node::default(),
        };
        values.iter().enumerate().map(of).collect()
    }

    /// The value ends here.
    fn end(&mut self, old: &Value, by: usize, how: How) {
        let now = std::mem::take(&mut self.now);
        let Some(claim) = now.claim.as_ref().map(|claim| claim.over(old)) else {
            return;
        };
        self.past.push(Past {
            claim,
            inside: Some(Box::new(now)),
            by,
            how,
        });
    }

    fn add(&mut self, claim: Claim, key: Option<Claim>) {
        if self.now.claim.is_none() {
            self.key = key;
        }
        self.now = Now::whole(claim);
    }

    fn replace(&mut self, old: &Value, claim: Claim, how: How) {
        self.end(old, claim.layer, how);
        self.now = Now::whole(claim);
    }

    /// Put what is known of an entry here.
    pub fn set_entry(&mut self, key: &Key, node: Node) {
        *self.entry_mut(key) = node;
    }

    /// A template changed the value in place, and this is what it made.
    pub fn edit(&mut self, old: &Value, by: &Claim) {
        let new = &by.value;
        match (old, new) {
            (Value::Map(before), Value::Map(after)) => {
                for (key, value) in before.iter().filter(|(key, _)| !after.contains_key(*key)) {
                    self.entry_mut(key).end(value, by.layer, How::Removed);
                }
                for (key, value) in after {
                    match before.get(key) {
                        Some(old) if old.is_same(value) => {}
                        Some(old) => self.entry_mut(key).edit(old, &by.over(value)),
                        None => self
                            .entry_mut(key)
                            .add(by.over(value), Some(by.over(&key.to_value()))),
                    }
                }
            }
            (Value::List(before), Value::List(after)) => self.edit_list(before, after, by),
            (old, new) if old.is_same(new) => {}
            _ => self.replace(old, by.clone(), How::Edited),
        }
    }

    /// Items stay whose they were where the same item is still there.
    fn edit_list(&mut self, before: &[Value], after: &[Value], by: &Claim) {
        let whole: Value = before.iter().cloned().collect();
        let owner = self
            .claim()
            .cloned()
            .unwrap_or_else(|| by.clone())
            .over(&whole);
        let mut left: Vec<(usize, Option<Node>)> = self
            .take_items(before)
            .into_iter()
            .map(Some)
            .enumerate()
            .collect();
        // Where the next item probably is: behind the last one that was found.
        let mut next = 0;
        let items = after.iter().map(|item| {
            let is_it = |(index, node): &(usize, Option<Node>)| {
                node.is_some() && before.get(*index).is_some_and(|old| old.is_same(item))
            };
            let ahead = left
                .iter()
                .skip(next)
                .take(MAX_ITEMS_COMPARED)
                .position(is_it)
                .map(|found| next + found);
            let found = ahead.or_else(|| {
                left.iter()
                    .take(next.min(MAX_ITEMS_COMPARED))
                    .position(is_it)
            });
            match found.and_then(|index| Some((index, left.get_mut(index)?.1.take()?))) {
                Some((index, node)) => {
                    next = index + 1;
                    node
                }
                None => Node::whole(by.over(item)),
            }
        });
        let items: Vec<Node> = items.collect();
        self.past.push(Past {
            claim: owner.clone(),
            inside: None,
            by: by.layer,
            how: How::Edited,
        });
        self.now = Now::list(owner, items);
    }
}

/// How far an item of a changed list is looked for.
const MAX_ITEMS_COMPARED: usize = 200;

/// The step to an item.
pub(crate) fn index_key(index: usize) -> Key {
    Key::from(i64::try_from(index).unwrap_or(i64::MAX))
}

/// Watches a merge for the tree.
pub(crate) struct Merging<'t> {
    pub root: &'t mut Node,
    /// The layer that is merged over what there is.
    pub overlay: &'t Claim,
}

impl Observer for Merging<'_> {
    fn changed(&mut self, at: &Trail<'_>, change: Change<'_>) {
        let path = at.to_path().0;
        let (parent, last) = match path.split_last() {
            Some((last, before)) => (self.overlay.follow(before), Some(last)),
            None => (None, None),
        };
        let claim = |value: &Value| match (&parent, last) {
            (Some(parent), Some(key)) => parent.child(key).unwrap_or_else(|| parent.over(value)),
            _ => self.overlay.over(value),
        };
        let layer = self.overlay.layer;
        let node = self.root.follow_mut(&path);
        match change {
            Change::Added { new } => {
                let key = parent
                    .as_ref()
                    .zip(last)
                    .and_then(|(parent, key)| parent.key(key));
                node.add(claim(new), key);
            }
            Change::Replaced { old, new } => node.replace(old, claim(new), How::Replaced),
            Change::Kept { rejected, .. } | Change::Dropped { new: rejected } => {
                node.past.push(Past {
                    claim: claim(rejected),
                    inside: None,
                    by: layer,
                    how: How::Rejected,
                });
            }
            Change::Joined {
                base,
                overlay,
                origins,
            } => {
                let theirs = claim(&overlay.iter().cloned().collect());
                let whole: Value = base.iter().cloned().collect();
                let owner = node
                    .claim()
                    .cloned()
                    .unwrap_or_else(|| theirs.clone())
                    .over(&whole);
                let mut ours: Vec<Option<Node>> =
                    node.take_items(base).into_iter().map(Some).collect();
                let items = origins.iter().map(|origin| {
                    let new = |index| theirs.child(&index_key(index)).map(Node::whole);
                    match origin {
                        Origin::Base(index) => ours.get_mut(*index).and_then(Option::take),
                        Origin::Overlay(index) => new(*index),
                    }
                    .unwrap_or_else(|| Node::whole(theirs.clone()))
                });
                let items = items.collect();
                node.past.push(Past {
                    claim: owner.clone(),
                    inside: None,
                    by: layer,
                    how: How::Joined,
                });
                node.now = Now::list(owner, items);
            }
            Change::Paired { old, new } => {
                let theirs = claim(new);
                let ours = Node {
                    now: std::mem::take(&mut node.now),
                    ..Node::default()
                };
                let owner = ours
                    .claim()
                    .cloned()
                    .unwrap_or_else(|| theirs.clone())
                    .over(old);
                node.past.push(Past {
                    claim: owner.clone(),
                    inside: None,
                    by: layer,
                    how: How::Paired,
                });
                node.now = Now::list(owner, vec![ours, Node::whole(theirs)]);
            }
            Change::Removed { old } => node.end(old, layer, How::Removed),
        }
    }
}
