//! The places of values, for programs.

use mapstack::Place;
use mapstack::minion::{FactPlace, Part};
use mapstack_lineage::Spot;
use serde::Serialize;

use crate::document::{Steps, True};

/// A place in words.
pub(crate) fn place(spot: &Spot) -> String {
    match spot {
        Spot::File { computed: true, .. } => format!("{spot} (computed)"),
        _ => spot.to_string(),
    }
}

/// The place of a value.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Origin {
    /// A place in a file.
    File {
        file: String,
        #[cfg_attr(feature = "schemas", schemars(range(min = 1)))]
        line: usize,
        /// In characters.
        #[cfg_attr(feature = "schemas", schemars(range(min = 1)))]
        column: usize,
        /// True if an expression or a tag is there.
        computed: bool,
    },
    /// A fact, and what is known of where it was read.
    Fact {
        facts: Facts,
        path: Steps,
        #[serde(flatten)]
        read: Option<Read>,
    },
    /// An argument, or a default of the function.
    Argument { argument: True },
    /// An origin that is not known.
    Unknown { unknown: True },
}

/// A part of a minion's facts; `config` if a value was merged from several.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Facts {
    Grains,
    Pillar,
    Opts,
    Config,
}

/// The place of a fact's look-up.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Read {
    /// In a file.
    File {
        file: String,
        #[serde(flatten)]
        mark: Option<Mark>,
    },
    /// From a built-in platform.
    Platform { platform: &'static str },
    /// In the command line.
    Set { flag: Flag },
    /// It is the minion's id, or follows from it.
    Id { id: True },
    /// Salt has it built in.
    BuiltIn { built_in: True },
}

/// A position in a text that still holds the fact.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Mark {
    #[cfg_attr(feature = "schemas", schemars(range(min = 1)))]
    line: u32,
    /// In characters.
    #[cfg_attr(feature = "schemas", schemars(range(min = 1)))]
    column: u32,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub enum Flag {
    #[serde(rename = "--set")]
    Set,
}

impl From<&Spot> for Origin {
    fn from(spot: &Spot) -> Self {
        match spot {
            Spot::File {
                place, computed, ..
            } => Origin::of_file(place, *computed),
            Spot::Fact {
                part, path, place, ..
            } => Origin::Fact {
                facts: part.into(),
                path: path.iter().collect(),
                read: place.as_ref().and_then(Read::of),
            },
            Spot::Argument => Origin::Argument { argument: True },
            Spot::Unknown => Origin::Unknown { unknown: True },
        }
    }
}

impl Origin {
    /// A place in a file.
    pub fn of_file(place: &Place, computed: bool) -> Self {
        Origin::File {
            file: place.file.clone(),
            line: place.line(),
            column: place.column(),
            computed,
        }
    }
}

impl From<&Option<Part>> for Facts {
    fn from(part: &Option<Part>) -> Self {
        match part {
            Some(Part::Grains) => Facts::Grains,
            Some(Part::Pillar) => Facts::Pillar,
            Some(Part::Opts) => Facts::Opts,
            None => Facts::Config,
        }
    }
}

impl Read {
    fn of(place: &FactPlace) -> Option<Self> {
        Some(match place {
            FactPlace::File(place) => Read::File {
                file: place.file.clone(),
                mark: place.mark.map(|mark| Mark {
                    line: mark.line,
                    column: mark.column,
                }),
            },
            FactPlace::Platform(platform) => Read::Platform { platform },
            FactPlace::Set => Read::Set { flag: Flag::Set },
            FactPlace::Id => Read::Id { id: True },
            FactPlace::BuiltIn => Read::BuiltIn { built_in: True },
            _ => return None,
        })
    }
}
