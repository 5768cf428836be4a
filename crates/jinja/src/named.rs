//! The effects of Jinja2's filters, tests and functions on their operands.

use std::cell::RefCell;
use std::sync::Arc;

use mapstack_pyobject::OperandReads;
use mapstack_value::Str;

/// A filter, test or function behind a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum NamedFunction {
    /// `x|name`
    Filter,
    /// `x is name`
    Test,
    /// `name()`
    Function,
}

use NamedFunction::{Filter, Function, Test};
use OperandReads::{Nothing, Texts};

/// The operations that do not read all of their operands, in order. Those that return their input, look up one entry,
/// or make a generator read nothing; what they start is charged separately.
const EXCEPTIONS: &[(NamedFunction, &str, OperandReads)] = &[
    (Filter, "attr", Nothing),
    (Filter, "count", Texts),
    (Filter, "d", Nothing),
    (Filter, "default", Nothing),
    (Filter, "first", Nothing),
    (Filter, "groupby", Texts),
    (Filter, "items", Nothing),
    (Filter, "length", Texts),
    (Filter, "map", Nothing),
    (Filter, "reject", Nothing),
    (Filter, "rejectattr", Nothing),
    (Filter, "safe", Nothing),
    (Filter, "select", Nothing),
    (Filter, "selectattr", Nothing),
    // Comparisons are charged where they are made.
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
    (Function, "cycler", Nothing),
    (Function, "joiner", Nothing),
    (Function, "namespace", Nothing),
];

pub(crate) fn reads(kind: NamedFunction, name: &str) -> OperandReads {
    let found = EXCEPTIONS.binary_search_by(|(k, n, _)| (*k, *n).cmp(&(kind, name)));
    found.map_or(OperandReads::All, |at| EXCEPTIONS[at].2)
}

/// True if the exceptions are in order and name what there is.
pub(crate) fn exceptions_fit(exists: impl Fn(NamedFunction, &str) -> bool) -> bool {
    EXCEPTIONS.is_sorted_by(|a, b| (a.0, a.1) < (b.0, b.1))
        && EXCEPTIONS.iter().all(|(kind, name, _)| exists(*kind, name))
}

/// The values of templates' names. Equal names of a template share their text, so they are found by its address.
pub(crate) struct NamedValues<T>(RefCell<Vec<(Str, T)>>);

impl<T> Default for NamedValues<T> {
    fn default() -> Self {
        NamedValues(RefCell::default())
    }
}

impl<T: Copy> NamedValues<T> {
    /// More names than this are looked for elsewhere each time.
    const MOST: usize = 16;

    /// The value of a name, which `find` finds the first time.
    pub fn get(&self, name: &Str, find: impl FnOnce(&str) -> Option<T>) -> Option<T> {
        let mut known = self.0.borrow_mut();
        if let Some((_, found)) = known.iter().find(|(known, _)| Arc::ptr_eq(known, name)) {
            return Some(*found);
        }
        let found = find(name)?;
        if known.len() < Self::MOST {
            known.push((name.clone(), found));
        }
        Some(found)
    }
}

/// The direction of a filter that converts between data and text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Conversion {
    /// It writes data as text, as `tojson` does.
    Writes,
    /// It reads data from text.
    Reads,
}

/// The conversion of one of Jinja2's filters.
pub(crate) fn converts(filter: &str) -> Option<Conversion> {
    matches!(filter, "tojson" | "xmlattr").then_some(Conversion::Writes)
}

/// True if one of Jinja2's filters is given the variables of the template.
pub(crate) fn reads_context(filter: &str) -> bool {
    matches!(
        filter,
        "map" | "random" | "reject" | "rejectattr" | "select" | "selectattr"
    )
}
