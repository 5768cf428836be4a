//! The page of `--html`.

use crate::page::{EarlierValue, FilePlace, Page, PageLayer, PageOrigin, ValueRow};
use mapstack::minion::FactPlace;
use mapstack::secrets::Redacted;
use mapstack::value::{Key, Value};
use mapstack::{Error, ErrorKind, Means};
use mapstack_diagnostic::redact::Excerpts;
use mapstack_lineage::{Ancestry, LayerKind, ValuePosition};

use super::history::{ended, named, reached};
use super::{ExplainReport, is_branch, shown};
use crate::sources::StageName;
use crate::words::joined;
use crate::yaml_form::inline;

/// Longer values are cut.
const MAX_LENGTH: usize = 2000;

impl ExplainReport<'_> {
    /// A page for a browser: every value at or below a path, its history and the lines it comes from.
    ///
    /// # Errors
    /// The page's template fails, which no content makes it do.
    pub fn html(&self, above: &[Key]) -> Result<String, Error> {
        let page = self.page(above).to_html();
        page.map_err(|e| Error::new(ErrorKind::Template, e.to_string()))
    }

    /// Every value at or below a path, with its history and lines of the files it came from.
    fn page(&self, above: &[Key]) -> Page {
        let mut excerpts = Excerpts::new(self.secrets);
        self.lineage
            .visit(&mut |path, known| self.hide(path, known, &mut excerpts));
        let mut page = Page {
            formula: self.formula.into(),
            minion: self.minion.id().to_string(),
            key: (!above.is_empty()).then(|| joined(above)),
            ..Page::default()
        };
        for layer in self.lineage.layers() {
            page.layers.push(PageLayer {
                title: named(layer, false),
                definition: layer.definition.as_ref().map(ToString::to_string),
                because: self.reasons(layer),
                merged: layer.merged.as_ref().map(|merged| self.strategy(merged)),
                stage: StageName::from(layer.stage).name().into(),
            });
        }
        self.lineage.visit(&mut |path, known| {
            if !path.starts_with(above) || is_branch(&known.value) {
                return;
            }
            let inside = path.get(above.len()..).filter(|inside| !inside.is_empty());
            let inside = inside
                .or_else(|| path.last().map(std::slice::from_ref))
                .unwrap_or_default();
            let past = known.past.iter().rev().map(|past| EarlierValue {
                value: cut(&self.past(path, past)),
                layer: past.layer + 1,
                origin: origin(&mut excerpts, &past.spot),
                ended: ended(past.how, past.by),
            });
            page.rows.push(ValueRow {
                path: inside
                    .iter()
                    .map(|key| self.masked_key(key).to_string())
                    .collect(),
                value: cut(&self.now(path, &known.value)),
                layer: known.layer + 1,
                past: past.collect(),
                origin: origin(&mut excerpts, &known.spot),
            });
        });
        page.files = excerpts.into_files();
        page
    }

    /// Why a layer is one.
    fn reasons(&self, layer: &mapstack_lineage::Layer) -> Vec<String> {
        match &layer.kind {
            LayerKind::Sls { reasons, .. } => reasons.iter().map(reached).collect(),
            _ => {
                let because = layer.because.iter();
                because.map(|because| self.reason(layer, because)).collect()
            }
        }
    }

    /// Add what no line may show.
    fn hide(&self, path: &[Key], known: &Ancestry, excerpts: &mut Excerpts) {
        if !is_branch(&known.value) && !self.now(path, &known.value).is_same(&known.value) {
            hide_value(excerpts, &known.spot, &known.value);
        }
        for past in &known.past {
            if !self.past(path, past).is_same(&past.value) {
                hide_value(excerpts, &past.spot, &past.value);
            }
        }
    }
}

/// Neither the place nor the text of a secret is shown.
fn hide_value(excerpts: &mut Excerpts, spot: &ValuePosition, value: &Value) {
    excerpts.hide_text(value);
    if let ValuePosition::File { place, .. } = spot {
        excerpts.hide_at(&place.file, &place.source, place.start);
    }
}

/// The place of a value, and the lines around it, if they may be shown.
fn origin(excerpts: &mut Excerpts, spot: &ValuePosition) -> PageOrigin {
    let mut origin = PageOrigin {
        text: shown(spot),
        ..PageOrigin::default()
    };
    let numbered = |file: &str, line: usize, column: usize| FilePlace {
        file: file.into(),
        line,
        column,
    };
    match spot {
        ValuePosition::File {
            place, computed, ..
        } => {
            origin.computed = *computed;
            let (line, column) = (place.line(), place.column());
            origin.place = Some(numbered(&place.file, line, column));
            excerpts.want(&place.file, &place.source, line);
        }
        ValuePosition::Fact {
            place: Some(FactPlace::File(place)),
            ..
        } => {
            let Some(mark) = place.mark else {
                return origin;
            };
            match excerpts.want_facts(&place.file, mark.line as usize) {
                true => {
                    origin.place = Some(numbered(
                        &place.file,
                        mark.line as usize,
                        mark.column as usize,
                    ));
                }
                false => {
                    origin.withheld = Some(format!(
                        "The lines of facts are only shown with {}.",
                        Means::ShowSecrets
                    ));
                }
            }
        }
        ValuePosition::Fact { .. } | ValuePosition::Argument | ValuePosition::Unknown => {}
    }
    origin
}

fn cut(value: &Redacted<Value>) -> String {
    let text = inline(value);
    match text.char_indices().nth(MAX_LENGTH) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
