//! The pillar of one minion, for rules.

use std::sync::Arc;

use crate::origin;
use crate::schema::{Schema, Violation};
use mapstack::minion::Minion;
use mapstack::secrets::Policy;
use mapstack::value::{Key, Map, Value};
use mapstack::{Diagnostic, Engine, Error, Place};
use mapstack_lineage::{
    Ancestry, HistoryStep, Layer, LayerKind, LayerText, Lineage, Reason, ValuePosition,
    explain_pillar,
};
use mapstack_pillar::{Master, PillarError, PillarEvent, PillarRequest};

/// The parts of a minion's pillar that rules check.
pub(crate) struct ExaminedPillar {
    pub id: String,
    /// The pillar without `_errors`, or the error that ended its compile.
    pub data: Result<Map, Error>,
    pub events: Vec<PillarEvent>,
    pub errors: Vec<PillarError>,
    pub warnings: Vec<Diagnostic>,
    pub clashes: Vec<Clash>,
    /// The violations of the schema and their places. They are empty if the pillar has errors.
    pub violations: Vec<(Violation, Option<Place>)>,
    /// The texts of its sls and of the files of external pillars.
    pub texts: Vec<ReadText>,
}

/// The rendered text of an sls, or of a file of an external pillar, for some minion.
pub(crate) struct ReadText {
    /// The environment and the name of an sls.
    pub sls: Option<(String, String)>,
    pub shown: String,
    pub text: Arc<LayerText>,
}

/// A value of one sls that another sls replaces.
#[derive(Debug, Clone)]
pub(crate) struct Clash {
    pub path: Vec<Key>,
    pub winner: Setter,
    pub loser: Setter,
}

/// An sls that sets a value.
#[derive(Debug, Clone)]
pub(crate) struct Setter {
    pub sls: String,
    pub place: Place,
    /// The sls that include it, from the one that a top file names.
    pub above: Vec<String>,
    /// The entries of top files that lead to it.
    pub targets: Vec<ExaminedTarget>,
    /// The kind of the value.
    pub kind: &'static str,
    /// True if the value is a mapping.
    pub is_map: bool,
    /// True if the value is `None`.
    pub is_none: bool,
}

/// An entry of a top file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ExaminedTarget {
    pub saltenv: String,
    pub target: String,
}

impl ExaminedPillar {
    pub fn of(
        master: &Master,
        engine: &Engine,
        minion: &Minion,
        policy: &Policy,
        schema: Option<&Schema>,
    ) -> Self {
        let id = minion.id().to_string();
        let whole = match master.explain(engine, minion, &PillarRequest::of(minion)) {
            Ok(whole) => whole,
            Err(error) => {
                return ExaminedPillar {
                    id,
                    data: Err(error),
                    events: Vec::new(),
                    errors: Vec::new(),
                    warnings: Vec::new(),
                    clashes: Vec::new(),
                    violations: Vec::new(),
                    texts: Vec::new(),
                };
            }
        };
        let lineage = explain_pillar(&whole, minion, policy);
        let (clashes, texts) = lineage
            .as_ref()
            .map(|lineage| (clashes(lineage), texts(lineage)))
            .unwrap_or_default();
        // A pillar with errors is incomplete, so a missing key proves nothing.
        let violations = match (schema, whole.errors.is_empty()) {
            (Some(schema), true) => schema.check(&whole.data.clone().into()),
            _ => Vec::new(),
        };
        let place = |violation: &Violation| origin(lineage.as_ref()?, violation);
        let violations = violations.into_iter().map(|one| {
            let place = place(&one);
            (one, place)
        });
        let violations = violations.collect();
        let mut data = whole.data;
        if !whole.errors.is_empty() {
            data.shift_remove("_errors");
        }
        ExaminedPillar {
            id,
            data: Ok(data),
            events: whole.events,
            errors: whole.errors,
            warnings: whole.warnings,
            clashes,
            violations,
            texts,
        }
    }
}

fn texts(lineage: &Lineage) -> Vec<ReadText> {
    let of = |(number, layer): (usize, &Layer)| {
        let (sls, shown) = match &layer.kind {
            LayerKind::Sls {
                sls,
                saltenv,
                shown,
                ..
            } => (Some((saltenv.clone(), sls.clone())), shown),
            LayerKind::External {
                shown: Some(shown), ..
            } => (None, shown),
            _ => return None,
        };
        Some(ReadText {
            sls,
            shown: shown.clone(),
            text: lineage.text(number)?.clone(),
        })
    };
    lineage.layers().iter().enumerate().filter_map(of).collect()
}

/// The values that later ones replaced, if sls set both.
fn clashes(lineage: &Lineage) -> Vec<Clash> {
    let mut found = Vec::new();
    lineage.visit(&mut |path, known| {
        let is_text = path.iter().all(|key| key.as_str().is_some());
        if !path.is_empty() && is_text && !known.past.is_empty() {
            replaced(lineage, path, known, &mut found);
        }
    });
    found
}

fn replaced(lineage: &Lineage, path: &[Key], known: &Ancestry, found: &mut Vec<Clash>) {
    for (index, past) in known.past.iter().enumerate() {
        let next = known.past.get(index + 1);
        let (value, layer, spot) = match next {
            Some(next) => (&next.value, next.layer, &next.spot),
            None => (&known.value, known.layer, &known.spot),
        };
        let is_change = past.how == HistoryStep::Replaced && past.value != *value;
        if !is_change || past.by != layer {
            continue;
        }
        let loser = setter(lineage, past.layer, &past.spot, &past.value);
        let winner = setter(lineage, layer, spot, value);
        if let (Some(loser), Some(winner)) = (loser, winner) {
            let path = path.to_vec();
            found.push(Clash {
                path,
                winner,
                loser,
            });
        }
    }
}

fn setter(lineage: &Lineage, layer: usize, spot: &ValuePosition, value: &Value) -> Option<Setter> {
    let LayerKind::Sls { sls, reasons, .. } = &lineage.layers().get(layer)?.kind else {
        return None;
    };
    let ValuePosition::File { place, .. } = spot else {
        return None;
    };
    let mut above = Vec::new();
    let mut targets = Vec::new();
    for reason in reasons {
        match reason {
            Reason::Include { sls, .. } => above.insert(0, sls.clone()),
            Reason::Target {
                target, saltenv, ..
            } => targets.push(ExaminedTarget {
                saltenv: saltenv.clone(),
                target: target.clone(),
            }),
        }
    }
    Some(Setter {
        sls: sls.clone(),
        place: place.clone(),
        above,
        targets,
        kind: value.kind().described(),
        is_map: value.as_map().is_some(),
        is_none: matches!(value, Value::None),
    })
}
