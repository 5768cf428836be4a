//! Reading the text of a stage as data.

use mapstack_diagnostic::{Error, ErrorKind, Result};
use mapstack_render::pipe::strip;
use mapstack_value::{Value, json as python_json};
use mapstack_yaml::{Limits, load_aggregating, load_rendered};

use crate::sls_data::Data;
use crate::text::Text;

type Loader = fn(&str, &Limits) -> std::result::Result<mapstack_yaml::Loaded, mapstack_yaml::Error>;

/// Parse YAML (Salt: `salt.renderers.yaml.render`).
pub(super) fn yaml(text: &Text<'_>, limits: &Limits) -> Result<Data> {
    loaded(text, limits, load_rendered)
}

/// Parse YAML whose repeated keys are joined (Salt: `salt.renderers.yamlex.render`).
pub(super) fn yamlex(text: &Text<'_>, limits: &Limits) -> Result<Data> {
    loaded(text, limits, load_aggregating)
}

fn loaded(text: &Text<'_>, limits: &Limits, load: Loader) -> Result<Data> {
    let loaded = load(text.as_str(), limits).map_err(|e| text.yaml_error(&e))?;
    Ok(data(loaded.value, loaded.shared))
}

/// The data of a text that was read as YAML.
pub(super) fn data(value: Value, shared: bool) -> Data {
    match value.truthy() {
        true => Data { value, shared },
        false => nothing(),
    }
}

fn nothing() -> Data {
    Data::new(Value::map())
}

/// Parse JSON (Salt: `salt.renderers.json.render`). A `#!` line is dropped, because JSON has no comments.
pub(super) fn json(text: &Text<'_>) -> Result<Data> {
    let start = behind_shebang(text);
    let json = &text.as_str()[start..];
    if strip(json).is_empty() {
        return Ok(nothing());
    }
    python_json::loads(json)
        .map(Data::new)
        .map_err(|e| text.json_error(&e, start))
}

/// The start of the text after a `#!` line.
fn behind_shebang(text: &Text<'_>) -> usize {
    let whole = text.as_str();
    match whole.starts_with("#!") {
        true => whole.find('\n').map_or(0, |end| end + 1),
        false => 0,
    }
}

/// Parse TOML (Salt: `salt.renderers.tomlmod.render`).
pub(super) fn toml(text: &Text<'_>) -> Result<Data> {
    mapstack_functions::formats::toml::read(text.as_str())
        .map(Data::new)
        .map_err(|e| text.toml_error(&e))
}

/// The reference gives its library for MessagePack the text of the file, which it refuses: it reads bytes (Salt:
/// `salt.renderers.msgpack.render`). Only where there is none does that work.
pub(super) fn msgpack(text: &Text<'_>) -> Result<Data> {
    let start = behind_shebang(text);
    if strip(&text.as_str()[start..]).is_empty() {
        return Ok(nothing());
    }
    let message = "the renderer 'msgpack' fails on every text: MessagePack is bytes, and Salt reads files as text";
    Err(Error::new(ErrorKind::Unsupported, message)
        .at(Some(text.place(start)))
        .help("write the file in YAML or JSON; slsutil.deserialize reads MessagePack from bytes"))
}
