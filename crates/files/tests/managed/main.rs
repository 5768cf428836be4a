//! Managed files, as real Salt would write them.

mod exhausting;
mod fragments;
mod older;
mod recorded;
