//! Values to TOML, in the layout of Python's package `toml` (0.10), which Salt uses.

use mapstack_value::{Key, Map, Value, float_repr};

/// Data that TOML, or the reference's writer of it, has no form for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// Something else where a table has to be.
    #[error("TOML is a table, and so is each item of a list that has a table in it; this is {0}")]
    NoTable(&'static str),
    /// A key that is not text.
    #[error("the key {0} is not text")]
    BadKey(String),
    /// Data that is in itself more than once for each level.
    #[error("tables are nested more than {0} levels deep")]
    TooDeep(usize),
    /// A control character at the start of a text, on which the reference fails.
    #[error("the text {0} begins with a character that cannot be written")]
    BadText(String),
}

/// Tables nest this deep at most.
const MAX_DEPTH: usize = 200;

/// The text of a table, as Python's `toml.dumps` writes it: nulls are left out, tables follow plain values.
///
/// ```
/// use mapstack_functions::formats::toml::write;
/// use mapstack_value::json;
/// let value = json::loads(r#"{"a": {"b": [1, 2], "c": {"d": "x"}}, "e": true, "f": null}"#).unwrap();
/// assert_eq!(write(&value).unwrap(), "e = true\n\n[a]\nb = [ 1, 2,]\n\n[a.c]\nd = \"x\"\n");
/// ```
///
/// # Errors
/// [`WriteError`], where the reference raises an error as well, and for data that nests too deep.
pub fn write(value: &Value) -> Result<String, WriteError> {
    let (mut text, mut sections) = table(value, "", 0)?;
    let mut depth = 0;
    while !sections.is_empty() {
        depth = deeper(depth)?;
        let mut next = Sections::new();
        for (name, value) in &sections {
            let (own, inner) = table(value, name, depth)?;
            if !own.is_empty() || inner.is_empty() {
                if !text.is_empty() && !text.ends_with("\n\n") {
                    text.push('\n');
                }
                text.push_str(&format!("[{name}]\n{own}"));
            }
            next.extend(below(name, inner));
        }
        sections = next;
    }
    Ok(text)
}

/// Tables that are written later, by their quoted names.
type Sections<'v> = Vec<(String, &'v Value)>;

fn below<'v>(name: &str, inner: Sections<'v>) -> impl Iterator<Item = (String, &'v Value)> {
    inner
        .into_iter()
        .map(move |(key, value)| (format!("{name}.{key}"), value))
}

fn deeper(depth: usize) -> Result<usize, WriteError> {
    match depth < MAX_DEPTH {
        true => Ok(depth + 1),
        false => Err(WriteError::TooDeep(MAX_DEPTH)),
    }
}

/// The plain values and the arrays of tables in a table, and its other tables (`TomlEncoder.dump_sections`).
fn table<'v>(
    value: &'v Value,
    above: &str,
    depth: usize,
) -> Result<(String, Sections<'v>), WriteError> {
    let depth = deeper(depth)?;
    let Value::Map(map) = value else {
        let is_empty = !value.truthy()
            && matches!(
                value,
                Value::Str(_) | Value::Bytes(_) | Value::List(_) | Value::Tuple(_) | Value::Set(_)
            );
        return match is_empty {
            true => Ok((String::new(), Sections::new())),
            false => Err(WriteError::NoTable(value.kind().described())),
        };
    };
    let above = match above {
        "" => String::new(),
        above => format!("{above}."),
    };
    let (mut text, mut arrays, mut sections) = (String::new(), String::new(), Sections::new());
    for (key, value) in map {
        let key = quoted_key(key)?;
        match value {
            Value::Map(_) => sections.push((key, value)),
            Value::List(items) if items.iter().any(|item| item.as_map().is_some()) => {
                let name = format!("{above}{key}");
                for item in items.iter() {
                    push_table(&mut arrays, item, &name, depth)?;
                }
            }
            Value::None => {}
            value => text.push_str(&format!("{key} = {}\n", inline(value, depth)?)),
        }
    }
    text.push_str(&arrays);
    Ok((text, sections))
}

/// Write a table of an array of tables.
fn push_table(out: &mut String, item: &Value, name: &str, depth: usize) -> Result<(), WriteError> {
    let mut tables = String::from("\n");
    out.push_str(&format!("[[{name}]]\n"));
    let (own, mut sections) = table(item, name, depth)?;
    match own.starts_with('[') {
        true => tables.push_str(&own),
        false => out.push_str(&own),
    }
    let mut depth = depth;
    while !sections.is_empty() {
        depth = deeper(depth)?;
        let mut next = Sections::new();
        for (key, value) in sections {
            let (own, inner) = table(value, &format!("{name}.{key}"), depth)?;
            if !own.is_empty() {
                tables.push_str(&format!("[{name}.{key}]\n{own}"));
            }
            next.extend(below(&key, inner));
        }
        sections = next;
    }
    out.push_str(&tables);
    Ok(())
}

fn quoted_key(key: &Key) -> Result<String, WriteError> {
    let Some(text) = key.as_str() else {
        return Err(WriteError::BadKey(key.to_value().repr()));
    };
    // Python's `$` lets one final line break pass.
    let bare = text.strip_suffix('\n').unwrap_or(text);
    let is_bare = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-');
    match !bare.is_empty() && bare.bytes().all(is_bare) {
        true => Ok(text.to_owned()),
        false => quoted(&Value::from(text)),
    }
}

/// A value on one line; a mapping is a list of its keys here.
fn inline(value: &Value, depth: usize) -> Result<String, WriteError> {
    let depth = deeper(depth)?;
    let list = |items: &mut dyn Iterator<Item = Value>| {
        let items = items.map(|item| inline(&item, depth).map(|text| format!(" {text},")));
        items
            .collect::<Result<String, _>>()
            .map(|items| format!("[{items}]"))
    };
    match value {
        Value::None | Value::Str(_) => quoted(value),
        Value::Bool(truth) => Ok(truth.to_string()),
        Value::Int(number) => Ok(number.to_string()),
        Value::Float(number) => Ok(float_repr(*number)
            .replace("e+0", "e+")
            .replace("e-0", "e-")),
        Value::Bytes(bytes) => list(&mut bytes.iter().map(|byte| i64::from(*byte).into())),
        Value::List(items) => list(&mut items.iter().cloned()),
        Value::Tuple(items) => list(&mut items.iter().cloned()),
        Value::Map(map) => list(&mut Map::keys(map).map(Key::to_value)),
        Value::Set(set) => list(&mut set.iter().map(Key::to_value)),
    }
}

/// A text in double quotes, made of what Python's `repr` prints (`_dump_str`). What the reference makes of `\x` is
/// odd, and is the same here.
fn quoted(value: &Value) -> Result<String, WriteError> {
    let printed = value.repr();
    let inner = match printed.chars().next() {
        Some(quote @ ('\'' | '"')) => {
            let inner = &printed[1..printed.len() - 1];
            match quote {
                '\'' => inner.replace("\\'", "'").replace('"', "\\\""),
                _ => inner.to_owned(),
            }
        }
        _ => printed.clone(),
    };
    let mut parts: Vec<String> = inner.split("\\x").map(str::to_owned).collect();
    while parts.len() > 1 {
        if parts[0].is_empty() {
            parts.remove(0);
        }
        if parts.len() < 2 || parts[0].is_empty() {
            return Err(WriteError::BadText(printed));
        }
        let first = parts[0].replace("\\\\", "\\");
        let slashes = first.chars().rev().take_while(|c| *c == '\\').count();
        // The first character is not looked at.
        let counted = slashes.min(first.chars().count() - 1);
        let is_plain = (slashes == 0) != (counted % 2 == 1);
        let joiner = if is_plain { "x" } else { "u00" };
        let joined = format!("{first}{joiner}{}", parts[1]);
        parts.splice(..2, [joined]);
    }
    Ok(format!("\"{}\"", parts.concat()))
}
