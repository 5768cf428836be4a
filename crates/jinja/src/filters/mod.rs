//! Jinja2's filters, and helpers for those of dialects.
//!
//! Each submodule has one table.
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
mod random;
mod select;
mod sequence;
mod text;
mod wrap;

pub use pretty::pformat;
pub use wrap::wrap;

use crate::dialect::{Filter, Filters};

const TABLES: [Filters; 10] = [
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

/// Jinja2's filters.
pub(crate) fn all() -> impl Iterator<Item = (&'static str, Filter)> {
    TABLES.into_iter().flatten().copied()
}
