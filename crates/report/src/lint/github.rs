//! Findings as workflow commands of GitHub, which shows them beside the lines.

use mapstack::value::is_acting;
use mapstack::value::posixpath::normpath;
use mapstack_lint::{Finding, Level, LintReport};

use super::UncheckedSubjects;
use super::rows::Range;

/// One command for each finding, and for each minion that could not be read.
pub fn commands(reports: &[(String, LintReport)], aside: &UncheckedSubjects) -> String {
    let findings = reports.iter().flat_map(|(_, report)| &report.findings);
    let broken = aside.broken.iter().map(|(minion, error)| {
        let message = data(&format!("the minion {minion} was not looked at: {error}"));
        format!("::error title=mapstack lint::{message}\n")
    });
    findings.map(command).chain(broken).collect()
}

fn command(finding: &Finding) -> String {
    let level = match finding.level {
        Level::Error => "error",
        Level::Warning => "warning",
        Level::Note => "notice",
    };
    // GitHub does not recognise paths that begin with `./` as files of the repository.
    let mut properties = vec![("file", normpath(&finding.place.file))];
    if !finding.whole_file {
        let range = Range::of(&finding.place);
        let numbers = [
            ("line", range.line),
            ("endLine", range.end_line),
            ("col", range.column),
            ("endColumn", range.end_column),
        ];
        properties.extend(numbers.map(|(name, n)| (name, n.to_string())));
    }
    properties.push(("title", format!("mapstack {}", finding.rule)));
    let properties: Vec<String> = properties
        .iter()
        .map(|(name, value)| format!("{name}={}", property(value)))
        .collect();
    let more: String = finding
        .notes
        .iter()
        .chain(&finding.help)
        .map(|line| format!("\n{line}"))
        .collect();
    format!(
        "::{level} {}::{}\n",
        properties.join(","),
        data(&format!("{}{more}", finding.message))
    )
}

fn data(text: &str) -> String {
    let text: String = text
        .chars()
        .map(|c| {
            if is_acting(c) && c != '\n' {
                '\u{fffd}'
            } else {
                c
            }
        })
        .collect();
    text.replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::tests::hostile;

    #[test]
    fn nothing_ends_a_command_from_inside() {
        for text in hostile() {
            assert!(!data(&text).contains(is_acting), "{text:?}");
            assert!(!property(&text).contains([':', ',']), "{text:?}");
        }
    }
}
