//! `mapstack lint --fix`.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::Path;

use mapstack::{Error, ErrorKind};
use mapstack_lint::fix::{Fixed, fixed};
use mapstack_lint::{Finding, Report};
use mapstack_report::words::count;
use similar::TextDiff;

use crate::output;
use crate::report::{Failure, Reporter};

/// Change files as findings propose, or only print what would change.
pub fn run(
    reports: &[(String, Report)],
    only_print: bool,
    reporter: &Reporter,
) -> Result<(), Failure> {
    // A file that two formulas read, or that has two names, is changed once.
    let mut seen = HashSet::new();
    let fixable = reports
        .iter()
        .flat_map(|(_, report)| &report.findings)
        .filter(|finding| !finding.fix.is_empty());
    let is_new = |finding: &&Finding| {
        let real = fs::canonicalize(&finding.place.file)
            .unwrap_or_else(|_| finding.place.file.clone().into());
        seen.insert((real, finding.place.start, finding.rule))
    };
    let findings: Vec<Finding> = fixable.filter(is_new).cloned().collect();
    let files = fixed(&findings);
    if only_print {
        let starred = |text: &str| {
            reports
                .first()
                .map_or_else(|| text.to_owned(), |(_, report)| report.starred(text))
        };
        return output::write(&diff(&files, &starred));
    }
    for (file, change) in &files {
        write(Path::new(file), change)?;
        reporter.say(&format!(
            "{file}: {} fixed",
            count(change.findings, "finding")
        ));
    }
    Ok(())
}

/// The changes, without what secrets there are in the lines around them.
fn diff(files: &BTreeMap<String, Fixed>, starred: &dyn Fn(&str) -> String) -> String {
    let of = |(file, change): (&String, &Fixed)| {
        let (before, after) = (starred(&change.before), starred(&change.after));
        let diff = TextDiff::from_lines(&before, &after);
        diff.unified_diff().header(file, file).to_string()
    };
    files.iter().map(of).collect()
}

fn write(file: &Path, change: &Fixed) -> Result<(), Failure> {
    let failed = |what: &str| {
        let error = Error::new(
            ErrorKind::File,
            format!("cannot change {}: {what}", file.display()),
        );
        Failure::Data(error.note("files before it were changed, those behind it were not"))
    };
    let now = fs::read_to_string(file).map_err(|e| failed(&e.to_string()))?;
    if now != change.before {
        return Err(failed("it was changed meanwhile"));
    }
    output::put_file(file, &change.after).map_err(|e| failed(&e.to_string()))
}
