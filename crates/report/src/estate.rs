//! The states that the minions of an estate get.

use serde::Serialize;

use crate::words::{count, some};

/// The states of a minion.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct StatesRow {
    /// The minion.
    pub minion: String,
    /// The sls in the order in which Salt renders them.
    pub sls: Vec<String>,
    /// The number of errors of its pillar.
    pub pillar_errors: usize,
    /// The problems that keep it from its states, a line each.
    pub problems: Vec<String>,
}

/// The number of problems of a minion that are named.
const NAMED: usize = 2;

/// The minions and their sls for people.
///
/// ```
/// use mapstack_report::estate::{StatesRow, text};
/// let row = |minion: &str, sls: &[&str]| StatesRow {
///     minion: minion.into(),
///     sls: sls.iter().map(|sls| (*sls).to_owned()).collect(),
///     pillar_errors: 0,
///     problems: Vec::new(),
/// };
/// let shown = text(&[row("db1", &["common"]), row("web1", &["common", "nginx"])]);
/// assert_eq!(shown, "db1   1 sls\nweb1  2 sls\n2 minions, 2 sls\n");
/// ```
#[must_use]
pub fn text(rows: &[StatesRow]) -> String {
    let widest = rows.iter().map(|row| row.minion.chars().count()).max();
    let widest = widest.unwrap_or_default();
    let line = |row: &StatesRow| {
        let mut line = format!("{:widest$}  {} sls", row.minion, row.sls.len());
        if row.pillar_errors > 0 {
            line.push_str(&format!(
                "; its pillar has {}",
                count(row.pillar_errors, "error")
            ));
        }
        if !row.problems.is_empty() {
            let named: Vec<&String> = row.problems.iter().collect();
            line.push_str(&format!("; {}", some(&named, NAMED)));
        }
        line.push('\n');
        line
    };
    let mut all: Vec<&String> = rows.iter().flat_map(|row| &row.sls).collect();
    all.sort();
    all.dedup();
    let text: String = rows.iter().map(line).collect();
    format!("{text}{}, {} sls\n", count(rows.len(), "minion"), all.len())
}
