//! `match.*`: targets that match the minion or not (Salt: `salt.modules.match`, `salt.matchers`).
//!
//! The reference's matchers never raise: they log an error and return false. Here the error is a warning.

mod compound;
mod expression;
mod nodegroup;
mod subdict;
mod top;

use mapstack_pyobject::{CallArgs, Error, ErrorKind, Obj, Result, required};
use mapstack_salt_jinja::{
    Vm,
    python::{Address, Anchor, Network, Pattern, hash_key, to_str},
};
use mapstack_value::pytext::fnmatch;
use mapstack_value::{Key, Str, Value};

use self::subdict::{Expected, SubdictSearch};
pub use self::top::{confirm_top, is_in_group};
use super::filter_by::copied;
use super::slsutil::update;
use super::{ModuleTable, if_true};
use crate::{Context, Flow, TreeContext};
use mapstack_diagnostic::{Diagnostic, ErrorKind as Kind};
use mapstack_minion::Part as Facts;

pub(super) const TABLE: ModuleTable = &[
    ("match.compound", |run, vm, args| {
        let [target, id] = args.bind("match.compound", ["tgt", "minion_id"])?;
        let target = required(target, "match.compound", "tgt")?;
        let matcher = Matcher::new(run, vm, id)?;
        matcher.lenient(
            matcher
                .words(&target)
                .and_then(|target| matcher.compound(&target)),
        )
    }),
    ("match.data", |_, _, args| {
        // The minion's data store is unknown, and counts as empty.
        let [target] = args.bind("match.data", ["tgt"])?;
        required(target, "match.data", "tgt").map(|_| Obj::Bool(false))
    }),
    ("match.filter_by", |run, vm, args| {
        let names = [
            "lookup",
            "tgt_type",
            "minion_id",
            "merge",
            "merge_lists",
            "default",
        ];
        let [lookup, kind, id, merge, lists, default] = args.bind("match.filter_by", names)?;
        let lookup = required(lookup, "match.filter_by", "lookup")?;
        let default = default.unwrap_or_else(|| Obj::from("default"));
        filter_by(
            run,
            vm,
            &lookup,
            &Targets::new(kind, id)?,
            merge,
            &lists.unwrap_or(Obj::Bool(false)),
            &default,
        )
    }),
    ("match.glob", |run, vm, args| {
        let [target, id] = args.bind("match.glob", ["tgt", "minion_id"])?;
        let target = required(target, "match.glob", "tgt")?;
        let matcher = Matcher::new(run, vm, id)?;
        Ok(Obj::Bool(
            target.as_str().is_some_and(|target| matcher.glob(target)),
        ))
    }),
    ("match.grain", |run, vm, args| {
        facts(
            run,
            vm,
            args,
            "match.grain",
            TargetPart::Grains,
            Expected::Glob,
        )
    }),
    ("match.grain_pcre", |run, vm, args| {
        facts(
            run,
            vm,
            args,
            "match.grain_pcre",
            TargetPart::Grains,
            Expected::Regex,
        )
    }),
    ("match.ifelse", ifelse),
    ("match.ipcidr", |run, vm, args| {
        let [target] = args.bind("match.ipcidr", ["tgt"])?;
        let target = required(target, "match.ipcidr", "tgt")?;
        if matches!(target, Obj::Undefined(_)) {
            return Ok(Obj::list([]));
        }
        let matcher = Matcher::new(run, vm, None)?;
        let found = matcher
            .ipcidr(&target)
            .map(|found| found.map_or_else(|| Obj::list([]), Obj::Bool));
        matcher.lenient(found)
    }),
    ("match.list", |run, vm, args| {
        let [target, id] = args.bind("match.list", ["tgt", "minion_id"])?;
        let target = required(target, "match.list", "tgt")?;
        // Whatever is wrong with a target, it is not a list that contains the minion.
        let target = if matches!(target, Obj::Undefined(_)) {
            Value::None
        } else {
            target.to_value()?
        };
        Ok(Obj::Bool(Matcher::new(run, vm, id)?.list(&target)))
    }),
    ("match.pcre", |run, vm, args| {
        let [target, id] = args.bind("match.pcre", ["tgt", "minion_id"])?;
        let target = required(target, "match.pcre", "tgt")?;
        let matcher = Matcher::new(run, vm, id)?;
        let found = match target.as_str() {
            Some(target) => matcher.pcre(target).map(Obj::Bool),
            None => Err(Error::type_error(
                "first argument must be string or compiled pattern",
            )),
        };
        matcher.lenient(found)
    }),
    ("match.pillar", |run, vm, args| {
        facts(
            run,
            vm,
            args,
            "match.pillar",
            TargetPart::Pillar,
            Expected::Glob,
        )
    }),
    ("match.pillar_pcre", |run, vm, args| {
        facts(
            run,
            vm,
            args,
            "match.pillar_pcre",
            TargetPart::Pillar,
            Expected::Regex,
        )
    }),
    ("match.search_by", |run, vm, args| {
        let [lookup, kind, id] =
            args.bind("match.search_by", ["lookup", "tgt_type", "minion_id"])?;
        let lookup = required(lookup, "match.search_by", "lookup")?;
        search_by(run, vm, &lookup, &Targets::new(kind, id)?)
    }),
];

/// The facts a target may look into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TargetPart {
    Grains,
    Pillar,
}

/// `match.grain` and its siblings.
fn facts(
    run: &dyn Context,
    vm: &Vm<'_>,
    args: CallArgs,
    name: &str,
    part: TargetPart,
    how: Expected,
) -> Result<Obj> {
    let [target, delimiter] = args.bind(name, ["tgt", "delimiter"])?;
    let target = required(target, name, "tgt")?;
    let delimiter = delimiter.unwrap_or_else(|| Obj::from(":"));
    let matcher = Matcher::new(run, vm, None)?;
    let found = match (target.as_str(), delimiter.as_str()) {
        (Some(target), Some(delimiter)) => match part {
            TargetPart::Grains => matcher.grain(target, delimiter, how),
            TargetPart::Pillar => matcher.pillar(target, delimiter, how),
        },
        _ => Err(Error::type_error("a target and its delimiter must be text")),
    };
    matcher.lenient(found.map(Obj::Bool))
}

/// One minion's view on targets.
struct Matcher<'m, 'r> {
    run: &'m dyn Context,
    vm: &'m Vm<'r>,
    id: Str,
    /// True if a function asks, and not a top file.
    by_function: bool,
    /// The tree whose matchers replace Salt's.
    tree: Option<&'m dyn TreeContext>,
}

impl<'m, 'r> Matcher<'m, 'r> {
    /// For the minion of the run, unless another id is given.
    fn new(run: &'m dyn Context, vm: &'m Vm<'r>, id: Option<Obj>) -> Result<Self> {
        let given = match id {
            None | Some(Obj::None) => None,
            Some(id) => Some(Str::from(to_str(&id)?)).filter(|id| !id.is_empty()),
        };
        let id = given.unwrap_or_else(|| run.id().to_string().into());
        Ok(Matcher {
            run,
            vm,
            id,
            by_function: true,
            tree: None,
        })
    }

    /// A compound target as data; `None` if it is not data.
    fn words(&self, target: &Obj) -> Result<Value> {
        match target {
            // The reference takes the words out of the list, which a tuple does not allow.
            Obj::Tuple(_) => Err(Error::python(
                "AttributeError",
                "'tuple' object has no attribute 'pop'",
            )),
            other => other.to_value(),
        }
    }

    /// An error as a warning and false; but limits stay limits.
    fn lenient(&self, found: Result<Obj>) -> Result<Obj> {
        match found {
            Err(e) if e.kind != ErrorKind::Limit => {
                self.warn(&e.message);
                Ok(Obj::Bool(false))
            }
            other => other,
        }
    }

    fn malformed(&self, target: &Value, problem: &str) -> Obj {
        self.warn(&format!(
            "the target {} matches nothing: {problem}",
            target.repr()
        ));
        Obj::Bool(false)
    }

    fn warn(&self, message: &str) {
        self.run.warn(Diagnostic::warning(Kind::Lookup, message));
    }

    fn glob(&self, pattern: &str) -> bool {
        fnmatch(pattern, &self.id)
    }

    fn pcre(&self, pattern: &str) -> Result<bool> {
        let pattern = Pattern::new(&pattern.into(), false, false, Anchor::Start)?;
        Ok(pattern.at_start(self.vm, &self.id)?.is_some())
    }

    fn grain(&self, target: &str, delimiter: &str, how: Expected) -> Result<bool> {
        self.subdict(Facts::Grains, target, delimiter, how)
    }

    fn pillar(&self, target: &str, delimiter: &str, how: Expected) -> Result<bool> {
        self.subdict(Facts::Pillar, target, delimiter, how)
    }

    fn subdict(&self, part: Facts, target: &str, delimiter: &str, how: Expected) -> Result<bool> {
        if !target.contains(delimiter) {
            self.warn(&format!(
                "the target '{target}' has no '{delimiter}' between a key and a pattern"
            ));
            return Ok(false);
        }
        let other = match part {
            Facts::Pillar if self.by_function => self.run.pillar_of_functions(),
            Facts::Pillar => self.run.pillar_of_targets(),
            _ => None,
        };
        let facts = other.unwrap_or_else(|| self.facts(part, target, delimiter));
        let search = SubdictSearch {
            vm: self.vm,
            how,
            matches_keys: self.run.salt_version().behaviour().targets_match_keys,
        };
        search.find(&facts, target, delimiter)
    }

    /// The facts that a target can lead to.
    fn facts(&self, part: Facts, target: &str, delimiter: &str) -> Value {
        let first = target
            .split(delimiter)
            .next()
            .filter(|_| !delimiter.is_empty());
        let facts = match first {
            // Every look-up begins with the first step, unless that matches all.
            Some(first) if first != "*" => self.run.below(part, first),
            _ if part == Facts::Pillar => self.run.facts().pillar.clone(),
            _ => self.run.facts().grains.clone(),
        };
        facts.into()
    }

    /// True if the minion is in a list of ids, with commas if it is text.
    fn list(&self, target: &Value) -> bool {
        let id = &*self.id;
        let is_member = |items: &[Value]| items.iter().any(|item| item.as_str() == Some(id));
        match target {
            Value::Str(text) => {
                text.contains(&format!(",{id},"))
                    || text.starts_with(&format!("{id},"))
                    || text.ends_with(&format!(",{id}"))
                    || **text == *id
            }
            // The reference looks for the text between commas first, in anything.
            Value::List(items) => {
                is_member(items) || items.iter().any(|i| i.as_str() == Some(&format!(",{id},")))
            }
            Value::Tuple(items) => {
                is_member(items) || items.iter().any(|i| i.as_str() == Some(&format!(",{id},")))
            }
            Value::Map(map) => map.contains_key(id) || map.contains_key(&*format!(",{id},")),
            Value::Set(set) => set.contains(id) || set.contains(&*format!(",{id},")),
            _ => false,
        }
    }

    /// True if the minion has an address, or one in a network; `None` for what is neither.
    fn ipcidr(&self, target: &Obj) -> Result<Option<bool>> {
        let address = Address::of(target);
        let network = match (&address, target.as_str()) {
            (None, Some(text)) => Network::parse(text, true).ok(),
            _ => None,
        };
        let version = match (&address, &network) {
            (Some(address), _) => address.version(),
            (None, Some(network)) => network.first().version(),
            (None, None) => {
                self.warn(&format!(
                    "{} is neither an address nor a network",
                    to_str(target)?
                ));
                return Ok(None);
            }
        };
        let grain = if version == 4 { "ipv4" } else { "ipv6" };
        let Some(known) = self.run.grain(grain) else {
            return Ok(Some(false));
        };
        if let Some(address) = address {
            let text = address.text();
            return match known {
                Value::List(items) => {
                    Ok(Some(items.iter().any(|item| item.as_str() == Some(&text))))
                }
                Value::Str(all) => Ok(Some(all.contains(&text))),
                other => Err(Error::type_error(format!(
                    "the grain {grain} is {}",
                    other.kind().described()
                ))),
            };
        }
        let Some(network) = network else {
            return Ok(None);
        };
        let items = known
            .as_list()
            .map_or_else(|| vec![known.clone()], <[Value]>::to_vec);
        for item in items {
            let Some(address) = Address::of(&Obj::from(item.clone())) else {
                return Err(Error::value_error(format!(
                    "{} in the grain {grain} is not an address",
                    item.repr()
                )));
            };
            if network.contains(&address) {
                return Ok(Some(true));
            }
        }
        Ok(Some(false))
    }

    /// True if there are targets by resource and by managing minion.
    fn has_resources(&self) -> bool {
        self.run.salt_version().behaviour().has_resource_targets
    }

    /// True if the minion manages resources of a type, or one of them.
    fn resource(&self, target: &str) -> bool {
        let resources = self.run.option("resources");
        let Some(resources) = resources.as_map() else {
            return false;
        };
        match target.split_once(':') {
            Some((kind, id)) => resources
                .get(kind)
                .and_then(Value::as_list)
                .is_some_and(|ids| ids.iter().any(|i| i.as_str() == Some(id))),
            None => resources.get(target).is_some_and(Value::truthy),
        }
    }
}

/// The matcher for the keys of a table.
struct Targets {
    kind: Obj,
    /// The second argument, which each matcher reads in its own way.
    id: Option<Obj>,
}

impl Targets {
    fn new(kind: Option<Obj>, id: Option<Obj>) -> Result<Self> {
        let id = match id {
            Some(id) if id.truthy()? => Some(id),
            _ => None,
        };
        Ok(Targets {
            kind: kind.unwrap_or_else(|| Obj::from("compound")),
            id,
        })
    }

    fn matches(&self, run: &dyn Context, vm: &Vm<'_>, target: Obj) -> Result<bool> {
        // The reference looks for the Python function, and `list` has another name there.
        let name = match self.kind.as_str().map(|kind| &**kind) {
            Some("list_") => Some("match.list".to_string()),
            Some("list") | None => None,
            Some(kind) => Some(format!("match.{kind}")),
        };
        let Some((_, function)) =
            name.and_then(|name| TABLE.iter().find(|(known, _)| *known == name))
        else {
            let kind = to_str(&self.kind)?;
            return Err(Error::python("KeyError", format!("unknown kind of target '{kind}'")).with_help(
                "kinds are compound, glob, grain, grain_pcre, ipcidr, list_, pcre, pillar and pillar_pcre",
            ));
        };
        let args: Vec<Obj> = [target].into_iter().chain(self.id.clone()).collect();
        function(run, vm, CallArgs::positional(args))?.truthy()
    }
}

fn filter_by(
    run: &dyn Context,
    vm: &Vm<'_>,
    lookup: &Obj,
    targets: &Targets,
    merge: Option<Obj>,
    lists: &Obj,
    default: &Obj,
) -> Result<Obj> {
    let Obj::Dict(table) = lookup else {
        let message = format!(
            "match.filter_by() needs a mapping from targets to values, not {}",
            lookup.type_name()
        );
        return Err(Error::python("AttributeError", message));
    };
    for (key, value) in table.entries() {
        vm.burn(4)?;
        if !targets.matches(run, vm, Obj::from(&key))? {
            continue;
        }
        run.flows(Flow::Entry {
            of: lookup,
            at: &key,
            is: &value,
        });
        let Some(merge) = if_true(merge)? else {
            return Ok(value);
        };
        if !matches!(merge, Obj::Dict(_)) {
            return Err(Error::python(
                "SaltException",
                "filter_by merge argument must be a dictionary.",
            ));
        }
        if value.is_none() {
            return Ok(merge);
        }
        let merge = copied(run, &merge)?;
        update(run, &value, &merge, true, lists)?;
        return Ok(value);
    }
    Ok(table.get(&hash_key(default)?).unwrap_or_default())
}

fn search_by(run: &dyn Context, vm: &Vm<'_>, lookup: &Obj, targets: &Targets) -> Result<Obj> {
    let Obj::Dict(table) = lookup else {
        let message = format!("'{}' object has no attribute 'items'", lookup.type_name());
        return Err(Error::python("AttributeError", message));
    };
    let mut found = Vec::new();
    for (key, wanted) in table.entries() {
        for target in wanted.collect(vm)? {
            vm.burn(4)?;
            if targets.matches(run, vm, target)? {
                found.push(Obj::from(&key));
            }
        }
    }
    Ok(if found.is_empty() {
        Obj::None
    } else {
        Obj::list(found)
    })
}

/// `match.ifelse(target, value, …, default)`.
fn ifelse(run: &dyn Context, vm: &Vm<'_>, args: CallArgs) -> Result<Obj> {
    let CallArgs { positional, named } = args;
    if positional.len().is_multiple_of(2) {
        return Err(Error::python(
            "SaltException",
            "The ifelse function must have an odd number of arguments!",
        ));
    }
    let names = ["tgt_type", "minion_id", "merge", "merge_lists"];
    let [kind, id, merge, lists] = CallArgs {
        positional: Vec::new(),
        named,
    }
    .bind("match.ifelse", names)?;
    let Some((default, pairs)) = positional.split_last() else {
        return Ok(Obj::None);
    };
    if pairs.is_empty() {
        return Ok(default.clone());
    }
    let table = Obj::dict([]);
    let Obj::Dict(entries) = &table else {
        return Ok(Obj::None);
    };
    for pair in pairs.chunks(2) {
        let [target, value] = pair else { continue };
        let key = match target {
            Obj::Bool(true) => Key::from("*"),
            Obj::Bool(false) => Key::from("SALT_IFELSE_MATCH_NOTHING"),
            target => hash_key(target)?,
        };
        entries.insert(key, value.clone());
    }
    const DEFAULT: &str = "SALT_IFELSE_FUNCTION_DEFAULT";
    entries.insert(DEFAULT, default.clone());
    filter_by(
        run,
        vm,
        &table,
        &Targets::new(kind, id)?,
        merge,
        &lists.unwrap_or(Obj::Bool(false)),
        &Obj::from(DEFAULT),
    )
}
