//! JSON Schema for layered configuration.
//!
//! `infer` makes a schema of the layers a formula has: what types its keys have, in the defaults
//! and elsewhere. A `Schema` says what is wrong with a value, and under which keys.
//!
//! ```rust
//! use mapstack_lint::schema::{Schema, infer};
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

#[cfg(feature = "json-schema")]
mod check;
mod infer;
mod json;
#[cfg(not(feature = "json-schema"))]
mod no_check;
mod violation;

#[cfg(feature = "json-schema")]
pub use check::Schema;
#[cfg(not(feature = "json-schema"))]
pub use no_check::Schema;
pub use violation::{SchemaError, Violation};

/// True if values can be checked, which takes the feature `check`.
pub const CHECKS: bool = cfg!(feature = "json-schema");
pub use infer::infer;
