//! The effects of a change of files on a fleet, as a page.

use serde::Serialize;
use tera::Context;

use crate::page::template::Template;
use crate::page::{PageError, STYLE, shown, shown_lines};

/// The content of a page of differences.
///
/// ```
/// use mapstack_report::page::{Changed, ChangedLine, Changes};
/// let gone = ChangedLine { sign: "gone".into(), text: "22".into(), from: "a.yaml:1:7".into() };
/// let change = Changed { title: "<port>".into(), lines: vec![gone], minions: vec!["web1".into()], ..Changed::default() };
/// let page = Changes { from: "HEAD".into(), to: "worktree".into(), changes: vec![change], ..Changes::default() };
/// assert!(page.to_html().unwrap().contains("&lt;port&gt;"));
/// ```
#[derive(Debug, Clone, Default, Serialize)]
pub struct Changes {
    /// The state before.
    pub from: String,
    /// The state after.
    pub to: String,
    /// The number of changes, in a sentence.
    pub summary: String,
    /// Remarks on what was compared and what was not, a sentence each.
    pub notes: Vec<String>,
    /// The failures that are new or gone. They come first.
    pub failures: Vec<Changed>,
    /// The changes.
    pub changes: Vec<Changed>,
}

/// One change on some minions.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Changed {
    /// The formulas concerned.
    pub formulas: String,
    /// The keys, or the event.
    pub title: String,
    /// The places from which it is new or gone, in words.
    pub from: String,
    /// The removed, new and unchanged lines of the value.
    pub lines: Vec<ChangedLine>,
    /// The origin of the old value.
    pub was: Option<QuotedPlace>,
    /// The origin of the new value.
    pub is: Option<QuotedPlace>,
    /// The error.
    pub message: Option<String>,
    /// True if something is worse than before.
    pub bad: bool,
    /// The facts that these minions have in common and no other minion has.
    pub common: Option<String>,
    /// The minions.
    pub minions: Vec<String>,
}

/// A line of a value.
#[derive(Debug, Clone, Default, Serialize)]
pub struct ChangedLine {
    /// `gone`, `new`, `same` or `omitted`.
    pub sign: String,
    /// The line.
    pub text: String,
    /// The places that it comes from, in words.
    pub from: String,
}

/// A place, with the lines of its file around it.
#[derive(Debug, Clone, Default, Serialize)]
pub struct QuotedPlace {
    /// The place in words.
    pub text: String,
    /// The file, to group by.
    pub file: String,
    /// The line of the place.
    pub line: usize,
    /// Lines with their numbers.
    pub lines: Vec<(usize, String)>,
}

const TEMPLATE: Template = Template {
    text: include_str!("changes.html"),
    styles: &[STYLE, LIST_STYLE],
    script: SCRIPT,
};
pub(crate) const SCRIPT: &str = include_str!("changes.js");
pub(crate) const LIST_STYLE: &str = include_str!("list.css");

/// The minions and their changes.
#[derive(Serialize)]
struct Matrix<'c> {
    minions: Vec<&'c str>,
    /// The title of each change, and for each minion whether it has it.
    rows: Vec<(&'c str, bool, Vec<bool>)>,
}

/// A larger matrix would be unreadable, and is left out.
const MAX_COLUMNS: usize = 60;
const MAX_ROWS: usize = 150;

impl Changes {
    fn all(&self) -> impl Iterator<Item = &Changed> {
        self.failures.iter().chain(&self.changes)
    }

    /// The matrix, if it is small enough and there are several minions and changes.
    fn matrix(&self) -> Option<Matrix<'_>> {
        let mut minions: Vec<&str> = Vec::new();
        for minion in self.all().flat_map(|change| &change.minions) {
            if let Err(at) = minions.binary_search(&minion.as_str()) {
                minions.insert(at, minion);
                if minions.len() > MAX_COLUMNS {
                    return None;
                }
            }
        }
        let count = self.all().count();
        if !(2..=MAX_ROWS).contains(&count) || minions.len() < 2 {
            return None;
        }
        let row = |change: &'_ Changed| -> Vec<bool> {
            let has = |minion: &&str| change.minions.iter().any(|own| own == minion);
            minions.iter().map(has).collect()
        };
        let rows = self.all();
        let rows = rows.map(|change| (change.title.as_str(), change.bad, row(change)));
        let rows = rows.collect();
        Some(Matrix { minions, rows })
    }

    /// The page as HTML.
    ///
    /// # Errors
    /// [`PageError`] if the template fails, which does not depend on the content.
    pub fn to_html(&self) -> Result<String, PageError> {
        let mut page = self.clone();
        [&mut page.from, &mut page.to, &mut page.summary]
            .into_iter()
            .chain(&mut page.notes)
            .for_each(shown);
        page.failures
            .iter_mut()
            .chain(&mut page.changes)
            .for_each(Changed::show);
        let mut context = Context::new();
        context.insert("page", &page);
        context.insert("matrix", &page.matrix());
        TEMPLATE.render(&format!("{} to {}", page.from, page.to), "diff", context)
    }
}

impl QuotedPlace {
    /// Every text as it is shown.
    pub(crate) fn show(&mut self) {
        shown(&mut self.text);
        shown(&mut self.file);
        self.lines.iter_mut().for_each(|(_, line)| shown(line));
    }
}

/// The bytes of a section of the page without any text.
const MARKUP: usize = 1_000;

impl Changed {
    /// Its approximate size on the page, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        let lines = self.lines.iter();
        let lines = lines.map(|line| 50 + line.text.len() + line.from.len());
        let quoted = self.was.iter().chain(&self.is).flat_map(|one| &one.lines);
        let quoted = quoted.map(|(_, line)| 50 + line.len());
        let minions = self.minions.iter().map(String::len);
        let texts = [&self.formulas, &self.title, &self.from].map(String::len);
        let message = self.message.iter().map(String::len);
        let texts = texts.into_iter().chain(message).chain(minions);
        MARKUP + texts.chain(lines).chain(quoted).sum::<usize>()
    }

    /// Every text as it is shown.
    fn show(&mut self) {
        let texts = [&mut self.formulas, &mut self.title, &mut self.from].into_iter();
        texts
            .chain(&mut self.minions)
            .chain(&mut self.common)
            .chain(
                self.lines
                    .iter_mut()
                    .flat_map(|line| [&mut line.text, &mut line.from]),
            )
            .for_each(shown);
        self.message.iter_mut().for_each(shown_lines);
        let quoted = self.was.iter_mut().chain(&mut self.is);
        quoted.for_each(QuotedPlace::show);
    }
}
