//! The tests of the crate, in one program: each one more would link everything once more.

mod functions;
#[path = "../../mapstack/tests/common/messages.rs"]
mod messages;
mod mine;
mod parts;
mod recorded;
mod refused;
