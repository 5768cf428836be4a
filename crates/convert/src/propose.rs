//! Finds out how a formula makes its configuration, and proposes its files with `map.data`.

use mapstack::{Error, ErrorKind, Result};

use crate::proposal::Left;
use crate::template::Parsed;
use crate::{Formula, OwnDefault, Proposal, Proven, classic, libmapstack};

/// The form that a proposal takes, where the proof may not hold for all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Form {
    /// Values that all entries of a table have are defaults.
    pub shares: bool,
}

impl Form {
    /// The form that a maintainer would write.
    const BEST: Form = Form { shares: true };

    /// The next form, with less of what a maintainer would like, and the part that goes.
    fn plainer(self) -> Option<(Form, &'static str)> {
        match self {
            Form { shares: true } => Some((
                Form { shares: false },
                "values that all entries of the table have",
            )),
            Form { shares: false } => None,
        }
    }
}

impl Proposal {
    /// The proposal for a formula, in the form that a maintainer would write.
    ///
    /// # Errors
    /// The formula has no `map.jinja`, uses `map.data` already, or makes its configuration in a way that has no
    /// counterpart. The error says where.
    pub fn of(formula: &Formula) -> Result<Self> {
        proposal(formula, Form::BEST)
    }

    /// The first form of a formula that is proven, or the plainest one. What better forms would have changed is in
    /// [`left`](Self::left).
    ///
    /// # Errors
    /// The errors of [`of`](Self::of), and those of the proof.
    pub fn proven<E: From<Error>>(
        formula: &Formula,
        mut prove: impl FnMut(&Self) -> std::result::Result<Proven, E>,
    ) -> std::result::Result<(Self, Proven), E> {
        let mut form = Form::BEST;
        let mut left = Vec::new();
        let mut best = proposal(formula, form)?;
        loop {
            let proven = prove(&best)?;
            let plainer = form.plainer().filter(|_| !proven.is_equal());
            let Some((next, what)) = plainer else {
                best.left.extend(left);
                return Ok((best, proven));
            };
            form = next;
            let plain = proposal(formula, form)?;
            if plain.is_same_files(&best) {
                best.left.extend(left);
                return Ok((best, proven));
            }
            left.extend(not_taken(what, &proven));
            best = plain;
        }
    }

    fn is_same_files(&self, other: &Self) -> bool {
        self.write == other.write && self.remove == other.remove
    }
}

/// A part that a proposal has not, because something would change.
fn not_taken(what: &str, proven: &Proven) -> Option<Left> {
    let first = proven.differences.first()?;
    Some(Left {
        what: what.into(),
        why: format!(
            "with them, {} would change on {} with {}",
            first.what, first.minion, first.pillar
        ),
        place: None,
    })
}

fn proposal(formula: &Formula, form: Form) -> Result<Proposal> {
    let map = match formula.has("map.jinja") {
        true => Parsed::of(formula, "map.jinja")?,
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
