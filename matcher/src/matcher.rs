//! One matcher of a definition.

use crate::invalid::{InvalidDefinition, without};
use crate::path::has_file_suffix;

/// One look-up of a chain. Every matcher has a text that reads back as the matcher.
///
/// ```
/// use mapstack_matcher::{Matcher, MatcherKind};
/// let matcher = Matcher::new(MatcherKind::Grains, "ip4!eth0")?.with_delimiter("!")?;
/// assert_eq!(matcher.to_string(), "G::!@ip4!eth0");
/// assert!(matcher.with_delimiter("@").is_err());
/// # Ok::<(), mapstack_matcher::InvalidDefinition>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Matcher {
    pub(crate) kind: MatcherKind,
    pub(crate) query: String,
    pub(crate) options: Vec<String>,
    pub(crate) delimiter: String,
    pub(crate) typed: bool,
}

impl Matcher {
    /// A matcher that is written with its type, without options, with steps separated by `:`.
    ///
    /// # Errors
    /// [`InvalidDefinition::Separator`] for a query with `|` or `@`.
    pub fn new(kind: MatcherKind, query: impl Into<String>) -> Result<Self, InvalidDefinition> {
        let query = without("query", query.into(), &['|', '@'])?;
        Ok(Matcher::unchecked(kind, query, true))
    }

    /// A matcher that is written as its query alone: a path if the query ends in `.yaml` or `.jinja`, else a
    /// configuration value.
    ///
    /// ```
    /// use mapstack_matcher::{Matcher, MatcherKind};
    /// assert_eq!(Matcher::untyped("defaults.yaml")?.kind(), MatcherKind::Static);
    /// assert_eq!(Matcher::untyped("roles")?.kind(), MatcherKind::Config);
    /// # Ok::<(), mapstack_matcher::InvalidDefinition>(())
    /// ```
    ///
    /// # Errors
    /// As [`Matcher::new`].
    pub fn untyped(query: impl Into<String>) -> Result<Self, InvalidDefinition> {
        let query = without("query", query.into(), &['|', '@'])?;
        Ok(Matcher::untyped_unchecked(query))
    }

    /// The same matcher with options instead of those it has.
    ///
    /// # Errors
    /// - [`InvalidDefinition::Untyped`] if it is written without a type
    /// - [`InvalidDefinition::Separator`] for an option with `,`, `:`, `|` or `@`
    /// - [`InvalidDefinition::EmptyOption`] for one empty option, which reads back as none
    pub fn with_options<T: Into<String>>(
        self,
        options: impl IntoIterator<Item = T>,
    ) -> Result<Self, InvalidDefinition> {
        let checked = |option: T| without("option", option.into(), &[',', ':', '|', '@']);
        let options = options
            .into_iter()
            .map(checked)
            .collect::<Result<Vec<_>, _>>()?;
        match (&self, &*options) {
            (Matcher { typed: false, .. }, _) => {
                Err(InvalidDefinition::Untyped { query: self.query })
            }
            (_, [only]) if only.is_empty() => Err(InvalidDefinition::EmptyOption),
            _ => Ok(Matcher { options, ..self }),
        }
    }

    /// The same matcher with another separator of steps.
    ///
    /// # Errors
    /// - [`InvalidDefinition::Untyped`] if it is written without a type
    /// - [`InvalidDefinition::EmptyDelimiter`]
    /// - [`InvalidDefinition::Separator`] for one with `|` or `@`, or with `:` and something else
    pub fn with_delimiter(self, delimiter: impl Into<String>) -> Result<Self, InvalidDefinition> {
        let delimiter = delimiter.into();
        let separators: &[char] = if delimiter == ":" {
            &['|', '@']
        } else {
            &[':', '|', '@']
        };
        let delimiter = without("delimiter", delimiter, separators)?;
        if !self.typed {
            return Err(InvalidDefinition::Untyped { query: self.query });
        }
        if delimiter.is_empty() {
            return Err(InvalidDefinition::EmptyDelimiter);
        }
        Ok(Matcher { delimiter, ..self })
    }

    pub(crate) fn unchecked(kind: MatcherKind, query: String, typed: bool) -> Self {
        Matcher {
            kind,
            query,
            options: Vec::new(),
            delimiter: ":".into(),
            typed,
        }
    }

    pub(crate) fn untyped_unchecked(query: String) -> Self {
        let kind = if query.ends_with(".yaml") || query.ends_with(".jinja") {
            MatcherKind::Static
        } else {
            MatcherKind::Config
        };
        Matcher::unchecked(kind, query, false)
    }

    /// The kind of look-up.
    #[must_use]
    pub fn kind(&self) -> MatcherKind {
        self.kind
    }

    /// The query.
    #[must_use]
    pub fn query(&self) -> &str {
        &self.query
    }

    /// Options; only `SUB` has a meaning.
    #[must_use]
    pub fn options(&self) -> &[String] {
        &self.options
    }

    /// The delimiter between the steps of the query.
    #[must_use]
    pub fn delimiter(&self) -> &str {
        &self.delimiter
    }

    /// True if it is written with its type.
    #[must_use]
    pub fn is_typed(&self) -> bool {
        self.typed
    }

    /// True if the result is nested below the query.
    #[must_use]
    pub fn has_sub(&self) -> bool {
        self.options.iter().any(|o| o == "SUB")
    }

    /// True if it is a path that ends in a file's name, which ends a chain.
    pub(crate) fn is_file(&self) -> bool {
        self.kind == MatcherKind::Static && has_file_suffix(&self.query)
    }
}

/// The kind of a matcher's look-up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MatcherKind {
    /// `C`: `config.get`.
    Config,
    /// `G`: grains.
    Grains,
    /// `I`: pillar.
    Pillar,
    /// `M`: the data merged so far.
    MapData,
    /// `U`: the caller's data.
    CustomData,
    /// `P`: nowhere; the query is a path.
    Static,
}

impl MatcherKind {
    /// Every kind.
    pub const ALL: [Self; 6] = [
        Self::Config,
        Self::Grains,
        Self::Pillar,
        Self::MapData,
        Self::CustomData,
        Self::Static,
    ];

    /// Its letter.
    #[must_use]
    pub fn letter(self) -> char {
        match self {
            Self::Config => 'C',
            Self::Grains => 'G',
            Self::Pillar => 'I',
            Self::MapData => 'M',
            Self::CustomData => 'U',
            Self::Static => 'P',
        }
    }

    /// The kind that a text is the letter of.
    pub(crate) fn of_letter(text: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|kind| text.strip_prefix(kind.letter()) == Some(""))
    }

    /// The data that it looks into, in words.
    #[must_use]
    pub fn described(self) -> &'static str {
        match self {
            Self::Config => "config.get",
            Self::Grains => "grains",
            Self::Pillar => "pillar",
            Self::MapData => "merged data",
            Self::CustomData => "custom data",
            Self::Static => "a path",
        }
    }
}
