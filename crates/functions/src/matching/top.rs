//! Targets of top files: whether a minion is one that an entry means (Salt: `salt.matchers.confirm_top`).

use mapstack_diagnostic::nearest;
use mapstack_loader::{Fetched, SaltPath};
use mapstack_pyobject::{Error, ErrorKind, Obj, Result};
use mapstack_salt_jinja::Vm;
use mapstack_value::{Key, Value};

use super::nodegroup::expand;
use super::{Expected, Matcher};
use crate::tree_plugins::tree_matcher;
use crate::{Context, TreeContext};

/// The matchers that an entry of a top file can name in `match`.
const MATCHERS: [&str; 14] = [
    "compound",
    "glob",
    "grain",
    "grain_pcre",
    "ipcidr",
    "list",
    "managing_minion",
    "nodegroup",
    "pcre",
    "pillar",
    "pillar_exact",
    "pillar_pcre",
    "range",
    "resource",
];

/// Those that not every version of Salt has.
const OF_RESOURCES: [&str; 2] = ["managing_minion", "resource"];

/// True if the minion is one that a target of a top file means. `matcher` is what its entry has under `match`;
/// without one, the target is compound. A matcher of the tree replaces Salt's of its name, but inside compound targets. `id` is the minion's, which can be another than that of the run.
///
/// # Errors
/// A matcher that does not exist, and a target that the matcher cannot read; the reference gives up the whole top
/// file then. Targets that it only logs are warnings and match no minion.
pub fn confirm_top(
    run: &dyn Context,
    tree: &dyn TreeContext,
    vm: &Vm<'_>,
    id: &str,
    target: &Key,
    matcher: Option<&Value>,
) -> Result<bool> {
    let name = match matcher {
        None => "compound",
        Some(Value::Str(name)) => &**name,
        Some(other) => return Err(no_matcher(run, &other.to_string())),
    };
    let matcher = Matcher {
        run,
        vm,
        id: id.into(),
        by_function: false,
        tree: Some(tree),
    };
    let target = target.to_value();
    if tree.tree_memo().has_matchers(tree)
        && let Some(is_match) = by_own_matcher(run, tree, vm, name, &target)?
    {
        return Ok(is_match);
    }
    let text = || match &target {
        Value::Str(text) => Ok(text),
        other => Err(Error::type_error(format!(
            "the matcher '{name}' needs a target that is text, not {}",
            other.kind().described()
        ))),
    };
    match name {
        name if OF_RESOURCES.contains(&name) && !matcher.has_resources() => {
            Err(no_matcher(run, name))
        }
        "compound" => matcher.compound(&target)?.truthy(),
        "glob" => Ok(target.as_str().is_some_and(|target| matcher.glob(target))),
        "pcre" => matcher.pcre(text()?),
        "list" => Ok(matcher.list(&target)),
        "managing_minion" => Ok(target.as_str() == Some(id)),
        "grain" => matcher.grain(text()?, ":", Expected::Glob),
        "grain_pcre" => matcher.grain(text()?, ":", Expected::Regex),
        "pillar" => matcher.pillar(text()?, ":", Expected::Glob),
        "pillar_pcre" => matcher.pillar(text()?, ":", Expected::Regex),
        "pillar_exact" => matcher.pillar(text()?, ":", Expected::Exact),
        "ipcidr" => Ok(matcher.ipcidr(&Obj::from(target))?.unwrap_or_default()),
        "data" => data(text()?),
        "nodegroup" => nodegroup(&matcher, &target),
        "resource" => Ok(matcher.resource(text()?)),
        // The reference asks a library that hardly any master has, and says no without it.
        "range" => {
            matcher.warn("the matcher 'range' asks a server, so it matches no minion here");
            Ok(false)
        }
        name => Err(no_matcher(run, name)),
    }
}

/// True if the minion is one that a nodegroup's target means, for who asks a master (Salt: `CkMinions.check_minions`). A
/// target that cannot be read is a warning, and matches no minion.
///
/// # Errors
/// Limits.
pub fn is_in_group(run: &dyn Context, vm: &Vm<'_>, id: &str, target: &Value) -> Result<bool> {
    let matcher = Matcher {
        run,
        vm,
        id: id.into(),
        by_function: false,
        tree: None,
    };
    let found = matcher.compound(target);
    matcher.lenient(found)?.truthy()
}

/// The answer of the tree's matcher of a name, if it has one. A tree can replace the whole test of targets as well,
/// which is not run.
fn by_own_matcher(
    run: &dyn Context,
    tree: &dyn TreeContext,
    vm: &Vm<'_>,
    name: &str,
    target: &Value,
) -> Result<Option<bool>> {
    let own = "_matchers/confirm_top.py";
    let fetched = run.fetch(&SaltPath::from_relative(own), "base");
    if matches!(fetched, Ok(Fetched::Found { .. })) {
        let message = format!("salt://{own} replaces Salt's test of targets, and is not run");
        return Err(Error::new(ErrorKind::Undefined, message)
            .with_help("matchers of the tree, such as _matchers/NAME_match.py, are run"));
    }
    let mut arguments = vec![target.clone()];
    if name == "nodegroup" {
        arguments.push(run.option("nodegroups"));
    }
    tree_matcher(tree, vm, name, arguments, Vec::new())
}

/// The error of a matcher that top files cannot name.
fn no_matcher(run: &dyn Context, name: &str) -> Box<Error> {
    let has_resources = run.salt_version().behaviour().has_resource_targets;
    let is_there = |name: &&str| has_resources || !OF_RESOURCES.contains(name);
    let known: Vec<&str> = MATCHERS.into_iter().filter(is_there).collect();
    let error = Error::python("KeyError", format!("the matcher '{name}' does not exist"));
    error.with_help(match nearest(name, known.iter().copied()) {
        Some(near) => format!("did you mean '{near}'?"),
        None => format!("there are {}", known.join(", ")),
    })
}

/// The data store of a minion is not known to who compiles its pillar; the reference fails on it.
fn data(target: &str) -> Result<bool> {
    if !target.contains(':') {
        return Ok(false);
    }
    let message = format!("the matcher 'data' cannot read '{target}' from the minion's data store");
    Err(Error::python("KeyError", message)
        .with_help("match by grains or by the id; a master does not have that store"))
}

/// A nodegroup is named by the target.
fn nodegroup(matcher: &Matcher<'_, '_>, target: &Value) -> Result<bool> {
    let groups = matcher.run.option("nodegroups");
    let Some((groups, name)) = groups.as_map().zip(target.as_str()) else {
        return Ok(false);
    };
    if !groups.contains_key(name) {
        return Ok(false);
    }
    let Ok(words) = expand(name, groups) else {
        matcher.warn(&format!("the nodegroup '{name}' is not a target"));
        return Ok(false);
    };
    let words: Value = words.into_iter().map(Value::from).collect();
    matcher.compound(&words)?.truthy()
}
