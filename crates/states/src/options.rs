//! Options for reading top files.

use mapstack_value::{Map, Value};

/// The strategy for merging the top files of several saltenvs (Salt: `top_file_merging_strategy`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Strategy {
    /// The top file of base wins. Other top files give the entries for their own saltenv if base has none for
    /// it.
    #[default]
    Merge,
    /// Each saltenv takes its entries from its own top file, or else from that of `default_top`.
    Same,
    /// The targets of all top files. If several have the same target, their sls are concatenated.
    MergeAll,
}

/// A master's options for reading top files.
#[derive(Debug, Clone, PartialEq)]
pub struct TopOptions {
    /// The path of top files.
    pub state_top: String,
    /// The only saltenv whose top file is read.
    pub state_top_saltenv: Option<String>,
    /// The strategy for several top files.
    pub strategy: Strategy,
    /// The saltenv whose top file replaces missing ones.
    pub default_top: Option<String>,
    /// The order of the saltenvs.
    pub env_order: Vec<String>,
    /// The only saltenv whose entries are used.
    pub saltenv: Option<String>,
    /// True if the sls of master tops come before those of top files.
    pub master_tops_first: bool,
    /// All options, for master tops.
    pub all: Map,
}

impl Default for TopOptions {
    fn default() -> Self {
        TopOptions {
            state_top: "top.sls".into(),
            state_top_saltenv: None,
            strategy: Strategy::Merge,
            default_top: Some("base".into()),
            env_order: Vec::new(),
            saltenv: None,
            master_tops_first: false,
            all: Map::new(),
        }
    }
}

impl TopOptions {
    /// Read the options; missing ones get Salt's defaults.
    ///
    /// ```
    /// use mapstack_states::{Strategy, TopOptions};
    /// use mapstack_value::Map;
    /// let options = Map::from_iter([("top_file_merging_strategy", "same"), ("state_top", "salt://tops/top.sls")]);
    /// let options = TopOptions::of(&options);
    /// assert_eq!((options.strategy, &*options.state_top), (Strategy::Same, "tops/top.sls"));
    /// ```
    #[must_use]
    pub fn of(options: &Map) -> Self {
        let text = |name: &str| {
            let value = options.get(name).filter(|value| value.truthy());
            value.map(ToString::to_string)
        };
        let default = TopOptions::default();
        let path = text("state_top").unwrap_or(default.state_top);
        let path = path.strip_prefix("salt://").unwrap_or(&path);
        TopOptions {
            state_top: path.trim_start_matches('/').to_owned(),
            state_top_saltenv: text("state_top_saltenv"),
            strategy: match text("top_file_merging_strategy").as_deref() {
                Some("same") => Strategy::Same,
                Some("merge_all") => Strategy::MergeAll,
                _ => Strategy::Merge,
            },
            default_top: match options.contains_key("default_top") {
                true => text("default_top"),
                false => default.default_top,
            },
            env_order: options
                .get("env_order")
                .and_then(Value::as_list)
                .unwrap_or_default()
                .iter()
                .map(ToString::to_string)
                .collect(),
            saltenv: text("saltenv"),
            master_tops_first: options.get("master_tops_first").is_some_and(Value::truthy),
            all: options.clone(),
        }
    }
}
