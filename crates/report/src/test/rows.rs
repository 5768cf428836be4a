//! Results for programs.

use mapstack_expect::{self as expect, CaseOutcome};
use serde::Serialize;

use super::{ShownDifference, TestReport};
use crate::document::{Data, Steps};
use crate::origin::OriginRow;
use crate::words::joined;

/// Formulas compared with what is expected of them.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Results<'r> {
    /// Cases that are as expected.
    as_expected: usize,
    /// Cases whose values differ.
    differ: usize,
    /// Cases that fail.
    fail: usize,
    /// Cases that were recorded.
    recorded: usize,
    /// Cases that were skipped.
    skipped: usize,
    cases: Vec<Case<'r>>,
}

/// The result of one expectation.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
struct Case<'r> {
    formula: &'r str,
    /// The suite of the formula, if it has suites.
    suite: Option<&'r str>,
    /// The minion or platform.
    name: &'r str,
    /// The file that has what is expected.
    file: String,
    status: Status,
    /// Why it fails or was skipped.
    reason: Option<String>,
    differences: Vec<Difference>,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
enum Status {
    #[serde(rename = "as expected")]
    AsExpected,
    Differs,
    Fails,
    Skipped,
    Recorded,
}

/// A value that is not the expected one.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
struct Difference {
    /// The path with : between its steps.
    key: String,
    path: Steps,
    what: TestSubject,
    expected: Option<Data>,
    /// Masked, if it is a secret.
    actual: Option<Data>,
    /// The place of the expected value.
    expected_origin: Option<OriginRow>,
    /// The place of the actual value.
    actual_origin: Option<OriginRow>,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
enum TestSubject {
    Missing,
    Unexpected,
    Changed,
}

impl<'r> From<&'r TestReport> for Results<'r> {
    fn from(report: &'r TestReport) -> Self {
        let counts = report.counts();
        Results {
            as_expected: counts.same,
            differ: counts.differ,
            fail: counts.fail,
            recorded: counts.written,
            skipped: counts.skipped,
            cases: report.cases.iter().map(|case| one(report, case)).collect(),
        }
    }
}

fn one<'r>(report: &'r TestReport, case: &'r expect::Case) -> Case<'r> {
    let (status, reason) = match &case.outcome {
        CaseOutcome::Same => (Status::AsExpected, None),
        CaseOutcome::Differs(_) => (Status::Differs, None),
        CaseOutcome::Fails(error) => (Status::Fails, Some(report.message(case, error))),
        CaseOutcome::Skipped(reason) => (Status::Skipped, Some(reason.clone())),
        CaseOutcome::Written { .. } => (Status::Recorded, None),
    };
    let differences = match &case.outcome {
        CaseOutcome::Differs(differences) => differences.as_slice(),
        _ => &[],
    };
    let (expectation, secrets) = (&case.expectation, report.secrets(case));
    Case {
        formula: &expectation.formula,
        suite: expectation.suite.as_ref().map(|(suite, _)| &**suite),
        name: &expectation.name,
        file: case.file(),
        status,
        reason,
        differences: differences
            .iter()
            .map(|one| Difference::of(one, report.shown(&secrets, one)))
            .collect(),
    }
}

impl Difference {
    fn of(difference: &expect::Difference, shown: ShownDifference) -> Self {
        let change = &difference.change;
        Difference {
            key: joined(&shown.path),
            path: shown.path.iter().collect(),
            what: match (&change.old, &change.new) {
                (None, _) => TestSubject::Unexpected,
                (_, None) => TestSubject::Missing,
                _ => TestSubject::Changed,
            },
            expected: shown.expected.map(Data),
            actual: shown.actual.map(Data),
            expected_origin: difference
                .expected_at
                .as_ref()
                .map(|place| OriginRow::of_file(place, false)),
            actual_origin: difference.actual_at.as_ref().map(OriginRow::from),
        }
    }
}
