//! Templates that load others, or names of others, that do not exist.

use std::collections::BTreeSet;

use mapstack::loader::{Fetched, SaltPath};
use mapstack::{Error, ImportSite, Place, nearest};

use super::failures::on;
use crate::Rule;
use crate::finding::{Finding, Level};
use crate::subject::Subject;
use crate::templates::Parsed;

pub(crate) fn check(subject: &Subject<'_>) -> Vec<Finding> {
    subject
        .survey
        .imports
        .iter()
        .flat_map(|site| of_site(subject, site))
        .collect()
}

/// Whether a run's error is about a name that an import does not find, which is said at the import.
pub(super) fn says(subject: &Subject<'_>, error: &Error) -> bool {
    let missing = subject
        .survey
        .imports
        .iter()
        .flat_map(|site| missing(subject, site));
    let message = &error.diagnostic().message;
    message.contains(NOT_EXPORTED)
        && missing
            .into_iter()
            .any(|name| message.ends_with(&format!("'{name}'")))
}

const NOT_EXPORTED: &str = "does not export the requested name";

/// Whether a run's error is that a template does not exist.
pub(super) fn is_not_found(message: &str) -> bool {
    message.contains("not found in search path")
        || message.contains("none of the templates given were found")
}

fn of_site(subject: &Subject<'_>, site: &ImportSite) -> Vec<Finding> {
    let Some(path) = &site.template else {
        return Vec::new();
    };
    if is_absent(subject, path) {
        return vec![of_file(subject, site, path)];
    }
    let missing = missing(subject, site);
    missing
        .into_iter()
        .map(|name| of_name(subject, site, path, name))
        .collect()
}

fn is_absent(subject: &Subject<'_>, path: &str) -> bool {
    let fetched = subject
        .engine
        .files()
        .fetch(&SaltPath::from_relative(path), &subject.saltenv);
    matches!(fetched, Ok(Fetched::Missing))
}

/// The names that an import takes from a template that has none of these.
fn missing<'s>(subject: &Subject<'_>, site: &'s ImportSite) -> Vec<&'s str> {
    let Some(from) = site
        .template
        .as_deref()
        .and_then(|path| subject.templates.get(path))
    else {
        return Vec::new();
    };
    let bound = from.bound();
    let is_missing = |name: &&str| !bound.contains(*name) || name.starts_with('_');
    site.names
        .iter()
        .map(|name| &**name)
        .filter(is_missing)
        .collect()
}

fn of_file(subject: &Subject<'_>, site: &ImportSite, path: &str) -> Finding {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let finding = Finding::new(
        Rule::MissingImport,
        site.place.clone(),
        format!("there is no template salt://{path}"),
    );
    let beside = subject.files.keys().filter_map(|known| {
        let (at, known) = known.rsplit_once('/')?;
        (at == folder).then_some(known)
    });
    let finding = match nearest(name, beside) {
        Some(near) => finding.help(format!("did you mean '{near}'?")),
        None if !path.starts_with(&format!("{}/", subject.formula)) => {
            finding.help("if it belongs to another formula, add its root: --root DIR")
        }
        None => finding,
    };
    weighed(subject, finding, |error| {
        let place = error.diagnostic().place.as_ref();
        is_not_found(&error.diagnostic().message)
            && place.is_some_and(|place| is_within(place, &site.place))
    })
}

fn is_within(inner: &Place, outer: &Place) -> bool {
    inner.file == outer.file && outer.start <= inner.start && inner.start < outer.end
}

fn of_name(subject: &Subject<'_>, site: &ImportSite, path: &str, name: &str) -> Finding {
    let mut place = site.place.clone();
    // The name behind the word `import`.
    let tag = place.source.get(place.start..place.end).unwrap_or_default();
    let behind = tag.find("import").unwrap_or_default();
    if let Some(at) = tag[behind..].find(name) {
        place.start += behind + at;
        place.end = place.start + name.len();
    }
    let finding = Finding::new(
        Rule::MissingImport,
        place,
        format!("salt://{path} has no macro or variable '{name}'"),
    );
    let bound = subject
        .templates
        .get(path)
        .into_iter()
        .flat_map(Parsed::bound);
    let public: BTreeSet<&str> = bound
        .map(String::as_str)
        .filter(|name| !name.starts_with('_'))
        .collect();
    let finding = match nearest(name, public.iter().copied()) {
        Some(near) => finding.help(format!("did you mean '{near}'?")),
        None if public.is_empty() => finding.help("it sets nothing"),
        None => finding.help(format!(
            "it has {}",
            public.into_iter().collect::<Vec<_>>().join(", ")
        )),
    };
    weighed(subject, finding, |error| {
        let message = &error.diagnostic().message;
        message.contains(NOT_EXPORTED) && message.ends_with(&format!("'{name}'"))
    })
}

/// A finding as an error with the minions that fail for it, or as a warning if no run came by.
fn weighed(subject: &Subject<'_>, mut finding: Finding, is_it: impl Fn(&Error) -> bool) -> Finding {
    let supported = subject.runs.iter().filter(|run| run.supported).count();
    let failing = (0..subject.runs.len()).filter(|run| {
        subject.runs[*run].supported && subject.errors(*run).any(|(_, error)| is_it(error))
    });
    let minions: Vec<String> = failing
        .map(|run| subject.runs[run].minion.id.to_string())
        .collect();
    if minions.is_empty() {
        finding.level = Level::Warning;
        return finding.note("no run on these minions needed it");
    }
    finding.note(on(&minions, supported))
}
