//! `str()` and `repr()`.

use std::borrow::Cow;

use mapstack_value::{Key, Value, quote_str};

use super::{DictRef, Obj, Object};
use crate::limits::depth;
use crate::limits::ledger;
use crate::limits::{Error, Result};
use crate::price::to_read;

/// Longer texts are refused: a few objects that hold each other many times over print without end.
const MAX_LENGTH: usize = 64 << 20;

/// `str(x)`.
///
/// # Errors
/// An undefined error for something strictly undefined.
pub fn to_str(object: &Obj) -> Result<String> {
    text_of(object).map(Cow::into_owned)
}

/// `str(x)`, without a copy of what is text already.
///
/// # Errors
/// As [`to_str`].
///
/// ```
/// use std::borrow::Cow;
/// use mapstack_pyobject::{Obj, text_of};
/// assert!(matches!(text_of(&Obj::from("a")), Ok(Cow::Borrowed("a"))));
/// assert_eq!(text_of(&Obj::from(1)).unwrap(), "1");
/// ```
pub fn text_of(object: &Obj) -> Result<Cow<'_, str>> {
    Ok(match object {
        Obj::Str(s) | Obj::Markup(s) => {
            ledger::spend(s.len() / 16)?;
            Cow::Borrowed(s)
        }
        Obj::Undefined(u) => {
            u.check()?;
            Cow::Borrowed("")
        }
        Obj::Int(i) => {
            ledger::spend(1 + to_read(object))?;
            match i.to_i64() {
                Some(small) => itoa::Buffer::new().format(small).to_owned().into(),
                None => i.to_string().into(),
            }
        }
        Obj::Native(n) => n.to_str()?.into(),
        other => repr(other)?.into(),
    })
}

/// `repr(x)`.
///
/// # Errors
/// A `RecursionError` for structures nested too deep.
pub fn repr(object: &Obj) -> Result<String> {
    repr_with(object, &Plain)
}

/// The objects that a language prints differently than `repr()` does. Every method has Python's own answer.
pub trait PrintStyle {
    /// True if mappings of every type print as a `dict`.
    fn dicts_are_plain(&self) -> bool {
        false
    }

    /// The text of a mapping's value, where it is not its `repr()`. Within lists and tuples `in_sequence` is true.
    ///
    /// # Errors
    /// The value does not print.
    fn entry(&self, _value: &Obj, _in_sequence: bool) -> Result<Option<String>> {
        Ok(None)
    }

    /// True if containers are copied before they print, so that one that contains itself has no end.
    fn copies_containers(&self) -> bool {
        false
    }

    /// Refuse an object that does not print inside of others.
    ///
    /// # Errors
    /// The refusal.
    fn native(&self, _object: &dyn Object) -> Result<()> {
        Ok(())
    }
}

/// As Python prints.
struct Plain;

impl PrintStyle for Plain {}

/// `repr(x)`, but for what a language prints in its own way.
///
/// # Errors
/// As [`repr`], and what the style refuses.
pub fn repr_with(object: &Obj, style: &dyn PrintStyle) -> Result<String> {
    let mut printer = Printer {
        out: String::new(),
        open: Vec::new(),
        style,
        sequences: 0,
        copied: style.copies_containers(),
    };
    printer.repr(object)?;
    Ok(printer.out)
}

struct Printer<'s> {
    out: String,
    /// Identities of the containers being printed; a container inside itself prints as `...`.
    open: Vec<usize>,
    style: &'s dyn PrintStyle,
    /// The number of lists and tuples around the printed object: in them, `repr()` counts.
    sequences: usize,
    /// True if what is printed is a copy: nothing inside of another object is.
    copied: bool,
}

impl Printer<'_> {
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
            Obj::Native(native) => {
                self.style.native(&**native)?;
                match native.repr_around() {
                    Some((before, inner, after)) => {
                        self.out.push_str(before);
                        let copied = std::mem::take(&mut self.copied);
                        self.repr(&inner)?;
                        self.copied = copied;
                        self.out.push_str(after);
                    }
                    None => self.out.push_str(&native.repr()?),
                }
            }
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
            if self.copied {
                return Err(depth::endless().with_help("the data contains itself"));
            }
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
        if !self.style.dicts_are_plain() && dict.kind().is_ordered() {
            return self.ordered_dict(dict);
        }
        self.out.push('{');
        for (i, (key, value)) in dict.entries().iter().enumerate() {
            if i > 0 {
                self.out.push_str(", ");
            }
            self.key(key);
            self.out.push_str(": ");
            match self.style.entry(value, self.sequences > 0)? {
                Some(text) => self.out.push_str(&text),
                None => self.repr(value)?,
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
