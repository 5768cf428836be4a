//! Everything of mapstack that reads input, as functions of bytes that must come back: no panic, no endless run, and what
//! is read prints so that it reads back.
//!
//! `cargo run --manifest-path fuzz/Cargo.toml -- --seconds 20` mutates the seeds in `corpus` on any stable compiler;
//! `cargo +nightly fuzz run --features libfuzzer yaml` does so guided by coverage.
//!
//! ```
//! let yaml = mapstack_fuzz::targets::ALL.iter().find(|target| target.name == "yaml").unwrap();
//! (yaml.run)(b"a: [1, *x]");
//! ```
//!
//! The crate does not know about the Python interpreter, so Mako and Python templates are not among its targets.

mod git;
pub mod mutate;
pub mod targets;
