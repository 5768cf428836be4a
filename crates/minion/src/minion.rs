//! The facts themselves.

use std::fmt;

use mapstack_value::{Key, Map, MapKind, Str, Value};

use crate::sources::Sources;

/// One minion's facts.
///
/// The fields are what was given. [`complete`](Minion::complete) adds what Salt adds before
/// anything is looked up.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Minion {
    /// The minion's name; text as a rule. Anything false, such as `None`, is not an id.
    pub id: Value,
    /// The grains.
    pub grains: Map,
    /// Data from its master for this minion only.
    pub pillar: Map,
    /// Its configuration, without what Salt has [built in](crate::builtin::options).
    pub opts: Map,
    /// The sources of its facts.
    pub sources: Sources,
}

/// The mappings a [`Minion`] is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Part {
    /// Grains.
    Grains,
    /// The pillar.
    Pillar,
    /// Options.
    Opts,
}

impl Part {
    /// The name of the part in documents and paths.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Part::Grains => "grains",
            Part::Pillar => "pillar",
            Part::Opts => "opts",
        }
    }

    pub(crate) fn parse(name: &str) -> Option<Self> {
        [Part::Grains, Part::Pillar, Part::Opts]
            .into_iter()
            .find(|part| part.name() == name)
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The id of a minion that has none.
const DEFAULT_ID: &str = "minion";

impl Minion {
    /// A minion with a name and nothing else.
    ///
    /// ```
    /// use mapstack_minion::{Minion, Part};
    /// use mapstack_value::Map;
    /// let grains: Map = [("os", "Debian")].into_iter().collect();
    /// let minion = Minion::new("web1").with(Part::Grains, grains).complete();
    /// assert_eq!(minion.grains_get("id", ":").unwrap().unwrap().as_str(), Some("web1"));
    /// ```
    #[must_use]
    pub fn new(id: impl Into<Value>) -> Self {
        Minion {
            id: id.into(),
            ..Minion::default()
        }
    }

    /// The minion with a part replaced.
    #[must_use]
    pub fn with(mut self, part: Part, facts: Map) -> Self {
        *self.part_mut(part) = facts;
        self
    }

    /// A part.
    #[must_use]
    pub fn part(&self, part: Part) -> &Map {
        match part {
            Part::Grains => &self.grains,
            Part::Pillar => &self.pillar,
            Part::Opts => &self.opts,
        }
    }

    /// A part, to be changed.
    pub fn part_mut(&mut self, part: Part) -> &mut Map {
        match part {
            Part::Grains => &mut self.grains,
            Part::Pillar => &mut self.pillar,
            Part::Opts => &mut self.opts,
        }
    }

    /// Give the minion a name.
    pub fn set_id(&mut self, id: impl Into<Value>) {
        self.id = id.into();
    }

    /// True if the minion's own options say that it compiles its pillar itself (Salt: `salt.pillar.get_pillar`).
    ///
    /// ```
    /// use mapstack_minion::Minion;
    /// let minion = |options: &str| Minion::parse(format!("opts: {options}").as_bytes(), "minion").unwrap();
    /// assert!(minion("{file_client: local}").is_masterless());
    /// assert!(minion("{master_type: disable}").is_masterless());
    /// assert!(!minion("{file_client: local, use_master_when_local: true}").is_masterless());
    /// assert!(!minion("{}").is_masterless());
    /// ```
    #[must_use]
    pub fn is_masterless(&self) -> bool {
        let option = |name: &str| self.opts.get(name);
        let is = |name: &str, value: &str| option(name).and_then(Value::as_str) == Some(value);
        match option("file_client").and_then(Value::as_str) {
            Some("local") => !option("use_master_when_local").is_some_and(Value::truthy),
            Some("remote") | None => is("master_type", "disable"),
            Some(_) => false,
        }
    }

    /// True if modules of the tree were asked for grains.
    #[must_use]
    pub fn has_tree_grains(&self) -> bool {
        self.sources.has_asked_tree()
    }

    /// The minion with all its grains, and the files that computed some of them.
    #[must_use]
    pub fn with_tree_grains(mut self, grains: Map, computed: Vec<(Key, Str)>) -> Self {
        self.grains = grains;
        self.sources.of_tree(computed);
        self
    }

    /// The minion's name: what was given, else the grain `id`, else `minion`.
    #[must_use]
    pub fn id(&self) -> Value {
        let given = Some(&self.id).filter(|id| id.truthy());
        let grain = || self.grains.get("id").filter(|id| id.truthy());
        given
            .or_else(grain)
            .cloned()
            .unwrap_or_else(|| DEFAULT_ID.into())
    }

    /// The minion with its [name](Minion::id) settled, and a grain `id` of that name unless it has
    /// one.
    ///
    /// A minion [without a master](Minion::is_masterless) has compiled its pillar itself: what Salt's YAML renderer
    /// made, `OrderedDict`s, is in it. From a master come plain dicts.
    #[must_use]
    pub fn complete(mut self) -> Self {
        if self.is_masterless() {
            let rendered = self
                .pillar
                .iter()
                .map(|(key, value)| (key.clone(), value.with_map_kind(MapKind::Ordered)));
            self.pillar = rendered.collect();
        }
        self.id = self.id();
        if !self.grains.contains_key("id") {
            self.grains.insert("id", self.id.clone());
        }
        self
    }
}
