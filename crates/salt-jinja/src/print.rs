//! The form in which Salt prints an expression.

use mapstack_pyobject::{Error, Obj, Object, PrintStyle, Result, repr_with, to_str};

/// The text that `{{ x }}` prints: `str(x)`, but mappings print in a form that YAML reads back, whatever
/// their type (Salt: `SerializerExtension.finalizer`, `PrintableDict`).
///
/// # Errors
/// As [`to_str`].
pub(crate) fn finalize(object: &Obj) -> Result<String> {
    match object {
        Obj::List(_) | Obj::Tuple(_) | Obj::Dict(_) | Obj::Set(_) => repr_with(object, &YamlSafe),
        Obj::Native(native) if native.type_name() == GROUP => Err(group_error()),
        other => to_str(other),
    }
}

/// A group of `|groupby`. Salt rebuilds every tuple that it prints, which fails for this one.
const GROUP: &str = "_GroupTuple";

fn group_error() -> Box<Error> {
    Error::type_error("_GroupTuple.__new__() missing 1 required positional argument: 'list'")
        .with_help("print its parts: group.grouper and group.list")
}

/// Containers as YAML can read them.
struct YamlSafe;

impl PrintStyle for YamlSafe {
    fn dicts_are_plain(&self) -> bool {
        true
    }

    fn copies_containers(&self) -> bool {
        true
    }

    fn entry(&self, value: &Obj, in_sequence: bool) -> Result<Option<String>> {
        match value {
            Obj::Str(s) | Obj::Markup(s) if s.contains(['\n', '\r', '\t']) => {
                Ok(Some(mapstack_yaml::double_quoted(s)))
            }
            // `Undefined` has no `str()` under strict rules, and a mapping's values print
            // theirs, unless the mapping is in a list.
            Obj::Undefined(u) if !in_sequence => u.check().map(|()| Some(String::new())),
            _ => Ok(None),
        }
    }

    fn native(&self, object: &dyn Object) -> Result<()> {
        if object.type_name() == GROUP {
            return Err(group_error());
        }
        Ok(())
    }
}
