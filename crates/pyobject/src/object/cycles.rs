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
    /// The number of them from which a search inside a render is worth its time.
    static WORTH: Cell<usize> = const { Cell::new(0) };
}

/// More containers than this are looked through for those that are gone.
const MANY: usize = 1 << 12;

/// A search inside a render is not worth its time for fewer: the render around it frees them.
const FEW: usize = 1 << 10;

/// A search inside a render waits until so large a share of what the last one looked at was changed: it looks at that
/// again, and one for each of many renders in another would take time by the square of what the outer one holds.
const SHARE: usize = 4;

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
pub struct NotedRender(());

impl NotedRender {
    /// From now on.
    pub fn new() -> Self {
        RENDERS.set(RENDERS.get() + 1);
        LAST.set(0);
        NotedRender(())
    }
}

impl Drop for NotedRender {
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
    let is_inside = RENDERS.get() > 0;
    let noted = CHANGED.try_with(|changed| changed.borrow().len());
    if is_inside && noted.is_ok_and(|noted| noted < WORTH.get().max(FEW)) {
        return;
    }
    let Ok(mut noted) = CHANGED.try_with(RefCell::take) else {
        return;
    };
    LAST.set(0);
    WORTH.set(0);
    if noted.is_empty() {
        return;
    }
    let looked_at = free_unreachable(noted.iter().filter_map(WeakContainer::upgrade).collect());
    // Others hold what is left, perhaps a render around this one.
    if is_inside {
        forget_some(&mut noted);
        WORTH.set(noted.len() + looked_at / SHARE);
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

/// Empty the containers that only hold each other. Returns the number of containers that were looked at.
fn free_unreachable(changed: Vec<Obj>) -> usize {
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
    nodes.len()
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::{ListRef, Object};

    struct Flag {
        _alive: Rc<()>,
    }

    impl Object for Flag {
        fn type_name(&self) -> &'static str {
            "Flag"
        }
    }

    /// Make a list that only holds itself and a flag.
    fn make_circle(alive: &Rc<()>) {
        let flag = Flag {
            _alive: alive.clone(),
        };
        let list = ListRef::new(vec![Obj::native(flag)]);
        list.change(|items| items.push(Obj::List(list.clone())));
    }

    #[test]
    fn a_search_inside_a_render_waits_until_it_is_worth_its_time() {
        let outer = NotedRender::new();
        let kept = ListRef::new(Vec::new());
        for _ in 0..1_600 {
            let list = ListRef::new(Vec::new());
            list.change(|items| items.push(Obj::None));
            kept.change(|items| items.push(Obj::List(list)));
        }
        drop(Sweep::default());
        let alive = Rc::new(());
        let left: Vec<usize> = (0..1_200)
            .map(|_| {
                make_circle(&alive);
                drop(Sweep::default());
                Rc::strong_count(&alive) - 1
            })
            .collect();
        let searches = left.iter().filter(|left| **left == 0).count();
        assert!((2..=5).contains(&searches), "{left:?}");
        assert_eq!(kept.items().len(), 1_600);
        drop(outer);
        drop(Sweep::default());
        assert_eq!(Rc::strong_count(&alive), 1);
    }
}
