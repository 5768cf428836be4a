//! `map.*`: the configuration of a formula, for templates.

use mapstack_functions::{Context as _, Flow, failed, text};
use mapstack_pyobject::{CallArgs, Error, Obj, Result, required};
use mapstack_value::{Map, Value};

use crate::built_in::RunTable;
use crate::options::{DataOptions, StackOptions, TofsOptions};
use crate::run::Run;

pub(super) const TABLE: RunTable = &[
    ("map.data", |run, _, args| {
        let (first, kwargs) = split(args, &["tpldir"], DataOptions::NAMES)?;
        let [tpldir] = first;
        let tpldir = text(
            &required(tpldir, "map.data", "tpldir")?,
            "map.data",
            "tpldir",
        )?;
        let options = DataOptions::from_kwargs(&kwargs).map_err(|e| failed(&e))?;
        let data = run.data(&tpldir, &options).map_err(|e| failed(&e))?;
        Ok(folded(run, data))
    }),
    ("map.stack", |run, _, args| {
        let (first, kwargs) = split(args, &["tpldir", "sources"], StackOptions::NAMES)?;
        let [tpldir, sources] = first;
        let tpldir = text(
            &required(tpldir, "map.stack", "tpldir")?,
            "map.stack",
            "tpldir",
        )?;
        let sources = required(sources, "map.stack", "sources")?.to_value()?;
        let options = StackOptions::from_kwargs(&kwargs).map_err(|e| failed(&e))?;
        let data = run.stack(&tpldir, &sources, &options);
        data.map(|data| folded(run, data)).map_err(|e| failed(&e))
    }),
    ("map.tofs", |run, _, args| {
        let (first, kwargs) = split(args, &["tpldir", "source_files"], TofsOptions::NAMES)?;
        let [tpldir, files] = first;
        let tpldir = text(
            &required(tpldir, "map.tofs", "tpldir")?,
            "map.tofs",
            "tpldir",
        )?;
        let files = required(files, "map.tofs", "source_files")?.to_value()?;
        let options = TofsOptions::from_kwargs(&kwargs).map_err(|e| failed(&e))?;
        let paths = run
            .tofs(&tpldir, &files, &options)
            .map_err(|e| failed(&e))?;
        Ok(Obj::list(
            paths.into_iter().map(Obj::from).collect::<Vec<_>>(),
        ))
    }),
];

/// The result of a fold as an object, reported.
fn folded(run: &Run<'_>, data: Value) -> Obj {
    let is = Obj::from(data);
    run.flows(Flow::Folded { is: &is });
    is
}

/// Split arguments into the leading parameters, as objects, and the others, as data by name.
fn split<const N: usize>(
    args: CallArgs,
    leading: &[&str; N],
    rest: &[&str],
) -> Result<([Option<Obj>; N], Map)> {
    let mut first: [Option<Obj>; N] = std::array::from_fn(|_| None);
    let mut kwargs = Map::new();
    let names = leading.iter().chain(rest).copied();
    let mut positional = args.positional.into_iter();
    let given = names
        .zip(&mut positional)
        .map(|(name, value)| (name.to_string(), value))
        .collect::<Vec<_>>();
    if positional.next().is_some() {
        return Err(Error::type_error(format!(
            "too many positional arguments: at most {} are taken",
            N + rest.len()
        )));
    }
    let named = args
        .named
        .into_iter()
        .map(|(name, value)| (name.to_string(), value));
    for (name, value) in given.into_iter().chain(named) {
        match leading.iter().position(|l| *l == name) {
            Some(i) => first[i] = Some(value),
            None => {
                let value: Value = value.to_value()?;
                kwargs.insert(name, value);
            }
        }
    }
    Ok((first, kwargs))
}
