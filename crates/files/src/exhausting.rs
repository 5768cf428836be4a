//! Templates that reach a limit for one file after another.

use std::collections::HashMap;

use mapstack::trace::FileRead;

use crate::content::Content;
use crate::plan::{ContentPlan, From, Template};
use crate::unknown::{Reason, Unknown};

/// Limit on the files of a minion for which one template reaches a limit. It is not rendered for further ones: each
/// would take as long.
const MOST: usize = 2;

/// The templates of a minion's files that reached a limit, with the number of files and the reads of the last one.
#[derive(Default)]
pub(crate) struct Exhausting(HashMap<String, (usize, Vec<FileRead>)>);

impl Exhausting {
    /// The content of a file that is not rendered, because its template reached limits for other minions; and
    /// the reads of the last render.
    pub fn refusal(&self, plan: &ContentPlan) -> Option<(Content, &[FileRead])> {
        let template = template(plan)?;
        let (times, reads) = self.0.get(name(template))?;
        (*times >= MOST).then(|| {
            let why = format!(
                "{} reached a limit for {times} files of the minion, and is not rendered for more",
                shown(template)
            );
            (
                Content::Unknown(Unknown::new(Reason::Limit, why)),
                &reads[..],
            )
        })
    }

    /// Take note of the content that a plan led to.
    pub fn note(&mut self, plan: &ContentPlan, content: &Content, reads: &[FileRead]) {
        let is_limit =
            matches!(content, Content::Unknown(unknown) if unknown.reason == Reason::Limit);
        if let Some(template) = template(plan).filter(|_| is_limit) {
            let (times, last) = self.0.entry(name(template).to_owned()).or_default();
            *times += 1;
            *last = reads.to_vec();
        }
    }
}

/// The template of a plan, or of its first part with one.
fn template(plan: &ContentPlan) -> Option<&Template> {
    match plan {
        ContentPlan::Template(template) => Some(template),
        ContentPlan::Texts(parts, _) => parts.iter().find_map(template),
        _ => None,
    }
}

/// The name of a template in messages.
fn shown(template: &Template) -> &str {
    match &template.from {
        From::Url(url) => url,
        From::Text(_) => &template.shown,
    }
}

/// The URL of a template, or its text.
fn name(template: &Template) -> &str {
    match &template.from {
        From::Url(name) | From::Text(name) => name,
    }
}
