//! Leaving states out (Salt: `apply_exclude`).

use indexmap::IndexSet;
use mapstack_pyobject::{DictRef, Obj};
use mapstack_value::Key;
use mapstack_value::pytext::Fnmatch;

use super::extend::taken;
use super::python::{described, first, is_internal, items, key, mapping};
use super::refusal::{Result, exception};
use super::work::MinionCompile;

impl MinionCompile<'_> {
    /// Take the states out that sls exclude.
    pub(crate) fn exclude(&self, high: &DictRef) -> Result<()> {
        let Some(excludes) = taken(high, "__exclude__") else {
            return Ok(());
        };
        let mut sls: IndexSet<Key> = IndexSet::new();
        let mut ids: IndexSet<Key> = IndexSet::new();
        for exclude in items(self.budget, &excludes)? {
            match &exclude {
                Obj::Str(_) | Obj::Markup(_) => drop(sls.insert(key(&exclude)?)),
                Obj::Dict(exclude) if exclude.len() == 1 => {
                    let (kind, name) = first(exclude)?;
                    match kind.as_str() {
                        Some("sls") => drop(sls.insert(key(&name)?)),
                        Some("id") => drop(ids.insert(key(&name)?)),
                        _ => {}
                    }
                }
                _ => {}
            }
        }
        if !sls.is_empty() {
            self.add_ids(high, &sls, &mut ids)?;
        }
        high.change(|states| states.retain(|id, _| !ids.contains(id)));
        Ok(())
    }

    /// Add the IDs of the states of some sls.
    fn add_ids(&self, high: &DictRef, sls: &IndexSet<Key>, ids: &mut IndexSet<Key>) -> Result<()> {
        let patterns: Vec<Option<Fnmatch>> = sls
            .iter()
            .map(|name| name.as_str().map(Fnmatch::new))
            .collect();
        for (id, body) in high.entries() {
            self.budget.burn(patterns.len())?;
            if is_internal(&id)? {
                continue;
            }
            let own = mapping(&body)?.get_str("__sls__").unwrap_or(Obj::from(""));
            if !own.truthy()? {
                continue;
            }
            for pattern in &patterns {
                let (Some(pattern), Some(own)) = (pattern, own.as_str()) else {
                    return exception(format!(
                        "{} is compared with the name of an sls",
                        described(&own)
                    ));
                };
                if pattern.matches(own) {
                    ids.insert(id.clone());
                }
            }
        }
        Ok(())
    }
}
