//! `file.serialize`.

use mapstack_value::{Map, Value};

use crate::arguments::Chunk;
use crate::attributes::Attributes;
use crate::file::{ManagedFile, ManagedKind};
use crate::managed::{in_encoding, mode, notes, slot};
use crate::minion_files::MinionFiles;
use crate::plan::ContentPlan;
use crate::unknown::{Reason, Unknown};

/// The file of a state.
pub(crate) fn file(minion_files: &MinionFiles<'_>, chunk: Chunk<'_>) -> ManagedFile {
    let plan = content(minion_files, chunk).unwrap_or_else(|plan| plan);
    let mut file = ManagedFile::of(chunk, ManagedKind::File, plan);
    file.attributes = Attributes::owned(chunk.get("user").clone(), chunk, minion_files);
    file.attributes.mode = mode(chunk, "mode").or_else(|| chunk.text("mode"));
    file.notes.extend(notes(chunk));
    file
}

fn content(minion_files: &MinionFiles<'_>, chunk: Chunk<'_>) -> Result<ContentPlan, ContentPlan> {
    let failed = |why: &str| Err(ContentPlan::failed(why));
    if let Some(slot) = slot(chunk) {
        return Err(slot);
    }
    if chunk.path().is_empty() {
        return failed("the name is empty");
    }
    let formats =
        ["serializer", "formatter"].map(|name| chunk.text(name).filter(|_| chunk.is_on(name)));
    let format = match formats {
        [Some(_), Some(_)] => return failed("'serializer' and 'formatter' exclude each other"),
        [one, other] => one
            .or(other)
            .unwrap_or_else(|| "yaml".into())
            .to_lowercase(),
    };
    let data = match (chunk.is_on("dataset"), chunk.is_on("dataset_pillar")) {
        (true, true) => return failed("'dataset' and 'dataset_pillar' exclude each other"),
        (_, true) => {
            let key = chunk.get("dataset_pillar").clone();
            minion_files.call(&chunk.saltenv(), "pillar.get", &[key], &Map::new())?
        }
        _ => chunk.get("dataset").clone(),
    };
    if data.is_none() {
        return failed("there is neither a 'dataset' nor a 'dataset_pillar'");
    }
    if chunk.is_on("merge_if_exists") {
        let why = "the data is merged into what the file has ('merge_if_exists')";
        return Err(ContentPlan::Unknown(Unknown::new(Reason::Existing, why)));
    }
    let options = options(chunk, &format);
    let serialized = minion_files.call(
        &chunk.saltenv(),
        "slsutil.serialize",
        &[format.into(), data],
        &options,
    )?;
    match serialized {
        Value::Bytes(bytes) => Ok(ContentPlan::Bytes(bytes)),
        text => in_encoding(&format!("{text}\n"), chunk),
    }
}

/// The options of a serializer: those of the state over Salt's own.
fn options(chunk: Chunk<'_>, format: &str) -> Map {
    let mut options = Map::new();
    let mut set = |name: &str, value: Value| drop(options.insert(name, value));
    let has_encoding = chunk.is_on("encoding");
    match format {
        "yaml" => {
            set("default_flow_style", false.into());
            if has_encoding {
                set("allow_unicode", true.into());
            }
        }
        "json" => {
            set("indent", Value::Int(2.into()));
            set("separators", Value::Tuple([",".into(), ": ".into()].into()));
            set("sort_keys", true.into());
            if has_encoding {
                set("ensure_ascii", false.into());
            }
        }
        _ => {}
    }
    options.extend(given_options(chunk.get("serializer_opts")));
    options
}

/// The options that a list has, each a mapping of one entry or a name alone; another form is ignored (Salt:
/// `repack_dictlist`).
fn given_options(given: &Value) -> Vec<(String, Value)> {
    let mut options = Vec::new();
    for one in given.as_list().unwrap_or_default() {
        match one {
            Value::Map(entry) if entry.len() == 1 => {
                options.extend(
                    entry
                        .iter()
                        .map(|(name, value)| (name.to_string(), value.clone())),
                );
            }
            Value::Str(_) | Value::Int(_) | Value::Float(_) => {
                options.push((one.to_string(), Value::None));
            }
            _ => return Vec::new(),
        }
    }
    options
}
