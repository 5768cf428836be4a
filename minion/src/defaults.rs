//! What Salt has without any configuration.
//!
//! `data/options.json` is what `salt.config.minion_config(None)` returns in Salt 3008, less id,
//! grains and pillar; `data/module_defaults.json` is what `config.get` falls back to
//! (`salt.modules.config.DEFAULTS`). `cargo xtask reference` records both again.

use std::sync::LazyLock;

use mapstack_value::{Map, Value, json};

static OPTIONS: LazyLock<Map> = LazyLock::new(|| parse(include_str!("../data/options.json")));
static MODULE_DEFAULTS: LazyLock<Map> = LazyLock::new(|| parse(include_str!("../data/module_defaults.json")));

pub(crate) fn minion_options() -> &'static Map {
    &OPTIONS
}

pub(crate) fn module_defaults() -> &'static Map {
    &MODULE_DEFAULTS
}

/// Both files are part of the crate and are checked by a test.
fn parse(text: &str) -> Map {
    match json::loads(text) {
        Ok(Value::Map(map)) => map,
        _ => Map::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_recorded_files_are_read() {
        assert!(minion_options().len() > 300);
        assert_eq!(minion_options().get("master"), Some(&Value::from("salt")));
        assert_eq!(module_defaults().get("test.foo"), Some(&Value::from("unconfigured")));
    }
}
