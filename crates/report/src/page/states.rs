//! The states of minions as a page, with links between those that require each other.

use mapstack::{Error, ErrorKind};
use serde::Serialize;
use tera::Context;

use crate::left_out::{self, LeftOutRow};
use crate::page::changes::LIST_STYLE;
use crate::page::template::Template;
use crate::page::{STYLE, shown};
use crate::states::{StateRow, details};
use crate::words::count;

const TEMPLATE: Template = Template {
    text: include_str!("states.html"),
    styles: &[STYLE, LIST_STYLE, include_str!("states.css")],
    script: "",
};

/// The content of a page of states.
///
/// ```
/// use mapstack_report::page::{StatesOf, StatesPage};
/// use mapstack_report::states::StateRow;
/// let row = |function: &str, after: &[(&'static str, Vec<usize>)]| StateRow {
///     function: function.into(),
///     name: "<b>".into(),
///     after: after.to_vec(),
///     ..StateRow::default()
/// };
/// let rows = [row("pkg.installed", &[]), row("service.running", &[("watch", vec![0])])];
/// let page = StatesPage { minions: vec![StatesOf::new("web1", &rows, &[])] }.to_html().unwrap();
/// assert!(page.contains("<a href=\"#m1s1\"><bdi>1 pkg.installed &lt;b&gt;</bdi></a>"));
/// assert!(page.contains("<a href=\"#m1s2\"><bdi>2 service.running &lt;b&gt;</bdi></a>"));
/// ```
#[derive(Debug, Clone, Default, Serialize)]
pub struct StatesPage {
    /// The minions.
    pub minions: Vec<StatesOf>,
}

/// The states of a minion.
#[derive(Debug, Clone, Default, Serialize)]
pub struct StatesOf {
    id: String,
    summary: String,
    notes: Vec<String>,
    states: Vec<StateLine>,
}

#[derive(Debug, Clone, Default, Serialize)]
struct StateLine {
    function: String,
    name: String,
    place: String,
    notes: Vec<String>,
    /// Those that run before it by a requisite.
    after: Vec<Link>,
    /// Those that run after it by a requisite.
    before: Vec<Link>,
}

#[derive(Debug, Clone, Default, Serialize)]
struct Link {
    requisite: &'static str,
    number: usize,
    title: String,
}

impl StatesOf {
    /// The states of a minion, with the sls that are left out.
    #[must_use]
    pub fn new(id: &str, rows: &[StateRow], left_out: &[LeftOutRow]) -> Self {
        let link = |requisite, position: usize| Link {
            requisite,
            number: position + 1,
            title: rows.get(position).map(title).unwrap_or_default(),
        };
        let mut states: Vec<StateLine> = rows.iter().map(state).collect();
        for (position, row) in rows.iter().enumerate() {
            for (requisite, others) in &row.after {
                for other in others {
                    states[position].after.push(link(requisite, *other));
                    if let Some(other) = states.get_mut(*other) {
                        other.before.push(link(requisite, position));
                    }
                }
            }
        }
        let left_out = left_out::listing(left_out);
        StatesOf {
            id: id.into(),
            summary: count(rows.len(), "state"),
            notes: left_out.lines().map(|line| line.trim().into()).collect(),
            states,
        }
    }

    /// Let characters be seen that reorder or hide others.
    fn show(&mut self) {
        shown(&mut self.id);
        self.notes.iter_mut().for_each(shown);
        for state in &mut self.states {
            let own = [&mut state.function, &mut state.name, &mut state.place];
            own.into_iter().chain(&mut state.notes).for_each(shown);
            let links = state.after.iter_mut().chain(&mut state.before);
            links.for_each(|link| shown(&mut link.title));
        }
    }
}

fn title(row: &StateRow) -> String {
    format!("{} {}", row.function, row.name)
}

/// A state without its links.
fn state(row: &StateRow) -> StateLine {
    let test = row.is_test.then(|| "in test mode".to_owned());
    let check = row.check.iter().map(|command| format!("check {command}"));
    StateLine {
        function: row.function.clone(),
        name: row.name.clone(),
        place: row.place.clone(),
        notes: test.into_iter().chain(check).chain(details(row)).collect(),
        ..StateLine::default()
    }
}

impl StatesPage {
    /// The page as HTML.
    ///
    /// # Errors
    /// The template fails, which no content makes it do.
    pub fn to_html(&self) -> Result<String, Error> {
        let mut page = self.clone();
        page.minions.iter_mut().for_each(StatesOf::show);
        let ids: Vec<&str> = page
            .minions
            .iter()
            .map(|minion| minion.id.as_str())
            .collect();
        let title = format!("states of {}", ids.join(", "));
        let mut context = Context::new();
        context.insert("page", &page);
        let page = TEMPLATE.render(&title, "highstate", context);
        page.map_err(|e| Error::new(ErrorKind::Template, e.to_string()))
    }
}
