//! Errors of two states of the files, and which of them are the same.

use std::collections::{HashMap, HashSet};

use mapstack::Error;

/// The turn of an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ErrorTurn {
    /// It is new, where nothing failed.
    Broken,
    /// It is new, where something else fails or failed.
    Otherwise,
    /// It is gone, and others are left.
    Less,
    /// The failure is gone, and no other came.
    Fixed,
    /// It was there, and is.
    Still,
}

/// The minions that fail, each counted once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FailingMinions {
    /// Those in which nothing failed before.
    pub now: usize,
    /// Those in which nothing fails now.
    pub again: usize,
    /// Those in which something failed before, and something fails now.
    pub both: usize,
    /// Those of them that have other errors now.
    pub otherwise: usize,
    /// Those of them that have no difference at all.
    pub unaffected: usize,
}

impl FailingMinions {
    /// Count a minion by the turns of its errors.
    pub(crate) fn add(&mut self, turns: &[ErrorTurn], is_affected: bool) {
        let before = turns.iter().any(|turn| *turn != ErrorTurn::Broken);
        let now = turns.iter().any(|turn| *turn != ErrorTurn::Fixed);
        match (before, now) {
            (false, false) => {}
            (false, true) => self.now += 1,
            (true, false) => self.again += 1,
            (true, true) => {
                self.both += 1;
                self.otherwise += usize::from(turns.iter().any(|turn| *turn != ErrorTurn::Still));
                self.unaffected += usize::from(!is_affected);
            }
        }
    }
}

/// Errors of minions, each reason once, with the ids of the minions.
pub fn by_reason<'e, E: std::fmt::Display>(
    errors: impl IntoIterator<Item = (&'e str, &'e E)>,
) -> Vec<(&'e E, Vec<&'e str>)> {
    let mut known: HashMap<String, usize> = HashMap::new();
    let mut all: Vec<(&E, Vec<&str>)> = Vec::new();
    for (id, error) in errors {
        let index = *known.entry(error.to_string()).or_insert(all.len());
        match all.get_mut(index) {
            Some((_, ids)) => ids.push(id),
            None => all.push((error, vec![id])),
        }
    }
    all
}

/// The errors of one state of the files.
pub(crate) struct ErrorsOfState<'s, F> {
    errors: &'s [Error],
    /// The paths of the files that were read there.
    files: F,
}

impl<'s, F> ErrorsOfState<'s, F> {
    pub fn new(errors: &'s [Error], files: F) -> Self {
        ErrorsOfState { errors, files }
    }
}

/// The turn of each error of two states: new ones, fixed ones, and those that stay.
pub(crate) fn turns<'r>(
    before: ErrorsOfState<'_, impl Iterator<Item = &'r str>>,
    after: ErrorsOfState<'_, impl Iterator<Item = &'r str>>,
) -> Vec<(ErrorTurn, Error)> {
    let (old, new) = (before.errors, after.errors);
    let (before, after) = (texts(old, before.files), texts(new, after.files));
    let known = |texts: &[String]| texts.iter().cloned().collect::<HashSet<String>>();
    let (known_before, known_after) = (known(&before), known(&after));
    let fresh = match old.is_empty() {
        true => ErrorTurn::Broken,
        false => ErrorTurn::Otherwise,
    };
    let gone = match new.is_empty() {
        true => ErrorTurn::Fixed,
        false => ErrorTurn::Less,
    };
    let news = new.iter().zip(&after).map(|(error, text)| {
        let stays = known_before.contains(text);
        (if stays { ErrorTurn::Still } else { fresh }, error.clone())
    });
    let olds = old.iter().zip(&before);
    let olds = olds.filter(|(_, text)| !known_after.contains(*text));
    let mut all: Vec<(ErrorTurn, Error)> = news
        .chain(olds.map(|(error, _)| (gone, error.clone())))
        .collect();
    all.sort_by_key(|(turn, _)| *turn);
    all
}

/// The texts of errors, with their files as the state calls them that read these.
fn texts<'r>(errors: &[Error], files: impl Iterator<Item = &'r str>) -> Vec<String> {
    if errors.is_empty() {
        return Vec::new();
    }
    let files: Vec<&str> = files.collect();
    errors.iter().map(|error| text(error, &files)).collect()
}

/// The text of an error, without what is called otherwise in each state: where its file lies, and a revision with its
/// commit, as in `HEAD@0123456789ab:`.
pub(crate) fn text(error: &Error, files: &[&str]) -> String {
    let diagnostic = error.diagnostic();
    let Some(place) = &diagnostic.place else {
        return without_revisions(&diagnostic.message);
    };
    let files = files.iter().filter(|path| is_at(&place.file, path));
    let file = files.max_by_key(|path| path.len());
    let message = diagnostic.message.replace(&place.file, "");
    format!(
        "{}: {}",
        file.copied().unwrap_or_default(),
        without_revisions(&message)
    )
}

/// True if a file, as messages name it, can be the one at a path below a root.
pub(crate) fn is_at(file: &str, path: &str) -> bool {
    let above = file.strip_suffix(path);
    above.is_some_and(|above| above.is_empty() || above.ends_with(['/', ':']))
}

pub(crate) fn without_revisions(message: &str) -> String {
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

    fn errors(messages: &[&str]) -> Vec<Error> {
        let error = |message: &&str| Error::new(ErrorKind::File, *message);
        messages.iter().map(error).collect()
    }

    fn turned(old: &[&str], new: &[&str]) -> Vec<(ErrorTurn, String)> {
        let (old, new) = (errors(old), errors(new));
        let turns = turns(
            ErrorsOfState::new(&old, std::iter::empty()),
            ErrorsOfState::new(&new, std::iter::empty()),
        )
        .into_iter();
        turns
            .map(|(turn, error)| (turn, error.to_string()))
            .collect()
    }

    #[test]
    fn a_minion_is_counted_once() {
        let counted = |minions: &[&[ErrorTurn]]| {
            let mut counts = FailingMinions::default();
            for turns in minions {
                let is_same = turns.iter().all(|turn| *turn == ErrorTurn::Still);
                counts.add(turns, !is_same);
            }
            let of_both = (counts.both, counts.otherwise, counts.unaffected);
            (counts.now, counts.again, of_both)
        };
        use ErrorTurn::{Broken, Fixed, Less, Otherwise, Still};
        assert_eq!(counted(&[&[], &[Broken, Broken]]), (1, 0, (0, 0, 0)));
        assert_eq!(counted(&[&[Fixed]]), (0, 1, (0, 0, 0)));
        assert_eq!(counted(&[&[Still], &[Still, Still]]), (0, 0, (2, 0, 2)));
        assert_eq!(counted(&[&[Still, Otherwise]]), (0, 0, (1, 1, 0)));
        // One part fails now and another works again.
        assert_eq!(counted(&[&[Broken, Fixed]]), (0, 0, (1, 1, 0)));
        assert_eq!(counted(&[&[Less], &[Still], &[Broken]]), (1, 0, (2, 1, 1)));
    }

    #[test]
    fn every_error_of_both_states_is_there_once() {
        let all = |turn, messages: &[&str]| -> Vec<(ErrorTurn, String)> {
            messages.iter().map(|m| (turn, m.to_string())).collect()
        };
        assert_eq!(
            turned(&[], &["a", "b"]),
            all(ErrorTurn::Broken, &["a", "b"])
        );
        assert_eq!(turned(&["a", "b"], &[]), all(ErrorTurn::Fixed, &["a", "b"]));
        assert_eq!(
            turned(&["a", "b"], &["b", "a"]),
            all(ErrorTurn::Still, &["b", "a"])
        );
        assert_eq!(
            turned(&["a", "b", "c"], &["a", "d"]),
            [
                all(ErrorTurn::Otherwise, &["d"]),
                all(ErrorTurn::Less, &["b", "c"]),
                all(ErrorTurn::Still, &["a"])
            ]
            .concat()
        );
    }

    #[test]
    fn an_error_is_the_same_in_two_revisions() {
        let of = |name: &str| {
            let message = format!("a.sls is not read: {name}: in b is a submodule");
            text(&Error::new(ErrorKind::File, message), &[])
        };
        let same = "a.sls is not read:  in b is a submodule";
        assert_eq!(of("HEAD~1@e23f8581dcba"), same);
        assert_eq!(of("HEAD@8cbfafccd03d"), same);
        assert_ne!(of("tom@example.org"), same);
    }
}
