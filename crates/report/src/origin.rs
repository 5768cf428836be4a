//! The places of values, for programs.

use mapstack::Place;
use mapstack::minion::{FactPlace, Part};
use mapstack_lineage::ValuePosition;
use serde::Serialize;

use crate::document::{Steps, TrueFlag};

/// A place in words.
pub(crate) fn place(spot: &ValuePosition) -> String {
    match spot {
        ValuePosition::File { computed: true, .. } => format!("{spot} (computed)"),
        _ => spot.to_string(),
    }
}

/// The place of a value.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum OriginRow {
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
    /// A fact, and what is known about where it was read.
    Fact {
        facts: FactPart,
        path: Steps,
        #[serde(flatten)]
        read: Option<FactOrigin>,
    },
    /// An argument, or a default of the function.
    Argument { argument: TrueFlag },
    /// An origin that is not known.
    Unknown { unknown: TrueFlag },
}

/// A part of a minion's facts; `config` if a value was merged from several.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum FactPart {
    Grains,
    Pillar,
    Opts,
    Config,
}

/// The place of a fact's look-up.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum FactOrigin {
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
    Id { id: TrueFlag },
    /// Salt has it built in.
    BuiltIn { built_in: TrueFlag },
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

impl From<&ValuePosition> for OriginRow {
    fn from(spot: &ValuePosition) -> Self {
        match spot {
            ValuePosition::File {
                place, computed, ..
            } => OriginRow::of_file(place, *computed),
            ValuePosition::Fact {
                part, path, place, ..
            } => OriginRow::Fact {
                facts: part.into(),
                path: path.iter().collect(),
                read: place.as_ref().and_then(FactOrigin::of),
            },
            ValuePosition::Argument => OriginRow::Argument { argument: TrueFlag },
            ValuePosition::Unknown => OriginRow::Unknown { unknown: TrueFlag },
        }
    }
}

impl OriginRow {
    /// A place in a file.
    pub fn of_file(place: &Place, computed: bool) -> Self {
        OriginRow::File {
            file: place.file.clone(),
            line: place.line(),
            column: place.column(),
            computed,
        }
    }
}

impl From<&Option<Part>> for FactPart {
    fn from(part: &Option<Part>) -> Self {
        match part {
            Some(Part::Grains) => FactPart::Grains,
            Some(Part::Pillar) => FactPart::Pillar,
            Some(Part::Opts) => FactPart::Opts,
            None => FactPart::Config,
        }
    }
}

impl FactOrigin {
    fn of(place: &FactPlace) -> Option<Self> {
        Some(match place {
            FactPlace::File(place) => FactOrigin::File {
                file: place.file.clone(),
                mark: place.mark.map(|mark| Mark {
                    line: mark.line,
                    column: mark.column,
                }),
            },
            FactPlace::Platform(platform) => FactOrigin::Platform { platform },
            FactPlace::Set => FactOrigin::Set { flag: Flag::Set },
            FactPlace::Id => FactOrigin::Id { id: TrueFlag },
            FactPlace::BuiltIn => FactOrigin::BuiltIn { built_in: TrueFlag },
            _ => return None,
        })
    }
}
