//! Results of recorded expectations.

mod folded;
mod junit;
mod rows;
mod text;

use std::collections::HashSet;

use mapstack::secrets::{Redacted, Secrets};
use mapstack::value::{Key, Value};
use mapstack::{Diagnostic, Error, message_text};
use mapstack_expect::{Case, Counts, Difference};
use mapstack_fleet::Masking;

use crate::origin::place;
use crate::words::shown_path;
pub use junit::junit;
pub use rows::Results;
pub use text::text;

/// Everything that was looked at.
pub struct TestReport {
    /// The result of each expectation, by formula.
    pub cases: Vec<Case>,
    /// The values that are kept back.
    pub masking: Masking,
}

/// A difference as it is shown.
struct ShownDifference {
    /// The path of the value; templates may have made its keys of secrets.
    path: Vec<Key>,
    expected: Option<Redacted<Value>>,
    actual: Option<Redacted<Value>>,
    expected_at: Option<String>,
    actual_at: Option<String>,
}

impl TestReport {
    fn secrets(&self, case: &Case) -> Secrets {
        self.masking.of(&case.minion).derived(&case.secret_texts)
    }

    /// A difference without secrets.
    fn shown(&self, secrets: &Secrets, difference: &Difference) -> ShownDifference {
        let shown = |value: &Option<Value>| {
            let path = &difference.change.path;
            let is_secret = |path: &[Key]| difference.secret.contains(path);
            let redacted = |value| secrets.redact_data(path, value, &is_secret);
            value.as_ref().map(redacted)
        };
        ShownDifference {
            path: shown_path(&difference.change.path, secrets),
            expected: shown(&difference.change.old),
            actual: shown(&difference.change.new),
            expected_at: difference.expected_at.as_ref().map(ToString::to_string),
            actual_at: difference.actual_at.as_ref().map(place),
        }
    }

    /// The failures, each once, without secrets. A note lists the cases of a failure if there are several.
    pub fn failures(&self) -> impl Iterator<Item = Redacted<Error>> {
        let failures = folded::failures(self).into_iter();
        failures.map(
            |failure| match (folded::concerned(&failure.cases), &*failure.cases) {
                ((formulas, Some(on)), [first, ..]) => {
                    let noted = failure.error.clone().note(format!("{formulas} {on}"));
                    self.failure(first, &noted)
                }
                _ => failure.redacted,
            },
        )
    }

    /// A failure without secrets, in the excerpt of a file neither.
    fn failure(&self, case: &Case, error: &Error) -> Redacted<Error> {
        self.secrets(case).redact(error)
    }

    /// A failure in one line, without secrets.
    fn message(&self, case: &Case, error: &Error) -> String {
        message_text(&error.to_string(), &self.secrets(case))
    }

    /// The warnings of all runs, each once, without secrets.
    pub fn warnings(&self) -> Vec<Redacted<Diagnostic>> {
        let mut seen = HashSet::new();
        let mut all = Vec::new();
        for case in self.cases.iter().filter(|case| !case.warnings.is_empty()) {
            let secrets = self.secrets(case);
            let scrubbed = case.warnings.iter().map(|warning| secrets.redact(warning));
            all.extend(scrubbed.filter(|warning| seen.insert(warning.to_string())));
        }
        all
    }

    /// The number of cases of each kind.
    pub fn counts(&self) -> Counts {
        Counts::of(&self.cases)
    }
}

/// In a sentence.
fn summary(counts: &Counts) -> String {
    let said = |n: usize, one: &str, many: &str| {
        (n > 0).then(|| format!("{n} {}", if n == 1 { one } else { many }))
    };
    let parts = [
        Some(format!("{} as expected", counts.same)),
        said(counts.differ, "differs", "differ"),
        said(counts.fail, "fails", "fail"),
        said(counts.written, "recorded", "recorded"),
        said(counts.skipped, "skipped", "skipped"),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}
