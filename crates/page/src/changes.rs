//! What a change of files does to a fleet, as a page.

use serde::Serialize;
use tera::{Context, Tera};

use crate::{PageError, STYLE, failed, shown};

/// The content of a page of differences.
///
/// ```
/// use mapstack_page::{Changed, Changes};
/// let change = Changed { title: "<port>".into(), gone: vec!["22".into()], minions: vec!["web1".into()], ..Changed::default() };
/// let page = Changes { from: "HEAD".into(), to: "worktree".into(), changes: vec![change], ..Changes::default() };
/// assert!(page.to_html().unwrap().contains("&lt;port&gt;"));
/// ```
#[derive(Debug, Clone, Default, Serialize)]
pub struct Changes {
    /// The state before.
    pub from: String,
    /// The state after.
    pub to: String,
    /// How much changed, in a sentence.
    pub summary: String,
    /// What was compared and what was not, a sentence each.
    pub notes: Vec<String>,
    /// The changes.
    pub changes: Vec<Changed>,
}

/// One change on some minions.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Changed {
    /// The formulas concerned.
    pub formulas: String,
    /// The keys, or what happened.
    pub title: String,
    /// What goes.
    pub gone: Vec<String>,
    /// What comes.
    pub come: Vec<String>,
    /// Where the old value came from.
    pub was: Option<String>,
    /// Where the new one comes from.
    pub is: Option<String>,
    /// What it fails with.
    pub message: Option<String>,
    /// What the minions have in common, and no others.
    pub common: Option<String>,
    /// The minions.
    pub minions: Vec<String>,
}

const TEMPLATE: &str = include_str!("changes.html");

impl Changes {
    /// The page as HTML.
    ///
    /// # Errors
    /// [`PageError`] if the template fails, which no content makes it do.
    pub fn to_html(&self) -> Result<String, PageError> {
        let mut page = self.clone();
        [&mut page.from, &mut page.to, &mut page.summary]
            .into_iter()
            .chain(&mut page.notes)
            .for_each(shown);
        for change in &mut page.changes {
            let texts = [&mut change.formulas, &mut change.title].into_iter();
            let texts = texts
                .chain(&mut change.gone)
                .chain(&mut change.come)
                .chain(&mut change.minions);
            texts
                .chain(&mut change.was)
                .chain(&mut change.is)
                .chain(&mut change.message)
                .chain(&mut change.common)
                .for_each(shown);
        }
        // Its name says that what is printed is escaped.
        let name = "changes.html";
        let mut tera = Tera::default();
        tera.add_raw_template(name, TEMPLATE).map_err(failed)?;
        let mut context = Context::new();
        context.insert("page", &page);
        context.insert("style", STYLE);
        tera.render(name, &context).map_err(failed)
    }
}
