//! Rules for states that a state run would refuse.

use mapstack_states::compile::RefusalKind as Kind;

use super::failures::{follows, on};
use crate::Rule;
use crate::compiled::Fault;
use crate::estate::Estate;
use crate::finding::{Finding, Level};
use crate::subject::FormulaSubject;

pub(crate) fn check(subject: &FormulaSubject<'_>) -> Vec<Finding> {
    let faults = subject.faults.iter();
    faults
        .filter_map(|fault| of_fault(subject, fault))
        .collect()
}

/// The rule about a kind of refusal; `None` if another rule reports it.
fn rule_of(kind: Kind) -> Option<Rule> {
    Some(match kind {
        Kind::MissingRequisite => Rule::MissingRequisite,
        Kind::Cycle => Rule::RequisiteCycle,
        Kind::ExtendOfNothing => Rule::MissingExtend,
        Kind::ConflictingIds => Rule::ConflictingIds,
        Kind::AmbiguousInclude => Rule::MissingInclude,
        Kind::StateNotMapping
        | Kind::MissingSls
        | Kind::RenderFailed
        | Kind::SlsNotMapping
        | Kind::IncludeNotList
        | Kind::UnknownSaltenv
        | Kind::IncludeAboveRoot
        | Kind::MissingInclude => return None,
        _ => Rule::StatesShape,
    })
}

fn of_fault(subject: &FormulaSubject<'_>, fault: &Fault) -> Option<Finding> {
    let rule = rule_of(fault.refusal.kind)?;
    let file = subject.files.get(&fault.path)?;
    let said = fault.error.diagnostic();
    let mut finding = match &said.place {
        Some(place) => Finding::of_message(rule, place.clone(), said),
        None => Finding::of_message(rule, file.place(0, 0), said).whole_file(),
    };
    if let more @ 1.. = fault.messages.len().saturating_sub(1) {
        let more = match more {
            1 => "1 more state of the sls names it".to_owned(),
            more => format!("{more} more states of the sls name it"),
        };
        finding = finding.note(more);
    }
    let ids = fault.runs.iter().map(|run| &subject.runs[*run].minion.id);
    let ids: Vec<String> = ids.map(ToString::to_string).collect();
    let finding = match &subject.estate {
        Some(estate) => in_estate(subject, estate, fault, finding, &ids),
        None => in_formula(subject, fault, finding),
    };
    let supported = subject.runs.iter().filter(|run| run.supported).count();
    Some(finding.note(on(&ids, supported)))
}

/// A finding that is less than an error, with the reason.
fn only(level: Level, why: impl Into<String>, finding: Finding) -> Finding {
    Finding {
        level,
        ..finding.note(why)
    }
}

fn in_estate(
    subject: &FormulaSubject<'_>,
    estate: &Estate,
    fault: &Fault,
    finding: Finding,
    ids: &[String],
) -> Finding {
    let mut states = subject.states.iter();
    let state = states.find(|state| state.file.path == fault.path);
    if state.is_some_and(|state| state.is_unnamed) {
        let why = "no minion gets the sls by a top file";
        return only(Level::Warning, why, finding);
    }
    // A form that stands in the file as it is depends on no facts.
    if finding.rule == Rule::StatesShape && !finding.whole_file {
        return finding;
    }
    let finding = match &fault.had_by {
        Some(sls) => finding.help(format!("the sls '{sls}' has it: include that")),
        None => finding,
    };
    let could_be_given = estate.assumes(ids) && (fault.had_by.is_some() || finding.whole_file);
    let why = follows(estate, ids).or_else(|| {
        could_be_given
            .then_some("the grains of these minions are assumed; with others there may be no fault")
    });
    match why {
        Some(why) => Finding {
            lacks_facts: true,
            ..only(Level::Warning, why, finding)
        },
        None => finding,
    }
}

fn in_formula(subject: &FormulaSubject<'_>, fault: &Fault, finding: Finding) -> Finding {
    if let Some(with) = &fault.works_with {
        let why = format!("Salt refuses the sls alone; within '{with}' it works");
        return only(Level::Note, why, finding);
    }
    let sls = fault.refusal.sls.as_ref();
    let finding = match fault.within.as_ref().filter(|within| Some(*within) != sls) {
        Some(within) => finding.note(format!("it keeps '{within}' from running")),
        None => finding,
    };
    let Some((module, name)) = &fault.refusal.missing else {
        return finding;
    };
    let alone = "Salt refuses the sls alone";
    if module.as_deref() == Some("sls") {
        let own = subject.states.iter().any(|state| state.name == *name);
        let is_here = name.split('.').next() == Some(&subject.formula);
        return match (own, is_here) {
            (true, _) => {
                let help = format!("include '{name}'; if it is included, it has no states here");
                only(Level::Warning, alone, finding.help(help))
            }
            (false, true) => finding,
            (false, false) => {
                let why = "the sls is of another formula, whose states are not here";
                only(Level::Note, why, finding)
            }
        };
    }
    if let Some(other) = fault.had_by.as_ref().filter(|other| Some(*other) != sls) {
        let finding = finding.help(format!("include '{other}', which has it"));
        return only(Level::Warning, alone, finding);
    }
    let mut states = subject.states.iter();
    let of_part = states.any(|state| state.file.path == fault.path && state.is_part);
    let is_broken = |run: &usize| {
        let mut states = subject.states.iter();
        states.any(|state| state.outcomes[*run].is_some() && !state.is_rendered(*run))
    };
    if of_part || fault.runs.iter().any(is_broken) {
        return only(Level::Warning, alone, finding);
    }
    let has_no_pillar = |run: &usize| subject.runs[*run].minion.pillar.is_empty();
    match fault.runs.iter().all(has_no_pillar) && could_be_made(subject, name) {
        true => Finding {
            lacks_facts: true,
            ..only(
                Level::Warning,
                "these minions have no pillar, which may give the state",
                finding,
            )
        },
        false => finding,
    }
}

/// True if a template of the formula can give a state of a name: for a pattern, or behind a condition that is not about
/// grains alone.
fn could_be_made(subject: &FormulaSubject<'_>, name: &str) -> bool {
    let is_id = |line: &str| {
        let line = line.trim().trim_start_matches("- name: ");
        line.trim_end_matches(':').trim_matches(['"', '\'']) == name
    };
    let is_behind = |text: &str| {
        let mut conditions: Vec<&str> = Vec::new();
        text.lines().any(|line| {
            let tag = line.trim().trim_start_matches(['{', '%', '-', '+', ' ']);
            match tag.split_whitespace().next() {
                _ if !line.contains("{%") => {}
                Some("if" | "for") => conditions.push(tag),
                Some("elif") => {
                    conditions.pop();
                    conditions.push(tag);
                }
                Some("endif" | "endfor") => drop(conditions.pop()),
                _ => {}
            }
            is_id(line) && conditions.iter().any(|tag| !tag.contains("grains"))
        })
    };
    name.contains(['*', '?', '['])
        || subject
            .states
            .iter()
            .any(|state| is_behind(&state.file.text))
}
