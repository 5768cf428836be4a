//! Every file that was looked for, and what asked for it.

use mapstack::trace::{DataStage, Event, RequestOutcome, TracedRequest};
use serde::Serialize;

use crate::document::names;

/// Every file and value that was looked for, in order.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct LookUps<'e>(Vec<LookUp<'e>>);

/// The path that was looked for, and the outcome.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
struct LookUp<'e> {
    stage: StageName,
    /// The source definition that asked for it.
    definition: Option<&'e str>,
    /// salt://, of a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    outcome: SourceMatch,
    /// The file that was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    /// Why a file is refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'e str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    query: Option<Query<'e>>,
}

/// The query that found nothing; none where an empty value leads to no path.
#[derive(Serialize, Clone, Copy)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
struct Query<'e>(Option<&'e str>);

names! {
    /// A part of the work.
    StageName of DataStage, "kebab-case": Meta, Layers, PostMap
}

#[derive(Serialize, Clone, Copy)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
enum SourceMatch {
    Hit,
    Miss,
    Refused,
}

impl StageName {
    /// The name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            StageName::Meta => "meta",
            StageName::Layers => "layers",
            StageName::PostMap => "post-map",
        }
    }
}

impl<'e> LookUps<'e> {
    /// The paths that a run asked for.
    pub fn new(events: &'e [Event]) -> Self {
        LookUps(events.iter().map(LookUp::of).collect())
    }

    /// For people.
    pub fn text(&self) -> String {
        let mut text = String::new();
        let mut heading = None;
        for look_up in &self.0 {
            let own = (look_up.stage, look_up.definition);
            if heading != Some(own) {
                text.push_str(&match own {
                    (StageName::Meta, Some(definition)) => {
                        format!("{definition} (meta configuration)\n")
                    }
                    (_, Some(definition)) => format!("{definition}\n"),
                    // Before the first layer, the formula's own template is read.
                    (StageName::Layers, None) => "map.jinja\n".to_owned(),
                    (stage, None) => format!("{}\n", stage.name()),
                });
                heading = Some(own);
            }
            text.push_str(&format!("  {}\n", look_up.line()));
        }
        text
    }
}

impl<'e> LookUp<'e> {
    fn of(event: &'e Event) -> Self {
        let mut look_up = LookUp {
            stage: event.stage.into(),
            definition: event.definition.as_deref(),
            path: None,
            outcome: SourceMatch::Miss,
            file: None,
            reason: None,
            query: None,
        };
        match &event.asked {
            TracedRequest::File { path, outcome } => {
                look_up.path = Some(format!("salt://{path}"));
                match outcome {
                    RequestOutcome::Hit(on_disk) => {
                        look_up.outcome = SourceMatch::Hit;
                        look_up.file = Some(on_disk.display().to_string());
                    }
                    RequestOutcome::Miss => {}
                    RequestOutcome::Refused(why) => {
                        look_up.outcome = SourceMatch::Refused;
                        look_up.reason = Some(why);
                    }
                }
            }
            TracedRequest::Value { found: true } => look_up.outcome = SourceMatch::Hit,
            TracedRequest::Value { found: false } => {}
            TracedRequest::NoPaths { query } => look_up.query = Some(Query(query.as_deref())),
        }
        look_up
    }

    fn line(&self) -> String {
        let path = self.path.as_deref();
        let of_file = |more: Option<&str>| {
            let more = more.map(|more| format!("  {more}")).unwrap_or_default();
            path.map(|path| path.to_owned() + &more)
        };
        match (self.outcome, self.query) {
            (_, Some(Query(Some(query)))) => format!("miss  nothing under '{query}'"),
            (_, Some(Query(None))) => "miss  an empty value leads to no path".into(),
            (SourceMatch::Hit, None) => {
                let file = of_file(self.file.as_deref());
                format!("hit   {}", file.as_deref().unwrap_or("a value"))
            }
            (SourceMatch::Miss, None) => format!("miss  {}", path.unwrap_or("no value")),
            (SourceMatch::Refused, None) => {
                format!("no    {}", of_file(self.reason).unwrap_or_default())
            }
        }
    }
}
