//! Attributes and items.

use mapstack_pyobject::{DictRef, Error, Obj, Result, Undefined, get_item, methods};
use mapstack_value::{MapKind, Str, quote_str};

use crate::loops::measure;
use crate::vm::Vm;

impl Vm<'_> {
    /// `object.name`: an attribute, else an item (Jinja2: `SandboxedEnvironment.getattr`).
    ///
    /// # Errors
    /// An undefined error when the object is undefined.
    pub fn get_attr(&self, object: &Obj, name: &Str) -> Result<Obj> {
        // Most attributes are items of dicts: what nothing else can be is looked up at once.
        if let Obj::Dict(dict) = object
            && dict.kind() != MapKind::Bunch
            && !name.starts_with("__")
            && !methods::has(object, name)
        {
            self.burn(name.len() / 64)?;
            let item = dict.get_str(name);
            return Ok(item.unwrap_or_else(|| Undefined::attr(object, name, self.strict()).into()));
        }
        // Jinja's undefined objects have Python's internal attributes, too.
        if let Obj::Undefined(u) = object
            && !methods::is_hidden_of_undefined(name)
        {
            return Err(u.error());
        }
        if let Some(found) = self.own_attr(object, name)? {
            return Ok(found);
        }
        let item = get_item(self, object, &Obj::Str(name.clone()))?;
        Ok(item.unwrap_or_else(|| Undefined::attr(object, name, self.strict()).into()))
    }

    /// `object[key]`: an item, else an attribute (Jinja2: `SandboxedEnvironment.getitem`).
    ///
    /// # Errors
    /// An undefined error when the object is undefined.
    pub fn get_key(&self, object: &Obj, key: &Obj) -> Result<Obj> {
        if let Some(item) = get_item(self, object, key)? {
            return Ok(item);
        }
        let attribute = key
            .as_str()
            .map_or(Ok(None), |name| self.own_attr(object, name))?;
        if let Some(attribute) = attribute {
            return Ok(attribute);
        }
        measure(self, key)?;
        Ok(Undefined::item(object, key, self.strict()).into())
    }

    /// The attribute that Python's `getattr` finds, as far as the sandbox allows.
    ///
    /// # Errors
    /// A security error for what a sandbox would hide where the reference has none.
    pub fn own_attr(&self, object: &Obj, name: &str) -> Result<Option<Obj>> {
        if methods::is_hidden(name) {
            let hidden = Undefined::unsafe_attr(object, name, self.strict());
            // Without a sandbox Python has a value here, so undefined would be a wrong answer.
            return if self.dialect().is_sandboxed() {
                Ok(Some(hidden.into()))
            } else {
                Err(hidden.error())
            };
        }
        Ok(match object {
            Obj::Native(native) => native.attr(self, name),
            Obj::Dict(dict) if dict.kind() == MapKind::Bunch => {
                Some(methods::bound(object, name).map_or_else(|| item_of(dict, name), Ok)?)
            }
            _ => methods::bound(object, name),
        })
    }
}

/// An item of a dict whose class takes attributes for items, and does not say that one is missing as Python's do.
fn item_of(dict: &DictRef, name: &str) -> Result<Obj> {
    let item = dict.get_str(name);
    item.ok_or_else(|| Error::python("KeyError", quote_str(name)))
}
