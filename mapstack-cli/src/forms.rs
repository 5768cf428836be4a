//! The arguments for output that several verbs have.

use clap::{Args, ValueEnum};

/// The flags for printing data.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub struct Output {
    /// Output format
    #[arg(short = 'o', long = "output", visible_alias = "format", value_enum, default_value_t = Format::Yaml, value_name = "FORMAT")]
    pub format: Format,
    /// Print only the value under a key, with : between its parts
    #[arg(long, value_name = "KEY")]
    pub get: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// YAML that Salt's loader reads back to the same data
    Yaml,
    /// JSON in order; keys that are not strings become strings, as in Python
    Json,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ListingFormat {
    /// For people
    Text,
    /// For programs
    Json,
}
