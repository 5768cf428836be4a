//! The tests of the crate, in one program: each one more would link everything once more.

mod common;

mod builtins;
mod dates;
mod errors;
mod filters;
mod growth;
mod limits;
mod methods;
mod names;
mod parser;
mod recorded;
mod stack_dialect;
mod taint;
