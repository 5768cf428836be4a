//! Mistakes in a definition, and how to repair them.

use std::ops::Range;

use crate::parse::Fault;
use crate::problem::DefinitionProblem;
use crate::{MatcherKind, Mode};

/// A definition that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.message())]
pub struct ParseError {
    text: String,
    span: Range<usize>,
    problem: DefinitionProblem,
    suggestion: Option<String>,
}

impl ParseError {
    /// The fault must be one of the text.
    pub(crate) fn new(text: &str, mode: Mode, Fault { at, problem }: Fault<'_>) -> Self {
        let start = (at.as_ptr() as usize)
            .wrapping_sub(text.as_ptr() as usize)
            .min(text.len());
        // A missing type has no text: mark the character in its place.
        let length = match &problem {
            DefinitionProblem::UnknownType { found } if found.is_empty() => {
                text[start..].chars().next().map_or(0, char::len_utf8)
            }
            _ => at.len(),
        };
        let span = start..(start + length).min(text.len());
        let suggestion = suggest(text, &span, &problem, mode);
        ParseError {
            text: text.into(),
            span,
            problem,
            suggestion,
        }
    }

    /// The problem.
    #[must_use]
    pub fn problem(&self) -> &DefinitionProblem {
        &self.problem
    }

    /// The definition.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The bytes concerned.
    #[must_use]
    pub fn span(&self) -> Range<usize> {
        self.span.clone()
    }

    /// The column in characters, from 1.
    #[must_use]
    pub fn column(&self) -> usize {
        self.text[..self.span.start].chars().count() + 1
    }

    /// A definition that was probably meant.
    #[must_use]
    pub fn suggestion(&self) -> Option<&str> {
        self.suggestion.as_deref()
    }

    /// The advice.
    #[must_use]
    pub fn help(&self) -> Option<String> {
        if let Some(suggestion) = &self.suggestion {
            return Some(format!("did you mean {suggestion}?"));
        }
        Some(match &self.problem {
            DefinitionProblem::UnknownType { .. } => {
                let kinds: Vec<String> =
                    MatcherKind::ALL.iter().map(|k| format!("{} ({})", k.letter(), k.described())).collect();
                format!("types are {}", kinds.join(", "))
            }
            DefinitionProblem::YamlInsideChain => {
                "only the first matcher of a chain may leave out its type; write C@… for a configuration value".into()
            }
            DefinitionProblem::AfterFile => "put the file's name last".into(),
            DefinitionProblem::YamlInPathMode => {
                "matchers of files_switch only build paths; write a type such as G@ or P@".into()
            }
        })
    }

    /// The exception class with which the reference refuses the definition.
    #[must_use]
    pub fn reference_class(&self) -> &'static str {
        match self.problem {
            DefinitionProblem::UnknownType { .. } => "KeyError",
            DefinitionProblem::YamlInsideChain
            | DefinitionProblem::AfterFile
            | DefinitionProblem::YamlInPathMode => "ValueError",
        }
    }

    fn message(&self) -> String {
        let what = self.problem.in_words(&self.text[self.span.clone()]);
        format!(
            "cannot read the source definition '{}': column {}: {what}",
            self.text,
            self.column()
        )
    }
}

/// Small repairs, of which the first that parses is offered.
fn suggest(
    text: &str,
    span: &Range<usize>,
    problem: &DefinitionProblem,
    mode: Mode,
) -> Option<String> {
    let part = &text[span.clone()];
    let replaced = |with: &str| format!("{}{with}{}", &text[..span.start], &text[span.end..]);
    let candidates = match problem {
        DefinitionProblem::UnknownType { found } => {
            let mut candidates = Vec::new();
            if let Some(rest) = text.strip_prefix("y!") {
                candidates.push(format!("Y!{rest}"));
            }
            if found.starts_with("Y!") {
                // A prefix in the middle of a chain, or twice.
                candidates.push(format!("Y!{}", text.replace("Y!", "")));
            }
            candidates.push(text.split('|').map(str::trim).collect::<Vec<_>>().join("|"));
            let trimmed = found.trim().trim_start_matches(['!', ' ']);
            candidates.push(replaced(trimmed));
            candidates.push(replaced(&trimmed.to_uppercase()));
            candidates
        }
        DefinitionProblem::YamlInsideChain => {
            let bare = !part.contains('@') && !part.is_empty();
            let typed = part.rsplit(':').next().filter(|_| part.starts_with("Y:"));
            match (bare, typed) {
                (true, _) if part.ends_with(".yaml") || part.ends_with(".jinja") => {
                    vec![replaced(&format!("P@{part}"))]
                }
                (true, _) => vec![replaced(&format!("C@{part}"))],
                (false, Some(typed)) => vec![replaced(typed)],
                (false, None) if part.is_empty() => {
                    vec![text.replace("||", "|").trim_matches('|').to_string()]
                }
                (false, None) => vec![replaced(&part.replacen("Y@", "C@", 1))],
            }
        }
        DefinitionProblem::AfterFile => Vec::new(),
        DefinitionProblem::YamlInPathMode => match text.strip_prefix("Y!") {
            Some(rest) if rest.contains('@') => vec![rest.to_string()],
            Some(rest) => vec![format!("C@{rest}")],
            None if part.starts_with("Y:") => vec![replaced(&part[2..])],
            None if part.contains('@') => vec![replaced(&part.replacen("Y@", "C@", 1))],
            None => vec![replaced(&format!("P@{part}"))],
        },
    };
    let parses = |candidate: &String| {
        candidate != text && !candidate.is_empty() && crate::parse::read(candidate, mode).is_ok()
    };
    candidates.into_iter().find(parses)
}
