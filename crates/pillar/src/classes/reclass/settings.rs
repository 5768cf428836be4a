//! The options of reclass that change how values are merged and read (reclass: `ReclassSettings`).

use mapstack_value::{Map, Value};

/// The settings of a run.
#[derive(Debug, Clone)]
pub struct ReclassSettings {
    pub scalar_over_dict: bool,
    pub scalar_over_list: bool,
    pub list_over_scalar: bool,
    pub dict_over_scalar: bool,
    pub none_override: bool,
    pub automatic_parameters: bool,
    pub mappings_match_path: bool,
    pub default_environment: Value,
    pub delimiter: String,
    pub override_prefix: String,
    pub constant_prefix: String,
    pub escape: String,
    /// The opening and closing text of a reference.
    pub reference: (String, String),
    /// The opening and closing text of an inventory query.
    pub export: (String, String),
    pub strict_constants: bool,
    /// Classes that may be missing, as patterns.
    pub may_miss: Option<Vec<String>>,
    pub warns_of_missing: bool,
    pub ignores_overwritten: bool,
    /// References to nothing are gathered, so that a node whose exports are requested may have some.
    pub gathers_errors: bool,
    /// Inventory queries leave out nodes whose files are not YAML.
    pub ignores_failed_nodes: bool,
}

impl ReclassSettings {
    /// Those that are given; the others are as reclass has them. Unknown names are ignored, as in reclass.
    ///
    /// # Errors
    /// An option has the wrong type.
    pub fn new(given: &Map) -> Result<Self, String> {
        let on = |name: &str, usual: bool| given.get(name).map_or(usual, Value::truthy);
        let may_miss = match given.get("ignore_class_notfound_regexp") {
            None => vec![".*".to_owned()],
            Some(Value::Str(one)) => vec![one.to_string()],
            Some(Value::List(all)) => all.iter().map(ToString::to_string).collect(),
            Some(other) => {
                return Err(wrong(
                    "ignore_class_notfound_regexp",
                    "a pattern or a list of patterns",
                    other,
                ));
            }
        };
        Ok(ReclassSettings {
            scalar_over_dict: on("allow_scalar_over_dict", false),
            scalar_over_list: on("allow_scalar_over_list", false),
            list_over_scalar: on("allow_list_over_scalar", false),
            dict_over_scalar: on("allow_dict_over_scalar", false),
            none_override: on("allow_none_override", false),
            automatic_parameters: on("automatic_parameters", true),
            mappings_match_path: on("class_mappings_match_path", false),
            default_environment: given
                .get("default_environment")
                .cloned()
                .unwrap_or_else(|| "base".into()),
            delimiter: text(given, "delimiter", ":")?,
            override_prefix: text(given, "dict_key_override_prefix", "~")?,
            constant_prefix: text(given, "dict_key_constant_prefix", "=")?,
            escape: text(given, "escape_character", "\\")?,
            reference: sentinels(given, "reference_sentinels", "${", "}")?,
            export: sentinels(given, "export_sentinels", "$[", "]")?,
            strict_constants: on("strict_constant_parameters", true),
            may_miss: on("ignore_class_notfound", false).then_some(may_miss),
            warns_of_missing: on("ignore_class_notfound_warning", true),
            ignores_overwritten: on("ignore_overwritten_missing_references", true),
            gathers_errors: on("group_errors", true),
            ignores_failed_nodes: on("inventory_ignore_failed_node", false),
        })
    }
}

fn wrong(name: &str, wanted: &str, given: &Value) -> String {
    format!(
        "`{name}` must be {wanted}, not {}",
        given.kind().described()
    )
}

fn text(given: &Map, name: &str, usual: &str) -> Result<String, String> {
    match given.get(name) {
        None => Ok(usual.into()),
        Some(Value::Str(text)) if !text.is_empty() => Ok(text.to_string()),
        Some(other) => Err(wrong(name, "a text that is not empty", other)),
    }
}

/// The texts that open and close a reference; without a setting, the usual ones.
fn sentinels(given: &Map, name: &str, open: &str, close: &str) -> Result<(String, String), String> {
    let texts = match given.get(name) {
        None => return Ok((open.into(), close.into())),
        Some(Value::List(items)) => items
            .iter()
            .filter_map(Value::as_str)
            .filter(|text| !text.is_empty())
            .map(Into::into)
            .collect(),
        Some(_) => Vec::new(),
    };
    match <[String; 2]>::try_from(texts) {
        Ok([open, close]) => Ok((open, close)),
        Err(_) => Err(format!("`{name}` must be a list of two texts")),
    }
}
