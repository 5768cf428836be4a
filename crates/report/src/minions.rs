//! The minions of an estate.

use mapstack::minion::platforms::Platform;
use serde::Serialize;

/// A minion of an estate.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct MinionRow {
    /// The id.
    pub id: String,
    /// The built-in platform whose grains it is given.
    pub platform: String,
    /// Grains that it has beside those of the platform.
    pub grains: Vec<String>,
    /// The source that names it.
    pub from: String,
    /// True if it was made up for a target: no such minion is known.
    pub made_up: bool,
}

impl MinionRow {
    /// A built-in platform in place of the minions of an estate.
    #[must_use]
    pub fn of_platform(platform: &Platform) -> Self {
        MinionRow {
            id: platform.name.into(),
            platform: platform.name.into(),
            grains: Vec::new(),
            from: "a built-in platform".into(),
            made_up: true,
        }
    }
}

/// The minions for people.
///
/// ```
/// use mapstack_report::minions::{MinionRow, text};
/// let row = MinionRow {
///     id: "web-1".into(),
///     platform: "debian-12".into(),
///     grains: vec!["roles".into()],
///     from: "salt/top.sls:3".into(),
///     made_up: true,
/// };
/// assert_eq!(text(&[row]), "web-1  as debian-12, with roles  salt/top.sls:3, made up\n");
/// ```
#[must_use]
pub fn text(rows: &[MinionRow]) -> String {
    let assumed = |row: &MinionRow| {
        let with = match row.grains.is_empty() {
            true => String::new(),
            false => format!(", with {}", row.grains.join(", ")),
        };
        format!("as {}{with}", row.platform)
    };
    let widest =
        |width: &dyn Fn(&MinionRow) -> usize| rows.iter().map(width).max().unwrap_or_default();
    let of_id = widest(&|row| row.id.chars().count());
    let of_assumed = widest(&|row| assumed(row).chars().count());
    let line = |row: &MinionRow| {
        let made_up = if row.made_up { ", made up" } else { "" };
        format!(
            "{:of_id$}  {:of_assumed$}  {}{made_up}\n",
            row.id,
            assumed(row),
            row.from
        )
    };
    rows.iter().map(line).collect()
}
