//! The page of `--html`.

use std::path::Path;

use mapstack::lineage::{Ancestry, Spot};
use mapstack::minion::FactPlace;
use mapstack::value::{Key, Value};
use mapstack::{Error, ErrorKind};
use mapstack_page::{Layer, Origin, Page, Past, Place, Row};

use crate::output;
use crate::report::Failure;

use super::excerpts::Excerpts;
use super::history::{ended, named};
use super::{Report, is_branch, rows, shown};

/// Longer values are cut.
const LONGEST: usize = 2000;

/// Write a page to a file.
pub fn write(page: &Page, file: &Path) -> Result<(), Failure> {
    let html = page
        .to_html()
        .map_err(|e| Failure::Data(Error::new(ErrorKind::Template, e.to_string())))?;
    output::write_file(file, &html)
}

impl Report<'_> {
    /// Every value at or below a path, with its history and lines of the files it came from.
    pub fn page(&self, above: &[Key]) -> Page {
        let mut excerpts = Excerpts::new(self.secrets);
        self.lineage
            .visit(&mut |path, known| self.hide(path, known, &mut excerpts));
        let mut page = Page {
            formula: self.formula.into(),
            minion: self.minion.id().to_string(),
            key: (!above.is_empty()).then(|| super::joined(above)),
            ..Page::default()
        };
        for layer in self.lineage.layers() {
            page.layers.push(Layer {
                title: named(layer, false),
                definition: layer.definition.as_ref().map(ToString::to_string),
                because: layer
                    .because
                    .iter()
                    .map(|because| self.reason(layer, because))
                    .collect(),
                merged: layer.merged.as_ref().map(|merged| self.strategy(merged)),
                stage: rows::stage(layer.stage).into(),
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
            let past = known.past.iter().rev().map(|past| Past {
                value: cut(&self.past(path, past)),
                layer: past.layer + 1,
                origin: excerpts.origin(&past.spot),
                ended: ended(past.how, past.by),
            });
            page.rows.push(Row {
                path: inside.iter().map(ToString::to_string).collect(),
                value: cut(&self.now(path, &known.value)),
                layer: known.layer + 1,
                past: past.collect(),
                origin: excerpts.origin(&known.spot),
            });
        });
        page.files = excerpts.into_files();
        page
    }

    /// Tell what no line may show.
    fn hide(&self, path: &[Key], known: &Ancestry, excerpts: &mut Excerpts) {
        if !is_branch(&known.value) && !self.now(path, &known.value).is_same(&known.value) {
            excerpts.hide(&known.spot, &known.value);
        }
        for past in &known.past {
            if !self.past(path, past).is_same(&past.value) {
                excerpts.hide(&past.spot, &past.value);
            }
        }
    }
}

impl Excerpts {
    fn origin(&mut self, spot: &Spot) -> Origin {
        let mut origin = Origin {
            text: shown(spot),
            ..Origin::default()
        };
        let numbered = |file: &str, line: usize, column: usize| Place {
            file: file.into(),
            line,
            column,
        };
        match spot {
            Spot::File {
                place, computed, ..
            } => {
                origin.computed = *computed;
                let (line, column) = (place.line(), place.column());
                origin.place = Some(numbered(&place.file, line, column));
                self.want(&place.file, &place.source, line);
            }
            Spot::Fact {
                place: Some(FactPlace::File(place)),
                ..
            } => {
                let Some(mark) = place.mark else {
                    return origin;
                };
                match self.want_facts(&place.file, mark.line as usize) {
                    true => {
                        origin.place = Some(numbered(
                            &place.file,
                            mark.line as usize,
                            mark.column as usize,
                        ));
                    }
                    false => {
                        origin.withheld =
                            Some("The lines of facts are shown with --show-secrets alone.".into());
                    }
                }
            }
            Spot::Fact { .. } | Spot::Argument => {}
        }
        origin
    }
}

fn cut(value: &Value) -> String {
    let text = value.repr();
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
