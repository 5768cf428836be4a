//! Layers that a map is made of, as far as they are known.

use std::collections::HashSet;

use mapstack::value::{Key, Value};
use mapstack_salt_jinja::ast::Span;

use super::stop::Obstacle;
use crate::table::{Block, TableRow};

/// A layer of a map.
#[derive(Debug, Clone)]
pub(crate) enum MapLayer {
    /// Values of every minion, and where they were.
    Always(Block, TablePlace),
    /// The values that a grain picks.
    ByGrain {
        grain: String,
        rows: Vec<TableRow>,
        origin: TablePlace,
    },
    /// A table that stays as it is: a layer picks from it.
    Left(LeftTable),
    /// The result of a source definition.
    Raw(String),
    /// The result of a source definition, whose keys replace those of the layers below.
    Overwriting(String),
}

/// A table that stays as it is.
#[derive(Debug, Clone)]
pub(crate) struct LeftTable {
    /// The text of the layer that picks from it.
    pub text: String,
    pub origin: TablePlace,
    /// The reason for which it is not layers.
    pub why: Obstacle,
}

/// The place of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TablePlace {
    /// A file of the formula.
    File(String),
    /// The map itself, with the name that is set to the table; without one, it is not known yet.
    Map(String),
    /// The entries of a table, which all have it.
    Entries,
}

impl TablePlace {
    /// The map itself.
    pub fn map() -> Self {
        TablePlace::Map(String::new())
    }

    /// A fault in the table's text.
    pub fn stop(&self, why: &str, span: Span) -> Obstacle {
        match self {
            TablePlace::File(path) => Obstacle::new(format!("{path}: {why}"), span),
            TablePlace::Map(_) | TablePlace::Entries => {
                Obstacle::new(format!("the table: {why}"), span)
            }
        }
    }
}

impl MapLayer {
    /// Say the name that is set to a table of the map.
    pub fn name(&mut self, name: &str) {
        let origin = match self {
            MapLayer::Always(_, origin) | MapLayer::ByGrain { origin, .. } => origin,
            MapLayer::Left(table) => &mut table.origin,
            MapLayer::Raw(_) | MapLayer::Overwriting(_) => return,
        };
        match origin {
            TablePlace::Map(own) if own.is_empty() => name.clone_into(own),
            _ => {}
        }
    }

    /// The same below keys; nothing of what is looked up.
    pub fn below(self, keys: &[String]) -> Option<Self> {
        Some(match self {
            MapLayer::Always(block, origin) => MapLayer::Always(block.below(keys), origin),
            MapLayer::ByGrain {
                grain,
                rows,
                origin,
            } => {
                let below = |row: TableRow| TableRow {
                    key: row.key,
                    block: row.block.below(keys),
                };
                MapLayer::ByGrain {
                    grain,
                    rows: rows.into_iter().map(below).collect(),
                    origin,
                }
            }
            MapLayer::Left(_) | MapLayer::Raw(_) | MapLayer::Overwriting(_) => return None,
        })
    }
}

/// Layers whose keys replace those of the layers below, where it makes a difference: where both may have mappings.
pub(crate) fn overwriting(below: &[MapLayer], layers: Vec<MapLayer>) -> Vec<MapLayer> {
    let nested: HashSet<Key> = below
        .iter()
        .flat_map(blocks)
        .flat_map(nested_keys)
        .collect();
    if nested.is_empty() {
        return layers;
    }
    let meets = |block: &Block| nested_keys(block).iter().any(|key| nested.contains(key));
    let marked = |block: Block| Block {
        overwrites: meets(&block),
        ..block
    };
    let changed = layers.into_iter().map(|layer| match layer {
        MapLayer::Always(block, origin) => MapLayer::Always(marked(block), origin),
        MapLayer::ByGrain {
            grain,
            rows,
            origin,
        } => {
            let marked = |row: TableRow| TableRow {
                key: row.key,
                block: marked(row.block),
            };
            MapLayer::ByGrain {
                grain,
                rows: rows.into_iter().map(marked).collect(),
                origin,
            }
        }
        MapLayer::Raw(definition) => MapLayer::Overwriting(definition),
        other => other,
    });
    changed.collect()
}

/// The blocks of a layer.
fn blocks(layer: &MapLayer) -> Vec<&Block> {
    match layer {
        MapLayer::Always(block, _) => vec![block],
        MapLayer::ByGrain { rows, .. } => rows.iter().map(|row| &row.block).collect(),
        MapLayer::Left(_) | MapLayer::Raw(_) | MapLayer::Overwriting(_) => Vec::new(),
    }
}

/// The keys of a block whose values are mappings with something in them.
fn nested_keys(block: &Block) -> Vec<Key> {
    match &block.value {
        Some(value) => {
            let is_nested = |value: &Value| matches!(value, Value::Map(map) if !map.is_empty());
            let entries = value.as_map().into_iter().flatten();
            let nested = entries.filter(|(_, value)| is_nested(value));
            nested.map(|(key, _)| key.clone()).collect()
        }
        // A template computes some of its values, on lines of their own.
        None => {
            let lines: Vec<&str> = block.body.lines().collect();
            let nested = lines.windows(2).filter(|two| {
                let after = two[1].trim_start();
                two[1].starts_with(' ') && !after.starts_with("- ") && !two[0].starts_with(' ')
            });
            let keys = nested.filter_map(|two| two[0].strip_suffix(':'));
            keys.map(|key| Key::from(key.trim_matches(['"', '\''])))
                .collect()
        }
    }
}
