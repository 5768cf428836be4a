//! A master's options (Salt: `apply_master_config`, `master_config`).

use mapstack_salt_jinja::regex_matches;
use mapstack_value::posixpath::join;
use mapstack_value::{Map, Value};

use super::super::Surroundings;
use super::super::layer::OptionLayer;
use super::Applying;
use mapstack_diagnostic::Result;

/// The id of a master that has none configured; Salt names it after the machine.
const MASTER: &str = "master";

const PATHS: [&str; 11] = [
    "pki_dir",
    "cachedir",
    "pidfile",
    "sock_dir",
    "extension_modules",
    "autosign_file",
    "autoreject_file",
    "token_dir",
    "syndic_dir",
    "sqlite_queue_dir",
    "autosign_grains_dir",
];

/// Put a master's options into force.
pub fn master<'a>(
    defaults: &Map,
    set: &'a OptionLayer,
    surroundings: &'a Surroundings,
) -> Result<Applying<'a>> {
    let mut it = Applying::new(defaults, set, surroundings, MASTER, "salt-master");
    if !it.is_set("__fs_update") {
        it.insert("__fs_update", true);
    }
    it.log_file(defaults)?;
    if it.is_set("cluster_port") && !it.is_set("cluster_pool_port") {
        let port = it.get("cluster_port").clone();
        it.insert("cluster_pool_port", port);
    }
    if it
        .get("external_auth")
        .as_map()
        .is_some_and(|auth| auth.contains_key("rest"))
    {
        it.insert("keep_acl_in_token", true);
    }
    it.environment();
    it.fileserver_backend()?;
    it.sock_dir()?;
    for (option, name) in [("token_dir", "tokens"), ("syndic_dir", "syndics")] {
        let path = join(it.text("cachedir")?, name);
        it.insert(option, path);
    }
    it.extension_modules()?;
    it.ipc_write_buffer();
    let named = it.get("id").truthy();
    if named {
        it.append_domain()?;
    } else {
        it.insert("id", MASTER);
    }
    it.prepend_root_dir(&PATHS, &["log_file", "key_logfile", "ssh_log_file"])?;
    it.cluster();
    it.exactly_true("open_mode");
    it.exactly_true("auto_accept");
    it.roots("file_roots", "/srv/salt")?;
    // The reference takes the same directory for both.
    it.roots("pillar_roots", "/srv/salt")?;
    it.ignored_files()?;
    it.worker_threads()?;
    if !it.options.contains_key("pillar_source_merging_strategy") {
        it.insert("pillar_source_merging_strategy", "smart");
    }
    it.hash_type()?;
    it.ssl();
    it.discovery(&[("port", 4520.into()), ("mapping", Value::map())]);
    it.ssh_minion_opts();
    it.returners();
    it.nodegroups();
    Ok(it)
}

impl Applying<'_> {
    fn cluster(&mut self) {
        if !self.options.contains_key("cluster_id") {
            self.insert("cluster_id", Value::None);
        }
        if self.get("cluster_id").is_none() {
            if self.get("cluster_peers").truthy() {
                self.insert("cluster_peers", Value::from_iter([""; 0]));
            }
            if self.get("cluster_pki_dir").truthy() {
                self.insert("cluster_pki_dir", Value::None);
            }
            return;
        }
        if !self.get("cluster_peers").truthy() && !self.get("cluster_secret").truthy() {
            self.insert("cluster_peers", Value::from_iter([""; 0]));
        }
        if !self.get("cluster_pki_dir").truthy() {
            let keys = self.get("pki_dir").clone();
            self.insert("cluster_pki_dir", keys);
        }
    }

    /// One pattern is a list of one; what is not a regular expression does not count.
    fn ignored_files(&mut self) -> Result<()> {
        if self.get("file_ignore_regex").truthy() {
            let given = match self.get("file_ignore_regex") {
                Value::List(given) => given.to_vec(),
                text @ Value::Str(_) => vec![text.clone()],
                _ => return Err(self.wrong("file_ignore_regex", "a list of regular expressions")),
            };
            let mut good = Vec::new();
            for regex in given {
                match regex
                    .as_str()
                    .map(|text| regex_matches(text, "", false, false))
                {
                    Some(Ok(_)) => good.push(regex),
                    Some(Err(e)) => {
                        let message =
                            format!("'{regex}' is not a regular expression: {}", e.message);
                        self.warn(
                            "file_ignore_regex",
                            message,
                            "it is left out, as Salt leaves it out",
                        );
                    }
                    None => {
                        let message =
                            format!("{} is not a regular expression", regex.kind().described());
                        self.warn(
                            "file_ignore_regex",
                            message,
                            "it is left out, as Salt leaves it out",
                        );
                    }
                }
            }
            self.insert("file_ignore_regex", Value::from_iter(good));
        }
        if let text @ Value::Str(_) = self.get("file_ignore_glob").clone()
            && text.truthy()
        {
            self.insert("file_ignore_glob", Value::from_iter([text]));
        }
        Ok(())
    }

    fn worker_threads(&mut self) -> Result<()> {
        let few = match self.get("worker_threads") {
            Value::Int(count) => count.to_i64().is_some_and(|count| count < 3),
            Value::Bool(_) => true,
            Value::Float(count) => *count < 3.0,
            _ => return Err(self.wrong("worker_threads", "a number")),
        };
        if few && self.get("peer").truthy() {
            self.insert("worker_threads", 3);
        }
        let enabled = !self.options.contains_key("worker_pools_enabled")
            || self.get("worker_pools_enabled").truthy();
        if enabled && !self.get("worker_pools").truthy() {
            let count = self.get("worker_threads").clone();
            let pool = Map::from_iter([
                ("worker_count", count),
                ("commands", Value::from_iter(["*"])),
            ]);
            self.insert("worker_pools", Map::from_iter([("default", pool)]));
        }
        Ok(())
    }

    /// Options for minions by SSH cannot be about files and pillars.
    fn ssh_minion_opts(&mut self) {
        match self.get("ssh_minion_opts").clone() {
            Value::Map(given) => {
                let kept = given
                    .iter()
                    .filter(|(option, _)| !option.as_str().is_some_and(is_the_masters));
                let kept: Map = kept
                    .map(|(option, value)| (option.clone(), value.clone()))
                    .collect();
                if kept.len() != given.len() {
                    self.insert("ssh_minion_opts", kept);
                }
            }
            _ => drop(self.options.shift_remove("ssh_minion_opts")),
        }
    }

    /// `None` means no groups, and a list of mappings is one mapping.
    fn nodegroups(&mut self) {
        match self.get("nodegroups") {
            Value::None => self.insert("nodegroups", Value::map()),
            Value::List(items) => {
                let each: Option<Vec<&Map>> = items
                    .iter()
                    .map(|item| item.as_map().filter(|map| map.len() == 1))
                    .collect();
                if let Some(each) = each.filter(|each| !each.is_empty()) {
                    let entries = each.into_iter().flat_map(Map::iter);
                    let groups: Map = entries
                        .map(|(key, value)| (key.clone(), value.clone()))
                        .collect();
                    self.insert("nodegroups", groups);
                }
            }
            _ => {}
        }
    }
}

/// True if an option is about files or pillars.
fn is_the_masters(option: &str) -> bool {
    let file_server = option
        .to_ascii_lowercase()
        .split_once("fs_")
        .is_some_and(|(backend, _)| {
            !backend.is_empty() && backend.chars().all(|c| c.is_ascii_alphanumeric())
        });
    file_server
        || option == "fileserver_backend"
        || (option.contains("pillar") && option != "ssh_merge_pillar")
}
