//! A minion's options (Salt: `apply_minion_config`).

use mapstack_value::posixpath::join;
use mapstack_value::{Map, Value};

use super::super::layer::OptionLayer;
use super::super::paths::{directory, name};
use super::super::{Kind, Surroundings};
use super::Applying;
use mapstack_diagnostic::Result;

/// The options that are paths below `root_dir`.
const PATHS: &[&str] = &[
    "pki_dir",
    "cachedir",
    "sock_dir",
    "extension_modules",
    "pidfile",
];

/// Put a minion's options into force.
pub fn minion<'a>(
    kind: Kind,
    defaults: &Map,
    set: &'a OptionLayer,
    surroundings: &'a Surroundings,
) -> Result<Applying<'a>> {
    let program = if kind == Kind::Proxy {
        "salt-proxy"
    } else {
        "salt-call"
    };
    let mut it = Applying::new(defaults, set, surroundings, "minion", program);
    it.log_file(defaults)?;
    it.environment();
    it.fileserver_backend()?;
    if !it.get("id").truthy() {
        match surroundings
            .id
            .as_ref()
            .or(surroundings.remembered_id.as_ref())
        {
            Some(id) => it.insert("id", id.as_str()),
            None => drop(it.options.shift_remove("id")),
        }
    }
    if surroundings.id.is_none() || it.is_set("id") {
        it.append_domain()?;
    }
    it.directories_by_id()?;
    it.sock_dir()?;
    it.exactly_true("open_mode");
    it.roots("file_roots", "/srv/salt")?;
    it.roots("pillar_roots", "/srv/pillar")?;
    it.extension_modules()?;
    it.prepend_root_dir(PATHS, &["log_file", "key_logfile"])?;
    if !it.options.contains_key("beacons") {
        it.insert("beacons", Value::map());
    }
    it.ipc_write_buffer();
    it.hash_type()?;
    it.ssl();
    let discovery = [
        ("attempts", 3.into()),
        ("pause", 5.into()),
        ("port", 4520.into()),
        ("match", "any".into()),
    ];
    it.discovery(&[&discovery[..], &[("mapping", Value::map())]].concat());
    if !it.options.contains_key("__cachedir") {
        let cache = it.get("cachedir").clone();
        it.insert("__cachedir", cache);
    }
    it.returners();
    Ok(it)
}

impl Applying<'_> {
    /// Proxies have directories of their own by their ids, and other minions if configured so.
    fn directories_by_id(&mut self) -> Result<()> {
        let Value::List(options) = self.get("append_minionid_config_dirs").clone() else {
            return Ok(());
        };
        // The id of a minion is unknown if it is not configured.
        if !self.options.contains_key("id") {
            return Ok(());
        }
        for option in options.iter().filter_map(Value::as_str) {
            let id = self.text("id")?;
            match option {
                "pki_dir" | "cachedir" | "extension_modules" => {
                    let below = join(self.text(option)?, id);
                    self.insert(option, below);
                }
                "default_include" if self.options.contains_key(option) => {
                    let pattern = self.text(option)?;
                    let pattern = join(&join(&directory(pattern), id), name(pattern));
                    self.insert(option, pattern);
                }
                _ => {}
            }
        }
        if options
            .iter()
            .any(|option| option.as_str() == Some("pidfile"))
        {
            let (file, id) = (self.text("pidfile")?, self.text("id")?);
            let file = join(&join(&join(&directory(file), "salt"), id), name(file));
            self.insert("pidfile", file);
        }
        Ok(())
    }
}
