//! One message to a person.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use indexmap::IndexSet;

use crate::redact::{Redact, Secrets};
use mapstack_value::cut;

use crate::Place;

/// The severity of a [`Diagnostic`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Severity {
    /// Nothing can be returned.
    Error,
    /// The answer is the reference's, and probably not what was meant.
    Warning,
}

/// The kind of an error, for programs that decide on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A data-source definition that cannot be read.
    Definition,
    /// A template that failed.
    Template,
    /// A template that uses something undefined.
    Undefined,
    /// Text that is not YAML.
    Yaml,
    /// Text that is not JSON.
    Json,
    /// Text that is not TOML.
    Toml,
    /// A data source without the shape of one.
    DataSource,
    /// Data that cannot be merged.
    Merge,
    /// Meta configuration or arguments of a wrong type.
    Options,
    /// A look-up that cannot be made.
    Lookup,
    /// A minion document that cannot be read.
    Facts,
    /// A stub file that cannot be read.
    Stub,
    /// A file that cannot be read.
    File,
    /// A resource limit.
    Limit,
    /// Something that is not built in.
    Unsupported,
    /// A warning where warnings count as errors.
    Strict,
    /// A finding of a linter.
    Lint,
}

/// A step on the way to an error.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Step {
    /// The step that was being done ("included from here").
    pub what: String,
    /// The place.
    pub place: Place,
}

/// An error of a lower layer. Two are equal if they say the same.
#[derive(Clone)]
pub struct Cause(pub(crate) Arc<dyn std::error::Error + Send + Sync>);

impl PartialEq for Cause {
    fn eq(&self, other: &Self) -> bool {
        self.0.to_string() == other.0.to_string()
    }
}

impl Eq for Cause {}

impl Cause {
    /// True if nothing that it or its own causes say is secret.
    fn is_free_of(&self, secrets: &Secrets) -> bool {
        let mut next: Option<&(dyn std::error::Error + 'static)> = Some(&*self.0);
        while let Some(error) = next {
            let said = [error.to_string(), format!("{error:?}")];
            if said.iter().any(|said| secrets.scrubbed(said) != *said) {
                return false;
            }
            next = error.source();
        }
        true
    }
}

impl fmt::Debug for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// One message to a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// The severity.
    pub severity: Severity,
    /// The kind.
    pub kind: ErrorKind,
    /// The message.
    pub message: String,
    /// The place.
    pub place: Option<Place>,
    /// The way there, innermost first.
    pub trace: Vec<Step>,
    /// Circumstances.
    pub notes: Vec<String>,
    /// The advice.
    pub help: Option<String>,
    /// The error of a lower layer that this one reports.
    pub cause: Option<Cause>,
}

impl Diagnostic {
    /// A warning about what was looked for and where.
    pub fn warning(kind: ErrorKind, message: impl Into<String>) -> Self {
        Diagnostic {
            severity: Severity::Warning,
            kind,
            message: message.into(),
            place: None,
            trace: Vec::new(),
            notes: Vec::new(),
            help: None,
            cause: None,
        }
    }

    /// The lower layer's error, if it is of a type.
    ///
    /// ```
    /// use mapstack_diagnostic::{Error, ErrorKind};
    /// let number = "x".parse::<u8>().unwrap_err();
    /// let error = Error::new(ErrorKind::Options, "no port").caused_by(number.clone());
    /// assert_eq!(error.diagnostic().caused::<std::num::ParseIntError>(), Some(&number));
    /// ```
    #[must_use]
    pub fn caused<E: std::error::Error + 'static>(&self) -> Option<&E> {
        self.cause.as_ref()?.0.downcast_ref()
    }

    /// Add advice.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// All but the cause, which its text alone identifies.
impl Hash for Diagnostic {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.severity, self.kind, &self.message, &self.place).hash(state);
        (&self.trace, &self.notes, &self.help).hash(state);
    }
}

/// Messages in order, each once. A template can give thousands, and to add one takes the same time however many there are.
///
/// ```
/// use mapstack_diagnostic::{Diagnostic, Distinct, ErrorKind};
/// let warning = |text: &str| Diagnostic::warning(ErrorKind::Options, text);
/// let warnings: Distinct = ["b", "a", "b"].into_iter().map(warning).collect();
/// assert_eq!(warnings.iter().map(|one| &*one.message).collect::<Vec<_>>(), ["b", "a"]);
/// ```
pub type Distinct = IndexSet<Diagnostic, foldhash::fast::RandomState>;

/// The message and its place on one line.
impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(place) = &self.place {
            write!(f, "{place}: ")?;
        }
        f.write_str(&self.message)?;
        if let Some(help) = &self.help {
            write!(f, " ({help})")?;
        }
        Ok(())
    }
}

impl Redact for Diagnostic {
    /// The message and everything else that is said, and the lines of files. The names of files stay. A cause that
    /// says a secret goes, as nothing can be taken out of it.
    fn redacted(&self, secrets: &Secrets) -> Self {
        secrets.with_known_texts(|known| self.redacted_with(secrets, known))
    }

    fn all_redacted<'g>(given: impl IntoIterator<Item = &'g Self>, secrets: &Secrets) -> Vec<Self> {
        let mut known = MaskedTexts::default();
        let given = given.into_iter();
        given
            .map(|one| one.redacted_with(secrets, &mut known))
            .collect()
    }
}

/// Texts of files with what they are without secrets: the place of each message has the whole text of its file, and many
/// messages can be about one file.
#[derive(Default)]
pub(crate) struct MaskedTexts(HashMap<(usize, bool), [Arc<str>; 2]>);

/// Limit on the texts that are kept from message to message: these come file by file.
const MOST_KEPT: usize = 8;

impl MaskedTexts {
    /// Forget what was kept, if it is much.
    pub(crate) fn forget_many(&mut self) {
        if self.0.len() > MOST_KEPT {
            self.0.clear();
        }
    }

    /// A text without secrets. A document of facts that cannot be read has unknown ones.
    fn of(&mut self, text: &Arc<str>, is_of_facts: bool, secrets: &Secrets) -> Arc<str> {
        let starred = || {
            let starred = match is_of_facts {
                true => secrets.starred_facts(text),
                false => secrets.starred(text),
            };
            match *starred == **text {
                true => text.clone(),
                false => starred.into(),
            }
        };
        // The text is kept as well, so that no other one gets its address.
        let key = (text.as_ptr().addr(), is_of_facts);
        let kept = self
            .0
            .entry(key)
            .or_insert_with(|| [text.clone(), starred()]);
        kept[1].clone()
    }
}

impl Diagnostic {
    fn redacted_with(&self, secrets: &Secrets, known: &mut MaskedTexts) -> Self {
        let mut redacted = self.clone();
        // A file that cannot be read or written has no place, and its path is not secret.
        if self.kind != ErrorKind::File || self.place.is_some() {
            redacted.message = secrets.scrubbed(&self.message);
        }
        // A search does not find a secret that a cut divides.
        shorten(&mut redacted.message);
        redacted.cause = self.cause.clone().filter(|cause| cause.is_free_of(secrets));
        let texts = redacted.notes.iter_mut().chain(&mut redacted.help);
        texts.for_each(|text| *text = message_text(text, secrets));
        let is_of_facts = self.kind == ErrorKind::Facts;
        let mut star =
            |place: &mut Place| place.source = known.of(&place.source, is_of_facts, secrets);
        redacted.place.iter_mut().for_each(&mut star);
        for step in &mut redacted.trace {
            step.what = message_text(&step.what, secrets);
            star(&mut step.place);
        }
        redacted
    }
}

/// A text for a message: without secrets, and shortened.
///
/// ```
/// use mapstack_diagnostic::redact::Secrets;
/// let secrets = Secrets::without_digests();
/// assert!(mapstack_diagnostic::message_text(&"x".repeat(1_000_000), &secrets).len() < 5_000);
/// ```
#[must_use]
pub fn message_text(text: &str, secrets: &Secrets) -> String {
    let mut text = secrets.scrubbed(text);
    shorten(&mut text);
    text
}

fn shorten(text: &mut String) {
    if let Cow::Owned(short) = cut(text) {
        *text = short;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;

    #[test]
    fn messages_about_one_file_share_its_text_without_secrets() {
        let source: Arc<str> = "api_token: x\n".into();
        let about = |kind| {
            let place = Place {
                file: "a.sls".into(),
                source: source.clone(),
                start: 0,
                end: 0,
            };
            Error::new(kind, "no").at(Some(place))
        };
        let kinds = [ErrorKind::Yaml, ErrorKind::Facts, ErrorKind::Yaml];
        let errors = kinds.map(about);
        let secrets = Secrets::without_digests();
        let redacted = secrets.redact_all(&errors);
        for (error, redacted) in errors.iter().zip(&redacted) {
            assert_eq!(**redacted, error.redacted(&secrets));
        }
        let source = |at: usize| &redacted[at].diagnostic().place.as_ref().unwrap().source;
        assert_eq!(&**source(0), "api_token: *\n");
        assert!(Arc::ptr_eq(source(0), source(2)));
    }

    #[test]
    fn every_text_of_a_message_is_short_enough_to_be_read() {
        let long = || "x".repeat(1_000_000);
        let mut error = Error::new(ErrorKind::Template, long())
            .note(long())
            .help(long());
        let place = Place::in_bytes("a", b"", |_| 0);
        error = error.trace([Step {
            what: long(),
            place,
        }]);
        let redacted = error.redacted(&Secrets::without_digests());
        let told = redacted.diagnostic();
        let texts = [&told.message, &told.notes[0], &told.trace[0].what];
        for text in texts.into_iter().chain(&told.help) {
            assert_eq!(text.matches('x').count(), 4_000);
        }
    }

    #[test]
    fn a_cause_that_says_a_secret_goes() {
        let secrets = Secrets::without_digests().derived(["hunter2hunter2"]);
        let caused_by = |text: &str| {
            let error = Error::new(ErrorKind::Options, "no port");
            error
                .caused_by(std::io::Error::other(text))
                .redacted(&secrets)
        };
        let cause = |error: &Error| error.diagnostic().caused::<std::io::Error>().is_some();
        assert!(cause(&caused_by("line 3")));
        assert!(!cause(&caused_by("in hunter2hunter2")));
    }
}
