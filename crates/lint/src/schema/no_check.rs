//! A schema in a program that cannot check values.

use mapstack_value::Value;
use serde_json::Value as Json;

use crate::schema::{SchemaError, Violation};

/// A schema, ready to check values: there is none without the feature `check`.
#[derive(Debug)]
pub enum Schema {}

impl Schema {
    /// Read a schema.
    ///
    /// # Errors
    /// Always.
    pub fn compile(_: &Json) -> Result<Self, SchemaError> {
        Err(SchemaError {
            at: Vec::new(),
            message: "schemas are not checked without the feature `check`".into(),
        })
    }

    /// The same for a schema that is a value, as YAML gives it.
    ///
    /// # Errors
    /// Always.
    pub fn of_value(_: &Value) -> Result<Self, SchemaError> {
        Self::compile(&Json::Null)
    }

    /// Everything that is wrong with a value.
    #[must_use]
    pub fn check(&self, _: &Value) -> Vec<Violation> {
        match *self {}
    }
}
