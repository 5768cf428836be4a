//! The states that are left where Salt refuses the whole: those of the sls that compile.

use std::collections::HashSet;

use mapstack::minion::Minion;
use mapstack_diagnostic::Error;

use crate::compile::{Refusal, RefusalKind};
use crate::high::RequestedSls;
use crate::{GatheredStates, Gatherer, HighData, Places, RequestedStates};

/// The states of the sls that compile, and the sls that do not.
#[derive(Debug, Default)]
pub struct Partial {
    /// The high data of the sls that compile. Salt does not refuse it.
    pub high: HighData,
    /// The sls that are left out, in the order in which they are found.
    pub left_out: Vec<LeftOut>,
}

/// An sls that is left out.
#[derive(Debug, Clone, PartialEq)]
pub struct LeftOut {
    /// The saltenv.
    pub saltenv: String,
    /// The name.
    pub name: String,
    /// The reasons for which Salt refuses its states.
    pub errors: Vec<Error>,
}

/// An sls on its way into a selection.
struct Candidate {
    saltenv: String,
    name: String,
    /// The reasons for which Salt refuses it; none if it is kept.
    errors: Vec<Error>,
    is_kept: bool,
    /// True if the states of other sls may be all that it lacks.
    lacks_others: bool,
}

impl Gatherer<'_> {
    /// The states of a minion without the sls for which Salt refuses them. The includes of an sls that is
    /// left out take its place if they compile. Its `extend` and `exclude` are left out as well.
    ///
    /// ```
    /// use mapstack::{Engine, loader::MemoryFiles, minion::Minion};
    /// use mapstack_states::{Gatherer, TopOptions, RequestedStates};
    /// let files = MemoryFiles::new()
    ///     .file("base", "top.sls", "base: {'*': [web, db]}")
    ///     .file("base", "web.sls", "{{ salt['nosuch.f']() }}")
    ///     .file("base", "db.sls", "mariadb: pkg.installed");
    /// let engine = Engine::new(files);
    /// let gatherer = Gatherer::new(&engine, TopOptions::default());
    /// let partial = gatherer.partial(&Minion::new("m").complete(), RequestedStates::Highstate);
    /// assert_eq!(partial.left_out[0].name, "web");
    /// assert_eq!(partial.high.data.repr().matches("mariadb").count(), 1);
    /// ```
    #[must_use]
    pub fn partial(&self, minion: &Minion, wanted: RequestedStates<'_>) -> Partial {
        let (matches, top) = self.matches(minion, wanted, &GatheredStates::default());
        let mut selection = Selection {
            gatherer: self,
            minion,
            candidates: Vec::new(),
            seen: HashSet::new(),
        };
        let high = self.high_of_matches(minion, &matches);
        if selection.refusals(&high).is_ok_and(|all| all.is_empty()) {
            return Partial {
                high: HighData { top, ..high },
                left_out: Vec::new(),
            };
        }
        for (saltenv, patterns) in &matches {
            for pattern in patterns {
                let mut names = self.available.listed(saltenv, pattern);
                if names.is_empty() {
                    names.push(pattern.clone());
                }
                for name in names {
                    selection.consider(saltenv, name);
                }
            }
        }
        selection.settle();
        let kept = selection.kept(None);
        Partial {
            high: HighData {
                top,
                ..self.high_of_matches(minion, &kept)
            },
            left_out: selection.left_out(),
        }
    }
}

/// The sls of a minion that are kept, and those that are left out.
struct Selection<'s, 'e> {
    gatherer: &'s Gatherer<'e>,
    minion: &'s Minion,
    candidates: Vec<Candidate>,
    seen: HashSet<(String, String)>,
}

impl Selection<'_, '_> {
    /// Compile an sls alone and, if it is refused, those that it includes.
    fn consider(&mut self, saltenv: &str, name: String) {
        let mut waiting = vec![(saltenv.to_owned(), name)];
        while let Some((saltenv, name)) = waiting.pop() {
            if !self.seen.insert((saltenv.clone(), name.clone())) {
                continue;
            }
            let alone = [(saltenv.clone(), vec![name.clone()])].into();
            let high = self.gatherer.high_of_matches(self.minion, &alone);
            let (errors, lacks_others) = self.outcome(&high);
            if !errors.is_empty() {
                let is_included = |sls: &&crate::GotSls| {
                    sls.included_by.as_ref() == Some(&name)
                        && (&sls.name, &sls.saltenv) != (&name, &saltenv)
                };
                let included = high.sls.iter().filter(is_included).rev();
                waiting.extend(included.map(|sls| (sls.saltenv.clone(), sls.name.clone())));
            }
            self.candidates.push(Candidate {
                is_kept: errors.is_empty(),
                saltenv,
                name,
                errors,
                lacks_others,
            });
        }
    }

    /// Keep sls that compile together. One that lacks states of others is tried with those that are kept.
    fn settle(&mut self) {
        if !self.errors_with(None).0.is_empty() {
            let alone: Vec<usize> = self.positions(|one| one.is_kept);
            for at in &alone {
                self.candidates[*at].is_kept = false;
            }
            for at in alone {
                self.try_with_kept(at);
            }
        }
        let mut goes_on = true;
        while goes_on {
            let waiting = self.positions(|one| !one.is_kept && one.lacks_others);
            goes_on = false;
            for at in waiting {
                goes_on |= self.try_with_kept(at);
            }
        }
    }

    fn positions(&self, is_match: impl Fn(&Candidate) -> bool) -> Vec<usize> {
        let all = self.candidates.iter().enumerate();
        all.filter(|(_, one)| is_match(one))
            .map(|(at, _)| at)
            .collect()
    }

    /// Keep an sls if it compiles with those that are kept; true if it does.
    fn try_with_kept(&mut self, at: usize) -> bool {
        let (errors, lacks_others) = self.errors_with(Some(at));
        let candidate = &mut self.candidates[at];
        candidate.is_kept = errors.is_empty();
        candidate.errors = errors;
        candidate.lacks_others = lacks_others;
        candidate.is_kept
    }

    /// The errors of the sls that are kept and of one more.
    fn errors_with(&self, more: Option<usize>) -> (Vec<Error>, bool) {
        let high = self.gatherer.high_of_matches(self.minion, &self.kept(more));
        self.outcome(&high)
    }

    /// The errors of high data, and if each of them may be about the states of other sls.
    fn outcome(&self, high: &HighData) -> (Vec<Error>, bool) {
        match self.refusals(high) {
            Ok(refusals) => {
                let errors = Places::new(self.gatherer.engine(), &high.sls).errors(&refusals);
                let lacks = |refusal: &Refusal| {
                    matches!(
                        refusal.kind,
                        RefusalKind::MissingRequisite | RefusalKind::ExtendOfNothing
                    )
                };
                (errors, refusals.iter().all(lacks))
            }
            Err(limit) => (vec![limit], false),
        }
    }

    fn refusals(&self, high: &HighData) -> Result<Vec<Refusal>, Error> {
        Ok(high.low(self.minion)?.err().unwrap_or_default())
    }

    /// The sls that are kept, and one more, in the order in which they are found.
    fn kept(&self, more: Option<usize>) -> RequestedSls {
        let mut kept = RequestedSls::new();
        let all = self.candidates.iter().enumerate();
        for (_, one) in all.filter(|(at, one)| one.is_kept || Some(*at) == more) {
            let names = kept.entry(one.saltenv.clone()).or_default();
            names.push(one.name.clone());
        }
        kept
    }

    fn left_out(self) -> Vec<LeftOut> {
        let left_out = self.candidates.into_iter().filter(|one| !one.is_kept);
        left_out
            .map(|one| LeftOut {
                saltenv: one.saltenv,
                name: one.name,
                errors: one.errors,
            })
            .collect()
    }
}
