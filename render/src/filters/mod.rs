//! Filters: Jinja2's own and those Salt adds.
//!
//! Each submodule brings one table, sorted by name. Where Salt replaces a filter of Jinja2, only
//! Salt's is here.
#![expect(
    clippy::needless_pass_by_value,
    reason = "every filter has the signature of `Filter`"
)]

pub(crate) mod call;
mod containers;
pub(crate) mod date;
pub(crate) mod digest;
mod entries;
pub(crate) mod host;
mod html;
mod itertools;
mod json_query;
pub(crate) mod network;
pub(crate) mod number;
mod pretty;
pub(crate) mod random;
pub(crate) mod regex;
mod replaced;
mod select;
mod sequence;
mod serialise;
mod sets;
mod strict;
mod strings;
mod text;
pub(crate) mod wrap;
mod xml;
mod yaml;

pub(crate) use containers::traverse;
pub(crate) use replaced::replaced_by_salt;
pub(crate) use sets::is_hashable;

use mapstack_pyobject::{CallArgs, Obj, Result};

use crate::jinja::Vm;

/// A filter: `input|name(args)`.
pub(crate) type Filter = fn(&Vm<'_>, Obj, CallArgs) -> Result<Obj>;

/// Filters by name, in order.
type Table = &'static [(&'static str, Filter)];

const TABLES: &[Table] = &[
    text::TABLE,
    wrap::TABLE,
    html::TABLE,
    number::TABLE,
    sequence::TABLE,
    select::TABLE,
    serialise::TABLE,
    yaml::TABLE,
    containers::TABLE,
    entries::TABLE,
    itertools::TABLE,
    sets::TABLE,
    strings::TABLE,
    regex::TABLE,
    digest::TABLE,
    date::TABLE,
    random::TABLE,
    network::TABLE,
    host::TABLE,
    json_query::TABLE,
];

/// The filter of a name.
pub(crate) fn find(name: &str) -> Option<Filter> {
    TABLES.iter().find_map(|table| {
        table
            .binary_search_by_key(&name, |(known, _)| known)
            .ok()
            .map(|i| table[i].1)
    })
}

/// Every name there is.
pub(crate) fn names() -> Vec<&'static str> {
    TABLES
        .iter()
        .flat_map(|table| table.iter().map(|(name, _)| *name))
        .collect()
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

    #[test]
    fn the_handbook_lists_every_name() {
        let handbook = include_str!("../../../docs/jinja.md");
        let listed = |kind: &str| -> Vec<&str> {
            let cells = |line: &'static str| -> Vec<&'static str> { line.split(" | ").collect() };
            let rows = handbook
                .lines()
                .map(cells)
                .filter(|row| row.get(1) == Some(&kind));
            rows.map(|row| row[0].trim_matches(|c: char| "|` ".contains(c)))
                .collect()
        };
        let sorted = |mut names: Vec<&'static str>| {
            names.sort_unstable();
            names
        };
        assert_eq!(listed("filter"), sorted(names()));
        assert_eq!(listed("test"), sorted(crate::tests::names()));
    }
}
