//! `tojson`, and Python's `json.dumps` for filters of dialects.

use std::collections::HashMap;

use mapstack_pyobject::{CallArgs, Error, Obj, Result, as_index};
use mapstack_value::Value;
use mapstack_value::json::{DumpOptions, JsonError, dumps};

use super::call::{index_of, plain, room, room_for_more};
use crate::dialect::Filters;
use crate::vm::Vm;

pub(super) const TABLE: Filters = &[("tojson", tojson)];

/// JSON with sorted keys that is safe in HTML.
fn tojson(vm: &Vm<'_>, x: Obj, args: CallArgs) -> Result<Obj> {
    let [indent] = plain("do_tojson", "value").bind(args, 0, ["indent"])?;
    let options = DumpOptions {
        sort_keys: true,
        ..DumpOptions::default()
    };
    let value = data(vm, &x)?;
    let printed = print_json(vm, &value, options, &Indent::new(indent)?)?;
    Ok(Obj::Markup(html_safe(&printed).into()))
}

/// JSON that is safe in HTML: characters with a meaning in HTML are escaped.
#[must_use]
pub fn html_safe(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        match c {
            '<' => out.push_str("\\u003c"),
            '>' => out.push_str("\\u003e"),
            '&' => out.push_str("\\u0026"),
            '\'' => out.push_str("\\u0027"),
            c => out.push(c),
        }
    }
    out
}

/// Wider indentation is refused.
const MAX_INDENT: usize = 1000;

/// The `indent` option: nothing, a number of spaces, or text.
pub enum Indent {
    /// No line breaks.
    None,
    /// So many spaces.
    Spaces(usize),
    /// This text.
    Text(String),
}

impl Indent {
    /// The option's value from an argument.
    ///
    /// # Errors
    /// A `TypeError` for what is neither; a limit error for what is too wide.
    pub fn new(argument: Option<Obj>) -> Result<Self> {
        let indent = match argument {
            None | Some(Obj::None) => return Ok(Indent::None),
            Some(Obj::Str(s) | Obj::Markup(s)) => Indent::Text(s.to_string()),
            Some(other) => match as_index(&other) {
                Some(i) => Indent::Spaces(usize::try_from(super::call::clamped(&i)).unwrap_or(0)),
                None => {
                    // Python multiplies text with it.
                    index_of(&other)?;
                    Indent::None
                }
            },
        };
        match &indent {
            Indent::Spaces(width) if *width > MAX_INDENT => {}
            Indent::Text(text) if text.len() > MAX_INDENT => {}
            _ => return Ok(indent),
        }
        Err(Error::limit(format!(
            "indentation by more than {MAX_INDENT} characters"
        )))
    }
}

/// `json.dumps`, with an indent of any text.
///
/// # Errors
/// A `TypeError` for what JSON has no text for; limit errors.
pub fn print_json(
    vm: &Vm<'_>,
    value: &Value,
    mut options: DumpOptions,
    indent: &Indent,
) -> Result<String> {
    options.indent = match indent {
        Indent::None => None,
        Indent::Spaces(width) => Some(*width),
        Indent::Text(_) => Some(1),
    };
    let printed = dumps(value, &options).map_err(json_error)?;
    vm.burn(printed.len() / 16)?;
    let Indent::Text(unit) = indent else {
        return Ok(printed);
    };
    // Line breaks inside strings are escaped, so every line begins with its indentation.
    let mut out = String::with_capacity(printed.len());
    for (i, line) in printed.split('\n').enumerate() {
        if i > 0 {
            out.push('\n');
        }
        let content = line.trim_start_matches(' ');
        let level = line.len() - content.len();
        room_for_more(vm, out.len(), unit.len().saturating_mul(level))?;
        out.push_str(&unit.repeat(level));
        out.push_str(content);
    }
    Ok(out)
}

/// Roughly how much text a value makes. One storage in many places is measured once and printed
/// each time, so little data can make endless text.
fn printed_size(value: &Value, known: &mut HashMap<usize, usize>) -> usize {
    let identity = match value {
        Value::List(items) => items.address(),
        Value::Map(map) => map.address(),
        Value::Str(s) => return s.len(),
        Value::Tuple(items) => {
            return items
                .iter()
                .map(|item| printed_size(item, known))
                .fold(2, usize::saturating_add);
        }
        _ => return 4,
    };
    if let Some(size) = known.get(&identity) {
        return *size;
    }
    let size = match value {
        Value::List(items) => items
            .iter()
            .map(|item| printed_size(item, known))
            .fold(2, usize::saturating_add),
        Value::Map(map) => map
            .values()
            .map(|item| printed_size(item, known))
            .fold(2, usize::saturating_add),
        _ => 0,
    };
    known.insert(identity, size);
    size
}

fn json_error(error: JsonError) -> Box<Error> {
    match error {
        JsonError::TooDeep => Error::limit(error.to_string()),
        other => Error::type_error(other.to_string()),
    }
}

/// The data for JSON.
///
/// # Errors
/// An error for undefined values and for what is not data; a limit error if the text would be too long.
pub fn data(vm: &Vm<'_>, x: &Obj) -> Result<Value> {
    let value = match x {
        Obj::Undefined(u) if !u.strict => {
            return Err(Error::type_error(
                "Object of type Undefined is not JSON serializable",
            ));
        }
        other => other.to_value()?,
    };
    measure(vm, &value)?;
    Ok(value)
}

/// Refuse data whose text would be too long.
///
/// # Errors
/// The limit error.
pub fn measure(vm: &Vm<'_>, value: &Value) -> Result<()> {
    room(vm, printed_size(value, &mut HashMap::new()))
}
