//! A minion with its pillars in two states of the files.

use std::collections::BTreeSet;

use mapstack::Error;
use mapstack::minion::Minion;
use mapstack::trace::{FileRead, FileReadKind};
use mapstack::value::Value;

use crate::failures::{ErrorTurn, ErrorsOfState, turns};
use crate::pillars::{Pillar, Pillars};
use crate::reach::ChangedFiles;

/// A minion before and after a change of its pillar.
pub(crate) struct PillarPair {
    minions: [Minion; 2],
    pillars: [Pillar; 2],
    data: Option<[Value; 2]>,
}

impl PillarPair {
    /// Compile the pillars of a minion. `stays` is true if the later pillar is the earlier one.
    pub fn of(
        [before, after]: [&Pillars<'_>; 2],
        minion: &Minion,
        stays: &dyn Fn(&Pillar) -> bool,
    ) -> Self {
        let old = before.pillar(minion);
        let new = match stays(&old) {
            true => old.clone(),
            false => after.pillar(minion),
        };
        PillarPair::new([old, new], minion)
    }

    /// A minion with the pillars that it has before and after.
    pub fn new([old, new]: [Pillar; 2], minion: &Minion) -> Self {
        let data = old.data.clone().zip(new.data.clone());
        PillarPair {
            minions: [old.of(minion), new.of(minion)],
            data: data.map(|(old, new)| [old.into(), new.into()]),
            pillars: [old, new],
        }
    }

    /// The minion before and after.
    pub fn minions(&self) -> [&Minion; 2] {
        self.minions.each_ref()
    }

    /// Its pillars.
    pub fn pillars(&self) -> &[Pillar; 2] {
        &self.pillars
    }

    /// The kinds of the pillars, before and after: pillars of one kind are alike.
    pub fn kinds(&self) -> [u64; 2] {
        self.pillars.each_ref().map(|pillar| pillar.kind)
    }

    /// The data of both, as far as there is any.
    pub fn data(&self) -> Option<(&Value, &Value)> {
        self.data.as_ref().map(|[old, new]| (old, new))
    }

    /// True if both pillars have no error.
    pub fn is_whole(&self) -> bool {
        self.pillars.iter().all(Pillar::is_whole)
    }

    /// True if the pillar is what it was.
    pub fn is_same(&self) -> bool {
        self.data().is_some_and(|(old, new)| old.is_same(new))
    }

    /// True if it fails, and with the errors that it had.
    pub fn fails_still(&self) -> bool {
        let failures = self.failures();
        !failures.is_empty() && failures.iter().all(|(turn, _)| *turn == ErrorTurn::Still)
    }

    /// The errors of both pillars, each with how it turned up or went away.
    pub fn failures(&self) -> Vec<(ErrorTurn, Error)> {
        let [old, new] = self.pillars.each_ref().map(|pillar| {
            let reads = &pillar.reads;
            let reads = reads.pillar.iter().chain(&reads.stacked);
            ErrorsOfState::new(&pillar.errors, reads.map(|read| &*read.path))
        });
        turns(old, new)
    }

    /// The files that the earlier pillar is made of and the later one is not, because a file fails: those
    /// that fail and, if nothing else differs, those that nothing reads any more.
    pub fn lost(&self, changed: Option<&ChangedFiles>) -> Vec<String> {
        let [old, new] = &self.pillars;
        if new.is_whole() {
            return Vec::new();
        }
        let (had, failed) = (made_of(old), of_none(new));
        let has = made_of(new);
        let others = new.reads.pillar.iter();
        let others = others.filter(|read| !failed.contains(&*read.path));
        let others: Vec<FileRead> = others.cloned().collect();
        let is_only = changed.is_some_and(|changed| changed.among(&others).next().is_none());
        let is_lost = |path: &&str| failed.contains(path) || (is_only && !has.contains(path));
        had.into_iter().filter(is_lost).map(str::to_owned).collect()
    }
}

/// The files from which something of a pillar came.
fn made_of(pillar: &Pillar) -> BTreeSet<&str> {
    let found = pillar.reads.pillar.iter();
    let found = found.filter(|read| read.kind == FileReadKind::Found);
    let failed = of_none(pillar);
    let paths = found.map(|read| &*read.path);
    paths.filter(|path| !failed.contains(path)).collect()
}

/// The files that contributed nothing to a pillar.
fn of_none(pillar: &Pillar) -> BTreeSet<&str> {
    pillar.reads.failed.iter().map(|read| &*read.path).collect()
}
