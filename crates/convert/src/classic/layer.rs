//! Layers that a map is made of, as far as they are known.

use super::stop::Stop;
use crate::table::{Block, Row};

/// A layer of a map.
#[derive(Debug, Clone)]
pub(crate) enum Layer {
    /// Values of every minion, and where they were.
    Always(Block, Origin),
    /// The values that a grain picks.
    ByGrain {
        grain: String,
        rows: Vec<Row>,
        origin: Origin,
    },
    /// A table that stays as it is: a layer picks from it.
    Left(LeftTable),
    /// The result of a source definition.
    Raw(String),
}

/// A table that stays as it is.
#[derive(Debug, Clone)]
pub(crate) struct LeftTable {
    /// The text of the layer that picks from it.
    pub text: String,
    pub origin: Origin,
    /// The reason for which it is not layers.
    pub why: Stop,
}

/// The place of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Origin {
    /// A file of the formula.
    File(String),
    /// The map itself.
    Map,
    /// The entries of a table, which all have it.
    Entries,
}

impl Layer {
    /// The same below keys; nothing of what is looked up.
    pub fn below(self, keys: &[String]) -> Option<Self> {
        Some(match self {
            Layer::Always(block, origin) => Layer::Always(block.below(keys), origin),
            Layer::ByGrain {
                grain,
                rows,
                origin,
            } => {
                let below = |row: Row| Row {
                    key: row.key,
                    block: row.block.below(keys),
                };
                Layer::ByGrain {
                    grain,
                    rows: rows.into_iter().map(below).collect(),
                    origin,
                }
            }
            Layer::Left(_) | Layer::Raw(_) => return None,
        })
    }
}
