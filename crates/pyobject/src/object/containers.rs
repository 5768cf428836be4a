//! Mutable lists, dicts and sets with identity, built lazily over frozen values.

mod freeze;

use std::cell::{Cell, Ref, RefCell};
use std::collections::HashMap;
use std::hash::Hash;
use std::ops::Deref;
use std::rc::{Rc, Weak};

use foldhash::fast::RandomState;
use indexmap::{Equivalent, IndexMap, IndexSet};
use mapstack_value::{Key, Keyed, List, Map, MapKind, Value};

use super::read_tracker::{ReadTracker, Reader, TrackerCell};
use super::{Obj, cycles};
pub use freeze::Refreezer;
pub use freeze::check_extent;
pub(super) use freeze::{freeze, freeze_lossy, freeze_unread};

/// The entries of a live dict.
pub type Entries = IndexMap<Key, Obj, RandomState>;

/// A container's content: as it came in, or taken apart into objects.
enum ContainerState<F, L> {
    /// No nested container has been looked at yet.
    Frozen(F),
    /// Objects; `origin` is what they were taken from, until the first change at this level. `touched` is which
    /// change of the thread was the last at this level; what has just been taken apart or made belongs to the next.
    Live {
        items: L,
        origin: Option<F>,
        touched: u64,
    },
}

/// A Python list.
#[derive(Clone)]
pub struct ListRef(Rc<ListCell>);

pub struct ListCell(RefCell<ContainerState<List, Vec<Obj>>>);

/// A Python tuple; read it as a slice.
#[derive(Clone)]
pub struct TupleRef(Rc<TupleCell>);

struct TupleCell(Vec<Obj>);

/// A Python dict.
#[derive(Clone)]
pub struct DictRef(Rc<DictCell>);

pub struct DictCell {
    state: RefCell<ContainerState<Map, Keyed<Obj>>>,
    /// Computes the content, until something looks at it.
    pending: RefCell<Option<Box<dyn FnOnce() -> Map>>>,
    /// The tracker that reports reads, as long as the state is frozen and only single entries were.
    tracker: TrackerCell,
    /// The number of times that entries moved, as loops over the dict notice.
    moves: Cell<u32>,
    kind: Cell<MapKind>,
}

/// A dict that is not kept alive.
#[derive(Clone)]
pub struct WeakDict(Weak<DictCell>);

impl WeakDict {
    /// The dict, if it is still referenced elsewhere.
    pub fn upgrade(&self) -> Option<DictRef> {
        self.0.upgrade().map(DictRef)
    }
}

impl std::fmt::Debug for WeakDict {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("dict")
    }
}

/// A list or dict that is not kept alive.
pub enum WeakContainer {
    List(Weak<ListCell>),
    Dict(Weak<DictCell>),
}

impl WeakContainer {
    /// The container, if it is still there.
    pub fn upgrade(&self) -> Option<Obj> {
        match self {
            WeakContainer::List(list) => list.upgrade().map(|list| Obj::List(ListRef(list))),
            WeakContainer::Dict(dict) => dict.upgrade().map(|dict| Obj::Dict(DictRef(dict))),
        }
    }

    pub fn is_alive(&self) -> bool {
        match self {
            WeakContainer::List(list) => list.strong_count() > 0,
            WeakContainer::Dict(dict) => dict.strong_count() > 0,
        }
    }

    /// The object's identity.
    pub fn address(&self) -> usize {
        match self {
            WeakContainer::List(list) => list.as_ptr().cast::<()>() as usize,
            WeakContainer::Dict(dict) => dict.as_ptr().cast::<()>() as usize,
        }
    }
}

/// A Python set.
#[derive(Clone)]
pub struct SetRef(Rc<RefCell<IndexSet<Key, RandomState>>>);

impl TupleRef {
    /// True if nothing else holds it.
    pub fn is_new(&self) -> bool {
        self.references() == 1
    }

    /// The number of its holders.
    pub fn references(&self) -> usize {
        Rc::strong_count(&self.0)
    }

    /// True if both are one object.
    pub fn is_same(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }

    /// The object's identity.
    pub fn address(&self) -> usize {
        Rc::as_ptr(&self.0).cast::<()>() as usize
    }
}

impl Deref for TupleRef {
    type Target = [Obj];

    fn deref(&self) -> &[Obj] {
        &self.0.0
    }
}

impl From<Vec<Obj>> for TupleRef {
    fn from(items: Vec<Obj>) -> Self {
        TupleRef(Rc::new(TupleCell(items)))
    }
}

impl<const N: usize> From<[Obj; N]> for TupleRef {
    fn from(items: [Obj; N]) -> Self {
        Vec::from(items).into()
    }
}

impl FromIterator<Obj> for TupleRef {
    fn from_iter<T: IntoIterator<Item = Obj>>(items: T) -> Self {
        items.into_iter().collect::<Vec<_>>().into()
    }
}

impl ListRef {
    /// A list of objects.
    pub fn new(items: Vec<Obj>) -> Self {
        ListRef(Rc::new(ListCell(RefCell::new(ContainerState::Live {
            items,
            origin: None,
            touched: next_change(),
        }))))
    }

    /// A list over frozen items.
    pub fn frozen(list: List) -> Self {
        ListRef(Rc::new(ListCell(RefCell::new(ContainerState::Frozen(
            list,
        )))))
    }

    /// True if nothing else holds it, and it was made of objects.
    pub fn is_new(&self) -> bool {
        self.references() == 1 && self.as_frozen().is_none()
    }

    /// The number of its holders.
    pub fn references(&self) -> usize {
        Rc::strong_count(&self.0)
    }

    /// Look at the items that are objects by now.
    pub fn each_live(&self, look: &mut dyn FnMut(&Obj)) {
        if let ContainerState::Live { items, .. } = &*self.0.0.borrow() {
            items.iter().for_each(look);
        }
    }

    /// Number of items.
    pub fn len(&self) -> usize {
        match &*self.0.0.borrow() {
            ContainerState::Frozen(list) => list.len(),
            ContainerState::Live { items, .. } => items.len(),
        }
    }

    /// True if it is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The item at a position.
    pub fn get(&self, index: usize) -> Option<Obj> {
        match &*self.0.0.borrow() {
            ContainerState::Frozen(list) => {
                let value = list.get(index)?;
                if is_scalar(value) {
                    return Some(Obj::from(value.clone()));
                }
            }
            ContainerState::Live { items, .. } => return items.get(index).cloned(),
        }
        self.read(|items| items.get(index).cloned())
    }

    /// Look at the items.
    pub fn read<T>(&self, look: impl FnOnce(&[Obj]) -> T) -> T {
        self.thaw();
        match &*self.0.0.borrow() {
            ContainerState::Live { items, .. } => look(items),
            ContainerState::Frozen(_) => look(&[]),
        }
    }

    /// A copy of the items.
    pub fn items(&self) -> Vec<Obj> {
        self.read(<[Obj]>::to_vec)
    }

    /// Change the items.
    pub fn change<T>(&self, change: impl FnOnce(&mut Vec<Obj>) -> T) -> T {
        count_change();
        cycles::note(self.address(), || {
            WeakContainer::List(Rc::downgrade(&self.0))
        });
        self.thaw();
        match &mut *self.0.0.borrow_mut() {
            ContainerState::Live {
                items,
                origin,
                touched,
            } => {
                *origin = None;
                *touched = changes();
                change(items)
            }
            ContainerState::Frozen(_) => change(&mut Vec::new()),
        }
    }

    /// True if this is still data as it came in, and nothing else.
    pub fn is_frozen(&self) -> bool {
        self.as_frozen().is_some()
    }

    /// The data that came in, if this is still that and nothing else.
    fn as_frozen(&self) -> Option<List> {
        match &*self.0.0.borrow() {
            ContainerState::Frozen(list) => Some(list.clone()),
            ContainerState::Live { .. } => None,
        }
    }

    /// True if both are one object.
    pub fn is_same(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }

    /// The object's identity.
    pub fn address(&self) -> usize {
        Rc::as_ptr(&self.0).cast::<()>() as usize
    }

    fn thaw(&self) {
        if matches!(&*self.0.0.borrow(), ContainerState::Live { .. }) {
            return;
        }
        let mut state = self.0.0.borrow_mut();
        if let ContainerState::Frozen(list) = &*state {
            let items = list.iter().cloned().map(Obj::from).collect();
            *state = ContainerState::Live {
                items,
                origin: Some(list.clone()),
                touched: next_change(),
            };
        }
    }
}

impl DictRef {
    /// The same dict, not kept alive.
    pub fn downgrade(&self) -> WeakDict {
        WeakDict(Rc::downgrade(&self.0))
    }

    /// A dict of objects.
    pub fn new(entries: Entries) -> Self {
        Self::with_kind(entries, MapKind::Dict)
    }

    /// A dict or one of its kin.
    pub fn with_kind(entries: Entries, kind: MapKind) -> Self {
        Self::live(entries.into(), kind)
    }

    fn live(items: Keyed<Obj>, kind: MapKind) -> Self {
        let (origin, touched) = (None, next_change());
        let state = ContainerState::Live {
            items,
            origin,
            touched,
        };
        Self::in_state(state, kind)
    }

    fn in_state(state: ContainerState<Map, Keyed<Obj>>, kind: MapKind) -> Self {
        DictRef(Rc::new(DictCell {
            state: RefCell::new(state),
            pending: RefCell::default(),
            tracker: TrackerCell::default(),
            moves: Cell::default(),
            kind: Cell::new(kind),
        }))
    }

    /// A dict of the same entries.
    #[must_use]
    pub fn copy(&self, kind: MapKind) -> Self {
        Self::live(self.read(Keyed::clone), kind)
    }

    /// A dict over frozen entries.
    pub fn frozen(map: Map) -> Self {
        let kind = map.kind();
        Self::in_state(ContainerState::Frozen(map), kind)
    }

    /// The same, with a reader to which reads are reported; `path` is the dict's name for the reader. Every way to
    /// its content but single look-ups, and every change, counts as reading all of it.
    ///
    /// ```
    /// use std::{cell::RefCell, rc::Rc};
    /// use mapstack_pyobject::{DictRef, Reader};
    /// use mapstack_value::{Key, Map};
    /// #[derive(Default)]
    /// struct Log(RefCell<Vec<String>>);
    /// impl Reader for Log {
    ///     fn entry(&self, path: &[Key]) {
    ///         self.0.borrow_mut().push(format!("{path:?}"));
    ///     }
    ///     fn whole(&self, path: &[Key]) {
    ///         self.0.borrow_mut().push(format!("all of {path:?}"));
    ///     }
    /// }
    /// let log = Rc::new(Log::default());
    /// let grains = DictRef::tracked(Map::from_iter([("os", "Debian")]), log.clone(), Vec::new());
    /// assert!(grains.get_str("os").is_some() && grains.get_str("kernel").is_none());
    /// assert_eq!(log.0.borrow().join(", "), "['os'], ['kernel']");
    /// assert_eq!(grains.len(), 1);
    /// assert_eq!(log.0.borrow().last().unwrap(), "all of []");
    /// ```
    pub fn tracked(map: Map, reader: Rc<dyn Reader>, path: Vec<Key>) -> Self {
        let dict = Self::frozen(map);
        *dict.0.tracker.borrow_mut() = Some(Box::new(ReadTracker::new(reader, path)));
        dict
    }

    /// The type of Python's mapping.
    pub fn kind(&self) -> MapKind {
        self.0.kind.get()
    }

    /// Python's name of the type.
    pub fn type_name(&self) -> &'static str {
        match self.kind() {
            MapKind::Dict => "dict",
            MapKind::Ordered => "OrderedDict",
            MapKind::Aggregate => "AggregateMap",
            MapKind::Bunch => "Bunch",
        }
    }

    /// True if nothing else holds it, and it was made of objects.
    pub fn is_new(&self) -> bool {
        self.references() == 1 && matches!(&*self.0.state.borrow(), ContainerState::Live { .. })
    }

    /// The number of its holders.
    pub fn references(&self) -> usize {
        Rc::strong_count(&self.0)
    }

    /// Look at the values that are objects by now. It does not count as reading.
    pub fn each_live(&self, look: &mut dyn FnMut(&Obj)) {
        if let ContainerState::Live { items, .. } = &*self.0.state.borrow() {
            items.values().for_each(look);
        }
    }

    /// Number of entries that are there by now. Unlike [`len`](Self::len), asking does not count as reading.
    pub fn size(&self) -> usize {
        match &*self.0.state.borrow() {
            ContainerState::Frozen(map) => map.len(),
            ContainerState::Live { items, .. } => items.len(),
        }
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        match &*self.state() {
            ContainerState::Frozen(map) => map.len(),
            ContainerState::Live { items, .. } => items.len(),
        }
    }

    /// True if it is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value under a key.
    pub fn get(&self, key: &Key) -> Option<Obj> {
        match self.look(|tracker, map| tracker.find(map, key)) {
            Some(found) => found,
            None => self.find(key),
        }
    }

    /// The value under a text key.
    pub fn get_str(&self, key: &str) -> Option<Obj> {
        if self.is_at_hand()
            && let ContainerState::Live { items, .. } = &*self.0.state.borrow()
        {
            return items.get(key).cloned();
        }
        match self.look(|tracker, map| tracker.find(map, &Key::from(key))) {
            Some(found) => found,
            None => self.find(key),
        }
    }

    /// True if looking at the content has no effect but that.
    #[inline]
    fn is_at_hand(&self) -> bool {
        self.0.tracker.borrow().is_none() && self.0.pending.borrow().is_none()
    }

    /// Look at single entries, if the dict is tracker.
    fn look<T>(&self, look: impl FnOnce(&mut ReadTracker, &Map) -> T) -> Option<T> {
        if self.0.tracker.borrow().is_none() {
            return None;
        }
        self.work_out();
        let (mut tracker, state) = (self.0.tracker.borrow_mut(), self.0.state.borrow());
        match (&mut *tracker, &*state) {
            (Some(tracker), ContainerState::Frozen(map)) => Some(look(tracker, map)),
            _ => None,
        }
    }

    fn find<Q: ?Sized + Hash + Equivalent<Key>>(&self, key: &Q) -> Option<Obj> {
        match &*self.state() {
            ContainerState::Frozen(map) => {
                let value = map.get(key)?;
                if is_scalar(value) {
                    return Some(Obj::from(value.clone()));
                }
            }
            ContainerState::Live { items, .. } => return items.get(key).cloned(),
        }
        self.read(|items| items.get(key).cloned())
    }

    /// True if the key is present.
    pub fn contains(&self, key: &Key) -> bool {
        if let Some(found) = self.look(|tracker, map| tracker.contains(map, key)) {
            return found;
        }
        match &*self.state() {
            ContainerState::Frozen(map) => map.contains_key(key),
            ContainerState::Live { items, .. } => items.index_of(key).is_some(),
        }
    }

    /// The position of a key.
    pub fn position(&self, key: &Key) -> Option<usize> {
        match &*self.state() {
            ContainerState::Frozen(map) => map.index_of(key),
            ContainerState::Live { items, .. } => items.index_of(key),
        }
    }

    /// The key at a position.
    pub fn key_at(&self, index: usize) -> Option<Key> {
        match &*self.state() {
            ContainerState::Frozen(map) => map.entry_at(index).map(|(k, _)| k.clone()),
            ContainerState::Live { items, .. } => items.entry_at(index).map(|(k, _)| k.clone()),
        }
    }

    /// The entry at a position.
    pub fn entry_at(&self, index: usize) -> Option<(Key, Obj)> {
        match &*self.state() {
            ContainerState::Frozen(map) => {
                let (key, value) = map.entry_at(index)?;
                if is_scalar(value) {
                    return Some((key.clone(), Obj::from(value.clone())));
                }
            }
            ContainerState::Live { items, .. } => {
                let (key, value) = items.entry_at(index)?;
                return Some((key.clone(), value.clone()));
            }
        }
        self.read(|items| items.entry_at(index).map(|(k, v)| (k.clone(), v.clone())))
    }

    /// The keys in order.
    pub fn keys(&self) -> Vec<Key> {
        match &*self.state() {
            ContainerState::Frozen(map) => map.keys().cloned().collect(),
            ContainerState::Live { items, .. } => items.keys().cloned().collect(),
        }
    }

    /// The values in order.
    pub fn values(&self) -> Vec<Obj> {
        self.read(|items| items.values().cloned().collect())
    }

    /// Look at the entries.
    fn read<T>(&self, look: impl FnOnce(&Keyed<Obj>) -> T) -> T {
        self.thaw();
        match &*self.state() {
            ContainerState::Live { items, .. } => look(items),
            ContainerState::Frozen(_) => look(&Entries::default().into()),
        }
    }

    /// A copy of the entries.
    pub fn entries(&self) -> Vec<(Key, Obj)> {
        self.read(|items| items.iter().map(|(k, v)| (k.clone(), v.clone())).collect())
    }

    /// Change the entries.
    pub fn change<T>(&self, change: impl FnOnce(&mut Entries) -> T) -> T {
        count_change();
        cycles::note(self.address(), || {
            WeakContainer::Dict(Rc::downgrade(&self.0))
        });
        self.thaw();
        match &mut *self.0.state.borrow_mut() {
            ContainerState::Live {
                items,
                origin,
                touched,
            } => {
                *origin = None;
                *touched = changes();
                items.change(change)
            }
            ContainerState::Frozen(_) => change(&mut Entries::default()),
        }
    }

    /// Note that entries left their places: one before them was taken out, or they were moved.
    pub fn note_move(&self) {
        self.0.moves.set(self.0.moves.get().wrapping_add(1));
    }

    /// The number of times that entries left their places.
    pub fn moves(&self) -> u32 {
        self.0.moves.get()
    }

    /// Set a key.
    pub fn insert(&self, key: impl Into<Key>, value: Obj) {
        self.change(|entries| entries.insert(key.into(), value));
    }

    /// True if this is still data as it came in, and nothing else.
    pub fn is_frozen(&self) -> bool {
        self.as_frozen().is_some()
    }

    /// True if it is surely the data that came in: nothing has taken it apart. Unlike [`is_frozen`](Self::is_frozen),
    /// asking does not count as reading; of a tracked dict the answer is no.
    ///
    /// ```
    /// use mapstack_pyobject::{DictRef, Obj};
    /// use mapstack_value::Map;
    /// let grains = DictRef::frozen(Map::from_iter([("os", "Debian")]));
    /// assert!(grains.get_str("os").is_some() && grains.is_untouched());
    /// grains.insert("os", Obj::from("Arch"));
    /// assert!(!grains.is_untouched());
    /// ```
    pub fn is_untouched(&self) -> bool {
        self.0.tracker.borrow().is_none()
            && matches!(&*self.0.state.borrow(), ContainerState::Frozen(_))
    }

    /// The data that came in, if this is still that and nothing else.
    fn as_frozen(&self) -> Option<Map> {
        match &*self.state() {
            ContainerState::Frozen(map) => Some(map.clone()),
            ContainerState::Live { .. } => None,
        }
    }

    /// True if both are one object.
    pub fn is_same(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }

    /// The object's identity.
    pub fn address(&self) -> usize {
        Rc::as_ptr(&self.0).cast::<()>() as usize
    }

    /// A dict whose content is worked out when something looks at it.
    pub fn lazy(content: impl FnOnce() -> Map + 'static) -> Self {
        let dict = Self::frozen(Map::new());
        *dict.0.pending.borrow_mut() = Some(Box::new(content));
        dict
    }

    /// A tracked dict whose content is computed when something looks at it.
    pub fn lazy_tracked(content: impl FnOnce() -> Map + 'static, reader: Rc<dyn Reader>) -> Self {
        let dict = Self::lazy(content);
        *dict.0.tracker.borrow_mut() = Some(Box::new(ReadTracker::new(reader, Vec::new())));
        dict
    }

    /// True if the content of a lazy dict has not been looked at.
    pub fn is_pending(&self) -> bool {
        self.0.pending.borrow().is_some()
    }

    fn work_out(&self) {
        if !self.is_pending() {
            return;
        }
        let pending = self.0.pending.borrow_mut().take();
        if let Some(content) = pending {
            self.0.state.replace(ContainerState::Frozen(content()));
        }
    }

    /// The content, computed if it was pending. The caller can read all of it.
    fn state(&self) -> Ref<'_, ContainerState<Map, Keyed<Obj>>> {
        self.work_out();
        if self.0.tracker.borrow().is_none() {
            return self.0.state.borrow();
        }
        let tracker = self.0.tracker.borrow_mut().take();
        if let Some(tracker) = tracker {
            let mut taken = tracker.give_up();
            let mut state = self.0.state.borrow_mut();
            if let (ContainerState::Frozen(map), false) = (&*state, taken.is_empty()) {
                *state = taken_apart(map, |key| taken.remove(key));
            }
        }
        self.0.state.borrow()
    }

    fn thaw(&self) {
        if matches!(&*self.state(), ContainerState::Live { .. }) {
            return;
        }
        let mut state = self.0.state.borrow_mut();
        if let ContainerState::Frozen(map) = &*state {
            *state = taken_apart(map, |_| None);
        }
    }
}

/// Frozen entries as objects, some of which may be there by now.
fn taken_apart(
    map: &Map,
    mut known: impl FnMut(&Key) -> Option<Obj>,
) -> ContainerState<Map, Keyed<Obj>> {
    let object = |(key, value): (&Key, &Value)| known(key).unwrap_or_else(|| value.clone().into());
    ContainerState::Live {
        items: Keyed::over(map, object),
        origin: Some(map.clone()),
        touched: next_change(),
    }
}

impl SetRef {
    /// True if nothing else holds it.
    pub fn is_new(&self) -> bool {
        Rc::strong_count(&self.0) == 1
    }

    /// A set of keys.
    pub fn new(items: IndexSet<Key, RandomState>) -> Self {
        SetRef(Rc::new(RefCell::new(items)))
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.0.borrow().len()
    }

    /// True if it is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Look at the elements.
    pub fn read<T>(&self, look: impl FnOnce(&IndexSet<Key, RandomState>) -> T) -> T {
        look(&self.0.borrow())
    }

    /// Change the elements.
    pub fn change<T>(&self, change: impl FnOnce(&mut IndexSet<Key, RandomState>) -> T) -> T {
        count_change();
        change(&mut self.0.borrow_mut())
    }

    /// True if both are one object.
    pub fn is_same(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }

    /// The object's identity.
    pub fn address(&self) -> usize {
        Rc::as_ptr(&self.0).cast::<()>() as usize
    }
}

fn is_scalar(value: &Value) -> bool {
    !matches!(
        value,
        Value::List(_) | Value::Map(_) | Value::Tuple(_) | Value::Set(_)
    )
}

/// Take a value apart at once, making one object of each shared storage.
pub fn thaw_shared(value: &Value) -> Obj {
    fn thaw(value: &Value, seen: &mut HashMap<usize, Obj>) -> Obj {
        let identity = match value {
            Value::List(list) => list.address(),
            Value::Map(map) => map.address(),
            other => return Obj::from(other.clone()),
        };
        if let Some(object) = seen.get(&identity) {
            return object.clone();
        }
        let object = match value {
            Value::List(list) => Obj::list(list.iter().map(|v| thaw(v, seen)).collect::<Vec<_>>()),
            Value::Map(map) => {
                let entries = map
                    .iter()
                    .map(|(k, v)| (k.clone(), thaw(v, seen)))
                    .collect();
                Obj::Dict(DictRef::with_kind(entries, map.kind()))
            }
            other => Obj::from(other.clone()),
        };
        seen.insert(identity, object.clone());
        object
    }
    thaw(value, &mut HashMap::new())
}

thread_local! {
    /// The number of changes to containers of this thread.
    static CHANGES: Cell<u64> = const { Cell::new(0) };
    /// Containers whose last owner is gone, waiting to be taken apart without recursion.
    static DROPPED: RefCell<Option<Vec<Obj>>> = const { RefCell::new(None) };
}

/// The number of times that any container of this thread has been changed so far.
pub fn changes() -> u64 {
    CHANGES.try_with(Cell::get).unwrap_or_default()
}

fn count_change() {
    // At the end of a thread the count does not matter.
    let _ = CHANGES.try_with(|changes| changes.set(changes.get().wrapping_add(1)));
}

/// The number of the change that is next.
fn next_change() -> u64 {
    changes().wrapping_add(1)
}

/// Drop objects one by one, so that deep nesting does not become deep recursion.
fn drop_flat(objects: Vec<Obj>) {
    if objects.iter().all(|o| {
        matches!(
            o,
            Obj::Str(_) | Obj::Int(_) | Obj::Bool(_) | Obj::None | Obj::Float(_)
        )
    }) {
        return;
    }
    let first = DROPPED.try_with(|queue| match &mut *queue.borrow_mut() {
        Some(waiting) => {
            waiting.extend(objects);
            None
        }
        slot @ None => {
            *slot = Some(Vec::new());
            Some(objects)
        }
    });
    // The outermost drop empties the queue; inner ones only fill it.
    if let Ok(Some(objects)) = first {
        let _close = CloseQueue;
        drop(objects);
        while let Ok(Some(next)) =
            DROPPED.try_with(|queue| queue.borrow_mut().as_mut().and_then(Vec::pop))
        {
            drop(next);
        }
    }
}

/// Closes the queue of dropped objects, even if the object of another crate panics while it is dropped:
/// later drops would only fill it.
struct CloseQueue;

impl Drop for CloseQueue {
    fn drop(&mut self) {
        let waiting = DROPPED.try_with(RefCell::take);
        if std::thread::panicking() {
            // A second panic would end the process; what waits is lost instead.
            std::mem::forget(waiting);
        }
    }
}

impl Drop for ListCell {
    fn drop(&mut self) {
        if let ContainerState::Live { items, .. } = self.0.get_mut() {
            drop_flat(std::mem::take(items));
        }
    }
}

impl Drop for TupleCell {
    fn drop(&mut self) {
        drop_flat(std::mem::take(&mut self.0));
    }
}

impl Drop for DictCell {
    fn drop(&mut self) {
        if let ContainerState::Live { items, .. } = self.state.get_mut() {
            drop_flat(items.take_items());
        }
    }
}
