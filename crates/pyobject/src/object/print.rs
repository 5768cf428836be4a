//! `str()`, `repr()`, and the form in which Salt prints an expression.

use mapstack_value::{Key, Value, quote_str};

use super::{DictRef, Obj};
use crate::depth;
use crate::error::{Error, Result};
use crate::ledger;
use crate::price::to_read;

/// Longer texts are refused: a few objects that hold each other many times over print without end.
const MAX_LENGTH: usize = 64 << 20;

/// `str(x)`.
///
/// # Errors
/// An undefined error for something strictly undefined.
pub fn to_str(object: &Obj) -> Result<String> {
    match object {
        Obj::Str(s) | Obj::Markup(s) => {
            ledger::spend(s.len() / 16)?;
            Ok(s.to_string())
        }
        Obj::Undefined(u) => u.check().map(|()| String::new()),
        Obj::Native(n) => n.to_str(),
        other => repr(other),
    }
}

/// `repr(x)`.
///
/// # Errors
/// A `RecursionError` for structures nested too deep.
pub fn repr(object: &Obj) -> Result<String> {
    let mut printer = Printer {
        out: String::new(),
        open: Vec::new(),
        yaml_safe: false,
        sequences: 0,
    };
    printer.repr(object)?;
    Ok(printer.out)
}

/// What `{{ x }}` prints: `str(x)`, but mappings print in a form that YAML reads back, whatever
/// their type (Salt: `SerializerExtension.finalizer`, `PrintableDict`).
///
/// # Errors
/// As [`to_str`].
pub fn finalize(object: &Obj) -> Result<String> {
    match object {
        Obj::List(_) | Obj::Tuple(_) | Obj::Dict(_) | Obj::Set(_) => {
            let mut printer = Printer {
                out: String::new(),
                open: Vec::new(),
                yaml_safe: true,
                sequences: 0,
            };
            printer.repr(object)?;
            Ok(printer.out)
        }
        Obj::Native(native) if native.type_name() == GROUP => Err(group_error()),
        other => to_str(other),
    }
}

/// What `|groupby` gives for each group. Salt rebuilds every tuple it prints, which this one does
/// not survive.
const GROUP: &str = "_GroupTuple";

fn group_error() -> Box<Error> {
    Error::type_error("_GroupTuple.__new__() missing 1 required positional argument: 'list'")
        .with_help("print its parts: group.grouper and group.list")
}

struct Printer {
    out: String,
    /// Identities of the containers being printed; a container inside itself prints as `...`.
    open: Vec<usize>,
    yaml_safe: bool,
    /// How many lists and tuples what is printed stands in: there it is `repr()` that counts.
    sequences: usize,
}

impl Printer {
    fn repr(&mut self, object: &Obj) -> Result<()> {
        if self.out.len() > MAX_LENGTH {
            return Err(Error::limit(format!(
                "the data prints as more than {MAX_LENGTH} bytes"
            )));
        }
        ledger::spend(1 + to_read(object))?;
        match object {
            Obj::Str(s) => self.out.push_str(&quote_str(s)),
            Obj::Markup(s) => {
                self.out.push_str("Markup(");
                self.out.push_str(&quote_str(s));
                self.out.push(')');
            }
            Obj::List(list) => self.nested(list.address(), "[...]", |this| {
                this.items(&list.items(), "[", "]")
            })?,
            Obj::Tuple(items) => {
                let close = if items.len() == 1 { ",)" } else { ")" };
                self.nested(items.address(), "(...)", |this| {
                    this.items(items, "(", close)
                })?;
            }
            Obj::Set(set) => self
                .out
                .push_str(&set.read(|s| Value::Set(s.iter().cloned().collect()).repr())),
            Obj::Dict(dict) => self.nested(dict.address(), "{...}", |this| this.dict(dict))?,
            Obj::Undefined(_) => self.out.push_str("Undefined"),
            Obj::Iter(iter) => self.out.push_str(&iter.repr()),
            Obj::Native(native) if self.yaml_safe && native.type_name() == GROUP => {
                return Err(group_error());
            }
            Obj::Native(native) => match native.repr_around() {
                Some((before, inner, after)) => {
                    self.out.push_str(before);
                    self.repr(&inner)?;
                    self.out.push_str(after);
                }
                None => self.out.push_str(&native.repr()?),
            },
            scalar => self.out.push_str(&scalar.to_value()?.repr()),
        }
        Ok(())
    }

    fn nested(
        &mut self,
        identity: usize,
        again: &str,
        print: impl FnOnce(&mut Self) -> Result<()>,
    ) -> Result<()> {
        if self.open.contains(&identity) {
            self.out.push_str(again);
            return Ok(());
        }
        depth::objects(self.open.len() + 1, depth::OBJECTS, depth::REPR)?;
        self.open.push(identity);
        let printed = print(self);
        self.open.pop();
        printed
    }

    fn items(&mut self, items: &[Obj], open: &str, close: &str) -> Result<()> {
        self.out.push_str(open);
        self.sequences += 1;
        for (i, item) in items.iter().enumerate() {
            if i > 0 {
                self.out.push_str(", ");
            }
            self.repr(item)?;
        }
        self.sequences -= 1;
        self.out.push_str(close);
        Ok(())
    }

    fn dict(&mut self, dict: &DictRef) -> Result<()> {
        if !self.yaml_safe && dict.kind() != mapstack_value::MapKind::Dict {
            return self.ordered_dict(dict);
        }
        self.out.push('{');
        for (i, (key, value)) in dict.entries().iter().enumerate() {
            if i > 0 {
                self.out.push_str(", ");
            }
            self.key(key);
            self.out.push_str(": ");
            match value {
                Obj::Str(s) | Obj::Markup(s)
                    if self.yaml_safe && s.contains(['\n', '\r', '\t']) =>
                {
                    self.out.push_str(&mapstack_yaml::double_quoted(s));
                }
                // `Undefined` has no `str()` under strict rules, and it is that which a mapping's values
                // print, unless the mapping stands in a list.
                Obj::Undefined(u) if self.yaml_safe && self.sequences == 0 => u.check()?,
                value => self.repr(value)?,
            }
        }
        self.out.push('}');
        Ok(())
    }

    fn ordered_dict(&mut self, dict: &DictRef) -> Result<()> {
        self.out.push_str(dict.type_name());
        if dict.is_empty() {
            self.out.push_str("()");
            return Ok(());
        }
        let pairs: Vec<Obj> = dict
            .entries()
            .into_iter()
            .map(|(key, value)| Obj::tuple([Obj::from(&key), value]))
            .collect();
        self.items(&pairs, "([", "])")
    }

    fn key(&mut self, key: &Key) {
        self.out.push_str(&key.to_value().repr());
    }
}
