//! The tests of the crate, in one program: each one more would link everything once more.

mod causes;
mod compare;
mod fleet;
mod fleet_state;
mod impact;
mod states;
mod versions;
