//! The requisites of chunks (Salt: `order_chunks` up to the sorting).

use mapstack_pyobject::{DictRef, Obj, to_str};
use mapstack_value::{Int, Key};

use super::CompileOptions;
use super::chunks::text_at;
use super::extend::taken;
use super::graph::{Graph, listed};
use super::keywords::Requisite;
use super::order::{named_state, raise};
use super::python::{described, extend, first, key, mapping};
use super::refusal::{NamedState, Refusal, RefusalKind, Requires, Result, path_of};
use super::verify::split_module;
use super::work::MinionCompile;

impl MinionCompile<'_> {
    /// Add what each chunk requires to the graph. The result is above all order numbers.
    pub(crate) fn require(
        &mut self,
        chunks: &[DictRef],
        options: &CompileOptions<'_>,
        graph: &mut Graph,
    ) -> Result<Int> {
        let mut cap = Int::from(1);
        for chunk in chunks {
            self.budget.burn(1)?;
            if let Some(Obj::Tuple(name)) = chunk.get_str("name") {
                chunk.insert("name", Obj::list(name.to_vec()));
            }
            self.without_watch(chunk, options)?;
            if let Some(refusal) = self.add_requisites(chunk, options, graph)? {
                self.refuse(refusal);
                continue;
            }
            raise(&mut cap, chunk);
        }
        Ok(cap)
    }

    /// `watch` becomes `require` if the module has no reaction to changes.
    fn without_watch(&self, chunk: &DictRef, options: &CompileOptions<'_>) -> Result<()> {
        for (watch, require) in [("watch", "require"), ("watch_any", "require_any")] {
            let Some(watched) = chunk.get_str(watch) else {
                continue;
            };
            if (options.watches)(&text_at(chunk, "state")?) {
                continue;
            }
            let required = chunk.get_str(require).unwrap_or_else(|| {
                let required = Obj::list([]);
                chunk.insert(require, required.clone());
                required
            });
            extend(self.budget, &required, &watched)?;
            taken(chunk, watch);
        }
        Ok(())
    }

    /// Add what a chunk requires, up to the first that is refused.
    fn add_requisites(
        &self,
        chunk: &DictRef,
        options: &CompileOptions<'_>,
        graph: &mut Graph,
    ) -> Result<Option<Refusal>> {
        for kind in Requisite::ALL {
            if options
                .disabled_requisites
                .iter()
                .any(|name| name == kind.name())
            {
                continue;
            }
            for one in listed(self.budget, chunk, kind)? {
                let (module, name) = match &one {
                    Obj::Str(_) | Obj::Markup(_) => (Key::from("id"), one.clone()),
                    other => first(mapping(other)?)?,
                };
                let module = match split_module(&module)? {
                    Some((module, _)) => Key::from(module),
                    None => module,
                };
                if name.is_none() {
                    continue;
                }
                let Some(text) = name.as_str() else {
                    let what = described(&name);
                    let message = format!("'{}' names {what}, not text", kind.name());
                    return refusal(chunk, RefusalKind::RequisiteNotText, &message).map(Some);
                };
                // A state that is tested has a node for that from here on.
                let is_tested = chunk.get_str("__prereq__").unwrap_or_default().truthy()?;
                let Some(others) = graph.targets(&module, text)? else {
                    return missing(chunk, kind.name(), &module, text).map(Some);
                };
                self.budget.burn(1 + others.len())?;
                graph.require(chunk, kind, &others, is_tested)?;
            }
        }
        Ok(None)
    }
}

/// The refusal of a requisite on a state that does not exist, which is given by its module and its name.
pub(super) fn missing(
    chunk: &DictRef,
    requisite: &str,
    module: &Key,
    name: &str,
) -> Result<Refusal> {
    let message = format!("'{requisite}' names '{module}: {name}', which does not exist");
    let mut refusal = refusal(chunk, RefusalKind::MissingRequisite, &message)?;
    refusal.missing = Some((Some(module.to_string()), name.to_string()));
    refusal.requisites = vec![Requires {
        state: named_state(chunk)?,
        argument: requisite.to_owned(),
        on: NamedState::named(module, name),
    }];
    Ok(refusal)
}

/// The refusal of a requisite of a chunk.
fn refusal(chunk: &DictRef, kind: RefusalKind, message: &str) -> Result<Refusal> {
    let at = |name: &str| chunk.get_str(name).unwrap_or_default();
    let id = at("__id__");
    let message = format!("{message} (in '{}')", to_str(&at("name"))?);
    let path = path_of(&key(&id)?, &key(&at("state"))?);
    let refusal = Refusal::new(kind, message).of_sls(to_str(&at("__sls__"))?);
    Ok(refusal.of_state(&to_str(&id)?, path))
}
