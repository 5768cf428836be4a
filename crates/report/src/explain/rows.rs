//! Everything that is known, for programs; `docs/explain.md` has the schema.

use mapstack::Place;
use mapstack::value::Key;
use mapstack_lineage::{
    self as lineage, Ancestor, Ancestry, HistoryStep, LayerKind, StrategyOrigin,
};
use serde::Serialize;

use super::{ExplainReport, is_branch};
use crate::document::{Data, Plain, Steps, names};
use crate::origin::OriginRow;
use crate::sources::StageName;

/// The origin of each value of a formula's configuration, or of the pillar, for one minion.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct ExplanationRows<'r> {
    /// `pillar` for the pillar.
    formula: &'r str,
    /// The minion's id, text as a rule.
    minion: Plain,
    /// In the order of merging.
    layers: Vec<LayerRow<'r>>,
    /// In the order of the data.
    values: Vec<Explanation>,
}

/// Data, an edit or a default that is merged.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
struct LayerRow<'r> {
    /// Its number, from 1.
    #[cfg_attr(feature = "schemas", schemars(range(min = 1)))]
    layer: usize,
    stage: StageName,
    /// The source definition that led to it.
    definition: Option<&'r str>,
    kind: RowKind,
    file: Option<&'r str>,
    #[serde(flatten)]
    of_pillar: Option<OfPillar<'r>>,
    because: Vec<MatchRow<'r>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    merged: Option<MergeRow>,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
enum RowKind {
    File,
    Value,
    Edits,
    Arguments,
    Override,
    Sls,
    External,
    Unknown,
}

/// The facts about a layer of a pillar.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(untagged)]
enum OfPillar<'r> {
    Sls {
        /// The name of an sls of the pillar.
        sls: &'r str,
        /// The environment of an sls of the pillar.
        saltenv: &'r str,
        /// Why the minion has an sls: what includes it, what includes that, the entry of a top file.
        reached: Vec<Reason<'r>>,
    },
    External {
        /// The name of an external pillar.
        external: &'r str,
        /// The place in the configuration that names an external pillar, as file:line:column.
        named_at: Option<String>,
        /// The class or node of an external pillar that has such, as saltclass.
        #[serde(skip_serializing_if = "Option::is_none")]
        class: Option<&'r str>,
    },
}

/// Why a minion gets an sls.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub(super) enum Reason<'r> {
    Include {
        included_by: &'r str,
        /// file:line:column, if it is known
        #[serde(skip_serializing_if = "Option::is_none")]
        at: Option<String>,
    },
    Target {
        target: &'r str,
        matcher: &'r str,
        saltenv: &'r str,
        /// file:line:column of a top file
        at: Option<String>,
    },
}

#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
struct MatchRow<'r> {
    /// Type and query, such as G@os.
    matcher: &'r str,
    /// The value that the minion has there.
    found: Data,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
struct MergeRow {
    strategy: String,
    merge_lists: bool,
    chosen_by: ChosenBy,
    /// file:line:column
    #[serde(skip_serializing_if = "Option::is_none")]
    chosen_at: Option<String>,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
enum ChosenBy {
    Layer,
    Default,
    Option,
    BuiltIn,
}

/// A value, and where it comes from.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
struct Explanation {
    path: Steps,
    /// Masked, if it is a secret.
    value: Data,
    /// The number of its layer.
    #[cfg_attr(feature = "schemas", schemars(range(min = 1)))]
    layer: usize,
    origin: OriginRow,
    /// The places of the values from which a template computed this one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    inputs: Vec<OriginRow>,
    /// The values that tags of a template printed here.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    printed: Vec<PrintedRow>,
    /// The place of the key, for entries of mappings.
    #[serde(skip_serializing_if = "Option::is_none")]
    key_origin: Option<OriginRow>,
    /// The values before, the oldest first.
    past: Vec<PastRow>,
}

/// A value that a tag of a template printed.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
struct PrintedRow {
    /// Left out if it is a mapping or a list.
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<Data>,
    /// The number of its layer.
    #[cfg_attr(feature = "schemas", schemars(range(min = 1)))]
    layer: usize,
    origin: OriginRow,
    /// The values before, the oldest first.
    past: Vec<PastRow>,
}

/// An earlier value.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
struct PastRow {
    value: Data,
    /// The number of its layer.
    #[cfg_attr(feature = "schemas", schemars(range(min = 1)))]
    layer: usize,
    origin: OriginRow,
    ended: Ended,
    /// The layer that ended it.
    #[cfg_attr(feature = "schemas", schemars(range(min = 1)))]
    by: usize,
}

names! {
    Ended of HistoryStep, "lowercase": Replaced, Joined, Paired, Removed, Rejected, Edited
}

impl ExplainReport<'_> {
    /// The layers, and every value at or below a path.
    pub fn rows(&self, above: &[Key]) -> ExplanationRows<'_> {
        let mut values = Vec::new();
        self.lineage.visit(&mut |path, known| {
            if path.starts_with(above) && (!is_branch(&known.value) || path == above) {
                values.push(self.explanation(path, known));
            }
        });
        let layers = self.lineage.layers().iter().enumerate();
        ExplanationRows {
            formula: self.formula,
            minion: Plain(self.minion.id().clone()),
            layers: layers
                .map(|(index, layer)| self.layer_row(index, layer))
                .collect(),
            values,
        }
    }

    fn explanation(&self, path: &[Key], known: &Ancestry) -> Explanation {
        let past = |past: &Ancestor| PastRow {
            value: self.past(path, past).into(),
            layer: past.layer + 1,
            origin: (&past.spot).into(),
            ended: past.how.into(),
            by: past.by + 1,
        };
        let printed = |printed: &Ancestry| PrintedRow {
            value: (!is_branch(&printed.value)).then(|| {
                let is_secret = self.hides_all || printed.spot.is_secret();
                let masked = self
                    .secrets
                    .redact_value(path, &printed.value, &|_| is_secret);
                masked.into()
            }),
            layer: printed.layer + 1,
            origin: (&printed.spot).into(),
            past: printed.past.iter().map(past).collect(),
        };
        Explanation {
            path: path.iter().map(|step| self.masked_key(step)).collect(),
            value: self.now(path, &known.value).into(),
            layer: known.layer + 1,
            origin: (&known.spot).into(),
            inputs: known.inputs.iter().map(OriginRow::from).collect(),
            printed: known.printed.iter().map(printed).collect(),
            key_origin: known.key.as_ref().map(OriginRow::from),
            past: known.past.iter().map(past).collect(),
        }
    }

    fn layer_row<'l>(&self, index: usize, layer: &'l lineage::Layer) -> LayerRow<'l> {
        let (kind, file) = match &layer.kind {
            LayerKind::File { shown, .. } => (RowKind::File, Some(shown)),
            LayerKind::Edits { shown } => (RowKind::Edits, Some(shown)),
            LayerKind::Sls { shown, .. } => (RowKind::Sls, Some(shown)),
            LayerKind::External { shown, .. } => (RowKind::External, shown.as_ref()),
            LayerKind::Value => (RowKind::Value, None),
            LayerKind::Arguments => (RowKind::Arguments, None),
            LayerKind::PillarOverride => (RowKind::Override, None),
            LayerKind::Unknown => (RowKind::Unknown, None),
        };
        let because = layer.because.iter().map(|because| MatchRow {
            matcher: &because.matcher,
            found: self.found(layer, because).into(),
        });
        let merged = layer.merged.as_ref().map(|merged| MergeRow {
            strategy: self.secrets.scrubbed(&merged.strategy),
            merge_lists: merged.merge_lists,
            chosen_by: match &merged.chosen {
                StrategyOrigin::Layer(_) => ChosenBy::Layer,
                StrategyOrigin::Default => ChosenBy::Default,
                StrategyOrigin::Option => ChosenBy::Option,
                StrategyOrigin::BuiltIn => ChosenBy::BuiltIn,
            },
            chosen_at: match &merged.chosen {
                StrategyOrigin::Layer(place) => at(place.as_ref()),
                _ => None,
            },
        });
        LayerRow {
            layer: index + 1,
            stage: layer.stage.into(),
            definition: layer.definition.as_deref(),
            kind,
            file: file.map(String::as_str),
            of_pillar: OfPillar::of(&layer.kind),
            because: because.collect(),
            merged,
        }
    }
}

impl<'l> OfPillar<'l> {
    fn of(kind: &'l LayerKind) -> Option<Self> {
        match kind {
            LayerKind::Sls {
                sls,
                saltenv,
                reasons,
                ..
            } => Some(OfPillar::Sls {
                sls,
                saltenv,
                reached: reasons.iter().map(Reason::from).collect(),
            }),
            LayerKind::External {
                name, place, class, ..
            } => Some(OfPillar::External {
                external: name,
                named_at: at(place.as_ref()),
                class: class.as_deref(),
            }),
            _ => None,
        }
    }
}

impl<'l> From<&'l lineage::Reason> for Reason<'l> {
    fn from(why: &'l lineage::Reason) -> Self {
        match why {
            lineage::Reason::Include { sls, place } => Reason::Include {
                included_by: sls,
                at: at(place.as_ref()),
            },
            lineage::Reason::Target {
                target,
                matcher,
                saltenv,
                place,
            } => Reason::Target {
                target,
                matcher,
                saltenv,
                at: at(place.as_ref()),
            },
        }
    }
}

pub(super) fn at(place: Option<&Place>) -> Option<String> {
    place.map(ToString::to_string)
}
