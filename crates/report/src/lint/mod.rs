//! Findings of the linter.

mod aside;
mod calls;
mod folded;
mod github;
mod most;
#[cfg(feature = "html")]
mod page;
mod rows;
mod sarif;
mod text;

use mapstack_lint::{Level, LintReport};

pub use aside::UncheckedSubjects;
pub use calls::{Call, Calls};
pub use folded::{Folded, folded};
pub use github::commands;
#[cfg(feature = "html")]
pub use page::html;
pub use rows::Findings;
pub use sarif::Log;
pub use text::{LintText, fixes, not_formulas, rules};

/// The number of findings of each level.
fn counts(reports: &[(String, LintReport)]) -> [(Level, usize); 3] {
    [Level::Error, Level::Warning, Level::Note].map(|level| {
        let findings = reports.iter().flat_map(|(_, report)| &report.findings);
        (
            level,
            findings.filter(|finding| finding.level == level).count(),
        )
    })
}
