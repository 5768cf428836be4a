//! Recording what comes out.

use std::path::{Component, Path, PathBuf};

use mapstack::minion::{Minion, platforms};
use mapstack::secrets::Secrets;
use mapstack::value::{Key, Str, Value};
use mapstack::{Error, ErrorKind, yaml};
use mapstack_expect::{Expectation, Form, Header, Places, Recorded, resolved};

use super::directory;
use crate::cli::Test;
use crate::output;
use crate::report::Failure;

/// The files that are not there yet, of formulas and minions that are named.
pub fn missing(
    args: &Test,
    places: &Places<'_>,
    there: &[(Expectation, bool)],
    ids: &[String],
) -> Result<Vec<Expectation>, Failure> {
    let named = args.input.facts.name_minions() || args.target.minion_glob.is_some();
    if args.formulas.is_empty() || !named {
        return Ok(Vec::new());
    }
    if let Some(bad) = ids.iter().find(|id| is_no_name(id)) {
        return Err(Failure::Usage(format!(
            "--update: no file can have the name of the minion '{bad}'"
        )));
    }
    // A file may have another name of the platform.
    let named = |name: &str| {
        platforms::find(name).map_or_else(|_| name.to_owned(), |platform| platform.name.into())
    };
    let mut new = Vec::new();
    for formula in places.formulas {
        let has = |id: &str| {
            there.iter().any(|(one, _)| {
                one.formula == *formula && (one.name == id || named(&one.name) == id)
            })
        };
        for id in ids.iter().filter(|id| !has(id)) {
            let file = places.new_file(formula, id).ok_or_else(|| {
                Failure::Usage(format!(
                    "--update: no root has a folder {formula}; say where to with --expectations DIR"
                ))
            })?;
            new.push(file);
        }
    }
    Ok(new)
}

fn is_no_name(id: &str) -> bool {
    let wrong = |c: char| {
        c.is_control() || matches!(c, '/' | '\\' | ':' | '<' | '>' | '"' | '|' | '?' | '*')
    };
    id.is_empty()
        || id.starts_with('.')
        || id.ends_with([' ', '.'])
        || id.len() > 200
        || id.contains(wrong)
}

/// What a new file says about the run.
pub fn header(args: &Test, expectation: &Expectation) -> Result<Header, Error> {
    let facts = &args.input.facts;
    if expectation.form == Form::Mapdata {
        return Ok(Header::default());
    }
    let from = directory(&expectation.file);
    let path = |file: &Option<PathBuf>| {
        let Some(file) = file.as_deref().filter(|file| *file != Path::new("-")) else {
            return Ok(None);
        };
        expectation.repository()?.check(file).map_err(|e| {
            e.note(format!(
                "{} would name it for everybody; copy it into the repository",
                expectation.file.display()
            ))
        })?;
        relative(&from, file).map(Some)
    };
    let mut set = Vec::new();
    for change in &facts.set {
        // Flags were looked at before.
        if let Some((path, text)) = change.split_once('=') {
            set.push((path.to_owned(), yaml::load(text).unwrap_or_default()));
        }
    }
    Ok(Header {
        minion: path(&facts.minion)?,
        pillar: path(&facts.pillar)?,
        set,
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

pub fn new(expectation: &Expectation, header: &Header, actual: &Value) -> Result<(), Error> {
    let lead = match expectation.form {
        Form::Mapdata => "---\n".into(),
        Form::Plain => header.text(),
    };
    write(
        expectation,
        &Recorded::text(expectation.form, &lead, actual),
    )
}

pub fn write(expectation: &Expectation, text: &str) -> Result<(), Error> {
    let file = &expectation.file;
    let failed = |e: std::io::Error| {
        Error::new(
            ErrorKind::File,
            format!("cannot write {}: {e}", file.display()),
        )
    };
    expectation.repository()?.check(file)?;
    std::fs::create_dir_all(directory(file)).map_err(failed)?;
    output::put_file(file, text).map_err(failed)
}

/// Whether data holds texts that are secrets, which stand in the file as they are.
pub fn is_clear(minion: &Minion, secret_texts: &[Str], data: &Value) -> bool {
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
        &Secrets::new(&[])
            .of_pillar(&minion.pillar)
            .derived(secret_texts),
        &mut Vec::new(),
        data,
    )
}
