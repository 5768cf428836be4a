//! The execution modules that templates can call here, under Salt's names.

mod config;
mod defaults;
mod files;
mod filter_by;
mod grains;
mod hashutil;
mod ini;
mod jinja;
mod log;
mod map;
mod matching;
mod network;
pub(crate) mod paths;
mod pillar;
mod random;
#[cfg(test)]
mod recorded;
mod renderer;
mod serialise;
mod slsutil;
mod state;
mod test;

use mapstack_diagnostic::nearest;
use mapstack_render::jinja::Vm;
use mapstack_render::jinja::ast::Span;
use mapstack_render::{CallArgs, Error, ErrorKind, Frame, Obj, Place, Result};
use mapstack_value::Value;

use crate::engine::Run;

/// A function of a run: `salt['module.name'](args)`.
pub(crate) type Function = fn(&Run<'_>, &Vm<'_>, CallArgs) -> Result<Obj>;

/// A module's functions with their full names.
type Table = &'static [(&'static str, Function)];

const TABLES: &[Table] = &[
    config::TABLE,
    defaults::TABLE,
    files::TABLE,
    grains::TABLE,
    hashutil::TABLE,
    jinja::TABLE,
    log::TABLE,
    map::TABLE,
    matching::TABLE,
    network::TABLE,
    paths::TABLE,
    pillar::TABLE,
    random::TABLE,
    renderer::TABLE,
    serialise::TABLE,
    slsutil::TABLE,
    state::TABLE,
    test::TABLE,
];

fn all() -> impl Iterator<Item = &'static (&'static str, Function)> {
    TABLES.iter().copied().flatten()
}

/// The function of a name.
pub(crate) fn find(name: &str) -> Option<Function> {
    all()
        .find(|(known, _)| *known == name)
        .map(|(_, function)| *function)
}

/// Whether any function of a module exists.
pub(crate) fn has_module(module: &str) -> bool {
    all().any(|(name, _)| name.split_once('.').is_some_and(|(m, _)| m == module))
}

/// The function whose name is nearest to one that does not exist.
pub(crate) fn similar(name: &str) -> Option<&'static str> {
    nearest(name, all().map(|(known, _)| *known))
}

/// What to do about a function that does not exist.
pub(crate) fn help(name: &str) -> String {
    match similar(name) {
        Some(near) => format!("did you mean salt['{near}']?"),
        None => {
            let module = name.split('.').next().unwrap_or(name);
            let siblings: Vec<&str> = all()
                .map(|(n, _)| *n)
                .filter(|n| n.split('.').next() == Some(module))
                .collect();
            if siblings.is_empty() {
                format!(
                    "no function of the module '{module}' is built in: it would need the minion itself"
                )
            } else {
                format!("built in from that module: {}", siblings.join(", "))
            }
        }
    }
}

/// An error of this crate inside a template.
fn failed(e: &crate::Error) -> Box<Error> {
    let diagnostic = e.diagnostic();
    let place = |place: &crate::Place| Place {
        template: Some(place.file.as_str().into()),
        source: place.source.clone(),
        span: Span {
            start: offset(place.start),
            end: offset(place.end),
        },
    };
    let mut error = Error::new(ErrorKind::Nested, &*diagnostic.message);
    error.help.clone_from(&diagnostic.help);
    error.place = diagnostic.place.as_ref().map(place);
    error.trace = diagnostic
        .trace
        .iter()
        .map(|s| Frame {
            what: s.what.clone(),
            place: place(&s.place),
        })
        .collect();
    error
}

/// Sources are smaller than 4 GiB.
fn offset(byte: usize) -> u32 {
    u32::try_from(byte).unwrap_or(u32::MAX)
}

/// An argument as text.
fn text(argument: &Obj, function: &str, name: &str) -> Result<mapstack_value::Str> {
    argument.as_str().cloned().ok_or_else(|| {
        Error::type_error(format!(
            "{function}(): argument '{name}' must be text, not {}",
            argument.type_name()
        ))
    })
}

/// An error that Salt itself raises about how a function is used.
fn refused(message: impl Into<String>) -> Box<Error> {
    Error::new(ErrorKind::Salt, message)
}

/// What a key leads to in live data; the key is text with delimiters, or its steps.
///
/// # Errors
/// A `TypeError` for a key that is neither, and Python's error for an empty delimiter.
fn look(run: &Run<'_>, data: &Obj, key: &Obj, delimiter: &str) -> Result<Option<Obj>> {
    let key = match key {
        Obj::Dict(dict) => dict
            .keys()
            .iter()
            .map(mapstack_value::Key::to_value)
            .collect(),
        Obj::None | Obj::Float(_) => {
            return Err(Error::type_error(format!(
                "'{}' object is not iterable",
                key.type_name()
            )));
        }
        key => key.to_value()?,
    };
    run.traverse_live(data, &key, delimiter)
}

/// `copy.deepcopy(x)` of data.
fn deepcopy(object: &Obj) -> Result<Obj> {
    object.to_value().and_then(Obj::composed)
}

/// Whether an argument stands for yes (Salt: `salt.utils.data.is_true`).
fn is_true(argument: Option<Obj>) -> Result<bool> {
    match argument {
        None => Ok(false),
        Some(Obj::Str(s) | Obj::Markup(s)) => {
            let number = s.trim().parse::<f64>().ok();
            Ok(number.map_or_else(|| s.to_lowercase() == "true", |number| number > 0.0))
        }
        Some(Obj::Int(i)) => Ok(!i.is_negative() && !i.is_zero()),
        Some(Obj::Float(f)) => Ok(f > 0.0),
        Some(other) => other.truthy(),
    }
}

/// An optional argument as data.
fn data_or(argument: Option<Obj>, default: impl Into<Value>) -> Result<Value> {
    argument.map_or_else(|| Ok(default.into()), |a| a.to_value())
}

/// What Python's `==` asks of an argument whatever it is compared with: that it is defined.
fn comparable(argument: Option<&Obj>) -> Result<()> {
    match argument {
        Some(Obj::Undefined(undefined)) => undefined.check(),
        _ => Ok(()),
    }
}

/// An argument that counts if it is true.
fn if_true(argument: Option<Obj>) -> Result<Option<Obj>> {
    let is_true = argument.as_ref().map_or(Ok(false), Obj::truthy)?;
    Ok(argument.filter(|_| is_true))
}

/// An optional argument's truth.
fn truth_or(argument: Option<Obj>, default: bool) -> Result<bool> {
    argument.map_or(Ok(default), |a| a.truthy())
}

/// An optional delimiter.
fn delimiter(argument: Option<Obj>, function: &str) -> Result<mapstack_value::Str> {
    argument.map_or_else(|| Ok(":".into()), |a| text(&a, function, "delimiter"))
}

#[cfg(test)]
mod checks {
    use super::*;

    #[test]
    fn no_name_is_given_twice() {
        let mut names: Vec<&str> = all().map(|(name, _)| *name).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
        assert!(names.iter().all(|name| name.contains('.')));
    }

    #[test]
    fn the_handbook_lists_every_function() {
        let handbook = include_str!("../../../../docs/functions.md");
        let rows = handbook
            .lines()
            .map(|line| line.split(" | ").collect::<Vec<_>>());
        let rows = rows
            .filter(|row| row[0].starts_with("| `"))
            .collect::<Vec<_>>();
        let listed = |state: &str| -> Vec<&str> {
            let of_state = rows.iter().filter(|row| row.get(1) == Some(&state));
            of_state
                .map(|row| row[0].trim_matches(|c: char| "|` ".contains(c)))
                .collect()
        };
        let mut names: Vec<&str> = all().map(|(name, _)| *name).collect();
        names.sort_unstable();
        assert_eq!(listed("done"), names);
        assert!(listed("absent").iter().all(|name| find(name).is_none()));
        let reasons = rows.iter().filter(|row| row.get(1) == Some(&"absent"));
        assert!(reasons.clone().count() > 0 && reasons.clone().all(|row| row[2].len() > 5));
    }
}
