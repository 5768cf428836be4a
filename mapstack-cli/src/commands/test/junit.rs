//! Results for servers that run tests.

use std::io;

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use super::text::differences;
use super::{Case, Outcome, Tested};
use crate::commands::diff::text::Paint;
use crate::report::Failure;

/// A suite for each formula, and in it a case for each expectation.
pub fn report(tested: &Tested) -> Result<String, Failure> {
    let mut report = Report::new("mapstack");
    let mut suite: Option<TestSuite> = None;
    for case in &tested.cases {
        let formula = case.expectation.formula.as_str();
        if suite
            .as_ref()
            .is_some_and(|suite| suite.name.as_str() != formula)
        {
            report.add_test_suites(suite.take());
        }
        suite
            .get_or_insert_with(|| TestSuite::new(formula))
            .add_test_case(one(tested, case));
    }
    report.add_test_suites(suite);
    report
        .to_string()
        .map_err(|e| Failure::Output(io::Error::other(e)))
}

fn one(tested: &Tested, case: &Case) -> TestCase {
    let status = match &case.outcome {
        Outcome::Same | Outcome::Written { .. } => TestCaseStatus::success(),
        Outcome::Skipped(reason) => {
            let mut status = TestCaseStatus::skipped();
            status.set_message(reason.as_str());
            status
        }
        Outcome::Differs(all) => {
            let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
            let plural = if all.len() == 1 { "" } else { "s" };
            status.set_message(format!("{} difference{plural}", all.len()));
            status.set_type("difference");
            status.set_description(differences(tested, case, &Paint { colored: false }));
            status
        }
        Outcome::Fails(error) => {
            let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
            status.set_message(tested.message(case, error));
            status.set_type("error");
            status
        }
    };
    let mut test = TestCase::new(case.name(), status);
    test.set_classname(case.expectation.formula.as_str());
    test.extra.insert("file".into(), case.file().into());
    test
}
