//! Why a definition cannot be built.

use crate::problem::DefinitionProblem;

/// Parts of a definition that no text expresses.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidDefinition {
    /// A chain of no matchers.
    #[error("a definition needs at least one matcher")]
    NoMatchers,
    /// A text has a character that separates the parts of a definition.
    #[error(
        "the {part} '{text}' has a '{separator}', which separates the parts of a definition; nothing escapes it"
    )]
    Separator {
        /// The part of a definition that the text is.
        part: &'static str,
        /// The text.
        text: String,
        /// The character.
        separator: char,
    },
    /// Options that are one empty text.
    #[error("a single empty option reads back as no option; leave it out")]
    EmptyOption,
    /// A delimiter without characters.
    #[error("the delimiter is empty, which reads back as ':'; write ':'")]
    EmptyDelimiter,
    /// Only a matcher with a type can have options, a delimiter, or the old spelling.
    #[error(
        "the matcher '{query}' is written without a type, so it has no place for options, delimiters or a 'Y:'"
    )]
    Untyped {
        /// Its query.
        query: String,
    },
    /// The old spelling has no place for options.
    #[error("the old spelling 'Y:' has no place for options; write the prefix 'Y!'")]
    LegacyOptions,
    /// A query at the beginning of a definition that would be read as the prefix.
    #[error("the query '{query}' begins as the prefix 'Y!' does; give the matcher a type")]
    Prefix {
        /// The query.
        query: String,
    },
    /// The matchers do not form a chain.
    #[error("{}", problem.in_words(matcher))]
    Chain {
        /// The matcher that does not fit.
        matcher: String,
        /// Why.
        problem: DefinitionProblem,
    },
}

/// A text, if it has none of some separators.
pub(crate) fn without(
    part: &'static str,
    text: String,
    separators: &[char],
) -> Result<String, InvalidDefinition> {
    match text.chars().find(|c| separators.contains(c)) {
        Some(separator) => Err(InvalidDefinition::Separator {
            part,
            text,
            separator,
        }),
        None => Ok(text),
    }
}
