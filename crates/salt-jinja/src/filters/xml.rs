//! Salt's `xml` filter: a mapping with one key as an element tree.

use mapstack_pyobject::{Error, Obj, Result, depth, len, to_str};
use mapstack_value::Str;

use mapstack_jinja::Vm;
use mapstack_jinja::call::{misuse, pair, room_for_more};

struct Element {
    tag: Str,
    attributes: Vec<(Str, String)>,
    text: Option<String>,
    children: Vec<Element>,
}

/// The document, indented by one space a level.
///
/// # Errors
/// Jinja's error for data that is neither list nor mapping, errors for tags that are not names.
pub(super) fn format(vm: &Vm<'_>, x: &Obj) -> Result<String> {
    let mut root = None;
    for (tag, value) in pairs(vm, &entries(vm, x)?)? {
        // At the top every element replaces the one before.
        if let Some(element) = element(vm, &tag, &value, None, 0)? {
            root = Some(element);
        }
    }
    let Some(root) = root else {
        return Err(Error::python(
            "AttributeError",
            "'NoneType' object has no attribute 'iter'",
        ));
    };
    let mut out = String::from("<?xml version=\"1.0\" ?>\n");
    write(vm, &root, 0, &mut out)?;
    Ok(out)
}

/// The entries of a value: a mapping's items, the texts of a list of texts, none of other lists.
fn entries(vm: &Vm<'_>, x: &Obj) -> Result<Vec<Obj>> {
    match x {
        Obj::Dict(dict) => Ok(dict
            .entries()
            .into_iter()
            .map(|(k, v)| Obj::tuple([Obj::from(&k), v]))
            .collect()),
        Obj::List(_) | Obj::Tuple(_) => {
            let items = x.collect(vm)?;
            match items.first() {
                None => Err(Error::python(
                    "IndexError",
                    format!("{} index out of range", x.type_name()),
                )),
                Some(Obj::Str(_) | Obj::Markup(_)) => Ok(items),
                Some(_) => Ok(Vec::new()),
            }
        }
        Obj::Undefined(u) => Err(u.error()),
        _ => Err(misuse("Value is not a dict or list. Cannot render as XML")),
    }
}

fn pairs(vm: &Vm<'_>, entries: &[Obj]) -> Result<Vec<(Obj, Obj)>> {
    entries
        .iter()
        .map(|entry| pair(vm, entry).map(|[tag, value]| (tag, value)))
        .collect()
}

/// The reference looks at the second part of each member of a list of texts, to no effect but
/// errors.
fn check_list(vm: &Vm<'_>, list: &Obj) -> Result<()> {
    for entry in entries(vm, list)? {
        let what = match &entry {
            Obj::Str(_) | Obj::Markup(_) => "string",
            Obj::List(_) | Obj::Tuple(_) => entry.type_name(),
            Obj::Dict(_) => return Err(Error::python("KeyError", "1")),
            other => {
                return Err(Error::type_error(format!(
                    "'{}' object is not subscriptable",
                    other.type_name()
                )));
            }
        };
        if len(&entry)? < 2 {
            return Err(Error::python(
                "IndexError",
                format!("{what} index out of range"),
            ));
        }
    }
    Ok(())
}

/// Make the element of a tag; inside `parent` it becomes its child, else it is the result.
fn element(
    vm: &Vm<'_>,
    tag: &Obj,
    value: &Obj,
    parent: Option<&mut Element>,
    level: usize,
) -> Result<Option<Element>> {
    vm.burn(16)?;
    depth::data(level)?;
    if let Obj::List(list) = value {
        // A list becomes several elements of the same tag.
        if let Some(parent) = parent {
            for item in list.items() {
                element(vm, tag, &item, Some(&mut *parent), level + 1)?;
            }
        }
        check_list(vm, value)?;
        return Ok(None);
    }
    let mut made = Element {
        tag: name(tag)?,
        attributes: Vec::new(),
        text: None,
        children: Vec::new(),
    };
    match value {
        Obj::Str(_) | Obj::Markup(_) | Obj::Int(_) | Obj::Bool(_) | Obj::Float(_) => {
            made.text = Some(to_str(value)?);
        }
        _ => {
            let items = pairs(vm, &entries(vm, value)?)?;
            if matches!(value, Obj::Dict(_)) {
                for (key, value) in &items {
                    if !matches!(value, Obj::Dict(_) | Obj::List(_)) {
                        made.attributes.push((name(key)?, to_str(value)?));
                    }
                }
            }
            for (key, value) in items {
                if matches!(value, Obj::Dict(_) | Obj::List(_)) {
                    element(vm, &key, &value, Some(&mut made), level + 1)?;
                }
            }
        }
    }
    Ok(match parent {
        Some(parent) => {
            parent.children.push(made);
            None
        }
        None => Some(made),
    })
}

fn name(tag: &Obj) -> Result<Str> {
    let Some(text) = tag.as_str() else {
        let shown = mapstack_jinja::call::quoted(tag);
        return Err(Error::type_error(format!(
            "cannot serialize {shown} (type {})",
            tag.type_name()
        )));
    };
    let begins = |c: char| c.is_alphabetic() || c == '_' || c == ':';
    let continues = |c: char| begins(c) || c.is_alphanumeric() || matches!(c, '-' | '.' | '\u{b7}');
    if text.starts_with(begins) && text.chars().all(continues) {
        return Ok(text.clone());
    }
    let message = format!(
        "not well-formed (invalid token): {} is not a name of an XML element or attribute",
        mapstack_jinja::call::quoted(tag)
    );
    Err(Error::python("ExpatError", message))
}

fn write(vm: &Vm<'_>, element: &Element, level: usize, out: &mut String) -> Result<()> {
    let attributes = element.attributes.iter();
    let attributes = attributes.map(|(name, value)| name.len() + value.len());
    let text = element.text.as_ref().map_or(0, String::len);
    let own = level + element.tag.len() + text + attributes.sum::<usize>();
    vm.burn(1)?;
    room_for_more(vm, out.len(), own)?;
    let indent = " ".repeat(level);
    out.push_str(&indent);
    out.push('<');
    out.push_str(&element.tag);
    for (name, value) in &element.attributes {
        out.push(' ');
        out.push_str(name);
        out.push_str("=\"");
        escape(value, true, out)?;
        out.push('"');
    }
    match &element.text {
        Some(text) if !text.is_empty() => {
            out.push('>');
            escape(text, false, out)?;
            out.push_str("</");
            out.push_str(&element.tag);
            out.push_str(">\n");
        }
        _ if element.children.is_empty() => out.push_str("/>\n"),
        _ => {
            out.push_str(">\n");
            for child in &element.children {
                write(vm, child, level + 1, out)?;
            }
            out.push_str(&indent);
            out.push_str("</");
            out.push_str(&element.tag);
            out.push_str(">\n");
        }
    }
    Ok(())
}

fn escape(text: &str, attribute: bool, out: &mut String) -> Result<()> {
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\r' if attribute => out.push_str("&#13;"),
            '\n' if attribute => out.push_str("&#10;"),
            '\t' if attribute => out.push_str("&#9;"),
            // An XML parser reads every kind of line break as this one.
            '\r' => out.push('\n'),
            '\t' | '\n' => out.push(c),
            c if c < ' ' => {
                let message = format!(
                    "not well-formed (invalid token): XML has no character {:#04x}",
                    u32::from(c)
                );
                return Err(Error::python("ExpatError", message));
            }
            c => out.push(c),
        }
    }
    Ok(())
}
