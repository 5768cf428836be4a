//! HTML pages: where each value of a formula's configuration comes from ([`Page`]), and what a change
//! does to many minions ([`Changes`]).
//!
//! The crate does not know about formulas, minions, secrets or where anything comes from.
//!
#![doc = include_str!("../README.md")]

mod changes;
mod outline;

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;
use sha2::{Digest, Sha256};
use tera::{Context, Tera};

pub use changes::{Changed, Changes};

/// The content of a page.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Page {
    /// The formula.
    pub formula: String,
    /// The minion.
    pub minion: String,
    /// The path of the values, if they are not all.
    pub key: Option<String>,
    /// What the values were made of, in the order of merging.
    pub layers: Vec<Layer>,
    /// The values, in the order of the data.
    pub rows: Vec<Row>,
    /// Lines of files by number, for those that are shown.
    pub files: BTreeMap<String, BTreeMap<usize, String>>,
}

/// A layer.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Layer {
    /// What it is.
    pub title: String,
    /// The source definition that led to it.
    pub definition: Option<String>,
    /// Why it is one.
    pub because: Vec<String>,
    /// How it was merged.
    pub merged: Option<String>,
    /// The part of the work that merged it.
    pub stage: String,
}

/// A value.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Row {
    /// The keys and indices that lead to it.
    pub path: Vec<String>,
    /// As it is shown.
    pub value: String,
    /// The layer it comes from, from 1.
    pub layer: usize,
    /// Where it stands.
    pub origin: Origin,
    /// What was there before, the last first.
    pub past: Vec<Past>,
}

/// Where a value stands.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Origin {
    /// In words.
    pub text: String,
    /// The file whose lines are among those of the page, and the place in it.
    pub place: Option<Place>,
    /// Whether it was computed there.
    pub computed: bool,
    /// Why no lines are shown, if there is a reason.
    pub withheld: Option<String>,
}

/// A place in a file.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Place {
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
}

/// A value that was there before.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Past {
    /// As it is shown.
    pub value: String,
    /// The layer it came from, from 1.
    pub layer: usize,
    /// Where it stands.
    pub origin: Origin,
    /// How it ended.
    pub ended: String,
}

/// A page cannot be made.
#[derive(Debug, thiserror::Error)]
#[error("the page cannot be made: {0}")]
pub struct PageError(#[source] Box<dyn std::error::Error + Send + Sync>);

const TEMPLATE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// What a row shows before it is chosen.
#[derive(Serialize)]
struct Line<'r> {
    value: &'r str,
    layer: usize,
    origin: &'r str,
    computed: bool,
    past: usize,
}

impl<'r> Line<'r> {
    fn of(row: &'r Row) -> Self {
        let Row {
            value,
            layer,
            past,
            origin,
            ..
        } = row;
        Line {
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
        let page = self.shown();
        // Its name says that what is printed is escaped.
        let name = "page.html";
        let mut tera = Tera::default();
        tera.add_raw_template(name, TEMPLATE).map_err(failed)?;
        let mut context = Context::new();
        context.insert(
            "data",
            &in_script(&serde_json::to_string(&page).map_err(failed)?),
        );
        context.insert("outline", &outline::outline(&page.rows));
        context.insert("rows", &page.rows.iter().map(Line::of).collect::<Vec<_>>());
        // The context copies all it is given, and there can be many rows.
        context.insert(
            "page",
            &Page {
                rows: Vec::new(),
                files: BTreeMap::new(),
                ..page
            },
        );
        context.insert("style", STYLE);
        context.insert("script", SCRIPT);
        context.insert("script_hash", &STANDARD.encode(Sha256::digest(SCRIPT)));
        tera.render(name, &context).map_err(failed)
    }

    /// The page with every text as it is shown.
    fn shown(&self) -> Page {
        let mut page = self.clone();
        let origin = |origin: &mut Origin| {
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

/// Let characters be seen that reorder, break or hide others.
fn shown(text: &mut String) {
    if text.chars().any(is_hidden) {
        let visible = |c: char| {
            if is_hidden(c) {
                format!("\\u{{{:x}}}", u32::from(c))
            } else {
                c.to_string()
            }
        };
        *text = text.chars().map(visible).collect();
    }
}

fn is_hidden(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
        || (c.is_control() && c != '\t')
}

/// JSON that can stand in an element `script`: it has nothing in it that begins or ends an element or
/// an entity.
fn in_script(json: &str) -> String {
    // Outside of strings JSON has none of these.
    json.replace('<', "\\u003c")
        .replace('>', "\\u003e")
        .replace('&', "\\u0026")
}
