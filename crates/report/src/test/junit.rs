//! Results for servers that run tests, in JUnit's XML.

use std::fmt::Write as _;

use mapstack_expect::{Case, CaseOutcome};

use super::TestReport;
use super::text::differences;

/// A suite for each formula, and in it a case for each expectation.
#[must_use]
pub fn junit(report: &TestReport) -> String {
    let formula_of = |case: &Case| case.expectation.formula.clone();
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let [all, skipped, failures, errors] = counts(&report.cases);
    let _ = writeln!(
        text,
        "<testsuites name=\"mapstack\" tests=\"{all}\" skipped=\"{skipped}\" failures=\"{failures}\" errors=\"{errors}\">"
    );
    for suite in report.cases.chunk_by(|a, b| formula_of(a) == formula_of(b)) {
        let formula = suite.first().map(formula_of).unwrap_or_default();
        let (name, [all, skipped, failures, errors]) = (attribute(&formula), counts(suite));
        let _ = writeln!(
            text,
            "    <testsuite name=\"{name}\" tests=\"{all}\" skipped=\"{skipped}\" errors=\"{errors}\" failures=\"{failures}\">"
        );
        suite.iter().for_each(|case| one(&mut text, report, case));
        text.push_str("    </testsuite>\n");
    }
    text.push_str("</testsuites>\n");
    text
}

/// The numbers of cases: all, skipped, different, and failed.
fn counts(cases: &[Case]) -> [usize; 4] {
    let count =
        |of: fn(&CaseOutcome) -> bool| cases.iter().filter(|case| of(&case.outcome)).count();
    [
        cases.len(),
        count(|outcome| matches!(outcome, CaseOutcome::Skipped(_))),
        count(|outcome| matches!(outcome, CaseOutcome::Differs(_))),
        count(|outcome| matches!(outcome, CaseOutcome::Fails(_))),
    ]
}

fn one(text: &mut String, report: &TestReport, case: &Case) {
    let _ = write!(
        text,
        "        <testcase name=\"{}\" classname=\"{}\" file=\"{}\"",
        attribute(&case.name()),
        attribute(&case.expectation.formula),
        attribute(&case.file())
    );
    let inside = match &case.outcome {
        CaseOutcome::Same | CaseOutcome::Written { .. } => {
            text.push_str("/>\n");
            return;
        }
        CaseOutcome::Skipped(reason) => {
            format!("<skipped message=\"{}\"/>", attribute(reason))
        }
        CaseOutcome::Differs(all) => {
            let plural = if all.len() == 1 { "" } else { "s" };
            let shown = differences(report, case).shown(false);
            format!(
                "<failure message=\"{} difference{plural}\" type=\"difference\">{}</failure>",
                all.len(),
                escaped(&shown)
            )
        }
        CaseOutcome::Fails(error) => format!(
            "<error message=\"{}\" type=\"error\"/>",
            attribute(&report.message(case, error))
        ),
    };
    let _ = writeln!(text, ">\n            {inside}\n        </testcase>");
}

/// A text as the value of an attribute, where readers take a line break for a space.
fn attribute(text: &str) -> String {
    escaped(text).replace('\n', "&#10;").replace('\t', "&#9;")
}

/// A text escaped for XML. Characters that XML cannot write are left out.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&apos;"),
            '\t' | '\n' => escaped.push(c),
            '\r' => escaped.push_str("&#13;"),
            '\u{fffe}' | '\u{ffff}' => {}
            c if c < ' ' => {}
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::{attribute, escaped};

    #[test]
    fn nothing_in_a_text_is_markup() {
        assert_eq!(
            escaped("<a b='c'>&\"\x1b[31m\u{ffff}\r\n"),
            "&lt;a b=&apos;c&apos;&gt;&amp;&quot;[31m&#13;\n"
        );
        assert_eq!(attribute("a\n\"b\""), "a&#10;&quot;b&quot;");
    }
}
