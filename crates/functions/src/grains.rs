//! `grains.*`: what the minion says about itself. The functions that write grains are not here.

use mapstack_minion::Part;
use mapstack_pyobject::{CallArgs, DictRef, Error, Obj, Result, required};
use mapstack_salt_jinja::{
    Vm,
    python::{hash_key, to_str},
};
use mapstack_value::Key;

use super::{ModuleTable, delimiter, filter_by, is_true, look};
use crate::flow::steps;
use crate::{Context, Flow};

pub(super) const TABLE: ModuleTable = &[
    ("grains.equals", |run, _, args| {
        let [key, value] = args.bind("grains.equals", ["key", "value"])?;
        let key = required(key, "grains.equals", "key")?;
        let value = required(value, "grains.equals", "value")?;
        let found = look(run, run.grains(), &key, ":")?.unwrap_or_else(|| Obj::from(""));
        // Compared as text.
        Ok(Obj::Bool(to_str(&value)? == to_str(&found)?))
    }),
    ("grains.fetch", get),
    ("grains.filter_by", |run, vm, args| {
        let names = ["lookup_dict", "grain", "merge", "default", "base"];
        filter_by::filter_by(
            run,
            vm,
            run.grains(),
            args,
            "grains.filter_by",
            names,
            Some("os_family"),
        )
    }),
    ("grains.get", get),
    ("grains.has_value", |run, _, args| {
        let [key] = args.bind("grains.has_value", ["key"])?;
        let key = required(key, "grains.has_value", "key")?;
        Ok(Obj::Bool(look(run, run.grains(), &key, ":")?.is_some()))
    }),
    ("grains.item", item),
    ("grains.items", |run, _, args| {
        let [sanitize] = args.bind("grains.items", ["sanitize"])?;
        let grains = entries(run);
        if is_true(sanitize)? {
            sanitized(&grains)?;
        }
        Ok(Obj::Dict(grains))
    }),
    ("grains.ls", |run, _, args| {
        let [] = args.bind("grains.ls", [])?;
        let mut names = Vec::new();
        for key in entries(run).keys() {
            match key {
                Key::Str(name) => names.push(name),
                other => {
                    let kind = other.kind().python_name();
                    return Err(Error::type_error(format!(
                        "the name of a grain is of the type {kind}, not str"
                    )));
                }
            }
        }
        names.sort_unstable();
        Ok(Obj::list(
            names.into_iter().map(Obj::from).collect::<Vec<_>>(),
        ))
    }),
];

/// A new dict of the grains as they are.
fn entries(run: &dyn Context) -> DictRef {
    match run.grains() {
        Obj::Dict(grains) => DictRef::new(grains.entries().into_iter().collect()),
        _ => DictRef::new(std::iter::empty().collect()),
    }
}

fn get(run: &dyn Context, _: &Vm<'_>, args: CallArgs) -> Result<Obj> {
    let [key, default, delim, ordered] =
        args.bind("grains.get", ["key", "default", "delimiter", "ordered"])?;
    let key = required(key, "grains.get", "key")?;
    let delim = delimiter(delim, "grains.get")?;
    if !matches!(ordered, None | Some(Obj::Bool(true))) {
        // The reference tries to write the grains as JSON here, and never can.
        return Err(
            Error::type_error("grains.get() returns grains in order only")
                .with_help("leave `ordered` out, or set it to true"),
        );
    }
    let found = look(run, run.grains(), &key, &delim)?;
    report(run, &key, &delim, found.as_ref(), default.as_ref());
    Ok(found.or(default).unwrap_or_else(|| Obj::from("")))
}

/// Report what `grains.get` gave.
fn report(
    run: &dyn Context,
    key: &Obj,
    delimiter: &str,
    found: Option<&Obj>,
    default: Option<&Obj>,
) {
    match (found, default) {
        (Some(is), _) => {
            if run.is_followed()
                && let Ok(key) = key.to_value()
                && let Some(path) = steps(&key, delimiter)
            {
                let part = Part::Grains;
                run.flows(Flow::Fact {
                    part,
                    path: &path,
                    is,
                });
            }
        }
        (None, Some(is)) => run.flows(Flow::Default { is }),
        (None, None) => {}
    }
}

fn item(run: &dyn Context, _: &Vm<'_>, args: CallArgs) -> Result<Obj> {
    let CallArgs {
        positional,
        named: given,
    } = args;
    let named = |name: &str| {
        given
            .iter()
            .find(|(known, _)| **known == *name)
            .map(|(_, value)| value.clone())
    };
    let default = named("default").unwrap_or_else(|| Obj::from(""));
    let delim = delimiter(named("delimiter"), "grains.item")?;
    let found = DictRef::new(std::iter::empty().collect());
    for key in &positional {
        let value = look(run, run.grains(), key, &delim)?.unwrap_or_else(|| default.clone());
        found.insert(hash_key(key)?, value);
    }
    if is_true(named("sanitize"))? {
        sanitized(&found)?;
    }
    Ok(Obj::Dict(found))
}

/// Hide grains that identify a machine.
fn sanitized(grains: &DictRef) -> Result<()> {
    for (name, instead) in [
        ("domain", "DOMAINNAME"),
        ("fqdn", "MINION.DOMAINNAME"),
        ("id", "MINION.DOMAINNAME"),
        ("host", "MINION"),
        ("localhost", "MINION"),
        ("nodename", "MINION"),
    ] {
        if grains.get_str(name).is_some() {
            grains.insert(name, Obj::from(instead));
        }
    }
    let Some(serial) = grains.get_str("serialnumber") else {
        return Ok(());
    };
    let Some(serial) = serial.as_str() else {
        return Err(Error::type_error(format!(
            "the grain serialnumber is {}, not text",
            serial.type_name()
        )));
    };
    // The last quarter of it.
    let length = serial.chars().count();
    let kept = length * 3 / 4;
    let hidden: String = serial
        .chars()
        .take(kept)
        .chain(std::iter::repeat_n('X', length - kept))
        .collect();
    grains.insert("serialnumber", Obj::from(hidden));
    Ok(())
}
