//! Reading text as YAML, JSON or text inside a template.

use mapstack_pyobject::{Error, ErrorKind, Limits, Obj, Result};
use mapstack_value::{Str, Value, json};

use mapstack_jinja::{SourceMap, Vm};

/// The data formats of Salt's `load_*` and `import_*` tags.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DataFormat {
    /// Salt's YAML
    Yaml,
    /// JSON
    Json,
    /// Plain text
    Text,
}

impl DataFormat {
    /// The format that a tag reads, by its name.
    pub fn of_tag(tag: &str) -> Option<Self> {
        match tag {
            "load_yaml" | "import_yaml" => Some(DataFormat::Yaml),
            "load_json" | "import_json" => Some(DataFormat::Json),
            "load_text" | "import_text" => Some(DataFormat::Text),
            _ => None,
        }
    }

    /// Its name, in messages.
    pub fn name(self) -> &'static str {
        match self {
            DataFormat::Yaml => "YAML",
            DataFormat::Json => "JSON",
            DataFormat::Text => "text",
        }
    }
}

/// About what reading a value of YAML takes, its place in the text included.
const YAML_BYTES: usize = 200;

/// The limits of YAML that is read now: no more values than there is room for.
///
/// ```
/// use mapstack_salt_jinja::{Limits, MemoryLimit, yaml_limits};
/// let memory = Some(MemoryLimit::new(1 << 20, || 0));
/// assert_eq!(yaml_limits(&Limits { memory, ..Limits::default() }).max_nodes, 5242);
/// ```
#[must_use]
pub fn yaml_limits(limits: &Limits) -> mapstack_yaml::Limits {
    let known = mapstack_yaml::Limits::default();
    let room = limits
        .memory
        .map_or(usize::MAX, |memory| memory.left() / YAML_BYTES);
    mapstack_yaml::Limits {
        max_nodes: known.max_nodes.min(room),
        ..known
    }
}

/// The data that the tags `load_yaml`, `load_json` and `load_text` and their `import` siblings make of text.
///
/// `map` says where the text came from, so that an error points there.
///
/// # Errors
/// The text is not in the format (Salt: `SerializerExtension.load_yaml` and its siblings).
pub(crate) fn load_mapped(
    vm: &Vm<'_>,
    format: DataFormat,
    text: &Obj,
    map: &SourceMap,
) -> Result<Obj> {
    match (format, text.as_str()) {
        (DataFormat::Yaml, Some(text)) => {
            vm.burn(text.len())?;
            parse_yaml(vm, text).map_err(|e| {
                let error = not_yaml(&e, "");
                match e.mark().and_then(|mark| map.locate(mark.offset(text))) {
                    Some((place, _)) => error.at(|| place),
                    None => error,
                }
            })
        }
        _ => load(vm, format, text),
    }
}

/// The data that `load_yaml`, `load_json` and `load_text` make of text.
///
/// # Errors
/// The text is not in the format (Salt: `SerializerExtension.load_yaml` and its siblings).
pub(crate) fn load(vm: &Vm<'_>, format: DataFormat, text: &Obj) -> Result<Obj> {
    // Two bytes of text can become a value.
    vm.burn(text.as_str().map_or(0, |text| text.len()))?;
    match format {
        DataFormat::Text => Ok(text.clone()),
        DataFormat::Yaml => load_yaml(vm, text),
        DataFormat::Json => {
            vm.ask_for(
                text.as_str()
                    .map_or(0, |text| text.len())
                    .saturating_mul(JSON_BYTES),
            )?;
            load_json(text)
        }
    }
}

/// The most bytes that a byte of JSON can become.
const JSON_BYTES: usize = 24;

fn load_yaml(vm: &Vm<'_>, object: &Obj) -> Result<Obj> {
    let text = match object {
        Obj::Str(s) | Obj::Markup(s) => s,
        Obj::Undefined(u) => return Err(u.error()),
        _ => {
            return Err(Error::python(
                "AttributeError",
                "a string or stream input is required",
            ));
        }
    };
    parse_yaml(vm, text).map_err(|e| {
        let at = e.mark().map_or(String::new(), |m| {
            format!(" (line {}, column {} of that text)", m.line, m.column)
        });
        not_yaml(&e, &at)
    })
}

fn not_yaml(error: &mapstack_yaml::Error, at: &str) -> Box<Error> {
    Error::new(
        ErrorKind::Syntax,
        format!("Unable to load YAML: {}{at}", error.kind()),
    )
}

fn parse_yaml(vm: &Vm<'_>, text: &str) -> Result<Obj, mapstack_yaml::Error> {
    let loaded = mapstack_yaml::load_document(text, &yaml_limits(vm.limits()))?;
    Ok(if loaded.shared {
        Obj::from_shared(&loaded.value)
    } else {
        Obj::from(loaded.value)
    })
}

fn load_json(object: &Obj) -> Result<Obj> {
    let text = match object {
        Obj::Str(s) | Obj::Markup(s) => s.clone(),
        Obj::Undefined(u) => return Err(u.error()),
        other => {
            let message = format!(
                "the JSON object must be str, bytes or bytearray, not {}",
                other.type_name()
            );
            return Err(Error::type_error(message));
        }
    };
    let value: Value = json::loads(&text).map_err(|e| {
        let error = Error::new(
            ErrorKind::Syntax,
            format!("Unable to load json from {}", shortened(&text)),
        );
        error.with_help(e.to_string())
    })?;
    Ok(Obj::from(value))
}

/// The text itself while it is short enough to be read.
fn shortened(text: &Str) -> String {
    const MAX_CHARS: usize = 200;
    match text.char_indices().nth(MAX_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_string(),
    }
}
