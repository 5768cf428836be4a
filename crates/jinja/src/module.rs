//! Imported templates.

use std::any::Any;
use std::rc::Rc;

use mapstack_pyobject::{Obj, Object, Result};
use mapstack_value::Str;

use super::output::SourceMap;
use super::scope::Context;
use super::tracer::Table;

/// A template that was run for the names it binds.
pub struct Module {
    pub(super) name: Option<Str>,
    pub(super) context: Rc<Context>,
    pub(super) body: String,
    /// The source map of the body.
    pub(super) map: SourceMap,
}

impl Module {
    /// The table of its variables.
    pub(super) fn table(&self) -> Table {
        self.context.table()
    }

    /// The printed text.
    pub fn body(&self) -> &str {
        &self.body
    }

    /// The value that the template bound under a name; names with a leading underscore stay private.
    pub fn get(&self, name: &str) -> Option<Obj> {
        if name.starts_with('_') {
            return None;
        }
        self.context.var(name)
    }

    /// The file it came from, as error messages name it.
    pub fn file(&self) -> &str {
        self.name.as_deref().unwrap_or("an inline template")
    }
}

/// A module under a name of the importing template.
pub(super) struct ModuleObject(pub Rc<Module>);

impl Object for ModuleObject {
    fn type_name(&self) -> &'static str {
        "TemplateModule"
    }

    fn module(&self) -> Option<&str> {
        Some("jinja2.environment")
    }

    fn repr(&self) -> Result<String> {
        let name = self.0.name.as_deref();
        let name = name.map_or("None".into(), mapstack_value::quote_str);
        Ok(format!("<TemplateModule {name}>"))
    }

    fn to_str(&self) -> Result<String> {
        Ok(self.0.body.clone())
    }

    fn attr(&self, _: &dyn mapstack_pyobject::Interpreter, name: &str) -> Option<Obj> {
        self.0.get(name)
    }

    fn as_any(&self) -> Option<&dyn Any> {
        Some(self)
    }
}

/// The table of an object's attributes, for modules and namespaces; a module's are the variables of its template.
#[must_use]
pub fn attributes(object: &Obj) -> Option<Table> {
    let Obj::Native(native) = object else {
        return None;
    };
    let module = native
        .as_any()
        .and_then(|any| any.downcast_ref::<ModuleObject>());
    Some(match module {
        Some(module) => module.0.table(),
        None => Rc::as_ptr(native).cast::<()>() as usize,
    })
}
