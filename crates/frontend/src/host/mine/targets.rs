//! The minions of a cache that a target matches (Salt: `CkMinions.check_minions`).

use std::sync::OnceLock;

use indexmap::IndexMap;
use mapstack::loader::Backends;
use mapstack::minion::Minion;
use mapstack::minion::cache::Cache;
use mapstack::value::{Key, Value};
use mapstack::{CallError, Engine};

use crate::host::mine::unreadable;

/// The minions of a cache, read once.
pub(crate) struct Targets {
    engine: Engine,
    minions: OnceLock<IndexMap<String, Minion>>,
}

impl Default for Targets {
    fn default() -> Self {
        Targets {
            engine: Engine::new(Backends::default()),
            minions: OnceLock::new(),
        }
    }
}

/// The kinds of targets that grains, a pillar and an id suffice for, with the matcher's name.
const KINDS: [(&str, &str); 10] = [
    ("glob", "glob"),
    ("pcre", "pcre"),
    ("list", "list"),
    ("grain", "grain"),
    ("grain_pcre", "grain_pcre"),
    ("ipcidr", "ipcidr"),
    ("pillar_exact", "pillar_exact"),
    ("pillar_pcre", "pillar_pcre"),
    ("compound", "compound"),
    ("compound_pillar_exact", "compound"),
];

impl Targets {
    /// The ids of the minions that a target means, sorted.
    pub fn ids<'t>(
        &'t self,
        cache: &Cache,
        target: &Value,
        kind: &str,
    ) -> Result<Vec<&'t str>, CallError> {
        let target = MineTarget::of(target, kind)?;
        let mut ids = Vec::new();
        for (id, minion) in self.minions(cache)? {
            if target.means(&self.engine, id, minion)? {
                ids.push(id.as_str());
            }
        }
        Ok(ids)
    }

    /// True if a target means one minion of the cache. Without a minion it does not.
    pub fn mean(
        &self,
        cache: &Cache,
        target: &Value,
        kind: &str,
        id: Option<&str>,
    ) -> Result<bool, CallError> {
        let target = MineTarget::of(target, kind)?;
        let minions = self.minions(cache)?;
        match id.and_then(|id| minions.get_key_value(id)) {
            None => Ok(false),
            Some((id, minion)) => target.means(&self.engine, id, minion),
        }
    }

    fn minions(&self, cache: &Cache) -> Result<&IndexMap<String, Minion>, CallError> {
        if let Some(known) = self.minions.get() {
            return Ok(known);
        }
        let read = |(id, minion): (String, Result<Minion, _>)| match minion {
            Ok(minion) => Ok((id, minion)),
            Err(error) => Err(unreadable(&error)),
        };
        let minions: Result<IndexMap<_, _>, _> = cache
            .minions()
            .map_err(|e| unreadable(&e))?
            .map(read)
            .collect();
        let minions = minions?;
        Ok(self.minions.get_or_init(|| minions))
    }
}

/// A target that can be followed, with the name of its matcher.
struct MineTarget(Key, Value);

impl MineTarget {
    fn of(target: &Value, kind: &str) -> Result<Self, CallError> {
        let known = KINDS.iter().find(|(name, _)| *name == kind);
        let Some((_, matcher)) = known else {
            let message = format!("mine.get cannot follow targets of the type '{kind}' here");
            let names = KINDS.map(|(name, _)| name).join(", ");
            return Err(CallError::new(message).with_help(format!("it can follow {names}")));
        };
        let text = match target {
            Value::List(ids) => {
                let ids: Vec<String> = ids.iter().map(ToString::to_string).collect();
                ids.join(",")
            }
            other => other.to_string(),
        };
        if *matcher == "compound" {
            followed(&text)?;
        }
        Ok(MineTarget(text.into(), (*matcher).into()))
    }

    fn means(&self, engine: &Engine, id: &str, minion: &Minion) -> Result<bool, CallError> {
        let run = engine.run(minion);
        let is_match = run.with_targets(id, |is_match| is_match(&self.0, Some(&self.1)));
        is_match.map_err(|e| CallError::new(e.to_string()))
    }
}

/// Words of compound targets that need more than a cache: nodegroups are options, and the mine compares pillars exactly.
fn followed(target: &str) -> Result<(), CallError> {
    let is_other = |word: &&str| {
        let mut letters = word.chars();
        let engine = letters.next();
        let at = match letters.next() {
            Some('@') => true,
            _ => letters.next() == Some('@'),
        };
        at && matches!(engine, Some('N' | 'I' | 'J' | 'R' | 'T' | 'M'))
    };
    match target.split_whitespace().find(is_other) {
        None => Ok(()),
        Some(word) => {
            let message = format!("mine.get cannot follow '{word}' in a compound target here");
            Err(CallError::new(message)
                .with_help("nodegroups, pillars and resources are not looked at"))
        }
    }
}
