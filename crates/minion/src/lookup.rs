//! `grains.get`, `pillar.get` and `config.get`.

use mapstack_merge::{Options, Strategy, merge};
use mapstack_value::{Key, Map, Path, Value};
use mapstack_yaml::traverse;

use crate::error::{LookupError, Warning};
use crate::options::OptionsView;
use crate::{Minion, Part, builtin};

/// A value, with warnings about how it was found.
#[derive(Debug, Clone, PartialEq)]
pub struct LookupAnswer<T> {
    /// The value.
    pub value: T,
    /// The warning, if there is one.
    pub warning: Option<Warning>,
}

impl<T> From<T> for LookupAnswer<T> {
    fn from(value: T) -> Self {
        LookupAnswer {
            value,
            warning: None,
        }
    }
}

/// The arguments of `pillar.get` besides the key.
#[derive(Debug, Clone, PartialEq)]
pub struct PillarGet {
    /// The value to return where the pillar has nothing; `None` is not given, which is not
    /// `Some(Value::None)`.
    pub default: Option<Value>,
    /// Merge what is found over the default.
    pub merge: bool,
    /// Append lists when merging; the option `pillar_merge_lists` decides if this is `None`.
    pub merge_nested_lists: Option<bool>,
    /// The delimiter between the steps of the key.
    pub delimiter: String,
}

impl Default for PillarGet {
    fn default() -> Self {
        PillarGet {
            default: None,
            merge: false,
            merge_nested_lists: None,
            delimiter: ":".into(),
        }
    }
}

/// The arguments of `config.get` besides the key and the default.
#[derive(Debug, Clone, PartialEq)]
pub struct ConfigGet {
    /// The delimiter between the steps of the key.
    pub delimiter: String,
    /// `None` to take the first place that has the key; else how to merge all of them first:
    /// `recurse`, `overwrite`, or anything else, which means `recurse` too. The `omit_…` then have
    /// no effect, as in Salt.
    pub merge: Value,
    /// Leave out the options.
    pub omit_opts: bool,
    /// Leave out the grains.
    pub omit_grains: bool,
    /// Leave out the pillar.
    pub omit_pillar: bool,
    /// Leave out what the pillar has of the master's configuration.
    pub omit_master: bool,
}

/// A place in which `config.get` looks, as [`Minion::config_places`] gives it.
#[derive(Debug, Clone, PartialEq)]
pub struct ConfigPlace {
    /// The part of the facts; `None` for Salt's defaults.
    pub part: Option<Part>,
    /// The path of the value there.
    pub path: Vec<Key>,
    /// The value.
    pub value: Value,
}

impl ConfigGet {
    /// The strategy by which places are merged; `None` if the first one counts.
    ///
    /// ```
    /// use mapstack_merge::Strategy;
    /// use mapstack_minion::ConfigGet;
    /// let merging = ConfigGet { merge: "recurse".into(), ..ConfigGet::default() };
    /// assert_eq!(merging.strategy(), Some(Strategy::Recurse));
    /// assert_eq!(ConfigGet::default().strategy(), None);
    /// ```
    #[must_use]
    pub fn strategy(&self) -> Option<Strategy> {
        (!self.merge.is_none()).then(|| merge_strategy(&self.merge).0)
    }
}

impl Default for ConfigGet {
    fn default() -> Self {
        ConfigGet {
            delimiter: ":".into(),
            merge: Value::None,
            omit_opts: false,
            omit_grains: false,
            omit_pillar: false,
            omit_master: false,
        }
    }
}

/// The key of the master's configuration in the pillar.
const MASTER: &str = "master";

/// Looks into one place.
type PlaceLookup<'l> = &'l dyn Fn() -> Option<Value>;

/// The places that `config.get` looks into.
#[derive(Debug, Clone, Copy)]
enum Store {
    Part(Part),
    /// The master's configuration in the pillar.
    Master,
    /// Salt's defaults.
    Defaults,
}

/// A text that Salt takes for nothing found.
const NOTHING: &str = "_|-";

impl Minion {
    /// `grains.get`: the grain under a key, or `None` without one. (A grain that is Python's
    /// `None` is `Some(Value::None)`.)
    ///
    /// # Errors
    /// [`LookupError`] for an empty delimiter or a key that is not a path.
    pub fn grains_get(
        &self,
        key: impl Into<Value>,
        delimiter: &str,
    ) -> Result<Option<Value>, LookupError> {
        let key = key.into();
        // Most keys are one literal step.
        if let Value::Str(name) = &key
            && !delimiter.is_empty()
            && !name.contains(delimiter)
            && let Some(grain) = self.grains.get(&**name)
        {
            return Ok(Some(grain.clone()));
        }
        Ok(path(&key, delimiter)?
            .and_then(|path| traverse(&Value::from(self.grains.clone()), &path)))
    }

    /// `pillar.get`: the pillar's value under a key, or the default, or both merged.
    ///
    /// ```
    /// use mapstack_minion::{Minion, PillarGet};
    /// use mapstack_value::Value;
    /// let mut minion = Minion::new("web1");
    /// minion.set("pillar.ssh", mapstack_yaml::load("{port: 22}").unwrap()).unwrap();
    /// let query = PillarGet {
    ///     default: Some(mapstack_yaml::load("{port: 2222, tls: true}").unwrap()),
    ///     merge: true,
    ///     ..PillarGet::default()
    /// };
    /// assert_eq!(minion.pillar_get("ssh", &query).unwrap().value.repr(), "{'port': 22, 'tls': True}");
    /// ```
    ///
    /// # Errors
    /// [`LookupError`] for an empty delimiter or a key that is not a path; for a key that leads
    /// nowhere only if the option `pillar_raise_on_missing` is set and no default is given.
    pub fn pillar_get(
        &self,
        key: impl Into<Value>,
        query: &PillarGet,
    ) -> Result<LookupAnswer<Value>, LookupError> {
        let key = key.into();
        let found = path(&key, &query.delimiter)?
            .and_then(|path| traverse(&Value::from(self.pillar.clone()), &path));
        let mut warning = None;
        if query.merge {
            let append = query
                .merge_nested_lists
                .unwrap_or_else(|| self.flag("pillar_merge_lists"));
            match over_default(query.default.as_ref(), found.as_ref(), append) {
                Some(merged) => return Ok(merged.into()),
                None => {
                    let kinds = (
                        query.default.as_ref().map(Value::kind),
                        found.as_ref().map(Value::kind),
                    );
                    warning = Some(Warning::NotMerged {
                        key: key.clone(),
                        default: kinds.0,
                        found: kinds.1,
                    });
                }
            }
        }
        let value = match (found, &query.default) {
            (Some(found), _) => found,
            (None, Some(default)) => default.clone(),
            (None, None) if self.flag("pillar_raise_on_missing") => {
                return Err(LookupError::NotInPillar { key });
            }
            (None, None) => Value::from(""),
        };
        Ok(LookupAnswer { value, warning })
    }

    /// `config.get`: the value under a key, or `None` without one. The first of these that has
    /// it wins: options, grains, pillar, the master's configuration in the pillar, and Salt's
    /// [defaults](builtin::defaults).
    ///
    /// # Errors
    /// [`LookupError`] for an empty delimiter, a key that is not a path, or a `master` in the pillar
    /// that does not merge.
    pub fn config_get(
        &self,
        key: impl Into<Value>,
        query: &ConfigGet,
    ) -> Result<LookupAnswer<Option<Value>>, LookupError> {
        let path = path(&key.into(), &query.delimiter)?;
        let (found, merge_warning) = match (path, &query.merge) {
            (None, _) => (None, None),
            (Some(path), Value::None) => {
                (self.first_found(&path, query).map(|(_, value)| value), None)
            }
            (Some(path), how) => {
                let (strategy, warning) = merge_strategy(how);
                let all = self.all_merged(strategy)?;
                (traverse(&all, &path).filter(is_something), warning)
            }
        };
        let warning =
            merge_warning.or_else(|| found.as_ref().and_then(|value| self.warn_of_sdb(value)));
        Ok(LookupAnswer {
            value: found,
            warning,
        })
    }

    fn first_found(&self, path: &Path, query: &ConfigGet) -> Option<(Store, Value)> {
        let inside = |map: &Map| traverse(&Value::from(map.clone()), path);
        let opts = || traverse(&OptionsView::All(self), path).map(OptionsView::into_value);
        let grains = || inside(&self.grains);
        let pillar = || inside(&self.pillar);
        let master = || traverse(self.pillar.get(MASTER)?, path);
        let defaults = || inside(builtin::defaults());
        let stores: [(bool, Store, PlaceLookup<'_>); 5] = [
            (query.omit_opts, Store::Part(Part::Opts), &opts),
            (query.omit_grains, Store::Part(Part::Grains), &grains),
            (query.omit_pillar, Store::Part(Part::Pillar), &pillar),
            (query.omit_master, Store::Master, &master),
            (false, Store::Defaults, &defaults),
        ];
        stores
            .iter()
            .filter(|(omit, ..)| !omit)
            .find_map(|(_, store, look)| Some((*store, look().filter(is_something)?)))
    }

    /// The place at which `config.get` finds the value under a path when nothing is merged: the part of the facts
    /// and the path there; no part if it is one of Salt's defaults, or missing.
    ///
    /// ```
    /// use mapstack_minion::{ConfigGet, Minion, Part};
    /// use mapstack_value::Key;
    /// let mut minion = Minion::new("web1");
    /// minion.set("pillar.master.ssh.port", 22).unwrap();
    /// let (part, path) = minion.config_place(&["ssh".into(), "port".into()], &ConfigGet::default());
    /// assert_eq!((part, path.len()), (Some(Part::Pillar), 3));
    /// ```
    #[must_use]
    pub fn config_place(&self, path: &[Key], query: &ConfigGet) -> (Option<Part>, Vec<Key>) {
        let found = self.first_found(&path.iter().cloned().collect(), query);
        match found.map(|(store, _)| store) {
            Some(Store::Part(part)) => (Some(part), path.to_vec()),
            Some(Store::Master) => (Some(Part::Pillar), [&[Key::from(MASTER)], path].concat()),
            Some(Store::Defaults) | None => (None, path.to_vec()),
        }
    }

    /// The places that have something under a path, where `config.get` merges them; those that win are last.
    ///
    /// ```
    /// use mapstack_minion::{Minion, Part};
    /// let mut minion = Minion::new("web1");
    /// minion.set("pillar.ssh.port", 22).unwrap();
    /// minion.set("grains.ssh.banner", "none").unwrap();
    /// let places = minion.config_places(&["ssh".into()]);
    /// let parts: Vec<Option<Part>> = places.iter().map(|place| place.part).collect();
    /// assert_eq!(parts, [Some(Part::Pillar), Some(Part::Grains)]);
    /// ```
    #[must_use]
    pub fn config_places(&self, path: &[Key]) -> Vec<ConfigPlace> {
        let steps: Path = path.iter().cloned().collect();
        let below = |whole: ConfigPlace| {
            Some(ConfigPlace {
                value: traverse(&whole.value, &steps)?,
                part: whole.part,
                path: [&whole.path, path].concat(),
            })
        };
        self.merged_places().into_iter().filter_map(below).collect()
    }

    /// All that `config.get` merges, the places that win last.
    fn merged_places(&self) -> [ConfigPlace; 5] {
        let whole = |part, value| ConfigPlace {
            part,
            path: Vec::new(),
            value,
        };
        let master = self.pillar.get(MASTER).cloned().unwrap_or_else(Value::map);
        [
            whole(None, builtin::defaults().clone().into()),
            ConfigPlace {
                part: Some(Part::Pillar),
                path: vec![Key::from(MASTER)],
                value: master,
            },
            whole(Some(Part::Pillar), self.pillar.clone().into()),
            whole(Some(Part::Grains), self.grains.clone().into()),
            whole(Some(Part::Opts), self.options().into()),
        ]
    }

    /// Everything `config.get` looks into, merged.
    fn all_merged(&self, strategy: Strategy) -> Result<Value, LookupError> {
        let options = Options {
            strategy,
            merge_lists: false,
        };
        let [defaults, over @ ..] = self.merged_places();
        let mut over = over.iter().map(|place| &place.value);
        Ok(over.try_fold(defaults.value, |all, overlay| merge(all, overlay, &options))?)
    }

    /// True if an option is set to something true.
    fn flag(&self, name: &str) -> bool {
        self.option(&Key::from(name))
            .is_some_and(|value| value.truthy())
    }

    /// A warning for a text that Salt would look up in a database it has a profile for.
    fn warn_of_sdb(&self, value: &Value) -> Option<Warning> {
        let uri = value.as_str()?;
        let (profile, name) = uri.strip_prefix("sdb://")?.split_once('/')?;
        let in_options = self.option(&Key::from(profile)).filter(Value::truthy);
        let profile = in_options.or_else(|| self.pillar.get(profile).cloned())?;
        let has_driver = profile.as_map()?.contains_key("driver");
        (has_driver && !name.is_empty()).then(|| Warning::Sdb {
            uri: uri.to_owned(),
        })
    }
}

/// The found value, merged over a copy of the default; `None` if the two are not of one kind.
fn over_default(default: Option<&Value>, found: Option<&Value>, append: bool) -> Option<Value> {
    let (default, found, options) = match (default?, found) {
        (default @ (Value::Map(_) | Value::List(_)), None) => return Some(default.clone()),
        (default @ Value::Map(_), Some(found @ Value::Map(_))) => (
            default,
            found,
            Options {
                strategy: Strategy::Recurse,
                merge_lists: append,
            },
        ),
        // Of two lists as roots, `aggregate` appends what is new.
        (default @ Value::List(_), Some(found @ Value::List(_))) => (
            default,
            found,
            Options {
                strategy: Strategy::Aggregate,
                merge_lists: false,
            },
        ),
        _ => return None,
    };
    merge(default.clone(), found, &options).ok()
}

fn merge_strategy(how: &Value) -> (Strategy, Option<Warning>) {
    match Strategy::from(how) {
        known @ (Strategy::Recurse | Strategy::Overwrite) => (known, None),
        _ => (
            Strategy::Recurse,
            Some(Warning::UnsupportedMerge { given: how.clone() }),
        ),
    }
}

fn is_something(value: &Value) -> bool {
    value.as_str() != Some(NOTHING)
}

/// A key as a path: text is split, a list gives the steps themselves. `None` is a path that leads
/// nowhere, as one of its steps cannot be a key.
fn path(key: &Value, delimiter: &str) -> Result<Option<Path>, LookupError> {
    let steps = |items: &[Value]| {
        items
            .iter()
            .map(|item| Key::try_from(item).ok())
            .collect::<Option<Vec<_>>>()
    };
    let keys = match key {
        Value::Str(text) => return Ok(Some(Path::split(text, delimiter)?)),
        Value::Int(i) => Some(vec![Key::Int(i.clone())]),
        Value::Bool(b) => Some(vec![Key::Bool(*b)]),
        Value::List(items) => steps(items),
        Value::Tuple(items) => steps(items),
        Value::Set(items) => Some(items.iter().cloned().collect()),
        Value::Map(map) => Some(map.keys().cloned().collect()),
        Value::Bytes(bytes) => Some(bytes.iter().map(|b| Key::from(i64::from(*b))).collect()),
        Value::None | Value::Float(_) => return Err(LookupError::BadKey { kind: key.kind() }),
    };
    Ok(keys.map(Path::from_iter))
}
