//! The places of what `config.get` finds.

use mapstack_merge::{Options, merge};
use mapstack_minion::{ConfigGet, Minion};
use mapstack_value::{Key, Value};

use crate::flow::merged;
use crate::tree::{At, Claim, Node};

/// The position of what `config.get` finds under a path. Where it merges, each part has the place that wins.
pub(crate) fn in_config(minion: &Minion, path: &[Key], query: &ConfigGet) -> At {
    let Some(strategy) = query.strategy() else {
        let (part, path) = minion.config_place(path, query);
        return At::Fact(part, path);
    };
    let options = Options {
        strategy,
        merge_lists: false,
    };
    let mut all: Option<(Value, Node)> = None;
    for place in minion.config_places(path) {
        let over = Node::whole(Claim {
            layer: 0,
            value: place.value.clone(),
            at: At::Fact(place.part, place.path),
        });
        all = match all {
            None => Some((place.value, over)),
            Some((value, node)) => {
                let node = merged(&value, node, &place.value, &over, &options);
                merge(value, &place.value, &options)
                    .ok()
                    .map(|value| (value, node))
            }
        };
    }
    // Above the path, a place can have something else than a mapping, which replaces what others have there.
    let found = minion.config_get(path.iter().map(Key::to_value).collect::<Value>(), query);
    let found = found.ok().and_then(|answer| answer.value);
    match (all, found) {
        (Some((value, node)), Some(found)) if value.is_same(&found) => node.merged(),
        _ => At::Somewhere(Box::new(At::Fact(None, path.to_vec()))),
    }
}
