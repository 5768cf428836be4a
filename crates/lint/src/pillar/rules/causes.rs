//! Why an sls of the pillar lacks a value: the file, the assignment or the look-up that it comes from.

use std::collections::{BTreeSet, HashSet};

use mapstack::{Error, ErrorKind, Place, yaml};
use mapstack_salt_jinja::ast::{Stmt, StmtKind};

use super::PillarSubject;
use crate::origins::text_of;
use crate::pillar::files::PillarFile;
use crate::suppress::promised;
use crate::templates::{LocatedTemplate, names};
use crate::{Finding, Level, pillar_keys};

/// A finding about a lack, with where the value comes from.
pub(super) fn explained(subject: &PillarSubject<'_>, error: &Error, finding: Finding) -> Finding {
    let is_lack = matches!(error.kind(), ErrorKind::Undefined | ErrorKind::Template);
    let place = error.diagnostic().place.as_ref().filter(|_| is_lack);
    let Some(place) = place else {
        return finding;
    };
    let Some(file) = subject.files.all.get(&place.file) else {
        return finding;
    };
    let source = &file.source;
    let parsed = LocatedTemplate::of(source.path.clone(), source.shown.clone(), &source.text);
    let Some(parsed) = parsed else {
        return finding;
    };
    let origin = origin(&parsed, place);
    let finding = match origin {
        Some((variable, stmt)) => with_statement(subject, &parsed, variable, stmt, finding),
        None => finding,
    };
    let mut spans = vec![place.clone()];
    spans.extend(origin.map(|(_, stmt)| parsed.place(stmt.span)));
    of_pillar(subject, file, &spans, finding)
}

/// The variable of an expression that a statement binds, with the last such statement before it.
fn origin<'p>(parsed: &'p LocatedTemplate, place: &Place) -> Option<(&'p str, &'p Stmt)> {
    let said = place.source.get(place.start..place.end)?;
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let words: BTreeSet<&str> = said.split(|c| !is_part(c)).collect();
    let statements = parsed.statements().into_iter();
    let before = statements.filter(|stmt| (stmt.span.end as usize) <= place.start);
    let mut bound = before.filter_map(|stmt| {
        let (StmtKind::Set { target, .. } | StmtKind::ImportData { target, .. }) = &stmt.kind
        else {
            return None;
        };
        let mut found = HashSet::new();
        names(target, &mut found);
        let variable = found.into_iter().find(|name| words.contains(name))?;
        Some((variable, stmt))
    });
    bound.next_back()
}

/// A finding with the statement that a variable comes from.
fn with_statement(
    subject: &PillarSubject<'_>,
    parsed: &LocatedTemplate,
    variable: &str,
    stmt: &Stmt,
    finding: Finding,
) -> Finding {
    let at = parsed.place(stmt.span);
    let StmtKind::ImportData { template, .. } = &stmt.kind else {
        return finding.related(format!("`{variable}` is set here"), at);
    };
    let path = text_of(parsed, template).map(|path| parsed.beside(&path));
    let mut files = subject.files.all.values();
    let read = files.find(|file| Some(&file.source.path) == path.as_ref());
    match read.map(|file| &file.source) {
        Some(file) if yaml::load(&file.text).is_ok_and(|value| value.is_none()) => finding.related(
            format!("this file is empty, so `{variable}` is null"),
            file.place(0, 0),
        ),
        Some(file) => finding.related(format!("this file sets `{variable}`"), file.place(0, 0)),
        None => finding.related(format!("`{variable}` is read here"), at),
    }
}

/// A finding with the keys of the pillar that are looked up at some places, and that comments promise.
fn of_pillar(
    subject: &PillarSubject<'_>,
    file: &PillarFile,
    places: &[Place],
    finding: Finding,
) -> Finding {
    let is_in = |at: &Place| {
        let mut places = places.iter();
        places.any(|place| at.start < place.end && place.start < at.end)
    };
    let keys = pillar_keys(&file.source).into_iter();
    let keys: BTreeSet<String> = keys
        .filter(|(_, at)| is_in(at))
        .map(|(key, _)| key)
        .collect();
    let Some(key) = keys.first() else {
        return finding;
    };
    let last = key.rsplit(':').next().unwrap_or(key);
    let all = subject.files.all.values().map(|file| &file.source);
    match promised(all).contains(last) {
        true => Finding {
            level: Level::Note,
            lacks_facts: true,
            ..finding.note(format!(
                "`from-pillar={last}` says that the pillar sets it before"
            ))
        },
        false if finding.help.is_none() => finding
            .note(format!(
                "'{key}' is looked up in the pillar, where no external pillar sets it before the sls are rendered"
            ))
            .help(format!(
                "meant for an external pillar? `# mapstack-lint: from-pillar={last}`"
            )),
        false => finding,
    }
}
