//! JSON Schema for layered configuration.
//!
//! [`infer`] makes a schema of the layers a formula has: what types its keys have, in the defaults
//! and elsewhere. A [`Schema`] says what is wrong with a value, and under which keys.
//!
//! ```
//! use mapstack_schema::{Schema, infer};
//! use mapstack_yaml::load;
//!
//! let defaults = load("port: 22\nusers: [root]\n").unwrap();
//! let debian = load("port: null\n").unwrap();
//! let schema = infer("ssh", &defaults, [&debian], |_, _| true);
//! assert_eq!(schema["properties"]["port"]["type"], serde_json::json!(["integer", "null"]));
//!
//! let schema = Schema::compile(&schema).unwrap();
//! let violations = schema.check(&load("port: twenty-two\nusers: [root, 7]\n").unwrap());
//! let said: Vec<_> = violations.iter().map(|one| one.to_string()).collect();
//! assert_eq!(said, [
//!     r#"port: "twenty-two" is not of types "null", "integer""#,
//!     r#"users:1: 7 is not of type "string""#,
//! ]);
//! ```
//!
//! The crate does not know about files, layers' order, templates or minions.

mod check;
mod infer;
mod json;

pub use check::{Schema, SchemaError, Violation};
pub use infer::infer;
