//! The sls that are left out of the states of a minion, since Salt refuses them.

use std::fmt::Write as _;

use mapstack::value::{Map, Value};
use mapstack::{Diagnostic, Error};
use mapstack_fleet::by_reason;
use mapstack_states::LeftOut;
use serde::Serialize;

use crate::terminal::printable;

/// An sls that is left out.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct LeftOutRow {
    /// The id of the minion.
    pub minion: String,
    /// The saltenv.
    saltenv: String,
    /// The name.
    pub sls: String,
    /// The reasons for which Salt refuses its states.
    errors: Vec<String>,
}

impl LeftOutRow {
    /// An sls that a minion's states are without. Texts about errors have no secrets.
    #[must_use]
    pub fn new(minion: &str, left_out: &LeftOut, redact: &dyn Fn(&str) -> String) -> Self {
        // The advice is beside the excerpt of the file, in the message itself.
        let shown = |error: &Error| {
            let diagnostic = error.diagnostic().clone();
            Error::of(Diagnostic {
                help: None,
                ..diagnostic
            })
        };
        let errors = left_out.errors.iter().map(shown);
        LeftOutRow {
            minion: minion.into(),
            saltenv: left_out.saltenv.clone(),
            sls: left_out.name.clone(),
            errors: errors.map(|error| redact(&error.to_string())).collect(),
        }
    }

    fn data(&self) -> Value {
        let errors: Value = self.errors.iter().map(String::as_str).collect();
        let entries = [
            ("saltenv", Value::from(&*self.saltenv)),
            ("sls", Value::from(&*self.sls)),
            ("errors", errors),
        ];
        Value::from(Map::from_iter(entries))
    }
}

/// The states of a minion below the sls that are left out, which sets them apart from what Salt prints.
#[must_use]
pub fn document(rows: &[LeftOutRow], states: Value) -> Value {
    let left_out: Value = rows.iter().map(LeftOutRow::data).collect();
    Value::from(Map::from_iter([("left_out", left_out), ("states", states)]))
}

/// The sls that are left out of a minion's states, a line for each reason.
#[must_use]
pub fn listing(rows: &[LeftOutRow]) -> String {
    let left_out = match rows.len() {
        0 => return String::new(),
        1 => "1 sls is left out; with it, Salt runs no state".to_owned(),
        several => format!("{several} sls are left out; with them, Salt runs no state"),
    };
    let mut text = format!("{left_out}\n");
    let errors = rows.iter().flat_map(|row| {
        let errors = row.errors.iter();
        errors.map(|error| (row.sls.as_str(), error))
    });
    for (error, sls) in by_reason(errors) {
        let error = printable(error).replace('\n', " ");
        let _ = writeln!(text, "  {}: {error}", printable(&sls.join(", ")));
    }
    text
}
