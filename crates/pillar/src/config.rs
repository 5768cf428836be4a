//! The external pillars: a master's `ext_pillar`, or those that a caller names.

use std::path::{Path, PathBuf};

use mapstack_minion::Minion;
use mapstack_value::{Key, Map, Value};
use mapstack_yaml::Marks;

use mapstack_diagnostic::{Diagnostic, Error, ErrorKind, Place, Result};
use mapstack_salt_config::{Config, Kind, OptionPlace};

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

    /// The name for people.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            StackKind::PillarStack => "PillarStack",
            StackKind::MakoStack => "MakoStack",
        }
    }

    fn parse(name: &str) -> Option<Self> {
        [StackKind::PillarStack, StackKind::MakoStack]
            .into_iter()
            .find(|kind| kind.name() == name)
    }
}

/// External pillars of Salt and of its known extensions that are not made here.
pub(crate) const SALTS_OWN: [&str; 34] = [
    "cobbler",
    "confidant",
    "consul",
    "csvpillar",
    "django_orm",
    "ec2_pillar",
    "etcd_pillar",
    "foreman",
    "git",
    "git_pillar",
    "hg_pillar",
    "hiera",
    "http_json",
    "http_yaml",
    "libvirt",
    "mongo",
    "mysql",
    "netbox",
    "neutron",
    "nsot",
    "pepa",
    "pillar_ldap",
    "postgres",
    "puppet",
    "redismod",
    "rethinkdb_pillar",
    "s3",
    "sql_base",
    "sqlcipher",
    "sqlite3",
    "svn_pillar",
    "varstack_pillar",
    "vault",
    "vmware_pillar",
];

/// One external pillar and its arguments.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ExtPillar {
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
    pub(crate) runs: Vec<Vec<ExtPillar>>,
    options: Map,
    exact_options: Option<Map>,
    pub(crate) directories: Vec<PathBuf>,
    pub(crate) keep_going: bool,
    warnings: Vec<Diagnostic>,
}

impl ExtPillars {
    /// None at all.
    #[must_use]
    pub fn new() -> Self {
        ExtPillars::default()
    }

    /// Those of the text of a master's configuration file, without what it includes. `name` is what
    /// errors call it.
    ///
    /// ```
    /// use mapstack_pillar::ExtPillars;
    /// let config = b"ext_pillar:\n  - stack: /srv/stack/stack.cfg\n";
    /// assert!(!ExtPillars::from_master_config(config, "master").unwrap().is_empty());
    /// let error = ExtPillars::from_master_config(b"ext_pillar: {stack: a.cfg}\n", "master").unwrap_err();
    /// assert!(error.to_string().starts_with("master:1:13: `ext_pillar` must be a list, not a mapping"));
    /// ```
    ///
    /// # Errors
    /// As [`Config::parse`] and [`from_config`](Self::from_config).
    pub fn from_master_config(bytes: &[u8], name: &str) -> Result<Self> {
        let config = Config::parse(bytes, name, Kind::Master)?;
        let warnings = config.warnings().to_vec();
        Ok(ExtPillars {
            warnings,
            ..ExtPillars::from_config(&config)?
        })
    }

    /// Those of a configuration, a master's or a masterless minion's. Its
    /// [warnings](Config::warnings) stay with it.
    ///
    /// External pillars of other kinds are left out with a warning when their turn comes.
    ///
    /// ```
    /// use mapstack_salt_config::{Config, Kind};
    /// use mapstack_pillar::ExtPillars;
    /// let config = Config::parse(b"ext_pillar: [{stack: a.cfg}]\n", "master", Kind::Master).unwrap();
    /// assert!(!ExtPillars::from_config(&config).unwrap().is_empty());
    /// ```
    ///
    /// # Errors
    /// `ext_pillar` is not a list of mappings.
    pub fn from_config(config: &Config) -> Result<Self> {
        let runs = ExtPillarPlaces(config.settings("ext_pillar")).runs(config.get("ext_pillar"))?;
        Ok(ExtPillars {
            runs,
            options: config.options().clone(),
            ..ExtPillars::default()
        })
    }

    /// Add an external pillar with a list of config files, whose data is stacked.
    #[must_use]
    pub fn with_stack<S: Into<String>>(
        self,
        kind: StackKind,
        configs: impl IntoIterator<Item = S>,
    ) -> Self {
        let configs: Value = configs
            .into_iter()
            .map(|config| Value::from(config.into()))
            .collect();
        self.with(kind, configs)
    }

    /// Add an external pillar with its arguments as `ext_pillar` has them: a config file, a
    /// list of them, or a mapping of selectors.
    #[must_use]
    pub fn with(self, kind: StackKind, arguments: impl Into<Value>) -> Self {
        self.with_named(kind.name(), arguments)
    }

    /// Add an external pillar of any kind by its name in `ext_pillar`, with its arguments.
    ///
    /// ```
    /// use mapstack::{Engine, loader::MemoryFiles, minion::Minion, value::Value};
    /// use mapstack_pillar::{Compiler, ExtPillars};
    /// let compiler = Compiler::new(ExtPillars::new().with_named("nodegroups", Value::map()));
    /// let minion = Minion::new("web1").complete();
    /// let engine = Engine::new(MemoryFiles::new());
    /// let compiled = compiler.run(&engine, &minion).compile().unwrap();
    /// assert_eq!(Value::from(compiled.external).repr(), "{'nodegroups': []}");
    /// ```
    #[must_use]
    pub fn with_named(mut self, name: &str, arguments: impl Into<Value>) -> Self {
        self.runs.push(vec![ExtPillar {
            name: name.into(),
            kind: StackKind::parse(name),
            arguments: arguments.into(),
            place: None,
        }]);
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
        self.options
            .get("pillarenv")
            .and_then(Value::as_str)
            .filter(|name| !name.is_empty())
    }

    /// True if the list is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    pub(crate) fn warnings(&self) -> &[Diagnostic] {
        &self.warnings
    }

    /// The master's options as they are for one minion: the master's, the minion's own, and its id
    /// and grains. The option `id` is the master's.
    pub(crate) fn opts(&self, minion: &Minion) -> Map {
        if let Some(exact) = &self.exact_options {
            return exact.clone();
        }
        let mut opts = if self.options.is_empty() {
            Config::builtin_master().clone()
        } else {
            self.options.clone()
        };
        opts.extend(
            minion
                .opts
                .iter()
                .map(|(key, value)| (key.clone(), value.clone())),
        );
        opts.insert("minion_id", minion.id());
        opts.insert("grains", minion.grains.clone());
        opts
    }
}

/// The places where `ext_pillar` is set; lists of several files are one.
pub(crate) struct ExtPillarPlaces<'c>(pub &'c [OptionPlace]);

impl ExtPillarPlaces<'_> {
    /// Find the setting of an item, with the marks of everything in it.
    pub(crate) fn find(&self, item: &Value) -> Option<(&OptionPlace, &Marks)> {
        self.0.iter().find_map(|setting| {
            let at = setting
                .value
                .as_list()?
                .iter()
                .position(|one| one == item)?;
            Some((setting, setting.marks.child(at)?))
        })
    }

    fn runs(&self, listed: Option<&Value>) -> Result<Vec<Vec<ExtPillar>>> {
        let items = match listed {
            None => return Ok(Vec::new()),
            Some(Value::List(items)) => items,
            Some(other) => {
                let message = format!(
                    "`ext_pillar` must be a list, not {}",
                    other.kind().described()
                );
                let place = self
                    .0
                    .last()
                    .map(|setting| setting.place_of(setting.marks.mark()));
                return Err(
                    error(message, place).help("write `- stack: /path/to/stack.cfg` below it")
                );
            }
        };
        let rows = items.iter().map(|item| match item {
            Value::Map(entries) if !entries.is_empty() => Ok(self.run(item, entries)),
            other => {
                let message = format!(
                    "an item of `ext_pillar` must be a mapping, not {}",
                    described_item(other)
                );
                let place = self
                    .find(other)
                    .map(|(setting, marks)| setting.place_of(marks.mark()));
                Err(error(message, place).help("write it as `- stack: /path/to/stack.cfg`"))
            }
        });
        rows.collect()
    }

    pub(crate) fn run(&self, item: &Value, entries: &Map) -> Vec<ExtPillar> {
        let found = self.find(item);
        let entry = |(i, (key, arguments)): (usize, (&Key, &Value))| ExtPillar {
            name: key.to_string(),
            kind: key.as_str().and_then(StackKind::parse),
            arguments: arguments.clone(),
            place: found.and_then(|(setting, marks)| Some(setting.place_of(marks.key(i)?))),
        };
        entries.iter().enumerate().map(entry).collect()
    }
}

fn error(message: String, place: Option<Place>) -> Error {
    Error::new(ErrorKind::Options, message).at(place)
}

fn described_item(item: &Value) -> &'static str {
    if item.as_map().is_some() {
        "an empty one"
    } else {
        item.kind().described()
    }
}
