//! Data formats besides YAML and JSON, as Salt reads and writes them.
//!
//! The crate does not know about files, templates or minions.
//!
#![doc = include_str!("../README.md")]

pub mod msgpack;
pub mod toml;
