//! The one place where operations pay.
//!
//! Each filter, test, method, function, operator and slice is started here or in a function that asks here: it pays
//! by the size of what it is given, before it runs, and by the size of what it made. A new one cannot forget. Sizes
//! are those that are known at once: bytes of a text, digits of a number, items of a container and not what is in
//! them. Work that goes deeper pays [as it goes](crate::ledger).

use mapstack_value::Int;

use super::Vm;
use crate::error::Result;
use crate::ledger;
use crate::object::{CallArgs, Obj};

/// Bytes of text that one step pays for.
const STEP_BYTES: usize = 16;
/// Items of a container that one step pays for reading.
const STEP_ITEMS: usize = 8;
/// Steps that an item of a new container costs.
const ITEM_STEPS: usize = 2;
/// Steps that an object costs that is neither text nor container.
const OBJECT_STEPS: usize = 4;
/// What costs less is not looked up among the exceptions.
const SMALL: usize = 64;
/// Products of two words of a large number that one step pays for.
const STEPS_OF_WORDS: u64 = 64;

/// What of its operands an operation reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reads {
    /// All of them, as if nothing else is known.
    All,
    /// Its arguments, and of its object as much as does not depend on its size.
    Arguments,
    /// Texts, and of containers no more than their length.
    Texts,
    /// Nothing that depends on their size.
    Nothing,
}

/// What kind of operation a name is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Named {
    Filter,
    Test,
    Method,
    Function,
}

use Named::{Filter, Function, Method, Test};
use Reads::{Arguments, Nothing, Texts};

/// The operations that do not read all of their operands, in order. Those that hand on, look up one entry, or make a
/// generator read nothing; what they start pays for itself.
const EXCEPTIONS: &[(Named, &str, Reads)] = &[
    (Filter, "attr", Nothing),
    (Filter, "count", Texts),
    (Filter, "d", Nothing),
    (Filter, "default", Nothing),
    (Filter, "first", Nothing),
    (Filter, "groupby", Texts),
    (Filter, "is_iter", Nothing),
    (Filter, "is_list", Nothing),
    (Filter, "items", Nothing),
    (Filter, "length", Texts),
    (Filter, "map", Nothing),
    (Filter, "method_call", Nothing),
    (Filter, "reject", Nothing),
    (Filter, "rejectattr", Nothing),
    (Filter, "safe", Nothing),
    (Filter, "select", Nothing),
    (Filter, "selectattr", Nothing),
    (Filter, "sequence", Nothing),
    (Filter, "skip", Nothing),
    (Filter, "traverse", Nothing),
    // Comparisons pay for themselves.
    (Test, "!=", Nothing),
    (Test, "<", Nothing),
    (Test, "<=", Nothing),
    (Test, "==", Nothing),
    (Test, ">", Nothing),
    (Test, ">=", Nothing),
    (Test, "boolean", Nothing),
    (Test, "callable", Nothing),
    (Test, "defined", Nothing),
    (Test, "eq", Nothing),
    (Test, "equalto", Nothing),
    (Test, "escaped", Nothing),
    (Test, "false", Nothing),
    (Test, "float", Nothing),
    (Test, "ge", Nothing),
    (Test, "greaterthan", Nothing),
    (Test, "gt", Nothing),
    (Test, "in", Nothing),
    (Test, "integer", Nothing),
    (Test, "iterable", Nothing),
    (Test, "le", Nothing),
    (Test, "lessthan", Nothing),
    (Test, "list", Nothing),
    (Test, "lt", Nothing),
    (Test, "mapping", Nothing),
    (Test, "ne", Nothing),
    (Test, "none", Nothing),
    (Test, "number", Nothing),
    (Test, "sameas", Nothing),
    (Test, "sequence", Texts),
    (Test, "string", Nothing),
    (Test, "true", Nothing),
    (Test, "undefined", Nothing),
    (Method, "add", Arguments),
    (Method, "append", Nothing),
    (Method, "endswith", Arguments),
    (Method, "extend", Arguments),
    (Method, "get", Nothing),
    (Method, "items", Nothing),
    (Method, "join", Arguments),
    (Method, "keys", Nothing),
    // These count what they shift.
    (Method, "pop", Texts),
    (Method, "popitem", Nothing),
    (Method, "setdefault", Nothing),
    (Method, "startswith", Arguments),
    (Method, "update", Arguments),
    (Method, "values", Nothing),
    (Function, "cycler", Nothing),
    (Function, "joiner", Nothing),
    (Function, "namespace", Nothing),
];

fn reads(kind: Named, name: &str) -> Reads {
    let found = EXCEPTIONS.binary_search_by(|(k, n, _)| (*k, *n).cmp(&(kind, name)));
    found.map_or(Reads::All, |at| EXCEPTIONS[at].2)
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
fn to_make(object: &Obj) -> usize {
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

impl Vm<'_> {
    /// Pay for a named operation on an object and arguments, before it runs.
    ///
    /// # Errors
    /// A limit error when it cannot be paid.
    pub(crate) fn charged(
        &self,
        kind: Named,
        name: &str,
        object: Option<&Obj>,
        args: &CallArgs,
    ) -> Result<()> {
        let own = object.map_or(0, to_read);
        let mut given = 0;
        for object in &args.positional {
            given += to_read(object);
        }
        for (_, object) in &args.named {
            given += to_read(object);
        }
        let steps = match own + given {
            small if small <= SMALL => small,
            all => match reads(kind, name) {
                Reads::All => all,
                Reads::Arguments => given,
                Reads::Texts => object
                    .into_iter()
                    .chain(args.objects())
                    .filter(|o| !is_container(o))
                    .map(to_read)
                    .sum(),
                Reads::Nothing => 0,
            },
        };
        if steps == 0 {
            return Ok(());
        }
        // The result can be as large again.
        self.ask_for(steps.saturating_mul(STEP_BYTES))?;
        self.burn(steps)
    }

    /// Pay for reading the operands of an operator.
    ///
    /// # Errors
    /// A limit error when they cannot be paid.
    pub(crate) fn read_all(&self, operands: &[&Obj]) -> Result<()> {
        match operands.iter().map(|object| to_read(object)).sum() {
            0 => Ok(()),
            steps => self.burn(steps),
        }
    }

    /// Pay for a result, and for what was done deep inside the operation.
    ///
    /// # Errors
    /// A limit error when it cannot be paid.
    pub(crate) fn made(&self, result: Obj) -> Result<Obj> {
        self.settle(to_make(&result))?;
        Ok(result)
    }

    /// Pay for what was done deep inside an operation, and some steps more.
    ///
    /// # Errors
    /// A limit error when it cannot be paid.
    pub(crate) fn settle(&self, steps: usize) -> Result<()> {
        let debt = usize::try_from(ledger::take()).unwrap_or(usize::MAX);
        match steps.saturating_add(debt) {
            0 => Ok(()),
            steps => self.burn(steps),
        }
    }
}

#[cfg(test)]
mod checks {
    use super::*;

    #[test]
    fn the_exceptions_are_sorted_and_name_what_there_is() {
        assert!(EXCEPTIONS.is_sorted_by(|a, b| (a.0, a.1) < (b.0, b.1)));
        for (kind, name, _) in EXCEPTIONS {
            let exists = match kind {
                Filter => crate::filters::find(name).is_some(),
                Test => crate::tests::find(name).is_some(),
                Method => [
                    Obj::list([]),
                    Obj::dict([]),
                    Obj::from(""),
                    Obj::Set(crate::object::SetRef::new(Default::default())),
                ]
                .iter()
                .any(|object| crate::methods::has(object, name)),
                Function => crate::globals::is_builtin(name),
            };
            assert!(exists, "{kind:?} {name}");
        }
    }
}
