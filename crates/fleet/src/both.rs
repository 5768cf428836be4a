//! A minion with its pillars in two states of the files.

use std::collections::HashSet;

use mapstack::Error;
use mapstack::minion::Minion;
use mapstack::value::Value;

use crate::compare::What;
use crate::pillars::{Pillar, Pillars};

/// A minion before and after a change of its pillar.
pub(crate) struct Both {
    minions: [Minion; 2],
    pillars: [Pillar; 2],
    data: Option<[Value; 2]>,
}

impl Both {
    /// Compile the pillars of a minion. `stays` says that the later one is the earlier one.
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
        Both::new([old, new], minion)
    }

    /// A minion with the pillars that it has before and after.
    pub fn new([old, new]: [Pillar; 2], minion: &Minion) -> Self {
        let data = old.data.clone().zip(new.data.clone());
        Both {
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

    /// What pillars before and after are alike.
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

    /// True if it fails as it did.
    pub fn fails_still(&self) -> bool {
        matches!(self.failures().first(), Some(What::FailsStill(_)))
    }

    /// How failing changed: each error that is new, or that is gone where none is left.
    pub fn failures(&self) -> Vec<What> {
        let [old, new] = self.pillars.each_ref().map(|pillar| &pillar.errors);
        let texts = |errors: &[Error]| errors.iter().map(text).collect::<HashSet<String>>();
        let (before, after) = (texts(old), texts(new));
        let fresh = new.iter().filter(|error| !before.contains(&text(error)));
        let fresh: Vec<Error> = fresh.cloned().collect();
        let each =
            |errors: Vec<Error>, what: fn(Error) -> What| errors.into_iter().map(what).collect();
        match new.first() {
            None => each(old.clone(), What::Fixed),
            Some(_) if old.is_empty() => each(fresh, What::Broken),
            Some(first) if before == after => vec![What::FailsStill(first.clone())],
            // Some errors of before are gone, and the others are what it fails with.
            Some(first) if fresh.is_empty() => vec![What::FailsOtherwise(first.clone())],
            Some(_) => each(fresh, What::FailsOtherwise),
        }
    }
}

/// What an error says, without what is called otherwise in each state: its file, and a revision with its commit, as in
/// `HEAD@0123456789ab:`.
pub(crate) fn text(error: &Error) -> String {
    let diagnostic = error.diagnostic();
    let message = match &diagnostic.place {
        Some(place) => diagnostic.message.replace(&place.file, ""),
        None => diagnostic.message.clone(),
    };
    let words = message.split(' ').map(without_revision);
    words.collect::<Vec<_>>().join(" ")
}

fn without_revision(word: &str) -> &str {
    let is_commit = |id: &str| id.len() == 12 && id.bytes().all(|b| b.is_ascii_hexdigit());
    let behind = word
        .split_once('@')
        .and_then(|(_, rest)| rest.split_once(':'));
    match behind {
        Some((id, path)) if is_commit(id) => path,
        _ => word,
    }
}

#[cfg(test)]
mod tests {
    use mapstack::ErrorKind;

    use super::*;

    #[test]
    fn an_error_is_the_same_in_two_revisions() {
        let of = |name: &str| {
            let message = format!("a.sls is not read: {name}: in b is a submodule");
            text(&Error::new(ErrorKind::File, message))
        };
        let same = "a.sls is not read:  in b is a submodule";
        assert_eq!(of("HEAD~1@e23f8581dcba"), same);
        assert_eq!(of("HEAD@8cbfafccd03d"), same);
        assert_ne!(of("tom@example.org"), same);
    }
}
