//! Salt's filters.
//!
//! Each submodule brings one table, sorted by name. Jinja2's filters of the same names are replaced.
#![expect(
    clippy::needless_pass_by_value,
    reason = "every filter has the signature of `Filter`"
)]

mod containers;
pub(crate) mod date;
pub(crate) mod digest;
mod entries;
mod extremes;
pub(crate) mod host;
mod itertools;
mod json_query;
pub(crate) mod network;
mod random;
pub(crate) mod regex;
mod serialise;
mod sets;
mod strict;
mod strings;
mod xml;
mod yaml;

pub(crate) use containers::traverse;

use mapstack_jinja::filters::{Table, find_in, names_in};
use mapstack_jinja::{Dialect, Filter, Jinja2, Named};
use mapstack_pyobject::Reads;

const TABLES: &[Table] = &[
    extremes::TABLE,
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

/// The filter of a name: Salt's, else Jinja2's.
pub(crate) fn find(name: &str) -> Option<Filter> {
    if REPLACED.contains(&name) {
        return find_in(TABLES, name);
    }
    mapstack_jinja::filters::find(name).or_else(|| find_in(TABLES, name))
}

/// Every name there is.
pub(crate) fn names() -> Vec<&'static str> {
    let mut names = mapstack_jinja::filters::names();
    names.retain(|name| !REPLACED.contains(name));
    names.extend(names_in(TABLES));
    names
}

/// The filters of Jinja2 that Salt replaces.
const REPLACED: [&str; 4] = ["max", "min", "tojson", "unique"];

/// Filters of Salt's serialisers (Salt: `salt.utils.jinja.SerializerExtension`).
pub(crate) const SERIALISERS: [&str; 15] = [
    "combinations",
    "combinations_with_replacement",
    "compress",
    "dict_to_sls_yaml_params",
    "json",
    "load_json",
    "load_text",
    "load_yaml",
    "permutations",
    "product",
    "python",
    "xml",
    "yaml",
    "zip",
    "zip_longest",
];

/// The serialiser of a name.
pub(crate) fn serialiser(name: &str) -> Option<Filter> {
    SERIALISERS
        .contains(&name)
        .then(|| find_in(TABLES, name))
        .flatten()
}

/// What an operation reads of its operands, which is paid for before it runs. Those that hand on, or look up one
/// entry, read nothing.
pub(crate) fn reads(kind: Named, name: &str) -> Reads {
    match (kind, name) {
        (
            Named::Filter,
            "is_iter" | "is_list" | "method_call" | "sequence" | "skip" | "traverse",
        )
        | (Named::Test, "list") => Reads::Nothing,
        _ => Jinja2.reads(kind, name),
    }
}

/// Whether a filter writes its input as text in which the parts of it still stand.
pub(crate) fn writes_data(name: &str) -> bool {
    let writers = [
        "json",
        "yaml",
        "yaml_encode",
        "yaml_dquote",
        "yaml_squote",
        "python",
    ];
    writers.contains(&name) || Jinja2.writes_data(name)
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
        let own = mapstack_jinja::filters::names();
        let replaced = own
            .into_iter()
            .filter(|name| find_in(TABLES, name).is_some());
        let mut replaced: Vec<_> = replaced.collect();
        replaced.sort_unstable();
        assert_eq!(replaced, REPLACED);
        assert!(SERIALISERS.is_sorted());
        let mut all = names();
        let n = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), n);
        assert!(all.iter().all(|name| find(name).is_some()));
    }

    #[test]
    fn the_handbook_lists_every_name() {
        let handbook = include_str!("../../../../docs/jinja.md");
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
