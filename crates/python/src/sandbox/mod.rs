//! The interpreter (`rustpython-vm`, built without its host environment), and the jobs that run on it.
//!
//! Code is rewritten before it runs, so that loops and calls spend steps. It reaches the outside by the
//! [`SessionLine`] alone.

mod convert;
mod extmods;
mod failure;
mod instrument;
mod jinja;
mod line;
mod machine;
mod meter;
mod plan;
mod prelude;
mod purity;
mod renderers;
mod shared;
mod template;
mod unfold;
mod unit;
mod yaml;

use mapstack_sandbox::protocol::Span;

pub(crate) use line::SessionLine;
pub(crate) use machine::Machine;
pub(crate) use purity::is_apart;

pub(crate) fn span(start: usize, end: usize) -> Span {
    let small = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
    Span {
        start: small(start),
        end: small(end),
    }
}
