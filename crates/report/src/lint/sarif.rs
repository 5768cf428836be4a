//! Findings as SARIF 2.1.0, which code scanners read.
//!
//! The format is large and we write little of it; a typed model of all of it would be most of what
//! this crate builds.

use mapstack::Place;
use mapstack::value::{Map, Value};
use mapstack_lint::{Finding, Level, Report, Rule};

use super::rows::end;
use crate::values::{number, object};

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

fn text(text: &str) -> Value {
    object([("text", text.into())])
}

/// The log of one run of the program.
pub fn log(reports: &[(String, Report)]) -> Value {
    let rules: Value = Rule::ALL.iter().map(|rule| descriptor(*rule)).collect();
    let driver = object([
        ("name", "mapstack".into()),
        ("semanticVersion", env!("CARGO_PKG_VERSION").into()),
        ("rules", rules),
    ]);
    let results: Value = reports
        .iter()
        .flat_map(|(_, report)| &report.findings)
        .map(result)
        .collect();
    let run = object([
        ("tool", object([("driver", driver)])),
        ("columnKind", "unicodeCodePoints".into()),
        ("results", results),
    ]);
    object([
        ("$schema", SCHEMA.into()),
        ("version", "2.1.0".into()),
        ("runs", [run].into_iter().collect()),
    ])
}

fn descriptor(rule: Rule) -> Value {
    object([
        ("id", rule.name().into()),
        ("shortDescription", text(rule.about())),
        (
            "defaultConfiguration",
            object([("level", rule.level().name().into())]),
        ),
    ])
}

fn result(finding: &Finding) -> Value {
    let help: String = finding
        .notes
        .iter()
        .chain(&finding.help)
        .map(|more| format!("; {more}"))
        .collect();
    let index = Rule::ALL
        .iter()
        .position(|rule| *rule == finding.rule)
        .unwrap_or_default();
    let level = match finding.level {
        Level::Error => "error",
        Level::Warning => "warning",
        Level::Note => "note",
    };
    let related: Value = finding
        .related
        .iter()
        .enumerate()
        .map(|(at, step)| {
            object([
                ("id", number(at + 1)),
                ("message", text(&step.what)),
                ("physicalLocation", location(&step.place, false)),
            ])
        })
        .collect();
    let mut result: Map = [
        ("ruleId", Value::from(finding.rule.name())),
        ("ruleIndex", number(index)),
        ("level", level.into()),
        ("message", text(&format!("{}{help}", finding.message))),
        (
            "locations",
            [object([(
                "physicalLocation",
                location(&finding.place, finding.whole_file),
            )])]
            .into_iter()
            .collect(),
        ),
    ]
    .into_iter()
    .collect();
    if !finding.related.is_empty() {
        result.insert("relatedLocations", related);
    }
    if !finding.fix.is_empty() {
        result.insert("fixes", [fix(finding)].into_iter().collect::<Value>());
    }
    result.into()
}

fn location(place: &Place, whole_file: bool) -> Value {
    let mut location: Map = [(
        "artifactLocation",
        object([("uri", uri(&place.file).into())]),
    )]
    .into_iter()
    .collect();
    if !whole_file {
        let (end_line, end_column) = end(place);
        let region = object([
            ("startLine", number(place.line())),
            ("startColumn", number(place.column())),
            ("endLine", number(end_line)),
            ("endColumn", number(end_column)),
        ]);
        location.insert("region", region);
    }
    location.into()
}

fn fix(finding: &Finding) -> Value {
    let replacements: Value = finding
        .fix
        .iter()
        .map(|edit| {
            object([
                (
                    "deletedRegion",
                    object([
                        ("byteOffset", number(edit.start)),
                        ("byteLength", number(edit.end - edit.start)),
                    ]),
                ),
                ("insertedContent", text(&edit.text)),
            ])
        })
        .collect();
    let change = object([
        (
            "artifactLocation",
            object([("uri", uri(&finding.place.file).into())]),
        ),
        ("replacements", replacements),
    ]);
    let help = finding.help.as_deref().unwrap_or("fix it");
    object([
        ("description", text(help)),
        ("artifactChanges", [change].into_iter().collect()),
    ])
}

/// A path as a URI: relative as it is, from the root as a file's.
fn uri(path: &str) -> String {
    let path = path.replace('\\', "/");
    let relative = path.strip_prefix("./").unwrap_or(&path);
    let mut uri = String::from(if relative.starts_with('/') {
        "file://"
    } else {
        ""
    });
    for byte in relative.bytes() {
        match byte {
            b'a'..=b'z'
            | b'A'..=b'Z'
            | b'0'..=b'9'
            | b'-'
            | b'.'
            | b'_'
            | b'~'
            | b'/'
            | b'+'
            | b'@' => {
                uri.push(char::from(byte));
            }
            other => uri.push_str(&format!("%{other:02X}")),
        }
    }
    uri
}
