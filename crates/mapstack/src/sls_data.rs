//! The data of a file after all stages of its pipe.

use mapstack_value::Value;

/// The data of a stage.
#[derive(Clone)]
pub(crate) struct Data {
    pub value: Value,
    /// True if the same container occurs in several places, as with YAML aliases.
    pub shared: bool,
}

impl Data {
    pub fn new(value: Value) -> Self {
        Data {
            value,
            shared: false,
        }
    }
}
