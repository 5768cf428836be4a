//! Salt's filters.
//!
//! Each submodule has one table. Jinja2's filters of the same names are replaced.
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
mod timelib;
mod xml;
mod yaml;

pub(crate) use containers::traverse;

use mapstack_jinja::{Conversion, Dialect, Filter, Filters, Jinja2, NamedFunction};
use mapstack_pyobject::OperandReads;

const TABLES: [Filters; 15] = [
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

/// Salt's filters, beside those of Jinja2.
pub(crate) fn all() -> impl Iterator<Item = (&'static str, Filter)> {
    TABLES.into_iter().flatten().copied()
}

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

/// The part of its operands that an operation reads, which is charged before it runs. Operations that return their
/// input or look up one entry read nothing.
pub(crate) fn reads(kind: NamedFunction, name: &str) -> OperandReads {
    match (kind, name) {
        (
            NamedFunction::Filter,
            "is_iter" | "is_list" | "method_call" | "sequence" | "skip" | "traverse",
        )
        | (NamedFunction::Test, "list") => OperandReads::Nothing,
        _ => Jinja2.reads(kind, name),
    }
}

/// The conversion of a filter between data and text.
pub(crate) fn converts(name: &str) -> Option<Conversion> {
    match name {
        "json" | "yaml" | "yaml_encode" | "yaml_dquote" | "yaml_squote" | "python" => {
            Some(Conversion::Writes)
        }
        "load_json" | "load_yaml" => Some(Conversion::Reads),
        _ => Jinja2.converts(name),
    }
}
