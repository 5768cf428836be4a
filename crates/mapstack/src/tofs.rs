//! `map.tofs`: candidate paths of a file for this minion.

use mapstack_matcher::{Mode, PathRules, Paths, join};
use mapstack_value::{Map, Path, Value};

use crate::options::{DataOptions, TofsOptions, iterate, or};
use crate::run::Run;
use crate::source::{MatcherData, paths};
use crate::stack::{parse, tplroot};
use mapstack_diagnostic::{Error, ErrorKind, Result};

impl Run<'_> {
    /// `map.tofs(tpldir, source_files, …)`: `salt://` paths in order of preference.
    ///
    /// # Errors
    /// An invalid definition, a configuration of the wrong structure, or an error of `map.data` if the caller passes
    /// no configuration.
    pub fn tofs(
        &self,
        tpldir: &str,
        source_files: &Value,
        options: &TofsOptions,
    ) -> Result<Vec<String>> {
        let root = tplroot(tpldir);
        let config = match &options.config {
            None | Some(Value::None) => self.data(tpldir, &DataOptions::default())?,
            Some(config) => config.clone(),
        };
        let settings = TofsSettings::new(&config, root, options)?;
        let source_files = settings.source_files(source_files, options.lookup.as_ref())?;
        let meta = or(look(&config, "map_jinja", ":")?.as_ref(), Value::None);
        let meta = meta.as_map();
        let Some(strategy) = meta.and_then(|meta| meta.get("config_get_strategy")) else {
            let message = "the configuration passed has no map_jinja:config_get_strategy";
            return Err(Error::new(ErrorKind::Options, message)
                .help("pass the result of map.data as `config`"));
        };
        let custom_data = options
            .custom_data
            .clone()
            .filter(Value::truthy)
            .unwrap_or_else(Value::map);
        let around = MatcherData {
            stack: &config,
            custom_data: &custom_data,
            config_get_strategy: strategy,
        };
        let rules = PathRules {
            include_query: settings.include_query,
            fallback_to_query: true,
        };
        let mut found = Vec::new();
        let use_subpath = options.use_subpath.as_ref().is_some_and(Value::truthy);
        for subpath in subpaths(tpldir, root, use_subpath) {
            let base = join([&*settings.path_prefix, &subpath, &settings.files_dir]);
            for matcher in settings.matchers(&config, &subpath)? {
                let definition = parse(&matcher, Mode::Path)?;
                let relative = match paths(self, &definition, &around, rules)? {
                    Paths::Relative(relative) => relative,
                    Paths::Absent(_) => Vec::new(),
                };
                for file in &source_files {
                    found.extend(
                        relative
                            .iter()
                            .map(|path| format!("salt://{}", join([&*join([&base, path]), file]))),
                    );
                }
            }
        }
        Ok(found)
    }
}

/// The settings: `tofs` in the configuration, with the arguments as defaults (saltext-formula: `map.tofs`).
struct TofsSettings {
    own: Map,
    files_switch: Value,
    path_prefix: String,
    files_dir: String,
    default_dir: String,
    include_query: bool,
}

impl TofsSettings {
    fn new(config: &Value, root: &str, options: &TofsOptions) -> Result<Self> {
        let Some(config) = config.as_map() else {
            let what = config.kind().described();
            return Err(Error::new(
                ErrorKind::Options,
                format!("`config` is {what}, not a mapping"),
            ));
        };
        let own = match config.get("tofs") {
            None => Map::new(),
            Some(Value::Map(own)) => own.clone(),
            Some(other) => {
                let what = other.kind().described();
                return Err(Error::new(
                    ErrorKind::Options,
                    format!("`tofs` in the configuration is {what}, not a mapping"),
                ));
            }
        };
        let setting = |name: &str, argument: Option<&Value>, default: Value| match own.get(name) {
            Some(value) => value.clone(),
            None => argument
                .filter(|v| !v.is_none())
                .cloned()
                .unwrap_or(default),
        };
        let argument =
            |given: &Option<Value>, default: &str| given.clone().unwrap_or_else(|| default.into());
        let directory = |name: &str, given: Value| match own.get("dirs") {
            Some(Value::Map(dirs)) => dirs.get(name).cloned().unwrap_or(given),
            _ => given,
        };
        let matchers: Value = ["G@id", "G@os_family"].into_iter().collect();
        let include_query = match own.get("include_query") {
            Some(value) => value.truthy(),
            None => options.include_query.as_ref().is_none_or(Value::truthy),
        };
        Ok(TofsSettings {
            files_switch: setting("files_switch", options.default_matchers.as_ref(), matchers),
            path_prefix: path_text(
                &setting("path_prefix", options.path_prefix.as_ref(), root.into()),
                "path_prefix",
            )?,
            files_dir: path_text(
                &directory("files", argument(&options.files_dir, "files")),
                "dirs:files",
            )?,
            default_dir: directory("default", argument(&options.default_dir, "default"))
                .to_string(),
            include_query,
            own,
        })
    }

    /// The file names: those configured under `lookup`, then those of the caller.
    fn source_files(&self, given: &Value, lookup: Option<&Value>) -> Result<Vec<String>> {
        let mut all = Vec::new();
        if let Some(lookup) = lookup.filter(|l| !l.is_none()) {
            let configured = look(
                &Value::Map(self.own.clone()),
                &format!("source_files:{lookup}"),
                ":",
            )?;
            match configured {
                None => {}
                Some(Value::List(items)) => all.extend(items.to_vec()),
                Some(other) => {
                    let what = other.kind().described();
                    let message =
                        format!("tofs:source_files:{lookup} is {what}, not a list of file names");
                    return Err(Error::new(ErrorKind::Options, message));
                }
            }
            if !matches!(given, Value::List(_)) {
                let what = given.kind().described();
                return Err(Error::new(
                    ErrorKind::Options,
                    format!("`source_files` is {what}, not a list"),
                ));
            }
        }
        all.extend(iterate(given, "`source_files`")?);
        all.iter()
            .map(|file| path_text(file, "an item of `source_files`"))
            .collect()
    }

    /// The matchers of a sub-path, including one for the directory for all minions.
    fn matchers(&self, config: &Value, subpath: &str) -> Result<Vec<String>> {
        let key = join([subpath, "files_switch"]);
        let switch = match look(config, &key, "/")? {
            Some(own) => own,
            None => iterate(&self.files_switch, "`files_switch`")?
                .into_iter()
                .collect(),
        };
        let mut items = iterate(&switch, "`files_switch`")?;
        let empty = Value::from("");
        match &switch {
            // In Python, every text contains the empty text.
            Value::Str(_) => {}
            Value::List(_) if items.contains(&empty) => {}
            Value::List(_) => items.push(empty),
            Value::Map(map) if map.contains_key("") => {}
            other => {
                let what = other.kind().described();
                return Err(Error::new(
                    ErrorKind::Options,
                    format!("`files_switch` is {what}, not a list"),
                ));
            }
        }
        items
            .into_iter()
            .map(|item| match item {
                Value::Str(text) if !text.is_empty() => Ok(text.to_string()),
                falsy if !falsy.truthy() => Ok(format!("P@{}", self.default_dir)),
                other => {
                    let what = other.kind().described();
                    Err(Error::new(
                        ErrorKind::Options,
                        format!("an item of `files_switch` is {what}, not a matcher"),
                    ))
                }
            })
            .collect()
    }
}

/// The sub-paths to look in, from the deepest to the formula's directory.
fn subpaths(tpldir: &str, root: &str, use_subpath: bool) -> Vec<String> {
    let mut all = Vec::new();
    if use_subpath && root != tpldir {
        let mut parts: Vec<&str> = tpldir
            .split('/')
            .filter(|p| !p.is_empty() && *p != ".")
            .skip(1)
            .collect();
        while !parts.is_empty() {
            all.push(parts.join("/"));
            parts.pop();
        }
    }
    all.push(String::new());
    all
}

fn look(data: &Value, key: &str, delimiter: &str) -> Result<Option<Value>> {
    let path =
        Path::split(key, delimiter).map_err(|e| Error::new(ErrorKind::Lookup, e.to_string()))?;
    Ok(mapstack_yaml::traverse(data, &path))
}

fn path_text(value: &Value, name: &str) -> Result<String> {
    match value {
        Value::Str(text) => Ok(text.to_string()),
        falsy if !falsy.truthy() => Ok(String::new()),
        other => Err(Error::new(
            ErrorKind::Options,
            format!("{name} is {}, not text", other.kind().described()),
        )),
    }
}
