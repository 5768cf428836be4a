//! The options of one compile (Salt: `Pillar.__gen_opts`).

use mapstack_merge::Options;
use mapstack_minion::Minion;
use mapstack_value::{Key, Map, Value};

use crate::external::passed;

/// A minion's request for its pillar, besides its id and grains.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PillarRequest {
    /// The saltenv; `None` where it names none.
    pub saltenv: Value,
    /// The environment of the pillar; `None` where it names none.
    pub pillarenv: Value,
    /// Pillar data of a command line, which wins over what the master has.
    pub pillar_override: Map,
    /// External pillars that the command asks for, in addition to those of the master.
    pub ext: Option<Value>,
    /// The options that the minion passes on to external pillars.
    pub extra_minion_data: Map,
    /// The mistake in the minion's own options because of which it requests no pillar.
    pub problem: Option<String>,
}

impl PillarRequest {
    /// The request of a minion: the options `saltenv` and `pillarenv` of its configuration, and those that
    /// `pass_to_ext_pillars` names.
    #[must_use]
    pub fn of(minion: &Minion) -> Self {
        let option = |name: &str| minion.opts.get(name).cloned().unwrap_or_default();
        let (extra_minion_data, problem) = match passed(&minion.opts) {
            Ok(extra) => (extra, None),
            Err(problem) => (Map::new(), Some(problem)),
        };
        PillarRequest {
            saltenv: option("saltenv"),
            pillarenv: option("pillarenv"),
            extra_minion_data,
            problem,
            ..PillarRequest::default()
        }
    }
}

/// The options of one compile.
#[derive(Debug, Clone)]
pub(crate) struct CompileSettings {
    /// Those that functions see: the master's, with the minion's grains.
    pub functions: Map,
    /// Those that templates and the compiler see.
    pub templates: Map,
    /// The id of the minion.
    pub id: Value,
    /// The master's own id.
    pub masters_id: Value,
    /// The environment of the request, before the options.
    pub asked_saltenv: Value,
    /// Messages about the request.
    pub refusals: Vec<String>,
    /// The mistake that ends the compile before it begins.
    pub ends: Option<String>,
}

/// The environment whose directories serve every environment without roots.
const DYNAMIC: &str = "__env__";

impl CompileSettings {
    pub fn new(options: &Map, minion: &Minion, ask: &PillarRequest) -> Self {
        let mut functions = options.clone();
        functions.insert("grains", minion.grains.clone());
        let from_saltenv = functions
            .get("pillarenv_from_saltenv")
            .is_some_and(Value::truthy);
        if ask.pillarenv.is_none() && from_saltenv {
            functions.insert("pillarenv", ask.saltenv.clone());
        }
        let mut settings = CompileSettings {
            templates: functions.clone(),
            masters_id: functions.get("id").cloned().unwrap_or_default(),
            id: minion.id(),
            asked_saltenv: ask.saltenv.clone(),
            refusals: Vec::new(),
            ends: None,
            functions,
        };
        settings.for_templates(ask);
        settings
    }

    fn for_templates(&mut self, ask: &PillarRequest) {
        let id = self.id.clone();
        let templates = &mut self.templates;
        templates.insert("file_client", "local");
        for (name, asked) in [("saltenv", &ask.saltenv), ("pillarenv", &ask.pillarenv)] {
            if !asked.is_none() {
                templates.insert(name, asked.clone());
            } else if !templates.contains_key(name) {
                templates.insert(name, Value::None);
            }
        }
        templates.insert("id", id.clone());
        let top = match templates.get("state_top").and_then(Value::as_str) {
            Some(url) if url.starts_with("salt://") => url.to_owned(),
            Some(path) => format!("salt://{}", path.strip_prefix('/').unwrap_or(path)),
            None => "salt://top.sls".into(),
        };
        templates.insert("state_top", top);
        if let Some(ext) = &ask.ext {
            self.add_on_demand(ext);
        }
        self.map_dynamic_root();
        self.templates.insert("minion_id", id);
    }

    /// External pillars that a command asks for, if the master allows them.
    fn add_on_demand(&mut self, ext: &Value) {
        let Value::Map(asked) = ext else {
            self.refusals
                .push("the pillar asked for on demand is not a mapping".into());
            return;
        };
        let allowed = self.value("on_demand_ext_pillar");
        let is_allowed = |name: &Key| match &allowed {
            Value::List(names) => names.contains(&name.to_value()),
            Value::Tuple(names) => names.contains(&name.to_value()),
            Value::Map(names) => names.contains_key(name),
            Value::Str(text) => name.as_str().is_some_and(|name| text.contains(name)),
            _ => false,
        };
        let refused: Vec<String> = asked
            .keys()
            .filter(|name| !is_allowed(name))
            .map(ToString::to_string)
            .collect();
        if !refused.is_empty() {
            self.refusals.push(format!(
                "the option on_demand_ext_pillar does not allow {}",
                refused.join(", ")
            ));
            return;
        }
        if asked.is_empty() {
            return;
        }
        let mut all = match self.templates.get("ext_pillar") {
            Some(Value::List(all)) => all.to_vec(),
            // The reference appends to the option without a check.
            Some(other) => {
                let what = other.kind().described();
                self.ends = Some(format!(
                    "`ext_pillar` must be a list for a pillar on demand, not {what}"
                ));
                return;
            }
            None => Vec::new(),
        };
        all.push(ext.clone());
        self.templates.insert("ext_pillar", Value::from_iter(all));
    }

    /// Map `__env__` among the pillar's roots to the requested environment, unless that has roots.
    fn map_dynamic_root(&mut self) {
        let Value::Map(mut roots) = self.value("pillar_roots") else {
            return;
        };
        if !roots.contains_key(DYNAMIC) {
            return;
        }
        let asked = [self.value("pillarenv"), self.value("saltenv")];
        let env = asked
            .into_iter()
            .find(Value::truthy)
            .unwrap_or_else(|| "base".into());
        let text = env.to_string();
        if let Some(directories) = roots.shift_remove(DYNAMIC)
            && !roots.contains_key(text.as_str())
        {
            let directories = directories.as_list().unwrap_or_default().iter();
            let directories: Value = directories
                .map(|directory| Value::from(directory.to_string().replace(DYNAMIC, &text)))
                .collect();
            roots.insert(text.as_str(), directories);
        }
        self.templates.insert("pillar_roots", roots);
    }

    /// An option of the compiler; `None` if it does not exist.
    pub fn value(&self, name: &str) -> Value {
        self.templates.get(name).cloned().unwrap_or_default()
    }

    /// True if an option is on.
    pub fn is_on(&self, name: &str) -> bool {
        self.templates.get(name).is_some_and(Value::truthy)
    }

    /// The environments of the pillar: `base`, then the others in order.
    pub fn envs(&self) -> Vec<String> {
        let mut envs = vec!["base".to_owned()];
        let roots = self.value("pillar_roots");
        let named = roots.as_map().into_iter().flat_map(Map::keys);
        envs.extend(named.map(ToString::to_string).filter(|name| name != "base"));
        envs
    }

    /// True if an environment has directories.
    pub fn has_roots(&self, env: &str) -> bool {
        let roots = self.value("pillar_roots");
        roots
            .as_map()
            .and_then(|roots| roots.get(env))
            .is_some_and(Value::truthy)
    }

    /// The options for merging layers of the pillar.
    pub fn merging(&self) -> Options {
        merging(
            &self.value("pillar_source_merging_strategy"),
            &self.value("renderer"),
            &self.value("pillar_merge_lists"),
        )
    }
}

/// The pillar of a state run that is given one on its command line: merged once more, as the minion's options say.
///
/// ```
/// use mapstack_value::Map;
/// let pillar = Map::from_iter([("a", 1), ("b", 2)]);
/// let merged = mapstack_pillar::overridden(pillar, &Map::from_iter([("b", 3)]), &Map::new());
/// assert_eq!(merged.get("b").unwrap().repr(), "3");
/// ```
#[must_use]
pub fn overridden(pillar: Map, over: &Map, opts: &Map) -> Map {
    let option = |name: &str| opts.get(name).cloned().unwrap_or_default();
    let options = merging(
        &option("pillar_source_merging_strategy"),
        &option("renderer"),
        &option("pillar_merge_lists"),
    );
    let over = Value::Map(over.clone());
    match mapstack_merge::merge(Value::Map(pillar.clone()), &over, &options) {
        Ok(Value::Map(merged)) => merged,
        _ => pillar,
    }
}

/// The options of merging for three options of a master.
pub(crate) fn merging(strategy: &Value, renderer: &Value, lists: &Value) -> Options {
    let smart = Value::from("smart");
    let strategy = if strategy.truthy() { strategy } else { &smart };
    let last = renderer.as_str().unwrap_or_default();
    let aggregates = last.rsplit('|').next() == Some("yamlex") || last.starts_with("yamlex_");
    if aggregates && *strategy == smart {
        return Options::new(&"aggregate".into(), lists);
    }
    Options::new(strategy, lists)
}
