//! Keyword arguments of Salt's functions, made of flags.

use mapstack::DataOptions;
use mapstack::value::{Map, Value, json};

use crate::inputs::InputError;
use crate::inputs::flags::{Input, Layering, Merging};
use crate::inputs::read::{data_file, yaml_value};

/// Keyword arguments under their reference names: those of `--kwargs`, then flags over them.
pub struct Kwargs(Map);

impl Kwargs {
    /// Those of `--kwargs` and `--custom-data`.
    ///
    /// # Errors
    /// They cannot be read.
    pub fn new(input: &Input) -> Result<Self, InputError> {
        let mut kwargs = match &input.kwargs {
            None => Map::new(),
            Some(text) => match json::loads(text) {
                Ok(Value::Map(map)) => map,
                Ok(other) => {
                    let what = other.kind().described();
                    return Err(InputError::Usage(format!(
                        "--kwargs is {what}, not a JSON object"
                    )));
                }
                Err(e) => return Err(InputError::Usage(format!("--kwargs is not JSON: {e}"))),
            },
        };
        if let Some(file) = &input.custom_data {
            kwargs.insert("custom_data", data_file(file)?);
        }
        Ok(Kwargs(kwargs))
    }

    /// The options of `map.data`.
    ///
    /// # Errors
    /// Flags cannot be read, or name what `map.data` does not accept.
    pub fn data_options(input: &Input, layering: &Layering) -> Result<DataOptions, InputError> {
        let kwargs = Self::new(input)?.layering(layering)?.into_map();
        Ok(DataOptions::from_kwargs(&kwargs)?)
    }

    /// An argument whose text is a YAML scalar.
    ///
    /// # Errors
    /// It is not YAML.
    pub fn scalar(mut self, name: &str, given: Option<&String>) -> Result<Self, InputError> {
        if let Some(text) = given {
            let value = yaml_value(text, &format!("--{}", name.replace('_', "-")))?;
            self.0.insert(name, value);
        }
        Ok(self)
    }

    /// An argument that is text whatever it looks like.
    #[must_use]
    pub fn text(mut self, name: &str, given: Option<&String>) -> Self {
        if let Some(text) = given {
            self.0.insert(name, text);
        }
        self
    }

    /// A list argument.
    #[must_use]
    pub fn list(mut self, name: &str, given: &[String]) -> Self {
        if !given.is_empty() {
            let list: Value = given.iter().collect();
            self.0.insert(name, list);
        }
        self
    }

    /// A ready value.
    #[must_use]
    pub fn value(mut self, name: &str, given: Option<Value>) -> Self {
        if let Some(value) = given {
            self.0.insert(name, value);
        }
        self
    }

    /// Set how layers merge.
    ///
    /// # Errors
    /// A value that is not YAML.
    pub fn merging(self, merging: &Merging) -> Result<Self, InputError> {
        self.list("parameter_dirs", &merging.parameter_dirs)
            .scalar(
                "default_merge_strategy",
                merging.default_merge_strategy.as_ref(),
            )?
            .scalar("default_merge_lists", merging.default_merge_lists.as_ref())?
            .scalar("config_get_strategy", merging.config_get_strategy.as_ref())
    }

    /// The arguments of `map.data`.
    ///
    /// # Errors
    /// A value that is not YAML.
    pub fn layering(self, layering: &Layering) -> Result<Self, InputError> {
        self.list("sources", &layering.sources)
            .merging(&layering.merging)?
            .scalar("post_map", layering.post_map.as_ref())?
            .scalar("post_map_template", layering.post_map_template.as_ref())?
            .scalar("cache", layering.cache.as_ref())
    }

    /// All of them.
    pub fn into_map(self) -> Map {
        self.0
    }
}
