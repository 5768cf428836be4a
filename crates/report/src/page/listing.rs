//! Findings, or values with who has them, as a page.

use serde::Serialize;
use tera::Context;

use crate::page::changes::{LIST_STYLE, QuotedPlace, SCRIPT};
use crate::page::template::Template;
use crate::page::{PageError, STYLE, shown};

/// The content of a page that lists something.
///
/// ```
/// use mapstack_report::page::{ListingItem, ListingPage};
/// let item = ListingItem { level: "error".into(), title: "<b> is not a key".into(), bad: true, ..ListingItem::default() };
/// let page = ListingPage { verb: "lint".into(), items: vec![item], ..ListingPage::default() };
/// assert!(page.to_html().unwrap().contains("&lt;b&gt; is not a key"));
/// ```
#[derive(Debug, Clone, Default, Serialize)]
pub struct ListingPage {
    /// The verb that made it.
    pub verb: String,
    /// The title.
    pub title: String,
    /// In a sentence.
    pub summary: String,
    /// More, a sentence each.
    pub notes: Vec<String>,
    /// The charts of how many have which value.
    pub charts: Vec<Chart>,
    /// The findings, the worst first.
    pub items: Vec<ListingItem>,
}

/// A histogram.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Chart {
    /// The title.
    pub title: String,
    /// The values, the most frequent first.
    pub bars: Vec<Bar>,
}

/// A value, and who has it.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Bar {
    /// The value.
    pub label: String,
    /// The minions that have it.
    pub members: Vec<String>,
}

/// Something that was found.
#[derive(Debug, Clone, Default, Serialize)]
pub struct ListingItem {
    /// The level.
    pub level: String,
    /// True if it is an error.
    pub bad: bool,
    /// The rule that found it.
    pub rule: String,
    /// The formula.
    pub formula: String,
    /// The title.
    pub title: String,
    /// The place.
    pub place: QuotedPlace,
    /// Circumstances, and what to do.
    pub notes: Vec<String>,
}

const TEMPLATE: Template = Template {
    text: include_str!("listing.html"),
    styles: &[STYLE, LIST_STYLE],
    script: SCRIPT,
};

impl ListingPage {
    /// The page as HTML.
    ///
    /// # Errors
    /// [`PageError`] if the template fails, which no content makes it do.
    pub fn to_html(&self) -> Result<String, PageError> {
        let mut page = self.clone();
        [&mut page.verb, &mut page.title, &mut page.summary]
            .into_iter()
            .chain(&mut page.notes)
            .for_each(shown);
        for chart in &mut page.charts {
            shown(&mut chart.title);
            for bar in &mut chart.bars {
                shown(&mut bar.label);
                bar.members.iter_mut().for_each(shown);
            }
        }
        for item in &mut page.items {
            let texts = [
                &mut item.level,
                &mut item.rule,
                &mut item.formula,
                &mut item.title,
            ];
            texts.into_iter().chain(&mut item.notes).for_each(shown);
            item.place.show();
        }
        let most = |chart: &Chart| chart.bars.iter().map(|bar| bar.members.len()).sum();
        let totals: Vec<usize> = page.charts.iter().map(most).collect();
        let mut context = Context::new();
        context.insert("page", &page);
        context.insert("totals", &totals);
        TEMPLATE.render(&page.title, &page.verb, context)
    }
}
