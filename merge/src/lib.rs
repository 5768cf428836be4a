//! Merging configuration by the strategies of Salt and of PillarStack.
//!
//! The crate does not know about layer files, matchers or where a value came from. It does not limit
//! how deep values nest; the code that builds them does.
//!
#![doc = include_str!("../README.md")]
//!
//! [`merge`] puts an overlay over a base as `slsutil.merge` does, by a strategy the caller gives;
//! [`stack::merge`] does so by the strategies the overlay itself names. [`merge_observed`] and
//! [`stack::merge_observed`] report each change to an [`Observer`], which is how origins are found. Values are shared: a merge copies
//! only what it changes, and neither side ever sees a change of the other.
//!
//! # What each strategy does
//!
//! Both roots are mappings, and this is what happens under a key that both have:
//!
//! | strategy | mapping over mapping | list over list | anything else |
//! |---|---|---|---|
//! | `smart`, `recurse` | united, by this table | overlay's | overlay's |
//! | `smart`, `recurse` with `merge_lists` | united, by this table | appended | overlay's |
//! | `none` and unknown strategies | united, by this table | overlay's | overlay's |
//! | `overwrite`, `aggregate` | overlay's | overlay's | overlay's |
//! | `list` | `[base, overlay]` | `[base, overlay]` | `[base, overlay]` |
//!
//! Keys of one side only are kept, but `list` drops those of the overlay. *Appended* are the
//! overlay's items that equal none of the base's. Only `smart` and `recurse` look at `merge_lists`.
//! `None` is a value like any other: it replaces and is replaced.
//!
//! Roots that are not mappings:
//!
//! | strategy | mapping over other | other over mapping | other over other |
//! |---|---|---|---|
//! | `aggregate` | overlay's | overlay's, as a list | appended, as lists |
//! | `list` | error | error, unless Python's `in` finds none of the base's keys in it | error |
//! | the others | error | error | error |
//!
//! *As a list*: tuples and sets by their items, everything else alone. A mapping that `aggregate`
//! returns is of kind [`Aggregate`](mapstack_value::MapKind::Aggregate) and stays so as the base of
//! later merges, except of `list`, which makes a plain one. Under `aggregate`, mappings below the roots
//! that are aggregates on both sides are united at any depth, and such lists are appended.
//!
//! # Laws
//!
//! For mappings without NaN, with values and keys of every type, and each a test of this crate:
//!
//! - **Key order**: the base's keys keep their places, new ones follow in the overlay's order.
//! - **Type of the root**: the base's, but `aggregate` makes an aggregate and `list` a plain mapping. The
//!   laws below leave it aside; below the root they hold for the types of mappings, too.
//! - **Right identity**: `x ← {}` is `x`, for every strategy.
//! - **Left identity**: `{} ← x` is `x`, except for `list`, where it is `{}`.
//! - **Idempotence**: `x ← x` is `x`, except for `list`: `{a: 1}` over itself is `{a: [1, 1]}`. A list
//!   appended to itself does not grow, duplicates included.
//! - **Absorption**: merging the same overlay twice in a row is merging it once, except for `list`.
//! - **Associativity**: `(x ← y) ← z` is `x ← (y ← z)` in these cases, and layers are folded from the left
//!   because of the others:
//!   - `overwrite`: always.
//!   - `aggregate`: where no mapping below the roots is an aggregate. Where some are, the three must agree at
//!     each path on whether there is an aggregate, and an aggregate must be directly in the root or in
//!     another aggregate. With aggregates `x.k = {a: 1}` and `z.k = {c: 3}` and a plain `y.k = {b: 2}`, the
//!     first is `{k: {c: 3}}`, the second `{k: {a: 1, c: 3}}`.
//!   - the recursive strategies: where the three agree at each path on whether there is a mapping, a list or
//!     something else. With `x = {k: {a: 1}}`, `y = {k: 1}` and `z = {k: {b: 2}}` the first is `{k: {b: 2}}`,
//!     the second `{k: {a: 1, b: 2}}`.
//!   - `list`: never where all three have a key: `[[1, 2], 3]` and `[1, [2, 3]]`.
//! - **Right bias**: without `merge_lists`, every scalar and list of the overlay is in the result of
//!   the recursive strategies, at its path.
//! - **Reports are complete**: the reported changes, applied to the base, give the result.
//!
//! # Known differences
//!
//! Merging in Salt changes objects in place, so what two spellings share through a YAML anchor, one
//! merge can change in both, and `overwrite` leaves its traces in the base it was given. Values here
//! are values; [`Aliases`] says where the first makes a difference.

mod aliases;
mod append;
mod error;
mod merge;
mod observe;
mod options;
mod python;
pub mod stack;

pub use aliases::{AliasConflict, Aliases};
pub use error::MergeError;
pub use mapstack_value::{Map, Value};
pub use merge::{merge, merge_all, merge_observed};
pub use observe::{Change, ItemOrigin, KeyPath, Observer, Trail};
pub use options::{Options, Strategy, UnknownStrategy};
