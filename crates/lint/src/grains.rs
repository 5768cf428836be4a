//! The warnings about grains that the tree does not compute.

use mapstack::Diagnostic;

use crate::rules;

/// Warnings about the grains that the tree does not compute, each once with its minions.
///
/// ```
/// use mapstack::{Diagnostic, ErrorKind};
/// use mapstack_lint::GrainWarnings;
/// let mut all = GrainWarnings::default();
/// let left_out = Diagnostic::warning(ErrorKind::Unsupported, "salt://_grains/rack.py does not load; its grains are left out");
/// all.add("web1", vec![left_out.clone()]);
/// all.add("web2", vec![left_out]);
/// assert_eq!(all.of_minions(3)[0].notes, ["on 2 of 3 minions: web1, web2"]);
/// ```
#[derive(Debug, Default)]
pub struct GrainWarnings(Vec<(Diagnostic, Vec<String>)>);

impl GrainWarnings {
    /// Add those of a minion.
    pub fn add(&mut self, id: &str, warnings: Vec<Diagnostic>) {
        for warning in warnings {
            let mut known = self.0.iter_mut();
            match known.find(|(known, _)| known.message == warning.message) {
                Some((_, ids)) => ids.push(id.to_owned()),
                None => self.0.push((warning, vec![id.to_owned()])),
            }
        }
    }

    /// The warnings, each with a note that names its minions, of so many.
    #[must_use]
    pub fn of_minions(self, all: usize) -> Vec<Diagnostic> {
        let with_minions = |(mut warning, ids): (Diagnostic, Vec<String>)| {
            warning.notes.push(rules::on(&ids, all));
            warning
        };
        self.0.into_iter().map(with_minions).collect()
    }
}
