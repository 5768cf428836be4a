//! Data formats besides YAML and JSON, as Salt reads and writes them: TOML and MessagePack.
//!
//! ```rust
//! use mapstack_functions::formats::toml;
//! let value = toml::read("[server]\nports = [80, 443]\n").unwrap();
//! assert_eq!(value.repr(), "{'server': {'ports': [80, 443]}}");
//! assert_eq!(toml::write(&value).unwrap(), "[server]\nports = [ 80, 443,]\n");
//! ```

pub mod msgpack;
pub mod toml;
