//! `map.data`: the configuration of a formula.

use std::ops::Range;

use mapstack_diagnostic::nearest;
use mapstack_loader::{Fetched, SaltPath};
use mapstack_value::{Map, Value};

use crate::journal::Journal;
use crate::options::{DataOptions, StackOptions, iterate, or};
use crate::pipe::template_engine;
use crate::render::{Language, TemplateStage};
use crate::run::Run;
use crate::stack::{in_stage, tplroot};
use crate::trace::DataStage;
use mapstack_diagnostic::{Diagnostic, Error, ErrorKind, Means, Result};

/// The definitions that make `map.data` regard `defaults.yaml` as present among the sources.
const DEFAULTS: [&str; 3] = ["defaults.yaml", "Y!defaults.yaml", "Y!P@defaults.yaml"];

/// The keys that the meta configuration can set.
const ARGUMENTS: [&str; 8] = [
    "sources",
    "parameter_dirs",
    "config_get_strategy",
    "default_merge_strategy",
    "default_merge_lists",
    "post_map",
    "post_map_template",
    "cache",
];

/// The meta configuration of a formula.
struct Meta {
    /// The arguments of `map.data`, overridden by `map_jinja.yaml` files.
    arguments: Map,
    /// The look-ups that found them.
    events: Range<usize>,
}

impl Meta {
    /// An error with the files that the faulty configuration comes from.
    fn blamed(&self, journal: &Journal, error: Error) -> Error {
        match journal.files_found(self.events.clone()).join(", ") {
            files if files.is_empty() => error,
            files => error.note(format!("the meta configuration comes from {files}")),
        }
    }
}

impl Run<'_> {
    /// `map.data(tpldir, …)`: the configuration of a formula on this minion.
    ///
    /// # Errors
    /// An invalid definition, template, file, meta configuration or merge.
    pub fn data(&self, tpldir: &str, options: &DataOptions) -> Result<Value> {
        self.called(|| self.layered(tpldir, options))
    }

    fn layered(&self, tpldir: &str, options: &DataOptions) -> Result<Value> {
        let tplroot = tplroot(tpldir);
        let before = self.journal.event_count();
        let meta = self.meta(tplroot, options)?;
        let mut mapdata = self.layers(tplroot, &meta, options)?;
        if !self.journal.has_found_files(before) {
            self.warn_about_missing_formula(tplroot, &meta.arguments);
        }
        self.add_meta(tplroot, &mut mapdata, &meta)?;
        in_stage(self, DataStage::PostMap, || {
            self.post_map(tpldir, tplroot, &meta.arguments, &mut mapdata)
        })?;
        Ok(mapdata)
    }

    /// The meta configuration, with `defaults.yaml` among the sources.
    fn meta(&self, tplroot: &str, options: &DataOptions) -> Result<Meta> {
        let before = self.journal.event_count();
        in_stage(self, DataStage::Meta, || {
            let given = self.meta_configuration(tplroot, options)?;
            let mut meta = Meta {
                arguments: given.clone(),
                events: before..self.journal.event_count(),
            };
            prepend_defaults(&mut meta.arguments).map_err(|e| meta.blamed(&self.journal, e))?;
            self.report(|hooks| {
                let now = Value::from(meta.arguments.clone());
                hooks.fold_ends(self.journal.moment(), &given.into(), &now);
            });
            Ok(meta)
        })
    }

    /// The merged layers of the sources.
    fn layers(&self, tplroot: &str, meta: &Meta, options: &DataOptions) -> Result<Value> {
        let argument = |name: &str| meta.arguments.get(name).cloned();
        let options = StackOptions {
            parameter_dirs: argument("parameter_dirs"),
            default_values: None,
            default_merge_strategy: argument("default_merge_strategy"),
            default_merge_lists: argument("default_merge_lists"),
            config_get_strategy: argument("config_get_strategy"),
            custom_data: options.custom_data.clone(),
        };
        if options.custom_data.as_ref().is_some_and(Value::truthy) {
            let message = "custom_data reaches the layers: map.data of Salt keeps it from them, and only map.stack passes it on";
            self.warn(Diagnostic::warning(ErrorKind::Options, message));
        }
        let sources = or(meta.arguments.get("sources"), Value::None);
        let layers = in_stage(self, DataStage::Layers, || {
            self.stacked(tplroot, &sources, &options)
        });
        layers.map_err(|e| match e.kind() {
            ErrorKind::Definition | ErrorKind::Options => meta.blamed(&self.journal, e),
            _ => e,
        })
    }

    /// Add the meta configuration to the configuration, under the key `map_jinja`.
    fn add_meta(&self, tplroot: &str, mapdata: &mut Value, meta: &Meta) -> Result<()> {
        let Value::Map(map) = mapdata else {
            let what = mapdata.kind().described();
            return Err(Error::new(
                ErrorKind::Merge,
                format!("merging the layers of {tplroot} gave {what}, not a mapping"),
            )
            .help("merge strategies `aggregate` and `list` can make something else of the root"));
        };
        map.insert("map_jinja", meta.arguments.clone());
        self.report(|hooks| hooks.fold_is_under("map_jinja"));
        Ok(())
    }

    /// The arguments, overridden by `map_jinja.yaml` files, which are themselves merged as layers (saltext-formula:
    /// `map.data`).
    fn meta_configuration(&self, tplroot: &str, options: &DataOptions) -> Result<Map> {
        let arguments = self.arguments(tplroot, options)?;
        let stack_options = StackOptions {
            default_values: Some(arguments.into()),
            config_get_strategy: options.config_get_strategy.clone(),
            ..StackOptions::default()
        };
        let sources: Value = ["map_jinja.yaml"].into_iter().collect();
        let meta = self
            .stacked(tplroot, &sources, &stack_options)
            .map_err(|e| e.note("while loading map_jinja.yaml"))?;
        let Value::Map(meta) = meta else {
            let what = meta.kind().described();
            return Err(Error::new(
                ErrorKind::Options,
                format!("merging the map_jinja.yaml files of {tplroot} gave {what}, not a mapping"),
            ));
        };
        self.warn_about_unknown_keys(&meta);
        Ok(meta)
    }

    /// The arguments, with defaults for those not given.
    fn arguments(&self, tplroot: &str, options: &DataOptions) -> Result<Map> {
        // Without arguments, the defaults depend only on the formula.
        let usual = (*options == DataOptions::default()).then_some(&self.engine.arguments);
        if let Some(arguments) = usual.and_then(|usual| usual.get(tplroot)) {
            return Ok(arguments);
        }
        let as_list = |given: Option<&Value>, name: &str, default: Vec<String>| -> Result<Value> {
            match given {
                None | Some(Value::None) => Ok(default.into_iter().collect()),
                Some(given) => Ok(iterate(given, name)?.into_iter().collect()),
            }
        };
        let default_sources =
            ["Y!G@osarch", "Y!G@os_family", "Y!G@os", "Y!G@osfinger"].map(String::from);
        let default_sources = default_sources
            .into_iter()
            .chain([format!("C@{tplroot}"), "Y!G@id".into()])
            .collect();
        let default_dirs = vec![format!("{tplroot}/parameters")];
        let mut arguments = Map::new();
        arguments.insert(
            "sources",
            as_list(options.sources.as_ref(), "`sources`", default_sources)?,
        );
        arguments.insert(
            "parameter_dirs",
            as_list(
                options.parameter_dirs.as_ref(),
                "`parameter_dirs`",
                default_dirs,
            )?,
        );
        arguments.insert(
            "config_get_strategy",
            or(options.config_get_strategy.as_ref(), Value::None),
        );
        arguments.insert(
            "default_merge_strategy",
            or(options.default_merge_strategy.as_ref(), Value::None),
        );
        arguments.insert(
            "default_merge_lists",
            or(options.default_merge_lists.as_ref(), false),
        );
        arguments.insert("post_map", or(options.post_map.as_ref(), "post-map.jinja"));
        arguments.insert(
            "post_map_template",
            or(options.post_map_template.as_ref(), "jinja"),
        );
        arguments.insert("cache", or(options.cache.as_ref(), true));
        if let Some(usual) = usual {
            usual.put(tplroot, arguments.clone());
        }
        Ok(arguments)
    }

    fn warn_about_unknown_keys(&self, meta: &Map) {
        for key in meta
            .keys()
            .filter(|k| !k.as_str().is_some_and(|name| ARGUMENTS.contains(&name)))
        {
            let name = key.to_string();
            let warning = Diagnostic::warning(
                ErrorKind::Options,
                format!("unknown key '{name}' in map_jinja.yaml"),
            );
            self.warn(match nearest(&name, ARGUMENTS) {
                Some(near) => warning.with_help(format!("did you mean '{near}'?")),
                None => warning,
            });
        }
    }

    fn warn_about_missing_formula(&self, tplroot: &str, meta: &Map) {
        let directories = or(meta.get("parameter_dirs"), Value::None);
        let message = format!(
            "no file of a formula '{tplroot}' was found below {directories} in saltenv {}",
            self.saltenv
        );
        let map_jinja = SaltPath::from_relative(&format!("{tplroot}/map.jinja"));
        let computes_map = matches!(
            self.engine.files().fetch(&map_jinja, &self.saltenv),
            Ok(Fetched::Found { .. })
        );
        let help = match computes_map {
            true => format!(
                "{tplroot} computes its configuration in {map_jinja}, which this does not run: {} does",
                Means::Map(tplroot)
            ),
            false => format!(
                "check the formula's name and the {} directories; {} lists every path tried",
                Means::Roots,
                Means::Sources
            ),
        };
        self.warn(Diagnostic::warning(ErrorKind::File, message).with_help(help));
    }

    /// Run the post-map template, which can change the result in place; its output is dropped (saltext-formula:
    /// `map.data`). Tera templates cannot change values in place: their output is merged.
    fn post_map(&self, tpldir: &str, tplroot: &str, meta: &Map, mapdata: &mut Value) -> Result<()> {
        let post_map = or(meta.get("post_map"), Value::None);
        if matches!(post_map, Value::Bool(false)) {
            return Ok(());
        }
        let Some(file) = self.fetch_file(&format!("{tplroot}/{post_map}"))? else {
            return Ok(());
        };
        let engine = or(meta.get("post_map_template"), Value::None);
        let stage = TemplateStage::PostMap { tpldir, tplroot };
        let known = template_engine(engine.as_str().unwrap_or_default(), &file.shown);
        match known.map_err(|e| e.help("write the post-map template in jinja"))? {
            Some(Language::Jinja) => {
                let source = file.text()?;
                self.render(&file, &source.into(), &stage, mapdata)?;
                Ok(())
            }
            #[cfg(feature = "tera")]
            Some(Language::Tera) => {
                let default = |key| or(meta.get(key), Value::None);
                let strategy = Some(default("default_merge_strategy"))
                    .filter(Value::truthy)
                    .unwrap_or("smart".into());
                let options =
                    mapstack_merge::Options::new(&strategy, &default("default_merge_lists"));
                self.merge_printed(&file, &stage, &options, mapdata)
            }
            Some(language @ (Language::Mako | Language::Py)) => {
                self.change_by_python(language, &file, &stage, mapdata)
            }
            None => {
                let message = format!(
                    "'{engine}' is not a template engine; {} was not run",
                    file.shown
                );
                self.warn(
                    Diagnostic::warning(ErrorKind::Options, message)
                        .with_help("set post_map_template: jinja"),
                );
                Ok(())
            }
        }
    }
}

/// Insert `defaults.yaml` as the first source unless the sources have it (saltext-formula: `map.data`).
fn prepend_defaults(meta: &mut Map) -> Result<()> {
    let wrong = |what: &str| {
        Err(Error::new(
            ErrorKind::Options,
            format!("`sources` in the meta configuration is {what}, not a list"),
        )
        .help("set `sources` in map_jinja.yaml to a list of definitions such as Y!G@os"))
    };
    match meta.get_mut("sources") {
        Some(Value::List(sources)) => {
            if !sources
                .iter()
                .any(|s| s.as_str().is_some_and(|s| DEFAULTS.contains(&s)))
            {
                sources.make_mut().insert(0, "Y!P@defaults.yaml".into());
            }
            Ok(())
        }
        // The reference uses `in`, which for text finds substrings.
        Some(Value::Str(text)) if DEFAULTS.iter().any(|d| text.contains(d)) => Ok(()),
        Some(Value::Map(map)) if DEFAULTS.iter().any(|d| map.contains_key(*d)) => Ok(()),
        Some(other) => {
            let what = other.kind().described();
            wrong(what)
        }
        None => wrong("absent"),
    }
}
