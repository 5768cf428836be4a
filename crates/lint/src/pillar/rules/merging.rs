//! Values that replace others.

use crate::{Finding, Rule, on};

use super::PillarSubject;
use crate::pillar::examined::{Clash, Setter};

pub(super) fn check(subject: &PillarSubject<'_>) -> Vec<Finding> {
    let clashes = subject.seen.clashes.values();
    clashes
        .filter_map(|(clash, ids)| {
            let finding = if clash.winner.is_map != clash.loser.is_map {
                kind_change(clash)
            } else if is_undecided(subject, clash) {
                Some(order(clash))
            } else {
                None
            };
            finding.map(|finding| finding.note(on(ids, subject.seen.minions)))
        })
        .collect()
}

fn shown(clash: &Clash) -> String {
    let keys: Vec<String> = clash.path.iter().map(ToString::to_string).collect();
    keys.join(":")
}

/// A mapping in place of something else, or the other way round. One in place of nothing is what empty keys are for.
fn kind_change(clash: &Clash) -> Option<Finding> {
    let Clash { winner, loser, .. } = clash;
    if loser.is_none {
        return None;
    }
    let message = format!(
        "'{}' is {} here and {} in the sls '{}': none of that is left",
        shown(clash),
        winner.kind,
        loser.kind,
        loser.sls
    );
    let finding = Finding::new(Rule::KindChange, winner.place.clone(), message);
    Some(
        finding
            .help("give it the same kind of value in both")
            .related("what it replaces", loser.place.clone()),
    )
}

/// True if nothing but the order in a list says which value wins.
fn is_undecided(subject: &PillarSubject<'_>, clash: &Clash) -> bool {
    let (winner, loser) = (chain(&clash.winner), chain(&clash.loser));
    let differs = winner.iter().zip(&loser).position(|(a, b)| a != b);
    match differs {
        // One includes the other, which is how values are meant to be replaced.
        None => false,
        Some(0) => is_below_one_target(clash) || is_backwards(subject, clash),
        // Both are included by the same sls.
        Some(_) => true,
    }
}

fn chain(setter: &Setter) -> Vec<&str> {
    let above = setter.above.iter().map(String::as_str);
    above.chain([setter.sls.as_str()]).collect()
}

fn is_below_one_target(clash: &Clash) -> bool {
    let of_loser = &clash.loser.targets;
    clash
        .winner
        .targets
        .iter()
        .any(|one| of_loser.contains(one))
}

/// True if a target overrides another one whose minions are a part of its own.
fn is_backwards(subject: &PillarSubject<'_>, clash: &Clash) -> bool {
    let meant = |setter: &Setter| {
        let asked = setter.targets.iter();
        asked
            .filter_map(|target| subject.seen.targets.get(target))
            .flat_map(|asked| asked.meant.iter().copied())
            .collect::<std::collections::BTreeSet<usize>>()
    };
    let (winner, loser) = (meant(&clash.winner), meant(&clash.loser));
    subject.is_fleet && winner.len() > loser.len() && loser.is_subset(&winner)
}

fn order(clash: &Clash) -> Finding {
    let Clash { winner, loser, .. } = clash;
    let message = format!(
        "'{}' of the sls '{}' wins over that of '{}' because it comes after it {}",
        shown(clash),
        winner.sls,
        loser.sls,
        list(clash),
    );
    Finding::new(Rule::MergeOrder, winner.place.clone(), message)
        .related(format!("the value in '{}'", loser.sls), loser.place.clone())
        .help("set it in one of them; or let the one that should win include the other")
}

/// The list whose order decides.
fn list(clash: &Clash) -> String {
    let Clash { winner, loser, .. } = clash;
    let (one, other) = (chain(winner), chain(loser));
    match one.iter().zip(&other).position(|(a, b)| a != b) {
        Some(at) if at > 0 => format!("in the include of '{}'", one[at - 1]),
        _ => {
            let target = winner
                .targets
                .iter()
                .find(|one| loser.targets.contains(one));
            match target {
                Some(target) => format!("below the target '{}'", target.target),
                None => "in the top file, though its target means more minions".into(),
            }
        }
    }
}
