//! The tree's modules for loaders that ask one function of each: `salt://_pillar`, `salt://_tops`, `salt://_matchers`.

use mapstack_pyobject::Error;
use mapstack_salt_jinja::Vm;
use mapstack_sandbox::{FunctionAnswer, FunctionJob, Loader};
use mapstack_value::{Map, Str, Value, weight};

use crate::tree::{COST, ModuleTree, TreeContext, perform, shipped};

/// A call of an external pillar.
#[derive(Debug, Clone, PartialEq)]
pub struct PillarCall {
    /// Its name.
    pub name: Str,
    /// The id of the minion.
    pub minion_id: Value,
    /// The pillar so far.
    pub pillar: Value,
    /// The argument of the configuration: a mapping, a list or one argument.
    pub given: Value,
    /// The options that the minion passes on.
    pub extra: Map,
}

/// The answer of a module of the tree.
#[derive(Debug)]
pub enum PluginAnswer {
    /// The value that it returned, and the arguments by number that it changed in place.
    Value(Value, Vec<(usize, Value)>),
    /// The tree has it, and it does not load; why, if something says so.
    Missing(Option<String>),
    /// The tree has none of that name.
    None,
}

/// Let an external pillar of the tree give its data. The pillar is argument 1.
///
/// # Errors
/// As [`tree_call`](crate::tree_call).
pub fn tree_ext_pillar(
    run: &dyn TreeContext,
    vm: &Vm<'_>,
    call: PillarCall,
) -> mapstack_pyobject::Result<PluginAnswer> {
    let (mut arguments, mut keywords) = (vec![call.minion_id, call.pillar], Vec::new());
    match call.given {
        Value::Map(named) => {
            let named = named.into_iter();
            keywords.extend(named.map(|(name, value)| (name.to_string().into(), value)));
        }
        Value::List(items) => arguments.extend(items.iter().cloned()),
        alone => arguments.push(alone),
    }
    if !call.extra.is_empty() {
        keywords.push(("extra_minion_data".into(), call.extra.into()));
    }
    let job = FunctionJob {
        loader: Loader::Pillar,
        module: call.name,
        function: Some("ext_pillar".into()),
        arguments,
        keywords,
    };
    answer(run, vm, job)
}

/// Let a master top of the tree give the sls of a minion, which has these options and grains.
///
/// # Errors
/// As [`tree_call`](crate::tree_call).
pub fn tree_top(
    run: &dyn TreeContext,
    vm: &Vm<'_>,
    name: &str,
    [opts, grains]: [Value; 2],
) -> mapstack_pyobject::Result<PluginAnswer> {
    let job = FunctionJob {
        loader: Loader::Tops,
        module: name.into(),
        function: Some("top".into()),
        arguments: Vec::new(),
        keywords: vec![("opts".into(), opts), ("grains".into(), grains)],
    };
    answer(run, vm, job)
}

/// Let a matcher of the tree say whether a target matches the minion. Matchers of the tree replace Salt's.
///
/// # Errors
/// As [`tree_call`](crate::tree_call); the matcher does not load.
pub fn tree_matcher(
    run: &dyn TreeContext,
    vm: &Vm<'_>,
    name: &str,
    arguments: Vec<Value>,
    keywords: Vec<(Str, Value)>,
) -> mapstack_pyobject::Result<Option<bool>> {
    let job = FunctionJob {
        loader: Loader::Matchers,
        module: format!("{name}_match").into(),
        function: Some("match".into()),
        arguments,
        keywords,
    };
    match answer(run, vm, job)? {
        PluginAnswer::Value(value, _) => Ok(Some(value.truthy())),
        PluginAnswer::None => Ok(None),
        PluginAnswer::Missing(why) => {
            let why = why.map(|why| format!(": {why}")).unwrap_or_default();
            let message = format!("the matcher '{name}' of the tree does not load{why}");
            Err(Error::python("KeyError", message))
        }
    }
}

/// True if the tree has a matcher. This runs nothing.
pub fn has_tree_matcher(run: &dyn TreeContext, name: &str) -> bool {
    let name = format!("{name}_match.match");
    // An error is met again by the call.
    run.tree_memo().has_matchers(run)
        && shipped(run, Loader::Matchers, &name).map_or(true, |shipped| !shipped.sources.is_empty())
}

fn answer(
    run: &dyn TreeContext,
    vm: &Vm<'_>,
    job: FunctionJob,
) -> mapstack_pyobject::Result<PluginAnswer> {
    let function = job.function.as_deref().unwrap_or_default();
    let name = format!("{}.{function}", job.module);
    if shipped(run, job.loader, &name)?.sources.is_empty() {
        return Ok(PluginAnswer::None);
    }
    vm.burn(COST)?;
    let (answer, changed) = perform(&ModuleTree::new(run), vm, job)?;
    Ok(match answer {
        FunctionAnswer::Value(value) => {
            vm.burn(weight(&value) / 64)?;
            PluginAnswer::Value(value, changed)
        }
        FunctionAnswer::Missing(why) => PluginAnswer::Missing(why),
        FunctionAnswer::Names(_) | FunctionAnswer::Text(_) => PluginAnswer::None,
    })
}
