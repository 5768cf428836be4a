//! What no minion gets.

use std::collections::BTreeMap;

use mapstack::Place;
use mapstack::loader::Fnmatch;
use mapstack_lint::{Finding, Level, Rule};

use super::Subject;
use crate::files::{Files, PillarFile, names};
use crate::seen::{Asked, Seen};

/// Targets that mean no minion, and missing sls that they name.
pub(super) fn targets(subject: &Subject<'_>) -> Vec<Finding> {
    let seen = subject.seen;
    let mut found = Vec::new();
    for (target, asked) in &seen.targets {
        let Some(place) = &asked.place else { continue };
        if !asked.meant.is_empty() {
            continue;
        }
        found.extend(missing(subject, &target.saltenv, asked, place));
        if !subject.is_fleet || seen.is_partial() {
            continue;
        }
        let message = format!(
            "the target '{}' of '{}' means no minion",
            target.target, target.saltenv
        );
        let mut finding = Finding::new(Rule::UnmatchedTarget, place.clone(), message);
        let is_lost = |sls: &&String| !seen.sls.keys().any(|(_, known)| known == *sls);
        let lost: Vec<String> = asked.sls.iter().filter(is_lost).map(quoted).collect();
        if !lost.is_empty() {
            let note = format!("so no minion gets {}", lost.join(", "));
            finding = finding.note(note);
        }
        found.push(finding.note(format!(
            "of {} looked at, by the matcher {}",
            minions(seen.minions),
            asked.matcher
        )));
    }
    found
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

/// The missing sls of a target that means no minion: no compile comes by. A top file that lets some be missing does not
/// say here which.
fn missing(subject: &Subject<'_>, saltenv: &str, asked: &Asked, place: &Place) -> Vec<Finding> {
    let has_env = subject.files.envs.iter().any(|env| env == saltenv);
    if !has_env || place.source.contains("ignore_missing") {
        return Vec::new();
    }
    let is_pattern = |sls: &str| sls.contains(['*', '?', '[']);
    let is_missing = |sls: &&String| !is_pattern(sls) && !subject.files.has(saltenv, sls);
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
        .note("the target means no minion here")
    };
    asked.sls.iter().filter(is_missing).map(of).collect()
}

/// Where a top file names an sls below a target.
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

/// Why no minion gets an sls, as far as files show it.
enum Why<'f> {
    /// A target that means no minion names it, or an sls that includes it; which is reported there.
    Target,
    /// A file names it, or could.
    Named(&'f PillarFile),
    /// Only an sls names it that nothing leads to.
    Dead(&'f PillarFile),
    /// Nothing names it.
    Nothing,
}

impl Why<'_> {
    /// The better reason of two: the one that makes less of it.
    fn or(self, other: Self) -> Self {
        let rank = |why: &Self| match why {
            Why::Target => 3,
            Why::Named(_) => 2,
            Why::Dead(_) => 1,
            Why::Nothing => 0,
        };
        if rank(&other) > rank(&self) {
            other
        } else {
            self
        }
    }
}

/// Sls that no minion gets.
pub(super) fn unused(subject: &Subject<'_>) -> Vec<Finding> {
    let seen = subject.seen;
    if seen.is_partial() {
        return Vec::new();
    }
    let mut found = Vec::new();
    for file in subject.files.sls() {
        let Some(name) = file.name().filter(|_| is_unread(seen, file)) else {
            continue;
        };
        let message = format!("no minion gets the sls '{name}'");
        let finding = Finding::of_file(Rule::UnusedSls, file.source.place(0, 0), message);
        let looked = format!("{} looked at", minions(seen.minions));
        match why(subject, file, &name, 0) {
            Why::Target => {}
            Why::Dead(by) => {
                let by = &by.source.shown;
                found.push(finding.note(format!("only {by} names it, which no minion gets")));
            }
            Why::Named(_) if !subject.is_fleet || fails(seen) => {}
            Why::Named(by) => {
                let by = &by.source.shown;
                let mut finding =
                    finding.note(format!("{by} names it, but not for them: {looked}"));
                finding.level = Level::Note;
                found.push(finding);
            }
            Why::Nothing => {
                let help = "name it in a top file, include it, or delete it";
                let note = format!("no top file and no other sls names it; {looked}");
                found.push(finding.note(note).help(help));
            }
        }
    }
    found
}

/// Whether some sls does not render, so that what it includes is not known.
fn fails(seen: &Seen) -> bool {
    !seen.failures.is_empty()
}

fn is_unread(seen: &Seen, file: &PillarFile) -> bool {
    !seen.read.contains(&file.source.shown) && seen.envs.contains(&file.saltenv)
}

/// So many sls that no minion gets are followed from one to the next at most.
const MAX_DEPTH: usize = 20;

fn why<'f>(subject: &Subject<'f>, file: &PillarFile, name: &str, depth: usize) -> Why<'f> {
    let in_targets = subject
        .seen
        .targets
        .values()
        .flat_map(|asked| &asked.sls)
        .any(|sls| {
            sls == name || (sls.contains(['*', '?', '[']) && Fnmatch::new(sls).matches(name))
        });
    if in_targets || depth > MAX_DEPTH {
        return Why::Target;
    }
    let mut why = Why::Nothing;
    for by in subject.files.all.values() {
        let is_top = subject.seen.tops.contains(&by.source.shown);
        let is_other = by.source.shown != file.source.shown;
        if is_other && could_name(by, is_top, (file, name)) {
            why = why.or(named(subject, by, depth));
        }
    }
    why
}

/// What it means that a file names an sls.
fn named<'f>(subject: &Subject<'f>, by: &'f PillarFile, depth: usize) -> Why<'f> {
    let Some(name) = by.name().filter(|_| is_unread(subject.seen, by)) else {
        return Why::Named(by);
    };
    match self::why(subject, by, &name, depth + 1) {
        Why::Nothing | Why::Dead(_) => Why::Dead(by),
        Why::Named(_) => Why::Named(by),
        Why::Target => Why::Target,
    }
}

/// Whether a file names an sls: as an include does, by its path, or by a name that a template completes.
fn could_name(by: &PillarFile, is_top: bool, (file, name): (&PillarFile, &str)) -> bool {
    let text = &*by.source.text;
    let relative = name
        .strip_prefix(&by.directory())
        .map(|rest| format!(".{rest}"));
    let mut prefixes = vec![String::new()];
    prefixes.extend(
        name.match_indices('.')
            .map(|(at, dot)| name[..at + dot.len()].to_owned()),
    );
    names(text, name)
        || names(text, &file.source.path)
        || names(text, &name.replace('.', "/"))
        || relative.is_some_and(|relative| names(text, &relative))
        || prefixes.iter().any(|prefix| completes(by, is_top, prefix))
}

/// Whether a template or a pattern completes a name in a list of sls, as in `- users.{{ name }}`.
fn completes(by: &PillarFile, is_top: bool, prefix: &str) -> bool {
    let mut in_list = is_top;
    by.source.text.lines().any(|line| {
        let line = line.trim_end();
        let item = line.trim_start().strip_prefix('-').map(str::trim_start);
        let Some(item) = item else {
            let is_between = line.is_empty() || line.trim_start().starts_with(['{', '#']);
            in_list = is_top || line.starts_with("include:") || (in_list && is_between);
            return false;
        };
        let item = item.trim_start_matches(['\'', '"', '.']);
        let rest = item.strip_prefix(prefix).filter(|_| in_list);
        rest.is_some_and(|rest| rest.starts_with("{{") || rest.starts_with('*'))
    })
}

/// The sls that no minion of those looked at gets, with the reason why they were not looked at.
pub(crate) fn unread(seen: &Seen, files: &Files) -> BTreeMap<String, String> {
    let unread = files
        .sls()
        .filter(|file| !seen.read.contains(&file.source.shown));
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
