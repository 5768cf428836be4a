//! Findings for programs.

use std::collections::BTreeSet;

use mapstack::value::{Map, Value};
use mapstack::{Place, Step};
use mapstack_lint::{Edit, Finding, Report};

use super::counts;
use crate::values::{number, object};

/// One object with everything.
pub fn all(reports: &[(String, Report)]) -> Value {
    let findings: Value = reports
        .iter()
        .flat_map(|of| of.1.findings.iter().map(move |finding| row(of, finding)))
        .collect();
    let mut summary: Map = counts(reports)
        .into_iter()
        .map(|(level, n)| (format!("{}s", level.name()), number(n)))
        .collect();
    summary.insert(
        "silenced",
        number(reports.iter().map(|(_, report)| report.suppressed).sum()),
    );
    summary.insert(
        "files",
        number(reports.iter().map(|(_, report)| report.files).sum()),
    );
    summary.insert(
        "minions",
        number(
            reports
                .iter()
                .map(|(_, report)| report.minions)
                .max()
                .unwrap_or_default(),
        ),
    );
    let looked =
        |of: fn(&Report) -> usize| number(reports.iter().map(|(_, report)| of(report)).sum());
    let looked = object([
        ("sls_files", looked(|report| report.looked.states)),
        ("parameter_files", looked(|report| report.looked.parameters)),
        ("data_files", looked(|report| report.looked.data)),
        ("templates", looked(|report| report.looked.templates)),
    ]);
    summary.insert("looked_at", looked);
    let unanswered = reports
        .iter()
        .flat_map(|of| of.1.unanswered.iter().map(move |one| (of, one)));
    let unanswered: Value = unanswered
        .map(|(of, (function, unanswered))| {
            let listed = |all: &BTreeSet<String>| all.iter().collect::<Value>();
            let (minions, files) = (listed(&unanswered.minions), listed(&unanswered.files));
            object([
                ("formula", formula(of)),
                ("function", function.as_str().into()),
                ("minions", minions),
                ("files", files),
            ])
        })
        .collect();
    let ignored = reports
        .iter()
        .flat_map(|of| of.1.ignored.iter().map(move |one| (of, one)));
    let ignored: Value = ignored
        .map(|(of, (file, why))| {
            object([
                ("formula", formula(of)),
                ("file", file.as_str().into()),
                ("why", why.as_str().into()),
            ])
        })
        .collect();
    let lacking = reports
        .iter()
        .flat_map(|of| of.1.lacking.iter().map(move |file| (of, file)));
    let lacking: Value = lacking
        .map(|(of, file)| object([("formula", formula(of)), ("file", file.as_str().into())]))
        .collect();
    let formulas: Value = reports
        .iter()
        .filter(|(_, report)| !report.is_pillar)
        .map(|(formula, _)| formula.as_str())
        .collect();
    let remarks: Value = reports
        .iter()
        .flat_map(|(_, report)| &report.remarks)
        .collect();
    let has_pillar = reports.iter().any(|(_, report)| report.is_pillar);
    object([
        ("formulas", formulas),
        ("pillar", has_pillar.into()),
        ("findings", findings),
        ("not_followed", unanswered),
        ("not_looked_at", ignored),
        ("remarks", remarks),
        ("lacking_facts", lacking),
        ("summary", summary.into()),
    ])
}

/// The formula that something is about; none for the pillar.
fn formula((name, report): &(String, Report)) -> Value {
    match report.is_pillar {
        true => Value::None,
        false => name.as_str().into(),
    }
}

fn row(of: &(String, Report), finding: &Finding) -> Value {
    let mut row: Map = [
        ("rule", finding.rule.name()),
        ("level", finding.level.name()),
        ("message", &finding.message),
    ]
    .into_iter()
    .collect();
    let what = if of.1.is_pillar { "pillar" } else { "formula" };
    row.insert("of", what);
    row.insert("formula", formula(of));
    match finding.whole_file {
        true => drop(row.insert("file", finding.place.file.as_str())),
        false => place(&finding.place)
            .into_iter()
            .for_each(|(key, value)| drop(row.insert(key, value))),
    }
    let related: Value = finding.related.iter().map(step).collect();
    row.insert("related", related);
    row.insert("notes", finding.notes.iter().collect::<Value>());
    row.insert(
        "help",
        finding.help.as_deref().map_or(Value::None, Value::from),
    );
    row.insert(
        "fix",
        finding
            .fix
            .iter()
            .map(|change| edit(&finding.place, change))
            .collect::<Value>(),
    );
    row.into()
}

fn place(place: &Place) -> Map {
    let (end_line, end_column) = end(place);
    let mut row: Map = [("file", place.file.as_str())].into_iter().collect();
    for (key, n) in [
        ("line", place.line()),
        ("column", place.column()),
        ("end_line", end_line),
        ("end_column", end_column),
    ] {
        row.insert(key, number(n));
    }
    row
}

/// Line and column behind the last character.
pub fn end(place: &Place) -> (usize, usize) {
    let behind = Place {
        start: place.end.max(place.start),
        ..place.clone()
    };
    (behind.line(), behind.column())
}

fn step(step: &Step) -> Value {
    let mut row = place(&step.place);
    row.insert("what", step.what.as_str());
    row.into()
}

fn edit(of: &Place, edit: &Edit) -> Value {
    let mut row = place(&Place {
        start: edit.start,
        end: edit.end,
        ..of.clone()
    });
    row.insert("text", edit.text.as_str());
    row.into()
}
