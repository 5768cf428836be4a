//! Everything that is known, for programs; `docs/explain.md` has the schema.

use mapstack::Place;
use mapstack::minion::FactPlace;
use mapstack::trace::Stage;
use mapstack::value::{Key, Map, Value};
use mapstack_lineage::{Chosen, How, Layer, LayerKind, Reason, Spot};

use super::{Report, is_branch};
use crate::values;

impl Report<'_> {
    /// The layers, and every value at or below a path.
    pub fn rows(&self, above: &[Key]) -> Value {
        let mut values = Vec::new();
        self.lineage.visit(&mut |path, known| {
            if !path.starts_with(above) || (is_branch(&known.value) && path != above) {
                return;
            }
            let mut row = Map::new();
            let steps = path.iter().map(|step| self.masked_key(step).to_value());
            row.insert("path", steps.collect::<Value>());
            row.insert("value", self.now(path, &known.value).into_inner());
            row.insert("layer", number(known.layer));
            row.insert("origin", origin(&known.spot));
            if !known.inputs.is_empty() {
                row.insert("inputs", known.inputs.iter().map(origin).collect::<Value>());
            }
            if let Some(key) = &known.key {
                row.insert("key_origin", origin(key));
            }
            let past = known.past.iter().map(|past| {
                let mut row = Map::new();
                row.insert("value", self.past(path, past).into_inner());
                row.insert("layer", number(past.layer));
                row.insert("origin", origin(&past.spot));
                row.insert("ended", how(past.how));
                row.insert("by", number(past.by));
                Value::from(row)
            });
            row.insert("past", past.collect::<Value>());
            values.push(Value::from(row));
        });
        let layers = self
            .lineage
            .layers()
            .iter()
            .enumerate()
            .map(|(index, layer)| self.layer_row(index, layer));
        let mut all = Map::new();
        all.insert("formula", self.formula);
        all.insert("minion", self.minion.id());
        all.insert("layers", layers.collect::<Value>());
        all.insert("values", values.into_iter().collect::<Value>());
        all.into()
    }

    fn layer_row(&self, index: usize, layer: &Layer) -> Value {
        let mut row = Map::new();
        row.insert("layer", number(index));
        row.insert("stage", stage(layer.stage));
        row.insert(
            "definition",
            layer
                .definition
                .as_ref()
                .map_or(Value::None, |text| Value::from(&**text)),
        );
        let (kind, file) = match &layer.kind {
            LayerKind::File { shown, .. } => ("file", Some(shown)),
            LayerKind::Edits { shown } => ("edits", Some(shown)),
            LayerKind::Sls { shown, .. } => ("sls", Some(shown)),
            LayerKind::External { shown, .. } => ("external", shown.as_ref()),
            LayerKind::Value => ("value", None),
            LayerKind::Arguments => ("arguments", None),
            LayerKind::Unknown => ("unknown", None),
        };
        row.insert("kind", kind);
        row.insert(
            "file",
            file.map_or(Value::None, |file| Value::from(file.as_str())),
        );
        match &layer.kind {
            LayerKind::Sls {
                sls,
                saltenv,
                reasons,
                ..
            } => {
                row.insert("sls", sls.as_str());
                row.insert("saltenv", saltenv.as_str());
                row.insert("reached", reasons.iter().map(reached).collect::<Value>());
            }
            LayerKind::External {
                name, place, class, ..
            } => {
                row.insert("external", name.as_str());
                row.insert("named_at", at(place.as_ref()));
                if let Some(class) = class {
                    row.insert("class", class.as_str());
                }
            }
            _ => {}
        }
        let because = layer.because.iter().map(|because| {
            let mut row = Map::new();
            row.insert("matcher", because.matcher.as_str());
            row.insert("found", self.found(layer, because).into_inner());
            Value::from(row)
        });
        row.insert("because", because.collect::<Value>());
        if let Some(merged) = &layer.merged {
            let mut how = Map::new();
            how.insert("strategy", self.secrets.scrubbed(&merged.strategy));
            how.insert("merge_lists", merged.merge_lists);
            how.insert(
                "chosen_by",
                match &merged.chosen {
                    Chosen::Layer(_) => "layer",
                    Chosen::Default => "default",
                    Chosen::Option => "option",
                    Chosen::BuiltIn => "built-in",
                },
            );
            if let Chosen::Layer(Some(place)) = &merged.chosen {
                how.insert("chosen_at", place.to_string());
            }
            row.insert("merged", how);
        }
        row.into()
    }
}

/// Why a minion gets an sls.
fn reached(why: &Reason) -> Value {
    match why {
        Reason::Include(sls) => values::object([("included_by", sls.as_str().into())]),
        Reason::Target {
            target,
            matcher,
            saltenv,
            place,
        } => values::object([
            ("target", target.as_str().into()),
            ("matcher", matcher.as_str().into()),
            ("saltenv", saltenv.as_str().into()),
            ("at", at(place.as_ref())),
        ]),
    }
}

fn at(place: Option<&Place>) -> Value {
    place.map_or(Value::None, |place| place.to_string().into())
}

/// The part of the work, by name.
pub(super) fn stage(stage: Stage) -> &'static str {
    match stage {
        Stage::Meta => "meta",
        Stage::Layers => "layers",
        Stage::PostMap => "post-map",
    }
}

fn number(layer: usize) -> i64 {
    i64::try_from(layer + 1).unwrap_or(i64::MAX)
}

fn how(how: How) -> &'static str {
    match how {
        How::Replaced => "replaced",
        How::Joined => "joined",
        How::Paired => "paired",
        How::Removed => "removed",
        How::Rejected => "rejected",
        How::Edited => "edited",
    }
}

/// Where a value stands.
pub fn origin(spot: &Spot) -> Value {
    let mut row = Map::new();
    match spot {
        Spot::File {
            place, computed, ..
        } => {
            row.insert("file", place.file.as_str());
            row.insert("line", values::number(place.line()));
            row.insert("column", values::number(place.column()));
            row.insert("computed", *computed);
        }
        Spot::Fact {
            part, path, place, ..
        } => {
            row.insert("facts", part.map_or("config", |part| part.name()));
            row.insert("path", path.iter().map(Key::to_value).collect::<Value>());
            match place {
                Some(FactPlace::File(place)) => {
                    row.insert("file", place.file.as_str());
                    if let Some(mark) = place.mark {
                        row.insert("line", i64::from(mark.line));
                        row.insert("column", i64::from(mark.column));
                    }
                }
                Some(FactPlace::Platform(name)) => {
                    row.insert("platform", *name);
                }
                Some(FactPlace::Set) => {
                    row.insert("flag", "--set");
                }
                Some(FactPlace::Id) => {
                    row.insert("id", true);
                }
                Some(FactPlace::BuiltIn) => {
                    row.insert("built_in", true);
                }
                _ => {}
            }
        }
        Spot::Argument => {
            row.insert("argument", true);
        }
        Spot::Unknown => {
            row.insert("unknown", true);
        }
    }
    row.into()
}
