//! Files that flags name.

use std::io::Read;
use std::path::Path;

use mapstack::value::{Map, MapKind, Value};
use mapstack::{Error, ErrorKind, yaml};

use crate::inputs::InputError;

/// The name of a file in messages.
pub(crate) fn shown(file: &Path) -> String {
    if file == Path::new("-") {
        "<stdin>".into()
    } else {
        file.display().to_string()
    }
}

/// A facts file is small; more is a mistake.
const MAX_BYTES: u64 = 64 << 20;

/// The bytes of a file; `-` is standard input.
///
/// # Errors
/// It cannot be read, or is larger than 64 MiB.
pub fn read(file: &Path) -> Result<Vec<u8>, InputError> {
    let failed = |e: std::io::Error| {
        InputError::Data(Error::new(
            ErrorKind::File,
            format!("cannot read {}: {e}", file.display()),
        ))
    };
    let mut bytes = Vec::new();
    let mut limited: Box<dyn Read> = if file == Path::new("-") {
        Box::new(std::io::stdin().lock().take(MAX_BYTES + 1))
    } else {
        Box::new(
            std::fs::File::open(file)
                .map_err(failed)?
                .take(MAX_BYTES + 1),
        )
    };
    limited.read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > MAX_BYTES {
        let message = format!("{} is larger than {} MiB", file.display(), MAX_BYTES >> 20);
        return Err(InputError::Data(Error::new(ErrorKind::Limit, message)));
    }
    Ok(bytes)
}

/// The text of a file given by a flag, and what to call it.
///
/// # Errors
/// It cannot be read, or is not text.
pub fn text_file(file: &Path) -> Result<(String, String), InputError> {
    let bytes = read(file)?;
    let text = yaml::decode(&bytes).map_err(|e| bad_file(file, &e))?;
    Ok((text.to_string(), shown(file)))
}

pub(crate) fn yaml_value(text: &str, flag: &str) -> Result<Value, InputError> {
    yaml::load(text).map_err(|e| InputError::Usage(format!("{flag}: '{text}' is not YAML: {e}")))
}

/// A data file given by a flag.
///
/// # Errors
/// It cannot be read, or is not YAML.
pub fn data_file(file: &Path) -> Result<Value, InputError> {
    yaml::load(&text_file(file)?.0).map_err(|e| bad_file(file, &e))
}

fn bad_file(file: &Path, e: &yaml::Error) -> InputError {
    let at = e
        .mark()
        .map_or(String::new(), |m| format!(":{}:{}", m.line, m.column));
    InputError::Data(Error::new(
        ErrorKind::Yaml,
        format!("{}{at}: {e}", file.display()),
    ))
}

/// Variables given as a mapping, or as a file that holds one: as in a state, whose YAML Salt reads into `OrderedDict`s.
///
/// # Errors
/// It cannot be read, or is not a mapping.
pub fn variables(flag: &str, given: Option<&str>) -> Result<Map, InputError> {
    let value = match given {
        None => return Ok(Map::new()),
        Some(text) if text.trim_start().starts_with('{') => yaml::load(text)
            .map_err(|e| InputError::Usage(format!("{flag}: '{text}' is not YAML: {e}")))?,
        Some(file) => data_file(file.as_ref())?,
    };
    match value {
        Value::Map(map) => Ok(map
            .iter()
            .map(|(name, value)| (name.clone(), value.with_map_kind(MapKind::Ordered)))
            .collect()),
        Value::None => Ok(Map::new()),
        other => Err(InputError::Usage(format!(
            "{flag} is {}, not a mapping of variables",
            other.kind().described()
        ))),
    }
}
