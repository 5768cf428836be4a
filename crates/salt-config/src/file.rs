//! One configuration file, and the places of its options.

use std::sync::Arc;

use crate::disk::read_named;
use mapstack_loader::{Fetched, LoadError};
use mapstack_value::{Map, Value};
use mapstack_yaml::{Limits, Mark, Marks};

use mapstack_diagnostic::{Error, ErrorKind, Place, Result};

/// A file's name and text.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct NamedText {
    file: String,
    text: Arc<str>,
}

impl NamedText {
    fn place(&self, mark: Mark) -> Place {
        let start = mark.offset(&self.text);
        Place {
            file: self.file.clone(),
            source: self.text.clone(),
            start,
            end: start,
        }
    }
}

/// One place where an option is set.
#[derive(Debug, Clone, PartialEq)]
pub struct OptionPlace {
    source: Arc<NamedText>,
    key: Mark,
    /// The value that it is set to there.
    pub value: Value,
    /// The places of everything in the value.
    pub marks: Marks,
}

impl OptionPlace {
    /// The place of the option's name.
    #[must_use]
    pub fn place(&self) -> Place {
        self.source.place(self.key)
    }

    /// A place in the value.
    #[must_use]
    pub fn place_of(&self, mark: Mark) -> Place {
        self.source.place(mark)
    }

    /// `file:line`.
    #[must_use]
    pub fn line(&self) -> String {
        format!("{}:{}", self.source.file, self.key.line)
    }
}

/// The content of one file.
pub(super) struct ConfFile {
    pub options: Map,
    pub settings: Vec<OptionPlace>,
}

/// Why a file says nothing.
pub(super) enum Refused {
    /// The reference logs it and continues, if the file is an included one.
    Content(Error),
    /// The reference ends.
    Fatal(Error),
}

impl From<Refused> for Error {
    fn from(refused: Refused) -> Self {
        match refused {
            Refused::Content(e) | Refused::Fatal(e) => e,
        }
    }
}

/// Read a file, as the reference's `_read_conf_file` does.
pub(super) fn read(path: &str) -> Result<ConfFile, Refused> {
    // Links to it are how files are put out of action.
    if std::fs::canonicalize(path).is_ok_and(|real| real == std::path::Path::new("/dev/null")) {
        return Ok(ConfFile {
            options: Map::new(),
            settings: Vec::new(),
        });
    }
    let failed = |message: String| Refused::Fatal(Error::new(ErrorKind::File, message));
    let bytes = match read_named(path) {
        Ok(Fetched::Found { bytes, .. }) => bytes,
        Ok(_) => return Err(failed(format!("{path} is not a regular file"))),
        Err(LoadError::Io { .. }) if std::path::Path::new(path).is_dir() => {
            return Err(failed(format!(
                "{path} is a directory, and is to be read as a configuration file"
            )));
        }
        Err(e) => return Err(failed(format!("cannot read {e}"))),
    };
    parse(path, &bytes)
}

/// A file's content as text.
fn text<'b>(name: &str, bytes: &'b [u8]) -> Result<&'b str> {
    mapstack_yaml::decode(bytes).map_err(|e| {
        let place = e
            .mark()
            .map(|mark| Place::in_bytes(name, bytes, |text| mark.offset(text)));
        Error::new(ErrorKind::File, format!("{name}: {e}")).at(place)
    })
}

/// Take in a file's content.
pub(super) fn parse(name: &str, bytes: &[u8]) -> Result<ConfFile, Refused> {
    let text = text(name, bytes).map_err(Refused::Fatal)?;
    let source = Arc::new(NamedText {
        file: name.into(),
        text: text.into(),
    });
    let (value, marks) = mapstack_yaml::load_marked(text, &Limits::default()).map_err(|e| {
        let place = e.mark().map(|mark| source.place(mark));
        Refused::Content(Error::new(ErrorKind::Yaml, e.kind().to_string()).at(place))
    })?;
    let mut options = match value {
        Value::Map(options) => options,
        nothing if !nothing.truthy() => Map::new(),
        other => {
            let message = format!(
                "a configuration file is a mapping of options, not {}",
                other.kind().described()
            );
            return Err(Refused::Content(
                Error::new(ErrorKind::Yaml, message)
                    .at(Some(source.place(marks.mark())))
                    .help("write `option: value`"),
            ));
        }
    };
    if let Some(id) = options.get_mut("id") {
        *id = id.to_string().into();
    }
    let setting = |(i, value): (usize, &Value)| OptionPlace {
        source: source.clone(),
        key: marks.key(i).unwrap_or_default(),
        value: value.clone(),
        marks: marks.child(i).cloned().unwrap_or_default(),
    };
    let settings = options.values().enumerate().map(setting).collect();
    Ok(ConfFile { options, settings })
}
