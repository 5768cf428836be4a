//! The places of states in the files that people write.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use mapstack::Engine;
use mapstack::loader::{Fetched, SaltPath};
use mapstack_diagnostic::{Error, ErrorKind, KeyedText, Place, Step};
use mapstack_value::Key;

use crate::compile::refusal::cycle_message;
use crate::compile::{Refusal, RefusalKind};
use crate::render::GotSls;
use crate::requisite_place::{indent, is_aside};

/// The text of a file, if it can be read.
type FileText = Option<Rc<KeyedText>>;

/// Finds the places of states in sls.
pub struct Places<'p> {
    engine: &'p Engine,
    sls: &'p [GotSls],
    files: RefCell<HashMap<(String, String), FileText>>,
}

/// True if a place lies in the block of an ID: each line between is indented deeper.
fn is_below(id: &Place, place: &Place) -> bool {
    let own = indent(id.line_text());
    let Some(between) = place.source.get(id.end..place.end) else {
        return false;
    };
    let mut lines = between.lines().skip(1).filter(|line| !is_aside(line));
    lines.all(|line| indent(line) > own)
}

impl<'p> Places<'p> {
    /// The places in the sls of a minion.
    #[must_use]
    pub fn new(engine: &'p Engine, sls: &'p [GotSls]) -> Self {
        Places {
            engine,
            sls,
            files: RefCell::default(),
        }
    }

    /// The sls of a name, in a saltenv if that is known.
    #[must_use]
    pub fn sls(&self, name: &str, saltenv: Option<&str>) -> Option<&'p GotSls> {
        let is_match = |sls: &&GotSls| {
            sls.name == name && saltenv.is_none_or(|saltenv| saltenv == sls.saltenv)
        };
        self.sls.iter().find(is_match)
    }

    /// The place of the last of some keys that stands in an sls as it is. A name that a template makes has none.
    #[must_use]
    pub fn place(&self, sls: &GotSls, keys: &[&str]) -> Option<Place> {
        let mut counts = (1..=keys.len()).rev();
        counts.find_map(|count| self.exact(sls, &keys[..count]))
    }

    /// The place of the last of some keys, if it is literally in an sls.
    pub(crate) fn exact(&self, sls: &GotSls, keys: &[&str]) -> Option<Place> {
        let text = self.file(sls)?;
        let of = |keys: &[&str]| {
            let place = text.place(keys);
            let is_there = Some(&place.source[place.start..place.end]) == keys.last().copied();
            is_there.then_some(place)
        };
        let id = of(keys.get(..1)?)?;
        of(keys).filter(|place| keys.len() == 1 || is_below(&id, place))
    }

    /// The file and line of an ID of an sls, as far as they are known, and the place.
    #[must_use]
    pub fn of_id(&self, name: &str, saltenv: &str, id: &str) -> (String, Option<Place>) {
        let sls = self.sls(name, Some(saltenv));
        let Some(sls) = sls.or_else(|| self.sls(name, None)) else {
            return (name.to_owned(), None);
        };
        let place = self.place(sls, &[id]);
        match &place {
            Some(at) => (format!("{}:{}", sls.path, at.line()), place),
            None => (sls.path.clone(), None),
        }
    }

    pub(crate) fn file(&self, sls: &GotSls) -> FileText {
        let key = (sls.saltenv.clone(), sls.path.clone());
        let mut files = self.files.borrow_mut();
        let file = files.entry(key).or_insert_with(|| {
            let path = SaltPath::from_relative(&sls.path);
            let Ok(Fetched::Found { on_disk, bytes }) = self.engine.fetch(&path, &sls.saltenv)
            else {
                return None;
            };
            let text = String::from_utf8_lossy(&bytes);
            Some(Rc::new(KeyedText::new(on_disk.display().to_string(), text)))
        });
        file.clone()
    }

    /// Refusals as messages. The same one is said once: a template that fails in several sls names them all.
    #[must_use]
    pub fn errors(&self, refusals: &[Refusal]) -> Vec<Error> {
        let mut errors: Vec<Error> = Vec::new();
        let mut known: HashMap<String, usize> = HashMap::new();
        for refusal in refusals {
            let error = self.error(refusal);
            let at = *known.entry(error.to_string()).or_insert(errors.len());
            match errors.get_mut(at) {
                None => errors.push(error),
                Some(known) if refusal.cause.is_some() => {
                    *known = known.clone().note(refusal.message.clone());
                }
                Some(_) => {}
            }
        }
        errors
    }

    /// A refusal as a message with its place.
    #[must_use]
    pub fn error(&self, refusal: &Refusal) -> Error {
        let sls = refusal.sls.as_deref().and_then(|name| self.sls(name, None));
        if let Some(cause) = &refusal.cause {
            // Salt's message names the sls, which is not always the file that fails.
            return cause.clone().note(refusal.message.clone());
        }
        let keys: Vec<&str> = match refusal.kind {
            RefusalKind::MissingInclude
            | RefusalKind::MissingSls
            | RefusalKind::IncludeAboveRoot
            | RefusalKind::IncludeNotList
            | RefusalKind::AmbiguousInclude
            | RefusalKind::UnknownSaltenv => vec!["include"],
            RefusalKind::ExcludeNotList => vec!["exclude"],
            _ => refusal.path.iter().filter_map(Key::as_str).collect(),
        };
        let requisite = refusal.requisites.first();
        let place = requisite.and_then(|requisite| Some(self.requisite(requisite)?.1));
        let place = place.or_else(|| self.place(sls?, &keys));
        let other = refusal
            .other
            .as_deref()
            .and_then(|name| self.sls(name, None));
        let other = other.and_then(|sls| Some((&sls.name, self.place(sls, &keys)?)));
        let mut message = match refusal.kind {
            RefusalKind::Cycle if !refusal.requisites.is_empty() => self.cycle(refusal),
            _ => refusal.message.clone(),
        };
        if let (None, Some(name)) = (&place, &refusal.sls)
            && !message.contains(&format!("'{name}'"))
        {
            message.push_str(&format!(", in the sls '{name}'"));
        }
        let mut error = Error::new(ErrorKind::DataSource, message).at(place);
        if let Some((name, place)) = other {
            error = error.trace([Step {
                what: format!("the state of '{name}'"),
                place,
            }]);
        }
        match refusal.kind.help() {
            Some(help) => error.help(help),
            None => error,
        }
    }

    /// The message about a cycle, with the file and line of each requisite.
    fn cycle(&self, refusal: &Refusal) -> String {
        cycle_message(&refusal.requisites, |one| match self.requisite(one) {
            Some((sls, place)) => format!("{}:{}", sls.path, place.line()),
            None => {
                let sls = self.sls(&one.state.sls, None);
                sls.map_or(&one.state.sls, |sls| &sls.path).clone()
            }
        })
    }
}
