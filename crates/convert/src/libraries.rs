//! Libraries of templates that nothing uses any more.

use std::collections::BTreeSet;

use mapstack::{Result, Survey};

use crate::{Formula, Proposal};

/// Remove the libraries of some names that no other template of the formula loads.
pub(crate) fn remove_unused(
    formula: &Formula,
    proposal: &mut Proposal,
    names: &[&str],
) -> Result<()> {
    let is_library = |path: &&str| {
        let is_named = names.contains(&path.rsplit('/').next().unwrap_or_default());
        is_named && !proposal.remove.contains(*path)
    };
    let mut unused: BTreeSet<String> = formula
        .paths()
        .filter(is_library)
        .map(str::to_owned)
        .collect();
    loop {
        let used = used_by_others(formula, proposal, &unused)?;
        let before = unused.len();
        unused.retain(|path| !used.contains(path));
        if unused.len() == before {
            break;
        }
    }
    if !unused.is_empty() {
        let names: Vec<&str> = unused.iter().map(String::as_str).collect();
        proposal.done.push(format!(
            "{} removed: nothing else uses them",
            names.join(", ")
        ));
    }
    proposal.remove.extend(unused);
    Ok(())
}

/// The files that templates load which stay, as the proposal has them.
pub(crate) fn used_by_others(
    formula: &Formula,
    proposal: &Proposal,
    without: &BTreeSet<String>,
) -> Result<BTreeSet<String>> {
    let prefix = format!("{}/", formula.name());
    let stays = |path: &&str| !without.contains(*path) && !proposal.remove.contains(*path);
    let paths = formula.paths().filter(stays);
    let mut used = BTreeSet::new();
    for path in paths.chain(proposal.write.keys().map(String::as_str)) {
        let survey = Survey::of(vec![format!("{prefix}{path}")], |asked| {
            // Only this template: what it loads is looked at by itself.
            let below = asked.strip_prefix(&prefix).filter(|below| *below == path);
            let written = below.and_then(|below| proposal.write.get(below));
            let bytes = match written {
                Some(text) => Some(text.as_bytes().into()),
                None => below.and_then(|below| formula.bytes(below).cloned()),
            };
            Ok::<_, mapstack::Error>(bytes.map(|bytes| (asked.to_owned(), bytes)))
        })?;
        let of_formula = survey
            .used_files()
            .filter_map(|(used, _)| used.strip_prefix(&prefix));
        used.extend(of_formula.map(str::to_owned));
    }
    Ok(used)
}
