//! One minion: its grains, pillar and options, and Salt's look-ups over them.
//!
//! ```
//! use mapstack_minion::{ConfigGet, Minion};
//! use mapstack_value::Value;
//!
//! let minion = Minion::parse(b"id: web1\ngrains: {os: Debian}\npillar: {openssh: {port: 22}}\n", "web1.yaml").unwrap();
//! assert_eq!(minion.grains_get(&"os".into(), ":").unwrap(), Some(Value::from("Debian")));
//! let port = minion.config_get(&"openssh:port".into(), &ConfigGet::default()).unwrap();
//! assert_eq!(port.value, Some(Value::from(22)));
//! ```
//!
//! The crate does not know about file servers or templates.

mod config;
mod defaults;
mod document;
mod lookup;

use std::sync::OnceLock;

use mapstack_value::{Map, Str, Value};

pub use config::{ConfigGet, Got};
pub use document::{MinionError, Part, SetError};
pub use lookup::{LookupError, PillarGet};

/// What is known about one minion.
#[derive(Debug, Clone, Default)]
pub struct Minion {
    id: Option<Str>,
    grains: Map,
    pillar: Map,
    opts: Map,
    /// Everything `opts` holds in a template; made when first asked for.
    options: OnceLock<Map>,
}

impl Minion {
    /// A minion with nothing but an id.
    #[must_use]
    pub fn new(id: &str) -> Self {
        Minion { id: Some(id.into()), ..Minion::default() }.complete()
    }

    /// The id; `minion` if nobody said.
    #[must_use]
    pub fn id(&self) -> Str {
        match (&self.id, self.grains.get("id")) {
            (Some(id), _) => id.clone(),
            (None, Some(id)) => id.to_string().into(),
            (None, None) => "minion".into(),
        }
    }

    /// Its grains.
    #[must_use]
    pub fn grains(&self) -> &Map {
        &self.grains
    }

    /// Its pillar.
    #[must_use]
    pub fn pillar(&self) -> &Map {
        &self.pillar
    }

    /// The options it was given, without Salt's defaults.
    #[must_use]
    pub fn opts(&self) -> &Map {
        &self.opts
    }

    /// Everything `opts` holds in a template: Salt's built-in minion options, those given, and the
    /// minion's id, grains and pillar.
    pub fn options(&self) -> &Map {
        self.options.get_or_init(|| {
            let mut options = defaults::minion_options().clone();
            options.extend(self.opts.iter().map(|(k, v)| (k.clone(), v.clone())));
            options.insert("id", self.id());
            options.insert("grains", self.grains.clone());
            options.insert("pillar", self.pillar.clone());
            options
        })
    }

    /// Replace the grains.
    pub fn set_grains(&mut self, grains: Map) {
        self.grains = grains;
        self.options = OnceLock::new();
    }

    /// Replace the pillar.
    pub fn set_pillar(&mut self, pillar: Map) {
        self.pillar = pillar;
        self.options = OnceLock::new();
    }

    /// Replace the options.
    pub fn set_opts(&mut self, opts: Map) {
        self.opts = opts;
        self.options = OnceLock::new();
    }

    /// Give another id; the `id` grain follows it.
    pub fn set_id(&mut self, id: &str) {
        self.id = Some(id.into());
        self.grains.insert("id", id);
        self.options = OnceLock::new();
    }

    /// Fill in what follows from the rest: the id grain.
    #[must_use]
    pub fn complete(mut self) -> Self {
        let id = self.id();
        if !self.grains.contains_key("id") {
            self.grains.insert("id", Value::Str(id.clone()));
        }
        self.id = Some(id);
        self.options = OnceLock::new();
        self
    }
}
