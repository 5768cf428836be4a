//! A tree parallel to the data: which layer set each value, and which values it replaced.
//!
//! The tree has nodes only where layers differ. If one layer set a value and everything in it, there is a single
//! node, and the positions of the layer's text cover everything below it.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use foldhash::fast::RandomState;
use mapstack_diagnostic::Place;
use mapstack_merge::{Change, ItemOrigin, Observer, Trail};
use mapstack_minion::Part;
use mapstack_pyobject::spend;
use mapstack_value::{Key, Value, integer_step, sent};
use mapstack_yaml::{Mark, Marks};

use crate::source::LayerText;

/// The claim of a layer to have set a value and everything in it.
#[derive(Debug, Clone)]
pub(crate) struct Claim {
    /// The index of the layer.
    pub layer: usize,
    pub value: Value,
    pub at: At,
}

/// The position of a claim's value.
#[derive(Debug, Clone)]
pub(crate) enum At {
    /// A position in a text, with the positions of everything inside.
    Text(Arc<LayerText>, Marks),
    /// A position in a text, without positions inside.
    Mark(Arc<LayerText>, Mark),
    /// A statement of a template.
    Statement(Arc<Place>),
    /// A path of the minion's facts.
    Fact(Option<Part>, Vec<Key>),
    /// The last key of such a path.
    FactKey(Option<Part>, Vec<Key>),
    /// One level above this position: its only entry is there.
    Below(Box<At>),
    /// A literal in a template.
    Literal(Arc<Place>),
    /// An expression that computed the value from these.
    Computed(Arc<Place>, Arc<[At]>),
    /// A position in a text that tags of a template printed, with the origins of what they printed.
    Printed(Box<At>, Arc<[Node]>),
    /// The positions in several places that were merged.
    Merged(Arc<Node>),
    /// A position that is not known.
    Unknown,
    /// An unknown position inside this one.
    Somewhere(Box<At>),
    /// Not in a file: an argument.
    Nowhere,
}

impl At {
    /// True if this is only near the value: the statement or the position from which the value was computed.
    pub fn is_near(&self) -> bool {
        match self {
            At::Statement(_) | At::Computed(..) | At::Unknown | At::Mark(..) => true,
            At::Below(inside) | At::Somewhere(inside) | At::Printed(inside, _) => inside.is_near(),
            At::Merged(inside) => inside.claim().is_some_and(|claim| claim.at.is_near()),
            At::Text(..) | At::Literal(_) | At::Fact(..) | At::FactKey(..) | At::Nowhere => false,
        }
    }

    /// The same position for a value that was computed from the one there.
    pub fn nearby(&self) -> At {
        match self {
            At::Text(text, marks) => At::Statement(Arc::new(text.spot(marks.mark()).0)),
            At::Mark(text, mark) => At::Statement(Arc::new(text.spot(*mark).0)),
            At::Printed(inside, _) => inside.nearby(),
            other => other.clone(),
        }
    }

    /// Give all layers other numbers.
    fn renumber(&mut self, number: &mut dyn FnMut(usize) -> usize) {
        if let At::Printed(_, from) = self {
            let mut nodes = from.to_vec();
            nodes.iter_mut().for_each(|node| node.renumber(number));
            *from = nodes.into();
        }
    }

    /// True if another position is the same one.
    fn is_same(&self, other: &At) -> bool {
        match (self, other) {
            (At::Text(one, marks), At::Text(other, others)) => {
                one.is_same(other) && marks == others
            }
            (At::Mark(one, mark), At::Mark(other, others)) => one.is_same(other) && mark == others,
            (At::Statement(one), At::Statement(other)) | (At::Literal(one), At::Literal(other)) => {
                one == other
            }
            (At::Fact(part, path), At::Fact(other, others))
            | (At::FactKey(part, path), At::FactKey(other, others)) => {
                part == other && path == others
            }
            (At::Below(one), At::Below(other)) | (At::Somewhere(one), At::Somewhere(other)) => {
                one.is_same(other)
            }
            (At::Merged(one), At::Merged(other)) => one.is_repeated(other),
            (At::Nowhere, At::Nowhere) | (At::Unknown, At::Unknown) => true,
            _ => false,
        }
    }

    /// Name the files of a position.
    fn each_file(&self, name: &mut dyn FnMut(&str)) {
        match self {
            At::Text(text, _) | At::Mark(text, _) => text.each_file(name),
            At::Statement(place) | At::Literal(place) => name(&place.file),
            At::Computed(place, inputs) => {
                name(&place.file);
                inputs.iter().for_each(|input| input.each_file(name));
            }
            At::Below(inside) | At::Somewhere(inside) => inside.each_file(name),
            At::Merged(inside) => inside.each_file(name),
            At::Printed(inside, from) => {
                inside.each_file(name);
                from.iter().for_each(|node| node.each_file(name));
            }
            At::Fact(..) | At::FactKey(..) | At::Unknown | At::Nowhere => {}
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
            At::Printed(inside, _) => inside.child(index, step),
            At::Merged(inside) => inside.child(step).map_or(At::Unknown, Node::merged),
            // The parts of a literal have nodes of their own.
            At::Literal(place) => At::Statement(place.clone()),
            other => other.clone(),
        }
    }

    fn key(&self, index: usize, step: &Key) -> At {
        match self {
            At::Text(text, marks) => {
                At::Mark(text.clone(), marks.key(index).unwrap_or(marks.mark()))
            }
            At::Merged(inside) => inside.key_of(step).map_or(At::Unknown, |claim| claim.at),
            other => match other.child(index, step) {
                At::Fact(part, path) => At::FactKey(part, path),
                inside => inside,
            },
        }
    }
}

impl Claim {
    /// True if this is a part of the facts, whose parts have their paths.
    pub fn is_fact(&self) -> bool {
        matches!(self.at, At::Fact(..))
    }

    /// True if another run made the same claim.
    pub fn is_repeated(&self, other: &Claim) -> bool {
        self.layer == other.layer && self.value.is_same(&other.value) && self.at.is_same(&other.at)
    }

    /// True if another claim is that of the same layer on the same place of its text.
    fn is_same(&self, other: &Claim) -> bool {
        let is_there = match (&self.at, &other.at) {
            (At::Text(_, own), At::Text(_, marks)) => own.mark() == marks.mark(),
            (At::Mark(_, own), At::Mark(_, mark)) => own == mark,
            _ => false,
        };
        is_there && self.layer == other.layer && self.value.is_same(&other.value)
    }

    /// The claim on an entry or an item.
    pub fn child(&self, step: &Key) -> Option<Claim> {
        let (index, value) = entry(&self.value, step)?;
        Some(Claim {
            layer: self.layer,
            value: value.clone(),
            at: self.at.child(index, step),
        })
    }

    /// The claim on the key of an entry.
    pub fn key(&self, step: &Key) -> Option<Claim> {
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

    /// The same claim, on what these printed.
    pub fn printed(self, from: Vec<Node>) -> Claim {
        match from.is_empty() {
            true => self,
            false => Claim {
                at: At::Printed(Box::new(self.at), from.into()),
                ..self
            },
        }
    }

    /// Give all layers other numbers.
    fn renumber(&mut self, number: &mut dyn FnMut(usize) -> usize) {
        self.layer = number(self.layer);
        self.at.renumber(number);
    }

    fn follow(&self, path: &[Key]) -> Option<Claim> {
        path.iter()
            .try_fold(self.clone(), |here, step| here.child(step))
    }

    /// The same claim on another value.
    pub fn over(&self, value: &Value) -> Claim {
        Claim {
            value: value.clone(),
            ..self.clone()
        }
    }
}

/// The index and the value of the entry or item at a step.
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

/// Pay for steps through origins; false if the account is empty. Its owner checks it at the end,
/// and then drops everything that was left unfinished.
fn pay(steps: usize) -> bool {
    spend(steps).is_ok()
}

/// The origin and history of a value.
#[derive(Debug, Clone, Default)]
pub(crate) struct Node {
    /// The claim on the key of this value, if another layer claims the mapping that contains it.
    key: Option<Claim>,
    /// Shared with the copies of this node until one of them changes.
    now: Arc<PresentClaims>,
    /// Earlier and rejected values, the oldest first.
    pub past: Vec<PastValue>,
}

/// The present claims on a value and its parts.
#[derive(Debug, Clone, Default)]
struct PresentClaims {
    /// The claim on all parts that are not listed here. `None` after the value was removed.
    claim: Option<Claim>,
    /// Entries of a mapping that other layers set.
    entries: HashMap<Key, Node, RandomState>,
    /// The items of a list to which several layers contributed.
    items: Option<Vec<Node>>,
}

/// An earlier or rejected value.
#[derive(Debug, Clone)]
pub(crate) struct PastValue {
    /// The value and the layer that set it.
    pub claim: Claim,
    /// The claims on its parts, if these ended together with it.
    inside: Option<Arc<PresentClaims>>,
    /// The layer that ended it.
    pub by: usize,
    pub how: HistoryStep,
}

/// A step in the history of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HistoryStep {
    /// Another value replaced it.
    Replaced,
    /// It became part of a longer list.
    Joined,
    /// It became one of the two items of a list.
    Paired,
    /// A layer removed it.
    Removed,
    /// A merge rejected it and kept the earlier value.
    Rejected,
    /// A template changed it in place.
    Edited,
}

impl PresentClaims {
    fn whole(claim: Claim) -> Self {
        PresentClaims {
            claim: Some(claim),
            ..PresentClaims::default()
        }
    }

    fn list(claim: Claim, items: Vec<Node>) -> Self {
        PresentClaims {
            claim: Some(claim),
            items: Some(items),
            ..PresentClaims::default()
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

impl PresentClaims {
    fn renumber(&mut self, number: &mut dyn FnMut(usize) -> usize) {
        if !pay(1) {
            return;
        }
        if let Some(claim) = &mut self.claim {
            claim.renumber(number);
        }
        let items = self.items.iter_mut().flatten();
        for node in self.entries.values_mut().chain(items) {
            node.renumber(number);
        }
    }
}

impl Node {
    /// A value that a single layer set.
    pub fn whole(claim: Claim) -> Self {
        Node {
            now: Arc::new(PresentClaims::whole(claim)),
            ..Node::default()
        }
    }

    /// The position of a value with these origins.
    pub fn merged(self) -> At {
        At::Merged(Arc::new(self))
    }

    /// True if another run made the same claims on the value and its parts.
    fn is_repeated(&self, other: &Node) -> bool {
        let (one, other) = (&*self.now, &*other.now);
        let claims = match (&one.claim, &other.claim) {
            (Some(claim), Some(other)) => claim.is_repeated(other),
            (None, None) => true,
            _ => false,
        };
        let mut entries = one.entries.iter();
        let has = |(key, node): (&Key, &Node)| {
            let known = other.entries.get(key);
            known.is_some_and(|known| node.is_repeated(known))
        };
        let items = |now: &PresentClaims| now.items.as_ref().map(Vec::len);
        let mut each = one.items.iter().flatten().zip(other.items.iter().flatten());
        claims
            && one.entries.len() == other.entries.len()
            && entries.all(has)
            && items(one) == items(other)
            && each.all(|(one, other)| one.is_repeated(other))
    }

    /// Add the node to others; in place of one that is computed, the parts that it was printed of.
    pub fn printed_parts(&self, all: &mut Vec<Node>) {
        match self.claim().map(|claim| &claim.at) {
            Some(At::Printed(inside, from))
                if matches!(**inside, At::Computed(..) | At::Unknown) =>
            {
                from.iter().for_each(|node| node.printed_parts(all));
            }
            _ => all.push(self.clone()),
        }
    }

    /// The claim on the value; `None` after the value was removed.
    pub fn claim(&self) -> Option<&Claim> {
        self.now.claim.as_ref()
    }

    /// The node of an entry or item. Its history includes the entries at this step of values that were replaced
    /// around it.
    pub fn child(&self, step: &Key) -> Option<Node> {
        let mut child = self.now.child(step)?;
        let mut past: Vec<PastValue> = Vec::new();
        for before in &self.past {
            // A list that was extended or edited keeps the nodes of its items, so its past has none.
            let Some(was) = before.inside.as_ref().and_then(|inside| inside.child(step)) else {
                continue;
            };
            past.extend(was.past);
            if let Some(claim) = was.now.claim.clone() {
                past.push(PastValue {
                    claim,
                    inside: Some(was.now),
                    by: before.by,
                    how: before.how,
                });
            }
        }
        past.append(&mut child.past);
        child.past = past;
        Some(child)
    }

    /// As [`child`](Self::child), without a copy if this node has no history.
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

    /// The claim on the key of an entry.
    pub fn key_of(&self, step: &Key) -> Option<Claim> {
        let own = self.now.entries.get(step).and_then(|node| node.key.clone());
        own.or_else(|| self.now.claim.as_ref()?.key(step))
    }

    /// The present claims, for changes. Claims that are shared are copied first, which the render pays for.
    fn now_mut(&mut self) -> &mut PresentClaims {
        if Arc::strong_count(&self.now) > 1 {
            let items = self.now.items.as_ref().map_or(0, Vec::len);
            pay(self.now.entries.len() + items);
        }
        Arc::make_mut(&mut self.now)
    }

    /// The node of an item of a list whose items are known, for changes.
    fn item_mut(&mut self, index: usize) -> Option<&mut Node> {
        self.now_mut().items.as_mut()?.get_mut(index)
    }

    /// The node of an entry, for changes.
    fn entry_mut(&mut self, key: &Key) -> &mut Node {
        let PresentClaims {
            claim,
            entries,
            items,
        } = self.now_mut();
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

    /// The node at a path, for changes.
    pub fn follow_mut(&mut self, path: &[Key]) -> &mut Node {
        path.iter().fold(self, |here, key| here.entry_mut(key))
    }

    /// Take the nodes of the items of a list.
    fn take_items(&mut self, values: &[Value]) -> Vec<Node> {
        let mut now = std::mem::take(&mut self.now);
        if now.items.is_some()
            && let Some(items) = Arc::make_mut(&mut now).items.take()
        {
            return items;
        }
        let of = |(index, value): (usize, &Value)| match (
            now.child(&Key::of_index(index)),
            &now.claim,
        ) {
            (Some(child), _) => child,
            (None, Some(claim)) => Node::whole(claim.over(value)),
            (None, None) => Node::default(),
        };
        values.iter().enumerate().map(of).collect()
    }

    /// Move the present value to the history.
    fn end(&mut self, old: &Value, by: usize, how: HistoryStep) {
        let now = std::mem::take(&mut self.now);
        let Some(claim) = now.claim.as_ref().map(|claim| claim.over(old)) else {
            return;
        };
        self.past.push(PastValue {
            claim,
            inside: Some(now),
            by,
            how,
        });
    }

    fn add(&mut self, claim: Claim, key: Option<Claim>) {
        if self.now.claim.is_none() {
            self.key = key;
        }
        self.now = Arc::new(PresentClaims::whole(claim));
    }

    /// The list that two lists became.
    fn join(&mut self, base: &[Value], theirs: &Claim, origins: &[ItemOrigin]) {
        let owner = self.owner(&base.iter().cloned().collect(), theirs);
        let mut ours: Vec<Option<Node>> = self.take_items(base).into_iter().map(Some).collect();
        let items = origins.iter().map(|origin| {
            let new = |index| theirs.child(&Key::of_index(index)).map(Node::whole);
            match origin {
                ItemOrigin::Base(index) => ours.get_mut(*index).and_then(Option::take),
                ItemOrigin::Overlay(index) => new(*index),
            }
            .unwrap_or_else(|| Node::whole(theirs.clone()))
        });
        let items = items.collect();
        self.become_list_of(owner, items, theirs.layer, HistoryStep::Joined);
    }

    /// The list of an old and a new value.
    fn pair(&mut self, old: &Value, theirs: Claim) {
        let owner = self.owner(old, &theirs);
        let ours = Node {
            now: std::mem::take(&mut self.now),
            ..Node::default()
        };
        let layer = theirs.layer;
        self.become_list_of(
            owner,
            vec![ours, Node::whole(theirs)],
            layer,
            HistoryStep::Paired,
        );
    }

    /// The claim on the old value: that of the node, or of the layer that merges if there is none.
    fn owner(&self, old: &Value, theirs: &Claim) -> Claim {
        self.claim().unwrap_or(theirs).over(old)
    }

    fn become_list_of(&mut self, owner: Claim, items: Vec<Node>, by: usize, how: HistoryStep) {
        self.past.push(PastValue {
            claim: owner.clone(),
            inside: None,
            by,
            how,
        });
        self.now = Arc::new(PresentClaims::list(owner, items));
    }

    fn replace(&mut self, old: &Value, claim: Claim, how: HistoryStep) {
        self.end(old, claim.layer, how);
        self.now = Arc::new(PresentClaims::whole(claim));
    }

    /// The history with another value, after this one ended.
    pub fn then(mut self, next: Node, how: HistoryStep) -> Self {
        if let (Some(old), Some(new)) = (self.claim().cloned(), next.claim()) {
            self.end(&old.value, new.layer, how);
        }
        next.after(self.past)
    }

    /// Record that a list was appended to this one, which was `before` until then.
    pub fn note_joined(&mut self, before: &Value, by: usize) {
        if let Some(owner) = self.claim() {
            self.past.push(PastValue {
                claim: owner.over(before),
                inside: None,
                by,
                how: HistoryStep::Joined,
            });
        }
    }

    /// A list whose items have these origins.
    pub fn list(claim: Claim, items: Vec<Node>) -> Self {
        Node {
            now: Arc::new(PresentClaims::list(claim, items)),
            ..Node::default()
        }
    }

    /// A value without its history.
    pub fn without_past(self) -> Self {
        Node {
            past: Vec::new(),
            ..self
        }
    }

    /// The number of items, if it is known for each where it comes from.
    pub fn items(&self) -> Option<usize> {
        self.now.items.as_ref().map(Vec::len)
    }

    /// Append an item to a list whose items are known.
    pub fn push(&mut self, item: Node) {
        if let Some(items) = &mut self.now_mut().items {
            items.push(item);
        }
    }

    /// The same value after a history.
    fn after(mut self, mut past: Vec<PastValue>) -> Self {
        past.append(&mut self.past);
        Node { past, ..self }
    }

    /// The node of a value inside this one.
    pub fn follow(&self, path: &[Key]) -> Option<Node> {
        path.iter()
            .try_fold(self.clone(), |here, step| here.child(step))
    }

    /// Replace this value by another.
    pub fn become_list(&mut self, items: Vec<Node>, by: usize, how: HistoryStep) {
        if let Some(owner) = self.claim().cloned() {
            self.become_list_of(owner, items, by, how);
        }
    }

    /// Make this the claim on the value itself; its parts keep theirs.
    pub fn own(&mut self, claim: Claim) {
        self.now_mut().claim = Some(claim);
    }

    /// Set the value under a key of a new container.
    pub fn set(&mut self, step: &Key, node: Node, at: Option<Claim>) {
        let entry = self.entry_mut(step);
        *entry = Node { key: at, ..node };
    }

    /// Set the value at a path. Items of lists on the way keep their places.
    pub fn place(&mut self, path: &[Key], node: Node, at: Option<Claim>) {
        let Some((first, rest)) = path.split_first() else {
            *self = node;
            return;
        };
        let Some(mut inside) = self.child(first) else {
            return;
        };
        let key = match rest {
            [] => at,
            _ => self.key_of(first),
        };
        inside.place(rest, node, None);
        let is_list = matches!(self.claim(), Some(claim) if claim.value.as_list().is_some());
        if is_list {
            let length = self
                .claim()
                .and_then(|claim| claim.value.as_list())
                .map_or(0, <[Value]>::len);
            let mut items: Vec<Node> = (0..length)
                .map(|index| self.child(&Key::of_index(index)).unwrap_or_default())
                .collect();
            let index = integer_step(first).and_then(|index| usize::try_from(index.to_i64()?).ok());
            if let Some(item) = index.and_then(|index| items.get_mut(index)) {
                *item = inside;
            }
            self.now_mut().items = Some(items);
        } else {
            self.set(first, inside, key);
        }
    }

    /// Put a value under a key, where it replaces the earlier value. One that is there already stays.
    pub fn put(&mut self, key: &Key, node: Node, at: Option<Claim>) {
        let by = node.claim().map_or(0, |claim| claim.layer);
        let entry = self.entry_mut(key);
        if let (Some(old), Some(new)) = (entry.claim(), node.claim())
            && old.is_same(new)
        {
            return;
        }
        match entry.now.claim.clone() {
            Some(old) => entry.end(&old.value, by, HistoryStep::Replaced),
            None => entry.key = at,
        }
        let (past, key) = (std::mem::take(&mut entry.past), entry.key.take());
        *entry = Node {
            key,
            ..node.after(past)
        };
    }

    /// Record that a merge rejected a value.
    pub fn reject(&mut self, claim: Claim, by: usize) {
        self.past.push(PastValue {
            claim,
            inside: None,
            by,
            how: HistoryStep::Rejected,
        });
    }

    /// Take a value away.
    pub fn remove(&mut self, key: &Key, by: usize) {
        let entry = self.entry_mut(key);
        if let Some(old) = entry.now.claim.clone() {
            entry.end(&old.value, by, HistoryStep::Removed);
        }
    }

    /// Record that a container under a key was changed by itself, and is this now.
    pub fn renew(&mut self, key: &Key, node: Node) {
        let index = integer_step(key).and_then(|index| usize::try_from(index.to_i64()?).ok());
        let entry = match index.filter(|_| self.now.items.is_some()) {
            Some(index) => match self.item_mut(index) {
                Some(item) => item,
                None => return,
            },
            None => self.entry_mut(key),
        };
        let (past, key) = (std::mem::take(&mut entry.past), entry.key.take());
        let is_known = past.len() <= node.past.len()
            && past.iter().zip(&node.past).all(|(a, b)| {
                (a.by, a.how, a.claim.layer) == (b.by, b.how, b.claim.layer)
                    && a.claim.value.is_same(&b.claim.value)
            });
        let node = if is_known { node } else { node.after(past) };
        *entry = Node { key, ..node };
    }

    /// Give all layers other numbers.
    pub fn renumber(&mut self, number: &mut dyn FnMut(usize) -> usize) {
        self.now_mut().renumber(number);
        if let Some(key) = &mut self.key {
            key.renumber(number);
        }
        for past in &mut self.past {
            past.claim.renumber(number);
            past.by = number(past.by);
            if let Some(inside) = &mut past.inside {
                Arc::make_mut(inside).renumber(number);
            }
        }
    }

    /// Name the files of all positions.
    pub fn each_file(&self, name: &mut dyn FnMut(&str)) {
        let mut of = |claim: &Claim| claim.at.each_file(name);
        self.now.claim.iter().chain(&self.key).for_each(&mut of);
        for past in &self.past {
            of(&past.claim);
        }
        let inside = self.past.iter().filter_map(|past| past.inside.as_deref());
        for now in inside.chain([&*self.now]) {
            for node in now.entries.values().chain(now.items.iter().flatten()) {
                node.each_file(name);
            }
        }
    }

    /// Check each part of the origins against the data, and give what does not fit to `unknown`.
    pub fn verify(&mut self, data: &Value, unknown: usize) {
        if !pay(1) {
            return;
        }
        let fits = |claim: &Claim| match (&claim.value, data) {
            (Value::Map(_), Value::Map(_)) | (Value::List(_), Value::List(_)) => true,
            (claimed, data) => claimed.is_same(data),
        };
        let is_whole = self.now.entries.is_empty() && self.now.items.is_none();
        if is_whole && self.claim().is_some_and(|claim| claim.value.is_same(data)) {
            return;
        }
        if !self.claim().is_some_and(fits) {
            let is_sent = |claim: &&Claim| sent(&claim.value).is_some_and(|it| it.is_same(data));
            if let Some(claim) = self.claim().filter(is_sent) {
                let claim = claim.over(data);
                self.own(claim);
                return;
            }
            self.now = Arc::new(PresentClaims::whole(Claim {
                layer: unknown,
                value: data.clone(),
                at: At::Unknown,
            }));
            return;
        }
        match data {
            Value::Map(map) => {
                for (key, value) in map {
                    self.verify_entry(key, value, unknown);
                }
            }
            Value::List(values) => {
                let item = |(index, value): (usize, &Value)| {
                    let mut item = self.now.child(&Key::of_index(index)).unwrap_or_default();
                    item.verify(value, unknown);
                    item
                };
                let items = values.iter().enumerate().map(item).collect();
                self.now_mut().items = Some(items);
            }
            _ => {}
        }
    }

    fn verify_entry(&mut self, key: &Key, value: &Value, unknown: usize) {
        if self.now.entries.contains_key(key) {
            return self.entry_mut(key).verify(value, unknown);
        }
        let is_same = |claim: &Claim| claim.child(key).is_some_and(|own| own.value.is_same(value));
        if !self.claim().is_some_and(is_same) {
            self.entry_mut(key).verify(value, unknown);
        }
    }

    /// Replace the node of an entry.
    pub fn set_entry(&mut self, key: &Key, node: Node) {
        *self.entry_mut(key) = node;
    }

    /// Record that a template changed the value in place from `old` to the value of `by`.
    pub fn edit(&mut self, old: &Value, by: &Claim) {
        let new = &by.value;
        match (old, new) {
            (Value::Map(before), Value::Map(after)) => {
                for (key, value) in before.iter().filter(|(key, _)| !after.contains_key(*key)) {
                    self.entry_mut(key)
                        .end(value, by.layer, HistoryStep::Removed);
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
            _ => self.replace(old, by.clone(), HistoryStep::Edited),
        }
    }

    /// Match the items of a changed list with the earlier items, so that unchanged items keep their origins.
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
        // Items mostly keep their order, so look behind the last match first.
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
        self.become_list_of(owner, items, by.layer, HistoryStep::Edited);
    }
}

/// The number of earlier items that are compared with each item of a changed list.
const MAX_ITEMS_COMPARED: usize = 200;

/// Records the changes of a merge in the tree.
pub(crate) struct Merging<'t> {
    pub root: &'t mut Node,
    /// The claim of the layer that is merged.
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
            Change::Replaced { old, new } => node.replace(old, claim(new), HistoryStep::Replaced),
            Change::Kept { rejected, .. } | Change::Dropped { new: rejected } => {
                node.reject(claim(rejected), layer);
            }
            Change::Joined {
                base,
                overlay,
                origins,
            } => {
                let theirs = claim(&overlay.iter().cloned().collect());
                node.join(base, &theirs, origins);
            }
            Change::Paired { old, new } => node.pair(old, claim(new)),
            Change::Removed { old } => node.end(old, layer, HistoryStep::Removed),
        }
    }
}
