//! `config.get` and `config.option`.

use mapstack_merge::{Options, Strategy, merge};
use mapstack_value::{Key, Map, Value};

use crate::lookup::{path, traverse};
use crate::{LookupError, Minion, defaults};

/// The arguments of `config.get` besides the key.
#[derive(Debug, Clone, PartialEq)]
pub struct ConfigGet {
    /// What separates the steps of the key.
    pub delimiter: String,
    /// Merge all stores with this strategy before looking; `None` takes the first store that has
    /// the key.
    pub merge: Value,
    /// Leave the minion's options out.
    pub omit_opts: bool,
    /// Leave the pillar out.
    pub omit_pillar: bool,
    /// Leave the master's options in the pillar out.
    pub omit_master: bool,
    /// Leave the grains out.
    pub omit_grains: bool,
}

impl Default for ConfigGet {
    fn default() -> Self {
        ConfigGet {
            delimiter: ":".into(),
            merge: Value::None,
            omit_opts: false,
            omit_pillar: false,
            omit_master: false,
            omit_grains: false,
        }
    }
}

/// What `config.get` found.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Got {
    /// The value, if any store has the key.
    pub value: Option<Value>,
    /// What is worth a warning.
    pub warning: Option<String>,
}

/// In the reference this text means "not found", wherever it comes from.
const NOT_FOUND: &str = "_|-";

impl Minion {
    /// `config.get(key, …)`: options, grains, pillar, the master's options, then built-in defaults.
    ///
    /// # Errors
    /// A key or delimiter that makes no path.
    pub fn config_get(&self, key: &Value, query: &ConfigGet) -> Result<Got, LookupError> {
        if !query.merge.is_none() {
            return self.config_get_merged(key, query);
        }
        let master = self.master_options();
        let stores: [(bool, &Map); 5] = [
            (query.omit_opts, self.options()),
            (query.omit_grains, self.grains()),
            (query.omit_pillar, self.pillar()),
            (query.omit_master, &master),
            (false, defaults::module_defaults()),
        ];
        let path = path(key, &query.delimiter)?;
        let found = stores
            .into_iter()
            .filter(|(omit, _)| !omit)
            .filter_map(|(_, store)| mapstack_yaml::traverse(&Value::Map(store.clone()), &path))
            .find(|value| value.as_str() != Some(NOT_FOUND));
        Ok(Got { value: found, warning: None })
    }

    /// All stores merged, the minion's options on top; what is to be left out is not, as in the
    /// reference.
    fn config_get_merged(&self, key: &Value, query: &ConfigGet) -> Result<Got, LookupError> {
        let (strategy, warning) = match query.merge.as_str() {
            Some("recurse") => (Strategy::Recurse, None),
            Some("overwrite") => (Strategy::Overwrite, None),
            _ => {
                let unknown = query.merge.repr();
                let warning = format!("config.get knows no merge strategy {unknown}; it merges with 'recurse'");
                (Strategy::Recurse, Some(warning))
            }
        };
        let options = Options { strategy, merge_lists: false };
        let stores = [self.master_options(), self.pillar().clone(), self.grains().clone(), self.options().clone()];
        let mut all = Value::Map(defaults::module_defaults().clone());
        for store in stores {
            // Mappings always merge.
            all = merge(all, &Value::Map(store), &options, &mut ()).unwrap_or_default();
        }
        let Value::Map(all) = all else { return Ok(Got { value: None, warning }) };
        let value = traverse(&all, key, &query.delimiter)?.filter(|value| value.as_str() != Some(NOT_FOUND));
        Ok(Got { value, warning })
    }

    /// `config.option(key, …)`: like `config.get`, but the key is no path.
    #[must_use]
    pub fn config_option(&self, key: &Key, query: &ConfigGet) -> Option<Value> {
        let master = self.master_options();
        let stores: [(bool, &Map); 5] = [
            (query.omit_opts, self.options()),
            (query.omit_grains, self.grains()),
            (query.omit_pillar, self.pillar()),
            (query.omit_master, &master),
            (false, defaults::module_defaults()),
        ];
        stores.into_iter().filter(|(omit, _)| !omit).find_map(|(_, store)| store.get(key)).cloned()
    }

    /// The master's options, where it shares them in the pillar.
    fn master_options(&self) -> Map {
        match self.pillar().get("master") {
            Some(Value::Map(master)) => master.clone(),
            _ => Map::new(),
        }
    }
}
