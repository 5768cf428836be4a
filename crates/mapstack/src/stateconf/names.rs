//! Names that begin with a dot: of states, and of sls files.

use mapstack_pyobject::{DictRef, Entries, ListRef, Obj};
use mapstack_value::pytext::posixpath;
use mapstack_value::{Key, MapKind, Str};

use crate::stateconf::high::{
    SlsRewrite, below, first, kind_of, list, mapping, text, text_key, wrong,
};
use crate::stateconf::{Result, STATE};

/// The requisites whose states can have such names.
const REQUISITES: [&str; 12] = [
    "require",
    "require_in",
    "watch",
    "watch_in",
    "use",
    "use_in",
    "listen",
    "listen_in",
    "onchanges",
    "onchanges_in",
    "onfail",
    "onfail_in",
];

/// The ids that are not states.
pub(crate) const NO_STATES: [&str; 2] = ["include", "exclude"];

/// The variable `sls_dir` of templates: the directory of an sls.
///
/// ```
/// use mapstack::stateconf::sls_dir;
/// assert_eq!(["a.b.c", "a", ""].map(sls_dir), ["a/b", "a", "."]);
/// ```
#[must_use]
pub fn sls_dir(sls: &str) -> String {
    let dotted = sls.replace('.', "/");
    let directory = match sls.contains('.') {
        true => posixpath::split(&dotted).0,
        false => sls,
    };
    if directory.is_empty() { "." } else { directory }.to_owned()
}

/// Write `id: state.function` as `id: {state.function: []}` (Salt: `rewrite_single_shorthand_state_decl`).
pub(crate) fn spell_out(data: &DictRef) {
    for (id, state) in data.entries() {
        if let Obj::Str(function) = state {
            let empty = Obj::List(ListRef::new(Vec::new()));
            let entries = [(Key::Str(function), empty)].into_iter().collect();
            data.insert(id, Obj::Dict(DictRef::new(entries)));
        }
    }
}

/// A mapping of one entry.
pub(crate) fn single(key: impl Into<Key>, value: Obj) -> Obj {
    let entries: Entries = [(key.into(), value)].into_iter().collect();
    Obj::Dict(DictRef::with_kind(entries, MapKind::Dict))
}

impl SlsRewrite<'_> {
    /// Make the names of included and excluded sls absolute (Salt: `rewrite_sls_includes_excludes`).
    pub fn make_includes_absolute(&self, data: &DictRef) -> Result<()> {
        for (id, value) in data.entries() {
            let path = [id.clone()];
            match id.as_str() {
                Some("include") => self.make_absolute(&value, &path)?,
                Some("exclude") => self.exclude_absolute(&value, &path)?,
                _ => {}
            }
        }
        Ok(())
    }

    fn make_absolute(&self, includes: &Obj, path: &[Key]) -> Result<()> {
        for (number, each) in self.items(includes, path)?.into_iter().enumerate() {
            let path = below(path, Key::from(number as i64));
            let (saltenv, name) = match &each {
                Obj::Dict(dict) => {
                    // It loses its last entry, whether that is used or not.
                    let last = dict.change(indexmap::IndexMap::pop);
                    last.ok_or_else(|| wrong(&path, "an include is an empty mapping"))?
                }
                name => (Key::from(self.sls.saltenv), name.clone()),
            };
            let name = text(&name, &path)?;
            if name.starts_with('.') {
                let absolute = Obj::Str(self.absolute(&name, self.sls.name, &path)?);
                let include = single(saltenv, absolute);
                list(includes, &path)?.change(|items| items[number] = include);
            }
        }
        Ok(())
    }

    fn exclude_absolute(&self, excludes: &Obj, path: &[Key]) -> Result<()> {
        for (number, each) in self.items(excludes, path)?.into_iter().enumerate() {
            let path = below(path, Key::from(number as i64));
            let names_sls = match &each {
                Obj::Dict(dict) => dict.contains(&Key::from("sls")),
                Obj::List(items) => items.read(|items| {
                    items
                        .iter()
                        .any(|item| item.as_str().is_some_and(|it| &**it == "sls"))
                }),
                other => text(other, &path)?.contains("sls"),
            };
            if !names_sls {
                continue;
            }
            let dict = mapping(&each, &path)?;
            let name = text(&dict.get_str("sls").unwrap_or_default(), &path)?;
            if name.starts_with('.') {
                dict.insert("sls", Obj::Str(self.absolute(&name, self.sls.name, &path)?));
            }
        }
        Ok(())
    }

    /// The name of an sls that is relative to another one's (Salt: `_relative_to_abs_sls`).
    fn absolute(&self, relative: &str, sls: &str, path: &[Key]) -> Result<Str> {
        let name = relative.trim_start_matches('.');
        let levels = relative.len() - name.len();
        // The end of a regular expression is before a last line break, too.
        let name = name.strip_suffix('\n').unwrap_or(name);
        let parts: Vec<&str> = sls.split('.').collect();
        let Some(kept) = parts.len().checked_sub(levels) else {
            let message =
                format!("'{relative}' leads above the top of the tree, relative to '{sls}'");
            return Err(wrong(path, message));
        };
        if name.contains('\n') {
            return Err(wrong(path, format!("'{relative}' has a line break")));
        }
        let parts: Vec<&str> = parts[..kept].iter().copied().chain([name]).collect();
        Ok(parts.join(".").into())
    }

    /// The id of a state that begins with a dot (Salt: `_local_to_abs_sid`).
    fn absolute_id(&self, id: &str, path: &[Key]) -> Result<Str> {
        if id.contains("::") {
            return self.absolute(id, self.sls.name, path);
        }
        let absolute = self.absolute(id, &format!("{}.", self.sls.name), path)?;
        Ok(match absolute.rsplit_once('.') {
            Some((sls, id)) => format!("{sls}::{id}").into(),
            None => absolute,
        })
    }

    /// Prefix states whose ids begin with a dot with the name of the sls, where they are declared and where others
    /// require them (Salt: `rename_state_ids`).
    pub fn rename(&self, data: &DictRef, is_extend: bool, path: &[Key]) -> Result<()> {
        if let (Some(extend), false) = (data.get_str("extend"), is_extend) {
            let path = below(path, "extend");
            self.rename(&mapping(&extend, &path)?, true, &path)?;
        }
        for function in self.functions(data, &NO_STATES, path)? {
            for requisite in self.requisites(&function.args, &REQUISITES, &function.path)? {
                let id = text(&requisite.value, &requisite.path)?;
                if id.starts_with('.') {
                    let absolute = self.absolute_id(&id, &requisite.path)?;
                    requisite.item.insert(requisite.name, Obj::Str(absolute));
                }
            }
        }
        for key in data.keys() {
            let path = below(path, key.clone());
            let id = text_key(&key, &path)?;
            if id.starts_with('.') {
                self.rename_state(data, &id, &path)?;
            }
        }
        Ok(())
    }

    fn rename_state(&self, data: &DictRef, id: &Str, path: &[Key]) -> Result<()> {
        let new = Key::Str(self.absolute_id(id, path)?);
        if data.contains(&new) {
            return Err(wrong(
                path,
                format!("the state '{id}' becomes '{new}', which exists already"),
            ));
        }
        let Some(state) = data.get(&Key::Str(id.clone())) else {
            return Ok(());
        };
        for (name, args) in mapping(&state, path)?.entries() {
            let path = below(path, name.clone());
            if kind_of(&text_key(&name, &path)?) == STATE {
                continue;
            }
            let mut has_name = false;
            for (number, arg) in self.items(&args, &path)?.iter().enumerate() {
                if let Obj::Dict(arg) = arg {
                    let (key, _) = first(arg, &below(&path, Key::from(number as i64)))?;
                    has_name = key.as_str() == Some("name");
                }
                if has_name {
                    break;
                }
            }
            if !has_name {
                let name = single("name", Obj::from(&id[1..]));
                list(&args, &path)?.change(|args| args.insert(0, name));
            }
        }
        data.change(|entries| {
            entries.insert(new, state);
            entries.shift_remove(&Key::Str(id.clone()));
        });
        Ok(())
    }
}
