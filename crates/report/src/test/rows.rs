//! Results for programs.

use mapstack::secrets::Redacted;
use mapstack::value::{Key, Value};
use mapstack_expect::{Case, Difference, Outcome};
use mapstack_lineage::Spot;

use super::Report;
use crate::explain::rows::origin;
use crate::values::{number, object};
use crate::words::joined;

/// The results for programs.
pub fn rows(report: &Report) -> Value {
    let counts = report.counts();
    object([
        ("as_expected", number(counts.same)),
        ("differ", number(counts.differ)),
        ("fail", number(counts.fail)),
        ("recorded", number(counts.written)),
        ("skipped", number(counts.skipped)),
        (
            "cases",
            report.cases.iter().map(|case| one(report, case)).collect(),
        ),
    ])
}

fn one(report: &Report, case: &Case) -> Value {
    let (status, reason) = match &case.outcome {
        Outcome::Same => ("as expected", Value::None),
        Outcome::Differs(_) => ("differs", Value::None),
        Outcome::Fails(error) => ("fails", report.message(case, error).into()),
        Outcome::Skipped(reason) => ("skipped", reason.as_str().into()),
        Outcome::Written { .. } => ("recorded", Value::None),
    };
    let suite = case
        .expectation
        .suite
        .as_ref()
        .map_or(Value::None, |(suite, _)| suite.as_str().into());
    let secrets = report.secrets(case);
    let differences = match &case.outcome {
        Outcome::Differs(differences) => differences.as_slice(),
        _ => &[],
    };
    let differences = differences.iter().map(|difference| {
        let shown = report.shown(&secrets, difference);
        object([
            ("key", joined(&difference.change.path).into()),
            (
                "path",
                difference.change.path.iter().map(Key::to_value).collect(),
            ),
            ("what", what(difference).into()),
            (
                "expected",
                shown.expected.map_or(Value::None, Redacted::into_inner),
            ),
            (
                "actual",
                shown.actual.map_or(Value::None, Redacted::into_inner),
            ),
            ("expected_origin", place(difference)),
            (
                "actual_origin",
                difference.actual_at.as_ref().map_or(Value::None, origin),
            ),
        ])
    });
    object([
        ("formula", case.expectation.formula.as_str().into()),
        ("suite", suite),
        ("name", case.expectation.name.as_str().into()),
        ("file", case.file().into()),
        ("status", status.into()),
        ("reason", reason),
        ("differences", differences.collect()),
    ])
}

fn what(difference: &Difference) -> &'static str {
    match (&difference.change.old, &difference.change.new) {
        (None, _) => "unexpected",
        (_, None) => "missing",
        _ => "changed",
    }
}

fn place(difference: &Difference) -> Value {
    let spot = difference.expected_at.clone().map(|place| Spot::File {
        place,
        computed: false,
        secret: false,
    });
    spot.as_ref().map_or(Value::None, origin)
}
