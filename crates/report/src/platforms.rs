//! The built-in platforms.

use mapstack::minion::Minion;
use mapstack::minion::platforms::Platform;
use mapstack::value::{Map, Value};
use serde::Serialize;

/// A platform's minion as a document.
pub fn document(minion: Minion) -> Value {
    let parts: [(&str, Value); 2] = [("id", minion.id), ("grains", minion.grains.into())];
    parts.into_iter().collect::<Map>().into()
}

/// A built-in platform.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct PlatformRow {
    /// The name by which flags select it.
    platform: &'static str,
    title: &'static str,
    /// Other names that select it.
    aliases: &'static [&'static str],
}

/// The platforms, one after the other.
pub fn rows(platforms: &'static [Platform]) -> Vec<PlatformRow> {
    let row = |platform: &'static Platform| PlatformRow {
        platform: platform.name,
        title: platform.title,
        aliases: &platform.aliases,
    };
    platforms.iter().map(row).collect()
}

/// The platforms for people.
pub fn text(rows: &[PlatformRow]) -> String {
    let widest = rows.iter().map(|row| row.platform.len()).max();
    let widest = widest.unwrap_or_default();
    let line = |row: &PlatformRow| {
        let also = match row.aliases {
            [] => String::new(),
            aliases => format!("; also {}", aliases.join(", ")),
        };
        format!("{:widest$}  {}{also}\n", row.platform, row.title)
    };
    rows.iter().map(line).collect()
}
