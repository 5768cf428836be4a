//! A whole definition.

use std::str::FromStr;

use crate::error::ParseError;
use crate::invalid::InvalidDefinition;
use crate::mode::{Mode, Spelling};
use crate::{Matcher, MatcherKind, chain, parse};

/// A data-source definition. Every definition has a text that reads back as the definition, in its [`Mode`].
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Definition {
    /// Never empty.
    pub(crate) matchers: Vec<Matcher>,
    pub(crate) spelling: Spelling,
    pub(crate) mode: Mode,
}

impl Definition {
    /// Parse a definition.
    ///
    /// # Errors
    /// - an unknown type (`X@os`, `g@os`, `@os`)
    /// - a second or later matcher without a type or with the old type `Y` (`os|roles`)
    /// - anything after a path that ends in a file's name (`P@x.yaml|G@os`)
    /// - in [`Mode::Path`], whatever names YAML files
    pub fn parse(text: &str, mode: Mode) -> Result<Self, ParseError> {
        parse::read(text, mode).map_err(|fault| ParseError::new(text, mode, fault))
    }

    /// A definition of matchers.
    ///
    /// ```
    /// use mapstack_matcher::{Definition, Matcher, MatcherKind, Mode, Spelling};
    /// let chain = [Matcher::new(MatcherKind::Static, "os")?, Matcher::new(MatcherKind::Grains, "os_family")?];
    /// let definition = Definition::new(chain, Spelling::Prefix, Mode::Layer)?;
    /// assert_eq!(definition.to_string(), "Y!P@os|G@os_family");
    /// # Ok::<(), mapstack_matcher::InvalidDefinition>(())
    /// ```
    ///
    /// # Errors
    /// [`InvalidDefinition`] for what cannot be written: no matchers, what [`Definition::parse`] refuses, the old
    /// spelling without a type or with options, or a first query that reads as the prefix `Y!`.
    pub fn new(
        matchers: impl IntoIterator<Item = Matcher>,
        spelling: Spelling,
        mode: Mode,
    ) -> Result<Self, InvalidDefinition> {
        let matchers: Vec<Matcher> = matchers.into_iter().collect();
        let first = matchers.first().ok_or(InvalidDefinition::NoMatchers)?;
        let misfit = |matcher: &Matcher, problem| InvalidDefinition::Chain {
            matcher: matcher.to_string(),
            problem,
        };
        if spelling == Spelling::Legacy && !first.is_typed() {
            return Err(InvalidDefinition::Untyped {
                query: first.query.clone(),
            });
        }
        if spelling == Spelling::Legacy && !first.options.is_empty() {
            return Err(InvalidDefinition::LegacyOptions);
        }
        if spelling == Spelling::Plain && !first.is_typed() && first.query.starts_with("Y!") {
            return Err(InvalidDefinition::Prefix {
                query: first.query.clone(),
            });
        }
        chain::begins(first, spelling, mode).map_err(|problem| misfit(first, problem))?;
        for (previous, next) in matchers.iter().zip(&matchers[1..]) {
            chain::stands_alone(next, mode).map_err(|problem| misfit(next, problem))?;
            chain::follows(previous, next, mode).map_err(|problem| misfit(next, problem))?;
        }
        Ok(Definition {
            matchers,
            spelling,
            mode,
        })
    }

    /// The chain, never empty.
    #[must_use]
    pub fn matchers(&self) -> &[Matcher] {
        &self.matchers
    }

    /// True if it leads to files that are read, rather than being data itself.
    #[must_use]
    pub fn leads_to_files(&self) -> bool {
        match self.spelling {
            Spelling::Prefix | Spelling::Legacy => true,
            // In paths a matcher without a type is a configuration value and nothing more.
            Spelling::Plain => {
                self.mode == Mode::Layer && self.matchers.first().is_some_and(|m| !m.is_typed())
            }
        }
    }

    /// The spelling.
    #[must_use]
    pub fn spelling(&self) -> Spelling {
        self.spelling
    }

    /// The place that the definition is read from.
    #[must_use]
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// The same definition without deprecated spelling: `Y:G@os` becomes `Y!G@os`.
    #[must_use]
    pub fn modern(&self) -> Self {
        let mut modern = self.clone();
        if modern.spelling == Spelling::Legacy {
            modern.spelling = Spelling::Prefix;
        }
        modern
    }

    /// The definition in words, a line per matcher.
    ///
    /// ```
    /// let definition: mapstack_matcher::Definition = "I:SUB@web:roles".parse()?;
    /// assert_eq!(
    ///     definition.describe(),
    ///     "is data itself\n1. 'web:roles' from pillar, steps separated by ':', options SUB"
    /// );
    /// # Ok::<(), mapstack_matcher::ParseError>(())
    /// ```
    #[must_use]
    pub fn describe(&self) -> String {
        let kind = match self.leads_to_files() {
            true => "leads to YAML files below each parameter directory",
            false => "is data itself",
        };
        let mut lines = vec![kind.to_string()];
        for (i, matcher) in self.matchers.iter().enumerate() {
            let query = &matcher.query;
            let mut line = match matcher.kind {
                MatcherKind::Static => format!("the path '{query}'"),
                kind => format!(
                    "'{query}' from {}, steps separated by '{}'",
                    kind.described(),
                    matcher.delimiter
                ),
            };
            if !matcher.options.is_empty() {
                line.push_str(&format!(", options {}", matcher.options.join(", ")));
            }
            lines.push(format!("{}. {line}", i + 1));
        }
        lines.join("\n")
    }
}

impl FromStr for Definition {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        Self::parse(text, Mode::Layer)
    }
}
