//! `defaults.*`: filling mappings up with defaults.

use mapstack_pyobject::{Error, Obj, Result, required};

use super::filter_by::copied;
use super::slsutil::update;
use super::{ModuleTable, failed, look, truth_or};
use crate::{Context, Flow};

pub(super) const TABLE: ModuleTable = &[
    ("defaults.get", |run, _, args| {
        let [key, default] = args.bind("defaults.get", ["key", "default"])?;
        let key = required(key, "defaults.get", "key")?;
        let Some(key) = key.as_str() else {
            let message = format!("argument of type '{}' is not iterable", key.type_name());
            return Err(Error::type_error(message));
        };
        let (formula, path) = key.split_once(':').unwrap_or((&**key, ""));
        let defaults = of_formula(run, formula)?;
        if path.is_empty() {
            return Ok(defaults);
        }
        let found = look(run, &defaults, &Obj::from(path), ":")?;
        if let (None, Some(is)) = (&found, &default) {
            run.flows(Flow::Default { is });
        }
        Ok(found.or(default).unwrap_or_else(|| Obj::from("")))
    }),
    ("defaults.merge", |run, _, args| {
        let [dest, src, lists, in_place, convert_none] = args.bind(
            "defaults.merge",
            ["dest", "src", "merge_lists", "in_place", "convert_none"],
        )?;
        let dest = required(dest, "defaults.merge", "dest")?;
        let src = required(src, "defaults.merge", "src")?;
        let flag = |given: Option<Obj>, default| given.unwrap_or(Obj::Bool(default));
        let (lists, convert) = (flag(lists, false), flag(convert_none, true));
        defaults_merge(run, dest, src, &lists, truth_or(in_place, true)?, &convert)
    }),
    ("defaults.deepcopy", |run, _, args| {
        let [source] = args.bind("defaults.deepcopy", ["source"])?;
        match required(source, "defaults.deepcopy", "source")? {
            undefined @ Obj::Undefined(_) => Ok(undefined),
            source => copied(run, &source),
        }
    }),
    ("defaults.update", |run, _, args| {
        let [dest, defaults, lists, in_place, convert_none] = args.bind(
            "defaults.update",
            [
                "dest",
                "defaults",
                "merge_lists",
                "in_place",
                "convert_none",
            ],
        )?;
        let dest = required(dest, "defaults.update", "dest")?;
        let defaults = required(defaults, "defaults.update", "defaults")?;
        let flag = |given: Option<Obj>| given.unwrap_or(Obj::Bool(true));
        let (lists, convert) = (flag(lists), flag(convert_none));
        let in_place = truth_or(in_place, true)?;
        defaults_update(run, dest, &defaults, &lists, in_place, &convert)
    }),
];

/// The data of a formula's `defaults.yaml`, else of its `defaults.json`; `None` without either.
fn of_formula(run: &dyn Context, formula: &str) -> Result<Obj> {
    for name in ["defaults.yaml", "defaults.json"] {
        let Some((shown, text)) = run
            .text_file(&format!("{formula}/{name}"))
            .map_err(|e| failed(&e))?
        else {
            continue;
        };
        let unreadable = |message: String| Error::value_error(format!("{shown}: {message}"));
        let loaded = if name.ends_with(".yaml") {
            mapstack_yaml::load(&text).map_err(|e| unreadable(e.to_string()))?
        } else {
            mapstack_value::json::loads(&text).map_err(|e| unreadable(e.to_string()))?
        };
        if !loaded.truthy() {
            return Ok(Obj::dict([]));
        }
        let is = Obj::from(loaded);
        let path = &format!("{formula}/{name}");
        run.flows(Flow::Read {
            path,
            text: &text,
            is: &is,
        });
        return Ok(is);
    }
    Ok(Obj::None)
}

/// `defaults.merge`.
fn defaults_merge(
    run: &dyn Context,
    dest: Obj,
    src: Obj,
    lists: &Obj,
    in_place: bool,
    convert_none: &Obj,
) -> Result<Obj> {
    let src = if src.is_none() && convert_none.truthy()? {
        Obj::dict([])
    } else {
        src
    };
    let merged = match dest {
        Obj::None if convert_none.truthy()? && in_place => {
            return Err(Error::type_error(
                "Can't perform in-place merge into NoneType",
            ));
        }
        Obj::None if convert_none.truthy()? => Obj::dict([]),
        dest if in_place => dest,
        dest => copied(run, &dest)?,
    };
    update(run, &merged, &src, true, lists)?;
    Ok(merged)
}

/// `defaults.update`: every item of a mapping over a copy of the defaults.
fn defaults_update(
    run: &dyn Context,
    dest: Obj,
    defaults: &Obj,
    lists: &Obj,
    in_place: bool,
    convert_none: &Obj,
) -> Result<Obj> {
    let nodes = match dest {
        Obj::None if in_place => {
            return Err(Error::type_error(
                "Can't perform in-place update into NoneType",
            ));
        }
        Obj::None if convert_none.truthy()? => Obj::dict([]),
        dest if in_place => dest,
        dest => copied(run, &dest)?,
    };
    let defaults = if defaults.is_none() && convert_none.truthy()? {
        Obj::dict([])
    } else {
        defaults.clone()
    };
    let Obj::Dict(dict) = &nodes else {
        return Err(Error::python(
            "AttributeError",
            format!("'{}' object has no attribute 'items'", nodes.type_name()),
        ));
    };
    for (key, node) in dict.entries() {
        run.flows(Flow::Entry {
            of: &nodes,
            at: &key,
            is: &node,
        });
        let filled = copied(run, &defaults)?;
        let filled = defaults_merge(run, filled, node, lists, true, convert_none)?;
        dict.insert(key, filled);
    }
    Ok(nodes)
}
