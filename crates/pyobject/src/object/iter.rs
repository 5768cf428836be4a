//! Iteration.

use std::cell::RefCell;
use std::rc::Rc;

use super::{DictRef, ListRef, Obj};
use crate::Interpreter;
use crate::limits::depth;
use crate::limits::ledger;
use crate::limits::{Error, Result};
use mapstack_value::Key;

/// A source of objects; `None` when exhausted.
pub trait ObjIter {
    /// The next object.
    fn next(&mut self, vm: &dyn Interpreter) -> Result<Option<Obj>>;
}

/// An iterator object. Clones are one iterator.
#[derive(Clone)]
pub struct Iter {
    source: Rc<RefCell<dyn ObjIter>>,
    type_name: &'static str,
    /// The function a generator comes from.
    function: Option<&'static str>,
    /// The number of iterators that are nested in each other.
    depth: usize,
    /// True if the next object comes without running anything.
    is_plain: bool,
}

impl Iter {
    /// An iterator; `type_name` is what Python would call it (`generator`, `zip`, …).
    pub fn new(type_name: &'static str, source: impl ObjIter + 'static) -> Self {
        Iter {
            source: Rc::new(RefCell::new(source)),
            type_name,
            function: None,
            depth: 0,
            is_plain: false,
        }
    }

    /// The same for a source that gives its objects without running anything else, which needs no room on the stack.
    pub fn plain(type_name: &'static str, source: impl ObjIter + 'static) -> Self {
        Iter {
            is_plain: true,
            ..Self::new(type_name, source)
        }
    }

    /// A generator of the named function.
    pub fn generator(function: &'static str, source: impl ObjIter + 'static) -> Self {
        Iter {
            function: Some(function),
            ..Self::new("generator", source)
        }
    }

    /// The same, reading from an object that may be an iterator itself.
    ///
    /// # Errors
    /// A limit error for an endless chain of iterators.
    pub fn reading(mut self, from: &Obj) -> Result<Self> {
        if let Obj::Iter(inner) = from {
            self.depth = inner.depth + 1;
        }
        if self.depth > depth::GENERATORS {
            let message = format!(
                "more than {} generators read from each other",
                depth::GENERATORS
            );
            return Err(Error::limit(message).with_help("make a list in between with |list"));
        }
        Ok(self)
    }

    /// `repr(x)` without an address.
    pub fn repr(&self) -> String {
        match self.function {
            Some(function) => format!("<{} object {function}>", self.type_name),
            None => format!("<{} object>", self.type_name),
        }
    }

    /// An iterator over objects at hand.
    pub fn over(type_name: &'static str, items: Vec<Obj>) -> Self {
        Self::plain(type_name, items.into_iter())
    }

    /// The iterator's identity.
    pub fn address(&self) -> usize {
        Rc::as_ptr(&self.source).cast::<()>() as usize
    }

    /// Python's name of the type.
    pub fn type_name(&self) -> &'static str {
        self.type_name
    }

    /// True if both are one iterator.
    pub fn is_same(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.source, &other.source)
    }

    /// The next object.
    ///
    /// # Errors
    /// The exception of producing it; a `ValueError` if the iterator reads itself.
    pub fn next(&self, vm: &dyn Interpreter) -> Result<Option<Obj>> {
        vm.burn(1)?;
        match self.source.try_borrow_mut() {
            Ok(mut source) if self.is_plain => {
                vm.budget().may_go_deeper()?;
                source.next(vm)
            }
            Ok(mut source) => vm.deeper(|| source.next(vm)),
            Err(_) => Err(Error::value_error("generator already executing")),
        }
    }

    /// Everything that is left.
    ///
    /// # Errors
    /// The exception of producing an item.
    pub fn collect(&self, vm: &dyn Interpreter) -> Result<Vec<Obj>> {
        let mut items = Vec::new();
        while let Some(item) = self.next(vm)? {
            vm.burn(2)?;
            items.push(item);
        }
        Ok(items)
    }
}

impl ObjIter for std::vec::IntoIter<Obj> {
    fn next(&mut self, _: &dyn Interpreter) -> Result<Option<Obj>> {
        Ok(Iterator::next(self))
    }
}

/// Follows a list as it is now, so items appended while looping are met too.
struct ListIter {
    list: ListRef,
    next: usize,
}

impl ObjIter for ListIter {
    fn next(&mut self, _: &dyn Interpreter) -> Result<Option<Obj>> {
        let item = self.list.get(self.next);
        self.next += 1;
        Ok(item)
    }
}

/// Follows a dict's keys and notices when they change.
struct DictIter {
    dict: DictRef,
    len: usize,
    /// The number of items given, and the position of the next one.
    given: usize,
    next: usize,
    /// The dict's moves, and its key before the next one, when the last item was given.
    moves: u32,
    last: Option<Key>,
    item: ItemAt,
}

/// The key at a position, and what a loop gets for it.
type ItemAt = fn(&DictRef, usize) -> Option<(Key, Obj)>;

impl DictIter {
    /// Raise Python's error if the keys of a dict change in a loop over it.
    fn check(&mut self) -> Result<()> {
        let resized = self.dict.len() != self.len;
        let one_too_many = self.given == self.len && self.next < self.len;
        let moves = self.dict.moves().wrapping_sub(self.moves);
        if !resized && !one_too_many && moves == 0 {
            return Ok(());
        }
        self.moves = self.dict.moves();
        let changed = if self.dict.kind().is_ordered() {
            "OrderedDict mutated"
        } else if resized {
            "dictionary changed size"
        } else if moves == 1 && self.given < self.len && self.gave_what_is_gone() {
            // The others are given first; then there is one too many.
            self.next -= 1;
            return Ok(());
        } else if one_too_many || self.gave_what_is_gone() {
            "dictionary keys changed"
        } else {
            return Ok(());
        };
        let message = format!("{changed} during iteration");
        Err(Error::python("RuntimeError", message))
    }

    /// True if a key that was given has been taken out, now that there are as many keys as before. What an only key's
    /// dict is updated with takes the place of the table itself, which Python's loop does not notice.
    fn gave_what_is_gone(&self) -> bool {
        let all_given = self.given == self.len;
        self.len > 1 && (all_given || self.next > 0 && self.dict.key_at(self.next - 1) != self.last)
    }
}

impl ObjIter for DictIter {
    fn next(&mut self, _: &dyn Interpreter) -> Result<Option<Obj>> {
        if self.given == self.len && self.dict.kind().is_ordered() {
            // Python's own loop over one is over once its last key was given.
            return Ok(None);
        }
        self.check()?;
        let Some((key, item)) = (self.item)(&self.dict, self.next) else {
            return Ok(None);
        };
        self.last = Some(key);
        self.next += 1;
        self.given += 1;
        Ok(Some(item))
    }
}

/// The parts that a walk over a dict gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DictPart {
    /// `dict.keys()`
    Keys,
    /// `dict.values()`
    Values,
    /// `dict.items()`
    Items,
}

/// An iterator over a part of a dict that notices when the dict changes its size.
pub fn dict_iter(dict: &DictRef, part: DictPart) -> Iter {
    let (type_name, item): (_, ItemAt) = match part {
        DictPart::Keys => ("dict_keyiterator", |dict, at| {
            let key = dict.key_at(at)?;
            let item = Obj::from(&key);
            Some((key, item))
        }),
        DictPart::Values => ("dict_valueiterator", DictRef::entry_at),
        DictPart::Items => ("dict_itemiterator", |dict, at| {
            let (key, value) = dict.entry_at(at)?;
            let pair = Obj::tuple([Obj::from(&key), value]);
            Some((key, pair))
        }),
    };
    Iter::plain(
        type_name,
        DictIter {
            dict: dict.clone(),
            len: dict.len(),
            given: 0,
            next: 0,
            moves: dict.moves(),
            last: None,
            item,
        },
    )
}

struct Chars {
    text: mapstack_value::Str,
    at: usize,
}

impl ObjIter for Chars {
    fn next(&mut self, vm: &dyn Interpreter) -> Result<Option<Obj>> {
        vm.pay(1, 0)?;
        let Some(c) = self.text[self.at..].chars().next() else {
            return Ok(None);
        };
        self.at += c.len_utf8();
        Ok(Some(Obj::from(c.encode_utf8(&mut [0; 4]) as &str)))
    }
}

impl Obj {
    /// `iter(x)`.
    ///
    /// # Errors
    /// A `TypeError` for what cannot be iterated, an undefined error for something undefined.
    pub fn iter(&self) -> Result<Iter> {
        Ok(match self {
            Obj::List(list) => Iter::plain(
                "list_iterator",
                ListIter {
                    list: list.clone(),
                    next: 0,
                },
            ),
            Obj::Tuple(items) => {
                ledger::spend(items.len() / 8)?;
                Iter::over("tuple_iterator", items.to_vec())
            }
            Obj::Dict(dict) => dict_iter(dict, DictPart::Keys),
            Obj::Set(set) => {
                ledger::spend(set.len() / 4)?;
                Iter::over(
                    "set_iterator",
                    set.read(|s| s.iter().map(Obj::from).collect()),
                )
            }
            Obj::Str(s) | Obj::Markup(s) => Iter::plain(
                "str_iterator",
                Chars {
                    text: s.clone(),
                    at: 0,
                },
            ),
            Obj::Bytes(b) => {
                ledger::spend(b.len() / 4)?;
                Iter::over(
                    "bytes_iterator",
                    b.iter().map(|b| Obj::from(i64::from(*b))).collect(),
                )
            }
            Obj::Iter(iter) => iter.clone(),
            Obj::Undefined(u) => {
                u.check()?;
                Iter::over("tuple_iterator", Vec::new())
            }
            Obj::Native(native) => match native.iter() {
                Some(iter) => iter,
                None => return Err(self.not_iterable()),
            },
            Obj::None | Obj::Bool(_) | Obj::Int(_) | Obj::Float(_) => {
                return Err(self.not_iterable());
            }
        })
    }

    /// Everything that iterating gives.
    ///
    /// # Errors
    /// As [`iter`](Obj::iter), and what producing an item raised.
    pub fn collect(&self, vm: &dyn Interpreter) -> Result<Vec<Obj>> {
        match self {
            Obj::List(list) => {
                vm.burn(list.len())?;
                Ok(list.items())
            }
            Obj::Tuple(items) => {
                vm.burn(items.len())?;
                Ok(items.to_vec())
            }
            other => other.iter()?.collect(vm),
        }
    }

    fn not_iterable(&self) -> Box<Error> {
        Error::type_error(format!("'{}' object is not iterable", self.type_name()))
    }
}
