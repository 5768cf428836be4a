//! Jinja's undefined values.

use mapstack_value::{Key, Str};

use super::containers::WeakDict;
use super::{Obj, repr};
use crate::limits::{Error, ErrorKind, Result};

/// Something that was looked up and not found.
///
/// A strict one fails at any use but `is defined` and `default`; a lenient one prints as nothing
/// and fails only when something is looked up in it (Jinja2's `StrictUndefined` and `Undefined`).
#[derive(Debug, Clone)]
pub struct Undefined {
    /// The message about what is missing, as Jinja2 says it.
    pub message: Str,
    /// The kind of error that a use raises: undefined, or a security error.
    pub kind: ErrorKind,
    /// True if every use is an error.
    pub strict: bool,
    /// The advice, if there is any.
    pub help: Option<Str>,
    /// The function or module of `salt` that it is in place of, if any.
    pub function: Option<Str>,
    /// The dict that was asked, and the key it does not have.
    missing: Option<(WeakDict, Str)>,
}

impl Undefined {
    /// A variable that does not exist.
    pub fn name(name: &Str, strict: bool) -> Self {
        let message = format!("{} is undefined", mapstack_value::quote_str(name)).into();
        Undefined {
            message,
            kind: ErrorKind::Undefined,
            strict,
            help: None,
            function: None,
            missing: None,
        }
    }

    /// An attribute that does not exist.
    pub fn attr(object: &Obj, name: &str, strict: bool) -> Self {
        Self::printed_attr(object, name, &mapstack_value::quote_str(name), strict)
    }

    /// An attribute that does not exist, and how its name is printed.
    fn printed_attr(object: &Obj, name: &str, printed: &str, strict: bool) -> Self {
        let quoted = mapstack_value::quote_str(&described(object));
        let message = format!("{quoted} has no attribute {printed}");
        let missing = match object {
            Obj::Dict(dict) => Some((dict.downgrade(), name.into())),
            _ => None,
        };
        Undefined {
            missing,
            ..Self::hint(message, strict)
        }
    }

    /// An item that does not exist.
    pub fn item(object: &Obj, key: &Obj, strict: bool) -> Self {
        let printed = repr(key).unwrap_or_else(|_| "?".into());
        match key.as_str() {
            Some(name) => Self::printed_attr(object, name, &printed, strict),
            None => Self::hint(
                format!("{} has no element {printed}", described(object)),
                strict,
            ),
        }
    }

    /// Something else that is missing, in words.
    pub fn hint(message: impl Into<Str>, strict: bool) -> Self {
        Undefined {
            message: message.into(),
            kind: ErrorKind::Undefined,
            strict,
            help: None,
            function: None,
            missing: None,
        }
    }

    /// The same with advice.
    #[must_use]
    pub fn with_help(mut self, help: Option<String>) -> Self {
        self.help = help.map(Str::from);
        self
    }

    /// The same in place of a function or module of the program around the code.
    #[must_use]
    pub fn standing_for(mut self, function: impl Into<Str>) -> Self {
        self.function = Some(function.into());
        self
    }

    /// The full name of what a call of an attribute asks for, where this is a module.
    pub fn function_in_module(&self, name: &str) -> Option<String> {
        let module = self
            .function
            .as_ref()
            .filter(|module| !module.contains('.'))?;
        Some(format!("{module}.{name}"))
    }

    /// An attribute that the sandbox hides: undefined, and a use that is an error is a security error.
    pub fn unsafe_attr(object: &Obj, name: &str, strict: bool) -> Self {
        let message = format!(
            "access to attribute '{name}' of '{}' object is unsafe.",
            object.type_name()
        );
        Undefined {
            kind: ErrorKind::Security,
            ..Self::hint(message, strict)
        }
    }

    /// Python's name of the type.
    pub fn type_name(&self) -> &'static str {
        if self.strict {
            "StrictUndefined"
        } else {
            "Undefined"
        }
    }

    /// The error that a forbidden use raises.
    pub fn error(&self) -> Box<Error> {
        let mut error = Error::new(self.kind, &*self.message);
        error.help = self
            .help
            .as_deref()
            .map(String::from)
            .or_else(|| self.nearest_key());
        error
    }

    /// Advice for a key that a dict does not have.
    fn nearest_key(&self) -> Option<String> {
        let (dict, name) = self.missing.as_ref()?;
        let keys = dict.upgrade()?.keys();
        let near = mapstack_diagnostic::nearest(name, keys.iter().filter_map(Key::as_str))?;
        Some(format!("did you mean '{near}'?"))
    }

    /// The error under strict undefined, else nothing.
    pub fn check(&self) -> Result<()> {
        if self.strict {
            Err(self.error())
        } else {
            Ok(())
        }
    }

    /// Truth: an error under strict undefined.
    ///
    /// # Errors
    /// As [`check`](Self::check).
    pub fn truthy(&self) -> Result<bool> {
        self.check().map(|()| false)
    }
}

impl From<Undefined> for Obj {
    fn from(undefined: Undefined) -> Self {
        Obj::Undefined(std::rc::Rc::new(undefined))
    }
}

/// Jinja2's `object_type_repr`.
fn described(object: &Obj) -> String {
    match object {
        Obj::None => "None".into(),
        Obj::Dict(d) if d.type_name() != "dict" => format!("collections.{} object", d.type_name()),
        Obj::Markup(_) => "markupsafe.Markup object".into(),
        Obj::Native(n) => match n.module() {
            Some(module) => format!("{module}.{} object", n.type_name()),
            None => format!("{} object", n.type_name()),
        },
        other => format!("{} object", other.type_name()),
    }
}
