//! `str.format`: replacement fields, as the sandbox's formatter fills them in.

use super::{ascii, format_value};
use crate::Interpreter;
use crate::limits::{Error, Result};
use crate::methods::limit;
use crate::object::{CallArgs, Obj, get_item, repr, to_str};
use mapstack_value::pytext::classes::is_decimal_digit;

/// `text.format(*args)`, or `text.format_map(mapping)` when `mapping` is given.
///
/// # Errors
/// Python's errors for malformed fields, missing arguments and wrong specifications; attributes
/// that the sandbox hides are security errors.
pub fn format(
    vm: &dyn Interpreter,
    text: &str,
    args: CallArgs,
    mapping: Option<&Obj>,
) -> Result<String> {
    Formatter {
        vm,
        args,
        mapping,
        escape: false,
    }
    .run(text)
}

/// The same for `Markup`, which escapes what it puts in.
///
/// # Errors
/// As [`format()`].
pub fn format_markup(
    vm: &dyn Interpreter,
    text: &str,
    args: CallArgs,
    mapping: Option<&Obj>,
) -> Result<String> {
    Formatter {
        vm,
        args,
        mapping,
        escape: true,
    }
    .run(text)
}

struct Formatter<'a> {
    vm: &'a dyn Interpreter,
    args: CallArgs,
    mapping: Option<&'a Obj>,
    escape: bool,
}

/// The numbering of the fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Numbering {
    /// The formatter; the next field is this one.
    Automatic(usize),
    /// The template's author.
    Manual,
}

/// The depth of fields inside the specifications of others.
const MAX_DEPTH: usize = 2;

impl Formatter<'_> {
    fn run(&self, text: &str) -> Result<String> {
        self.fill(text, MAX_DEPTH + 1, &mut Numbering::Automatic(0))
    }

    fn fill(&self, text: &str, depth: usize, numbering: &mut Numbering) -> Result<String> {
        let Some(depth) = depth.checked_sub(1) else {
            return Err(Error::value_error("Max string recursion exceeded"));
        };
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while !rest.is_empty() {
            let (literal, field, after) = next_piece(rest)?;
            out.push_str(literal);
            rest = after;
            if let Some(field) = field {
                let value = self.lookup(field.name, numbering)?;
                let value = convert(value, field.conversion)?;
                self.vm
                    .burn(value.as_str().map_or(0, |text| text.len() / 16))?;
                let spec = self.fill(field.spec, depth, numbering)?;
                out.push_str(&self.format_field(&value, &spec)?);
            }
            self.vm.burn(1)?;
            limit::size(self.vm, out.len())?;
        }
        Ok(out)
    }

    fn format_field(&self, value: &Obj, spec: &str) -> Result<String> {
        if !self.escape {
            return format_value(self.vm, value, spec);
        }
        match value {
            Obj::Markup(_) if !spec.is_empty() => Err(Error::value_error(
                "Unsupported format specification for Markup.",
            )),
            Obj::Markup(s) => Ok(s.to_string()),
            other => Ok(mapstack_value::pytext::markup::escape(&format_value(
                self.vm, other, spec,
            )?)),
        }
    }

    /// The object a field names: an argument, and what is looked up in it.
    fn lookup(&self, name: &str, numbering: &mut Numbering) -> Result<Obj> {
        let is_number = |s: &str| !s.is_empty() && s.chars().all(is_decimal_digit);
        let switch = "cannot switch from manual field specification to automatic field numbering";
        let numbered;
        let name = match *numbering {
            Numbering::Automatic(next) if name.is_empty() => {
                *numbering = Numbering::Automatic(next + 1);
                numbered = next.to_string();
                &numbered
            }
            Numbering::Manual if name.is_empty() => return Err(Error::value_error(switch)),
            Numbering::Automatic(next) if next > 0 && is_number(name) => {
                return Err(Error::value_error(switch));
            }
            _ if is_number(name) => {
                *numbering = Numbering::Manual;
                name
            }
            _ => name,
        };
        let (first, mut path) = name.split_at(name.find(['.', '[']).unwrap_or(name.len()));
        let mut object = if is_number(first) {
            self.by_position(first)?
        } else {
            self.by_name(first)?
        };
        while let Some(step) = next_step(&mut path)? {
            object = match step {
                FieldAccess::Attribute(name) => self.vm.get_attr(&object, &name.into())?,
                FieldAccess::Item(key) if is_number(key) => {
                    self.vm.get_key(&object, &Obj::from(small(key)?))?
                }
                FieldAccess::Item(key) => self.vm.get_key(&object, &Obj::from(key))?,
            };
        }
        Ok(object)
    }

    fn by_position(&self, digits: &str) -> Result<Obj> {
        let index = small(digits)?;
        let out_of_range = || Error::python("IndexError", "tuple index out of range");
        usize::try_from(index)
            .ok()
            .and_then(|i| self.args.positional.get(i))
            .cloned()
            .ok_or_else(out_of_range)
    }

    fn by_name(&self, name: &str) -> Result<Obj> {
        let key = Obj::from(name);
        let found = match self.mapping {
            None => self
                .args
                .named
                .iter()
                .find(|(given, _)| **given == *name)
                .map(|(_, value)| value.clone()),
            Some(mapping @ (Obj::Dict(_) | Obj::Native(_) | Obj::Undefined(_))) => {
                get_item(self.vm, mapping, &key)?
            }
            Some(Obj::List(_)) => {
                return Err(Error::type_error(
                    "list indices must be integers or slices, not str",
                ));
            }
            Some(Obj::Tuple(_)) => {
                return Err(Error::type_error(
                    "tuple indices must be integers or slices, not str",
                ));
            }
            Some(Obj::Str(_) | Obj::Markup(_)) => {
                return Err(Error::type_error(
                    "string indices must be integers, not 'str'",
                ));
            }
            Some(other) => {
                return Err(Error::type_error(format!(
                    "'{}' object is not subscriptable",
                    other.type_name()
                )));
            }
        };
        found.map_or_else(|| Err(Error::python("KeyError", repr(&key)?)), Ok)
    }
}

fn convert(value: Obj, conversion: Option<char>) -> Result<Obj> {
    Ok(match conversion {
        None => value,
        Some('s') => Obj::from(to_str(&value)?),
        Some('r') => Obj::from(repr(&value)?),
        Some('a') => Obj::from(ascii(&value)?),
        Some(other) => {
            return Err(Error::value_error(format!(
                "Unknown conversion specifier {other}"
            )));
        }
    })
}

fn small(digits: &str) -> Result<i64> {
    let digits: String = digits
        .chars()
        .map(|c| {
            c.to_digit(10)
                .map_or('0', |d| char::from_digit(d, 10).unwrap_or('0'))
        })
        .collect();
    digits
        .parse()
        .map_err(|_| Error::value_error("Too many decimal digits in format string"))
}

/// One replacement field.
struct Field<'a> {
    name: &'a str,
    conversion: Option<char>,
    spec: &'a str,
}

/// The literal text up to a field or an escaped brace, the field, and what follows.
fn next_piece(text: &str) -> Result<(&str, Option<Field<'_>>, &str)> {
    let Some(at) = text.find(['{', '}']) else {
        return Ok((text, None, ""));
    };
    let (literal, brace, after) = (&text[..at], &text[at..=at], &text[at + 1..]);
    if after.starts_with(brace) {
        return Ok((&text[..=at], None, &after[1..]));
    }
    if brace == "}" {
        return Err(Error::value_error(
            "Single '}' encountered in format string",
        ));
    }
    if after.is_empty() {
        return Err(Error::value_error(
            "Single '{' encountered in format string",
        ));
    }
    let (field, after) = parse_field(after)?;
    Ok((literal, Some(field), after))
}

/// The field behind a `{`, and what follows its `}`.
fn parse_field(text: &str) -> Result<(Field<'_>, &str)> {
    let (name, end, rest) = field_name(text)?;
    let field = |conversion, spec| Field {
        name,
        conversion,
        spec,
    };
    let (conversion, rest) = match end {
        '}' => return Ok((field(None, ""), rest)),
        '!' => {
            let (conversion, end, rest) = field_conversion(rest)?;
            if end == '}' {
                return Ok((field(Some(conversion), ""), rest));
            }
            (Some(conversion), rest)
        }
        _ => (None, rest),
    };
    let mut open = 1;
    for (i, c) in rest.char_indices() {
        match c {
            '{' => open += 1,
            '}' => open -= 1,
            _ => {}
        }
        if open == 0 {
            return Ok((field(conversion, &rest[..i]), &rest[i + 1..]));
        }
    }
    Err(Error::value_error("unmatched '{' in format spec"))
}

/// The name of a field, the character that ends it (`}`, `:` or `!`), and what follows.
fn field_name(text: &str) -> Result<(&str, char, &str)> {
    let mut bracket = false;
    for (i, c) in text.char_indices() {
        match c {
            ']' => bracket = false,
            _ if bracket => {}
            '[' => bracket = true,
            '{' => return Err(Error::value_error("unexpected '{' in field name")),
            '}' | ':' | '!' => return Ok((&text[..i], c, &text[i + 1..])),
            _ => {}
        }
    }
    Err(Error::value_error("expected '}' before end of string"))
}

/// The letter of a conversion, the character behind it (`}` or `:`), and what follows.
fn field_conversion(text: &str) -> Result<(char, char, &str)> {
    let mut chars = text.chars();
    let Some(conversion) = chars.next() else {
        return Err(Error::value_error(
            "end of string while looking for conversion specifier",
        ));
    };
    match chars.next() {
        Some(end @ ('}' | ':')) => Ok((conversion, end, chars.as_str())),
        Some(_) => Err(Error::value_error(
            "expected ':' after conversion specifier",
        )),
        None => Err(Error::value_error("unmatched '{' in format spec")),
    }
}

enum FieldAccess<'a> {
    Attribute(&'a str),
    Item(&'a str),
}

/// Take `.name` or `[key]` off the path.
fn next_step<'a>(path: &mut &'a str) -> Result<Option<FieldAccess<'a>>> {
    let Some(first) = path.chars().next() else {
        return Ok(None);
    };
    let rest = &path[first.len_utf8()..];
    let step = match first {
        '.' => {
            let (name, after) = rest.split_at(rest.find(['.', '[']).unwrap_or(rest.len()));
            *path = after;
            FieldAccess::Attribute(name)
        }
        '[' => {
            let Some((key, after)) = rest.split_once(']') else {
                return Err(Error::value_error("Missing ']' in format string"));
            };
            *path = after;
            FieldAccess::Item(key)
        }
        _ => {
            return Err(Error::value_error(
                "Only '.' or '[' may follow ']' in format field specifier",
            ));
        }
    };
    match step {
        FieldAccess::Attribute("") | FieldAccess::Item("") => {
            Err(Error::value_error("Empty attribute in format string"))
        }
        step => Ok(Some(step)),
    }
}
