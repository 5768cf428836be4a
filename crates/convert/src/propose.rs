//! Finds out how a formula makes its configuration, and proposes its files with `map.data`.

use mapstack::{Error, ErrorKind, Result};

use crate::proposal::Left;
use crate::template::FormulaTemplate;
use crate::{Difference, Formula, OwnDefault, ProofOutcome, Proposal, classic, libmapstack, tofs};

/// The form that a proposal takes, where the proof may not hold for all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ProposalForm {
    /// Values that all entries of a table have are defaults.
    pub shares: bool,
    /// States call `map.tofs`.
    pub tofs: bool,
    /// Tables that cannot be layers stay as they are.
    pub leaves: bool,
}

/// The extent of a conversion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Extent {
    /// All tables become layers.
    #[default]
    Whole,
    /// A table that cannot be layers stays as it is, and a layer picks from it.
    Partial,
}

impl ProposalForm {
    /// The forms, from the one that a maintainer likes best to the plainest.
    fn all(extent: Extent) -> impl Iterator<Item = ProposalForm> {
        let leaves = extent == Extent::Partial;
        let forms = [(true, true), (false, true), (true, false), (false, false)];
        forms.into_iter().map(move |(shares, tofs)| ProposalForm {
            shares,
            tofs,
            leaves,
        })
    }

    fn best(extent: Extent) -> ProposalForm {
        ProposalForm {
            shares: true,
            tofs: true,
            leaves: extent == Extent::Partial,
        }
    }

    /// The one part that another form lacks, and the beginning of why.
    fn more_than(self, other: Self) -> Option<[&'static str; 2]> {
        let parts = [
            (
                self.shares && !other.shares,
                [
                    "values that all entries of the table have",
                    "as defaults they would change",
                ],
            ),
            (
                self.tofs && !other.tofs,
                ["calls of files_switch", "map.tofs would change"],
            ),
        ];
        let mut more = parts.into_iter().filter(|(is_more, _)| *is_more);
        let (first, second) = (more.next(), more.next());
        first.filter(|_| second.is_none()).map(|(_, what)| what)
    }
}

impl Proposal {
    /// The proposal for a formula, in the form that a maintainer would write.
    ///
    /// # Errors
    /// The formula has no `map.jinja`, uses `map.data` already, or makes its configuration in a way that has no
    /// counterpart. The error says where.
    pub fn of(formula: &Formula) -> Result<Self> {
        Self::to(Extent::Whole, formula)
    }

    /// The proposal for a formula to an extent.
    ///
    /// # Errors
    /// The errors of [`of`](Self::of).
    pub fn to(extent: Extent, formula: &Formula) -> Result<Self> {
        proposal(formula, ProposalForm::best(extent))
    }

    /// The first form of a formula that is proven, or the plainest one. What better forms would have changed is in
    /// [`left`](Self::left).
    ///
    /// # Errors
    /// The errors of [`of`](Self::of), and those of the proof.
    pub fn proven<E: From<Error>>(
        formula: &Formula,
        extent: Extent,
        mut prove: impl FnMut(&Self) -> std::result::Result<ProofOutcome, E>,
    ) -> std::result::Result<(Self, ProofOutcome), E> {
        let first = ProposalForm::best(extent);
        let mut best = (first, proposal(formula, first)?);
        let mut proven = prove(&best.1)?;
        let mut failed: Vec<(ProposalForm, Option<Difference>)> = Vec::new();
        let mut tried = vec![best.1.clone()];
        for form in ProposalForm::all(extent).skip(1) {
            if proven.is_equal() {
                break;
            }
            let plainer = proposal(formula, form)?;
            if tried.iter().any(|known| known.is_same_files(&plainer)) {
                continue;
            }
            failed.push((best.0, proven.differences.first().cloned()));
            proven = prove(&plainer)?;
            tried.push(plainer.clone());
            best = (form, plainer);
        }
        let (form, mut best) = best;
        for (better, difference) in failed {
            best.left
                .extend(not_taken(better.more_than(form), difference));
        }
        Ok((best, proven))
    }

    fn is_same_files(&self, other: &Self) -> bool {
        self.write == other.write && self.remove == other.remove
    }
}

/// A part that a proposal lacks, because something would change.
fn not_taken(part: Option<[&str; 2]>, first: Option<Difference>) -> Option<Left> {
    let ([what, why], first) = (part?, first?);
    Some(Left {
        what: what.into(),
        why: format!(
            "{why} {} on {} with {}",
            first.what, first.minion, first.pillar
        ),
        place: None,
    })
}

fn proposal(formula: &Formula, form: ProposalForm) -> Result<Proposal> {
    let map = match formula.has("map.jinja") {
        true => FormulaTemplate::of(formula, "map.jinja")?,
        false => return Err(no_map(formula)),
    };
    let Some(map) = map else {
        let message = format!(
            "salt://{}/map.jinja is not a Jinja template",
            formula.name()
        );
        return Err(Error::new(ErrorKind::Template, message));
    };
    if map.calls("map.data") && !map.imports("libmapstack.jinja") {
        let message = format!("salt://{}/map.jinja calls map.data", formula.name());
        return Err(Error::new(ErrorKind::Unsupported, message).note("there is nothing to convert"));
    }
    let is_library = map.imports("libmapstack.jinja") || libmapstack::is_inlined(formula, &map);
    let mut proposal = match is_library {
        true => libmapstack::propose(formula, &map),
        false => classic::propose(formula, &map, form),
    }?;
    if form.tofs {
        tofs::convert(formula, &mut proposal)?;
    }
    tofs::leave(formula, &mut proposal);
    proposal.own_defaults = OwnDefault::of(formula, &proposal);
    Ok(proposal)
}

fn no_map(formula: &Formula) -> Error {
    let name = formula.name();
    let has_layers = formula.paths().any(|path| path.starts_with("parameters/"));
    let note = match has_layers {
        true => "it has parameters/ already: map.data reads them",
        false => "its states do not use a map, so there is no configuration to convert",
    };
    Error::new(
        ErrorKind::Unsupported,
        format!("salt://{name} has no map.jinja"),
    )
    .note(note)
}
