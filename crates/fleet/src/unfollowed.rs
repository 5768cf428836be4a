//! Templates and states that are not followed and that name the subject of a question.

use std::collections::BTreeSet;
use std::sync::Arc;

use mapstack::loader::{Fetched, SaltPath};
use mapstack::value::Key;
use mapstack::{Engine, Place, Result, Survey};

use crate::reach::ChangedFiles;
use crate::unrelated;
use crate::what::QuestionSubject;

/// A place in a file that is not followed, such as an sls.
#[derive(Debug, Clone)]
pub struct UnfollowedPlace {
    /// The place of the reference.
    pub place: Place,
    /// True if it computes the name of a file, which can then be any file.
    pub is_computed: bool,
}

/// The text of a file that may be a template or states.
struct FileAsText {
    path: String,
    shown: String,
    text: Arc<str>,
}

/// The first place of each file that names a file or a fact. The files in `followed` are left out.
pub(crate) fn unfollowed(
    engine: &Engine,
    saltenv: &str,
    what: &QuestionSubject,
    followed: &BTreeSet<String>,
) -> Result<Vec<UnfollowedPlace>> {
    if !matches!(what, QuestionSubject::File(_) | QuestionSubject::Fact(..)) {
        return Ok(Vec::new());
    }
    let mut texts = Vec::new();
    for path in engine.list(saltenv, "")? {
        let is_asked = matches!(what, QuestionSubject::File(asked) if *asked == path);
        if !is_asked && !followed.contains(&path) {
            texts.extend(text_of(engine, saltenv, path)?);
        }
    }
    let mut found = match what {
        QuestionSubject::File(asked) => {
            let paths = texts.iter().map(|text| text.path.clone()).collect();
            let survey = engine.survey_files(paths, saltenv)?;
            using(asked, &texts, &survey)
        }
        QuestionSubject::Fact(_, path) => naming(path, &texts),
        _ => Vec::new(),
    };
    let unrelated = unrelated_of(engine, &texts, &found);
    found.retain(|one| !unrelated.contains(&one.place.file));
    Ok(found)
}

/// The files of the places that Salt does not use, such as a README with examples.
fn unrelated_of(
    engine: &Engine,
    texts: &[FileAsText],
    places: &[UnfollowedPlace],
) -> BTreeSet<String> {
    let has_place = |text: &&FileAsText| places.iter().any(|one| one.place.file == text.shown);
    let paths = texts.iter().filter(has_place);
    let paths = paths.map(|text| text.path.clone()).collect();
    let same = [engine.files(); 2];
    let (_, unrelated) = unrelated::split(paths, same, &ChangedFiles::default());
    let is_one = |text: &&FileAsText| unrelated.contains(&text.path);
    let shown = texts.iter().filter(is_one);
    shown.map(|text| text.shown.clone()).collect()
}

/// A file of states, or a template; `None` for others.
fn text_of(engine: &Engine, saltenv: &str, path: String) -> Result<Option<FileAsText>> {
    let fetched = engine.fetch(&SaltPath::from_relative(&path), saltenv)?;
    let Fetched::Found { on_disk, bytes } = fetched else {
        return Ok(None);
    };
    let text = str::from_utf8(&bytes).ok().filter(|text| {
        path.ends_with(".sls")
            || text.starts_with("#!")
            || text.contains("{{")
            || text.contains("{%")
    });
    Ok(text.map(|text| FileAsText {
        shown: on_disk.display().to_string(),
        text: text.into(),
        path,
    }))
}

/// The places that load or name a file, then the places of its formula that compute the name of a file to
/// load.
fn using(asked: &str, texts: &[FileAsText], survey: &Survey) -> Vec<UnfollowedPlace> {
    let used = survey.used_files().filter(|(path, _)| *path == asked);
    let loaded: Vec<&Place> = used.map(|(_, place)| place).collect();
    let mut found = Vec::new();
    for text in texts {
        let loads = loaded.iter().find(|place| place.file == text.shown);
        let place = loads.map(|place| (**place).clone());
        found.extend(place.or_else(|| text.word(asked)).map(named));
    }
    let is_of = |path: &str| path.split('/').next() == asked.split('/').next();
    let mut computed: Vec<&Place> = survey.computed_loads().collect();
    computed.dedup_by_key(|place| &place.file);
    for place in computed {
        let of_file = texts.iter().find(|text| text.shown == place.file);
        if of_file.is_some_and(|text| is_of(&text.path)) {
            found.push(UnfollowedPlace {
                place: place.clone(),
                is_computed: true,
            });
        }
    }
    found
}

/// The places where the first key of a fact is a word.
fn naming(path: &[Key], texts: &[FileAsText]) -> Vec<UnfollowedPlace> {
    let Some(name) = path.first().map(ToString::to_string) else {
        return Vec::new();
    };
    let places = texts.iter().filter_map(|text| text.word(&name));
    places.map(named).collect()
}

fn named(place: Place) -> UnfollowedPlace {
    UnfollowedPlace {
        place,
        is_computed: false,
    }
}

impl FileAsText {
    /// The first place of a text that is not a part of a longer name.
    fn word(&self, word: &str) -> Option<Place> {
        let is_of_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
        let found = self.text.match_indices(word).find(|(at, _)| {
            let before = self.text[..*at].chars().next_back();
            let after = self.text[at + word.len()..].chars().next();
            !before.is_some_and(is_of_name) && !after.is_some_and(is_of_name)
        });
        found.map(|(start, _)| Place {
            file: self.shown.clone(),
            source: self.text.clone(),
            start,
            end: start + word.len(),
        })
    }
}
