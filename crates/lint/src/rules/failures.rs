//! Failures on some platforms, or on all.

use std::collections::{BTreeMap, BTreeSet};

use mapstack::minion::platforms;
use mapstack::{Answerer, CallSite, Diagnostic, Error, ErrorKind, Means, Place};
pub use mapstack::{NOT_FETCHED, unanswered_by};

use super::cures::{Cure, PlacedFailure, RunFacts, could_lack_facts, is_lack, of_python_2};
use super::imports;
use super::syntax::{indenting_tab, rule_of};
use crate::Rule;
use crate::estate::Estate;
use crate::finding::{Finding, Level};
use crate::origins::{Tracer, WantedValue};
use crate::states::{SlsOfMinions, SlsRender};
use crate::subject::FormulaSubject;

/// The number of minions that a note names.
const NAMED: usize = 5;

pub(crate) fn check(subject: &FormulaSubject<'_>) -> Vec<Finding> {
    let mut by_place: BTreeMap<(String, usize, String), LocatedError<'_>> = BTreeMap::new();
    let mut lost: BTreeMap<(String, usize), Finding> = BTreeMap::new();
    let supported: Vec<usize> = (0..subject.runs.len())
        .filter(|run| subject.runs[*run].supported)
        .collect();
    let states = subject.states.iter();
    let by_state: BTreeMap<&str, (usize, bool)> = states
        .map(|state| (&*state.name, used(subject, state)))
        .collect();
    let passes = |run: &usize| subject.runs[*run].errors().next().is_none();
    let by_map = (supported.len(), supported.iter().any(passes));
    for run in &supported {
        for (state, error) in subject.errors(*run) {
            let diagnostic = error.diagnostic();
            let place = diagnostic.place.clone();
            let place = place.filter(|place| place.file != DEFINITION);
            let is_elsewhere = || {
                place
                    .as_ref()
                    .is_some_and(|place| unanswered(subject, place).is_some())
                    || without_answer(subject, error).is_some()
            };
            if is_not_looked_at(error) || is_elsewhere() || imports::says(subject, error) {
                continue;
            }
            // A failure without a place is about the formula's configuration.
            let place = place.unwrap_or_else(|| {
                state.map_or_else(|| subject.main_file(), |state| state.file.place(0, 0))
            });
            if let Some(finding) = imports::lost(subject, error, &place) {
                lost.insert((place.file.clone(), place.start), finding);
                continue;
            }
            let key = (place.file.clone(), place.start, diagnostic.message.clone());
            let failed = by_place
                .entry(key)
                .or_insert_with(|| LocatedError::of(error, place));
            let id = subject.runs[*run].minion.id.to_string();
            if failed.minions.last() != Some(&id) {
                failed.minions.push(id);
            }
            let (of, is_passed) = state
                .and_then(|state| by_state.get(&*state.name))
                .copied()
                .unwrap_or(by_map);
            failed.of = failed.of.max(of);
            failed.is_passed |= is_passed;
            failed.is_part &= state.is_some_and(|state| state.is_part);
            failed.is_unnamed &= state.is_some_and(|state| state.is_unnamed);
        }
    }
    let mut tracer = Tracer::new(&subject.templates, &subject.survey.imports);
    let facts = RunFacts::of(subject);
    by_place
        .into_values()
        .map(|failed| match offline(failed.error, &failed.place) {
            Some(finding) => finding.note(on(&failed.minions, failed.of)),
            None => failure(failed, &facts, &mut tracer, subject.estate.as_ref()),
        })
        .chain(lost.into_values())
        .collect()
}

/// True if something is missing here and not in the formula; a misspelt renderer is missing everywhere.
fn is_not_looked_at(error: &Error) -> bool {
    error.kind() == ErrorKind::Unsupported && !is_slip(error.diagnostic())
}

/// True if an error knows what was meant.
pub(super) fn is_slip(diagnostic: &Diagnostic) -> bool {
    let help = diagnostic.help.as_deref();
    help.is_some_and(|help| help.starts_with("did you mean"))
}

/// The number of minions that use an sls, and true if it works for some of them.
fn used(subject: &FormulaSubject<'_>, state: &SlsOfMinions) -> (usize, bool) {
    let is_supported = |run: &&usize| subject.runs.get(**run).is_some_and(|run| run.supported);
    // A run that ends for lack of an answer shows no failure.
    let is_passed = |outcome: &Result<SlsRender, Error>| match outcome {
        Ok(_) => true,
        Err(error) => {
            let place = error.diagnostic().place.as_ref();
            place.is_some_and(|place| unanswered(subject, place).is_some())
                || without_answer(subject, error).is_some()
        }
    };
    (
        state.used.iter().filter(is_supported).count(),
        state.used().any(|(_, outcome)| is_passed(outcome)),
    )
}

/// An error, and where it happens.
struct LocatedError<'e> {
    error: &'e Error,
    place: Place,
    /// The minions that fail with it.
    minions: Vec<String>,
    /// The number of those that would come by.
    of: usize,
    /// True if what fails works for some of them.
    is_passed: bool,
    /// True if only sls fail that others name and do not include on any minion.
    is_part: bool,
    /// True if only sls fail that no minion gets.
    is_unnamed: bool,
}

impl<'e> LocatedError<'e> {
    fn of(error: &'e Error, place: Place) -> Self {
        LocatedError {
            error,
            place,
            minions: Vec::new(),
            of: 0,
            is_passed: false,
            is_part: true,
            is_unnamed: true,
        }
    }
}

/// The name of the place of an error in a definition.
const DEFINITION: &str = "source definition";

fn failure(
    failed: LocatedError<'_>,
    facts: &RunFacts<'_>,
    tracer: &mut Tracer<'_>,
    estate: Option<&Estate>,
) -> Finding {
    let LocatedError {
        error,
        place,
        minions,
        of,
        is_passed,
        is_part,
        is_unnamed,
    } = failed;
    let mut finding = of_error(error, &place);
    let cause = PlacedFailure {
        error,
        place: &place,
        minions: &minions,
        is_everywhere: !is_passed,
    };
    let cure = facts.cure(&cause, tracer);
    // A key that nothing sets is missing on made-up minions and on the real ones alike.
    let is_unset = matches!(cure, Some(Cure::Unset(_) | Cure::NotInPillar { .. }));
    if let Some(cure) = cure {
        finding = cured(finding, cure);
    } else if let Some(note) = estate.and_then(|estate| {
        let are_assumed = estate.assumes(&minions);
        let grains = are_assumed.then(|| tracer.at(&place).grains)?;
        of_assumed_grains(error, grains.iter().map(String::as_str))
    }) {
        finding.level = Level::Warning;
        finding.lacks_facts = true;
        finding.notes.push(note);
    } else if let Some(name) = parameter(error, &place) {
        finding.level = Level::Warning;
        finding.lacks_facts = true;
        finding.notes.push(format!(
            "`{name}` is a parameter of the sls, which others that include it set by `extend`"
        ));
    } else if is_part && is_passed {
        finding.level = Level::Warning;
        let note = "other sls name it, but none that is used here includes it on these minions";
        finding.notes.push(note.to_owned());
    }
    let softened = match is_unset {
        true => estate.and_then(|estate| follows(estate, &minions)),
        false => estate.and_then(|estate| softened(estate, error, &minions)),
    };
    if is_unnamed && finding.level == Level::Error {
        finding.level = Level::Warning;
        let note = "no minion gets it by a top file, so it was rendered for a minion that may lack its facts";
        return finding.note(note);
    }
    if let Some(note) = softened.filter(|_| finding.level == Level::Error) {
        finding.level = Level::Warning;
        finding.lacks_facts = true;
        finding.notes.push(note.to_owned());
    }
    finding.note(on(&minions, of))
}

/// The finding of an error, before its cause is known.
fn of_error(error: &Error, place: &Place) -> Finding {
    let diagnostic = error.diagnostic();
    let rule = rule_of_failure(error);
    let has_place = diagnostic
        .place
        .as_ref()
        .is_some_and(|place| place.file != DEFINITION);
    let mut finding = Finding::of_message(rule, place.clone(), diagnostic);
    if !has_place {
        finding = finding.whole_file();
    }
    finding.of_run = true;
    // Here it does not only look wrong.
    if rule == Rule::UnquotedExpression {
        finding.level = Level::Error;
    }
    if let Some((old, new)) = of_python_2(&diagnostic.message) {
        finding.help = Some(format!("Python 3 has no `{old}`: write {new}"));
    }
    finding
}

/// The parameter that an sls of the renderer `stateconf` lacks, if that is its error: `stateconf.set` declares them, and
/// their attributes raise a `KeyError`.
fn parameter<'e>(error: &'e Error, place: &Place) -> Option<&'e str> {
    let quoted = error.diagnostic().message.strip_prefix("Jinja error: '")?;
    let name = quoted.strip_suffix('\'')?;
    let asks = place.source.get(place.start..place.end)?;
    let is_declared = place.source.contains("stateconf.set");
    (is_declared && asks.ends_with(&format!(".{name}"))).then_some(name)
}

/// The end of errors of the tree's Python that needs what the sandbox does not have.
const OFFLINE: &str = " is not available offline";

/// Parts of Python's library that the machine itself answers.
const OF_MACHINE: [&str; 12] = [
    "fcntl",
    "grp",
    "http",
    "io",
    "open",
    "os",
    "pathlib",
    "platform",
    "pwd",
    "socket",
    "subprocess",
    "sys",
];

/// A note on the tree's own Python that was not run to its end, if that is all an error says.
///
/// ```
/// use mapstack::{Error, ErrorKind, Place};
/// use mapstack_lint::{Level, offline};
/// let place = Place { file: "a.py".into(), source: "import ldap".into(), start: 0, end: 11 };
/// let error = Error::new(ErrorKind::Undefined, "Python: the module 'ldap.dn' is not available offline");
/// let note = offline(&error, &place).unwrap();
/// assert_eq!(note.message, "not looked at: needs the Python package 'ldap'");
/// assert_eq!((note.level, offline(&Error::new(ErrorKind::Undefined, "'a' is undefined"), &place)), (Level::Note, None));
/// ```
#[must_use]
pub fn offline(error: &Error, place: &Place) -> Option<Finding> {
    let message = &error.diagnostic().message;
    let what = message.strip_suffix(OFFLINE)?;
    let what = what.rsplit_once(": ").map_or(what, |(_, what)| what);
    let name = what
        .strip_prefix("the module ")
        .unwrap_or(what)
        .trim_matches('\'');
    let package = name.split(['.', '(']).next().unwrap_or(name);
    let is_package = !name.contains(char::is_whitespace) && !OF_MACHINE.contains(&package);
    let message = match is_package {
        true => format!("not looked at: needs the Python package '{package}'"),
        false => format!("not looked at: needs {what} of the machine"),
    };
    let finding = Finding::new(Rule::RenderFailure, place.clone(), message);
    let help = format!(
        "the minion may have it; where a function of the tree needs it, say what that answers by {}",
        Means::Stub
    );
    Some(Finding {
        level: Level::Note,
        of_run: true,
        ..finding.help(help)
    })
}

/// A failure for lack of something, with what that is.
fn cured(mut finding: Finding, cure: Cure) -> Finding {
    match cure {
        Cure::Facts(what) => {
            finding.level = Level::Warning;
            finding.lacks_facts = true;
            finding.note(what)
        }
        Cure::Promised(what) => {
            finding.level = Level::Note;
            finding.lacks_facts = true;
            finding.note(what)
        }
        Cure::NotInPillar { what, name } => finding.note(what).help(format!(
            "meant for the pillar? `# mapstack-lint: from-pillar={name}`"
        )),
        Cure::Empty { variable, file } => {
            finding.related(format!("this file is empty, so `{variable}` is null"), file)
        }
        Cure::Unset(WantedValue {
            object,
            key,
            is_absent,
        }) => {
            let finding = match is_absent {
                true => {
                    let jinja = std::mem::replace(
                        &mut finding.message,
                        format!("`{object}` has no `{key}`"),
                    );
                    finding.note(format!("no layer sets `{key}`")).note(jinja)
                }
                false => finding.note(format!(
                    "`{key}` is not what the template needs as the layers set it"
                )),
            };
            finding.help(format!(
                "meant for the pillar? `# mapstack-lint: from-pillar={key}`"
            ))
        }
    }
}

/// The reason why a failure on some minions of an estate need not be one: missing values of their pillars, or unknown facts.
pub(super) fn softened(estate: &Estate, error: &Error, minions: &[String]) -> Option<&'static str> {
    let is_example = |id: &String| estate.examples.contains(id) || estate.broken.contains(id);
    let could_differ = || could_lack_facts(error) && minions.iter().all(is_example);
    follows(estate, minions).or_else(|| {
        could_differ().then_some("these minions represent others, which may have its facts")
    })
}

/// The reason why a failure on minions whose pillars have errors need not be one.
pub(super) fn follows(estate: &Estate, minions: &[String]) -> Option<&'static str> {
    let mut minions = minions.iter();
    minions
        .all(|id| estate.broken.contains(id))
        .then_some("the pillars of these minions have errors, and this may follow from them")
}

/// The note for a failure of an expression that reads assumed grains; `None` if the failure has another
/// cause. A name that is near to another and that no platform has is misspelt.
///
/// ```
/// use mapstack::{Error, ErrorKind};
/// use mapstack_lint::of_assumed_grains;
/// let error = Error::new(ErrorKind::Undefined, "'dict object' has no attribute 'role'");
/// let note = of_assumed_grains(&error, ["role"]).unwrap();
/// assert!(note.starts_with("the grains of these minions are assumed: 'role'"));
/// let misspelt = error.clone().help("did you mean 'os_family'?");
/// assert_eq!(of_assumed_grains(&misspelt, ["os_famly"]), None);
/// assert!(of_assumed_grains(&misspelt, ["oscodename"]).is_some());
/// ```
#[must_use]
pub fn of_assumed_grains<'g>(
    error: &Error,
    grains: impl IntoIterator<Item = &'g str>,
) -> Option<String> {
    let grains: Vec<&str> = grains.into_iter().collect();
    let is_misspelt = || {
        let name = |grain: &'_ str| grain.split(':').next().unwrap_or_default().to_owned();
        let are_known = grains
            .iter()
            .all(|grain| platforms::have_grain(&name(grain)));
        is_slip(error.diagnostic()) && !are_known
    };
    if grains.is_empty() || !is_lack(error) || is_misspelt() {
        return None;
    }
    let named: Vec<String> = grains.iter().map(|grain| format!("'{grain}'")).collect();
    Some(format!(
        "the grains of these minions are assumed: {} can be set by {}, or by `minions: {{grains: …}}` in .mapstack.yaml",
        named.join(", "),
        Means::Fact
    ))
}

/// Calls of functions that have no answer here: what comes after such a call was not looked
/// at.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CallsWithoutAnswer {
    /// The minions on which that is so.
    pub minions: BTreeSet<String>,
    /// The files that could not be worked out for them, as a person would open them.
    pub files: BTreeSet<String>,
}

/// The functions that runs called without an answer.
pub(crate) fn unanswered_calls(
    subject: &FormulaSubject<'_>,
) -> BTreeMap<String, CallsWithoutAnswer> {
    let mut calls: BTreeMap<String, CallsWithoutAnswer> = BTreeMap::new();
    for (number, run) in subject.runs.iter().enumerate() {
        for (state, error) in subject.errors(number) {
            let Some(place) = &error.diagnostic().place else {
                continue;
            };
            let Some(name) = unanswered(subject, place).or_else(|| without_answer(subject, error))
            else {
                continue;
            };
            let known = calls.entry(name.to_owned()).or_default();
            known.minions.insert(run.minion.id.to_string());
            known
                .files
                .insert(state.map_or_else(|| place.file.clone(), |state| state.file.shown.clone()));
        }
    }
    calls
}

/// The function that a place calls, if it has no answer here. Salt may have one.
fn unanswered<'s>(subject: &'s FormulaSubject<'_>, place: &Place) -> Option<&'s str> {
    let is_here = |call: &&CallSite| {
        call.place.file == place.file && (call.place.start..call.place.end).contains(&place.start)
    };
    let mut names = subject
        .survey
        .calls
        .iter()
        .filter(is_here)
        .filter_map(|call| call.function.as_deref());
    names.find(|name| subject.engine.answerer(name) == Answerer::Unanswered)
}

/// The function of the tree's modules that an error is about, if the function needs what is not here, or one that
/// fetches. The error's place may be in the module, and the call is on the way there.
fn without_answer<'s>(subject: &'s FormulaSubject<'_>, error: &'s Error) -> Option<&'s str> {
    let diagnostic = error.diagnostic();
    if let Some(name) = unanswered_by(error) {
        return Some(name);
    }
    let is_of_module =
        error.kind() == ErrorKind::Undefined && diagnostic.message.contains("] has no answer: ");
    if !is_of_module && !diagnostic.message.contains(NOT_FETCHED) {
        return None;
    }
    let way = diagnostic.trace.iter().map(|step| &step.place);
    let mut way = diagnostic.place.iter().chain(way);
    way.find_map(|place| {
        let mut calls = subject.survey.calls.iter();
        let call = calls.find(|call| {
            call.place.file == place.file
                && (call.place.start..call.place.end).contains(&place.start)
        });
        call?.function.as_deref()
    })
}

/// The rule that the error of a run goes against.
///
/// ```
/// use mapstack::{Error, ErrorKind};
/// use mapstack_lint::{Rule, rule_of_failure};
/// let error = Error::new(ErrorKind::Undefined, "'port' is undefined");
/// assert_eq!(rule_of_failure(&error), Rule::UndefinedVariable);
/// ```
#[must_use]
pub fn rule_of_failure(error: &Error) -> Rule {
    let diagnostic = error.diagnostic();
    match error.kind() {
        // Jinja calls an item that a number does not have undefined, too.
        ErrorKind::Undefined if is_absent(&diagnostic.message) => Rule::UndefinedVariable,
        // Two keys can have the same name on purpose.
        ErrorKind::Yaml
            if matches!(
                diagnostic.caused(),
                Some(mapstack::yaml::ErrorKind::DuplicateKey { .. })
            ) =>
        {
            Rule::DuplicateKey
        }
        ErrorKind::Yaml if is_printed(diagnostic) => Rule::UnquotedExpression,
        ErrorKind::Yaml if has_tab(diagnostic) => Rule::YamlTab,
        ErrorKind::Yaml => diagnostic.caused().map_or(Rule::YamlSyntax, rule_of),
        ErrorKind::DataSource => Rule::DataSource,
        ErrorKind::Definition | ErrorKind::Options => Rule::BadSource,
        _ if imports::is_not_found(error) => Rule::MissingImport,
        _ => Rule::RenderFailure,
    }
}

/// True if a tab indents the line that is not YAML.
fn has_tab(diagnostic: &Diagnostic) -> bool {
    let is_syntax = matches!(
        diagnostic.caused(),
        Some(mapstack::yaml::ErrorKind::Syntax { .. })
    );
    is_syntax
        && diagnostic
            .place
            .as_ref()
            .is_some_and(|place| indenting_tab(&place.source, place.start).is_some())
}

/// True if a variable or a key of a mapping is what is undefined.
fn is_absent(message: &str) -> bool {
    let of_scalar = [
        "'int object'",
        "'float object'",
        "'str object'",
        "'bool object'",
        "'list object'",
        "'None'",
    ];
    let message = message.strip_prefix("Jinja variable ").unwrap_or(message);
    let of_item = message.contains("object has no element");
    message.ends_with(" is undefined")
        || !of_item && !of_scalar.iter().any(|start| message.starts_with(start))
}

/// True if an expression printed what is not YAML.
fn is_printed(diagnostic: &Diagnostic) -> bool {
    let starts = |place: &Place| {
        place
            .source
            .get(place.start..)
            .is_some_and(|rest| rest.starts_with("{{"))
    };
    diagnostic.place.as_ref().is_some_and(starts)
}

/// On which minions, of how many.
///
/// ```
/// assert_eq!(mapstack_lint::on(&["web1".into()], 3), "on 1 of 3 minions: web1");
/// ```
#[must_use]
pub fn on(minions: &[String], all: usize) -> String {
    let named = minions
        .iter()
        .take(NAMED)
        .map(String::as_str)
        .collect::<Vec<_>>()
        .join(", ");
    match minions.len() {
        n if n == all && all > 1 => format!("on all {all} minions"),
        n if n > NAMED => format!("on {n} of {all} minions: {named} and {} more", n - NAMED),
        _ if all == 1 => format!("on {named}"),
        n => format!("on {n} of {all} minions: {named}"),
    }
}
