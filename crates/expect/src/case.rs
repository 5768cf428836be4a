//! The result of one expectation.

use mapstack::minion::Minion;
use mapstack::value::Str;
use mapstack::{Diagnostic, Error, ErrorKind};

use crate::{Difference, Expectation, ExpectationForm};

/// The result of one expectation.
#[derive(Debug)]
pub struct Case {
    /// The expectation.
    pub expectation: Expectation,
    /// The outcome.
    pub outcome: CaseOutcome,
    /// The minion it is of, if there is one.
    pub minion: Option<Minion>,
    /// The warnings.
    pub warnings: Vec<Diagnostic>,
    /// Texts that templates made of secrets.
    pub secret_texts: Vec<Str>,
}

/// The outcome of a run.
#[derive(Debug)]
pub enum CaseOutcome {
    /// The expected result.
    Same,
    /// Something else.
    Differs(Vec<Difference>),
    /// No result.
    Fails(Error),
    /// Nothing was run, for this reason.
    Skipped(String),
    /// The file says now what came out; before it said something else, or did not exist.
    Written {
        /// True if there was a file.
        was_there: bool,
        /// True if it has secrets in plain text.
        clear: bool,
    },
}

impl Case {
    /// Let nothing be skipped.
    pub fn be_strict(&mut self) {
        if let CaseOutcome::Skipped(reason) = &self.outcome {
            self.outcome = CaseOutcome::Fails(Error::new(
                ErrorKind::Facts,
                format!("{}: {reason}", self.file()),
            ));
        }
    }

    /// The name within its formula.
    pub fn name(&self) -> String {
        match &self.expectation.suite {
            Some((suite, _)) => format!("{suite}/{}", self.expectation.name),
            None if self.expectation.form == ExpectationForm::States => {
                format!("{} states", self.expectation.name)
            }
            None => self.expectation.name.clone(),
        }
    }

    /// The file of the expectation.
    pub fn file(&self) -> String {
        self.expectation.file.display().to_string()
    }
}

/// The number of cases of each kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// As expected.
    pub same: usize,
    /// With differences.
    pub differ: usize,
    /// Without a result.
    pub fail: usize,
    /// Not run.
    pub skipped: usize,
    /// Written.
    pub written: usize,
}

impl Counts {
    /// The counts of some cases.
    pub fn of(cases: &[Case]) -> Self {
        let mut counts = Counts::default();
        for case in cases {
            *match &case.outcome {
                CaseOutcome::Same => &mut counts.same,
                CaseOutcome::Differs(_) => &mut counts.differ,
                CaseOutcome::Fails(_) => &mut counts.fail,
                CaseOutcome::Skipped(_) => &mut counts.skipped,
                CaseOutcome::Written { .. } => &mut counts.written,
            } += 1;
        }
        counts
    }
}
