//! The cost of operations.
//!
//! Each operation pays by the size of what it is given, before it runs, and by the size of what it made. Sizes are
//! those that are known at once: bytes of a text, digits of a number, items of a container and not what is in them.
//! Work that goes deeper pays [as it goes](mapstack_pyobject::limits::ledger).

use mapstack_value::Int;

use crate::object::{CallArgs, Obj};

/// Bytes of text that one step pays for.
pub(crate) const STEP_BYTES: usize = 16;
/// Items of a container that one step pays for reading.
const STEP_ITEMS: usize = 8;
/// Steps that an item of a new container costs.
const ITEM_STEPS: usize = 2;
/// Steps that an object costs that is neither text nor container.
const OBJECT_STEPS: usize = 4;
/// Numbers of smaller cost are not looked up among the exceptions.
const SMALL: usize = 64;
/// Products of two words of a large number that one step pays for.
const STEPS_OF_WORDS: u64 = 64;

/// The part of its operands that an operation reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OperandReads {
    /// All of them, as if nothing else is known.
    All,
    /// Its arguments, and of its object as much as does not depend on its size.
    Arguments,
    /// Texts, and of containers no more than their length.
    Texts,
    /// Nothing that depends on their size.
    Nothing,
}

/// Steps that an operation costs before it runs. What it `reads` is asked only where that makes a difference.
pub(crate) fn to_run(
    reads: impl FnOnce() -> OperandReads,
    object: Option<&Obj>,
    args: &CallArgs,
) -> usize {
    let own = object.map_or(0, to_read);
    let mut given = 0;
    for object in &args.positional {
        given += to_read(object);
    }
    for (_, object) in &args.named {
        given += to_read(object);
    }
    match own + given {
        small if small <= SMALL => small,
        all => match reads() {
            OperandReads::All => all,
            OperandReads::Arguments => given,
            OperandReads::Texts => object
                .into_iter()
                .chain(args.objects())
                .filter(|o| !is_container(o))
                .map(to_read)
                .sum(),
            OperandReads::Nothing => 0,
        },
    }
}

/// Steps that reading an object costs.
#[inline]
pub(crate) fn to_read(object: &Obj) -> usize {
    match object {
        Obj::Str(s) | Obj::Markup(s) => s.len() / STEP_BYTES,
        Obj::Bytes(b) => b.len() / STEP_BYTES,
        Obj::Int(i) => of_int(i),
        Obj::List(l) => l.len() / STEP_ITEMS,
        Obj::Tuple(t) => t.len() / STEP_ITEMS,
        Obj::Set(s) => s.len() / STEP_ITEMS,
        // Asking a dict for its length can count as reading it.
        Obj::Dict(d) => d.size() / STEP_ITEMS,
        Obj::None
        | Obj::Bool(_)
        | Obj::Float(_)
        | Obj::Undefined(_)
        | Obj::Iter(_)
        | Obj::Native(_) => 0,
    }
}

/// Large numbers take as long as their length squared, to be multiplied as well as to become text.
#[inline]
fn of_int(int: &Int) -> usize {
    if int.to_i64().is_some() {
        return 0;
    }
    let words = int.bits() / 64;
    usize::try_from(words * words / STEPS_OF_WORDS).unwrap_or(usize::MAX)
}

fn is_container(object: &Obj) -> bool {
    matches!(
        object,
        Obj::List(_) | Obj::Tuple(_) | Obj::Set(_) | Obj::Dict(_)
    )
}

/// Steps that making an object cost; what others hold, too, was there before.
pub(crate) fn to_make(object: &Obj) -> usize {
    match object {
        Obj::Str(s) | Obj::Markup(s) => s.len() / STEP_BYTES,
        Obj::Bytes(b) => b.len() / STEP_BYTES,
        Obj::Int(i) => of_int(i),
        Obj::List(l) if l.is_new() => l.len() * ITEM_STEPS,
        Obj::Tuple(t) if t.is_new() => t.len() * ITEM_STEPS,
        Obj::Set(s) if s.is_new() => s.len() * ITEM_STEPS,
        Obj::Dict(d) if d.is_new() => OBJECT_STEPS + d.size() * ITEM_STEPS,
        Obj::Iter(_) | Obj::Native(_) => OBJECT_STEPS,
        _ => 0,
    }
}
