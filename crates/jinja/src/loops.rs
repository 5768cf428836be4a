//! The `loop` object.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use mapstack_pyobject::{
    CallArgs, Error, Interpreter, Iter, Obj, ObjIter, Object, Result, Undefined, equal, len,
};

use super::job::{Job, call_in_render};
use super::scope::Frame;
use crate::syntax::ast::For;

/// The state of a running loop, shared between the interpreter and the template's `loop`.
pub(super) struct Loop {
    iter: RefCell<Iter>,
    iterable: Obj,
    /// The item after the current one, if it was requested.
    ahead: RefCell<Option<Option<Obj>>>,
    previous: RefCell<Option<Obj>>,
    current: RefCell<Option<Obj>>,
    /// The number of items so far.
    count: Cell<usize>,
    length: Cell<Option<usize>>,
    changed: RefCell<Option<Vec<Obj>>>,
    depth0: usize,
    /// The body that a recursive loop runs again.
    recursive: Option<(Arc<For>, Frame)>,
}

impl Loop {
    pub fn new(
        iterable: Obj,
        iter: Iter,
        depth0: usize,
        recursive: Option<(Arc<For>, Frame)>,
    ) -> Rc<Self> {
        Rc::new(Loop {
            iter: RefCell::new(iter),
            iterable,
            ahead: RefCell::default(),
            previous: RefCell::default(),
            current: RefCell::default(),
            count: Cell::new(0),
            length: Cell::new(None),
            changed: RefCell::default(),
            depth0,
            recursive,
        })
    }

    /// Step to the next item.
    pub fn next(&self, vm: &dyn Interpreter) -> Result<Option<Obj>> {
        let ahead = self.ahead.borrow_mut().take();
        let next = match ahead {
            Some(item) => item,
            None => self.pull(vm)?,
        };
        if let Some(item) = &next {
            self.count.set(self.count.get() + 1);
            let current = self.current.replace(Some(item.clone()));
            *self.previous.borrow_mut() = current;
        }
        Ok(next)
    }

    fn pull(&self, vm: &dyn Interpreter) -> Result<Option<Obj>> {
        let iter = self.iter.borrow().clone();
        iter.next(vm)
    }

    fn peek(&self, vm: &dyn Interpreter) -> Result<Option<Obj>> {
        if self.ahead.borrow().is_none() {
            let item = self.pull(vm)?;
            *self.ahead.borrow_mut() = Some(item);
        }
        Ok(self.ahead.borrow().clone().flatten())
    }

    fn length(&self, vm: &dyn Interpreter) -> Result<usize> {
        if let Some(known) = self.length.get() {
            return Ok(known);
        }
        let length = match len(&self.iterable) {
            Ok(length) => length,
            Err(_) => {
                let rest = self.pull_rest(vm)?;
                let ahead = usize::from(matches!(&*self.ahead.borrow(), Some(Some(_))));
                rest + self.count.get() + ahead
            }
        };
        self.length.set(Some(length));
        Ok(length)
    }

    /// Read the iterator to its end and replace it by what was read.
    fn pull_rest(&self, vm: &dyn Interpreter) -> Result<usize> {
        let iter = self.iter.borrow().clone();
        let rest = iter.collect(vm)?;
        let count = rest.len();
        *self.iter.borrow_mut() = Iter::over("list_iterator", rest);
        Ok(count)
    }
}

/// The iterator over `loop`: the remaining rounds, which the loop then no longer has.
struct Rounds(Rc<Loop>);

impl ObjIter for Rounds {
    fn next(&mut self, vm: &dyn Interpreter) -> Result<Option<Obj>> {
        let item = self.0.next(vm)?;
        let with_loop = |item| Obj::Tuple([item, Obj::native(LoopObject(self.0.clone()))].into());
        Ok(item.map(with_loop))
    }
}

/// The `loop` of a template.
pub(super) struct LoopObject(pub Rc<Loop>);

impl Object for LoopObject {
    fn type_name(&self) -> &'static str {
        "LoopContext"
    }

    fn module(&self) -> Option<&str> {
        Some("jinja2.runtime")
    }

    fn repr(&self) -> Result<String> {
        let count = self.0.count.get();
        Ok(format!(
            "<LoopContext {count}/{}>",
            self.len().unwrap_or(count)
        ))
    }

    fn attr(&self, vm: &dyn Interpreter, name: &str) -> Option<Obj> {
        let state = &self.0;
        let count = state.count.get();
        let lookup = || -> Result<Option<Obj>> {
            Ok(Some(match name {
                "index" => Obj::from(count),
                "index0" => Obj::from(count.saturating_sub(1)),
                "revindex" => Obj::from(state.length(vm)?.saturating_sub(count.saturating_sub(1))),
                "revindex0" => Obj::from(state.length(vm)?.saturating_sub(count)),
                "length" => Obj::from(state.length(vm)?),
                "first" => Obj::Bool(count <= 1),
                "last" => Obj::Bool(state.peek(vm)?.is_none()),
                "depth" => Obj::from(state.depth0 + 1),
                "depth0" => Obj::from(state.depth0),
                "previtem" => match &*state.previous.borrow() {
                    Some(item) => item.clone(),
                    None => Undefined::hint("there is no previous item", vm.strict()).into(),
                },
                "nextitem" => match state.peek(vm)? {
                    Some(item) => item,
                    None => Undefined::hint("there is no next item", vm.strict()).into(),
                },
                "cycle" => Obj::native(LoopMethod {
                    state: state.clone(),
                    run: cycle,
                    name: "cycle",
                }),
                "changed" => Obj::native(LoopMethod {
                    state: state.clone(),
                    run: changed,
                    name: "changed",
                }),
                _ => return Ok(None),
            }))
        };
        // An iterator that fails while being measured fails again at the next step of the loop.
        lookup().ok().flatten()
    }

    fn callable(&self) -> bool {
        true
    }

    fn call(&self, interpreter: &dyn Interpreter, args: CallArgs) -> Result<Obj> {
        let Some((definition, frame)) = self.0.recursive.clone() else {
            return Err(Error::type_error(
                "The loop must have the 'recursive' marker to be called recursively.",
            ));
        };
        let [iterable] = args.only_positional("loop", 1)?;
        let (iterable, depth) = (iterable.unwrap_or_default(), self.0.depth0 + 1);
        call_in_render(interpreter, move |vm| {
            let mut out = vm.capturing();
            // Its `else` leaves no loop: the parser refuses `break` and `continue` there.
            vm.deeper(|| vm.run_loop(&definition, &iterable, depth, &frame, &mut out))?;
            vm.captured(out)
        })
    }

    fn iter(&self) -> Option<Iter> {
        Some(Iter::new("LoopContext", Rounds(self.0.clone())))
    }

    fn len(&self) -> Option<usize> {
        let known = self.0.length.get();
        known.or_else(|| len(&self.0.iterable).ok())
    }

    fn as_any(&self) -> Option<&dyn Any> {
        Some(self)
    }
}

/// Find out the length of a loop that is printed or measured, or may be later, as only a render can read what is left
/// of it.
#[inline]
pub(super) fn measure(vm: &dyn Interpreter, object: &Obj) -> Result<()> {
    if let Obj::Native(native) = object
        && let Some(LoopObject(state)) = native.as_any().and_then(|any| any.downcast_ref())
    {
        state.length(vm)?;
    }
    Ok(())
}

/// `loop.cycle` and `loop.changed`.
struct LoopMethod {
    state: Rc<Loop>,
    run: fn(&Loop, &[Obj]) -> Result<Obj>,
    name: &'static str,
}

impl Object for LoopMethod {
    fn type_name(&self) -> &'static str {
        "method"
    }

    fn repr(&self) -> Result<String> {
        Ok(format!("<bound method LoopContext.{}>", self.name))
    }

    fn callable(&self) -> bool {
        true
    }

    fn call(&self, _: &dyn Interpreter, args: CallArgs) -> Result<Obj> {
        (self.run)(&self.state, &args.positional)
    }
}

fn cycle(state: &Loop, items: &[Obj]) -> Result<Obj> {
    if items.is_empty() {
        return Err(Error::type_error("no items for cycling given"));
    }
    let index = state.count.get().saturating_sub(1) % items.len();
    Ok(items[index].clone())
}

fn changed(state: &Loop, values: &[Obj]) -> Result<Obj> {
    let mut last = state.changed.borrow_mut();
    let same = match &*last {
        Some(before) => equal(&Obj::tuple(before.clone()), &Obj::tuple(values.to_vec()))?,
        None => false,
    };
    if !same {
        *last = Some(values.to_vec());
    }
    Ok(Obj::Bool(!same))
}

/// The items of a loop that pass its `if`, tested one by one as the loop proceeds.
pub(super) fn filtered(iter: Iter, definition: Arc<For>, frame: Frame) -> Job {
    Job::new(move |vm| {
        let Some(test) = &definition.filter else {
            return iter.next(vm);
        };
        while let Some(item) = iter.next(vm)? {
            let frame = frame.inner();
            vm.assign(&definition.target, item.clone(), &frame)?;
            if vm.eval(test, &frame)?.truthy()? {
                return Ok(Some(item));
            }
        }
        Ok(None)
    })
}
