//! Failures on some minions, or on all.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    CallsWithoutAnswer, Content, Finding, Level, NOT_FETCHED, Rule, of_assumed_grains, offline, on,
    rule_of_failure, unanswered_by,
};
use mapstack::value::Value;
use mapstack::yaml::{Limits, load_marked};
use mapstack::{Diagnostic, Error, ErrorKind, Means, Place};
use mapstack_pillar::Fault;

use super::PillarSubject;
use super::causes::explained;
use super::reach::{is_option, named_in};
use crate::pillar::files::{PillarFile, names};
use crate::pillar::seen::{PillarRecord, SlsFailure};
use crate::rules::folders::{FolderWithoutSls, grouped, named};

pub(super) fn check(subject: &PillarSubject<'_>) -> Vec<Finding> {
    let failures = subject.seen.failures.values();
    let failures: Vec<&SlsFailure> = failures
        .filter(|failed| !is_unanswered(&failed.error))
        .filter(|failed| !missing_sls(failed).is_some_and(is_option))
        .collect();
    let (missing, others): (Vec<&SlsFailure>, Vec<&SlsFailure>) = failures
        .into_iter()
        .partition(|failed| missing_sls(failed).is_some() && has_only_tops(subject));
    let others = grouped(others, |failed| lacking(subject, failed));
    let others = others
        .into_iter()
        .flat_map(|(folder, failed)| match (folder, &*failed) {
            (Some(folder), [_, _, ..]) => vec![of_folder(subject, &folder, &failed)],
            _ => failed.iter().map(|one| failure(subject, one)).collect(),
        });
    elsewhere(subject, &missing)
        .into_iter()
        .chain(others)
        .collect()
}

/// The folder that lacks the sls that a failure is about.
fn lacking(subject: &PillarSubject<'_>, failed: &SlsFailure) -> Option<FolderWithoutSls> {
    let has_files = |prefix: &str| {
        let mut files = subject.files.all.values();
        files.any(|file| file.source.path.starts_with(prefix))
    };
    FolderWithoutSls::of(missing_sls(failed)?, has_files)
}

/// Several missing sls of one folder.
fn of_folder(
    subject: &PillarSubject<'_>,
    lacking: &FolderWithoutSls,
    failed: &[&SlsFailure],
) -> Finding {
    let mut findings: Vec<Finding> = failed.iter().map(|one| failure(subject, one)).collect();
    findings.sort_by_key(|finding| finding.place.start);
    let level = findings.iter().map(|finding| finding.level).max();
    let mut finding = findings.swap_remove(0);
    finding.level = level.unwrap_or(finding.level);
    let names: BTreeSet<&str> = failed.iter().filter_map(|one| missing_sls(one)).collect();
    let ids: BTreeSet<&String> = failed.iter().flat_map(|one| &one.ids).collect();
    let ids: Vec<String> = ids.into_iter().cloned().collect();
    if !lacking.is_empty {
        let folder = &lacking.folder;
        finding.message = format!(
            "the folder '{folder}' of the pillar lacks {} sls",
            names.len()
        );
    }
    finding
        .notes
        .retain(|note| !note.starts_with("for the sls ") && !note.starts_with("on "));
    finding
        .notes
        .insert(0, format!("for the sls {}", named(&names)));
    finding.note(on(&ids, subject.seen.minions))
}

/// The missing sls that a failure is about.
fn missing_sls(failed: &SlsFailure) -> Option<&str> {
    match &failed.kept.as_ref()?.fault {
        Fault::Missing { sls, .. } => Some(sls),
        _ => None,
    }
}

/// True if the roots have top files and no other sls: the pillar itself lies elsewhere.
pub(super) fn has_only_tops(subject: &PillarSubject<'_>) -> bool {
    let mut names = subject.files.sls().filter_map(PillarFile::name);
    names.all(|name| name == "top") && !subject.seen.tops.is_empty()
}

/// The sls that top files name, where all of them are missing: one cause.
fn elsewhere(subject: &PillarSubject<'_>, missing: &[&SlsFailure]) -> Option<Finding> {
    let first = missing.first()?;
    let mut finding = failure(subject, first);
    let names: BTreeSet<&str> = missing
        .iter()
        .filter_map(|failed| missing_sls(failed))
        .collect();
    let ids: BTreeSet<&String> = missing.iter().flat_map(|failed| &failed.ids).collect();
    let ids: Vec<String> = ids.into_iter().cloned().collect();
    finding.message = "the roots of the pillar have a top file and no other sls".into();
    finding.level = Level::Warning;
    finding.notes = vec![
        format!("it names {}", named(&names)),
        on(&ids, subject.seen.minions),
    ];
    Some(finding.help(
        "if they are private, or made when the estate is deployed, add `absent: ['*']` to .mapstack.yaml; otherwise Salt \
         refuses these pillars",
    ))
}

/// The warnings about external pillars: entries of the configuration, or of files outside the roots, without
/// effect. Those that are not built in give no finding.
pub(super) fn externals(subject: &PillarSubject<'_>) -> Vec<Finding> {
    let finding = |(warning, ids): &(Diagnostic, Vec<String>)| {
        let place = warning.place.clone()?;
        let is_external =
            warning.kind != ErrorKind::Unsupported && !subject.files.all.contains_key(&place.file);
        let finding = Finding {
            level: Level::Warning,
            ..Finding::of_message(Rule::ExternalPillar, place, warning)
        };
        is_external.then(|| finding.note(on(ids, subject.seen.minions)))
    };
    let warnings = subject.seen.warnings.values();
    warnings.filter_map(finding).collect()
}

/// True if something is missing here and not in the pillar.
fn is_unanswered(error: &Error) -> bool {
    let diagnostic = error.diagnostic();
    let help = diagnostic.help.as_deref();
    let is_slip = help.is_some_and(|help| help.starts_with("did you mean"));
    let is_lacking =
        || error.kind() == ErrorKind::Unsupported || diagnostic.message.contains(NOT_FETCHED);
    unanswered_by(error).is_some() || is_lacking() && !is_slip
}

/// The functions that templates call without an answer, with the minions whose pillars could not be followed further.
pub(crate) fn unanswered(seen: &PillarRecord) -> BTreeMap<String, CallsWithoutAnswer> {
    let mut calls: BTreeMap<String, CallsWithoutAnswer> = BTreeMap::new();
    let of_sls = |failed: &&SlsFailure| {
        let kept = failed.kept.as_ref();
        is_unanswered(&failed.error) && kept.is_none_or(|kept| kept.fault != Fault::External)
    };
    for failed in seen.failures.values().filter(of_sls) {
        let diagnostic = failed.error.diagnostic();
        let known = calls.entry(called(&failed.error)).or_default();
        known.minions.extend(failed.ids.iter().cloned());
        let file = diagnostic.place.as_ref().map(|place| place.file.clone());
        known.files.extend(file);
    }
    calls
}

/// The function of an error that nothing answers it; the message if it names none.
fn called(error: &Error) -> String {
    let message = &error.diagnostic().message;
    if let Some((_, scheme)) = message.split_once(NOT_FETCHED) {
        let scheme = scheme.split(' ').next().unwrap_or_default();
        return format!("what it fetches by {scheme}");
    }
    unanswered_by(error).unwrap_or(message).to_owned()
}

fn failure(subject: &PillarSubject<'_>, failed: &SlsFailure) -> Finding {
    let seen = subject.seen;
    let diagnostic = failed.error.diagnostic();
    let fault = failed.kept.as_ref().map(|kept| &kept.fault);
    let own = diagnostic.place.clone().unwrap_or_else(nowhere);
    if let Some(finding) = offline(&failed.error, &own) {
        return finding.note(on(&failed.ids, seen.minions));
    }
    let rule = rule(&failed.error, fault);
    let place = match fault {
        Some(Fault::Missing {
            sls,
            saltenv,
            included_by,
        }) => naming(subject, saltenv, sls, included_by.as_deref()),
        _ => diagnostic.place.clone(),
    };
    let place = place.or_else(|| file_of(subject, fault));
    let place = place.unwrap_or_else(nowhere);
    let mut finding = Finding::of_message(rule, place, diagnostic);
    finding.of_run = true;
    if finding.place.end == 0 && diagnostic.place.is_none() {
        finding = finding.whole_file();
    }
    let (of, works) = match fault {
        Some(Fault::Failed { sls } | Fault::Shape { sls }) => seen.rendered(sls),
        _ => (seen.minions, true),
    };
    let works = works && failed.ids.len() < of;
    if let Some(cure) = cure(subject, &failed.error, works) {
        finding.level = Level::Warning;
        finding.lacks_facts = true;
        finding.notes.push(cure);
    } else if is_example(subject, fault, &finding.place) {
        finding.level = Level::Warning;
        let note = "a template makes its name, and the minions of this run are examples";
        finding.notes.push(note.into());
    } else if works && matches!(fault, Some(Fault::Failed { .. } | Fault::Shape { .. })) {
        finding.level = Level::Warning;
    } else if matches!(fault, Some(Fault::Failed { .. })) {
        finding = explained(subject, &failed.error, finding);
    }
    if let Some(FolderWithoutSls {
        folder,
        is_empty: true,
    }) = lacking(subject, failed)
    {
        finding = of_absent_folder(finding, &folder, missing_sls(failed).unwrap_or_default());
    }
    if matches!(fault, Some(Fault::Missing { .. })) && !subject.missing_roots.is_empty() {
        let roots = subject.missing_roots.join(", ");
        let note = format!("it may lie in {roots}, a root that is not here");
        finding.level = Level::Warning;
        finding.notes.push(note);
    }
    finding.note(on(&failed.ids, of.max(failed.ids.len())))
}

/// A finding about an sls whose folder has no files.
fn of_absent_folder(finding: Finding, folder: &str, sls: &str) -> Finding {
    let names = folder.replace('/', ".");
    let mut finding = Finding {
        message: format!("no root of the pillar has the folder '{folder}'"),
        level: Level::Warning,
        ..finding
    };
    finding.notes.insert(0, format!("for the sls '{sls}'"));
    finding.help = Some(format!(
        "if it is private, a submodule, or made when the estate is deployed, add `absent: ['{names}.*']` to \
         .mapstack.yaml; otherwise Salt refuses these pillars"
    ));
    finding
}

/// True if what is missing is named after a minion that is an example.
fn is_example(subject: &PillarSubject<'_>, fault: Option<&Fault>, place: &Place) -> bool {
    let Some(Fault::Missing { sls, .. }) = fault else {
        return false;
    };
    let last = sls.rsplit('.').next().unwrap_or_default();
    !subject.is_fleet && !names(&place.source, sls) && !place.source.contains(last)
}

/// The place of what has none: the options of the master.
fn nowhere() -> Place {
    Place {
        file: "the master's configuration".into(),
        source: "".into(),
        start: 0,
        end: 0,
    }
}

fn rule(error: &Error, fault: Option<&Fault>) -> Rule {
    match fault {
        Some(Fault::Missing { .. }) => Rule::MissingInclude,
        Some(Fault::Shape { .. }) => Rule::PillarShape,
        Some(Fault::External) => Rule::ExternalPillar,
        Some(Fault::Failed { .. }) => match rule_of_failure(error) {
            Rule::BadSource | Rule::DataSource => Rule::RenderFailure,
            rule => rule,
        },
        Some(_) => Rule::TopFile,
        None => match error.kind() {
            ErrorKind::Options => Rule::ExternalPillar,
            ErrorKind::Merge | ErrorKind::Limit => Rule::RenderFailure,
            _ => Rule::TopFile,
        },
    }
}

/// The start of the file that an error without a place is about.
fn file_of(subject: &PillarSubject<'_>, fault: Option<&Fault>) -> Option<Place> {
    let whole = |shown: &String| {
        let file = subject.files.all.get(shown)?;
        Some(file.source.place(0, 0))
    };
    match fault? {
        Fault::Failed { sls } | Fault::Shape { sls } => {
            let mut of_name = subject.seen.sls.iter().filter(|((_, name), _)| name == sls);
            whole(of_name.find_map(|(_, rendered)| rendered.path.as_ref())?)
        }
        Fault::Top => whole(subject.seen.tops.first()?),
        _ => None,
    }
}

/// The place that names a missing sls: in the include of another, or below a target.
fn naming(
    subject: &PillarSubject<'_>,
    saltenv: &str,
    sls: &str,
    included_by: Option<&str>,
) -> Option<Place> {
    let Some(by) = included_by else {
        let mut targets = subject.seen.targets.iter();
        let names = |named: &[String]| named.iter().any(|name| name == sls);
        let (_, asked) =
            targets.find(|(target, asked)| target.saltenv == saltenv && names(&asked.sls))?;
        return named_in(asked.place.as_ref()?, sls);
    };
    let text = subject.seen.last.get(&(saltenv.into(), by.into()))?;
    let (value, marks) = load_marked(text.as_str(), &Limits::default()).ok()?;
    let map = value.as_map()?;
    let at = map.index_of("include")?;
    let items = map.entry_at(at)?.1.as_list()?;
    let marks = marks.child(at)?;
    let is_it = |item: &Value| {
        let name = match item {
            Value::Str(name) => name.to_string(),
            Value::Map(map) => map.keys().next()?.to_string(),
            _ => return None,
        };
        let rest = name.trim_start_matches('.');
        (name == sls || (rest != name && sls.ends_with(rest))).then_some(name.len())
    };
    let (index, length) = items
        .iter()
        .enumerate()
        .find_map(|(index, item)| Some((index, is_it(item)?)))?;
    let content = Content::Rendered(text.clone());
    Some(content.place(marks.child(index)?.mark(), length).0)
}

/// The fact that could cure a failure, if it is for lack of one.
fn cure(subject: &PillarSubject<'_>, error: &Error, works: bool) -> Option<String> {
    let could_be = matches!(error.kind(), ErrorKind::Undefined | ErrorKind::Template);
    let is_asked = !works && !subject.is_fleet || subject.assumes_grains;
    if !is_asked || !could_be {
        return None;
    }
    let place = error.diagnostic().place.as_ref()?;
    let is_lacked = |grain: &&str| !subject.seen.grains.contains(*grain);
    let of_line = || {
        let mut named = grains(place.line_text()).into_iter();
        named.find(|grain| subject.assumes_grains || is_lacked(grain))
    };
    let of_variable = || {
        let mut named = grains_of_variables(place).into_iter();
        named.find(|grain| subject.assumes_grains || is_lacked(grain))
    };
    let grain = grains(&place.source)
        .into_iter()
        .find(|grain| error.diagnostic().message.contains(&format!("'{grain}'")))
        .or_else(of_line)
        .or_else(of_variable)?;
    if subject.assumes_grains {
        return of_assumed_grains(error, [grain]);
    }
    is_lacked(&grain).then(|| {
        format!(
            "no minion of this run has the grain '{grain}': set it by {}, or give {}",
            Means::Fact,
            Means::Minions
        )
    })
}

/// The grains that variables of an expression are set from.
fn grains_of_variables(place: &Place) -> Vec<&str> {
    let said = place.source.get(place.start..place.end).unwrap_or_default();
    let words = said.split(|c: char| !c.is_alphanumeric() && c != '_');
    let names: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    let sets = |line: &&str| {
        let words = line.split(|c: char| !c.is_alphanumeric() && c != '_');
        let mut words = words.filter(|word| !word.is_empty());
        words.any(|word| matches!(word, "set" | "for"))
            && words.next().is_some_and(|name| names.contains(&name))
    };
    place.source.lines().filter(sets).flat_map(grains).collect()
}

/// The grains that a template names.
fn grains(text: &str) -> Vec<&str> {
    let is_name = |c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '.'));
    let of = |(at, word): (usize, &'_ str)| {
        let rest = &text[at + word.len()..];
        let start = rest.trim_start_matches(['.', '[', '(', '\'', '"', ']']);
        let start = start.strip_prefix("get").map_or(start, |rest| {
            rest.trim_start_matches(['(', '\'', '"', ']', '['])
        });
        let name = start.split(is_name).next().unwrap_or_default();
        name.split('.').next().unwrap_or_default()
    };
    let found: Vec<&str> = text.match_indices("grains").map(of).collect();
    found.into_iter().filter(|name| !name.is_empty()).collect()
}
