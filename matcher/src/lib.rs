//! Data-source definitions, the small language in which a formula says where its configuration
//! comes from: text to typed [`Definition`] and back.
//!
//! ```
//! use mapstack_matcher::{Definition, MatcherKind};
//! let definition: Definition = "Y!G@os_family|I@roles".parse().unwrap();
//! assert!(definition.yaml);
//! assert_eq!(definition.matchers[1].kind, MatcherKind::Pillar);
//! assert_eq!(definition.to_string(), "Y!G@os_family|I@roles");
//! let error = "y!G@os".parse::<Definition>().unwrap_err();
//! assert_eq!(error.suggestion(), Some("Y!G@os"));
//! ```
//!
//! # Syntax
//!
//! ```text
//! definition := ["Y!"] single *("|" single)
//! single     := [head "@"] query *("@" ignored)
//! head       := type [":" options [":" delimiter *(":" ignored)]]
//! options    := option *("," option)
//! type       := "C" | "G" | "I" | "M" | "U" | "P" | "Y"
//! ```
//!
//! Nothing is trimmed and nothing can be escaped: `|` and `@` cannot stand in a query. The pieces
//! marked *ignored* are ignored by the reference, too. A delimiter of `:` is what an empty one
//! means, and what a fourth, empty piece of the head forces (`C:SUB::@x`).
//!
//! A definition leads to YAML files if it begins with `Y!`, if its first type is the old `Y`
//! (`Y:G@os`), or if its first single has no type at all (`roles`, `defaults.yaml`). All others are
//! data themselves.
//!
//! The crate does not know about values, files, or where facts live.

mod display;
mod error;
mod parse;
mod path;

use std::str::FromStr;

pub use error::{ParseError, Problem};
pub use path::{has_file_suffix, join, variants};

/// A parsed data-source definition.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Definition {
    /// The chain, never empty.
    pub matchers: Vec<Matcher>,
    /// Whether it leads to files that are read, rather than being data itself.
    pub yaml: bool,
    /// How it was spelt.
    pub spelling: Spelling,
}

/// How a definition says that it leads to files, or that it does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Spelling {
    /// `Y!…`
    Prefix,
    /// `Y:G@…`, deprecated in favour of the prefix.
    Legacy,
    /// No prefix and no `Y`.
    Plain,
}

/// One look-up of a chain.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Matcher {
    /// Where to look.
    pub kind: MatcherKind,
    /// What to look for.
    pub query: String,
    /// Options; only `SUB` has a meaning.
    pub options: Vec<String>,
    /// What separates the steps of the query.
    pub delimiter: String,
    /// Whether it was written without a type.
    pub bare: bool,
}

impl Matcher {
    /// Whether the result is nested below the query.
    #[must_use]
    pub fn has_sub(&self) -> bool {
        self.options.iter().any(|o| o == "SUB")
    }
}

/// Where a matcher looks.
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
    pub const ALL: [Self; 6] =
        [Self::Config, Self::Grains, Self::Pillar, Self::MapData, Self::CustomData, Self::Static];

    /// The letter that stands for it.
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

    /// What it looks into, in words.
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

/// Where a definition stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Mode {
    /// Among the sources of `map.data` or `map.stack`.
    Layer,
    /// Among the matchers of `map.tofs`, which only build paths: nothing there may name YAML files.
    Path,
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
        parse::definition(text, mode)
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
}

impl FromStr for Definition {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        Self::parse(text, Mode::Layer)
    }
}
