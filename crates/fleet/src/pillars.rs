//! The pillars that one state of the files gives minions.

use mapstack::minion::Minion;
use mapstack::value::{Map, Value};
use mapstack::{Engine, Error, ErrorKind};
use mapstack_lineage::{Lineage, explain_pillar};
use mapstack_pillar::{Master, PillarReads, PillarRequest};

use crate::kinds::Kinds;
use crate::origins::Origins;

/// Compiles the pillars of minions from one state of the files.
///
/// ```
/// use std::sync::Arc;
/// use mapstack::{Engine, loader::MemoryFiles, minion::Minion};
/// use mapstack_fleet::Pillars;
/// use mapstack_pillar::Master;
/// use mapstack_salt_config::{Config, Kind};
///
/// let config = Config::parse(b"pillar_roots: {base: [/srv/pillar]}", "master", Kind::Master).unwrap();
/// let files = MemoryFiles::new().file("base", "top.sls", "base: {'*': [a]}").file("base", "a.sls", "a: 1");
/// let engine = Engine::new(MemoryFiles::new());
/// let pillars = Pillars::new(Master::new(config, Arc::new(files)), &engine);
/// let pillar = pillars.pillar(&Minion::new("web1").complete());
/// assert_eq!(pillar.data.unwrap().get("a").unwrap().to_string(), "1");
/// ```
pub struct Pillars<'e> {
    master: Master,
    engine: &'e Engine,
    changes: Vec<(String, Value)>,
    kinds: Kinds,
}

/// A minion's pillar in one state of the files.
#[derive(Debug, Clone)]
pub struct Pillar {
    /// The pillar as far as there is one, without `_errors`.
    pub data: Option<Map>,
    /// Its errors.
    pub errors: Vec<Error>,
    /// The files that it is made of.
    pub reads: PillarReads,
    /// Equal for pillars of one state that are made of the same files.
    pub(crate) kind: u64,
}

impl<'e> Pillars<'e> {
    /// The pillars that a master compiles; functions of templates are the engine's.
    #[must_use]
    pub fn new(master: Master, engine: &'e Engine) -> Self {
        Pillars {
            master,
            engine,
            changes: Vec::new(),
            kinds: Kinds::default(),
        }
    }

    /// Change values of every pillar that is compiled: paths as [`Minion::set`] takes them.
    #[must_use]
    pub fn with_changes(mut self, changes: Vec<(String, Value)>) -> Self {
        self.changes = changes;
        self
    }

    /// The pillar of a minion. One that the minion was given with stays.
    pub fn pillar(&self, minion: &Minion) -> Pillar {
        if !minion.pillar.is_empty() {
            return Pillar {
                data: Some(minion.pillar.clone()),
                errors: Vec::new(),
                reads: PillarReads::default(),
                kind: 0,
            };
        }
        let (compiled, reads) =
            self.master
                .compile_noting(self.engine, minion, &PillarRequest::of(minion));
        let kind = self.kinds.of(reads.pillar.iter().chain(&reads.stacked));
        match compiled {
            Ok(whole) => {
                let mut errors = whole.failures();
                let mut data = whole.data;
                if !errors.is_empty() {
                    data.shift_remove("_errors");
                }
                let data = self.changed(minion, data).unwrap_or_else(|(data, error)| {
                    errors.push(error);
                    data
                });
                Pillar {
                    data: Some(data),
                    errors,
                    reads,
                    kind,
                }
            }
            Err(error) => Pillar {
                data: None,
                errors: vec![error],
                reads,
                kind,
            },
        }
    }

    /// The origins of the values of a minion's pillar; `None` for a pillar that it was given with.
    #[must_use]
    pub fn origins(&self, minion: &Minion) -> Option<Origins> {
        let (data, lineage) = self.lineage(minion).filter(|_| minion.pillar.is_empty())?;
        Some(Origins::of_pillar(data, lineage))
    }

    /// The pillar that is compiled for a minion, whatever pillar it has, with its lineage.
    pub(crate) fn lineage(&self, minion: &Minion) -> Option<(Value, Lineage)> {
        let bare = Minion {
            pillar: Map::new(),
            ..minion.clone()
        };
        let whole = self
            .master
            .explain(self.engine, &bare, &PillarRequest::of(&bare));
        let whole = whole.ok()?;
        let lineage = explain_pillar(&whole, &bare, self.engine.policy())?;
        Some((whole.data.into(), lineage))
    }

    /// A pillar with the changes that are requested.
    fn changed(&self, minion: &Minion, data: Map) -> Result<Map, (Map, Error)> {
        if self.changes.is_empty() {
            return Ok(data);
        }
        let mut with = Minion {
            pillar: data,
            ..minion.clone()
        };
        for (path, value) in &self.changes {
            if let Err(e) = with.set(path, value.clone()) {
                return Err((with.pillar, Error::new(ErrorKind::Facts, e.to_string())));
            }
        }
        Ok(with.pillar)
    }
}

impl Pillar {
    /// True if the minion would apply states with it.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.errors.is_empty()
    }

    /// A minion with this pillar.
    #[must_use]
    pub fn of(&self, minion: &Minion) -> Minion {
        Minion {
            pillar: self.data.clone().unwrap_or_default(),
            ..minion.clone()
        }
    }
}
