//! The lines of a part's file.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use mapstack::share::Outcome;
use mapstack::value::Value;
use mapstack_fleet::Report;
use mapstack_report::fleet::{FormDocument, MissingKey, ShownMinion};
use mapstack_sandbox::protocol::Message as _;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::parts::message::Message;

/// The name of the format, with its version.
pub(crate) const FORMAT: &str = "mapstack fleet part 1";

/// A line.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum PartLine {
    /// The first: which part it is, and of what.
    Part(Header),
    /// Something that minions say, before the first that says it. It is referred to by its place among all of these.
    Message(Message),
    /// A minion.
    Minion(Record),
    /// Behind the last minion.
    End(End),
}

/// The part's number, and the work that it is a part of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Header {
    pub format: String,
    pub number: u64,
    pub parts: u64,
    pub run: Run,
}

/// The description of a run, the same in all parts of a fleet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Run {
    /// The version of the program.
    pub version: String,
    /// The number of minions in all parts.
    pub minions: usize,
    /// A digest of their ids, in order.
    pub ids: String,
    /// A digest of the options.
    pub options: String,
    /// The expression that selects minions.
    pub select: Option<String>,
    /// True if warnings are errors.
    pub strict: bool,
    /// The form of the output.
    pub form: FormDocument,
}

impl Run {
    /// A digest of the ids of all minions, in order.
    #[must_use]
    pub fn digest_of(ids: &[String]) -> String {
        let mut digest = Sha256::new();
        for id in ids {
            digest.update(id.as_bytes());
            digest.update([0]);
        }
        hex::encode(digest.finalize())
    }
}

/// A minion.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Record {
    /// Its position among all minions of the fleet.
    pub at: usize,
    pub id: String,
    /// The shown part; nothing if it is not selected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shown: Option<KeptResult>,
    /// The messages beside that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub said: Option<MessageNumbers>,
}

/// The shown part of a minion.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum KeptResult {
    Text(String),
    /// The task, and the value in the encoding that keeps Python's types.
    Values(Vec<(usize, Option<String>)>),
}

impl KeptResult {
    pub fn of(shown: ShownMinion) -> Self {
        match shown {
            ShownMinion::Text(text) => KeptResult::Text(text),
            ShownMinion::Values(values) => {
                let encoded = |value: Value| BASE64_STANDARD.encode(value.to_bytes());
                let values = values.into_iter();
                KeptResult::Values(
                    values
                        .map(|(task, value)| (task, value.map(encoded)))
                        .collect(),
                )
            }
        }
    }

    /// The shown part, where there are this many tasks.
    pub fn shown(self, tasks: usize) -> Result<ShownMinion, String> {
        let decoded = |text: String| -> Result<Value, String> {
            let bytes = BASE64_STANDARD.decode(text).map_err(|e| e.to_string())?;
            Value::from_bytes(&bytes).map_err(|e| e.to_string())
        };
        let one = |(task, value): (usize, Option<String>)| match task < tasks {
            true => Ok((task, value.map(decoded).transpose()?)),
            false => Err(format!("a value of task {task} of {tasks}")),
        };
        Ok(match self {
            KeptResult::Text(text) => ShownMinion::Text(text),
            KeptResult::Values(values) => {
                ShownMinion::Values(values.into_iter().map(one).collect::<Result<_, _>>()?)
            }
        })
    }
}

/// The messages of a minion beside what is shown, as numbers.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum MessageNumbers {
    /// Why nothing was computed.
    Failed(usize),
    /// Of each formula, why it failed and what it warns of.
    Formulas(Vec<(Option<usize>, Vec<usize>)>),
}

impl MessageNumbers {
    /// The line of a report, with the number that each message gets.
    pub fn of(report: &Report, mut number: impl FnMut(Message) -> usize) -> Self {
        let outcomes = match &report.outcomes {
            Err(error) => return MessageNumbers::Failed(number(Message::of(error.diagnostic()))),
            Ok(outcomes) => outcomes,
        };
        let mut of_one = |outcome: &Outcome| {
            let error = outcome.result.as_ref().err();
            let error = error.map(|error| number(Message::of(error.diagnostic())));
            let warnings = outcome.warnings.iter();
            let warnings = warnings.map(|warning| number(Message::of(warning)));
            (error, warnings.collect())
        };
        MessageNumbers::Formulas(outcomes.iter().map(|outcome| of_one(outcome)).collect())
    }
}

/// The end of a part, behind its last minion.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct End {
    /// The number of minions of the part.
    pub(crate) minions: usize,
    /// Of each key that was requested, whether a result has it, and why the first that lacks it does.
    pub(crate) keys: Vec<(bool, Option<ResultWithoutKey>)>,
    /// The names of the minions' grains, if none of them is selected.
    pub(crate) grains: Vec<String>,
    /// The answers of the file servers, as digests.
    pub(crate) seen: BTreeMap<String, String>,
}

impl End {
    /// The facts about keys that were requested, the names of the minions' grains if none of them is selected, and
    /// what was seen of the file servers.
    pub fn new(
        keys: Vec<(bool, Option<MissingKey>)>,
        grains: Vec<String>,
        seen: BTreeMap<String, String>,
    ) -> Self {
        let lacking = |missing: MissingKey| ResultWithoutKey {
            minion: missing.minion,
            formula: missing.formula,
            error: Message::of(missing.error.diagnostic()),
        };
        let keys = keys.into_iter();
        End {
            minions: 0,
            keys: keys
                .map(|(found, missing)| (found, missing.map(lacking)))
                .collect(),
            grains,
            seen,
        }
    }
}

/// A result that lacks a key.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ResultWithoutKey {
    pub minion: String,
    pub formula: usize,
    pub error: Message,
}
