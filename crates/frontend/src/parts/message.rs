//! Messages as data.

use std::sync::Arc;

use mapstack::{Diagnostic, ErrorKind, Place, Severity, Step};
use serde::{Deserialize, Serialize};

/// A message whose secrets are already kept out of it.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Message {
    is_error: bool,
    message: String,
    place: Option<At>,
    trace: Vec<(String, At)>,
    notes: Vec<String>,
    help: Option<String>,
}

/// A place, with the text it is in.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct At {
    file: String,
    source: String,
    start: usize,
    end: usize,
}

impl At {
    fn of(place: &Place) -> Self {
        At {
            file: place.file.clone(),
            source: place.source.to_string(),
            start: place.start,
            end: place.end,
        }
    }

    /// The place; one that does not lie in its text is at the end.
    fn place(&self) -> Place {
        let source: Arc<str> = self.source.as_str().into();
        let inside = |at: usize| match source.is_char_boundary(at) {
            true => at,
            false => source.len(),
        };
        let start = inside(self.start);
        Place {
            file: self.file.clone(),
            start,
            end: inside(self.end).max(start),
            source,
        }
    }
}

impl Message {
    pub fn of(given: &Diagnostic) -> Self {
        let step = |step: &Step| (step.what.clone(), At::of(&step.place));
        Message {
            is_error: given.severity == Severity::Error,
            message: given.message.clone(),
            place: given.place.as_ref().map(At::of),
            trace: given.trace.iter().map(step).collect(),
            notes: given.notes.clone(),
            help: given.help.clone(),
        }
    }

    /// The message. Its kind was of use to those who kept secrets out of it, and its cause is not printed.
    pub fn diagnostic(&self) -> Diagnostic {
        let step = |(what, at): &(String, At)| Step {
            what: what.clone(),
            place: at.place(),
        };
        let mut made = Diagnostic::warning(ErrorKind::Lookup, self.message.clone());
        if self.is_error {
            made.severity = Severity::Error;
        }
        made.place = self.place.as_ref().map(At::place);
        made.trace = self.trace.iter().map(step).collect();
        made.notes.clone_from(&self.notes);
        made.help.clone_from(&self.help);
        made
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_comes_back_as_it_was() {
        let place = Place {
            file: "a.yaml".into(),
            source: "a: é\n".into(),
            start: 3,
            end: 5,
        };
        let mut given = Diagnostic::warning(ErrorKind::Lookup, "m").with_help("h");
        given.place = Some(place.clone());
        given.notes.push("n".into());
        given.trace.push(Step {
            what: "from here".into(),
            place,
        });
        assert_eq!(Message::of(&given).diagnostic(), given);
    }

    #[test]
    fn a_place_outside_of_its_text_is_at_the_end() {
        for (start, end) in [(4, 4), (9, 1), (usize::MAX, 0)] {
            let at = At {
                file: "a".into(),
                source: "a: é".into(),
                start,
                end,
            };
            let place = at.place();
            assert_eq!((place.start, place.end), (5, 5));
        }
    }
}
