//! Containers that hold themselves: freed when the work that made them is done.
//!
//! Counted references never free `{% do l.append(l) %}`. So each container that a render changes is noted, and a
//! [`Sweep`] looks at those that are still there: a container that only such containers hold is
//! unreachable. What anything else holds stays: variables that a render exports, the facts of a run, a macro, an iterator.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use foldhash::fast::RandomState;

use super::containers::WeakContainer;
use super::{Obj, TupleRef};

thread_local! {
    /// Renders that run on this thread.
    static RENDERS: Cell<usize> = const { Cell::new(0) };
    /// The container that was noted last.
    static LAST: Cell<usize> = const { Cell::new(0) };
    /// Containers that were changed by them.
    static CHANGED: RefCell<Vec<WeakContainer>> = const { RefCell::new(Vec::new()) };
}

/// More containers than this are looked through for those that are gone.
const MANY: usize = 1 << 12;

/// Note a container that is changed.
#[inline]
pub fn note(address: usize, container: impl FnOnce() -> WeakContainer) {
    if RENDERS.get() == 0 || LAST.replace(address) == address {
        return;
    }
    // Objects can be dropped while the thread ends.
    let _ = CHANGED.try_with(|changed| {
        let mut changed = changed.borrow_mut();
        if changed.len() == changed.capacity() && changed.len() >= MANY {
            forget_some(&mut changed);
        }
        changed.push(container());
    });
}

/// Keep each container that is still there once.
fn forget_some(changed: &mut Vec<WeakContainer>) {
    let mut seen = HashSet::<usize, RandomState>::default();
    changed.retain(|container| container.is_alive() && seen.insert(container.address()));
    changed.reserve(changed.len().max(MANY));
}

/// A render that runs: what it changes is noted.
pub struct Noted(());

impl Noted {
    /// From now on.
    pub fn new() -> Self {
        RENDERS.set(RENDERS.get() + 1);
        LAST.set(0);
        Noted(())
    }
}

impl Drop for Noted {
    fn drop(&mut self) {
        RENDERS.set(RENDERS.get().saturating_sub(1));
        if RENDERS.get() == 0 && CHANGED.with_borrow(Vec::len) > MANY {
            sweep();
        }
    }
}

/// Frees, when it is dropped, what templates of this thread made and is unreachable: containers that hold
/// themselves. Code that runs templates drops it after all results of the templates.
///
/// ```
/// use std::rc::Rc;
/// use mapstack_pyobject::{Budget, Limits, ListRef, Obj, Object, Sweep};
/// struct Flag(Rc<()>);
/// impl Object for Flag {
///     fn type_name(&self) -> &'static str {
///         "Flag"
///     }
/// }
/// let alive = Rc::new(());
/// let sweep = Sweep::default();
/// let list = ListRef::new(vec![Obj::native(Flag(alive.clone()))]);
/// let budget = Budget::new(Limits::default(), None);
/// list.change(|items| items.push(Obj::List(list.clone())));
/// drop(budget);
/// drop(list);
/// assert_eq!(Rc::strong_count(&alive), 2);
/// drop(sweep);
/// assert_eq!(Rc::strong_count(&alive), 1);
/// ```
#[derive(Debug, Default)]
pub struct Sweep(());

impl Drop for Sweep {
    fn drop(&mut self) {
        sweep();
    }
}

fn sweep() {
    let Ok(mut noted) = CHANGED.try_with(RefCell::take) else {
        return;
    };
    LAST.set(0);
    if noted.is_empty() {
        return;
    }
    free_unreachable(noted.iter().filter_map(WeakContainer::upgrade).collect());
    // Others hold what is left, perhaps a render around this one.
    if RENDERS.get() > 0 {
        forget_some(&mut noted);
        CHANGED.with_borrow_mut(|changed| changed.append(&mut noted));
    }
}

/// A container with those who hold it.
struct Node {
    object: Obj,
    /// References from other nodes.
    inner: usize,
    /// The nodes it holds.
    holds: Vec<usize>,
    is_reached: bool,
}

impl Node {
    fn new(object: Obj) -> Self {
        Node {
            object,
            inner: 0,
            holds: Vec::new(),
            is_reached: false,
        }
    }
}

/// Containers by their identity.
type Nodes = HashMap<usize, Node, RandomState>;

/// The containers, and all others that they hold.
fn nodes(containers: Vec<Obj>) -> Nodes {
    let mut nodes = Nodes::default();
    let mut waiting = Vec::new();
    for object in containers {
        if let Some(identity) = identity(&object)
            && !nodes.contains_key(&identity)
        {
            nodes.insert(identity, Node::new(object));
            waiting.push(identity);
        }
    }
    while let Some(holder) = waiting.pop() {
        let Some(object) = nodes.get(&holder).map(|node| node.object.clone()) else {
            continue;
        };
        let mut holds = Vec::new();
        each_held(&object, &mut |held| {
            let Some(identity) = identity(held) else {
                return;
            };
            holds.push(identity);
            let node = nodes.entry(identity).or_insert_with(|| {
                waiting.push(identity);
                Node::new(held.clone())
            });
            node.inner += 1;
        });
        if let Some(node) = nodes.get_mut(&holder) {
            node.holds = holds;
        }
    }
    nodes
}

/// Empty the containers that only hold each other.
fn free_unreachable(changed: Vec<Obj>) {
    let mut nodes = nodes(changed);
    // One reference is the node's own.
    let is_held_elsewhere = |node: &Node| references(&node.object) > node.inner + 1;
    let mut reached: Vec<usize> = nodes
        .iter()
        .filter(|(_, node)| is_held_elsewhere(node))
        .map(|(at, _)| *at)
        .collect();
    while let Some(at) = reached.pop() {
        if let Some(node) = nodes.get_mut(&at)
            && !std::mem::replace(&mut node.is_reached, true)
        {
            reached.append(&mut node.holds);
        }
    }
    for node in nodes.values().filter(|node| !node.is_reached) {
        match &node.object {
            Obj::List(list) => drop(list.change(std::mem::take)),
            Obj::Dict(dict) => drop(dict.change(std::mem::take)),
            _ => {}
        }
    }
}

/// The identity of a container; `None` for objects that are not searched.
fn identity(object: &Obj) -> Option<usize> {
    match object {
        Obj::List(list) => Some(list.address()),
        Obj::Dict(dict) => Some(dict.address()),
        Obj::Tuple(items) => Some(TupleRef::address(items)),
        Obj::Native(native) => native
            .held()
            .map(|_| Rc::as_ptr(native).cast::<()>() as usize),
        _ => None,
    }
}

/// The number of references to an object.
fn references(object: &Obj) -> usize {
    match object {
        Obj::List(list) => list.references(),
        Obj::Dict(dict) => dict.references(),
        Obj::Tuple(items) => items.references(),
        Obj::Native(native) => Rc::strong_count(native),
        _ => usize::MAX,
    }
}

/// The objects that a container holds, without counting as reading it.
fn each_held(object: &Obj, look: &mut dyn FnMut(&Obj)) {
    match object {
        Obj::List(list) => list.each_live(look),
        Obj::Dict(dict) => dict.each_live(look),
        Obj::Tuple(items) => items.iter().for_each(look),
        Obj::Native(native) => {
            if let Some(held) = native.held() {
                look(&Obj::Dict(held.clone()));
            }
        }
        _ => {}
    }
}
