//! Jinja2's filters, and what those of dialects are made with.
//!
//! Each submodule brings one table, sorted by name.
#![expect(
    clippy::needless_pass_by_value,
    reason = "every filter has the signature of `Filter`"
)]

mod aggregate;
pub mod call;
mod html;
pub mod json;
pub mod number;
mod pretty;
mod select;
mod sequence;
mod text;
mod wrap;

pub use pretty::pformat;
pub use wrap::wrap;

use mapstack_pyobject::{CallArgs, Obj, Result};

use crate::random;
use crate::vm::Vm;

/// A filter: `input|name(args)`.
pub type Filter = fn(&Vm<'_>, Obj, CallArgs) -> Result<Obj>;

/// Filters by name, in order.
pub type Table = &'static [(&'static str, Filter)];

const TABLES: &[Table] = &[
    text::TABLE,
    wrap::TABLE,
    html::TABLE,
    number::TABLE,
    sequence::TABLE,
    aggregate::TABLE,
    select::TABLE,
    json::TABLE,
    pretty::TABLE,
    random::TABLE,
];

/// Jinja2's filter of a name.
#[must_use]
pub fn find(name: &str) -> Option<Filter> {
    find_in(TABLES, name)
}

/// The filter of a name in some tables.
#[must_use]
pub fn find_in(tables: &[Table], name: &str) -> Option<Filter> {
    tables.iter().find_map(|table| {
        table
            .binary_search_by_key(&name, |(known, _)| known)
            .ok()
            .map(|i| table[i].1)
    })
}

/// The name of every filter of Jinja2.
#[must_use]
pub fn names() -> Vec<&'static str> {
    names_in(TABLES)
}

/// Every name in some tables.
#[must_use]
pub fn names_in(tables: &[Table]) -> Vec<&'static str> {
    tables
        .iter()
        .flat_map(|table| table.iter().map(|(name, _)| *name))
        .collect()
}

/// Whether one of Jinja2's filters writes its input as text in which the parts of it still stand.
pub(crate) fn writes_data(name: &str) -> bool {
    matches!(name, "tojson" | "xmlattr")
}

#[cfg(test)]
mod checks {
    use super::*;

    #[test]
    fn tables_are_sorted_and_share_no_name() {
        for table in TABLES {
            assert!(
                table.is_sorted_by(|a, b| a.0 < b.0),
                "{:?}",
                table.iter().map(|(n, _)| n).collect::<Vec<_>>()
            );
        }
        let mut all = names();
        let n = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), n);
        assert!(all.iter().all(|name| find(name).is_some()));
    }
}
