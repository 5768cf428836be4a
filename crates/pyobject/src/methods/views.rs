//! `dict.keys()`, `dict.values()` and `dict.items()`: live views.

use std::any::Any;
use std::cell::RefCell;

use super::{BoundMethod, signature::Call};
use crate::Interpreter;
use crate::limits::Result;
use crate::limits::depth;
use crate::object::{CallArgs, DictPart, DictRef, Iter, Obj, Object, SetLike, dict_iter, repr};

/// A view of a dict; it follows the dict's changes.
pub struct View {
    pub dict: DictRef,
    pub part: DictPart,
}

thread_local! {
    /// Dicts whose views are being printed; a view inside itself prints as `...`.
    static OPEN: RefCell<Vec<usize>> = const { RefCell::new(Vec::new()) };
}

impl Object for View {
    fn type_name(&self) -> &'static str {
        let ordered = self.dict.kind().is_ordered();
        match (self.part, ordered) {
            (DictPart::Keys, false) => "dict_keys",
            (DictPart::Values, false) => "dict_values",
            (DictPart::Items, false) => "dict_items",
            (DictPart::Keys, true) => "odict_keys",
            (DictPart::Values, true) => "odict_values",
            (DictPart::Items, true) => "odict_items",
        }
    }

    fn repr(&self) -> Result<String> {
        let address = self.dict.address();
        if OPEN.with_borrow(|open| open.contains(&address)) {
            return Ok("...".into());
        }
        depth::objects(OPEN.with_borrow(Vec::len) + 1, depth::VIEWS, depth::REPR)?;
        OPEN.with_borrow_mut(|open| open.push(address));
        let items = stacker::maybe_grow(512 << 10, 4 << 20, || repr(&Obj::list(self.items())));
        OPEN.with_borrow_mut(Vec::pop);
        Ok(format!("{}({})", self.type_name(), items?))
    }

    fn truthy(&self) -> bool {
        !self.dict.is_empty()
    }

    fn attr(&self, _: &dyn Interpreter, name: &str) -> Option<Obj> {
        match name {
            "isdisjoint" if self.part != DictPart::Values => {
                let view = Obj::native(View {
                    dict: self.dict.clone(),
                    part: self.part,
                });
                Some(Obj::native(BoundMethod {
                    receiver: view,
                    name: "isdisjoint",
                }))
            }
            "mapping" => Some(Obj::Dict(self.dict.clone())),
            _ => None,
        }
    }

    fn iter(&self) -> Option<Iter> {
        Some(dict_iter(&self.dict, self.part))
    }

    fn len(&self) -> Option<usize> {
        Some(self.dict.len())
    }

    fn contains(&self, _: &dyn Interpreter, needle: &Obj) -> Option<Result<bool>> {
        self.as_set().map(|set| set.contains(needle))
    }

    fn as_any(&self) -> Option<&dyn Any> {
        Some(self)
    }
}

impl View {
    /// The view as a set; nothing for a view of values, which is not one.
    pub fn as_set(&self) -> Option<SetLike> {
        match self.part {
            DictPart::Keys => Some(SetLike::Keys(self.dict.clone())),
            DictPart::Items => Some(SetLike::Items(self.dict.clone())),
            DictPart::Values => None,
        }
    }

    fn items(&self) -> Vec<Obj> {
        let entries = self.dict.entries().into_iter();
        match self.part {
            DictPart::Keys => entries.map(|(key, _)| Obj::from(&key)).collect(),
            DictPart::Values => entries.map(|(_, value)| value).collect(),
            DictPart::Items => entries
                .map(|(key, value)| Obj::tuple([Obj::from(&key), value]))
                .collect(),
        }
    }
}

/// The view behind an object.
pub fn of(object: &Obj) -> Option<&View> {
    let Obj::Native(native) = object else {
        return None;
    };
    native.as_any()?.downcast_ref()
}

/// `view.isdisjoint(other)`.
pub fn call(vm: &dyn Interpreter, view: &View, name: &str, args: CallArgs) -> Result<Obj> {
    let other = Call {
        owner: view.type_name(),
        name,
        args,
    }
    .one()?;
    let Some(view) = view.as_set() else {
        return Err(super::no_attribute(view.type_name(), name));
    };
    view.is_disjoint(vm, &other).map(Obj::Bool)
}
