//! A finding of a rule.

use std::fmt;

use mapstack::secrets::Secrets;
use mapstack::{Diagnostic, Place, Severity, Step, message_text};

use crate::Rule;

/// The level of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Level {
    /// Worth knowing.
    Note,
    /// Probably not what was meant.
    Warning,
    /// Does not work, at least for some minions.
    Error,
}

impl Level {
    /// The name, in lower case.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Level::Note => "note",
            Level::Warning => "warning",
            Level::Error => "error",
        }
    }

    /// The level of that name.
    ///
    /// ```
    /// use mapstack_lint::Level;
    /// assert_eq!(Level::named("note"), Some(Level::Note));
    /// assert_eq!(Level::named("off"), None);
    /// ```
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        [Level::Note, Level::Warning, Level::Error]
            .into_iter()
            .find(|level| level.name() == name)
    }

    /// The level that a person gives a rule, or none at all for `off`.
    ///
    /// ```
    /// use mapstack_lint::Level;
    /// assert_eq!(Level::from_name("error"), Some(Some(Level::Error)));
    /// assert_eq!(Level::from_name("off"), Some(None));
    /// assert_eq!(Level::from_name("loud"), None);
    /// ```
    #[must_use]
    pub fn from_name(name: &str) -> Option<Option<Self>> {
        match name {
            "off" => Some(None),
            name => Self::named(name).map(Some),
        }
    }
}

/// The file, the place and the text of a message.
pub(crate) type MessageKey = (String, usize, String);

/// The key that tells a message from others.
pub(crate) fn key(diagnostic: &Diagnostic) -> MessageKey {
    let place = diagnostic.place.as_ref();
    (
        place.map(|place| place.file.clone()).unwrap_or_default(),
        place.map_or(0, |place| place.start),
        diagnostic.message.clone(),
    )
}

/// A mistake, or what looks like one.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// The rule it goes against.
    pub rule: Rule,
    /// The level.
    pub level: Level,
    /// The message, a sentence without a full stop.
    pub message: String,
    /// The place. A finding about a file as a whole has an empty one at its start.
    pub place: Place,
    /// True if it is about the file as a whole.
    pub whole_file: bool,
    /// Other places that have a part in it.
    pub related: Vec<Step>,
    /// Circumstances, such as the minions concerned.
    pub notes: Vec<String>,
    /// The advice.
    pub help: Option<String>,
    /// Changes of the file that mend it and cannot do harm; all of them or none.
    pub fix: Vec<Edit>,
    /// True if it was reported by a run that failed.
    pub of_run: bool,
    /// True if a fact that no minion of the run has could mend it.
    pub lacks_facts: bool,
}

/// A change of a finding's file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// First byte that goes.
    pub start: usize,
    /// One past the last byte that goes.
    pub end: usize,
    /// The text that comes in its place.
    pub text: String,
}

impl Finding {
    /// A finding of a rule, at its usual level.
    #[must_use]
    pub fn new(rule: Rule, place: Place, message: impl Into<String>) -> Self {
        Finding {
            rule,
            level: rule.level(),
            message: message.into(),
            place,
            whole_file: false,
            related: Vec::new(),
            notes: Vec::new(),
            help: None,
            fix: Vec::new(),
            of_run: false,
            lacks_facts: false,
        }
    }

    /// About a file as a whole.
    #[must_use]
    pub fn of_file(rule: Rule, place: Place, message: impl Into<String>) -> Self {
        Finding::new(rule, place, message).whole_file()
    }

    /// About its file as a whole.
    #[must_use]
    pub fn whole_file(mut self) -> Self {
        (self.place.start, self.place.end) = (0, 0);
        Finding {
            whole_file: true,
            ..self
        }
    }

    /// A message of a run, with the places, circumstances and advice of its message.
    #[must_use]
    pub fn of_message(rule: Rule, place: Place, diagnostic: &Diagnostic) -> Self {
        let Diagnostic {
            message,
            trace,
            notes,
            help,
            ..
        } = diagnostic.clone();
        Finding {
            related: trace,
            notes,
            help,
            ..Finding::new(rule, place, message)
        }
    }

    /// With what to do.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// With a circumstance.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// With another place that has a part in it.
    #[must_use]
    pub fn related(mut self, what: impl Into<String>, place: Place) -> Self {
        self.related.push(Step {
            what: what.into(),
            place,
        });
        self
    }

    /// The name that was probably meant, and the change that writes it, if the wrong one is
    /// literally in the text.
    pub(crate) fn suggest(self, wrong: &str, near: &str, is_literal: bool) -> Self {
        let Place { start, end, .. } = self.place;
        let stands = is_literal && self.place.source.get(start..end) == Some(wrong);
        let edit = Edit {
            start,
            end,
            text: near.into(),
        };
        self.help(format!("did you mean '{near}'?"))
            .fix(stands.then_some(edit))
    }

    pub(crate) fn fix(mut self, edits: impl IntoIterator<Item = Edit>) -> Self {
        self.fix.extend(edits);
        self
    }

    /// Take secrets out of what it says.
    pub(crate) fn scrub(&mut self, secrets: &Secrets) {
        let related = self.related.iter_mut().map(|step| &mut step.what);
        let texts = self.notes.iter_mut().chain(&mut self.help).chain(related);
        for text in texts.chain([&mut self.message]) {
            *text = message_text(text, secrets);
        }
    }

    /// The file and, unless it is about the whole of it, line and column.
    #[must_use]
    pub fn position(&self) -> String {
        if self.whole_file {
            self.place.file.clone()
        } else {
            self.place.to_string()
        }
    }

    /// The same as a message about a run; [`LintReport::diagnostic`](crate::LintReport::diagnostic) keeps
    /// secrets back.
    pub(crate) fn diagnostic(&self) -> Diagnostic {
        let severity = if self.level == Level::Error {
            Severity::Error
        } else {
            Severity::Warning
        };
        Diagnostic {
            severity,
            place: Some(self.place.clone()),
            trace: self.related.clone(),
            notes: self.notes.clone(),
            help: self.help.clone(),
            ..Diagnostic::warning(mapstack::ErrorKind::Lint, self.message.clone())
        }
    }
}

/// On one line: where, how much, what, and the rule.
impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: {}: {} [{}]",
            self.position(),
            self.level.name(),
            self.message,
            self.rule
        )
    }
}
