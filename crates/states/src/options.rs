//! The options by which top files are read.

use mapstack_value::{Map, Value};

/// The strategy by which the top files of several saltenvs come together (Salt: `top_file_merging_strategy`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Strategy {
    /// The entries of base for a saltenv count; of other top files, only those for their own saltenv that base does not
    /// name.
    #[default]
    Merge,
    /// A saltenv's own top file counts, or what the one of `default_top` says of it.
    Same,
    /// Targets of all top files, the sls of equal ones one after the other.
    MergeAll,
}

/// The options of a master by which top files are read.
#[derive(Debug, Clone, PartialEq)]
pub struct TopOptions {
    /// The path of top files.
    pub state_top: String,
    /// The only saltenv whose top file counts.
    pub state_top_saltenv: Option<String>,
    /// The strategy for several top files.
    pub strategy: Strategy,
    /// The saltenv whose top file replaces missing ones.
    pub default_top: Option<String>,
    /// The order of the saltenvs.
    pub env_order: Vec<String>,
    /// The only saltenv that is looked at.
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
    /// Read the options; those that are not there are Salt's defaults.
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
