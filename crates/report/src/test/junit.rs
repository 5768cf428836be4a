//! Results for servers that run tests.

use mapstack_expect::{Case, CaseOutcome};
use quick_junit::{NonSuccessKind, SerializeError, TestCase, TestCaseStatus, TestSuite};

use super::Report;
use super::text::differences;
use crate::terminal::Paint;

/// A suite for each formula, and in it a case for each expectation.
///
/// # Errors
/// A name or a text cannot stand in XML.
pub fn junit(report: &Report) -> Result<String, SerializeError> {
    let mut document = quick_junit::Report::new("mapstack");
    let mut suite: Option<TestSuite> = None;
    for case in &report.cases {
        let formula = case.expectation.formula.as_str();
        if suite
            .as_ref()
            .is_some_and(|suite| suite.name.as_str() != formula)
        {
            document.add_test_suites(suite.take());
        }
        suite
            .get_or_insert_with(|| TestSuite::new(formula))
            .add_test_case(one(report, case));
    }
    document.add_test_suites(suite);
    document.to_string()
}

fn one(report: &Report, case: &Case) -> TestCase {
    let status = match &case.outcome {
        CaseOutcome::Same | CaseOutcome::Written { .. } => TestCaseStatus::success(),
        CaseOutcome::Skipped(reason) => {
            let mut status = TestCaseStatus::skipped();
            status.set_message(reason.as_str());
            status
        }
        CaseOutcome::Differs(all) => {
            let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
            let plural = if all.len() == 1 { "" } else { "s" };
            status.set_message(format!("{} difference{plural}", all.len()));
            status.set_type("difference");
            status.set_description(differences(report, case, &Paint { colored: false }));
            status
        }
        CaseOutcome::Fails(error) => {
            let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
            status.set_message(report.message(case, error));
            status.set_type("error");
            status
        }
    };
    let mut test = TestCase::new(case.name(), status);
    test.set_classname(case.expectation.formula.as_str());
    test.extra.insert("file".into(), case.file().into());
    test
}
