//! The settings and actions of a reader of messages, in the words of the program that they use.

use std::fmt;
use std::sync::OnceLock;

/// A setting or an action of a program, which advice in messages refers to.
///
/// Libraries do not know what a program calls its settings, so their messages contain these, and the program names them
/// once for the whole process with [`Means::named_by`]. A message can become text far from the program's own code, in a
/// line of data or in a pillar, so the names are not handed around.
///
/// ```
/// use mapstack_diagnostic::Means;
/// let advice = format!("look for an endless loop, or allow more time with {}", Means::MaxTime);
/// assert_eq!(advice, "look for an endless loop, or allow more time with the setting for time");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Means<'a> {
    /// Setting one fact.
    Fact,
    /// Giving minions.
    Minions,
    /// Giving a pillar.
    Pillar,
    /// A root of the file server: this directory, or one to be chosen.
    Root(Option<&'a str>),
    /// The kind of directories that roots are, before the word "directories".
    Roots,
    /// Allowing pillars to read a directory.
    StackRoot,
    /// A file with answers of functions.
    Stub,
    /// Saying which folders are at absolute paths.
    Deployed,
    /// Permitting functions to use this machine: this function, or some.
    Permission(Option<&'a str>),
    /// The time limit of templates.
    MaxTime,
    /// The memory limit of templates.
    MaxMemory,
    /// Requiring the whole sandbox.
    StrictSandbox,
    /// Showing secrets.
    ShowSecrets,
    /// Taking a name for that of no secret.
    NoSecret,
    /// Changing the level of a rule, in these words.
    Level(&'a str),
    /// Listing the rules of the linter.
    Rules,
    /// Inferring a schema of a formula.
    Schema,
    /// Inferring a schema of the pillar.
    PillarSchema,
    /// Computing what the `map.jinja` of a formula exports.
    Map(&'a str),
    /// Listing what was looked for.
    Sources,
    /// Printing the whole data.
    Data,
    /// Comparing two states of the files.
    Diff,
    /// Showing the origin of every key at or below this one of a formula.
    Blame(&'a str, &'a str),
    /// Showing every finding by itself.
    Each,
    /// Listing the calls that nothing answers, as a file of answers to fill in.
    Answers,
    /// Reading a configuration from anywhere.
    Config,
    /// Fetching repositories.
    Fetch,
    /// Fetching the repositories of a configuration.
    FetchConfigured,
    /// Fetching a repository.
    FetchOne(&'a str),
    /// A feature that a program is built with.
    Feature(&'a str),
}

static NAMES: OnceLock<fn(Means<'_>) -> String> = OnceLock::new();

impl Means<'_> {
    /// Give means the names that the program has for them, in all messages of this process. The first call counts.
    pub fn named_by(name: fn(Means<'_>) -> String) {
        // A program has one set of names.
        let _ = NAMES.set(name);
    }
}

impl fmt::Display for Means<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(name) = NAMES.get() {
            return f.write_str(&name(*self));
        }
        match self {
            Means::Fact => f.write_str("the setting for facts"),
            Means::Minions => f.write_str("the setting for minions"),
            Means::Pillar => f.write_str("the setting for pillars"),
            Means::Root(None) => f.write_str("the setting for roots"),
            Means::Root(Some(directory)) => write!(f, "the root {directory}"),
            Means::Roots => f.write_str("root"),
            Means::StackRoot => f.write_str("the setting for directories of stacks"),
            Means::Stub => f.write_str("the setting for stubs"),
            Means::Deployed => f.write_str("the setting for deployed paths"),
            Means::Permission(None) => f.write_str("the setting for permissions"),
            Means::Permission(Some(function)) => write!(f, "permission for {function}"),
            Means::MaxTime => f.write_str("the setting for time"),
            Means::MaxMemory => f.write_str("the setting for memory"),
            Means::StrictSandbox => f.write_str("the setting for a complete sandbox"),
            Means::ShowSecrets => f.write_str("the setting for secrets"),
            Means::NoSecret => f.write_str("the setting for names of secrets"),
            Means::Level(level) => write!(f, "the level {level}"),
            Means::Rules => f.write_str("the list of rules"),
            Means::Schema => f.write_str("inferring a schema"),
            Means::PillarSchema => f.write_str("inferring a schema of the pillar"),
            Means::Map(formula) => write!(f, "running the map of {formula}"),
            Means::Sources => f.write_str("the list of look-ups"),
            Means::Data => f.write_str("the whole data"),
            Means::Diff => f.write_str("the whole comparison"),
            Means::Blame(formula, key) => write!(f, "the origins of {formula} below {key}"),
            Means::Each => f.write_str("the list of all findings"),
            Means::Answers => f.write_str("the list of calls without an answer"),
            Means::Config => f.write_str("the setting for a configuration"),
            Means::Fetch => f.write_str("fetching"),
            Means::FetchConfigured => f.write_str("a fetch of what the configuration names"),
            Means::FetchOne(url) => write!(f, "a fetch of {url}"),
            Means::Feature(name) => write!(f, "the feature {name}"),
        }
    }
}
