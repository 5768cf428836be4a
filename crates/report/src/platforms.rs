//! The built-in platforms.

use mapstack::minion::Minion;
use mapstack::minion::platforms::Platform;
use mapstack::value::{Map, Value};

/// A platform's minion as a document.
pub fn document(minion: Minion) -> Value {
    let parts: [(&str, Value); 2] = [("id", minion.id), ("grains", minion.grains.into())];
    parts.into_iter().collect::<Map>().into()
}

/// The platforms for people.
pub fn text(platforms: &[Platform]) -> String {
    let widest = platforms
        .iter()
        .map(|platform| platform.name.len())
        .max()
        .unwrap_or_default();
    let line = |platform: &Platform| {
        let also = if platform.aliases.is_empty() {
            String::new()
        } else {
            format!("; also {}", platform.aliases.join(", "))
        };
        format!("{:widest$}  {}{also}\n", platform.name, platform.title)
    };
    platforms.iter().map(line).collect()
}

/// The platforms for programs.
pub fn rows(platforms: &[Platform]) -> Value {
    platforms
        .iter()
        .map(|platform| Value::from(row(platform)))
        .collect()
}

fn row(platform: &Platform) -> Map {
    let row: [(&str, Value); 3] = [
        ("platform", platform.name.into()),
        ("title", platform.title.into()),
        (
            "aliases",
            platform
                .aliases
                .iter()
                .map(|alias| Value::from(*alias))
                .collect(),
        ),
    ];
    row.into_iter().collect()
}
