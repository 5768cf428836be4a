//! The meaning of a source definition.

use mapstack::matcher::{Definition, Mode, Spelling};
use serde::Serialize;

/// A definition in words.
pub fn text(definition: &Definition, mode: Mode) -> String {
    let mut text = format!("{definition}\n");
    for (i, line) in definition.describe().lines().enumerate() {
        let line = if i == 0 && mode == Mode::Path {
            "builds paths"
        } else {
            line
        };
        text.push_str(&format!("  {line}\n"));
    }
    if definition.spelling() == Spelling::Legacy {
        text.push_str(&format!(
            "  the Y: form is deprecated; write {}\n",
            definition.modern()
        ));
    }
    text
}

/// A definition for programs.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct DefinitionDocument<'d> {
    /// The definition as it is printed.
    definition: String,
    /// True if it leads to files of YAML.
    yaml: bool,
    /// True if it is written in the form that starts with `Y:`.
    deprecated: bool,
    /// The matchers, in order.
    matchers: Vec<MatcherPart<'d>>,
}

/// A matcher.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
struct MatcherPart<'d> {
    /// The letter of its type.
    r#type: char,
    /// The key that it looks up.
    query: &'d str,
    options: &'d [String],
    /// The delimiter between the steps of the query.
    delimiter: &'d str,
}

impl<'d> From<&'d Definition> for DefinitionDocument<'d> {
    fn from(definition: &'d Definition) -> Self {
        let matchers = definition.matchers().iter().map(|matcher| MatcherPart {
            r#type: matcher.kind().letter(),
            query: matcher.query(),
            options: matcher.options(),
            delimiter: matcher.delimiter(),
        });
        DefinitionDocument {
            definition: definition.to_string(),
            yaml: definition.leads_to_files(),
            deprecated: definition.spelling() == Spelling::Legacy,
            matchers: matchers.collect(),
        }
    }
}
