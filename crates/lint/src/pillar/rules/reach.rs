//! Sls and targets that reach no minion.

use std::collections::{BTreeMap, HashMap};

use crate::{Finding, Level, Rule};
use mapstack::Place;
use mapstack::value::Value;
use mapstack::value::pytext::Fnmatch;

use super::PillarSubject;
use super::failures::has_only_tops;
use crate::pillar::files::{PillarFile, ReadablePillarFiles};
use crate::pillar::naming::PillarFileNames;
use crate::pillar::seen::{PillarRecord, TopEntry};
use crate::rules::folders::FolderWithoutSls;

/// Top files that are not read, and pillars without one.
pub(super) fn tops(subject: &PillarSubject<'_>) -> Vec<Finding> {
    let of = |(shadowed, first): &(String, String)| {
        let place = Place {
            file: shadowed.clone(),
            source: "".into(),
            start: 0,
            end: 0,
        };
        let message = format!("this top file is not read: {first} comes first");
        let mut finding = Finding::of_file(Rule::TopFile, place, message);
        finding.level = Level::Warning;
        finding.help("roots are searched in their order; move its targets there, or give the root a separate saltenv")
    };
    let mut found: Vec<Finding> = subject.files.shadowed.iter().map(of).collect();
    found.extend(no_top(subject));
    found
}

/// The lack of a top file: then no sls reaches a minion.
fn no_top(subject: &PillarSubject<'_>) -> Option<Finding> {
    let seen = subject.seen;
    if !seen.tops.is_empty() || seen.is_partial() || !seen.targets.is_empty() {
        return None;
    }
    let first = subject.files.sls().next()?;
    let mut files = subject.files.all.values();
    let near = files.find(|file| {
        !file.source.path.contains('/') && file.source.path.to_lowercase().starts_with("top.")
    });
    let place = near.unwrap_or(first).source.place(0, 0);
    let message = "no root of the pillar has a top.sls, so no minion gets any sls of it";
    let mut finding = Finding::of_file(Rule::TopFile, place, message);
    finding.level = Level::Warning;
    Some(match near {
        Some(near) => finding.help(format!(
            "did you mean top.sls? there is {}",
            near.source.path
        )),
        None => finding,
    })
}

/// Targets that match no minion, and missing sls that they name.
pub(super) fn targets(subject: &PillarSubject<'_>) -> Vec<Finding> {
    let seen = subject.seen;
    let mut found = Vec::new();
    for (target, asked) in &seen.targets {
        let Some(place) = &asked.place else { continue };
        found.extend(
            asked
                .sls
                .iter()
                .filter(|sls| is_option(sls))
                .map(|sls| joined_option(place, sls)),
        );
        if !asked.meant.is_empty() {
            continue;
        }
        found.extend(missing(subject, &target.saltenv, asked, place));
        if !subject.is_fleet || seen.is_partial() {
            continue;
        }
        let message = format!(
            "the target '{}' of '{}' matches no minion",
            target.target, target.saltenv
        );
        let mut finding = Finding::new(Rule::UnmatchedTarget, place.clone(), message);
        let is_lost = |sls: &&String| !seen.sls.keys().any(|(_, known)| known == *sls);
        let lost: Vec<String> = asked.sls.iter().filter(is_lost).map(quoted).collect();
        if !lost.is_empty() {
            let note = format!("so no minion gets {}", lost.join(", "));
            finding = finding.note(note);
        }
        let finding = finding.note(format!(
            "of {} looked at, by the matcher {}",
            minions(seen.minions),
            asked.matcher
        ));
        found.push(match looks_into_pillar(subject, &target.target, asked) {
            true => finding.help(
                "targets are matched before the sls are read, so this one looks into an empty pillar: use a grain",
            ),
            false => finding,
        });
    }
    found
}

/// True if a target asks for the pillar, by itself or by a nodegroup, and no external pillar comes first.
fn looks_into_pillar(subject: &PillarSubject<'_>, target: &str, asked: &TopEntry) -> bool {
    let is_on = |option: &str| subject.options.get(option).is_some_and(Value::truthy);
    if is_on("ext_pillar_first") && is_on("ext_pillar") {
        return false;
    }
    let groups = subject.options.get("nodegroups").and_then(Value::as_map);
    let group = |name: &str| {
        let named = groups.and_then(|groups| groups.get(name));
        named.map(Value::repr).unwrap_or_default()
    };
    let by_pillar = |text: &str| text.contains("I@") || text.contains("J@");
    match &*asked.matcher {
        "nodegroup" => by_pillar(&group(target)),
        "compound" => target.split_whitespace().any(|word| {
            by_pillar(word)
                || word
                    .strip_prefix("N@")
                    .is_some_and(|name| by_pillar(&group(name)))
        }),
        matcher => matcher.starts_with("pillar"),
    }
}

/// True for an option of a target that is text, such as `match:grain`, and so the name of an sls.
pub(super) fn is_option(sls: &str) -> bool {
    let key = mapstack::yaml::joined_key(sls);
    key.is_some_and(|key| matches!(key, "match" | "order" | "ignore_missing"))
}

fn joined_option(target: &Place, sls: &str) -> Finding {
    let place = named_in(target, sls).unwrap_or_else(|| target.clone());
    let message = format!("`{sls}` is the name of an sls here, as no blank follows its `:`");
    let mut finding = Finding::new(Rule::MissingBlank, place, message);
    // Salt looks for the sls where the target means a minion.
    finding.level = Level::Error;
    finding.help(format!("write `- {}`", sls.replacen(':', ": ", 1)))
}

fn quoted(name: &String) -> String {
    format!("'{name}'")
}

fn minions(count: usize) -> String {
    match count {
        1 => "1 minion".into(),
        count => format!("{count} minions"),
    }
}

/// The missing sls of a target that matches no minion: no compile comes by. A top file that lets some be missing does not
/// say here which.
fn missing(
    subject: &PillarSubject<'_>,
    saltenv: &str,
    asked: &TopEntry,
    place: &Place,
) -> Vec<Finding> {
    let has_env = subject.files.envs.iter().any(|env| env == saltenv);
    if !has_env || place.source.contains("ignore_missing") || has_only_tops(subject) {
        return Vec::new();
    }
    let is_pattern = |sls: &str| sls.contains(['*', '?', '[']);
    let has_files = |prefix: &str| {
        let mut files = subject.files.all.values();
        files.any(|file| file.source.path.starts_with(prefix))
    };
    // A folder without files is the cause, and is said where minions get its sls.
    let is_elsewhere =
        |sls: &str| FolderWithoutSls::of(sls, has_files).is_some_and(|it| it.is_empty);
    let is_missing = |sls: &&String| {
        !is_pattern(sls)
            && !is_option(sls)
            && !subject.files.has(saltenv, sls)
            && !is_elsewhere(sls)
    };
    let of = |sls: &String| {
        let message = format!("the pillar has no sls '{sls}' in saltenv '{saltenv}'");
        let place = named_in(place, sls).unwrap_or_else(|| place.clone());
        let finding = Finding::new(Rule::MissingInclude, place, message);
        let known: Vec<String> = subject.files.sls().filter_map(PillarFile::name).collect();
        match mapstack::nearest(sls, known.iter()) {
            Some(near) => finding.help(format!("did you mean '{near}'?")),
            None => finding.help(format!(
                "there is neither {0}.sls nor {0}/init.sls",
                sls.replace('.', "/")
            )),
        }
        .note("the target matches no minion here")
    };
    asked.sls.iter().filter(is_missing).map(of).collect()
}

/// The place in a top file that names an sls below a target.
pub(super) fn named_in(target: &Place, sls: &str) -> Option<Place> {
    let rest = target.source.get(target.start..)?;
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | '*');
    let found = rest.match_indices(sls).find(|(at, _)| {
        let before = rest[..*at].chars().next_back();
        let after = rest[at + sls.len()..].chars().next();
        *at > 0 && !before.is_some_and(is_part) && !after.is_some_and(is_part)
    });
    let start = target.start + found.map_or(0, |(at, _)| at);
    let end = found.map_or(target.end, |(at, _)| target.start + at + sls.len());
    Some(Place {
        start,
        end,
        ..target.clone()
    })
}

/// Why no minion gets an sls, as far as files show it; files by their numbers. Each reason makes less of it than the one
/// before.
#[derive(Debug, Clone, Copy)]
enum UnassignedReason {
    /// Nothing names it.
    Nothing,
    /// Only an sls names it that nothing leads to.
    Dead(usize),
    /// A file names it, or could.
    Named(usize),
    /// A target that matches no minion names it, or an sls that includes it; which is reported there.
    Target,
}

impl UnassignedReason {
    /// The better reason of two; the first of two that are alike.
    fn or(self, other: Self) -> Self {
        match self.is_worse(other) {
            true => other,
            false => self,
        }
    }

    fn is_worse(self, other: Self) -> bool {
        let rank = |why| match why {
            UnassignedReason::Nothing => 0,
            UnassignedReason::Dead(_) => 1,
            UnassignedReason::Named(_) => 2,
            UnassignedReason::Target => 3,
        };
        rank(self) < rank(other)
    }
}

/// Sls that no minion gets.
pub(super) fn unused(subject: &PillarSubject<'_>) -> Vec<Finding> {
    let seen = subject.seen;
    if seen.is_partial() {
        return Vec::new();
    }
    let naming = PillarFileNames::of(subject.files, seen);
    let shown = |number| &naming.file(number).source.shown;
    let looked = format!("{} looked at", minions(seen.minions));
    let mut found = Vec::new();
    for (sls, why) in reasons(subject, &naming) {
        if seen.could_be_stacked(shown(sls.number)) {
            continue;
        }
        let message = format!("no minion gets the sls '{}'", sls.name);
        let place = naming.file(sls.number).source.place(0, 0);
        let finding = Finding::of_file(Rule::UnusedSls, place, message);
        match why {
            UnassignedReason::Target => {}
            UnassignedReason::Dead(by) => {
                let note = format!("only {} names it, which no minion gets", shown(by));
                found.push(finding.note(note));
            }
            UnassignedReason::Named(_) if !subject.is_fleet || fails(seen) => {}
            UnassignedReason::Named(by) => {
                let note = format!("{} names it, but not for them: {looked}", shown(by));
                let mut finding = finding.note(note);
                finding.level = Level::Note;
                found.push(finding);
            }
            UnassignedReason::Nothing => {
                let help = "name it in a top file, include it, or delete it";
                let what = match subject.files.shadowed.is_empty() {
                    true => "no top file",
                    false => "no top file that is read",
                };
                let note = format!("{what} and no other sls names it; {looked}");
                found.push(finding.note(note).help(help));
            }
        }
    }
    found
}

/// True if some sls does not render, so that what it includes is not known.
fn fails(seen: &PillarRecord) -> bool {
    !seen.failures.is_empty()
}

fn is_unread(seen: &PillarRecord, file: &PillarFile) -> bool {
    !seen.is_read(&file.source.shown) && seen.envs.contains(&file.saltenv)
}

/// An sls that no minion gets.
struct UnassignedSls {
    number: usize,
    name: String,
    /// The files that name it.
    by: Vec<usize>,
}

/// The sls that no minion gets, each with the reason. What names an sls can be such an sls itself, so reasons are handed on
/// until nothing changes; each can only get better.
fn reasons(
    subject: &PillarSubject<'_>,
    naming: &PillarFileNames<'_>,
) -> Vec<(UnassignedSls, UnassignedReason)> {
    let unread = naming.files().filter_map(|(number, file)| {
        let name = file.name().filter(|_| is_unread(subject.seen, file))?;
        let by = naming.of_sls(number, &name);
        Some(UnassignedSls { number, name, by })
    });
    let unread: Vec<UnassignedSls> = unread.collect();
    let first = |sls: &UnassignedSls| match is_in_targets(subject.seen, &sls.name) {
        true => UnassignedReason::Target,
        false => UnassignedReason::Nothing,
    };
    let mut known: HashMap<usize, UnassignedReason> =
        unread.iter().map(|sls| (sls.number, first(sls))).collect();
    let mut changes = true;
    while changes {
        changes = false;
        for sls in &unread {
            let reasons = sls.by.iter().map(|by| named(*by, known.get(by)));
            let why = reasons.fold(UnassignedReason::Nothing, UnassignedReason::or);
            if let Some(old) = known.get_mut(&sls.number).filter(|old| old.is_worse(why)) {
                *old = why;
                changes = true;
            }
        }
    }
    let with_reason = |sls: UnassignedSls| {
        let why = known
            .get(&sls.number)
            .copied()
            .unwrap_or(UnassignedReason::Nothing);
        (sls, why)
    };
    unread.into_iter().map(with_reason).collect()
}

fn is_in_targets(seen: &PillarRecord, name: &str) -> bool {
    let mut asked = seen.targets.values().flat_map(|asked| &asked.sls);
    asked.any(|sls| {
        sls == name || (sls.contains(['*', '?', '[']) && Fnmatch::new(sls).matches(name))
    })
}

/// The meaning of an sls that a file names, by the reason why no minion gets the file, if it is such an sls.
fn named(by: usize, why: Option<&UnassignedReason>) -> UnassignedReason {
    match why {
        Some(UnassignedReason::Target) => UnassignedReason::Target,
        Some(UnassignedReason::Nothing | UnassignedReason::Dead(_)) => UnassignedReason::Dead(by),
        Some(UnassignedReason::Named(_)) | None => UnassignedReason::Named(by),
    }
}

/// The sls that no minion of those looked at gets, with the reason why they were not looked at.
pub(crate) fn unread(seen: &PillarRecord, files: &ReadablePillarFiles) -> BTreeMap<String, String> {
    let unread = files.sls().filter(|file| !seen.is_read(&file.source.shown));
    let why = |file: &PillarFile| {
        let is_template = file.source.is_template();
        let why = match (seen.envs.contains(&file.saltenv), is_template) {
            (false, _) => "no top file of its saltenv is read",
            (true, true) => "no minion looked at gets it",
            (true, false) => "no minion looked at gets it: checked for secrets alone",
        };
        (file.source.shown.clone(), why.to_owned())
    };
    unread.map(why).collect()
}
