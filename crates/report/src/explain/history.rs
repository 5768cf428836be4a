//! One value: whose it is, and what it overrode.

use anstyle::{AnsiColor, Style};
use mapstack::Means;
use mapstack::minion::Part;
use mapstack::secrets::Redacted;
use mapstack::value::{Key, Value};
use mapstack_lineage::{
    Ancestry, HistoryStep, Layer, LayerKind, LayerMerge, MatchedValue, Reason, StrategyOrigin,
    ValuePosition,
};

use super::{ExplainReport, is_of_the_pillar, is_secret_matcher, short, shown};
use crate::terminal::{KEY, Styled};
use crate::words::joined;
use crate::yaml_form::inline;

/// The style of a place.
pub(super) const PLACE: Style = AnsiColor::Cyan.on_default();

/// A line of pieces in styles.
#[derive(Default)]
pub(super) struct StyledLine(Vec<(Style, String)>);

impl StyledLine {
    pub(super) fn of(text: String) -> Self {
        StyledLine(vec![(Style::new(), text)])
    }

    fn with(mut self, style: Style, text: String) -> Self {
        self.0.push((style, text));
        self
    }

    fn indented(mut self) -> Self {
        if let Some((_, first)) = self.0.first_mut() {
            first.insert_str(0, "    ");
        }
        self
    }

    /// Add the line without blanks at its end.
    pub(super) fn add_to(&self, text: &mut Styled) {
        let last = self.0.len().saturating_sub(1);
        for (index, (style, piece)) in self.0.iter().enumerate() {
            text.add(
                *style,
                if index == last {
                    piece.trim_end()
                } else {
                    piece
                },
            );
        }
        text.plain("\n");
    }
}

impl ExplainReport<'_> {
    /// One value: what set it and why, and all that it overrode.
    pub fn history(&self, path: &[Key]) -> Styled {
        let mut text = Styled::default();
        let Some(known) = self.at(path) else {
            return text;
        };
        let now = short(&inline(&self.now(path, &known.value)));
        let blank = StyledLine::default;
        let mut lines = vec![
            StyledLine::of(format!("{}: ", joined(path))).with(KEY, now),
            blank(),
        ];
        lines.extend(self.origins(path, &known));
        if let Value::List(items) = &known.value {
            lines.push(blank());
            for index in 0..items.len() {
                let path = [path, &[Key::of_index(index)]].concat();
                let Some(item) = self.at(&path) else { continue };
                let value = short(&inline(&self.now(&path, &item.value)));
                let place = self.place(&item.spot, item.layer);
                lines.push(StyledLine::of(format!("  [{index}] {value}  ")).with(PLACE, place));
            }
        }
        if matches!(known.value, Value::Map(_)) {
            let below = Means::Blame(self.formula, &joined(path));
            lines.push(blank());
            lines.push(StyledLine::of(format!("  each key below it: {below}")));
        }
        lines.iter().for_each(|line| line.add_to(&mut text));
        text
    }

    /// The source of a value and its reason, and all that it overrode.
    pub(super) fn origins(&self, path: &[Key], known: &Ancestry) -> Vec<StyledLine> {
        let at = |line: StyledLine, spot: &ValuePosition, layer| {
            line.with(PLACE, self.place(spot, layer))
        };
        let now = short(&inline(&self.now(path, &known.value)));
        let first = StyledLine::of("  ".into())
            .with(KEY, now)
            .with(Style::new(), "  ".into());
        let mut lines = vec![at(first, &known.spot, known.layer)];
        for printed in &known.printed {
            lines.extend(self.printed(path, printed));
        }
        let from = |input| at(StyledLine::of("    from ".into()), input, known.layer);
        lines.extend(known.inputs.iter().map(from));
        lines.extend(
            self.layer(known.layer, true)
                .into_iter()
                .map(StyledLine::of),
        );
        lines.extend(self.in_pillar(&known.spot));
        for past in known.past.iter().rev() {
            lines.push(StyledLine::default());
            let value = short(&inline(&self.past(path, past)));
            lines.push(at(
                StyledLine::of(format!("  {value}  ")),
                &past.spot,
                past.layer,
            ));
            let layer = self.layer(past.layer, past.layer != known.layer);
            lines.extend(layer.into_iter().map(StyledLine::of));
            lines.push(StyledLine::of(format!("    {}", ended(past.how, past.by))));
        }
        lines
    }

    /// The source of a value that a template printed as a part of another.
    fn printed(&self, path: &[Key], printed: &Ancestry) -> Vec<StyledLine> {
        let is_secret = |spot: &ValuePosition| self.hides_all || spot.is_secret();
        let shown = |value: &Value, is_secret: bool| match value {
            // The places of its parts are not known here, and one may be secret.
            Value::Map(_) | Value::List(_) => String::new(),
            value => {
                let value = self.secrets.redact_value(path, value, &|_| is_secret);
                format!("{}  ", short(&inline(&value)))
            }
        };
        let value = shown(&printed.value, is_secret(&printed.spot));
        let place = self.place(&printed.spot, printed.layer);
        let mut lines = vec![StyledLine::of(format!("    from {value}")).with(PLACE, place)];
        let layer = self.layer(printed.layer, true).into_iter();
        lines.extend(layer.map(|line| StyledLine::of(line).indented()));
        lines.extend(
            self.in_pillar(&printed.spot)
                .into_iter()
                .map(StyledLine::indented),
        );
        for past in printed.past.iter().rev() {
            let value = shown(&past.value, is_secret(&past.spot));
            let place = self.place(&past.spot, past.layer);
            let line = StyledLine::of(format!("        over {value}")).with(PLACE, place);
            lines.push(line.with(Style::new(), format!("  {}", ended(past.how, past.by))));
        }
        lines
    }

    /// The source of a value in the pillar, if it is from there and the pillar was compiled.
    fn in_pillar(&self, spot: &ValuePosition) -> Vec<StyledLine> {
        let (ValuePosition::Fact { part, path, .. }, Some(pillar)) = (spot, self.lineage.pillar())
        else {
            return Vec::new();
        };
        let report = ExplainReport::of_pillar(pillar, self.secrets, self.minion);
        match report.at(path).filter(|_| *part == Some(Part::Pillar)) {
            None => Vec::new(),
            Some(known) => std::iter::once(StyledLine::of("    in the pillar:".into()))
                .chain(
                    report
                        .origins(path, &known)
                        .into_iter()
                        .map(StyledLine::indented),
                )
                .collect(),
        }
    }

    /// A place, with what computed the value there.
    pub(super) fn place(&self, spot: &ValuePosition, layer: usize) -> String {
        let kind = self.lineage.layers().get(layer).map(|layer| &layer.kind);
        match (spot, kind) {
            (
                ValuePosition::File { computed: true, .. },
                Some(LayerKind::External { shown: None, .. }),
            ) => {
                format!("{spot}  (computed there)")
            }
            (ValuePosition::File { computed: true, .. }, _) => {
                format!("{spot}  (by the template there)")
            }
            (spot, _) => shown(spot),
        }
    }

    /// The description of a layer, and why it is one.
    fn layer(&self, number: usize, with_reasons: bool) -> Vec<String> {
        let Some(layer) = self.lineage.layers().get(number) else {
            return Vec::new();
        };
        let mut lines = vec![format!("    layer {}: {}", number + 1, named(layer, true))];
        if with_reasons {
            lines.extend(
                layer
                    .because
                    .iter()
                    .map(|because| format!("    because {}", self.reason(layer, because))),
            );
            if let LayerKind::Sls { reasons, .. } = &layer.kind {
                lines.extend(reasons.iter().map(|why| format!("    {}", reached(why))));
            }
            lines.extend(
                layer
                    .merged
                    .as_ref()
                    .map(|merged| format!("    merged with {}", self.strategy(merged))),
            );
        }
        lines
    }

    pub(super) fn strategy(&self, merged: &LayerMerge) -> String {
        let lists = if merged.merge_lists {
            ", lists appended"
        } else {
            ""
        };
        let by = match &merged.chosen {
            StrategyOrigin::Layer(Some(place)) => format!("as {place} says"),
            StrategyOrigin::Layer(None) => "as the value itself says".into(),
            StrategyOrigin::Default => "the formula's default".into(),
            StrategyOrigin::Option => "the option pillar_source_merging_strategy".into(),
            StrategyOrigin::BuiltIn => "the built-in default".into(),
        };
        format!(
            "strategy {}{lists}: {by}",
            self.secrets.scrubbed(&merged.strategy)
        )
    }

    pub(super) fn reason(&self, layer: &Layer, because: &MatchedValue) -> String {
        match layer.kind {
            // The value is the layer itself.
            LayerKind::Value => format!("{} is set", because.matcher),
            _ => format!(
                "{} is {}",
                because.matcher,
                short(&inline(&self.found(layer, because)))
            ),
        }
    }

    /// The value that a matcher found, without secrets. What became part of a file's path is not secret, unless the
    /// pillar has it: that the file is read shows the name of a file, and not whose value it is.
    pub(super) fn found(&self, layer: &Layer, because: &MatchedValue) -> Redacted<Value> {
        let of_pillar = is_secret_matcher(&because.matcher, self.secrets);
        let in_path = |value: &Value| match &layer.kind {
            LayerKind::File { path, .. } => value.as_str().is_some_and(|text| {
                path.contains(text)
                    && !is_of_the_pillar(&because.matcher)
                    && !self.secrets.hide(&[], false, value)
            }),
            _ => false,
        };
        let at = |path: &[Key]| match (&because.found, path.first()) {
            (Value::List(items), Some(step)) => items.get(step.to_string().parse::<usize>().ok()?),
            (other, _) => Some(other),
        };
        let is_secret = |path: &[Key]| of_pillar && !at(path).is_some_and(in_path);
        self.secrets.redact_value(&[], &because.found, &is_secret)
    }
}

/// The name of a layer, in words.
pub(super) fn named(layer: &Layer, with_source: bool) -> String {
    let definition = layer.definition.as_ref().filter(|_| with_source);
    let of = definition
        .map(|definition| format!(", by the source {definition}"))
        .unwrap_or_default();
    match &layer.kind {
        LayerKind::File { path, .. } => format!("salt://{path}{of}"),
        LayerKind::Value => format!("a value{of}"),
        LayerKind::Sls { sls, saltenv, .. } => format!("the sls {sls} of {saltenv}"),
        LayerKind::External {
            name, place, class, ..
        } => {
            let class = class
                .as_ref()
                .map(|class| format!(", the class or node {class}"));
            let at = place.as_ref().map(|place| format!(", {place}"));
            let at = class.or(at).unwrap_or_default();
            format!("the external pillar {name}{at}")
        }
        LayerKind::Edits { shown } => format!("changes that {shown} makes in place"),
        LayerKind::Arguments => "arguments and defaults of map.data".into(),
        LayerKind::PillarOverride => "values that override the pillar".into(),
        LayerKind::Unknown => "an unknown origin".into(),
    }
}

/// Why a minion gets an sls.
pub(super) fn reached(why: &Reason) -> String {
    match why {
        Reason::Include { sls, place } => {
            let at = place.as_ref().map(|place| format!(" in {place}"));
            format!("included by {sls}{}", at.unwrap_or_default())
        }
        Reason::Target {
            target,
            matcher,
            place,
            ..
        } => {
            let at = place.as_ref().map(|place| format!(" in {place}"));
            let at = at.unwrap_or_default();
            format!("because '{target}' ({matcher}) matches the minion{at}")
        }
    }
}

pub(super) fn ended(how: HistoryStep, by: usize) -> String {
    let layer = by + 1;
    match how {
        HistoryStep::Replaced => format!("replaced by layer {layer}"),
        HistoryStep::Joined => format!("joined with the list of layer {layer}"),
        HistoryStep::Paired => format!("put into a list with the value of layer {layer}"),
        HistoryStep::Removed => format!("taken away by layer {layer}"),
        HistoryStep::Rejected => "never taken over: the strategy keeps what is there".into(),
        HistoryStep::Edited => format!("changed in place by layer {layer}"),
    }
}
