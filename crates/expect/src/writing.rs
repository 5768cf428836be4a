//! Recording what comes out.

use std::io;
use std::path::{Component, Path, PathBuf};

use mapstack::minion::{Minion, platforms};
use mapstack::secrets::Secrets;
use mapstack::value::{Key, Str, Value};
use mapstack::{Error, ErrorKind};

use crate::{
    Expectation, ExpectationForm, ExpectationPlaces, Header, RecordedExpectation, RunDescription,
    resolved,
};

/// Why there can be no new file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoFile {
    /// A minion has a name that no file can have.
    #[error("no file can have the name of the minion '{0}'")]
    Name(String),
    /// A formula has no folder.
    #[error("no root has a folder {0}")]
    Folder(String),
}

/// Writes a file as a whole.
type Write<'w> = dyn Fn(&Path, &str) -> io::Result<()> + Sync + 'w;

/// The files that do not exist yet, of formulas and minions: those of maps, or those of states.
///
/// # Errors
/// A minion or a formula that can have none.
pub fn missing(
    places: &ExpectationPlaces<'_>,
    there: &[(Expectation, bool)],
    ids: &[String],
    is_of_states: bool,
) -> Result<Vec<Expectation>, NoFile> {
    if let Some(bad) = ids.iter().find(|id| is_not_a_name(id)) {
        return Err(NoFile::Name(bad.clone()));
    }
    // A file may have another name of the platform.
    let named = |name: &str| {
        platforms::find(name).map_or_else(|_| name.to_owned(), |platform| platform.name.into())
    };
    let mut new = Vec::new();
    for formula in places.formulas {
        let has = |id: &str| {
            there.iter().any(|(one, _)| {
                one.formula == *formula
                    && (one.form == ExpectationForm::States) == is_of_states
                    && (one.name == id || named(&one.name) == id)
            })
        };
        for id in ids.iter().filter(|id| !has(id)) {
            let file = places
                .new_file(formula, id, is_of_states)
                .ok_or_else(|| NoFile::Folder(formula.clone()))?;
            new.push(file);
        }
    }
    Ok(new)
}

fn is_not_a_name(id: &str) -> bool {
    let wrong = |c: char| {
        c.is_control() || matches!(c, '/' | '\\' | ':' | '<' | '>' | '"' | '|' | '?' | '*')
    };
    id.is_empty()
        || id.starts_with('.')
        || id.ends_with([' ', '.'])
        || id.len() > 200
        || id.contains(wrong)
}

/// The header of a new file.
pub(crate) fn header(given: &RunDescription, expectation: &Expectation) -> Result<Header, Error> {
    if expectation.form == ExpectationForm::Mapdata {
        return Ok(Header::default());
    }
    let from = directory(&expectation.file);
    let path = |file: &Option<PathBuf>| {
        let Some(file) = file.as_deref().filter(|file| *file != Path::new("-")) else {
            return Ok(None);
        };
        expectation.repository()?.check(file).map_err(|e| {
            e.note(format!(
                "{} would contain this path, which other users of the repository do not have; copy the file into the repository",
                expectation.file.display()
            ))
        })?;
        relative(&from, file).map(Some)
    };
    Ok(Header {
        minion: path(&given.minion)?,
        pillar: path(&given.pillar)?,
        set: given.set.clone(),
        ..Header::default()
    })
}

/// The way from a directory, which need not be there yet, to a file.
fn relative(directory: &Path, file: &Path) -> Result<String, Error> {
    let failed = |path: &Path, e: std::io::Error| {
        Error::new(
            ErrorKind::File,
            format!("cannot read {}: {e}", path.display()),
        )
    };
    let file = file.canonicalize().map_err(|e| failed(file, e))?;
    let directory = resolved(directory).map_err(|e| failed(directory, e))?;
    let (from, to): (Vec<Component<'_>>, Vec<Component<'_>>) = (
        directory.components().collect(),
        file.components().collect(),
    );
    let same = from
        .iter()
        .zip(&to)
        .take_while(|(from, to)| from == to)
        .count();
    let up = std::iter::repeat_n("..".to_owned(), from.len() - same);
    let down = to
        .iter()
        .skip(same)
        .map(|part| part.as_os_str().to_string_lossy().into_owned());
    Ok(up.chain(down).collect::<Vec<_>>().join("/"))
}

pub(crate) fn new(
    expectation: &Expectation,
    header: &Header,
    actual: &Value,
    put: &Write<'_>,
) -> Result<(), Error> {
    let lead = match expectation.form {
        ExpectationForm::Mapdata => "---\n".into(),
        ExpectationForm::Plain | ExpectationForm::States => header.text(),
    };
    write(
        expectation,
        &RecordedExpectation::text(expectation.form, &lead, actual),
        put,
    )
}

pub(crate) fn write(expectation: &Expectation, text: &str, put: &Write<'_>) -> Result<(), Error> {
    let file = &expectation.file;
    let failed = |e: std::io::Error| {
        Error::new(
            ErrorKind::File,
            format!("cannot write {}: {e}", file.display()),
        )
    };
    expectation.repository()?.check(file)?;
    std::fs::create_dir_all(directory(file)).map_err(failed)?;
    put(file, text).map_err(failed)
}

/// True if data has secrets in plain text, as the file has them.
pub(crate) fn is_clear(minion: &Minion, secret_texts: &[Str], data: &Value) -> bool {
    fn any(secrets: &Secrets, path: &mut Vec<Key>, value: &Value) -> bool {
        match value {
            Value::Map(map) => map.iter().any(|(key, value)| {
                path.push(key.clone());
                let found = any(secrets, path, value);
                path.pop();
                found
            }),
            Value::List(items) => items.iter().any(|item| any(secrets, path, item)),
            // A number under such a key is a number of days, or of tries.
            Value::Str(_) | Value::Bytes(_) => secrets.hide(path, false, value),
            _ => false,
        }
    }
    any(
        &Secrets::without_digests()
            .of_pillar(&minion.pillar)
            .derived(secret_texts),
        &mut Vec::new(),
        data,
    )
}

/// The directory that a file lies in.
pub(crate) fn directory(file: &Path) -> PathBuf {
    match file.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.into(),
        _ => ".".into(),
    }
}
