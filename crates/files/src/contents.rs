//! The text of `contents`, `contents_pillar` and `contents_grains`.

use mapstack_value::pytext::codec;
use mapstack_value::{Map, Value};

use crate::arguments::Chunk;
use crate::minion_files::MinionFiles;
use crate::plan::ContentPlan;
use crate::texts::{joined, parts};

/// The text, or the bytes, of a state that has its content as an argument.
pub(crate) enum Contents {
    Text(String),
    Bytes(Vec<u8>),
}

/// The arguments that hold a content, of which there can be one.
pub(crate) const ARGUMENTS: [&str; 3] = ["contents", "contents_pillar", "contents_grains"];

/// A default that no pillar has.
const NOTHING: &str = "\0nothing of this name\0";

/// The content of a state as an argument has it; nothing if none does.
pub(crate) fn contents(
    minion_files: &MinionFiles<'_>,
    chunk: Chunk<'_>,
) -> Result<Option<Contents>, ContentPlan> {
    let has = |name: &str| !chunk.get(name).is_none();
    let given = if has("contents_pillar") {
        looked_up(
            minion_files,
            chunk,
            "contents_pillar",
            "pillar.get",
            "pillar",
        )?
    } else if has("contents_grains") {
        looked_up(
            minion_files,
            chunk,
            "contents_grains",
            "grains.get",
            "grain",
        )?
    } else if has("contents") {
        chunk.get("contents").clone()
    } else {
        return Ok(None);
    };
    // `None` counts as a missing argument.
    if given.is_none() {
        return Ok(None);
    }
    if !chunk.is_not_off("allow_empty") && !given.truthy() {
        let name = ARGUMENTS
            .iter()
            .rev()
            .find(|name| has(name))
            .unwrap_or(&"contents");
        return Err(ContentPlan::failed(format!(
            "'{name}' is empty, and allow_empty is off"
        )));
    }
    let parts = match &given {
        Value::Bytes(bytes) => {
            let encoding = chunk.text("encoding");
            match codec::decode(bytes, encoding.as_deref().unwrap_or("utf-8"), "strict") {
                Ok(text) => vec![text],
                Err(_) if chunk.is_on("template") => {
                    return Err(ContentPlan::failed("binary contents cannot be a template"));
                }
                Err(_) => return Ok(Some(Contents::Bytes(bytes.to_vec()))),
            }
        }
        given => parts(given),
    };
    if parts.is_empty() {
        return Err(ContentPlan::failed(
            "the contents are an empty list, which Salt refuses",
        ));
    }
    let mut text = joined(&parts, minion_files.line_end());
    if !chunk.is_not_off("contents_newline") {
        let kept = text.trim_end_matches('\n').trim_end_matches('\r').len();
        text.truncate(kept);
    }
    Ok(Some(Contents::Text(text)))
}

/// The values of keys, concatenated if there are several.
fn looked_up(
    minion_files: &MinionFiles<'_>,
    chunk: Chunk<'_>,
    argument: &str,
    function: &str,
    called: &str,
) -> Result<Value, ContentPlan> {
    let delimiter = chunk.map.get("contents_delimiter").cloned();
    let delimiter = delimiter.unwrap_or_else(|| ":".into());
    let found = |key: &Value| -> Result<Value, ContentPlan> {
        let options = Map::from_iter([("delimiter", delimiter.clone())]);
        let value = minion_files.call(
            &chunk.saltenv(),
            function,
            &[key.clone(), NOTHING.into()],
            &options,
        )?;
        match value.as_str() == Some(NOTHING) {
            true => Err(ContentPlan::failed(format!(
                "the {called} '{key}' of '{argument}' does not exist"
            ))),
            false => Ok(value),
        }
    };
    let Some(keys) = chunk.get(argument).as_list() else {
        return found(chunk.get(argument));
    };
    let mut texts = Vec::new();
    for key in keys {
        let value = found(key)?;
        let Some(text) = value.as_str() else {
            let kind = value.kind().described();
            return Err(ContentPlan::failed(format!(
                "the {called} '{key}' of '{argument}' is {kind}, not text"
            )));
        };
        texts.push(text.to_owned());
    }
    Ok(texts.join(minion_files.line_end()).into())
}
