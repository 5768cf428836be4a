//! Groups of minions that people gave names: nodegroups, and the targets of top files.

use mapstack::Engine;
use mapstack::minion::Minion;
use mapstack::value::{Key, Map, Value};

use crate::census::Grouping;

/// Named groups that describe sets of minions.
///
/// ```
/// use mapstack::{Engine, loader::MemoryFiles, minion::Minion, value::Map};
/// use mapstack_fleet::NamedGroups;
/// let groups = NamedGroups::new(&Map::from_iter([("lb", "lb* or N@old"), ("old", "L@x")]), [("web*".into(), None)]);
/// let engine = Engine::new(MemoryFiles::new());
/// let of = |id: &str| groups.of(&engine, &Minion::new(id).complete());
/// assert_eq!(of("lb1"), [Some(true), Some(false), Some(false)]);
/// assert_eq!(of("x"), [Some(true), Some(true), Some(false)]);
/// assert_eq!(of("web1"), [Some(false), Some(false), Some(true)]);
/// ```
#[derive(Debug, Clone, Default)]
pub struct NamedGroups {
    nodegroups: Map,
    targets: Vec<(Key, Option<Value>)>,
}

/// The largest number of groups; the first ones count.
const MAX_GROUPS: usize = 100;

impl NamedGroups {
    /// Groups of the option `nodegroups` and of targets of top files, each with its value of `match`. The target `*` is
    /// left out, as it describes all minions.
    #[must_use]
    pub fn new(nodegroups: &Map, targets: impl IntoIterator<Item = (Key, Option<Value>)>) -> Self {
        let nodegroups: Map = nodegroups
            .iter()
            .take(MAX_GROUPS)
            .map(|(name, target)| (name.clone(), target.clone()))
            .collect();
        let left = MAX_GROUPS - nodegroups.len();
        let is_all = |target: &Key| target.as_str() == Some("*");
        let mut known: Vec<(Key, Option<Value>)> = Vec::new();
        for target in targets {
            if known.len() < left && !is_all(&target.0) && !known.contains(&target) {
                known.push(target);
            }
        }
        NamedGroups {
            nodegroups,
            targets: known,
        }
    }

    /// The names of all groups.
    pub(crate) fn names(&self) -> Vec<Grouping> {
        let nodegroups = self.nodegroups.keys();
        let nodegroups = nodegroups.map(|name| Grouping::Nodegroup(name.to_string()));
        let targets = self.targets.iter();
        let targets = targets.map(|(target, _)| Grouping::Target(target.to_string()));
        nodegroups.chain(targets).collect()
    }

    /// Membership of a minion in each group; `None` if the group depends on the pillar or cannot be evaluated.
    #[must_use]
    pub fn of(&self, engine: &Engine, minion: &Minion) -> Vec<Option<bool>> {
        if self.nodegroups.is_empty() && self.targets.is_empty() {
            return Vec::new();
        }
        let mut minion = minion.clone();
        let nodegroups = Value::Map(self.nodegroups.clone());
        minion.opts.insert("nodegroups", nodegroups);
        let id = minion.id().to_string();
        let run = engine.run(&minion);
        let any_by_pillar = self
            .nodegroups
            .values()
            .any(|target| by_pillar(&target.repr()));
        let is_known = |text: &str| {
            !(by_pillar(text) || any_by_pillar && (text.contains("N@") || text == "nodegroup"))
        };
        let mut all = Vec::new();
        for target in self.nodegroups.values() {
            let asked = is_known(&target.repr()).then(|| run.is_in_group(&id, target).ok());
            all.push(asked.flatten());
        }
        run.with_targets(&id, |confirm| {
            for (target, matcher) in &self.targets {
                let by = matcher.as_ref().and_then(Value::as_str).unwrap_or_default();
                let is_known =
                    is_known(&target.to_string()) && is_known(by) && !by.starts_with("pillar");
                let asked = is_known.then(|| confirm(target, matcher.as_ref()).ok());
                all.push(asked.flatten());
            }
        });
        all
    }
}

/// True if a target depends on the pillar, which differs between the two states of a diff.
fn by_pillar(target: &str) -> bool {
    target.contains("I@") || target.contains("J@")
}
