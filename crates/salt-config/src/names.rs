//! Options by their names: those that matter here, those that Salt knows, and slips.

use std::sync::LazyLock;

use mapstack_diagnostic::nearest;
use mapstack_value::{Key, Map, Value, json};

use super::Kind;

struct Recorded {
    master: Map,
    minion: Map,
    /// The options of proxies that differ from those of minions.
    of_proxies: Map,
    known: Vec<String>,
}

static RECORDED: LazyLock<Recorded> = LazyLock::new(|| {
    // The text is part of the program and a test reads it, so that nothing is lost by defaults.
    let record = json::loads(include_str!("../data/config_defaults.json")).unwrap_or_default();
    let part = |name: &str| {
        record
            .as_map()
            .and_then(|map| map.get(name))
            .cloned()
            .unwrap_or_default()
    };
    let options = |name: &str| part(name).as_map().cloned().unwrap_or_default();
    let known = part("known")
        .as_list()
        .unwrap_or_default()
        .iter()
        .map(ToString::to_string)
        .collect();
    Recorded {
        master: options("master"),
        minion: options("minion"),
        of_proxies: options("proxy"),
        known,
    }
});

static PROXY: LazyLock<Map> = LazyLock::new(|| {
    let mut options = RECORDED.minion.clone();
    let own = RECORDED.of_proxies.iter();
    options.extend(own.map(|(key, value)| (key.clone(), value.clone())));
    options
});

/// The options before any file is read.
pub(super) fn defaults(kind: Kind) -> &'static Map {
    match kind {
        Kind::Master => &RECORDED.master,
        Kind::Minion => &RECORDED.minion,
        Kind::Proxy => &PROXY,
    }
}

/// Options that count here and have no default.
const USED_WITHOUT_DEFAULT: [&str; 6] = [
    "append_domain",
    "exclude_ext_pillar",
    "ext_pillar_first",
    "grains",
    "id",
    "include",
];

/// The beginnings of the names of options that are used here.
const USED: [&str; 19] = [
    "cachedir",
    "default_include",
    "default_top",
    "env_order",
    "ext_pillar",
    "file_client",
    "file_ignore_",
    "file_roots",
    "fileserver_",
    "gitfs_",
    "jinja_",
    "master_tops",
    "nodegroups",
    "pillar",
    "renderer",
    "root_dir",
    "saltenv",
    "state_top",
    "top_file_merging_strategy",
];

/// The option that a name which Salt does not know was probably meant to be, if that one counts
/// here. Options that people define themselves are left alone.
pub(super) fn meant(name: &str) -> Option<&'static str> {
    let recorded = &*RECORDED;
    let known = |name: &str| {
        recorded.master.contains_key(name)
            || recorded.minion.contains_key(name)
            || recorded.of_proxies.contains_key(name)
            || recorded
                .known
                .binary_search_by(|known| known.as_str().cmp(name))
                .is_ok()
            || USED_WITHOUT_DEFAULT.contains(&name)
    };
    if known(name) || name.len() < 5 {
        return None;
    }
    let counts = |name: &&str| USED.iter().any(|used| name.starts_with(used));
    let defaults = [&recorded.master, &recorded.minion, &recorded.of_proxies]
        .into_iter()
        .flat_map(Map::keys);
    let named = recorded
        .known
        .iter()
        .map(String::as_str)
        .chain(defaults.filter_map(Key::as_str))
        .filter(counts);
    nearest(name, named.chain(USED_WITHOUT_DEFAULT))
        .filter(|near| !near.starts_with(name) || near.len() - name.len() < 3)
}

/// The default of an option.
pub(super) fn default(kind: Kind, name: &str) -> Option<&'static Value> {
    defaults(kind).get(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_record_is_whole() {
        assert!(defaults(Kind::Master).len() > 300 && defaults(Kind::Minion).len() > 300);
        assert_eq!(
            default(Kind::Proxy, "default_include").and_then(Value::as_str),
            Some("proxy.d/*.conf")
        );
        assert!(RECORDED.known.len() > 400 && RECORDED.known.is_sorted());
        for used in USED {
            assert!(
                RECORDED.known.iter().any(|known| known.starts_with(used)),
                "{used}"
            );
        }
    }

    #[test]
    fn slips_are_found_and_own_options_left_alone() {
        for (name, result) in [
            ("fileserver_backends", Some("fileserver_backend")),
            ("file_root", Some("file_roots")),
            ("pillar_root", Some("pillar_roots")),
            ("ext_pillars", Some("ext_pillar")),
            ("gitfs_remote", Some("gitfs_remotes")),
            ("includes", Some("include")),
            ("cachdir", Some("cachedir")),
            ("fileserver_backend", None),
            ("interface", None),
            ("openssh", None),
            ("roles", None),
            ("mysql.host", None),
        ] {
            assert_eq!(meant(name), result, "{name}");
        }
    }
}
