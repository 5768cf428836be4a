//! Templates that load others, or names of others, that do not exist.

use std::collections::BTreeSet;
use std::path::Path;

use mapstack::loader::{Fetched, SaltPath};
use mapstack::{Error, ImportSite, Means, Place, nearest};
use mapstack_pyobject::ErrorKind as RenderErrorKind;

use super::failures::on;
use crate::Rule;
use crate::finding::{Finding, Level};
use crate::subject::FormulaSubject;
use crate::templates::LocatedTemplate;

pub(crate) fn check(subject: &FormulaSubject<'_>) -> Vec<Finding> {
    let survey = &subject.survey;
    let imports = survey
        .imports
        .iter()
        .flat_map(|site| of_site(subject, site));
    let loads = survey
        .loads
        .iter()
        .filter(|site| is_absent(subject, &site.path))
        .map(|site| of_file(subject, &site.place, &site.path));
    imports.chain(loads).collect()
}

/// True if a run's error is about a file or a name that an import does not find, which is said at the import.
pub(super) fn says(subject: &FormulaSubject<'_>, error: &Error) -> bool {
    if is_not_found(error) {
        let mut used = subject.survey.used_files();
        return used.any(|(path, place)| is_at(error, place) && is_absent(subject, path));
    }
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

/// True if a run's error is that a template does not exist.
pub(super) fn is_not_found(error: &Error) -> bool {
    let cause = error.diagnostic().caused::<mapstack_pyobject::Error>();
    cause.is_some_and(|cause| cause.kind == RenderErrorKind::TemplateNotFound)
}

fn of_site(subject: &FormulaSubject<'_>, site: &ImportSite) -> Vec<Finding> {
    let Some(path) = &site.template else {
        return Vec::new();
    };
    if is_absent(subject, path) {
        return vec![of_file(subject, &site.place, path)];
    }
    let missing = missing(subject, site);
    missing
        .into_iter()
        .map(|name| of_name(subject, site, path, name))
        .collect()
}

fn is_absent(subject: &FormulaSubject<'_>, path: &str) -> bool {
    if path.starts_with('/') {
        let deployed = subject.engine.deployed().local(path);
        return !deployed.is_some_and(|file| Path::new(&file).is_file());
    }
    let fetched = subject
        .engine
        .files()
        .fetch(&SaltPath::from_relative(path), &subject.saltenv);
    matches!(fetched, Ok(Fetched::Missing))
}

/// The names that an import takes from a template that has none of these.
fn missing<'s>(subject: &FormulaSubject<'_>, site: &'s ImportSite) -> Vec<&'s str> {
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

fn of_file(subject: &FormulaSubject<'_>, place: &Place, path: &str) -> Finding {
    if path.starts_with('/') && subject.engine.deployed().local(path).is_none() {
        let message = format!("{path} is a path of the master, and nothing here is deployed there");
        let finding = Finding::new(Rule::MissingImport, place.clone(), message);
        return Finding {
            level: Level::Note,
            ..finding.help(format!("say what is by {}", Means::Deployed))
        };
    }
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let finding = Finding::new(
        Rule::MissingImport,
        place.clone(),
        format!("salt://{path} does not exist"),
    );
    let beside = subject.files.keys().filter_map(|known| {
        let (at, known) = known.rsplit_once('/')?;
        (at == folder).then_some(known)
    });
    let finding = match nearest(name, beside) {
        Some(near) => finding.help(format!("did you mean '{near}'?")),
        None => match root_above(subject, place, path) {
            Some(above) => finding.help(format!(
                "the root is the folder of that name: did you mean {}?",
                Means::Root(Some(&above))
            )),
            None if path.contains('/') => finding,
            None => finding.help(format!(
                "if it is in another root, add that root: {}",
                Means::Root(None)
            )),
        },
    };
    let finding = weighed(subject, finding, |error| {
        is_not_found(error) && is_at(error, place)
    });
    match is_elsewhere(subject, path) && root_above(subject, place, path).is_none() {
        // The master may have it, as with an include.
        true => elsewhere(place.clone(), path, format!("for salt://{path}")),
        false => finding,
    }
}

/// The note on a run's error that is about a file of another formula.
pub(super) fn lost(subject: &FormulaSubject<'_>, error: &Error, place: &Place) -> Option<Finding> {
    let cause = error.diagnostic().caused::<mapstack_pyobject::Error>();
    let path = cause.filter(|_| is_not_found(error))?.message.trim();
    let is_lost = is_absent(subject, path) && is_elsewhere(subject, path);
    (is_lost && root_above(subject, place, path).is_none())
        .then(|| elsewhere(place.clone(), path, format!("for salt://{path}")))
}

/// A formula that something uses and that no root has: one cause, wherever it is used.
pub(super) fn elsewhere(place: Place, path: &str, needed: String) -> Finding {
    let folder = path.split(['/', '.']).next().unwrap_or_default();
    let message = format!("no root has '{folder}', which may be a formula of another repository");
    let finding = Finding::new(Rule::MissingInclude, place, message);
    let help = format!(
        "add its root by {}, or name its repository in `formulas` of .mapstack.yaml",
        Means::Root(None)
    );
    Finding {
        level: Level::Note,
        ..finding.note(needed).help(help)
    }
}

/// True if a path belongs to a formula that no root has.
fn is_elsewhere(subject: &FormulaSubject<'_>, path: &str) -> bool {
    path.split_once('/').is_some_and(|(folder, _)| {
        let listed = subject
            .engine
            .files()
            .list(&subject.saltenv, &format!("{folder}/"));
        listed.is_ok_and(|listed| listed.is_empty())
    })
}

/// The folder above the root that a template lies below, if the root has the name that a path begins with.
fn root_above(subject: &FormulaSubject<'_>, place: &Place, path: &str) -> Option<String> {
    let parsed = subject.templates.at(place)?;
    let root = Path::new(parsed.shown.strip_suffix(&*parsed.path)?);
    let is_first = root.file_name()?.to_str() == path.split('/').next();
    let above = root.parent().filter(|_| is_first)?.display().to_string();
    Some(if above.is_empty() { ".".into() } else { above })
}

/// True if an error's place and another have something in common.
pub(super) fn is_at(error: &Error, place: &Place) -> bool {
    let own = error.diagnostic().place.as_ref();
    own.is_some_and(|own| {
        own.file == place.file && own.start < place.end && place.start < own.end.max(own.start + 1)
    })
}

fn of_name(subject: &FormulaSubject<'_>, site: &ImportSite, path: &str, name: &str) -> Finding {
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
    let finding = with_help(finding, subject.templates.get(path), name);
    weighed(subject, finding, |error| {
        let message = &error.diagnostic().message;
        message.contains(NOT_EXPORTED) && message.ends_with(&format!("'{name}'"))
    })
}

/// A finding about a name that a template does not have, with what it has.
pub(super) fn with_help(finding: Finding, from: Option<&LocatedTemplate>, name: &str) -> Finding {
    let public: BTreeSet<&str> = from
        .into_iter()
        .flat_map(LocatedTemplate::bound)
        .map(String::as_str)
        .filter(|name| !name.starts_with('_'))
        .collect();
    match nearest(name, public.iter().copied()) {
        Some(near) => finding.help(format!("did you mean '{near}'?")),
        None if public.is_empty() => finding.help("it sets nothing"),
        None => finding.help(format!(
            "it has {}",
            public.into_iter().collect::<Vec<_>>().join(", ")
        )),
    }
}

/// A finding as an error with the minions that fail for it, or as a warning if no run came by.
pub(super) fn weighed(
    subject: &FormulaSubject<'_>,
    mut finding: Finding,
    is_it: impl Fn(&Error) -> bool,
) -> Finding {
    let supported = subject.runs.iter().filter(|run| run.supported).count();
    let minions = minions(subject, is_it);
    if minions.is_empty() {
        finding.level = Level::Warning;
        return finding.note("no run on these minions needed it");
    }
    finding.note(on(&minions, supported))
}

/// The minions that fail with an error, of those that the formula is for.
pub(super) fn minions(subject: &FormulaSubject<'_>, is_it: impl Fn(&Error) -> bool) -> Vec<String> {
    let failing = (0..subject.runs.len()).filter(|run| {
        subject.runs[*run].supported && subject.errors(*run).any(|(_, error)| is_it(error))
    });
    failing
        .map(|run| subject.runs[run].minion.id.to_string())
        .collect()
}
