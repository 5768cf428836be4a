//! The options of a minion without any configuration, as recorded from Salt by `data/record_options.py`.

use std::sync::LazyLock;

use mapstack_value::{Map, Value, json};

struct RecordedMinion {
    salt: Value,
    options: Map,
    defaults: Map,
}

static RECORDED: LazyLock<RecordedMinion> = LazyLock::new(|| {
    // The text is part of the program and a test reads it, so that nothing is lost by defaults.
    let record = json::loads(include_str!("../data/builtin.json")).unwrap_or_default();
    let part = |name: &str| {
        record
            .as_map()
            .and_then(|map| map.get(name))
            .cloned()
            .unwrap_or_default()
    };
    let mapping = |name: &str| part(name).as_map().cloned().unwrap_or_default();
    RecordedMinion {
        salt: part("salt"),
        options: mapping("options"),
        defaults: mapping("defaults"),
    }
});

/// The options of a masterless minion without file roots; `id`, `grains` and `pillar` are left out.
///
/// ```
/// use mapstack_minion::builtin;
/// assert_eq!(builtin::options().get("pillar_merge_lists").unwrap().repr(), "False");
/// ```
#[must_use]
pub fn options() -> &'static Map {
    &RECORDED.options
}

/// The values `config.get` falls back on, such as `redis.port`.
///
/// ```
/// use mapstack_minion::builtin;
/// assert_eq!(builtin::defaults().get("redis.port").unwrap().repr(), "6379");
/// ```
#[must_use]
pub fn defaults() -> &'static Map {
    &RECORDED.defaults
}

/// The version of Salt the values were recorded from.
#[must_use]
pub fn salt_version() -> &'static str {
    RECORDED.salt.as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_record_is_whole() {
        assert!(salt_version().starts_with("3008."), "{}", salt_version());
        assert!(options().len() > 300 && defaults().len() > 30);
        for of_the_minion in ["id", "grains", "pillar"] {
            assert!(!options().contains_key(of_the_minion));
        }
    }
}
