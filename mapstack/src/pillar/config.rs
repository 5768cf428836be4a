//! Which external pillars there are: a master's `ext_pillar`, or what a caller names.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use mapstack_minion::{Minion, builtin};
use mapstack_value::{Map, Value};
use mapstack_yaml::{Limits, Mark, Marks};

use crate::diagnostic::{Diagnostic, Error, ErrorKind, Place, Result};
use crate::files::{File, offset};

/// An external pillar that stacks files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StackKind {
    /// PillarStack: Jinja.
    PillarStack,
    /// MakoStack: Mako.
    MakoStack,
}

impl StackKind {
    /// Its name in `ext_pillar`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            StackKind::PillarStack => "stack",
            StackKind::MakoStack => "makostack",
        }
    }

    /// What people call it.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            StackKind::PillarStack => "PillarStack",
            StackKind::MakoStack => "MakoStack",
        }
    }

    fn parse(name: &str) -> Option<Self> {
        [StackKind::PillarStack, StackKind::MakoStack].into_iter().find(|kind| kind.name() == name)
    }
}

/// One external pillar and its arguments.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ExtPillar {
    /// Its name in `ext_pillar`.
    pub name: String,
    /// `None` for one that is not made here.
    pub kind: Option<StackKind>,
    /// A config file, a list of them, or selectors.
    pub arguments: Value,
    pub place: Option<Place>,
}

/// The external pillars of a master, and the options they go by.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ExtPillars {
    /// The items of `ext_pillar`. An item can name several; the last one counts.
    pub(super) runs: Vec<Vec<ExtPillar>>,
    options: Map,
    exact_options: Option<Map>,
    pub(super) directories: Vec<PathBuf>,
    pub(super) keep_going: bool,
    warnings: Vec<Diagnostic>,
}

impl ExtPillars {
    /// None at all.
    #[must_use]
    pub fn new() -> Self {
        ExtPillars::default()
    }

    /// Those of a master's configuration file. `name` is what errors call it.
    ///
    /// External pillars of other kinds are left out with a warning when their turn comes. Files that
    /// the configuration includes are not read.
    ///
    /// ```
    /// use mapstack::pillar::ExtPillars;
    /// let config = b"ext_pillar:\n  - stack: /srv/stack/stack.cfg\n";
    /// assert!(!ExtPillars::from_master_config(config, "master").unwrap().is_empty());
    /// let error = ExtPillars::from_master_config(b"ext_pillar: {stack: a.cfg}\n", "master").unwrap_err();
    /// assert!(error.to_string().starts_with("master:1:13: `ext_pillar` must be a list, not a mapping"));
    /// ```
    ///
    /// # Errors
    /// The text is no YAML, no mapping, or its `ext_pillar` no list of mappings.
    pub fn from_master_config(bytes: &[u8], name: &str) -> Result<Self> {
        let file = File { path: name.into(), shown: name.into(), bytes: bytes.into() };
        let document = Document::read(&file)?;
        let Value::Map(options) = document.value.clone() else {
            let message = format!("a master's configuration is a mapping, not {}", document.value.kind().described());
            return Err(document.error(message, Some(Mark::default())));
        };
        let mut pillars = ExtPillars { options, ..ExtPillars::default() };
        if let Some(index) = pillars.options.index_of("ext_pillar") {
            let listed = pillars.options.get("ext_pillar").cloned().unwrap_or_default();
            pillars.runs = document.runs(index, &listed)?;
        }
        if pillars.options.contains_key("include") {
            let message = format!("{name}: what it includes is not read");
            let warning = Diagnostic::warning(ErrorKind::Unsupported, message);
            pillars.warnings.push(warning.with_help("options that matter here have to stand in the file itself"));
        }
        Ok(pillars)
    }

    /// Add an external pillar with a list of config files, whose data is stacked.
    #[must_use]
    pub fn with_stack<S: Into<String>>(self, kind: StackKind, configs: impl IntoIterator<Item = S>) -> Self {
        let configs: Value = configs.into_iter().map(|config| Value::from(config.into())).collect();
        self.with(kind, configs)
    }

    /// Add an external pillar with what can stand behind its name in `ext_pillar`: a config file, a
    /// list of them, or a mapping of selectors.
    #[must_use]
    pub fn with(mut self, kind: StackKind, arguments: impl Into<Value>) -> Self {
        let arguments = arguments.into();
        self.runs.push(vec![ExtPillar { name: kind.name().into(), kind: Some(kind), arguments, place: None }]);
        self
    }

    /// Let files lie below this directory, too. Those of the config files count anyway.
    #[must_use]
    pub fn with_directory(mut self, directory: impl AsRef<Path>) -> Self {
        self.directories.push(directory.as_ref().into());
        self
    }

    /// Go on after an external pillar that fails, as a master does: its error goes to the list
    /// `_errors` of the pillar, which keeps a minion from applying states.
    #[must_use]
    pub fn keep_going(mut self, keep_going: bool) -> Self {
        self.keep_going = keep_going;
        self
    }

    /// Take exactly these as the `__opts__` of templates, for every minion.
    #[must_use]
    pub fn with_opts(mut self, opts: Map) -> Self {
        self.exact_options = Some(opts);
        self
    }

    /// The master's option `pillarenv`, if it is set.
    #[must_use]
    pub fn pillarenv(&self) -> Option<&str> {
        self.options.get("pillarenv").and_then(Value::as_str).filter(|name| !name.is_empty())
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    pub(super) fn warnings(&self) -> &[Diagnostic] {
        &self.warnings
    }

    /// The master's options as they are for one minion: built-in ones, the master's, the minion's,
    /// and its id and grains. The option `id` is the master's own.
    pub(super) fn opts(&self, minion: &Minion) -> Map {
        if let Some(exact) = &self.exact_options {
            return exact.clone();
        }
        let mut opts = builtin::options().clone();
        opts.insert("id", "master");
        for own in [&self.options, &minion.opts] {
            opts.extend(own.iter().map(|(key, value)| (key.clone(), value.clone())));
        }
        opts.insert("minion_id", minion.id());
        opts.insert("grains", minion.grains.clone());
        opts
    }
}

/// A configuration as it was read.
struct Document {
    file: String,
    source: Arc<str>,
    value: Value,
    marks: Marks,
}

impl Document {
    fn read(file: &File) -> Result<Self> {
        let text = file.text()?;
        let source: Arc<str> = text.into();
        let place = |mark: Option<Mark>| {
            let start = offset(text, mark?);
            Some(Place { file: file.shown.clone(), source: source.clone(), start, end: start })
        };
        let loaded = mapstack_yaml::load_marked(text, &Limits::default());
        let (value, marks) =
            loaded.map_err(|e| Error::new(ErrorKind::Yaml, e.kind().to_string()).at(place(e.mark())))?;
        Ok(Document { file: file.shown.clone(), source, value, marks })
    }

    fn place(&self, mark: Option<Mark>) -> Option<Place> {
        let start = offset(&self.source, mark?);
        Some(Place { file: self.file.clone(), source: self.source.clone(), start, end: start })
    }

    fn error(&self, message: impl Into<String>, mark: Option<Mark>) -> Error {
        Error::new(ErrorKind::Options, message).at(self.place(mark))
    }

    /// The items of `ext_pillar`, which is the `index`-th entry.
    fn runs(&self, index: usize, listed: &Value) -> Result<Vec<Vec<ExtPillar>>> {
        let marks = self.marks.child(index);
        let Value::List(items) = listed else {
            let message = format!("`ext_pillar` must be a list, not {}", listed.kind().described());
            return Err(self
                .error(message, marks.map(Marks::mark))
                .help("write `- stack: /path/to/stack.cfg` below it"));
        };
        let rows = items.iter().enumerate().map(|(i, item)| {
            let marks = marks.and_then(|marks| marks.child(i));
            match item {
                Value::Map(entries) if !entries.is_empty() => Ok(self.run(entries, marks)),
                other => {
                    let message = format!("an item of `ext_pillar` must be a mapping, not {}", described_item(other));
                    let error = self.error(message, marks.map(Marks::mark));
                    Err(error.help("write it as `- stack: /path/to/stack.cfg`"))
                }
            }
        });
        rows.collect()
    }

    fn run(&self, entries: &Map, marks: Option<&Marks>) -> Vec<ExtPillar> {
        let entry = |(i, (key, arguments)): (usize, (&mapstack_value::Key, &Value))| ExtPillar {
            name: key.to_string(),
            kind: key.as_str().and_then(StackKind::parse),
            arguments: arguments.clone(),
            place: self.place(marks.and_then(|marks| marks.key(i))),
        };
        entries.iter().enumerate().map(entry).collect()
    }
}

fn described_item(item: &Value) -> &'static str {
    if item.as_map().is_some() { "an empty one" } else { item.kind().described() }
}
