//! `jinja.*`: the exports of another template, or the content of a data file.

use std::sync::Arc;

use mapstack_pyobject::{CallArgs, Error, ErrorKind, Obj, Result, required};
use mapstack_salt_jinja::{Names, Request, render, request};
use mapstack_value::json;

use crate::built_in::RunTable;
use crate::host::RunHost;
use crate::run::Run;

pub(super) const TABLE: RunTable = &[
    ("jinja.import_json", |run, _, args| {
        import(run, args, "json")
    }),
    ("jinja.import_yaml", |run, _, args| {
        import(run, args, "yaml")
    }),
    ("jinja.load_map", |run, _, args| {
        let [path, value] = positional(args, "jinja.load_map", ["path", "value"])?;
        let source = format!(
            "{{% from \"{path}\" import {value} with context %}}\n{{{{ {value} | tojson }}}}\n"
        );
        evaluated(run, source)
    }),
];

/// Bind arguments by position. As in the reference, these functions accept no named arguments.
fn positional<const N: usize>(
    args: CallArgs,
    function: &str,
    names: [&str; N],
) -> Result<[String; N]> {
    if let Some((name, _)) = args.named.first() {
        return Err(Error::type_error(format!(
            "{function}() got an unexpected keyword argument '{name}'"
        )));
    }
    let bound = args.bind(function, names)?;
    let mut texts = Vec::with_capacity(N);
    for (argument, name) in bound.into_iter().zip(names) {
        texts.push(mapstack_salt_jinja::python::to_str(&required(
            argument, function, name,
        )?)?);
    }
    texts
        .try_into()
        .map_err(|_| Error::type_error(format!("{function}() takes {N} arguments")))
}

fn import(run: &Run<'_>, args: CallArgs, format: &str) -> Result<Obj> {
    let [path] = positional(args, &format!("jinja.import_{format}"), ["path"])?;
    evaluated(
        run,
        format!("{{% import_{format} \"{path}\" as imported %}}\n{{{{ imported | tojson }}}}\n"),
    )
}

/// Maximum nesting of templates that load each other through these functions.
const MAX_NESTING: usize = 16;

/// Render a template, and read its output as YAML. As in JSON, all keys become text.
fn evaluated(run: &Run<'_>, source: String) -> Result<Obj> {
    if run.allowance.depth.get() >= MAX_NESTING {
        return Err(
            Error::limit("jinja.load_map and its siblings are nested too deep")
                .with_help("look for a template that loads itself"),
        );
    }
    let host = RunHost::new(run);
    let mut variables = Names::default();
    let mut set = |name: &str, value: Obj| variables.insert(name.into(), value);
    set("salt", run.live.salt.clone());
    set("grains", run.live.grains.clone());
    set("pillar", run.live.pillar.clone());
    set("opts", run.live_opts());
    set("saltenv", Obj::from("base"));
    set("sls", Obj::from(""));
    let request = Request {
        variables,
        syntax: run.jinja.syntax.clone(),
        strict: run.jinja.strict,
        limits: run.allowance.limits,
        cache: Some(&run.engine.templates),
        fuel: Some(&run.allowance.fuel),
        taint: run.taint(),
        tracer: None,
        ..request(Arc::<str>::from(source), &host)
    };
    run.allowance.depth.set(run.allowance.depth.get() + 1);
    let rendered = render(request);
    run.allowance.depth.set(run.allowance.depth.get() - 1);
    let rendered = rendered.map_err(raised)?;
    let text = rendered.text;
    let failed = |message: String| Error::new(ErrorKind::Python("SaltRenderError"), message);
    let value = mapstack_yaml::load(&text).map_err(|e| failed(e.to_string()))?;
    // As in the reference, an empty document is an empty mapping.
    if !value.truthy() {
        return Ok(Obj::dict([]));
    }
    if let Some(taint) = run.observed.taint.get() {
        taint.read_from(&text, rendered.map.secret(), &value);
    }
    let printed =
        json::dumps(&value, &json::DumpOptions::default()).map_err(|e| failed(e.to_string()))?;
    json::loads(&printed)
        .map(Obj::from)
        .map_err(|e| failed(e.to_string()))
}

/// Convert an error of the inner template to the one that the reference raises in the outer template.
fn raised(mut e: Box<Error>) -> Box<Error> {
    if e.kind != ErrorKind::Limit {
        e.message = e.to_string();
        e.kind = ErrorKind::Python("SaltRenderError");
    }
    e
}
