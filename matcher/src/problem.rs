//! The ways in which a definition can be wrong.

/// The ways in which a definition can be wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum DefinitionProblem {
    /// The part before `@` names no type.
    UnknownType {
        /// The text before the `@`.
        found: String,
    },
    /// A second or later matcher has no type, or the old type `Y`.
    YamlInsideChain,
    /// Something follows a path that ends in a file's name.
    AfterFile,
    /// YAML files are named where only paths are built.
    YamlInPathMode,
}

impl DefinitionProblem {
    /// The problem with a part of a definition.
    pub(crate) fn in_words(&self, part: &str) -> String {
        match self {
            DefinitionProblem::UnknownType { found } if found.is_empty() => {
                "a type was expected before '@'".to_string()
            }
            DefinitionProblem::UnknownType { found } => format!("'{found}' is not a matcher type"),
            DefinitionProblem::YamlInsideChain if part.is_empty() => {
                "a matcher was expected".to_string()
            }
            DefinitionProblem::YamlInsideChain => {
                format!("'{part}' names YAML files, which only the first matcher of a chain can")
            }
            DefinitionProblem::AfterFile => {
                format!("'{part}' follows a file's name, which ends a chain")
            }
            DefinitionProblem::YamlInPathMode => {
                format!("'{part}' names YAML files where only paths are built")
            }
        }
    }
}
