//! Findings as SARIF 2.1.0, which code scanners read.
//!
//! The types have the keys that we write; a typed model of the whole format would be most of what this crate builds.

use mapstack_lint::{LintReport, Rule};
use serde::Serialize;

use super::UncheckedSubjects;
use super::rows::{LevelName, Range};

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

/// The log of one run of the program.
#[derive(Serialize)]
pub struct Log<'r> {
    #[serde(rename = "$schema")]
    schema: &'static str,
    version: &'static str,
    runs: [Run<'r>; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Run<'r> {
    tool: Tool,
    column_kind: &'static str,
    results: Vec<Finding<'r>>,
    /// Only where minions could not be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    invocations: Option<[Invocation; 1]>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Invocation {
    execution_successful: bool,
    tool_execution_notifications: Vec<Notification>,
}

#[derive(Serialize)]
struct Notification {
    level: &'static str,
    message: SarifText<String>,
}

#[derive(Serialize)]
struct Tool {
    driver: Driver,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Driver {
    name: &'static str,
    semantic_version: &'static str,
    rules: Vec<Descriptor>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Descriptor {
    id: &'static str,
    short_description: SarifText<&'static str>,
    default_configuration: Configuration,
}

#[derive(Serialize)]
struct Configuration {
    level: LevelName,
}

#[derive(Serialize)]
struct SarifText<T> {
    text: T,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Finding<'r> {
    rule_id: &'static str,
    rule_index: usize,
    level: LevelName,
    message: SarifText<String>,
    locations: [Location; 1],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    related_locations: Vec<RelatedLocation<'r>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fixes: Option<[Fix<'r>; 1]>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Location {
    physical_location: Physical,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RelatedLocation<'r> {
    id: usize,
    message: SarifText<&'r str>,
    physical_location: Physical,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Physical {
    artifact_location: Artifact,
    #[serde(skip_serializing_if = "Option::is_none")]
    region: Option<Region>,
}

#[derive(Serialize)]
struct Artifact {
    uri: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Region {
    start_line: usize,
    start_column: usize,
    end_line: usize,
    end_column: usize,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Fix<'r> {
    description: SarifText<&'r str>,
    artifact_changes: [Changed<'r>; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Changed<'r> {
    artifact_location: Artifact,
    replacements: Vec<Replacement<'r>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Replacement<'r> {
    deleted_region: Bytes,
    inserted_content: SarifText<&'r str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Bytes {
    byte_offset: usize,
    byte_length: usize,
}

impl<'r> Log<'r> {
    /// The findings of one run of the program.
    pub fn new(reports: &'r [(String, LintReport)], aside: &UncheckedSubjects) -> Self {
        let findings = reports.iter().flat_map(|(_, report)| &report.findings);
        let driver = Driver {
            name: "mapstack",
            semantic_version: env!("CARGO_PKG_VERSION"),
            rules: Rule::ALL.iter().map(|rule| Descriptor::of(*rule)).collect(),
        };
        let run = Run {
            tool: Tool { driver },
            column_kind: "unicodeCodePoints",
            results: findings.map(Finding::of).collect(),
            invocations: Invocation::of(aside),
        };
        Log {
            schema: SCHEMA,
            version: "2.1.0",
            runs: [run],
        }
    }
}

impl Invocation {
    fn of(aside: &UncheckedSubjects) -> Option<[Self; 1]> {
        let broken = aside.broken.iter().map(|(minion, error)| Notification {
            level: "error",
            message: SarifText {
                text: format!("the minion {minion} was not looked at: {error}"),
            },
        });
        (!aside.broken.is_empty()).then(|| {
            [Invocation {
                execution_successful: false,
                tool_execution_notifications: broken.collect(),
            }]
        })
    }
}

impl Descriptor {
    fn of(rule: Rule) -> Self {
        Descriptor {
            id: rule.name(),
            short_description: SarifText { text: rule.about() },
            default_configuration: Configuration {
                level: rule.level().into(),
            },
        }
    }
}

impl<'r> Finding<'r> {
    fn of(finding: &'r mapstack_lint::Finding) -> Self {
        let more = finding.notes.iter().chain(&finding.help);
        let more: String = more.map(|more| format!("; {more}")).collect();
        let index = Rule::ALL.iter().position(|rule| *rule == finding.rule);
        let related = finding.related.iter().enumerate();
        let related = related.map(|(at, step)| RelatedLocation {
            id: at + 1,
            message: SarifText { text: &*step.what },
            physical_location: Physical::of(&step.place, false),
        });
        let place = Physical::of(&finding.place, finding.whole_file);
        Finding {
            rule_id: finding.rule.name(),
            rule_index: index.unwrap_or_default(),
            level: finding.level.into(),
            message: SarifText {
                text: format!("{}{more}", finding.message),
            },
            locations: [Location {
                physical_location: place,
            }],
            related_locations: related.collect(),
            fixes: (!finding.fix.is_empty()).then(|| [Fix::of(finding)]),
        }
    }
}

impl Physical {
    fn of(place: &mapstack::Place, whole_file: bool) -> Self {
        let range = (!whole_file).then(|| Range::of(place));
        Physical {
            artifact_location: Artifact::of(&place.file),
            region: range.map(|range| Region {
                start_line: range.line,
                start_column: range.column,
                end_line: range.end_line,
                end_column: range.end_column,
            }),
        }
    }
}

impl<'r> Fix<'r> {
    fn of(finding: &'r mapstack_lint::Finding) -> Self {
        let replacements = finding.fix.iter().map(|edit| Replacement {
            deleted_region: Bytes {
                byte_offset: edit.start,
                byte_length: edit.end - edit.start,
            },
            inserted_content: SarifText { text: &*edit.text },
        });
        Fix {
            description: SarifText {
                text: finding.help.as_deref().unwrap_or("fix it"),
            },
            artifact_changes: [Changed {
                artifact_location: Artifact::of(&finding.place.file),
                replacements: replacements.collect(),
            }],
        }
    }
}

impl Artifact {
    /// A path as a URI: relative as it is, from the root as a file's.
    fn of(path: &str) -> Self {
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
        Artifact { uri }
    }
}
