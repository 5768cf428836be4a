//! HTML pages: where each value of a formula's configuration comes from (`Page`), and what a change
//! does to many minions (`Changes`).
//!
//! A page is a single file that asks for nothing else: no script, style, font or image from
//! anywhere, so it works from a disk, in a mail, or as the artefact of a build. The code
//! that fills a `Page` decides what is secret: everything in it will be in the file.
//!
//! Texts may be hostile. They are escaped in HTML, the data for the script is in it as JSON without anything that could
//! end the element, characters that reorder or hide others are shown by their numbers, and a content security policy
//! lets the browser run only our script.
//!
//! ```rust
//! use mapstack_report::page::{PageOrigin, Page, ValueRow};
//! let origin = PageOrigin { text: "users/defaults.yaml:2:9".into(), ..PageOrigin::default() };
//! let row = ValueRow { path: vec!["shell".into()], value: "'</script>'".into(), layer: 1, origin, past: vec![] };
//! let page = Page { formula: "users".into(), minion: "web1".into(), rows: vec![row], ..Page::default() };
//! let html = page.to_html().unwrap();
//! assert!(html.contains("&#x27;&lt;&#x2F;script&gt;&#x27;") && html.matches("</script>").count() == 2);
//! ```

mod changes;
mod listing;
mod outline;
mod states;
mod template;

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Serialize;
use tera::Context;

use crate::terminal::visible;
pub use changes::{Changed, ChangedLine, Changes, QuotedPlace};
pub use listing::{Bar, Chart, ListingItem, ListingPage};
pub use states::{StatesOf, StatesPage};
use template::Template;

/// The content of a page.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Page {
    /// The formula.
    pub formula: String,
    /// The minion.
    pub minion: String,
    /// The path of the values, if they are not all.
    pub key: Option<String>,
    /// The layers of the values, in the order of merging.
    pub layers: Vec<PageLayer>,
    /// The values, in the order of the data.
    pub rows: Vec<ValueRow>,
    /// Lines of files by number, for those that are shown.
    pub files: BTreeMap<String, BTreeMap<usize, String>>,
}

/// A layer.
#[derive(Debug, Clone, Default, Serialize)]
pub struct PageLayer {
    /// The title.
    pub title: String,
    /// The source definition that led to it.
    pub definition: Option<String>,
    /// Why it is one.
    pub because: Vec<String>,
    /// The strategy of its merge.
    pub merged: Option<String>,
    /// The part of the work that merged it.
    pub stage: String,
}

/// A value.
#[derive(Debug, Clone, Default, Serialize)]
pub struct ValueRow {
    /// The keys and indices that lead to it.
    pub path: Vec<String>,
    /// As it is shown.
    pub value: String,
    /// The layer it comes from, from 1.
    pub layer: usize,
    /// The place of the value.
    pub origin: PageOrigin,
    /// The values before, the last first.
    pub past: Vec<EarlierValue>,
}

/// The place of a value.
#[derive(Debug, Clone, Default, Serialize)]
pub struct PageOrigin {
    /// In words.
    pub text: String,
    /// The file whose lines are among those of the page, and the place in it.
    pub place: Option<FilePlace>,
    /// True if it was computed there.
    pub computed: bool,
    /// Why no lines are shown, if there is a reason.
    pub withheld: Option<String>,
}

/// A place in a file.
#[derive(Debug, Clone, Default, Serialize)]
pub struct FilePlace {
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
}

/// A value that was there before.
#[derive(Debug, Clone, Default, Serialize)]
pub struct EarlierValue {
    /// As it is shown.
    pub value: String,
    /// The layer it came from, from 1.
    pub layer: usize,
    /// The place of the value.
    pub origin: PageOrigin,
    /// The end of it.
    pub ended: String,
}

/// A page cannot be made.
#[derive(Debug, thiserror::Error)]
#[error("the page cannot be made: {0}")]
pub struct PageError(#[source] Box<dyn std::error::Error + Send + Sync>);

const TEMPLATE: Template = Template {
    text: include_str!("page.html"),
    styles: &[STYLE],
    script: include_str!("page.js"),
};
const STYLE: &str = include_str!("page.css");

/// A row before it is opened.
#[derive(Serialize)]
struct ClosedRow<'r> {
    value: &'r str,
    layer: usize,
    origin: &'r str,
    computed: bool,
    past: usize,
    /// True if the file is that of the row before.
    again: bool,
    file: &'r str,
    /// The rest of the origin, after the file.
    rest: &'r str,
}

/// A layer's share of the data.
#[derive(Serialize)]
struct Share {
    count: usize,
    percent: usize,
}

/// The share of each layer in the rows.
fn shares(page: &Page) -> Vec<Share> {
    let share = |layer: usize| {
        let count = page.rows.iter().filter(|row| row.layer == layer).count();
        let percent = (count * 100 + page.rows.len() / 2) / page.rows.len().max(1);
        Share { count, percent }
    };
    (1..=page.layers.len()).map(share).collect()
}

/// The options that most layers are merged with, if there are several layers with them.
fn usual(layers: &[PageLayer]) -> Option<&str> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for merged in layers.iter().filter_map(|layer| layer.merged.as_deref()) {
        *counts.entry(merged).or_default() += 1;
    }
    let most = counts.into_iter().max_by_key(|(_, count)| *count);
    most.filter(|(_, count)| *count > 1)
        .map(|(merged, _)| merged)
}

/// The directory that all files of places are below, with a slash at its end.
fn common_directory<'f>(mut files: impl Iterator<Item = &'f str>) -> &'f str {
    let directory = |file: &'f str| &file[..file.rfind('/').map_or(0, |at| at + 1)];
    let first = files.next().map_or("", directory);
    files.fold(first, |common, file| {
        let mut common = common;
        while !file.starts_with(common) {
            common = directory(common.trim_end_matches('/'));
        }
        common
    })
}

impl<'r> ClosedRow<'r> {
    fn of(row: &'r ValueRow, before: Option<&ValueRow>) -> Self {
        let ValueRow {
            value,
            layer,
            past,
            origin,
            ..
        } = row;
        let file = |row: &'r ValueRow| row.origin.place.as_ref().map(|place| place.file.as_str());
        let own = file(row).unwrap_or_default();
        let rest = origin.text.strip_prefix(own).filter(|_| !own.is_empty());
        let last = before.and_then(|row| row.origin.place.as_ref());
        ClosedRow {
            again: rest.is_some() && last.is_some_and(|place| place.file == own),
            file: own,
            rest: rest.unwrap_or_default(),
            value,
            layer: *layer,
            origin: &origin.text,
            computed: origin.computed,
            past: past.len(),
        }
    }
}

impl Page {
    /// The page as HTML.
    ///
    /// # Errors
    /// [`PageError`] if the template fails, which no content makes it do.
    pub fn to_html(&self) -> Result<String, PageError> {
        let (page, below) = self.shown().below_root();
        let title = format!("{} for {}", page.formula, page.minion);
        let mut context = Context::new();
        context.insert(
            "data",
            &in_script(&serde_json::to_string(&page).map_err(failed)?),
        );
        context.insert("outline", &outline::outline(&page.rows));
        let before = std::iter::once(None).chain(page.rows.iter().map(Some));
        let lines = page.rows.iter().zip(before);
        let lines: Vec<_> = lines
            .map(|(row, before)| ClosedRow::of(row, before))
            .collect();
        context.insert("rows", &lines);
        context.insert("below", &below);
        context.insert("shares", &shares(&page));
        context.insert("usual", &usual(&page.layers));
        // The context copies all it is given, and there can be many rows.
        context.insert(
            "page",
            &Page {
                rows: Vec::new(),
                files: BTreeMap::new(),
                ..page
            },
        );
        TEMPLATE.render(&title, "explain", context)
    }

    /// The page with the names of files from the directory that all of them are below, and this directory.
    fn below_root(mut self) -> (Page, String) {
        let named = self.rows.iter().flat_map(|row| {
            let past = row.past.iter().map(|past| &past.origin);
            past.chain([&row.origin])
        });
        let files = named.filter_map(|origin| Some(origin.place.as_ref()?.file.as_str()));
        let below = common_directory(files).to_owned();
        let shorten = |text: &mut String| {
            if let Some(rest) = text.strip_prefix(&below) {
                *text = rest.to_owned();
            }
        };
        let origin = |origin: &mut PageOrigin| {
            if let Some(place) = &mut origin.place {
                shorten(&mut place.file);
                shorten(&mut origin.text);
            }
        };
        for row in &mut self.rows {
            origin(&mut row.origin);
            row.past
                .iter_mut()
                .for_each(|past| origin(&mut past.origin));
        }
        let files = std::mem::take(&mut self.files).into_iter();
        self.files = files
            .map(|(mut file, lines)| {
                shorten(&mut file);
                (file, lines)
            })
            .collect();
        (self, below)
    }

    /// The page with every text as it is shown.
    fn shown(&self) -> Page {
        let mut page = self.clone();
        let origin = |origin: &mut PageOrigin| {
            shown(&mut origin.text);
            origin
                .place
                .iter_mut()
                .for_each(|place| shown(&mut place.file));
            origin.withheld.iter_mut().for_each(shown);
        };
        [&mut page.formula, &mut page.minion]
            .into_iter()
            .chain(&mut page.key)
            .for_each(shown);
        for layer in &mut page.layers {
            let texts = [&mut layer.title, &mut layer.stage]
                .into_iter()
                .chain(&mut layer.definition);
            texts
                .chain(&mut layer.because)
                .chain(&mut layer.merged)
                .for_each(shown);
        }
        for row in &mut page.rows {
            row.path.iter_mut().chain([&mut row.value]).for_each(shown);
            origin(&mut row.origin);
            for past in &mut row.past {
                [&mut past.value, &mut past.ended]
                    .into_iter()
                    .for_each(shown);
                origin(&mut past.origin);
            }
        }
        let files = std::mem::take(&mut page.files)
            .into_iter()
            .map(|(mut file, mut lines)| {
                shown(&mut file);
                lines.values_mut().for_each(shown);
                (file, lines)
            });
        page.files = files.collect();
        page
    }
}

fn failed(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> PageError {
    PageError(error.into())
}

/// Let characters be seen that reorder, break or hide others; breaks of lines stay.
fn shown_lines(text: &mut String) {
    if let Cow::Owned(shown) = visible(text) {
        *text = shown;
    }
}

/// The same for a text of one line.
fn shown(text: &mut String) {
    shown_lines(text);
    if text.contains('\n') {
        *text = text.replace('\n', "\\x0a");
    }
}

/// JSON for an element `script`: it has nothing in it that begins or ends an element or an entity.
fn in_script(json: &str) -> String {
    // Outside of strings JSON has none of these.
    json.replace('<', "\\u003c")
        .replace('>', "\\u003e")
        .replace('&', "\\u0026")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::tests::{assert_harmless, hostile};

    /// A page of all texts has the elements of one as long without any of them, and nothing in it acts.
    fn assert_texts(html: impl Fn(&dyn Fn(&str) -> String) -> String) {
        let (page, plain) = (html(&str::to_owned), html(&|_| "a".into()));
        assert_harmless(&page.replace('\t', " "), "the page");
        for part in ["<script", "</", "<!--", "<img", "<details"] {
            let count = |page: &str| page.matches(part).count();
            assert_eq!(count(&page), count(&plain), "{part}");
        }
    }

    #[test]
    fn nothing_acts_in_a_page_of_origins() {
        let texts = hostile();
        assert_texts(|of| {
            let origin = |text: &str| PageOrigin {
                text: of(text),
                withheld: Some(of(text)),
                ..PageOrigin::default()
            };
            let row = |(at, text): (usize, &String)| ValueRow {
                path: vec![at.to_string(), of(text)],
                value: of(text),
                layer: 1,
                origin: origin(text),
                past: vec![],
            };
            let layer = |text: &String| PageLayer {
                title: of(text),
                definition: Some(of(text)),
                because: vec![of(text)],
                merged: None,
                stage: of(text),
            };
            let page = Page {
                formula: of("\u{9b}"),
                minion: of("\n::error::x"),
                layers: texts.iter().step_by(9).map(layer).collect(),
                rows: texts.iter().step_by(9).enumerate().map(row).collect(),
                ..Page::default()
            };
            page.to_html().unwrap()
        });
    }

    #[test]
    fn nothing_acts_in_a_page_of_changes() {
        let texts = hostile();
        assert_texts(|of| {
            let change = |text: &String| Changed {
                formulas: of(text),
                title: of(text),
                message: Some(of(text)),
                lines: vec![ChangedLine {
                    sign: "new".into(),
                    text: of(text),
                    from: of(text),
                }],
                from: of(text),
                is: Some(QuotedPlace {
                    text: of(text),
                    file: of(text),
                    line: 1,
                    lines: vec![(1, of(text))],
                }),
                minions: vec![of(text)],
                ..Changed::default()
            };
            let page = Changes {
                from: of("\u{9b}"),
                to: of("##[error]"),
                notes: texts.iter().step_by(9).map(|text| of(text)).collect(),
                changes: texts.iter().step_by(9).map(change).collect(),
                ..Changes::default()
            };
            page.to_html().unwrap()
        });
    }

    #[test]
    fn nothing_acts_in_a_list() {
        let texts = hostile();
        assert_texts(|of| {
            let item = |text: &String| ListingItem {
                rule: of(text),
                formula: of(text),
                title: of(text),
                notes: vec![of(text)],
                ..ListingItem::default()
            };
            let bar = |text: &String| Bar {
                label: of(text),
                members: vec![of(text)],
            };
            let chart = Chart {
                title: of("\u{202e}"),
                bars: texts.iter().step_by(9).map(bar).collect(),
            };
            let page = ListingPage {
                title: of("\r"),
                charts: vec![chart],
                items: texts.iter().step_by(9).map(item).collect(),
                ..ListingPage::default()
            };
            page.to_html().unwrap()
        });
    }
}
